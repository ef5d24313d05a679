package ollama

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// ParseRequest decodes a chat request. The stream flag is true when the body
// does not say otherwise, as on the server. Options other than num_predict and
// unknown keys come back in Extra. A result has the ordinal of the call that it
// answers.
func (Codec) ParseRequest(in codecs.In, p codecs.Profile) (codecs.Request, []codecs.Warning, error) {
	root, err := wire.ParseBody(codecs.Ollama, in.Body)
	if err != nil {
		return codecs.Request{}, nil, err
	}
	fail := func(pointer string, err error) (codecs.Request, []codecs.Warning, error) {
		return codecs.Request{}, nil, &codecs.DecodeError{Dialect: codecs.Ollama, Pointer: pointer, Offset: -1, Err: err}
	}
	if !root.IsObject() {
		return fail("", fmt.Errorf("want a request object, got %s", root.Kind()))
	}
	msgs := root.Get("messages")
	if msgs.Defined() && !msgs.IsArray() {
		return fail("/messages", fmt.Errorf("want a list of messages, got %s", msgs.Kind()))
	}
	req := codecs.Request{Model: root.Get("model").Str(), Stream: true}
	d := decoder{p: p}
	for i, m := range msgs.Items() {
		at := fmt.Sprintf("/messages/%d", i)
		if !m.IsObject() {
			return fail(at, fmt.Errorf("want a message object, got %s", m.Kind()))
		}
		d.message(m, at)
	}
	req.Messages = d.out
	d.warnings = append(d.warnings, wire.Pair(req.Messages, d.results, false)...)
	var extra []jsonx.Member
	for _, m := range root.Members() {
		switch m.Key {
		case "model", "messages":
		case "stream":
			req.Stream = m.Value.Kind() != jsonx.Bool || m.Value.Bool()
		case "tools":
			if !m.Value.Defined() {
				continue
			}
			tools, warnings, err := wire.ParseTools(m.Value.Raw())
			if err != nil {
				return fail("/tools", err)
			}
			req.Tools, d.warnings = tools, append(d.warnings, warnings...)
		case "options":
			if rest := d.options(m.Value, &req); rest != nil {
				extra = append(extra, jsonx.Member{Key: m.Key, Value: jsonx.Of(rest)})
			}
		default:
			extra = append(extra, m)
		}
	}
	req.Extra = wire.Object(extra)
	return req, d.warnings, nil
}

// decoder turns wire messages into neutral ones.
type decoder struct {
	p        codecs.Profile
	out      []codecs.Message
	warnings []codecs.Warning
	results  []string // where they stand
}

// options takes the token limit out; nil when nothing else is left. Limits
// below 1 are modes of the server (no limit, fill the context) and stay.
func (d *decoder) options(v jsonx.Value, req *codecs.Request) codecs.Raw {
	if !v.IsObject() {
		return v.Raw()
	}
	key := d.p.MaxTokensKey
	if key == "" {
		key = "num_predict"
	}
	if n, ok := v.Get(key).Int(); ok && n > 0 && n <= 1<<31 {
		req.MaxTokens = int(n)
		return wire.Without(v, key)
	}
	return v.Raw()
}

func (d *decoder) message(v jsonx.Value, at string) {
	role := strings.ToLower(v.Get("role").Str())
	if c := v.Get("content"); c.IsArray() || c.IsObject() {
		d.warn(at+"/content", errors.New("content is no string; the server refuses that"))
	}
	switch role {
	case "assistant":
		m := readAssistant(v, at, d.p)
		d.warnings = append(d.warnings, m.warnings...)
		for i, c := range v.Get("tool_calls").Items() {
			if a := c.Path("function", "arguments"); a.Defined() && !a.IsObject() {
				d.warn(fmt.Sprintf("%s/tool_calls/%d/function/arguments", at, i), fmt.Errorf("arguments are %s and no object; the server refuses that", a.Kind()))
			}
		}
		d.out = append(d.out, codecs.Message{Role: role, Parts: m.parts})
		return
	case "tool":
		r := d.result(v)
		d.results = append(d.results, at)
		d.out = append(d.out, codecs.Message{Role: role, Parts: []codecs.Part{{Kind: codecs.KindResult, Result: &r}}})
		return
	case "developer":
		role = "system"
	case "system", "user":
	default:
		d.warnings = append(d.warnings, codecs.Warnf(codecs.WarnLossy, at+"/role", "role %q is read as user", role))
		role = "user"
	}
	var parts []codecs.Part
	if text := contentText(v.Get("content")); text != "" {
		parts = append(parts, codecs.Part{Kind: codecs.KindText, Text: text})
	}
	parts = append(parts, images(v.Get("images"))...)
	d.out = append(d.out, codecs.Message{Role: role, Parts: parts})
}

func (d *decoder) warn(at string, err error) {
	d.warnings = append(d.warnings, codecs.Warnf(codecs.WarnRequestForm, at, "%s", err))
}

func (d *decoder) result(v jsonx.Value) codecs.ToolResult {
	r := codecs.ToolResult{ID: v.Get("tool_call_id").Str(), Name: v.Get("tool_name").Str(), Content: []codecs.Raw{}}
	if r.Name == "" {
		r.Name = v.Get("name").Str()
	}
	if text := contentText(v.Get("content")); text != "" {
		r.Content = append(r.Content, codecs.TextBlock(text))
	}
	for _, part := range images(v.Get("images")) {
		var f jsonx.Fields
		r.Content = append(r.Content, f.Str("type", "image").Str("data", part.Media.Data).Str("mimeType", part.Media.MIME).Raw())
	}
	return r
}
