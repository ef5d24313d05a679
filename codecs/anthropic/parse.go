package anthropic

import (
	"encoding/base64"
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// ParseRequest decodes a request body: system as a string or blocks, content as
// a string or blocks, system messages inside the conversation.
//
// A user message with tool results becomes a tool message, and a user message
// with what else it holds, in the order of the wire; Request joins them again.
// cache_control and other keys of a block stay in the Extra of its part, keys of
// the body that have no neutral place in Request.Extra. Typed client tools of
// the dialect become Tools whose Raw is the entry; entries of the provider's
// become ServerTools. Vertex and Bedrock name the model, and whether to stream,
// in the path.
func (c Codec) ParseRequest(in codecs.In, _ codecs.Profile) (codecs.Request, []codecs.Warning, error) {
	v, err := wire.ParseBody(codecs.Anthropic, in.Body)
	if err != nil {
		return codecs.Request{}, nil, err
	}
	if !v.IsObject() {
		return codecs.Request{}, nil, decodeError("", fmt.Errorf("want a request object, got %s", v.Kind()))
	}
	if m := v.Get("messages"); !m.IsArray() {
		return codecs.Request{}, nil, decodeError("/messages", fmt.Errorf("want a list of messages, got %s", m.Kind()))
	}
	p := parser{req: codecs.Request{Model: v.Get("model").Str(), Stream: v.Get("stream").Bool()}}
	if model, stream, ok := c.Match(in); ok {
		if p.req.Model == "" {
			p.req.Model = model
		}
		p.req.Stream = p.req.Stream || stream
	}
	keys := []string{"model", "messages", "system", "tools", "tool_choice", "stream"}
	if n, ok := v.Get("max_tokens").Int(); ok && n > 0 && n < 1<<31 {
		p.req.MaxTokens = int(n)
		keys = append(keys, "max_tokens")
	}
	p.req.Extra = wire.Without(v, keys...)
	if parts := p.system(v.Get("system")); len(parts) > 0 {
		p.req.Messages = append(p.req.Messages, codecs.Message{Role: "system", Parts: parts})
	}
	for i, m := range v.Get("messages").Items() {
		if err := p.message(m, fmt.Sprintf("/messages/%d", i)); err != nil {
			return codecs.Request{}, nil, err
		}
	}
	p.Warnings = append(p.Warnings, wire.Pair(p.req.Messages, p.results, true)...)
	if err := p.tools(v.Get("tools")); err != nil {
		return codecs.Request{}, nil, err
	}
	p.choice(v.Get("tool_choice"))
	return p.req, p.Warnings, nil
}

type parser struct {
	wire.Notes
	req     codecs.Request
	results []string // where they stand
}

func (p *parser) system(v jsonx.Value) []codecs.Part {
	if s := v.Str(); s != "" {
		return []codecs.Part{{Kind: codecs.KindText, Text: s}}
	}
	var out []codecs.Part
	for _, b := range v.Items() {
		out = append(out, promptPart(b))
	}
	return out
}

func (p *parser) message(m jsonx.Value, at string) error {
	role := m.Get("role").Str()
	switch role {
	case "user", "assistant", "system":
	default:
		return decodeError(at+"/role", fmt.Errorf("want user, assistant or system, got %s", shown(m.Get("role"))))
	}
	content := m.Get("content")
	switch content.Kind() {
	case jsonx.String:
		p.add(role, codecs.Part{Kind: codecs.KindText, Text: content.Str()}, true)
	case jsonx.Array:
		p.blocks(role, content, at+"/content")
	case jsonx.Null, jsonx.Absent:
		p.Warn(codecs.WarnRequestForm, at+"/content", "the message has no content; the API refuses that")
		p.add(role, codecs.Part{}, true)
	default:
		return decodeError(at+"/content", fmt.Errorf("want a string or a list of blocks, got %s", content.Kind()))
	}
	return nil
}

func shown(v jsonx.Value) string {
	if s, ok := v.Text(); ok && len(s) < 80 {
		return fmt.Sprintf("%q", s)
	}
	return v.Kind().String()
}

// add appends a part to the last message, or begins a message with it. A part
// without a kind only begins one.
func (p *parser) add(role string, part codecs.Part, begin bool) {
	if n := len(p.req.Messages); begin || n == 0 || p.req.Messages[n-1].Role != role {
		p.req.Messages = append(p.req.Messages, codecs.Message{Role: role})
	}
	if part.Kind != "" {
		last := &p.req.Messages[len(p.req.Messages)-1]
		last.Parts = append(last.Parts, part)
	}
}

func (p *parser) blocks(role string, content jsonx.Value, at string) {
	items := content.Items()
	if len(items) == 0 {
		p.add(role, codecs.Part{}, true)
	}
	calls, others := 0, false
	for i, b := range items {
		here := fmt.Sprintf("%s/%d", at, i)
		switch typ := b.Get("type").Str(); {
		case role == "assistant" && typ == typeToolUse && b.Get("name").Str() == "":
			p.Warn(codecs.WarnCallNameless, here, "left out a tool_use block without a name")
			p.add(role, codecs.Part{}, i == 0)
		case role == "assistant" && typ == typeToolUse:
			call, warnings := readCall(b, here, calls)
			if in := b.Get("input"); in.Defined() && !in.IsObject() {
				warnings = append(warnings, codecs.Warnf(codecs.WarnArgumentsString, here+"/input", "input of %s is no object", call.Name))
			}
			calls++
			p.Warnings = append(p.Warnings, warnings...)
			p.add(role, codecs.Part{Kind: codecs.KindCall, Call: &call}, i == 0)
		case role == "assistant" && (typ == typeThinking || typ == typeRedacted):
			p.add(role, reasoningPart(b), i == 0)
		case role == "user" && typ == typeToolResult:
			if others {
				p.Warn(codecs.WarnRequestForm, here, "a tool_result stands behind other content; the API wants results first")
			}
			p.add("tool", p.result(b, here), i == 0)
		default:
			others = true
			p.add(role, promptPart(b), i == 0)
		}
	}
}

// result reads a tool_result block.
func (p *parser) result(b jsonx.Value, at string) codecs.Part {
	p.results = append(p.results, at)
	r := codecs.ToolResult{ID: b.Get("tool_use_id").Str(), Content: resultBlocks(b.Get("content")), IsError: b.Get("is_error").Bool()}
	return codecs.Part{Kind: codecs.KindResult, Result: &r, Extra: wire.Without(b, "type", "tool_use_id", "content", "is_error")}
}

// promptPart reads a block that is no call, result or reasoning.
func promptPart(b jsonx.Value) codecs.Part {
	switch b.Get("type").Str() {
	case typeText:
		return codecs.Part{Kind: codecs.KindText, Text: b.Get("text").Str(), Extra: wire.Without(b, "type", "text")}
	case typeImage, typeDocument:
		return mediaPart(b)
	}
	return otherPart(b)
}

// mediaPart reads an image or document block. A file id becomes the URI, its
// source stays in Extra; a source of blocks, which no neutral media can hold,
// keeps the block whole.
func mediaPart(b jsonx.Value) codecs.Part {
	src := b.Get("source")
	m := &codecs.Media{MIME: src.Get("media_type").Str()}
	part := codecs.Part{Kind: codecs.KindMedia, Type: b.Get("type").Str(), Media: m}
	drop := []string{"type", "source"}
	if part.Type == typeDocument {
		m.Name = b.Get("title").Str()
		drop = append(drop, "title")
	}
	switch src.Get("type").Str() {
	case "base64":
		m.Data = src.Get("data").Str()
	case "text":
		m.Data = base64.StdEncoding.EncodeToString([]byte(src.Get("data").Str()))
		if m.MIME == "" {
			m.MIME = "text/plain"
		}
	case "url":
		m.URI = src.Get("url").Str()
		if m.MIME == "" {
			m.MIME = wire.LinkMIME(m.URI)
		}
	case "file":
		m.URI = src.Get("file_id").Str()
		drop = []string{"type", "title"}
	default:
		return codecs.Part{Kind: codecs.KindOpaque, Type: part.Type, Extra: b.Raw()}
	}
	part.Extra = wire.Without(b, drop...)
	return part
}

// resultBlocks turns the content of a tool_result into MCP content blocks.
// Blocks with keys that MCP has no place for stay in this dialect's form.
func resultBlocks(content jsonx.Value) []codecs.Raw {
	out := []codecs.Raw{}
	if s := content.Str(); s != "" {
		return append(out, codecs.TextBlock(s))
	}
	for _, b := range content.Items() {
		out = append(out, resultBlock(b))
	}
	return out
}

func resultBlock(b jsonx.Value) codecs.Raw {
	src, typ := b.Get("source"), b.Get("type").Str()
	if wire.Without(b, "type", "source") != nil {
		return b.Raw()
	}
	mime, data := src.Get("media_type").Str(), src.Get("data").Str()
	var f, res jsonx.Fields
	switch form := src.Get("type").Str(); {
	case typ == typeImage && form == "base64" && wire.ImageMIME(mime):
		return f.Str("type", "image").Str("data", data).Str("mimeType", mime).Raw()
	case typ == typeDocument && form == "base64" && mime == wire.PDFMIME:
		res.Str("uri", "").Str("mimeType", mime).Str("blob", data)
	case typ == typeDocument && form == "text" && data != "":
		res.Str("uri", "").Str("mimeType", "text/plain").Str("text", data)
	default:
		return b.Raw()
	}
	return f.Str("type", "resource").Set("resource", res.Raw()).Raw()
}

// tools sorts the entries of the tool list by who runs them.
func (p *parser) tools(v jsonx.Value) error {
	if v.Defined() && !v.IsArray() {
		return decodeError("/tools", fmt.Errorf("want a list of tools, got %s", v.Kind()))
	}
	for i, e := range v.Items() {
		at := fmt.Sprintf("/tools/%d", i)
		class, owner, label := wire.ClassifyTool(e.Raw())
		switch {
		case class == wire.FunctionTool:
			t, ok, err := wire.ParseTool(e.Raw())
			if err != nil {
				return decodeError(at, err)
			}
			if ok {
				p.req.Tools = append(p.req.Tools, t)
				continue
			}
			p.Warn(codecs.WarnToolSkipped, at, "the tool %q has no name", label)
		case class == wire.ClientTool && owner == codecs.Anthropic:
			p.req.Tools = append(p.req.Tools, codecs.Tool{Name: e.Get("name").Str(), InputSchema: codecs.Raw(`{"type":"object"}`), Raw: e.Raw()})
		case e.IsObject():
			p.req.ServerTools = append(p.req.ServerTools, e.Raw())
		default:
			p.Warn(codecs.WarnToolSkipped, at, "the entry is no tool (%s)", e.Kind())
		}
	}
	return nil
}

// choice reads tool_choice and the parallel knob in it.
func (p *parser) choice(v jsonx.Value) {
	if knob := v.Get("disable_parallel_tool_use"); knob.Kind() == jsonx.Bool {
		parallel := !knob.Bool()
		p.req.Parallel = &parallel
	}
	if v.Defined() {
		p.req.Choice = wire.ParseChoice(v.Raw())
	}
}
