package openai

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/wire"
)

// finishes maps the finish reasons of chat completions hosts, and the native
// ones that gateways pass on, to the neutral ones.
var finishes = map[string]string{
	"stop":           codecs.FinishStop,
	"STOP":           codecs.FinishStop, // Gemini behind gateways
	"end_turn":       codecs.FinishStop, // Anthropic behind gateways
	"stop_sequence":  codecs.FinishStop,
	"eos":            codecs.FinishStop, // Together
	"completed":      codecs.FinishStop, // Responses behind OpenRouter
	"tool_calls":     codecs.FinishToolCalls,
	"tool_call":      codecs.FinishToolCalls, // DeepSeek R1 on Azure
	"function_call":  codecs.FinishToolCalls, // the legacy form
	"tool_use":       codecs.FinishToolCalls,
	"length":         codecs.FinishLength,
	"model_length":   codecs.FinishLength, // Mistral
	"max_tokens":     codecs.FinishLength,
	"MAX_TOKENS":     codecs.FinishLength,
	"content_filter": codecs.FinishContentFilter,
	"sensitive":      codecs.FinishContentFilter, // Z.ai
	"SAFETY":         codecs.FinishContentFilter,
	"refusal":        codecs.FinishRefusal,
	"error":          codecs.FinishError,
	"network_error":  codecs.FinishError, // Z.ai

	"max_output_tokens":             codecs.FinishLength,
	"model_context_window_exceeded": codecs.FinishLength,
	"insufficient_system_resource":  codecs.FinishError, // DeepSeek
	"MALFORMED_FUNCTION_CALL":       codecs.FinishMalformedCall,
}

// rawFinish is the way back, for RenderReply.
var rawFinish = map[string]string{
	codecs.FinishStop:          "stop",
	codecs.FinishToolCalls:     "tool_calls",
	codecs.FinishLength:        "length",
	codecs.FinishContentFilter: "content_filter",
	codecs.FinishRefusal:       "stop", // the refusal itself is in the message
	codecs.FinishPause:         "stop",
	codecs.FinishBlocked:       "content_filter",
	codecs.FinishMalformedCall: "stop", // with the native reason beside it
	codecs.FinishError:         "error",
}

// setFinish normalises the finish reason of a choice. native is the reason of the provider
// behind a gateway: OpenRouter reports tool_calls for a call that the limit cut,
// and only the native reason tells. refused says that the message holds a
// refusal.
func setFinish(r *codecs.Reply, native string, refused bool) {
	wire.SetFinish(r, finishes, "/choices/0/finish_reason")
	normal := r.Finish == codecs.FinishStop || r.Finish == codecs.FinishToolCalls
	switch n := finishes[native]; {
	case normal && n == codecs.FinishLength:
		r.Finish = codecs.FinishLength
		r.Warnings = append(r.Warnings, codecs.Warnf(codecs.WarnLimitHidden, "/choices/0/native_finish_reason",
			"finish reason %q hides the native reason %q", r.RawFinish, native))
	case normal && n == codecs.FinishMalformedCall:
		r.Finish = codecs.FinishMalformedCall
	}
	if refused && (r.Finish == codecs.FinishStop || r.Finish == "") && !acts(*r) {
		r.Finish = codecs.FinishRefusal
	}
}

// acts tells whether a reply asks for anything to be done.
func acts(r codecs.Reply) bool { return len(r.Calls()) > 0 || len(r.ClientCalls()) > 0 }
