// Package ollama is the codec of Ollama's native chat wire, POST /api/chat.
//
// What sets it apart from chat completions: content is a string only, call
// arguments are an object in both directions, ids are optional, images are
// raw base64 in a list of their own on any role, reasoning is the key
// thinking, and there is no tool choice and no parallel-calls knob.
package ollama

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/wire"
)

// Codec is the ollama codec. Its zero value is ready for use.
type Codec struct{}

var (
	_ codecs.Full    = Codec{}
	_ codecs.Readers = Codec{}
)

// Dialect returns codecs.Ollama.
func (Codec) Dialect() codecs.Dialect { return codecs.Ollama }

// form is what stands in Wire and is asked of each reply.
var form = wire.Form{ObjectArguments: true, IDs: codecs.IDsOptional, Finishes: finishes}

// Wire describes /api/chat. It has no field for a tool choice, streams unless
// told otherwise, and checks no names.
func (Codec) Wire() codecs.Wire {
	return codecs.Wire{
		Home: "ollama", Finishes: maps.Clone(form.Finishes), Messages: "messages", StreamFlag: "/stream", StreamDefault: true, Shapes: []codecs.Shape{{Name: "ndjson"}}, StreamWays: slices.Clone(streamWays),
		CallsKey: "tool_calls", ObjectArguments: form.ObjectArguments, IDs: form.IDs, ResultMedia: codecs.MediaPlaceholder,
		ReasoningKeys: reasoningFields(codecs.Profile{}), ReasoningEcho: true,
		ThinkingOff: []codecs.Setting{{Pointer: "/think", Value: codecs.Raw("false")}},
	}
}

// Endpoint is /api/chat below the server's root; the stream flag travels in
// the body.
func (Codec) Endpoint(string, bool) string { return "/api/chat" }

// Match tells whether a path is the chat route, with or without /api and
// behind any prefix. /v1/chat is no route of this wire.
func (Codec) Match(in codecs.In) (model string, stream, ok bool) {
	path, ok := wire.Path(in)
	return "", false, ok && strings.HasSuffix(path, "/chat") && !strings.HasSuffix(path, "/v1/chat")
}
