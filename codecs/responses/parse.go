package responses

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// ParseRequest decodes a request body. instructions becomes a system message in
// front. Items of the model (messages of role assistant, reasoning, calls, what
// the provider ran) that follow each other make one assistant message; outputs
// that follow each other one tool message. Items of unknown types stay opaque.
// Tools that are no functions become ServerTools, whoever runs them. Keys that
// the neutral request has no place for, previous_response_id among them, go to
// Extra.
func (c Codec) ParseRequest(in codecs.In, _ codecs.Profile) (codecs.Request, []codecs.Warning, error) {
	root, err := wire.ParseBody(codecs.Responses, in.Body)
	if err != nil {
		return codecs.Request{}, nil, err
	}
	if !root.IsObject() {
		return codecs.Request{}, nil, decodeError("", fmt.Sprintf("request is %s, not an object", root.Kind()))
	}
	var req codecs.Request
	req.Model, _, _ = c.Match(in)
	b := history{rd: reader{profile: asText}}
	var extra jsonx.Fields
	hasExtra := false
	for _, m := range root.Members() {
		v, used := m.Value, true
		switch m.Key {
		case "model":
			if s := v.Str(); s != "" {
				req.Model = s
			}
		case "instructions":
			used = v.Kind() == jsonx.String || !v.Defined()
			if s := v.Str(); s != "" {
				b.messages = append([]codecs.Message{{Role: "system", Parts: []codecs.Part{{Kind: codecs.KindText, Text: s}}}}, b.messages...)
			}
		case "input":
			if err := b.input(v); err != nil {
				return codecs.Request{}, nil, err
			}
		case "tools":
			if err := b.tools(&req, v); err != nil {
				return codecs.Request{}, nil, err
			}
		case "tool_choice":
			req.Choice = wire.ParseChoice(v.Raw())
		case "parallel_tool_calls":
			if used = v.Kind() == jsonx.Bool; used {
				on := v.Bool()
				req.Parallel = &on
			}
		case "max_output_tokens":
			n, ok := v.Int()
			if used = ok && n >= 0; used {
				req.MaxTokens = int(n)
			}
		case "stream":
			if used = v.Kind() == jsonx.Bool; used {
				req.Stream = v.Bool()
			}
		default:
			used = false
		}
		if !used {
			extra.Set(m.Key, v.Raw())
			hasExtra = true
		}
	}
	if hasExtra {
		req.Extra = extra.Raw()
	}
	req.Messages = b.messages
	return req, append(b.rd.warnings, wire.Pair(req.Messages, b.results, true)...), nil
}

// history builds messages from input items.
type history struct {
	messages []codecs.Message
	rd       reader   // of the assistant message that is being built
	results  []string // where they stand
}

func (b *history) tools(req *codecs.Request, list jsonx.Value) error {
	if list.Defined() && !list.IsArray() {
		return decodeError("/tools", fmt.Sprintf("tools is %s, not a list", list.Kind()))
	}
	for i, entry := range list.Items() {
		if class, _, _ := wire.ClassifyTool(entry.Raw()); class != wire.FunctionTool {
			req.ServerTools = append(req.ServerTools, entry.Raw())
			continue
		}
		t, ok, err := wire.ParseTool(entry.Raw())
		if err != nil {
			return decodeError(fmt.Sprintf("/tools/%d", i), err.Error())
		}
		if !ok {
			b.rd.warnings = append(b.rd.warnings, codecs.Warnf(codecs.WarnToolSkipped, fmt.Sprintf("/tools/%d", i), "a function without a name"))
			continue
		}
		req.Tools = append(req.Tools, t)
	}
	return nil
}

func (b *history) input(v jsonx.Value) error {
	switch v.Kind() {
	case jsonx.Absent, jsonx.Null:
		return nil
	case jsonx.String:
		b.put("user", codecs.Part{Kind: codecs.KindText, Text: v.Str()})
		return nil
	case jsonx.Array:
	default:
		return decodeError("/input", fmt.Sprintf("input is %s, neither a string nor a list of items", v.Kind()))
	}
	items := v.Items()
	b.rd.shellDone = shellOutputs(items)
	for i, item := range items {
		b.item(item, fmt.Sprintf("/input/%d", i))
	}
	b.endTurn()
	return nil
}

// put appends a message.
func (b *history) put(role string, parts ...codecs.Part) {
	b.messages = append(b.messages, codecs.Message{Role: role, Parts: parts})
}

// join appends parts to the last message when it is of the same role and was
// built by join as well, which for role tool it always was.
func (b *history) join(role string, part codecs.Part) {
	if n := len(b.messages); n > 0 && b.messages[n-1].Role == role {
		b.messages[n-1].Parts = append(b.messages[n-1].Parts, part)
		return
	}
	b.put(role, part)
}

// endTurn closes the assistant message that is being built.
func (b *history) endTurn() {
	if len(b.rd.parts) == 0 {
		return
	}
	b.put("assistant", b.rd.parts...)
	b.rd = reader{profile: b.rd.profile, shellDone: b.rd.shellDone, warnings: b.rd.warnings}
}

func (b *history) item(v jsonx.Value, pointer string) {
	typ, role := itemType(v), v.Get("role").Str()
	switch {
	case v.Kind() == jsonx.String: // no legal item, but clear enough
		b.endTurn()
		b.put("user", codecs.Part{Kind: codecs.KindText, Text: v.Str()})
	case typ == typeMessage && role == "assistant", typ == typeCall, typ == typeReasoning:
		b.rd.item(v, pointer)
	case typ == typeMessage:
		b.endTurn()
		b.put(neutralRole(role), inputParts(v)...)
	case typ == typeOutput:
		b.endTurn()
		r := b.result(v)
		b.results = append(b.results, pointer)
		b.join("tool", codecs.Part{Kind: codecs.KindResult, Result: &r})
	case role != "" && role != "assistant": // additional_tools and the like
		b.endTurn()
		b.put(neutralRole(role), codecs.Part{Kind: codecs.KindOpaque, Type: typ, ID: wire.Scalar(v.Get("id")), Extra: v.Raw()})
	case clientAnswer(v, typ):
		b.endTurn()
		b.join("tool", codecs.Part{Kind: codecs.KindOpaque, Type: typ, ID: wire.Scalar(v.Get("id")), Extra: v.Raw()})
	default:
		b.rd.item(v, pointer)
	}
}

// clientAnswer tells whether an item is the client's answer to a client call.
func clientAnswer(v jsonx.Value, typ string) bool {
	switch typ {
	case "mcp_approval_response":
		return true
	case "tool_search_output":
		return v.Get("execution").Str() == "client"
	case "shell_call_output", "program_output":
		return false
	}
	return strings.HasSuffix(typ, "_call_output")
}

func neutralRole(role string) string {
	switch role {
	case "system", "developer":
		return "system"
	case "tool":
		return "tool"
	}
	return "user"
}

// inputParts reads the content of a user or system message.
func inputParts(v jsonx.Value) []codecs.Part {
	content := v.Get("content")
	if s, ok := content.Text(); ok {
		return []codecs.Part{{Kind: codecs.KindText, Text: s}}
	}
	var out []codecs.Part
	for _, block := range content.Items() {
		typ := block.Get("type").Str()
		if s, ok := block.Get("text").Text(); ok && (typ == "input_text" || typ == "text" || typ == "output_text" || typ == "") {
			out = append(out, codecs.Part{Kind: codecs.KindText, Text: s, Extra: blockExtra(block)})
			continue
		}
		if m, ok := readMedia(block); ok {
			extra := wire.Without(block, "type", "image_url", "filename", "file_data", "file_url")
			out = append(out, codecs.Part{Kind: codecs.KindMedia, Media: &m, Extra: extra})
			continue
		}
		out = append(out, codecs.Part{Kind: codecs.KindOpaque, Type: typ, Extra: block.Raw()})
	}
	return out
}

// result reads a function_call_output.
func (b *history) result(v jsonx.Value) codecs.ToolResult {
	r := codecs.ToolResult{ID: wire.Scalar(v.Get("call_id")), Name: v.Get("name").Str()}
	r.Content = []codecs.Raw{}
	output := v.Get("output")
	if s, ok := output.Text(); ok {
		if s != "" {
			r.Content = append(r.Content, codecs.TextBlock(s))
		}
		return r
	}
	if output.Defined() && !output.IsArray() {
		r.Content = append(r.Content, codecs.TextBlock(string(output.Raw())))
	}
	for _, part := range output.Items() {
		r.Content = append(r.Content, resultBlock(part))
	}
	return r
}

// resultBlock turns one part of an output list into an MCP block.
func resultBlock(part jsonx.Value) codecs.Raw {
	if s, ok := part.Get("text").Text(); ok {
		return codecs.TextBlock(s)
	}
	var f, res jsonx.Fields
	m, ok := readMedia(part)
	if !ok && m.URI == "" && m.Data == "" {
		id := part.Get("file_id").Str()
		if id == "" {
			return part.Raw()
		}
		return f.Str("type", "resource_link").Str("uri", "file_id:"+id).Str("name", id).Raw()
	}
	switch {
	case m.Data == "":
		name := m.Name
		if name == "" {
			name = m.URI[strings.LastIndexByte(m.URI, '/')+1:]
		}
		f.Str("type", "resource_link").Str("uri", m.URI).Str("name", name)
		if m.MIME != "" && m.MIME != "image/*" {
			f.Str("mimeType", m.MIME)
		}
		return f.Raw()
	case strings.HasPrefix(m.MIME, "image/"):
		return f.Str("type", "image").Str("data", m.Data).Str("mimeType", m.MIME).Raw()
	}
	uri := "file:///" + fileURI(m.Name)
	res.Str("uri", uri).Str("mimeType", m.MIME).Str("blob", m.Data)
	return f.Str("type", "resource").Set("resource", res.Raw()).Raw()
}
