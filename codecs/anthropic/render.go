package anthropic

import (
	"strconv"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// RenderReply encodes a reply as the API would. A reply without an id, and calls
// without one (a warning), get made ones: the API always has them. Undecodable
// arguments go out as a JSON string, the form of the endpoints that send any.
// RawFinish is used when it is a stop_reason; one of another dialect gives way
// to Finish.
func (c Codec) RenderReply(r codecs.Reply, p codecs.Profile, l codecs.Likeness) (codecs.Raw, []codecs.Warning, error) {
	r = wire.Alike(r, l)
	w := renderer{reply: r, profile: p}
	for _, part := range r.Parts {
		if b := w.part(part); b != nil {
			w.blocks = append(w.blocks, b)
		}
	}
	if r.Unfinished > 0 {
		w.warn("/parts", "%d call(s) that were cut before their name are left out", r.Unfinished)
	}
	w.citations()
	id := r.ID
	if id == "" {
		id = madeDigest("msg_", r.Model, string(jsonx.List(w.blocks...)))
	}
	var f jsonx.Fields
	f.Str("id", id).Str("type", "message").Str("role", "assistant").Str("model", r.Model)
	f.Set("content", jsonx.List(w.blocks...))
	reason := w.stopReason()
	f.Set("stop_reason", reason).Set("stop_sequence", codecs.Raw("null"))
	if r.FinishMessage != "" {
		if string(reason) == `"refusal"` {
			var d jsonx.Fields
			f.Set("stop_details", d.Str("type", "refusal").Set("category", codecs.Raw("null")).Str("explanation", r.FinishMessage).Raw())
		} else {
			w.warn("/finish_message", "only a refusal carries a finish message")
		}
	}
	body := wire.Shaped(f.Set("usage", renderUsage(r.Usage)).Raw(), l)
	return body, append(w.warnings, wire.LostFinish(c, r, body, p)...), nil
}

type renderer struct {
	reply    codecs.Reply
	profile  codecs.Profile
	blocks   []codecs.Raw
	calls    int
	warnings []codecs.Warning
}

func (w *renderer) warn(at, format string, args ...any) {
	w.warnings = append(w.warnings, codecs.Warnf(codecs.WarnLossy, at, format, args...))
}

// part encodes one part, nil when the dialect cannot carry it. Unlike a
// request, a reply may hold any key beside a block's own.
func (w *renderer) part(p codecs.Part) codecs.Raw {
	var f jsonx.Fields
	own := func(keys ...string) codecs.Raw { return join(&f, wire.Without(jsonx.Of(p.Extra), keys...)) }
	switch p.Kind {
	case codecs.KindText:
		f.Str("type", typeText).Str("text", p.Text)
		return own("type", "text")
	case codecs.KindReasoning:
		if p.Redacted {
			f.Str("type", typeRedacted).Str("data", p.Signature)
		} else {
			f.Str("type", typeThinking).Str("thinking", p.Text).Str("signature", p.Signature)
		}
		return own("type", "data", "thinking", "signature")
	case codecs.KindCall:
		if p.Call == nil || p.Call.Name == "" {
			break
		}
		return w.call(*p.Call)
	case codecs.KindServer, codecs.KindOpaque:
		if carries(p) {
			return p.Extra
		}
	}
	w.warn("/parts", "a %s part %s has no form in a reply of this dialect; it is left out", p.Kind, p.Type)
	return nil
}

func (w *renderer) call(c codecs.ToolCall) codecs.Raw {
	id := c.ID
	if id == "" {
		id = madeDigest("toolu_", w.reply.ID, strconv.Itoa(w.calls), c.Name, c.ArgumentsText)
		w.warnings = append(w.warnings, codecs.Warnf(codecs.WarnIDMade, "/parts", "call %d (%s) came without an id; %s stands in", w.calls, c.Name, id))
	}
	if c.Signature != "" {
		w.warn("/parts", "the signature of the call %s has no place in this dialect", c.Name)
	}
	w.calls++
	var f jsonx.Fields
	f.Str("type", typeToolUse).Str("id", id).Str("name", c.Name)
	if c.Arguments != nil {
		f.Set("input", c.Arguments)
	} else {
		f.Str("input", c.ArgumentsText)
	}
	return join(&f, wire.Without(jsonx.Of(c.Extra), "type", "id", "name", "input"))
}

// citations attaches sources that no text block carries in native form to the
// first text block.
func (w *renderer) citations() {
	if len(w.reply.Citations) == 0 {
		return
	}
	first := -1
	for i, b := range w.blocks {
		v := jsonx.Of(b)
		if v.Get("citations").Len() > 0 {
			return
		}
		if first < 0 && v.Get("type").Str() == typeText {
			first = i
		}
	}
	if first < 0 {
		w.warn("/citations", "there is no text block to carry the citations")
		return
	}
	var list []codecs.Raw
	for _, c := range w.reply.Citations {
		if c.StartIndex != nil || c.EndIndex != nil {
			w.warn("/citations", "a citation of this dialect names no place in the text")
		}
		var f jsonx.Fields
		list = append(list, f.Str("type", "web_search_result_location").Str("url", c.URL).Str("title", c.Title).
			Str("encrypted_index", "").Str("cited_text", "").Raw())
	}
	w.blocks[first] = (&jsonx.Fields{}).Merge(w.blocks[first]).Set("citations", jsonx.List(list...)).Raw()
}

func renderUsage(u *codecs.Usage) codecs.Raw {
	if u == nil {
		u = &codecs.Usage{}
	}
	var f jsonx.Fields
	f.Int("input_tokens", u.Input).Int("cache_creation_input_tokens", u.CacheWrite).
		Int("cache_read_input_tokens", u.Cached).Int("output_tokens", u.Output)
	if u.Reasoning > 0 {
		var d jsonx.Fields
		f.Set("output_tokens_details", d.Int("thinking_tokens", u.Reasoning).Raw())
	}
	return f.Raw()
}
