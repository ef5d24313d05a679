package openai

import (
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// ParseRequest decodes a chat completions body in all its legal forms: string
// and list content, tool and legacy function messages, developer as system.
// Keys that the neutral request has no field for come back in Extra; what of a
// message it cannot carry is a warning.
func (c Codec) ParseRequest(in codecs.In, p codecs.Profile) (codecs.Request, []codecs.Warning, error) {
	root, err := wire.ParseBody(c.Dialect(), in.Body)
	if err != nil {
		return codecs.Request{}, nil, err
	}
	if !root.IsObject() {
		return codecs.Request{}, nil, requestFault("", fmt.Errorf("want an object, got %s", root.Kind()))
	}
	r := requestReader{profile: p}
	r.req.Model, _, _ = c.Match(in)
	if m := root.Get("model").Str(); m != "" {
		r.req.Model = m
	}
	if !root.Get("messages").IsArray() {
		return codecs.Request{}, nil, requestFault("/messages", fmt.Errorf("want a list, got %s", root.Get("messages").Kind()))
	}
	for i, m := range root.Get("messages").Items() {
		if err := r.message(fmt.Sprintf("/messages/%d", i), m); err != nil {
			return codecs.Request{}, nil, err
		}
	}
	if err := r.fields(root); err != nil {
		return codecs.Request{}, nil, err
	}
	r.Warnings = append(r.Warnings, wire.Pair(r.req.Messages, r.results, true)...)
	return r.req, r.Warnings, nil
}

func requestFault(pointer string, err error) error {
	return &codecs.DecodeError{Dialect: codecs.OpenAI, Pointer: pointer, Offset: -1, Err: err}
}

type requestReader struct {
	wire.Notes
	profile codecs.Profile
	req     codecs.Request
	results []string // where they stand
}

// fields reads everything but the messages.
func (r *requestReader) fields(root jsonx.Value) error {
	var extra []jsonx.Member
	limitKeys := []string{maxTokensKey(r.profile), "max_completion_tokens", "max_tokens"}
	limitKey := ""
	for _, key := range limitKeys {
		if n, ok := root.Get(key).Int(); ok && n > 0 && n < 1<<31 {
			limitKey, r.req.MaxTokens = key, int(n)
			break
		}
	}
	for _, m := range root.Members() {
		v := m.Value
		switch {
		case m.Key == "model" || m.Key == "messages" || m.Key == limitKey:
		case m.Key == "tools" && v.IsArray():
			r.tools(v, "/tools", false)
		case m.Key == "functions" && v.IsArray():
			r.tools(v, "/functions", true)
		case (m.Key == "tool_choice" || m.Key == "function_call" && !root.Get("tool_choice").Exists()) && v.Defined():
			r.choice(m.Key, v)
		case m.Key == "parallel_tool_calls" && v.Kind() == jsonx.Bool:
			b := v.Bool()
			r.req.Parallel = &b
		case m.Key == "stream" && v.Kind() == jsonx.Bool:
			r.req.Stream = v.Bool()
		case m.Key == "stream_options" && v.Len() == 1 && v.Get("include_usage").Bool(): // part of asking for a stream
		case !v.Defined() && (m.Key == "tools" || m.Key == "tool_choice" || m.Key == "stream"):
		default:
			extra = append(extra, m)
		}
	}
	if extra != nil {
		r.req.Extra = wire.Object(extra)
	}
	return nil
}

func (r *requestReader) choice(key string, v jsonx.Value) {
	if name := v.Get("name").Str(); key == "function_call" && name != "" {
		r.req.Choice = codecs.Choice{Mode: codecs.ChoiceTool, Name: name}
		return
	}
	r.req.Choice = wire.ParseChoice(v.Raw())
}

// tools reads the function tools. Custom tools and the built-in ones of some
// hosts are no tools of the loop.
func (r *requestReader) tools(list jsonx.Value, at string, legacy bool) {
	for i, entry := range list.Items() {
		if fn := entry.Get("function"); !entry.Get("type").Exists() && fn.Get("name").Str() != "" { // Mistral takes them untyped
			entry = jsonx.Of(replaced(entry, "type", codecs.Raw(`"function"`)))
		}
		t, ok, err := wire.ParseTool(entry.Raw())
		switch {
		case (!ok || own(entry)) && !legacy && r.profile.ServerTools == codecs.ServerToolsYes && wire.CheckServerTools(codecs.OpenAI, []codecs.Raw{entry.Raw()}, true) == nil:
			r.req.ServerTools = append(r.req.ServerTools, entry.Raw())
		case err != nil:
			r.Warn(codecs.WarnToolSkipped, fmt.Sprintf("%s/%d", at, i), "%v", err)
		case !ok || (!legacy && entry.Get("type").Str() != "function"):
			r.Warn(codecs.WarnToolSkipped, fmt.Sprintf("%s/%d", at, i), "no function tool of chat completions")
		default:
			r.req.Tools = append(r.req.Tools, t)
		}
	}
}

// own tells whether an entry names a type that is no function's.
func own(entry jsonx.Value) bool {
	typ := entry.Get("type").Str()
	return typ != "" && typ != "function"
}

func (r *requestReader) message(at string, m jsonx.Value) error {
	if !m.IsObject() {
		return requestFault(at, fmt.Errorf("want an object, got %s", m.Kind()))
	}
	switch role := m.Get("role").Str(); role {
	case "system", "developer", "user":
		if role == "developer" {
			role = "system"
		}
		parts := r.parts(m.Get("content"), at+"/content")
		r.add(codecs.Message{Role: role, Parts: parts})
		r.unread(at, m, "role", "content")
	case "assistant":
		r.assistant(at, m)
	case "tool", "function":
		r.result(at, m)
	default:
		return requestFault(at+"/role", fmt.Errorf("role %q is none of system, developer, user, assistant, tool", role))
	}
	return nil
}

func (r *requestReader) add(m codecs.Message) { r.req.Messages = append(r.req.Messages, m) }

// unread warns about keys of a message that the neutral form has no place for.
func (r *requestReader) unread(at string, m jsonx.Value, known ...string) {
	for _, k := range m.Members() {
		switch v := k.Value; {
		case slices.Contains(known, k.Key), !v.Defined(), v.IsArray() && v.Len() == 0, string(v.Raw()) == `""`:
		default:
			r.Warn(codecs.WarnLossy, at+"/"+jsonx.Token(k.Key), "the neutral request has no place for %s of a message", k.Key)
		}
	}
}

func (r *requestReader) assistant(at string, m jsonx.Value) {
	t := readAssistant(m, at, r.profile)
	r.Warnings = append(r.Warnings, t.Warnings...)
	if t.refusal != "" {
		t.parts = append([]codecs.Part{{Kind: codecs.KindText, Text: t.refusal}}, t.parts...)
	}
	r.add(codecs.Message{Role: "assistant", Parts: t.parts})
	known := append([]string{"role", "content", "refusal", "tool_calls", "function_call", "images", "executed_tools", "audio", detailsKey}, reasoningKeys...)
	r.unread(at, m, append(known, r.profile.ReasoningFields...)...)
}

// result reads a tool message, or a legacy function message, which names its
// call by the function.
func (r *requestReader) result(at string, m jsonx.Value) {
	res := codecs.ToolResult{ID: wire.Scalar(m.Get("tool_call_id")), Name: m.Get("name").Str()}
	r.results = append(r.results, at)
	switch content := m.Get("content"); content.Kind() {
	case jsonx.String:
		res.Content = []codecs.Raw{codecs.TextBlock(content.Str())}
	case jsonx.Array:
		for _, part := range content.Items() {
			res.Content = append(res.Content, mcpBlock(part))
		}
	case jsonx.Absent, jsonx.Null:
	default:
		res.Content = []codecs.Raw{codecs.TextBlock(string(content.Raw()))}
	}
	r.add(codecs.Message{Role: "tool", Parts: []codecs.Part{{Kind: codecs.KindResult, Result: &res}}})
	r.unread(at, m, "role", "content", "tool_call_id", "name")
}

// mcpBlock turns a content part of a tool message into an MCP content block.
func mcpBlock(v jsonx.Value) codecs.Raw {
	if s, ok := v.Text(); ok {
		return codecs.TextBlock(s)
	}
	switch part := userPart(v); {
	case part.Kind == codecs.KindText:
		return codecs.TextBlock(part.Text)
	case part.Kind == codecs.KindMedia && part.Media.Data == "":
		var f, src jsonx.Fields // MCP images have no URL; this form of a result's block has
		src.Str("type", "url").Str("url", part.Media.URI)
		return f.Str("type", "image").Set("source", src.Raw()).Raw()
	case part.Kind == codecs.KindMedia && part.Media.MIME == wire.PDFMIME:
		var f, res jsonx.Fields
		res.Str("uri", part.Media.Name).Str("mimeType", wire.PDFMIME).Str("blob", part.Media.Data)
		return f.Str("type", "resource").Set("resource", res.Raw()).Raw()
	case part.Kind == codecs.KindMedia:
		kind := "image"
		if audioFormats[part.Media.MIME] != "" {
			kind = "audio"
		}
		var f jsonx.Fields
		return f.Str("type", kind).Str("mimeType", part.Media.MIME).Str("data", part.Media.Data).Raw()
	}
	return v.Raw()
}

// parts reads the content of a system or user message.
func (r *requestReader) parts(content jsonx.Value, at string) []codecs.Part {
	switch content.Kind() {
	case jsonx.String:
		return []codecs.Part{{Kind: codecs.KindText, Text: content.Str()}}
	case jsonx.Absent, jsonx.Null:
		return nil
	case jsonx.Array:
		var out []codecs.Part
		for _, v := range content.Items() {
			out = append(out, userPart(v))
		}
		return out
	}
	r.Warn(codecs.WarnLossy, at, "content is %s; its JSON was read as text", content.Kind())
	return []codecs.Part{{Kind: codecs.KindText, Text: string(content.Raw())}}
}

// userPart reads one content part. A part of a type that has no neutral form
// stays whole.
func userPart(v jsonx.Value) codecs.Part {
	if s, ok := v.Text(); ok {
		return codecs.Part{Kind: codecs.KindText, Text: s}
	}
	switch v.Get("type").Str() {
	case "text", "input_text":
		return codecs.Part{Kind: codecs.KindText, Text: v.Get("text").Str(), Extra: filled(v, "type", "text")}
	case "image_url":
		return imagePart(v)
	case "file":
		file := v.Get("file")
		if mime, data, ok := wire.SplitDataURI(file.Get("file_data").Str()); ok {
			return codecs.Part{Kind: codecs.KindMedia, Media: &codecs.Media{MIME: mime, Name: file.Get("filename").Str(), Data: data}}
		}
	case "input_audio":
		in := v.Get("input_audio")
		switch in.Get("format").Str() {
		case "wav":
			return codecs.Part{Kind: codecs.KindMedia, Media: &codecs.Media{MIME: "audio/wav", Data: in.Get("data").Str()}}
		case "mp3":
			return codecs.Part{Kind: codecs.KindMedia, Media: &codecs.Media{MIME: "audio/mpeg", Data: in.Get("data").Str()}}
		}
	}
	return codecs.Part{Kind: codecs.KindOpaque, Type: v.Get("type").Str(), Extra: v.Raw()}
}
