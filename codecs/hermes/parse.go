package hermes

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/tags"
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
		tools, warnings, err := codecs.ParseTools(list)
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
// messages and in user messages after a turn with calls. A result answers the
// first open call of its name; one without a name, the next open call. Native
// tools, calls and results stay as they are.
func (Codec) ParseRequest(in codecs.In, p codecs.Profile) (codecs.Request, []codecs.Warning, error) {
	req, warnings, err := chat.ParseRequest(in, transport(p))
	if err != nil {
		return codecs.Request{}, nil, own(err)
	}
	native, _, err := chat.ParseRequest(in, p)
	if err != nil {
		return codecs.Request{}, nil, own(err)
	}
	d := decoder{p: p, warnings: warnings, tools: req.Tools}
	for i, m := range req.Messages {
		if m.Role == "assistant" && nativeCalls(codecs.Reply{Parts: m.Parts}) && i < len(native.Messages) {
			d.open = openCalls{}
			d.out = append(d.out, native.Messages[i])
			continue
		}
		d.message(m, fmt.Sprintf("/messages/%d/content", i))
	}
	req.Messages, req.Tools = d.out, d.tools
	return req, d.warnings, nil
}

type decoder struct {
	p        codecs.Profile
	out      []codecs.Message
	tools    []codecs.Tool
	open     openCalls // of the last assistant turn
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
		d.open = newOpenCalls(codecs.Reply{Parts: m.Parts}.Calls())
	case "tool":
		var parts []codecs.Part
		for _, part := range m.Parts {
			if part.Kind == codecs.ResultKind && part.Result != nil && part.Result.ID == "" {
				if lifted, ok := d.responses(codecs.ResultText(*part.Result)); ok {
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
	if len(d.open.calls) == 0 {
		return
	}
	var parts []codecs.Part
	only := true
	for _, part := range m.Parts {
		if part.Kind == codecs.Text {
			if lifted, ok := d.responses(part.Text); ok {
				parts = append(parts, lifted...)
				continue
			}
		}
		parts = append(parts, part)
	}
	for _, part := range parts {
		only = only && part.Kind == codecs.ResultKind
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
		if part.Kind == codecs.Text {
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
				parts = append(parts, codecs.Part{Kind: codecs.Text, Text: t})
			}
			continue
		}
		found = true
		r := d.response(s)
		parts = append(parts, codecs.Part{Kind: codecs.ResultKind, Result: &r})
	}
	return parts, found
}

// response reads one block: {"name","content"}, or the bare content, as
// templates of the Qwen family write it.
func (d *decoder) response(s tags.Span) codecs.ToolResult {
	r := codecs.ToolResult{Pos: -1, Content: []codecs.Raw{}}
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
	r.Pos = d.open.take(r.Name)
	return r
}

// openCalls hands out the calls of a turn to their results, in order.
type openCalls struct {
	calls  []codecs.ToolCall
	taken  []bool
	next   int              // no open call stands before it
	byName map[string][]int // indexes, in order
}

func newOpenCalls(calls []codecs.ToolCall) openCalls {
	o := openCalls{calls: calls, taken: make([]bool, len(calls)), byName: map[string][]int{}}
	for i, c := range calls {
		o.byName[c.Name] = append(o.byName[c.Name], i)
	}
	return o
}

// take returns the ordinal of the first open call of a name, of any for "", and
// -1 when there is none.
func (o *openCalls) take(name string) int {
	at := -1
	if name == "" {
		for o.next < len(o.calls) && o.taken[o.next] {
			o.next++
		}
		if o.next < len(o.calls) {
			at = o.next
		}
	} else {
		queue := o.byName[name]
		for len(queue) > 0 && o.taken[queue[0]] {
			queue = queue[1:]
		}
		if len(queue) > 0 {
			at, queue = queue[0], queue[1:]
		}
		if o.byName != nil {
			o.byName[name] = queue
		}
	}
	if at < 0 {
		return -1
	}
	o.taken[at] = true
	return o.calls[at].Pos
}
