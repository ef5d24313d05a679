// Package gemini speaks the generateContent dialect of the Gemini API and of
// Vertex AI: contents of parts, calls as functionCall parts, results as
// functionResponse parts.
//
// What sets this dialect apart:
//
//   - Both spellings of a key are legal on the wire. Requests go out in
//     camelCase; camelCase and snake_case are read everywhere.
//   - A call need not have an id. One that came goes back in the call and in
//     its response; none is ever invented.
//   - thoughtSignature is an opaque text beside the part that it belongs to. It
//     is never decoded, never moved and never merged: its alphabet differs, and
//     documented stand-ins are not base64 at all.
//   - The finish reason is STOP for turns with and without calls.
//   - All results of a turn travel in one content, in the order of the calls,
//     because without ids the order is the only key.
package gemini

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/wire"
)

// Codec is the gemini dialect. The zero value is ready for use.
type Codec struct{}

var (
	_ codecs.Full    = Codec{}
	_ codecs.Readers = Codec{}
)

const (
	methodPlain  = "generateContent"
	methodStream = "streamGenerateContent"
)

// Dialect names the dialect.
func (Codec) Dialect() codecs.Dialect { return codecs.Gemini }

// form is what stands in Wire and is asked of each reply.
var form = wire.Form{ObjectArguments: true, IDs: codecs.IDsOptional, Finishes: finishes}

// Wire describes generateContent. The path asks for the stream, and alt=sse for
// its form.
func (Codec) Wire() codecs.Wire {
	return codecs.Wire{
		Home: "gemini", Finishes: maps.Clone(form.Finishes), Messages: "contents", SystemFirst: true,
		Shapes:          []codecs.Shape{{Name: "json_array"}, {Name: "sse", Param: "alt", Value: "sse"}},
		StreamWays:      slices.Clone(streamWays),
		ToolNames:       codecs.NameRule{Max: 64, Other: "_.:-", Letter: true},
		Choices:         []string{codecs.ChoiceAuto, codecs.ChoiceAny, codecs.ChoiceNone, codecs.ChoiceTool},
		ObjectArguments: form.ObjectArguments, IDs: form.IDs, StructuredResults: true, ResultMedia: codecs.MediaNative,
		EchoesWhole: true, ReasoningEcho: true, OpenCalls: true,
		ThinkingOff: []codecs.Setting{{Pointer: "/generationConfig/thinkingConfig/thinkingBudget", Value: codecs.Raw("0")}},
	}
}

// Endpoint is /models/MODEL:generateContent or, for a stream,
// /models/MODEL:streamGenerateContent?alt=sse. A model that brings its own
// collection, such as tunedModels/x, endpoints/x or publishers/google/models/x,
// stands without the models prefix.
func (Codec) Endpoint(model string, stream bool) string {
	segments := strings.Split(strings.Trim(model, "/"), "/")
	if len(segments) == 1 {
		segments = append([]string{"models"}, segments...)
	}
	for i, s := range segments {
		segments[i] = url.PathEscape(s)
	}
	path := "/" + strings.Join(segments, "/")
	if stream {
		return path + ":" + methodStream + "?alt=sse"
	}
	return path + ":" + methodPlain
}

// Match reads the model and the stream flag from a path of the Gemini API or of
// Vertex AI, whatever stands before the collection. The prefix models/ is
// stripped from the model; tunedModels/ and endpoints/ are part of it. Other
// methods, such as countTokens, are no match.
func (Codec) Match(in codecs.In) (model string, stream, ok bool) {
	path, ok := wire.Path(in)
	if !ok {
		return "", false, false
	}
	if plain, err := url.PathUnescape(path); err == nil {
		path = plain
	}
	at := strings.LastIndexByte(path, ':')
	if at < 0 {
		return "", false, false
	}
	switch path[at+1:] {
	case methodPlain:
	case methodStream:
		stream = true
	default:
		return "", false, false
	}
	path = "/" + strings.TrimLeft(path[:at], "/")
	best := -1
	for _, collection := range []string{"/models/", "/tunedModels/", "/endpoints/"} {
		i := strings.LastIndex(path, collection)
		if i <= best {
			continue
		}
		best, model = i, path[i+1:]
		if collection == "/models/" {
			model = path[i+len(collection):]
		}
	}
	if best < 0 || model == "" || strings.HasSuffix(model, "/") {
		return "", false, false
	}
	return model, stream, true
}
