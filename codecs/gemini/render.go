package gemini

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// RenderReply encodes a reply as generateContent answers it. A blocked prompt
// has a promptFeedback and no candidate. Arguments that do not decode go out as
// a JSON string, which Reply reads back. RawFinish is kept when it is spelled as
// this provider spells its reasons.
func (c Codec) RenderReply(r codecs.Reply, p codecs.Profile, l codecs.Likeness) (codecs.Raw, []codecs.Warning, error) {
	r = wire.Alike(r, l)
	e := &encoder{profile: p}
	e.profile.ReasoningEcho = "" // a rule for requests
	var body jsonx.Fields
	var parts codecs.Raw
	if r.Finish == codecs.FinishBlocked {
		e.blocked(&body, r)
	} else {
		parts = e.candidate(&body, r)
	}
	e.usage(&body, r.Usage)
	model := r.Model
	if model == "" {
		model = "gemini"
	}
	id := r.ID
	if id == "" {
		id = wire.MadeID(append([]byte(model), parts...), 0, "", "")
	}
	body.Str("modelVersion", model).Str("responseId", id)
	if r.Unfinished > 0 {
		e.Warn(codecs.WarnLossy, "", "%d call(s) without a name are left out", r.Unfinished)
	}
	out := wire.Shaped(body.Raw(), l)
	return out, append(e.Warnings, wire.LostFinish(c, r, out, p)...), nil
}

func (e *encoder) blocked(body *jsonx.Fields, r codecs.Reply) {
	reason := r.RawFinish
	if !screaming(reason) {
		reason = "OTHER"
	}
	var f jsonx.Fields
	f.Str("blockReason", reason)
	if r.FinishMessage != "" {
		f.Str("blockReasonMessage", r.FinishMessage)
	}
	body.Set("promptFeedback", f.Raw())
	if len(r.Parts) > 0 {
		e.Warn(codecs.WarnLossy, "/parts", "a blocked prompt has no content; %d part(s) are left out", len(r.Parts))
	}
}

// candidate adds the one candidate and returns its parts.
func (e *encoder) candidate(body *jsonx.Fields, r codecs.Reply) codecs.Raw {
	var parts []codecs.Raw
	for i, p := range r.Parts {
		if raw := e.replyPart(p, fmt.Sprintf("/parts/%d", i)); raw != nil {
			parts = append(parts, raw)
		}
	}
	var c, cand jsonx.Fields
	if len(parts) > 0 {
		c.Set("parts", jsonx.List(parts...))
	}
	cand.Set("content", c.Str("role", "model").Raw())
	if raw := e.finish(r); raw != nil {
		cand.Set("finishReason", raw)
	}
	if r.FinishMessage != "" {
		cand.Str("finishMessage", r.FinishMessage)
	}
	cand.Int("index", 0)
	addCitations(&cand, r.Citations)
	body.Set("candidates", jsonx.List(cand.Raw()))
	return jsonx.List(parts...)
}

func (e *encoder) replyPart(p codecs.Part, pointer string) codecs.Raw {
	switch p.Kind {
	case codecs.KindCall:
		if p.Call == nil {
			return nil
		}
		c := p.Call
		if c.ArgumentsErr == "" && !c.Cut {
			return e.part(p, true, pointer)
		}
		call := *c
		call.Arguments, call.ArgumentsErr, call.ArgumentsText = c.Arguments, "", c.ArgumentsText
		if c.ArgumentsErr != "" {
			call.Arguments = jsonx.Quote(c.ArgumentsText)
		}
		if c.Cut {
			var f jsonx.Fields
			call.Extra = f.Merge(c.Extra).Bool("willContinue", true).Raw()
		}
		p.Call = &call
		return e.part(p, true, pointer)
	case codecs.KindReasoning: // an id is no sign of another provider here: a scenario and a gateway have their own
		if p.ID != "" {
			e.Warn(codecs.WarnLossy, pointer+"/id", "a thought has no id in this dialect")
			p.ID = ""
		}
	case codecs.KindMedia: // what a model made is not measured by what a prompt takes
		if m := p.Media; m != nil && m.Data != "" {
			var f jsonx.Fields
			return e.signed(f.Merge(inlinePart(m.MIME, m.Data, e.displayName(m.Name, pointer))), p, pointer)
		}
	}
	return e.part(p, true, pointer)
}

func (e *encoder) usage(body *jsonx.Fields, u *codecs.Usage) {
	if u == nil {
		u = &codecs.Usage{}
	}
	var f jsonx.Fields
	f.Int("promptTokenCount", u.Input).Int("candidatesTokenCount", u.Output-u.Reasoning)
	if u.Reasoning != 0 {
		f.Int("thoughtsTokenCount", u.Reasoning)
	}
	if u.Cached != 0 {
		f.Int("cachedContentTokenCount", u.Cached)
	}
	if u.CacheWrite != 0 {
		e.Warn(codecs.WarnLossy, "/usage/cache_write", "usageMetadata has no count of tokens written to a cache")
	}
	body.Set("usageMetadata", f.Int("totalTokenCount", u.Input+u.Output).Raw())
}

// addCitations writes sources with a range as citations, others as grounding.
func addCitations(cand *jsonx.Fields, cites []codecs.Citation) {
	var chunks, sources []codecs.Raw
	for _, c := range cites {
		var f jsonx.Fields
		if c.StartIndex != nil {
			f.Int("startIndex", *c.StartIndex)
		}
		if c.EndIndex != nil {
			f.Int("endIndex", *c.EndIndex)
		}
		ranged := c.StartIndex != nil || c.EndIndex != nil
		f.Str("uri", c.URL)
		if c.Title != "" {
			f.Str("title", c.Title)
		}
		if ranged {
			sources = append(sources, f.Raw())
			continue
		}
		var chunk jsonx.Fields
		chunks = append(chunks, chunk.Set("web", f.Raw()).Raw())
	}
	if len(chunks) > 0 {
		var g jsonx.Fields
		cand.Set("groundingMetadata", g.Set("groundingChunks", jsonx.List(chunks...)).Raw())
	}
	if len(sources) > 0 {
		var m jsonx.Fields
		cand.Set("citationMetadata", m.Set("citations", jsonx.List(sources...)).Raw())
	}
}
