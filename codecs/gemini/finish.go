package gemini

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// rawFinishes is the reverse of finishes.
var rawFinishes = map[string]string{
	codecs.FinishStop: "STOP", codecs.FinishToolCalls: "STOP", codecs.FinishLength: "MAX_TOKENS",
	codecs.FinishContentFilter: "SAFETY", codecs.FinishRefusal: "SAFETY", codecs.FinishPause: "CONTINUATION",
	codecs.FinishMalformedCall: "MALFORMED_FUNCTION_CALL", codecs.FinishError: "OTHER",
}

// finish is the value of finishReason, nil when the reply has none.
func (e *encoder) finish(r codecs.Reply) codecs.Raw {
	// A foreign spelling gives way to the normalised reason, where there is one.
	if raw := r.RawFinish; screaming(raw) || raw != "" && rawFinishes[r.Finish] == "" {
		if v, err := jsonx.Parse([]byte(raw)); err == nil && v.Kind() == jsonx.Number {
			return codecs.Raw(raw)
		}
		return jsonx.Quote(raw)
	}
	raw := rawFinishes[r.Finish]
	if raw == "" {
		return nil
	}
	return jsonx.Quote(raw)
}

// finishes maps finishReason to the neutral reason. Every value but STOP and
// UNEXPECTED_TOOL_CALL is no normal end. The numbers are those of clients that
// ask for integer enums; from 6 on the Gemini API and Vertex count differently,
// and 6 to 8 are content filters in both.
var finishes = map[string]string{
	"STOP":       codecs.FinishStop,
	"MAX_TOKENS": codecs.FinishLength,

	"SAFETY":                   codecs.FinishContentFilter,
	"RECITATION":               codecs.FinishContentFilter,
	"LANGUAGE":                 codecs.FinishContentFilter,
	"BLOCKLIST":                codecs.FinishContentFilter,
	"PROHIBITED_CONTENT":       codecs.FinishContentFilter,
	"SPII":                     codecs.FinishContentFilter,
	"MODEL_ARMOR":              codecs.FinishContentFilter,
	"IMAGE_SAFETY":             codecs.FinishContentFilter,
	"IMAGE_PROHIBITED_CONTENT": codecs.FinishContentFilter,
	"IMAGE_RECITATION":         codecs.FinishContentFilter,

	"MALFORMED_FUNCTION_CALL": codecs.FinishMalformedCall,
	"UNEXPECTED_TOOL_CALL":    codecs.FinishMalformedCall, // with a call in the turn: tool_calls, and the loop answers it as unknown
	"TOO_MANY_TOOL_CALLS":     codecs.FinishError,
	"OTHER":                   codecs.FinishError,
	"IMAGE_OTHER":             codecs.FinishError,
	"NO_IMAGE":                codecs.FinishError,
	"CONTINUATION":            codecs.FinishPause,

	"FINISH_REASON_UNSPECIFIED": "",

	"0": "", "1": codecs.FinishStop, "2": codecs.FinishLength, "3": codecs.FinishContentFilter,
	"4": codecs.FinishContentFilter, "5": codecs.FinishError, "6": codecs.FinishContentFilter,
	"7": codecs.FinishContentFilter, "8": codecs.FinishContentFilter,
}
