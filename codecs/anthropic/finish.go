package anthropic

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// finishes maps stop_reason to the neutral reason. The last three are no values
// of the dialect, but gateways pass them through from chat completions, and an
// unread "length" would hide a cut call.
var finishes = map[string]string{
	"end_turn":                      codecs.FinishStop,
	"stop_sequence":                 codecs.FinishStop,
	"tool_use":                      codecs.FinishToolCalls,
	"max_tokens":                    codecs.FinishLength,
	"model_context_window_exceeded": codecs.FinishLength,
	"refusal":                       codecs.FinishRefusal,
	"pause_turn":                    codecs.FinishPause,
	"compaction":                    codecs.FinishPause,
	"stop":                          codecs.FinishStop,
	"tool_calls":                    codecs.FinishToolCalls,
	"length":                        codecs.FinishLength,
}

// foreignFinish names the keys of finishes that are no stop_reason.
func foreignFinish(raw string) bool {
	return raw == "stop" || raw == "tool_calls" || raw == "length"
}

// finish reads why the reply ended.
func (d *decoder) finish(v jsonx.Value) {
	d.reply.RawFinish = v.Get("stop_reason").Str()
	wire.SetFinish(&d.reply, finishes, "/stop_reason")
	if d.lastNameless && d.reply.Finish == codecs.FinishLength {
		d.reply.Unfinished = 1 // the limit cut the call before its name
	}
	details := v.Get("stop_details")
	if d.reply.FinishMessage = details.Get("explanation").Str(); d.reply.FinishMessage == "" {
		d.reply.FinishMessage = details.Get("category").Str()
	}
}

// stopReasons maps the neutral reason to stop_reason.
var stopReasons = map[string]string{
	codecs.FinishStop:          "end_turn",
	codecs.FinishToolCalls:     "tool_use",
	codecs.FinishLength:        "max_tokens",
	codecs.FinishRefusal:       "refusal",
	codecs.FinishContentFilter: "refusal",
	codecs.FinishBlocked:       "refusal",
	codecs.FinishPause:         "pause_turn",
}

func (w *renderer) stopReason() codecs.Raw {
	r := w.reply
	if r.RawFinish != "" && (r.Finish == "" || (finishes[r.RawFinish] != "" && !foreignFinish(r.RawFinish))) {
		return jsonx.Quote(r.RawFinish)
	}
	if r.Finish == "" {
		return codecs.Raw("null")
	}
	if reason := stopReasons[r.Finish]; reason != "" {
		return jsonx.Quote(reason)
	}
	return codecs.Raw(`"end_turn"`)
}
