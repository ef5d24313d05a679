// Package responses is the codec of the OpenAI Responses dialect, also spoken
// by Azure, xAI, DeepSeek, OpenRouter, Perplexity, Ollama, vLLM, llama.cpp and
// others: POST /responses, with a flat list of typed items in both directions.
package responses

import (
	"maps"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/wire"
)

// Codec translates the Responses dialect. Its zero value is ready to use.
type Codec struct{}

var (
	_ codecs.Full    = Codec{}
	_ codecs.Readers = Codec{}
)

// Dialect is codecs.Responses.
func (Codec) Dialect() codecs.Dialect { return codecs.Responses }

// form is what stands in Wire and is asked of each reply.
var form = wire.Form{IDs: codecs.IDsAlways, Finishes: finishes}

// Wire describes the Responses API.
func (Codec) Wire() codecs.Wire {
	return codecs.Wire{
		Home: "openai-responses", Finishes: maps.Clone(form.Finishes), Messages: "input", SystemFirst: true, StreamFlag: "/stream", Shapes: []codecs.Shape{{Name: "sse"}}, StreamWays: slices.Clone(streamWays),
		ToolNames: codecs.NameRule{Max: 64, Other: "_-"},
		Choices:   []string{codecs.ChoiceAuto, codecs.ChoiceAny, codecs.ChoiceNone, codecs.ChoiceTool},
		IDs:       form.IDs, ResultMedia: codecs.MediaNative,
		EchoesWhole: true, ReasoningEcho: true, Parallel: true, ItemAfterReasoning: true,
		Stored:      []string{"/previous_response_id", "/conversation"},
		ThinkingOff: []codecs.Setting{{Pointer: "/reasoning/effort", Value: codecs.Raw(`"none"`)}},
	}
}

// Endpoint is /responses; the model and the stream flag travel in the body.
func (Codec) Endpoint(string, bool) string { return "/responses" }

// Match accepts paths that end in /responses (with any prefix: /v1, /api/v1,
// /openai/v1, /backend-api/codex, an Azure deployment) and Perplexity's
// /v1/agent. The model is known from a deployment path only.
func (Codec) Match(in codecs.In) (model string, stream, ok bool) {
	path, ok := wire.Path(in)
	if !ok {
		return "", false, false
	}
	segments := strings.Split(path, "/")
	switch segments[len(segments)-1] {
	case "responses", "agent":
	default:
		return "", false, false
	}
	if n := len(segments); n >= 3 && segments[n-3] == "deployments" {
		model = segments[n-2]
	}
	return model, false, true
}
