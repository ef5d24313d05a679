package responses

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// errorText is what an error envelope says.
type errorText struct{ text, code string }

// readError reads the envelopes of this dialect's providers:
//
//	{"error":{"message","type","param","code"}}   OpenAI, Azure, DeepSeek, OpenRouter
//	{"type":"error","error":{...}}                a stream event as a body
//	{"code","error":"text"}                       xAI
//	{"message","code"|"type"}                     flat
//	{"detail":"text"|[{"msg"}]|{...}}             FastAPI servers
func readError(v jsonx.Value) errorText {
	if v.IsArray() {
		v = v.At(0)
	}
	e := v.Get("error")
	if !e.Defined() {
		e = v.Get("detail")
	}
	code := func(o jsonx.Value) string {
		for _, key := range []string{"code", "type", "status"} {
			if c := wire.Scalar(o.Get(key)); c != "" && c != "error" {
				return c
			}
		}
		return ""
	}
	switch {
	case e.Kind() == jsonx.String:
		return errorText{e.Str(), wire.Scalar(v.Get("code"))}
	case e.IsArray():
		var lines []string
		for _, item := range e.Items() {
			line := item.Get("msg").Str()
			if line == "" {
				line = item.Get("message").Str()
			}
			if line == "" {
				line = string(item.Raw())
			}
			lines = append(lines, line)
		}
		return errorText{strings.Join(lines, "; "), code(v)}
	case !e.IsObject():
		e = v
	}
	m := errorText{e.Get("message").Str(), code(e)}
	if m.text == "" {
		m.text = e.Get("error").Str()
	}
	if m.text == "" {
		m.text = e.Get("msg").Str()
	}
	if raw := e.Path("metadata", "raw").Str(); raw != "" && raw != m.text {
		m.text = strings.TrimSpace(m.text + ": " + raw) // OpenRouter keeps the words of its upstream there
	}
	if m.text == "" {
		m.text = m.code
	}
	return m
}

// codeKinds are codes of failed responses whose kind neither the status (200)
// nor the general words tell. Source: the error codes of the OpenAI schema.
var codeKinds = map[string]codecs.ErrorKind{
	"invalid_prompt":                 codecs.ErrShape,
	"data_residency_mismatch":        codecs.ErrShape,
	"bio_policy":                     codecs.ErrModeration,
	"misalignment_policy_violation":  codecs.ErrModeration,
	"image_content_policy_violation": codecs.ErrModeration,
	"previous_response_not_found":    codecs.ErrShape,
	"too_many_requests":              codecs.ErrRate,
	"invalid_request":                codecs.ErrShape,
	"not_found":                      codecs.ErrShape,
	"vector_store_timeout":           codecs.ErrServer,
}

func errorKind(status int, code, message string) codecs.ErrorKind {
	if k, ok := codeKinds[code]; ok && (status < 400 || k == codecs.ErrModeration) {
		return k
	}
	if status < 400 && strings.Contains(code, "image") { // invalid_image, image_too_large, failed_to_download_image ...
		return codecs.ErrShape
	}
	return wire.ErrorKind(status, code, message)
}

// Error reads the body of an error status.
func (Codec) Error(status int, header map[string][]string, body []byte) *codecs.ProviderError {
	e := &codecs.ProviderError{Dialect: codecs.Responses, Status: status, RetryAfter: wire.HeaderValue(header, "retry-after"), Body: body}
	if v, err := wire.ParseBody(codecs.Responses, body); err == nil {
		m := readError(v)
		if m.text == "" { // a response object: its error is one level down
			m = readError(v.Get("response"))
		}
		e.Code, e.Message = m.code, m.text
	}
	if e.Message == "" {
		e.Message = strings.TrimSpace(strings.ToValidUTF8(string(body[:min(len(body), 2000)]), "\uFFFD"))
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("HTTP %d", status)
	}
	e.Kind = errorKind(status, e.Code, e.Message)
	return e
}

// RenderError writes OpenAI's envelope. The status is the error's own where it
// is one, else the usual one of its kind.
func (Codec) RenderError(e *codecs.ProviderError, p codecs.Profile, l codecs.Likeness) codecs.Answer {
	if answer, ok := wire.ErrorIn200(e, l); ok {
		return answer
	}
	if e.Status == 200 { // a response of its own
		body, _, err := Codec{}.RenderReply(codecs.Reply{Finish: codecs.FinishError, FinishMessage: e.Message}, p, l)
		if err == nil {
			return wire.ErrorAnswer(e, 200, body)
		}
	}
	status, typ, code := 500, "server_error", "server_error"
	switch e.Kind {
	case codecs.ErrAuth:
		status, typ, code = 401, "invalid_request_error", "invalid_api_key"
	case codecs.ErrQuota:
		status, typ, code = 429, "insufficient_quota", "insufficient_quota"
	case codecs.ErrRate:
		status, typ, code = 429, "requests", "rate_limit_exceeded"
	case codecs.ErrShape:
		status, typ, code = 400, "invalid_request_error", ""
	case codecs.ErrModeration:
		status, typ, code = 400, "invalid_request_error", "content_policy_violation"
	case codecs.ErrBlocked:
		status, typ, code = 400, "invalid_request_error", "content_filter"
	case codecs.ErrOverload:
		status, typ, code = 503, "server_error", "server_overloaded"
	}
	if e.Status >= 400 && e.Status <= 599 {
		status = e.Status
	}
	if e.Code != "" {
		code = e.Code
	}
	message := e.Message
	if message == "" {
		message = fmt.Sprintf("HTTP %d", status)
	}
	var inner, outer jsonx.Fields
	inner.Str("message", message).Str("type", typ).Set("param", codecs.Raw("null"))
	if code == "" {
		inner.Set("code", codecs.Raw("null"))
	} else {
		inner.Str("code", code)
	}
	return wire.ErrorAnswer(e, status, outer.Set("error", inner.Raw()).Raw())
}
