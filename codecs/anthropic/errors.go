package anthropic

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// errorTypes lists the error types of the API with their HTTP status, in the
// order of the status. Source: the Errors page of the Messages API.
var errorTypes = []struct {
	status int
	name   string
}{
	{400, "invalid_request_error"},
	{401, "authentication_error"},
	{402, "billing_error"},
	{403, "permission_error"},
	{404, "not_found_error"},
	{413, "request_too_large"},
	{429, "rate_limit_error"},
	{500, "api_error"},
	{504, "timeout_error"},
	{529, "overloaded_error"},
}

// statusOf returns the status that belongs to an error type, or fallback.
func statusOf(code string, fallback int) int {
	for _, t := range errorTypes {
		if t.name == code {
			return t.status
		}
	}
	return fallback
}

// typeOf returns the error type that belongs to a status.
func typeOf(status int) string {
	for _, t := range errorTypes {
		if t.status == status {
			return t.name
		}
	}
	if status >= 400 && status < 500 {
		return "invalid_request_error"
	}
	return "api_error"
}

// Error reads the body of an error status. It knows the envelope of the API,
// the one of chat completions (llama.cpp, gateways), Bedrock's {"message"},
// Vertex's {"error":{"code","message","status"}} alone or in a list, FastAPI's
// {"detail"} (vLLM), {"base_resp"} (MiniMax) and {"code","msg"} (Z.ai).
func (Codec) Error(status int, header map[string][]string, body []byte) *codecs.ProviderError {
	e := &codecs.ProviderError{Dialect: codecs.Anthropic, Status: status, Body: body, RetryAfter: wire.HeaderValue(header, "retry-after")}
	if v, err := wire.ParseBody(codecs.Anthropic, body); err == nil {
		e.Code, e.Message = envelope(v)
	}
	if e.Message == "" {
		e.Message = strings.TrimSpace(strings.ToValidUTF8(string(body[:min(len(body), 4096)]), "\uFFFD"))
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("HTTP %d", status)
	}
	e.Kind = wire.ErrorKind(status, e.Code, e.Message)
	return e
}

// envelope reads the code and the message of an error body; both are "" when it
// is none that is known.
func envelope(v jsonx.Value) (code, message string) {
	if v.IsArray() {
		v = v.At(0)
	}
	e := v.Get("error")
	if s, ok := e.Text(); ok {
		return wire.Scalar(v.Get("code")), s
	}
	if !e.IsObject() {
		e = v
		if base := v.Get("base_resp"); base.IsObject() {
			return wire.Scalar(base.Get("status_code")), base.Get("status_msg").Str()
		}
	}
	for _, key := range []string{"type", "status", "code"} {
		if code = wire.Scalar(e.Get(key)); code != "" && code != "error" {
			break
		}
	}
	if code == "error" {
		code = ""
	}
	for _, key := range []string{"message", "Message", "msg", "detail"} {
		if message = e.Get(key).Str(); message != "" {
			return code, message
		}
	}
	var lines []string
	for _, d := range e.Get("detail").Items() { // FastAPI: one entry for each field at fault
		if msg := d.Get("msg").Str(); msg != "" {
			lines = append(lines, msg)
		}
	}
	return code, strings.Join(lines, "; ")
}

// RenderError encodes an error in the envelope of the API. An error status is
// kept; any other gives way to the one that the kind stands for.
func (Codec) RenderError(e *codecs.ProviderError, _ codecs.Profile, l codecs.Likeness) codecs.Answer {
	if answer, ok := wire.ErrorIn200(e, l); ok {
		return answer
	}
	status := e.Status
	if status < 400 || status > 599 {
		status = kindStatus(e.Kind)
	}
	code := e.Code
	if statusOf(code, 0) == 0 {
		code = typeOf(status)
	}
	message := e.Message
	if message == "" {
		message = fmt.Sprintf("HTTP %d", status)
	}
	var inner, outer jsonx.Fields
	inner.Str("type", code).Str("message", message)
	return wire.ErrorAnswer(e, status, outer.Str("type", "error").Set("error", inner.Raw()).Raw())
}

func kindStatus(kind codecs.ErrorKind) int {
	switch kind {
	case codecs.ErrAuth:
		return 401
	case codecs.ErrQuota:
		return 402
	case codecs.ErrRate:
		return 429
	case codecs.ErrOverload:
		return 529
	case codecs.ErrShape, codecs.ErrModeration, codecs.ErrBlocked:
		return 400
	}
	return 500
}
