package openai

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// imagePart reads an image_url part. Its URL stands in an object or, at
// Mistral, alone.
func imagePart(v jsonx.Value) codecs.Part {
	src := v.Get("image_url")
	u, extra := src.Str(), codecs.Raw(nil)
	if src.IsObject() {
		u, extra = src.Get("url").Str(), wire.Without(src, "url")
	}
	if u == "" {
		return codecs.Part{Kind: codecs.KindOpaque, Type: v.Get("type").Str(), Extra: v.Raw()}
	}
	return codecs.Part{Kind: codecs.KindMedia, Media: mediaOf(u, "image/*"), Extra: extra}
}

// mediaOf reads a data URI or a link. The MIME type of a link comes from its
// file name; without one it is fallback.
func mediaOf(u, fallback string) *codecs.Media {
	if mime, data, ok := wire.SplitDataURI(u); ok {
		if mime == "" {
			mime = fallback
		}
		return &codecs.Media{MIME: mime, Data: data}
	}
	m := &codecs.Media{MIME: wire.LinkMIME(u), URI: u}
	if !strings.HasPrefix(m.MIME, "image/") {
		m.MIME = fallback
	}
	return m
}

// message is an assistant message, read. Replies and the history in requests
// share it.
type message struct {
	wire.Notes
	parts    []codecs.Part
	refusal  string
	calls    []wire.Spelled
	nameless bool // the last entry of tool_calls has no name
}

// readAssistant reads an assistant message at the JSON pointer at. The parts come in
// the order reasoning, what the provider ran, content, media, calls: the keys
// of the message have no order of their own.
func readAssistant(msg jsonx.Value, at string, p codecs.Profile) message {
	var t message
	content := t.readContent(msg.Get("content"), at+"/content", p)
	reasoning := readReasoning(msg, p)
	var thought bool
	for _, c := range content {
		thought = thought || c.Kind == codecs.KindReasoning && c.Text != "" && c.Type == tagged
	}
	switch {
	case thought:
		// Thinking in tags wins over the native field (spec 2.7).
		content = dropNative(content)
	case reasoning != nil:
		content = dropReasoning(content)
		t.parts = append(t.parts, *reasoning)
	}
	t.parts = append(t.parts, readExecuted(msg.Get("executed_tools"))...)
	for i := range content {
		if content[i].Type == tagged {
			content[i].Type = ""
		}
	}
	t.parts = append(t.parts, content...)
	if s := msg.Get("refusal").Str(); s != "" {
		t.refusal = s
	}
	if t.refusal != "" {
		var f jsonx.Fields
		t.parts = append(t.parts, codecs.Part{Kind: codecs.KindOpaque, Type: typeRefusal, Extra: f.Str("type", typeRefusal).Str("refusal", t.refusal).Raw()})
	}
	t.readMedia(msg, at)
	t.readCalls(msg, at)
	return t
}

// typeRefusal is the type of the part that holds the words of a refusal.
const typeRefusal = "refusal"

// summarized is the type of a content chunk with summaries of the reasoning.
const summarized = "reasoning"

// tagged marks, while a message is read, reasoning that stood in tags.
const tagged = "\x00tag"

func dropNative(parts []codecs.Part) []codecs.Part {
	var out []codecs.Part
	for _, p := range parts {
		if p.Kind != codecs.KindReasoning || p.Type == tagged {
			out = append(out, p)
		}
	}
	return out
}

func dropReasoning(parts []codecs.Part) []codecs.Part {
	var out []codecs.Part
	for _, p := range parts {
		if p.Kind != codecs.KindReasoning {
			out = append(out, p)
		}
	}
	return out
}

// readReasoning returns the reasoning that message keys carry: the text of the
// first key that has one, and the structured details, whole, in Extra. Two keys
// are never joined, some hosts send the same text under both.
func readReasoning(msg jsonx.Value, p codecs.Profile) *codecs.Part {
	part := codecs.Part{Kind: codecs.KindReasoning}
	keys := reasoningKeys
	if len(p.ReasoningFields) > 0 {
		keys = append(append([]string(nil), p.ReasoningFields...), reasoningKeys...)
	}
	for _, key := range keys {
		if s := msg.Get(key).Str(); s != "" && key != contentKey {
			part.Text = s
			break
		}
	}
	details := msg.Get(detailsKey)
	if details.IsArray() && details.Len() > 0 {
		part.Extra = (&jsonx.Fields{}).Set(detailsKey, details.Raw()).Raw()
		if part.Text == "" {
			part.Text = detailsText(details)
		}
		part.Redacted = part.Text == ""
	}
	if part.Text == "" && part.Extra == nil {
		return nil
	}
	return &part
}

func detailsText(details jsonx.Value) string {
	var texts []string
	for _, d := range details.Items() {
		for _, key := range []string{"text", "summary"} {
			if s := d.Get(key).Str(); s != "" {
				texts = append(texts, s)
				break
			}
		}
	}
	return strings.Join(texts, "\n")
}

// readContent reads content in all its forms: a string, a list of chunks or
// bare strings, null. An object is structured output that a host did not
// encode; its text is its JSON.
func (t *message) readContent(content jsonx.Value, at string, p codecs.Profile) []codecs.Part {
	switch content.Kind() {
	case jsonx.String:
		return t.splitThink([]string{content.Str()}, at, p)
	case jsonx.Object, jsonx.Number, jsonx.Bool:
		return []codecs.Part{{Kind: codecs.KindText, Text: string(content.Raw())}}
	}
	var out []codecs.Part
	var refusal strings.Builder
	var texts []string // a run of text chunks: tags may open in one and close in the next
	flush := func() {
		if texts != nil {
			out = append(out, t.splitThink(texts, at, p)...)
			texts = nil
		}
	}
	for _, chunk := range content.Items() {
		typ := chunk.Get("type").Str()
		switch {
		case chunk.Kind() == jsonx.String:
			texts = append(texts, chunk.Str())
		case typ == "text" || typ == "output_text":
			texts = append(texts, chunk.Get("text").Str())
		case typ == "refusal":
			refusal.WriteString(chunk.Get("refusal").Str())
		case typ == "thinking":
			flush()
			out = append(out, thinkingPart(chunk))
		case typ == summarized && chunk.Get("summary").IsArray():
			flush()
			out = append(out, summaryPart(chunk))
		case typ == "image_url":
			flush()
			out = append(out, imagePart(chunk))
		case chunk.IsObject():
			flush()
			out = append(out, codecs.Part{Kind: codecs.KindOpaque, Type: typ, Extra: chunk.Raw()})
		}
	}
	flush()
	t.refusal = refusal.String()
	return out
}

// thinkingPart reads a thinking chunk (Mistral): its text is a list of text
// chunks, or a string.
func thinkingPart(chunk jsonx.Value) codecs.Part {
	part := codecs.Part{Kind: codecs.KindReasoning, Signature: chunk.Get("signature").Str()}
	inner := chunk.Get("thinking")
	var b strings.Builder
	b.WriteString(inner.Str())
	for _, c := range inner.Items() {
		b.WriteString(c.Str())
		b.WriteString(c.Get("text").Str())
	}
	part.Text = b.String()
	return part
}

// summaryPart reads a reasoning chunk (Databricks): a list of summaries, each with
// its signature.
func summaryPart(chunk jsonx.Value) codecs.Part {
	part := codecs.Part{Kind: codecs.KindReasoning, Type: summarized, Extra: wire.Without(chunk, "type")}
	var texts []string
	for _, s := range chunk.Get("summary").Items() {
		if text := s.Get("text").Str(); text != "" {
			texts = append(texts, text)
		}
		if part.Signature == "" {
			part.Signature = s.Get("signature").Str()
		}
	}
	part.Text = strings.Join(texts, "\n")
	part.Redacted = part.Text == ""
	return part
}

// splitThink turns a run of texts into text and reasoning parts. Without a tag
// the texts stay apart and byte for byte.
func (t *message) splitThink(texts []string, at string, p codecs.Profile) []codecs.Part {
	whole := strings.Join(texts, "")
	t.Warnings = append(t.Warnings, wire.UnpairedThink(whole, at, p)...)
	out, _ := wire.SplitThink(whole, p)
	if len(out) == 1 && out[0].Kind == codecs.KindText && out[0].Text == whole {
		out = nil
		for _, s := range texts {
			if s != "" {
				out = append(out, codecs.Part{Kind: codecs.KindText, Text: s})
			}
		}
	}
	for i := range out {
		if out[i].Kind == codecs.KindReasoning {
			out[i].Type = tagged
		}
	}
	return out
}

// readExecuted reads the tools that the host ran itself (Groq).
func readExecuted(list jsonx.Value) []codecs.Part {
	var out []codecs.Part
	for _, e := range list.Items() {
		if !e.IsObject() {
			continue
		}
		typ := e.Get("type").Str()
		if typ == "" {
			typ = "executed_tool"
		}
		out = append(out, codecs.Part{Kind: codecs.KindServer, Type: typ, ID: e.Get("id").Str(), Extra: e.Raw()})
	}
	return out
}

// readMedia reads images (OpenRouter) and the audio of an answer. Audio without
// text gives its transcript as the text.
func (t *message) readMedia(msg jsonx.Value, at string) {
	for i, img := range msg.Get("images").Items() {
		part := imagePart(img)
		if part.Kind == codecs.KindOpaque {
			t.Warn(codecs.WarnLossy, fmt.Sprintf("%s/images/%d", at, i), "an image without a URL")
		}
		t.parts = append(t.parts, part)
	}
	audio := msg.Get("audio")
	id, data, words := audio.Get("id").Str(), audio.Get("data").Str(), audio.Get("transcript").Str()
	if id == "" && data == "" { // a host that fills every key with zero values
		return
	}
	heard := false
	for _, p := range t.parts {
		heard = heard || p.Kind == codecs.KindText
	}
	if words != "" && !heard {
		t.parts = append(t.parts, codecs.Part{Kind: codecs.KindText, Text: words})
	}
	t.parts = append(t.parts, codecs.Part{
		Kind: codecs.KindMedia, ID: id, Text: words,
		Media: &codecs.Media{MIME: "audio/*", Data: data}, Extra: wire.Without(audio, "id", "data", "transcript"),
	})
}

// readCalls reads tool_calls, or else the legacy function_call.
func (t *message) readCalls(msg jsonx.Value, at string) {
	pos := 0
	items := msg.Get("tool_calls").Items()
	for i, item := range items {
		ptr := fmt.Sprintf("%s/tool_calls/%d", at, i)
		if isCustom(item) {
			t.parts = append(t.parts, codecs.Part{Kind: codecs.KindClient, Type: "custom", ID: callID(item), Extra: item.Raw()})
			continue
		}
		fn := item.Get("function")
		if fn.Get("name").Str() == "" {
			t.Warn(codecs.WarnCallNameless, ptr, "call %d has no name and was left out", i)
			t.nameless = i == len(items)-1
			continue
		}
		call := &codecs.ToolCall{Pos: pos, ID: callID(item), Name: fn.Get("name").Str(), Extra: wire.Without(item, "id", "type", "function", "index", "custom")}
		call.Signature = item.Path("extra_content", "google", "thought_signature").Str()
		t.Warnings = append(t.Warnings, wire.ReadArguments(call, fn.Get("arguments"), ptr+"/function/arguments")...)
		t.parts = append(t.parts, codecs.Part{Kind: codecs.KindCall, Call: call})
		t.calls = append(t.calls, wire.Spelled{At: ptr, ID: item.Get("id"), Arguments: fn.Get("arguments")})
		pos++
	}
	fn := msg.Get("function_call")
	if name := fn.Get("name").Str(); name != "" && pos == 0 {
		call := &codecs.ToolCall{Name: name}
		t.Warnings = append(t.Warnings, wire.ReadArguments(call, fn.Get("arguments"), at+"/function_call/arguments")...)
		t.parts = append(t.parts, codecs.Part{Kind: codecs.KindCall, Call: call})
	}
}

// named tells whether an entry of tool_calls is a function call with a name.
// Reply and Continue count the same entries.
func named(item jsonx.Value) bool {
	return !isCustom(item) && item.Path("function", "name").Str() != ""
}

// isCustom tells whether a call is a custom tool's. Some hosts put an empty
// custom object beside a function call.
func isCustom(item jsonx.Value) bool {
	return item.Get("type").Str() == "custom" && item.Get("custom").IsObject() && item.Path("function", "name").Str() == ""
}

// callID returns the id of a call; a number is read as its text.
func callID(item jsonx.Value) string { return wire.Scalar(item.Get("id")) }
