// Package openai is the codec of the chat completions dialect: OpenAI itself
// and the many hosts that speak its wire with small differences. One tolerant
// decoder reads them all; what a host demands of a request comes from the
// Profile.
package openai

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/wire"
)

// Codec implements the chat completions dialect. It has no state.
type Codec struct{}

var (
	_ codecs.Full    = Codec{}
	_ codecs.Readers = Codec{}
)

// Message keys that hold reasoning text, in the order in which they are read.
// An empty one does not mask a filled one. Source: spec 2.6 and table A of the
// wire facts.
var reasoningKeys = []string{"reasoning_content", "reasoning", "reasoning_text"}

const detailsKey = "reasoning_details"

// Dialect returns codecs.OpenAI.
func (Codec) Dialect() codecs.Dialect { return codecs.OpenAI }

// form is what stands in Wire and is asked of each reply.
var form = wire.Form{IDs: codecs.IDsAlways, Finishes: finishes}

// Wire describes chat completions as OpenAI has them. A reply of OpenAI's carries
// no reasoning, so there is none to send back.
func (Codec) Wire() codecs.Wire {
	return codecs.Wire{
		Home: "openai", Finishes: maps.Clone(form.Finishes), Messages: "messages", StreamFlag: "/stream", Shapes: []codecs.Shape{{Name: "sse"}}, StreamWays: slices.Clone(streamWays),
		ToolNames: codecs.NameRule{Max: 64, Other: "_-"},
		Choices:   []string{codecs.ChoiceAuto, codecs.ChoiceAny, codecs.ChoiceNone, codecs.ChoiceTool},
		CallsKey:  "tool_calls", IDs: form.IDs, ResultMedia: codecs.MediaPlaceholder,
		ReasoningKeys: append(slices.Clone(reasoningKeys), detailsKey), Parallel: true,
		ThinkingOff: thinkingOff(),
	}
}

// thinkingOff lists how the hosts of this wire are told not to think.
func thinkingOff() []codecs.Setting {
	return []codecs.Setting{
		{Pointer: "/reasoning_effort", Value: codecs.Raw(`"none"`)},
		{Pointer: "/thinking/type", Value: codecs.Raw(`"disabled"`)},
		{Pointer: "/reasoning/effort", Value: codecs.Raw(`"none"`)},
		{Pointer: "/reasoning/enabled", Value: codecs.Raw("false")},
		{Pointer: "/enable_thinking", Value: codecs.Raw("false")},
		{Pointer: "/chat_template_kwargs/enable_thinking", Value: codecs.Raw("false")},
	}
}

// Endpoint returns the path of chat completions; streams use the same one.
func (Codec) Endpoint(string, bool) string { return "/chat/completions" }

// Match takes every path that ends in /chat/completions, whatever stands
// before it: /v1, a gateway's account, nothing. Azure's deployment form and
// hosts that put the model before it name the model in the path.
func (Codec) Match(in codecs.In) (model string, stream, ok bool) {
	path, posted := wire.Path(in)
	rest, ok := strings.CutSuffix(path, "/chat/completions")
	if !ok || !posted {
		return "", false, false
	}
	rest = strings.TrimSuffix(rest, "/v1")
	for _, mark := range []string{"/deployments/", "/models/"} {
		if _, name, found := strings.Cut(rest, mark); found && name != "" {
			if plain, err := url.PathUnescape(name); err == nil {
				name = plain
			}
			return name, false, true
		}
	}
	return "", false, true
}
