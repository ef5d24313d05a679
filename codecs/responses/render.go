package responses

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// createdAt is the time of rendered responses: fixed, so that the same reply
// gives the same bytes.
const createdAt = 1764547200

// RenderReply writes a response object as OpenAI sends it. Ids that the reply
// lacks are made, the same for the same reply. A refusal becomes a refusal
// block; an error a failed response.
func (c Codec) RenderReply(r codecs.Reply, p codecs.Profile, l codecs.Likeness) (codecs.Raw, []codecs.Warning, error) {
	r = wire.Alike(r, l)
	w := writer{profile: p, reply: true, seed: codecs.Raw(r.ID + "\n" + r.Model + "\n" + r.Text())}
	status, reason := renderFinish(r, &w)
	refused, cited := false, lastText(r.Parts)
	calls := 0
	for i, part := range r.Parts {
		switch {
		case part.Kind == codecs.KindCall && part.Call == nil, part.Kind == codecs.KindMedia && part.Media == nil:
			return nil, nil, fmt.Errorf("parts[%d]: a %s part without its %s", i, part.Kind, part.Kind)
		case part.Kind == codecs.KindCall:
			w.flush()
			call := *part.Call
			if call.ArgumentsErr != "" && reason == "max_output_tokens" && i == len(r.Parts)-1 {
				call.Cut = true
			}
			if call.ID == "" {
				call.ID = wire.MadeID(w.seed, calls, "call_", p.IDRule)
				w.warn(codecs.WarnIDMade, "call of %s came without an id and goes out with %s", call.Name, call.ID)
			}
			calls++
			w.call(call)
		default:
			refused = refused || part.Type == typeRefusal
			if i == cited {
				part.Extra = withCitations(part.Extra, r.Citations)
			}
			w.assistantPart(part, r.Parts[:i])
		}
	}
	if reason == "max_output_tokens" && w.open.started() { // the text at the end was cut
		w.open.extra = mergeRaw(w.open.extra, codecs.Raw(`{"status":"incomplete"}`))
	}
	if r.Finish == codecs.FinishRefusal && !refused {
		var f jsonx.Fields
		w.open.role = "assistant"
		w.open.block(w.open.id, f.Str("type", typeRefusal).Str("refusal", r.FinishMessage).Raw())
	}
	w.flush()
	if len(w.items) == 0 && r.Finish == codecs.FinishStop { // a provider says nothing in a message of its own
		w.open.role = "assistant"
		w.open.add("", codecs.Part{}, "output_text", true)
		w.flush()
	}
	body := wire.Shaped(envelope(r, &w, status, reason), l)
	return body, append(w.Warnings, wire.LostFinish(c, r, body, p)...), nil
}

func lastText(parts []codecs.Part) int {
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].Kind == codecs.KindText {
			return i
		}
	}
	return -1
}

// withCitations gives a text the citations of the reply, unless it has
// annotations of its own.
func withCitations(extra codecs.Raw, citations []codecs.Citation) codecs.Raw {
	if len(citations) == 0 || jsonx.Of(extra).Get("annotations").Exists() {
		return extra
	}
	list := make([]codecs.Raw, len(citations))
	for i, c := range citations {
		var a jsonx.Fields
		a.Str("type", "url_citation")
		if c.StartIndex != nil {
			a.Int("start_index", *c.StartIndex)
		}
		if c.EndIndex != nil {
			a.Int("end_index", *c.EndIndex)
		}
		list[i] = a.Str("url", c.URL).Str("title", c.Title).Raw()
	}
	var f jsonx.Fields
	return f.Merge(extra).Set("annotations", jsonx.List(list...)).Raw()
}

func envelope(r codecs.Reply, w *writer, status, reason string) codecs.Raw {
	null := codecs.Raw("null")
	var f, details, failure jsonx.Fields
	id := r.ID
	if id == "" {
		id = w.makeID("resp_")
	}
	f.Str("id", id).Str("object", "response").Int("created_at", createdAt).Str("status", status)
	f.Bool("background", false).Set("error", null).Set("incomplete_details", null)
	if status == "failed" {
		message := r.FinishMessage
		if message == "" {
			message = "the model failed to answer"
		}
		f.Set("error", failure.Str("code", "server_error").Str("message", message).Raw())
	}
	if reason != "" {
		f.Set("incomplete_details", details.Str("reason", reason).Raw())
	}
	f.Set("instructions", null).Set("max_output_tokens", null).Set("max_tool_calls", null).Str("model", r.Model)
	f.Set("output", jsonx.List(w.items...)).Bool("parallel_tool_calls", true).Set("previous_response_id", null)
	f.Set("reasoning", codecs.Raw(`{"effort":null,"summary":null}`)).Str("service_tier", "default").Bool("store", true)
	f.Set("temperature", codecs.Raw("1.0")).Set("text", codecs.Raw(`{"format":{"type":"text"}}`))
	f.Str("tool_choice", "auto").Set("tools", codecs.Raw("[]")).Int("top_logprobs", 0).Set("top_p", codecs.Raw("1.0")).Str("truncation", "disabled")
	u := codecs.Usage{}
	if r.Usage != nil {
		u = *r.Usage
	}
	var usage, in, out jsonx.Fields
	in.Int("cached_tokens", u.Cached)
	if u.CacheWrite != 0 {
		in.Int("cache_write_tokens", u.CacheWrite)
	}
	usage.Int("input_tokens", u.Input).Set("input_tokens_details", in.Raw()).Int("output_tokens", u.Output)
	usage.Set("output_tokens_details", out.Int("reasoning_tokens", u.Reasoning).Raw()).Int("total_tokens", u.Input+u.Output)
	return f.Set("usage", usage.Raw()).Set("user", null).Set("metadata", codecs.Raw("{}")).Raw()
}
