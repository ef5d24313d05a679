// Package hermes is the codec of calls that travel as text: tools stand in a
// system prompt, calls come back between <tool_call> tags in the reply's text,
// and results go back between <tool_response> tags. The transport is the chat
// completions wire, which package openai encodes and decodes.
//
// When the server parsed the calls itself and sent native tool_calls, those are
// used, the text is not read for calls again, and echo and results take the
// form of chat completions.
package hermes

import (
	"errors"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/tags"
)

// Codec is the hermes codec. Its zero value is ready for use.
type Codec struct{}

var _ codecs.Full = Codec{}

// wire is the transport. It has no state.
var wire openai.Codec

// Dialect returns codecs.Hermes.
func (Codec) Dialect() codecs.Dialect { return codecs.Hermes }

// Endpoint is that of chat completions.
func (Codec) Endpoint(model string, stream bool) string { return wire.Endpoint(model, stream) }

// Match answers as chat completions does: the paths are the same, only the
// bodies differ.
func (Codec) Match(path string) (model string, stream, ok bool) { return wire.Match(path) }

// Error reads an error body of the transport.
func (Codec) Error(status int, header map[string][]string, body []byte) *codecs.ProviderError {
	e := wire.Error(status, header, body)
	e.Dialect = codecs.Hermes
	return e
}

// RenderError encodes an error of the transport.
func (Codec) RenderError(e *codecs.ProviderError, p codecs.Profile) (int, codecs.Raw) {
	return wire.RenderError(e, p)
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

const contentPointer = "/choices/0/message/content"

// contentAt returns where the text of a reply stands, and whether that is the
// transport's own place.
func contentAt(p codecs.Profile) (pointer string, standard bool) {
	if p.ContentPointer == "" || p.ContentPointer == contentPointer {
		return contentPointer, true
	}
	return p.ContentPointer, false
}

func callTag(p codecs.Profile) string { return orDefault(p.CallTag, "tool_call") }

func responseTag(p codecs.Profile) string { return orDefault(p.ResponseTag, "tool_response") }

func resultRole(p codecs.Profile) string { return orDefault(p.ResultRole, "tool") }

func orDefault(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func scanner(p codecs.Profile) tags.Scanner {
	return tags.Scanner{Think: codecs.ThinkTag(p), Call: callTag(p)}
}

// transport is the profile for the transport, which must leave the thinking in
// the text to this package.
func transport(p codecs.Profile) codecs.Profile {
	p.ThinkTag = "none"
	return p
}

// Tools returns the tool prompt, as a JSON string.
func (Codec) Tools(tools []codecs.Tool, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	text, err := prompt(tools, p)
	if err != nil {
		return nil, nil, err
	}
	return jsonx.Quote(text), nil, nil
}
