package gemini

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// wireError is what an error body says.
type wireError struct {
	status    int
	code      string // RPC status, such as INVALID_ARGUMENT
	reason    string // ErrorInfo.reason, such as API_KEY_INVALID
	message   string
	retry     string // RetryInfo.retryDelay, such as 34.4s
	perMinute bool   // a quota that fills again by itself
}

// readError reads the envelope {"error":{code,message,status,details}}, the
// same as a list of one, {"error":"code","error_description":"words"} of the
// token endpoints, and {"message":"words"} of gateways.
func readError(root jsonx.Value) wireError {
	if root.IsArray() {
		root = root.At(0)
	}
	var e wireError
	v := root.Get("error")
	switch v.Kind() {
	case jsonx.Object:
		n, _ := v.Get("code").Int()
		e.status, e.code, e.message = int(n), v.Get("status").Str(), v.Get("message").Str()
		if e.code == "" {
			e.code = v.Get("code").Str()
		}
	case jsonx.String:
		e.code, e.message = v.Str(), field(root, "errorDescription").Str()
		if e.message == "" {
			e.code, e.message = "", v.Str()
		}
	default:
		e.message = root.Get("message").Str()
	}
	quotas, minutes := 0, 0
	for _, d := range v.Get("details").Items() {
		switch typ := d.Get("@type").Str(); {
		case strings.HasSuffix(typ, "google.rpc.RetryInfo"):
			e.retry = field(d, "retryDelay").Str()
		case strings.HasSuffix(typ, "google.rpc.ErrorInfo"):
			e.reason = d.Get("reason").Str()
		case strings.HasSuffix(typ, "google.rpc.QuotaFailure"):
			for _, violation := range d.Get("violations").Items() {
				quotas++
				if strings.Contains(field(violation, "quotaId").Str(), "PerMinute") {
					minutes++
				}
			}
		}
	}
	e.perMinute = quotas > 0 && quotas == minutes
	return e
}

// kind classifies the error. One wording stands for every exhausted quota; when
// each of them counts by the minute, waiting helps, and it is a rate.
func (e wireError) kind(status int) codecs.ErrorKind {
	kind := wire.ErrorKind(status, e.code+" "+e.reason, e.message)
	if kind == codecs.ErrQuota && e.perMinute {
		return codecs.ErrRate
	}
	return kind
}

// Error reads the body of an error status. RetryAfter is the header, or the
// RetryInfo delay of the body in the provider's spelling, such as 34.4s.
func (Codec) Error(status int, header map[string][]string, body []byte) *codecs.ProviderError {
	out := &codecs.ProviderError{
		Dialect: codecs.Gemini, Status: status, Body: body,
		RetryAfter: wire.HeaderValue(header, "Retry-After"),
	}
	var e wireError
	if len(body) <= codecs.MaxBody {
		if root, err := jsonx.Parse(body); err == nil {
			e = readError(root)
		}
	}
	if out.Status == 0 {
		out.Status = e.status
	}
	if out.RetryAfter == "" {
		out.RetryAfter = e.retry
	}
	out.Code, out.Message = e.code, e.message
	if out.Message == "" {
		out.Message = strings.TrimSpace(strings.ToValidUTF8(string(body[:min(len(body), codecs.MaxBody)]), "\uFFFD"))
	}
	if out.Message == "" {
		out.Message = fmt.Sprintf("HTTP %d", out.Status)
	}
	e.message = out.Message
	out.Kind = e.kind(out.Status)
	return out
}

// insideError is the error that a reply with a good status carries.
func insideError(root jsonx.Value, body []byte) error {
	e := readError(root)
	if e.message == "" {
		e.message = "no error message"
	}
	status := e.status
	if status == 0 {
		status = 200
	}
	return &codecs.ProviderError{
		Dialect: codecs.Gemini, Status: 200, Kind: e.kind(status), Code: e.code, Message: e.message,
		RetryAfter: e.retry, Body: body, Prefix: "response carried an error: ",
	}
}

// rpcStatus names the canonical code of an HTTP status.
var rpcStatus = map[int]string{
	400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND",
	409: "ABORTED", 429: "RESOURCE_EXHAUSTED", 499: "CANCELLED", 500: "INTERNAL", 501: "UNIMPLEMENTED",
	503: "UNAVAILABLE", 504: "DEADLINE_EXCEEDED",
}

// kindStatus is the HTTP status that the provider uses for a kind.
var kindStatus = map[codecs.ErrorKind]int{
	codecs.ErrAuth: 403, codecs.ErrQuota: 429, codecs.ErrRate: 429, codecs.ErrShape: 400,
	codecs.ErrModeration: 400, codecs.ErrBlocked: 400, codecs.ErrOverload: 503, codecs.ErrServer: 500,
}

// RenderError encodes an error in the provider's envelope. An error status of e
// is kept, else the kind picks one.
func (Codec) RenderError(e *codecs.ProviderError, _ codecs.Profile, l codecs.Likeness) codecs.Answer {
	if answer, ok := wire.ErrorIn200(e, l); ok {
		return answer
	}
	if e == nil {
		e = &codecs.ProviderError{}
	}
	status := e.Status
	if status < 400 || status > 599 {
		if status = kindStatus[e.Kind]; status == 0 {
			status = 500
		}
	}
	code := e.Code
	if !screaming(code) {
		code = rpcStatus[status]
	}
	if code == "" {
		code = "UNKNOWN"
	}
	message := e.Message
	if message == "" {
		message = fmt.Sprintf("HTTP %d", status)
	}
	var inner, out jsonx.Fields
	inner.Int("code", int64(status)).Str("message", message).Str("status", code)
	if delay := e.RetryAfter; delay != "" && strings.Trim(delay, "0123456789.s") == "" {
		var info jsonx.Fields
		info.Str("@type", "type.googleapis.com/google.rpc.RetryInfo").Str("retryDelay", strings.TrimSuffix(delay, "s")+"s")
		inner.Set("details", jsonx.List(info.Raw()))
	}
	return wire.ErrorAnswer(e, status, out.Set("error", inner.Raw()).Raw())
}

// screaming tells whether a code is spelled as this provider spells its enums.
func screaming(code string) bool {
	if code == "" {
		return false
	}
	for _, c := range code {
		if (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' {
			return false
		}
	}
	return true
}
