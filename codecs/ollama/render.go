package ollama

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// RenderReply encodes r as the server does with stream false. The wire has one
// order, thinking, content, calls; parts that stand in another are regrouped
// with a warning. Arguments that are no object go out as a string, the form of
// older and foreign servers.
func (c Codec) RenderReply(r codecs.Reply, p codecs.Profile, l codecs.Likeness) (codecs.Raw, []codecs.Warning, error) {
	r = wire.Alike(r, l)
	msg, warnings := assistantMessage(r.Parts, renderReply, p)
	for i := range warnings {
		warnings[i].Pointer = "/message"
	}
	finish := r.RawFinish
	if finish == "" || (r.Finish != "" && finishes[finish] == "") {
		finish = rawFinish(r.Finish)
	}
	model := r.Model
	if model == "" {
		model = "model"
	}
	var usage codecs.Usage
	if r.Usage != nil {
		usage = *r.Usage
	}
	var f jsonx.Fields
	f.Str("model", model).Str("created_at", "2026-01-01T00:00:00Z").Set("message", msg).Bool("done", true)
	if finish != "" {
		f.Str("done_reason", finish)
	}
	for _, key := range []string{"total_duration", "load_duration"} {
		f.Int(key, 0)
	}
	f.Int("prompt_eval_count", usage.Input).Int("prompt_eval_duration", 0).Int("eval_count", usage.Output).Int("eval_duration", 0)
	if usage.Cached != 0 || usage.CacheWrite != 0 || usage.Reasoning != 0 {
		warnings = append(warnings, codecs.Warnf(codecs.WarnLossy, "", "this wire counts input and output tokens only"))
	}
	if r.Unfinished > 0 {
		warnings = append(warnings, codecs.Warnf(codecs.WarnLossy, "/parts", "%d call(s) that were cut before their name are left out", r.Unfinished))
	}
	if r.ID != "" {
		warnings = append(warnings, codecs.Warnf(codecs.WarnLossy, "", "this wire has no id of a reply"))
	}
	body := f.Raw()
	if err := jsonx.Check(body); err != nil { // a raw value of the caller's
		return nil, nil, fmt.Errorf("ollama: reply: a raw value is not JSON: %w", err)
	}
	body = wire.Shaped(body, l)
	return body, append(warnings, wire.LostFinish(c, r, body, p)...), nil
}
