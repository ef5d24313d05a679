package ollama

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Error reads {"error":"text"}, the only envelope of the server itself, and
// {"error":{"message"}} and {"message"}, which proxies before it send. Any
// other body becomes the message; without a body it is the status.
func (Codec) Error(status int, header map[string][]string, body []byte) *codecs.ProviderError {
	var pe *codecs.ProviderError
	if v, err := jsonx.Parse(body); err == nil {
		pe = readError(v)
	} else {
		pe = &codecs.ProviderError{Dialect: codecs.Ollama}
	}
	pe.Status, pe.Body = status, body
	pe.RetryAfter = wire.HeaderValue(header, "Retry-After")
	if pe.Message == "" {
		pe.Message = strings.ToValidUTF8(strings.TrimSpace(string(body)), "\uFFFD")
	}
	if pe.Message == "" {
		pe.Message = fmt.Sprintf("HTTP %d", status)
	}
	pe.Kind = wire.ErrorKind(status, pe.Code, pe.Message)
	return pe
}

func readError(root jsonx.Value) *codecs.ProviderError {
	pe := &codecs.ProviderError{Dialect: codecs.Ollama}
	e := root.Get("error")
	switch {
	case e.Str() != "":
		pe.Message = e.Str()
		pe.Code = root.Get("code").Str()
	case e.IsObject():
		pe.Message = e.Get("message").Str()
		if pe.Code = e.Get("code").Str(); pe.Code == "" {
			pe.Code = e.Get("type").Str()
		}
	default:
		pe.Message = root.Get("message").Str()
	}
	if pe.Message == "" && e.Defined() && e.Kind() != jsonx.String {
		pe.Message = string(e.Raw())
	}
	if pe.Message == "" && e.Exists() {
		pe.Message = "no error message"
	}
	return pe
}

// statuses are what the server answers with, by kind.
var statuses = map[codecs.ErrorKind]int{
	codecs.ErrAuth: 401, codecs.ErrQuota: 429, codecs.ErrRate: 429, codecs.ErrShape: 400,
	codecs.ErrModeration: 400, codecs.ErrBlocked: 400, codecs.ErrOverload: 503, codecs.ErrServer: 500,
}

// RenderError encodes {"error":"text"}. A status that is an error is kept.
func (Codec) RenderError(e *codecs.ProviderError, _ codecs.Profile, l codecs.Likeness) codecs.Answer {
	if answer, ok := wire.ErrorIn200(e, l); ok {
		return answer
	}
	status := e.Status
	if status < 400 {
		if status = statuses[e.Kind]; status == 0 {
			status = 500
		}
	}
	return wire.ErrorAnswer(e, status, (&jsonx.Fields{}).Str("error", e.Message).Raw())
}
