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
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/internal/tags"
	"github.com/toolconform/conform/internal/wire"
)

// Codec is the hermes codec. Its zero value is ready for use.
type Codec struct{}

var (
	_ codecs.Full    = Codec{}
	_ codecs.Readers = Codec{}
)

// wire is the transport. It has no state.
var chat openai.Codec

// Dialect returns codecs.Hermes.
func (Codec) Dialect() codecs.Dialect { return codecs.Hermes }

// Wire is that of the transport, but for all that the text carries. A choice
// none leaves the tools out of the prompt; no other can be said.
func (Codec) Wire() codecs.Wire {
	w := chat.Wire()
	w.Home, w.ToolNames, w.TextCalls, w.CallsKey = "nousresearch", codecs.NameRule{}, true, ""
	w.Parallel = false
	w.StreamWays = slices.DeleteFunc(w.StreamWays, func(way string) bool { return slices.Contains(callWays, way) })
	w.Choices, w.IDs, w.ReasoningKeys, w.ReasoningEcho = []string{codecs.ChoiceAuto, codecs.ChoiceNone}, codecs.IDsNever, nil, true
	return w
}

// callWays are ways of calls that have fields of their own.
var callWays = []string{wire.StreamCallsWhole, wire.StreamIndexMissing, wire.StreamIndexZero, wire.StreamIDLate, wire.StreamIDRepeated, wire.StreamNameRepeated}

// Endpoint is that of chat completions.
func (Codec) Endpoint(model string, stream bool) string { return chat.Endpoint(model, stream) }

// Match answers as chat completions does: the paths are the same, only the
// bodies differ.
func (Codec) Match(in codecs.In) (model string, stream, ok bool) { return chat.Match(in) }

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
	return tags.Scanner{Think: wire.ThinkTag(p), Call: callTag(p)}
}

// transport is the profile for the transport, which must leave the thinking in
// the text to this package.
func transport(p codecs.Profile) codecs.Profile {
	p.ThinkTag = "none"
	return p
}
