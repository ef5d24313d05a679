package openai

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Error reads the body of an error status in every envelope that hosts of this
// dialect use: an error object or text, a flat object, a detail (text or the
// list of a schema check), a list that holds an envelope. The message of a
// gateway that only says that its provider failed is completed with what the
// provider said.
func (c Codec) Error(status int, header map[string][]string, body []byte) *codecs.ProviderError {
	e := &codecs.ProviderError{Dialect: c.Dialect(), Status: status, Body: body, RetryAfter: wire.HeaderValue(header, "Retry-After")}
	text := strings.TrimSpace(strings.ToValidUTF8(string(body), "\uFFFD"))
	if v, err := jsonx.Parse(body); err == nil {
		e.Message, e.Code, _ = envelope(v)
	}
	if e.Message == "" {
		e.Message = text
	}
	if e.Message == "" {
		e.Message = fmt.Sprintf("HTTP %d", status)
	}
	e.Kind = wire.ErrorKind(status, e.Code, e.Message)
	return e
}

// envelope finds the provider's message and code in an error body. ok is false
// when nothing in it looks like an error.
func envelope(v jsonx.Value) (message, code string, ok bool) {
	if v.IsArray() { // Gemini's chat completions face
		v = v.At(0)
	}
	if list := v.Get("errors"); list.Len() > 0 && !v.Get("error").Defined() {
		return describe(list.At(0))
	}
	inner := v.Get("error")
	switch inner.Kind() {
	case jsonx.String:
		code = wire.Scalar(v.Get("code"))
		if code == "" {
			code = wire.Scalar(v.Get("type"))
		}
		return inner.Str(), code, inner.Str() != ""
	case jsonx.Object:
		return describe(inner)
	}
	if base := v.Get("base_resp"); base.IsObject() { // MiniMax
		if n := wire.Scalar(base.Get("status_code")); n != "" && n != "0" {
			return base.Get("status_msg").Str(), n, true
		}
	}
	if d := detail(v.Get("detail")); d != "" {
		return d, wire.Scalar(v.Get("code")), true
	}
	if v.Get("message").Defined() && !v.Get("choices").Exists() {
		return describe(v)
	}
	return "", "", false
}

// describe reads an object that carries message, code and type.
func describe(v jsonx.Value) (message, code string, ok bool) {
	for _, key := range []string{"code", "type", "status"} {
		if code = wire.Scalar(v.Get(key)); code != "" {
			break
		}
	}
	m := v.Get("message")
	switch m.Kind() {
	case jsonx.Object:
		if message = detail(m.Get("detail")); message == "" {
			message = string(m.Raw())
		}
	case jsonx.Array:
		message = detail(m)
	default:
		message = wire.Scalar(m)
	}
	if message == "" {
		message = detail(v.Get("detail"))
	}
	if said := behind(v.Get("metadata").Get("raw")); said != "" && !strings.Contains(message, said) {
		message = strings.TrimPrefix(message+": "+said, ": ")
	}
	if message == "" && code != "" {
		message = code
	}
	return message, code, v.Exists()
}

// behind reads what the provider behind a gateway said: an envelope, mostly as
// JSON inside a string, or plain text.
func behind(raw jsonx.Value) string {
	if s, ok := raw.Text(); ok {
		v, err := jsonx.Parse([]byte(s))
		if err != nil {
			return strings.TrimSpace(s)
		}
		raw = v
	}
	message, _, _ := envelope(raw)
	return message
}

// detail reads the detail of a schema check: a text, or a list of places and
// messages.
func detail(v jsonx.Value) string {
	if s, ok := v.Text(); ok {
		return s
	}
	if v.IsObject() {
		message, _, _ := describe(v)
		return message
	}
	var lines []string
	for _, d := range v.Items() {
		if s, ok := d.Text(); ok {
			lines = append(lines, s)
			continue
		}
		var loc []string
		for _, l := range d.Get("loc").Items() {
			loc = append(loc, wire.Scalar(l))
		}
		line := d.Get("msg").Str()
		if line == "" {
			line = d.Get("type").Str()
		}
		if len(loc) > 0 {
			line = strings.Join(loc, ".") + ": " + line
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "; ")
}

// inside builds the error that a 200 body carries. A code that is an HTTP
// status decides the kind as that status would.
func inside(message, code string, body []byte) *codecs.ProviderError {
	if message == "" {
		message = "no error message"
	}
	e := &codecs.ProviderError{Dialect: codecs.OpenAI, Status: 200, Code: code, Message: message, Body: body, Prefix: "response carried an error: "}
	if code != "" && code != message {
		e.Suffix = " (" + code + ")"
	}
	e.Kind = wire.KindInside(code, message)
	return e
}

// errorForm is how OpenAI reports one kind of error.
type errorForm struct {
	status    int
	typ, code string
}

var errorForms = map[codecs.ErrorKind]errorForm{
	codecs.ErrAuth:       {401, "invalid_request_error", "invalid_api_key"},
	codecs.ErrQuota:      {429, "insufficient_quota", "insufficient_quota"},
	codecs.ErrRate:       {429, "rate_limit_error", "rate_limit_exceeded"},
	codecs.ErrShape:      {400, "invalid_request_error", ""},
	codecs.ErrModeration: {400, "invalid_request_error", "content_policy_violation"},
	codecs.ErrBlocked:    {400, "invalid_request_error", "content_filter"},
	codecs.ErrOverload:   {503, "server_error", "overloaded"},
	codecs.ErrServer:     {500, "server_error", ""},
}

// RenderError encodes an error in OpenAI's envelope. An error status of e
// stays; otherwise the kind decides it.
func (Codec) RenderError(e *codecs.ProviderError, _ codecs.Profile, l codecs.Likeness) codecs.Answer {
	if answer, ok := wire.ErrorIn200(e, l); ok {
		return answer
	}
	form, ok := errorForms[e.Kind]
	if !ok {
		form = errorForms[codecs.ErrServer]
	}
	status := form.status
	if e.Status >= 400 {
		status = e.Status
	}
	code := e.Code
	if code == "" {
		code = form.code
	}
	var in, f jsonx.Fields
	in.Str("message", e.Message).Str("type", form.typ).Set("param", codecs.Raw("null"))
	if code == "" {
		in.Set("code", codecs.Raw("null"))
	} else {
		in.Str("code", code)
	}
	return wire.ErrorAnswer(e, status, f.Set("error", in.Raw()).Raw())
}
