package gemini

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// ParseRequest decodes the body of generateContent in either spelling. The model
// and the stream flag come from the path; a model in the body counts where the
// path has none. Top-level members that the neutral form does not know, and
// those of generationConfig and toolConfig, are in Extra.
//
// A result has the ordinal of the call that it answers, in the model content
// before it; none when nothing tells.
func (c Codec) ParseRequest(in codecs.In, _ codecs.Profile) (codecs.Request, []codecs.Warning, error) {
	root, err := wire.ParseBody(codecs.Gemini, in.Body)
	if err != nil {
		return codecs.Request{}, nil, err
	}
	if !root.IsObject() {
		return codecs.Request{}, nil, decodeError("", fmt.Errorf("request is %s, not an object", root.Kind()))
	}
	var req codecs.Request
	req.Model, req.Stream, _ = c.Match(in)
	if req.Model == "" {
		req.Model = strings.TrimPrefix(root.Get("model").Str(), "models/")
	}
	rd := &partReader{request: true}
	if si := field(root, "systemInstruction"); si.Defined() {
		parts := list(si.Get("parts"))
		if si.Kind() == jsonx.String || si.Get("text").Exists() {
			parts = []jsonx.Value{si}
		}
		req.Messages = append(req.Messages, codecs.Message{Role: "system", Parts: systemParts(rd, parts)})
	}
	contents := root.Get("contents")
	if !contents.IsArray() && !contents.IsObject() {
		return codecs.Request{}, nil, decodeError("/contents", errors.New("contents is not specified: want a list of contents"))
	}
	for i, v := range list(contents) {
		m, err := readContent(rd, v, fmt.Sprintf("/contents/%d", i))
		if err != nil {
			return codecs.Request{}, nil, err
		}
		req.Messages = append(req.Messages, m)
	}
	rd.Warnings = append(rd.Warnings, wire.Pair(req.Messages, rd.results, false)...)
	if err := parseTools(&req, root.Get("tools")); err != nil {
		return codecs.Request{}, nil, err
	}
	extra := add(nil, "toolConfig", parseChoice(&req, field(root, "toolConfig")))
	extra = add(extra, "generationConfig", parseConfig(&req, field(root, "generationConfig")))
	req.Extra = wire.Object(append(extra, without(root, "contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "model")...))
	return req, rd.Warnings, nil
}

// add adds a member unless it has no value.
func add(members []jsonx.Member, key string, raw codecs.Raw) []jsonx.Member {
	if raw == nil {
		return members
	}
	return append(members, jsonx.Member{Key: key, Value: jsonx.Of(raw)})
}

func systemParts(rd *partReader, parts []jsonx.Value) []codecs.Part {
	if len(parts) == 1 && parts[0].Kind() == jsonx.String {
		return []codecs.Part{{Kind: codecs.KindText, Text: parts[0].Str()}}
	}
	return rd.readAll(parts, "/systemInstruction/parts")
}

// readContent reads one content.
func readContent(rd *partReader, v jsonx.Value, pointer string) (codecs.Message, error) {
	var m codecs.Message
	if v.Kind() == jsonx.String {
		return codecs.Message{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: v.Str()}}}, nil
	}
	if !v.IsObject() {
		return m, decodeError(pointer, fmt.Errorf("content is %s, not an object", v.Kind()))
	}
	switch role := v.Get("role").Str(); role {
	case "user", "":
		m.Role = "user"
	case "model":
		m.Role = "assistant"
	case "function", "tool":
		m.Role = "tool"
	default:
		return m, decodeError(pointer+"/role", fmt.Errorf("role %q: please use a valid role: user, model", role))
	}
	rd.calls = 0
	m.Parts = rd.readAll(list(v.Get("parts")), pointer+"/parts")
	if m.Role == "assistant" {
		return m, nil
	}
	results := 0
	for _, p := range m.Parts {
		if p.Kind == codecs.KindResult {
			results++
		}
	}
	if results > 0 && results == len(m.Parts) {
		m.Role = "tool"
	}
	return m, nil
}

// parseTools reads the tool list: declarations become tools, every other member
// of an entry stays a server tool.
func parseTools(req *codecs.Request, tools jsonx.Value) error {
	for i, entry := range list(tools) {
		for _, m := range entry.Members() {
			if camel(m.Key) != "functionDeclarations" {
				continue
			}
			for j, d := range list(m.Value) {
				t, ok, err := wire.ParseTool(d.Raw())
				if err == nil && !ok {
					err = fmt.Errorf("a declaration is %s, not an object", d.Kind())
				}
				if err != nil {
					return decodeError(fmt.Sprintf("/tools/%d/functionDeclarations/%d", i, j), err)
				}
				// The older field spells types in capitals.
				if s := d.Get("parameters"); s.IsObject() {
					t.InputSchema = lowerTypes(s, 0)
				}
				req.Tools = append(req.Tools, t)
			}
		}
		if rest := wire.Object(without(entry, "functionDeclarations")); rest != nil {
			req.ServerTools = append(req.ServerTools, rest)
		}
	}
	return nil
}

// lowerTypes spells the types of a schema as JSON Schema does. A schema whose
// types are spelled so comes back as it was.
func lowerTypes(v jsonx.Value, depth int) codecs.Raw {
	if depth > 2*maxSchemaDepth || !v.IsObject() {
		return v.Raw()
	}
	members := v.Members()
	changed := false
	for i, m := range members {
		now := m.Value.Raw()
		switch {
		case m.Key == "type" && screaming(m.Value.Str()):
			now = jsonx.Quote(strings.ToLower(m.Value.Str()))
		case m.Key == "items":
			now = lowerTypes(m.Value, depth+1)
		case m.Key == "properties" && m.Value.IsObject():
			props := m.Value.Members()
			for j, p := range props {
				props[j].Value = jsonx.Of(lowerTypes(p.Value, depth+1))
			}
			if now = wire.Object(props); now == nil {
				now = m.Value.Raw()
			}
		case m.Key == "anyOf" && m.Value.IsArray():
			var alternatives []codecs.Raw
			for _, a := range m.Value.Items() {
				alternatives = append(alternatives, lowerTypes(a, depth+1))
			}
			now = jsonx.List(alternatives...)
		}
		if !jsonx.Equal(now, m.Value.Raw()) {
			members[i].Value, changed = jsonx.Of(now), true
		}
	}
	if !changed {
		return v.Raw()
	}
	return wire.Object(members)
}

// parseChoice reads toolConfig and returns what the neutral choice does not
// cover, under the same names; nil for nothing.
func parseChoice(req *codecs.Request, cfg jsonx.Value) codecs.Raw {
	rest := without(cfg, "functionCallingConfig")
	if len(req.Tools) > 0 && len(req.ServerTools) > 0 && field(cfg, "includeServerSideToolInvocations").Bool() {
		rest = without(cfg, "functionCallingConfig", "includeServerSideToolInvocations") // it goes with these tools
	}
	fcc := field(cfg, "functionCallingConfig")
	if !fcc.IsObject() {
		return wire.Object(rest)
	}
	names := field(fcc, "allowedFunctionNames")
	mode := fcc.Get("mode").Str()
	switch {
	case mode == "" && names.Len() == 0:
	case strings.EqualFold(mode, "AUTO") && names.Len() == 0:
		req.Choice.Mode = codecs.ChoiceAuto
	case strings.EqualFold(mode, "NONE") && names.Len() == 0:
		req.Choice.Mode = codecs.ChoiceNone
	case strings.EqualFold(mode, "ANY") && names.Len() == 0:
		req.Choice.Mode = codecs.ChoiceAny
	case strings.EqualFold(mode, "ANY") && names.Len() == 1 && names.At(0).Str() != "":
		req.Choice = codecs.Choice{Mode: codecs.ChoiceTool, Name: names.At(0).Str()}
	default:
		req.Choice.Raw = wire.Object(add(nil, "functionCallingConfig", fcc.Raw()))
		return wire.Object(rest)
	}
	return wire.Object(add(rest, "functionCallingConfig", wire.Object(without(fcc, "mode", "allowedFunctionNames"))))
}

// parseConfig takes the token limit out of generationConfig and returns the
// rest, nil for nothing.
func parseConfig(req *codecs.Request, cfg jsonx.Value) codecs.Raw {
	var rest []jsonx.Member
	for _, m := range cfg.Members() {
		if n, ok := m.Value.Int(); ok && n > 0 && n < 1<<31 && camel(m.Key) == "maxOutputTokens" {
			req.MaxTokens = int(n)
			continue
		}
		rest = append(rest, m)
	}
	return wire.Object(rest)
}
