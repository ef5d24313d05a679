package hermes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/tags"
	"github.com/toolconform/conform/internal/wire"
)

// liftTools takes the tools out of a system text. A prompt of this package goes
// whole; of one in other words only the block itself goes, and the words around
// it stay. Tools are read as a list or as one object per line or after another.
// ok is false when there is no readable block.
func liftTools(text string, p codecs.Profile) (tools []codecs.Tool, rest string, warnings []codecs.Warning, ok bool) {
	// Prose may name the tags before the block stands: take the first one that reads.
	for from := 0; ; {
		open := strings.Index(text[from:], "<tools>")
		if open < 0 {
			return nil, text, nil, false
		}
		start := from + open
		body := text[start+len("<tools>"):]
		list, size, found := toolList(body)
		end := strings.TrimLeft(body[size:], " \t\r\n")
		if !found || !strings.HasPrefix(end, "</tools>") {
			from = start + len("<tools>")
			continue
		}
		tools, warnings, err := wire.ParseTools(list)
		if err != nil || len(tools) == 0 {
			from = start + len("<tools>")
			continue
		}
		if own, err := prompt(tools, p); err == nil && strings.Contains(text, own) {
			rest = strings.Replace(text, own, "", 1)
		} else {
			rest = text[:start] + end[len("</tools>"):]
		}
		return tools, strings.TrimSpace(rest), warnings, true
	}
}

// toolList reads the JSON values at the start of text as one list.
func toolList(text string) (list codecs.Raw, size int, ok bool) {
	var items []codecs.Raw
	for {
		n, whole := tags.JSONValue(text[size:])
		if !whole {
			return jsonx.List(items...), size, len(items) > 0
		}
		v := jsonx.Of([]byte(strings.TrimSpace(text[size : size+n])))
		size += n
		if v.IsArray() {
			for _, item := range v.Items() {
				items = append(items, item.Raw())
			}
			continue
		}
		items = append(items, v.Raw())
	}
}

// ParseRequest decodes a chat completions body and lifts what stands in its
// texts: tools out of the <tools> block of a system message, thinking and calls
// out of assistant messages, results out of <tool_response> blocks in tool
// messages and in user messages after a turn with calls. Native tools, calls and results
// stay as they are.
func (Codec) ParseRequest(in codecs.In, p codecs.Profile) (codecs.Request, []codecs.Warning, error) {
	req, warnings, err := chat.ParseRequest(in, transport(p))
	if err != nil {
		return codecs.Request{}, nil, own(err)
	}
	native, _, err := chat.ParseRequest(in, p)
	if err != nil {
		return codecs.Request{}, nil, own(err)
	}
	// What it says of results is said anew below, when the calls are known.
	warnings = slices.DeleteFunc(warnings, func(w codecs.Warning) bool {
		return w.Code == codecs.WarnRequestForm || w.Code == codecs.WarnResultOrphan
	})
	d := decoder{p: p, warnings: warnings, tools: req.Tools}
	var results []string
	for i, m := range req.Messages {
		if m.Role == "assistant" && nativeCalls(codecs.Reply{Parts: m.Parts}) && i < len(native.Messages) {
			d.called = false
			d.out = append(d.out, native.Messages[i])
			continue
		}
		at, before := fmt.Sprintf("/messages/%d/content", i), len(d.out)
		d.message(m, at)
		for _, m := range d.out[before:] {
			for _, part := range m.Parts {
				if part.Kind == codecs.KindResult {
					results = append(results, at)
				}
			}
		}
	}
	d.warnings = append(d.warnings, wire.Pair(d.out, results, false)...)
	req.Messages, req.Tools = d.out, d.tools
	return req, d.warnings, nil
}

type decoder struct {
	p        codecs.Profile
	out      []codecs.Message
	tools    []codecs.Tool
	called   bool // the last assistant turn has calls in its text
	warnings []codecs.Warning
}

func (d *decoder) message(m codecs.Message, at string) {
	switch m.Role {
	case "system":
		d.system(m)
		return
	case "assistant":
		t := lift(m.Text(), at, false, d.p)
		d.warnings = append(d.warnings, t.warnings...)
		m.Parts = splice(m.Parts, t)
		d.called = t.calls > 0
	case "tool":
		var parts []codecs.Part
		for _, part := range m.Parts {
			if part.Kind == codecs.KindResult && part.Result != nil && part.Result.ID == "" {
				if lifted, ok := d.responses(wire.ResultText(*part.Result)); ok {
					parts = append(parts, lifted...)
					continue
				}
			}
			parts = append(parts, part)
		}
		m.Parts = parts
	default:
		d.user(&m)
	}
	d.out = append(d.out, m)
}

// user lifts results out of a user message, where a turn with calls is open.
func (d *decoder) user(m *codecs.Message) {
	if !d.called {
		return
	}
	var parts []codecs.Part
	only := true
	for _, part := range m.Parts {
		if part.Kind == codecs.KindText {
			if lifted, ok := d.responses(part.Text); ok {
				parts = append(parts, lifted...)
				continue
			}
		}
		parts = append(parts, part)
	}
	for _, part := range parts {
		only = only && part.Kind == codecs.KindResult
	}
	if m.Parts = parts; only {
		m.Role = "tool"
	}
}

// system lifts tools out of a system message. A message that was nothing but
// the tool prompt goes.
func (d *decoder) system(m codecs.Message) {
	var parts []codecs.Part
	for _, part := range m.Parts {
		if part.Kind == codecs.KindText {
			if tools, rest, warnings, ok := liftTools(part.Text, d.p); ok {
				d.tools, d.warnings = append(d.tools, tools...), append(d.warnings, warnings...)
				if part.Text = rest; rest == "" {
					continue
				}
			}
		}
		parts = append(parts, part)
	}
	if len(parts) == 0 && len(m.Parts) > 0 {
		return
	}
	m.Parts = parts
	d.out = append(d.out, m)
}

// responses reads the result blocks of a text; what stands between them stays
// text.
func (d *decoder) responses(text string) (parts []codecs.Part, found bool) {
	for _, s := range (tags.Scanner{Call: responseTag(d.p)}).Scan(text) {
		if s.Kind != tags.Block {
			if t := strings.TrimSpace(text[s.Start:s.End]); t != "" {
				parts = append(parts, codecs.Part{Kind: codecs.KindText, Text: t})
			}
			continue
		}
		found = true
		r := d.response(s)
		parts = append(parts, codecs.Part{Kind: codecs.KindResult, Result: &r})
	}
	return parts, found
}

// response reads one block: {"name","content"}, or the bare content, as
// templates of the Qwen family write it.
func (d *decoder) response(s tags.Span) codecs.ToolResult {
	r := codecs.ToolResult{Content: []codecs.Raw{}}
	body := strings.TrimSpace(s.Body)
	text := body
	if v, err := jsonx.Parse([]byte(body)); s.Value && err == nil && v.Get("content").Exists() {
		r.Name = v.Get("name").Str()
		c := v.Get("content")
		if text = c.Str(); c.Defined() && c.Kind() != jsonx.String {
			text = string(c.Raw())
		}
	}
	if text != "" {
		r.Content = append(r.Content, codecs.TextBlock(text))
	}
	return r
}
