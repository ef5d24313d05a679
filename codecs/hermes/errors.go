package hermes

import (
	"errors"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Error reads an error body of the transport.
func (Codec) Error(status int, header map[string][]string, body []byte) *codecs.ProviderError {
	e := chat.Error(status, header, body)
	e.Dialect = codecs.Hermes
	return e
}

// RenderError encodes an error of the transport.
func (Codec) RenderError(e *codecs.ProviderError, p codecs.Profile, l codecs.Likeness) codecs.Answer {
	return chat.RenderError(e, p, l)
}

// own gives an error of the transport the dialect that the caller asked for.
func own(err error) error {
	var de *codecs.DecodeError
	var pe *codecs.ProviderError
	switch {
	case errors.As(err, &de):
		c := *de
		c.Dialect = codecs.Hermes
		return &c
	case errors.As(err, &pe):
		c := *pe
		c.Dialect = codecs.Hermes
		return &c
	}
	return err
}

func failure(root jsonx.Value, prefix string, body []byte) *codecs.ProviderError {
	e := chat.Error(200, nil, root.Raw())
	message := e.Message
	for _, key := range []string{"error_message", "error_msg", "message", "error"} {
		if s := root.Get(key).Str(); s != "" {
			message = s
			break
		}
	}
	return &codecs.ProviderError{
		Dialect: codecs.Hermes, Status: 200, Code: e.Code, Message: message, Prefix: prefix,
		Kind: wire.ErrorKind(200, e.Code, message), Body: body,
	}
}
