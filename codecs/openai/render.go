package openai

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// madeCreated is the time stamp of rendered replies: the same reply gives the
// same bytes.
const madeCreated = 1764547200

// RenderReply encodes a reply as a chat completion: one choice, content null
// beside calls without text, reasoning under the profile's first field.
func (c Codec) RenderReply(r codecs.Reply, p codecs.Profile, l codecs.Likeness) (codecs.Raw, []codecs.Warning, error) {
	r = wire.Alike(r, l)
	a := assistantFields{profile: p, at: "/parts", reply: true, cut: r.Finish == codecs.FinishLength, seed: digest(r.ID + r.Model + r.Text())}
	if err := a.read(r.Parts); err != nil {
		return nil, nil, err
	}
	if r.Unfinished > 0 {
		a.warnings = append(a.warnings, codecs.Warnf(codecs.WarnLossy, "/parts", "%d call(s) that were cut before their name are left out", r.Unfinished))
	}
	msg := a.fields(true)
	msg.Set("refusal", renderRefusal(r, &a, msg)).Set("annotations", renderCitations(r.Citations))
	finish := codecs.Raw("null")
	switch own := rawFinish[r.Finish]; {
	case r.RawFinish != "" && (finishes[r.RawFinish] != "" || own == ""):
		finish = jsonx.Quote(r.RawFinish)
	case own != "": // none came, or one of another dialect
		finish = jsonx.Quote(own)
	}
	var choice, f jsonx.Fields
	choice.Int("index", 0).Set("message", msg.Raw()).Set("logprobs", codecs.Raw("null")).Set("finish_reason", finish)
	switch { // what the finish reason does not say, as OpenRouter tells it
	case r.Finish == codecs.FinishMalformedCall && finishes[r.RawFinish] != codecs.FinishMalformedCall:
		choice.Str("native_finish_reason", "MALFORMED_FUNCTION_CALL")
	case r.Finish == codecs.FinishLength && r.RawFinish != "" && finishes[r.RawFinish] != codecs.FinishLength:
		choice.Str("native_finish_reason", "length")
	}
	id := r.ID
	if id == "" {
		id = wire.MadeID(msg.Raw(), 0, "chatcmpl-", "")
	}
	f.Str("id", id).Str("object", "chat.completion").Int("created", madeCreated).Str("model", r.Model)
	f.Set("choices", jsonx.List(choice.Raw())).Set("usage", renderUsage(r.Usage))
	body := f.Raw()
	if err := jsonx.Check(body); err != nil { // a raw value of the caller's
		return nil, nil, err
	}
	body = wire.Shaped(body, l)
	return body, append(a.warnings, wire.LostFinish(c, r, body, p)...), nil
}

// renderRefusal gives the refusal of a message, or null. Other words of a
// provider on why it stopped have no place in this dialect.
func renderRefusal(r codecs.Reply, a *assistantFields, msg *jsonx.Fields) codecs.Raw {
	text := r.FinishMessage
	switch {
	case r.Finish == codecs.FinishRefusal:
		if text == "" {
			text = "The model refused."
		}
	case text == "":
		return codecs.Raw("null")
	case r.Finish != codecs.FinishContentFilter && r.Finish != codecs.FinishBlocked && r.Finish != codecs.FinishLength:
		a.warnings = append(a.warnings, codecs.Warnf(codecs.WarnLossy, "/finish_message", "chat completions has no place for the words %q", text))
		return codecs.Raw("null")
	}
	if len(a.texts) == 0 {
		msg.Set("content", codecs.Raw("null"))
	}
	return jsonx.Quote(text)
}

func renderCitations(list []codecs.Citation) codecs.Raw {
	out := make([]codecs.Raw, len(list))
	for i, c := range list {
		var u, f jsonx.Fields
		u.Str("url", c.URL).Str("title", c.Title)
		if c.StartIndex != nil {
			u.Int("start_index", *c.StartIndex)
		}
		if c.EndIndex != nil {
			u.Int("end_index", *c.EndIndex)
		}
		out[i] = f.Str("type", "url_citation").Set("url_citation", u.Raw()).Raw()
	}
	return jsonx.List(out...)
}

func renderUsage(u *codecs.Usage) codecs.Raw {
	if u == nil {
		u = &codecs.Usage{}
	}
	var in, out, f jsonx.Fields
	in.Int("cached_tokens", u.Cached)
	if u.CacheWrite > 0 {
		in.Int("cache_write_tokens", u.CacheWrite)
	}
	out.Int("reasoning_tokens", u.Reasoning)
	f.Int("prompt_tokens", u.Input).Int("completion_tokens", u.Output).Int("total_tokens", u.Input+u.Output)
	return f.Set("prompt_tokens_details", in.Raw()).Set("completion_tokens_details", out.Raw()).Raw()
}
