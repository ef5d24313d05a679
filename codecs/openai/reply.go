package openai

import (
	"errors"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

var errNoChoices = errors.New("response contained no choices")

// Reply decodes the body of a chat completion. Errors inside a 200 are
// *codecs.ProviderError, a body without a usable choice is a
// *codecs.DecodeError. Source: spec 2.3, 2.6.
func (c Codec) Reply(body []byte, p codecs.Profile) (codecs.Reply, error) {
	root, err := wire.ParseBody(c.Dialect(), body)
	if err != nil {
		return codecs.Reply{}, err
	}
	choice := root.Get("choices").At(0)
	msg, older := messageOf(choice)
	message, code, failed := topError(root)
	switch {
	case !choice.IsObject() && failed:
		return codecs.Reply{}, inside(message, code, body)
	case !choice.IsObject():
		return codecs.Reply{}, &codecs.DecodeError{Dialect: c.Dialect(), Pointer: "/choices", Offset: -1, Err: errNoChoices}
	case choice.Get("error").Defined():
		message, code, _ = envelope(choice)
		return codecs.Reply{}, inside(message, code, body)
	}
	r := codecs.Reply{ID: root.Get("id").Str(), Model: root.Get("model").Str(), Body: body, RawFinish: wire.Scalar(choice.Get("finish_reason"))}
	if r.RawFinish == "" {
		r.RawFinish = choice.Get("finish_details").Get("type").Str()
	}
	if failed && (r.RawFinish == codecs.FinishError || empty(msg)) {
		return codecs.Reply{}, inside(message, code, body)
	}
	if r.RawFinish == codecs.FinishError {
		return codecs.Reply{}, wire.EndedInError(codecs.OpenAI, body)
	}
	if !msg.IsObject() && r.RawFinish == "" {
		return codecs.Reply{}, &codecs.DecodeError{
			Dialect: c.Dialect(), Pointer: "/choices/0/message", Offset: -1,
			Err: errors.New("the choice has neither a message nor a finish reason"),
		}
	}
	t := readAssistant(msg, "/choices/0/message", p)
	r.Parts, r.Warnings, r.FinishMessage = t.parts, t.Warnings, t.refusal
	setFinish(&r, choice.Get("native_finish_reason").Str(), t.refusal != "")
	if t.nameless && r.Finish == codecs.FinishLength {
		r.Unfinished = 1
	}
	if older {
		r.Warnings = append(r.Warnings, codecs.Warnf(codecs.WarnReplyForm, "/choices/0/text", "the choice has a text in place of a message"))
	}
	wire.Tolerated(&r, form, t.calls, "/choices/0/finish_reason")
	if failed && acts(r) { // what a failed provider left of its calls is not run
		return codecs.Reply{}, inside(message, code, body)
	}
	if failed {
		r.FinishMessage = message
		r.Warnings = append(r.Warnings, codecs.Warnf(codecs.WarnFinishOdd, "/error", "the reply also carries an error: %s", message))
	}
	r.Usage = readUsage(root, choice)
	r.Citations = readCitations(root, msg)
	return r, nil
}

// messageOf returns the message of a choice. The text of an older completion,
// which has none, is one; older says so.
func messageOf(choice jsonx.Value) (msg jsonx.Value, older bool) {
	msg = choice.Get("message")
	if text := choice.Get("text"); text.Str() != "" && !msg.IsObject() {
		var f jsonx.Fields
		return jsonx.Of(f.Str("role", "assistant").Set("content", text.Raw()).Raw()), true
	}
	return msg, false
}

// topError reads an error beside or instead of the choices. Only a defined
// error key, or no choices at all, makes it one.
func topError(root jsonx.Value) (message, code string, failed bool) {
	if !root.Get("error").Defined() && root.Get("choices").Len() > 0 {
		return "", "", false
	}
	return envelope(root)
}

// empty tells whether a message has nothing that a reader could use.
func empty(msg jsonx.Value) bool {
	t := readAssistant(msg, "", codecs.Profile{})
	return len(t.parts) == 0 && t.refusal == ""
}

// readUsage reads the token counts from wherever a host puts them. Hosts that
// count reasoning outside completion_tokens (xAI) show it in the total; the
// output is then both. Source: table of provider values in the wire facts.
func readUsage(root, choice jsonx.Value) *codecs.Usage {
	u := root.Get("usage")
	for _, other := range []jsonx.Value{choice.Get("usage"), root.Path("x_groq", "usage")} {
		if !u.IsObject() {
			u = other
		}
	}
	if !u.IsObject() {
		return nil
	}
	first := func(paths ...[]string) int64 {
		for _, path := range paths {
			if n, ok := u.Path(path...).Int(); ok && n > 0 {
				return n
			}
		}
		return 0
	}
	out := &codecs.Usage{
		Input:  first([]string{"prompt_tokens"}, []string{"input_tokens"}),
		Output: first([]string{"completion_tokens"}, []string{"output_tokens"}),
		Cached: first([]string{"prompt_tokens_details", "cached_tokens"}, []string{"prompt_token_details", "cached_tokens"},
			[]string{"prompt_cache_hit_tokens"}, []string{"num_cached_tokens"}, []string{"cached_tokens"}, []string{"cache_read_input_tokens"}),
		CacheWrite: first([]string{"prompt_tokens_details", "cache_write_tokens"}, []string{"cache_creation_input_tokens"}),
		Reasoning:  first([]string{"completion_tokens_details", "reasoning_tokens"}, []string{"reasoning_tokens"}),
	}
	if total := first([]string{"total_tokens"}); out.Reasoning > 0 && total == out.Input+out.Output+out.Reasoning {
		out.Output += out.Reasoning
	}
	return out
}

// readCitations reads url_citation annotations and the source lists of search
// hosts (Perplexity).
func readCitations(root, msg jsonx.Value) []codecs.Citation {
	var out wire.Citations
	out.AddAnnotations(msg.Get("annotations"))
	for _, s := range root.Get("search_results").Items() {
		if u := s.Get("url").Str(); u != "" {
			out.Add(codecs.Citation{URL: u, Title: s.Get("title").Str()})
		}
	}
	for _, s := range root.Get("citations").Items() {
		out.Add(codecs.Citation{URL: s.Str()})
	}
	return out.List
}
