package hermes

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/tags"
)

// ParseRequest decodes a chat completions body and lifts what stands in its
// texts: tools out of the <tools> block of a system message, thinking and calls
// out of assistant messages, results out of <tool_response> blocks in tool
// messages and in user messages after a turn with calls. A result answers the
// first open call of its name; one without a name, the next open call. Native
// tools, calls and results stay as they are.
func (Codec) ParseRequest(path string, body []byte, p codecs.Profile) (codecs.Request, []codecs.Warning, error) {
	req, warnings, err := wire.ParseRequest(path, body, transport(p))
	if err != nil {
		return codecs.Request{}, nil, own(err)
	}
	native, _, err := wire.ParseRequest(path, body, p)
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

// RenderReply writes the turn as a model on a server without a parser does:
// thinking and calls inside the text, the finish reason stop for a turn with
// calls.
func (c Codec) RenderReply(r codecs.Reply, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	limit := r.Finish == codecs.FinishLength
	p.ReasoningEcho = "" // a rule for requests
	text, rest, warnings := assemble(r.Parts, limit, p)
	if limit && r.Unfinished > 0 {
		text += "\n<" + callTag(p) + ">\n{\"na"
	}
	if text != "" {
		rest = append([]codecs.Part{{Kind: codecs.Text, Text: text}}, rest...)
	}
	out := r
	out.Parts = rest
	if limit {
		out.Unfinished = 0 // the text says it
	}
	if r.RawFinish == "" && r.Finish == codecs.FinishToolCalls {
		out.RawFinish = "stop"
	}
	pointer, standard := contentAt(p)
	if standard {
		body, w, err := wire.RenderReply(out, transport(p))
		return body, append(warnings, w...), own(err)
	}
	if n := len(rest); n > 1 || n == 1 && rest[0].Kind != codecs.Text {
		warnings = append(warnings, codecs.Warnf(codecs.WarnLossy, pointer, "this host sends text only; other parts are left out"))
	}
	finish := out.RawFinish
	if finish == "" {
		finish = "stop"
		if limit {
			finish = "length"
		}
	}
	usage := codecs.Usage{}
	if r.Usage != nil {
		usage = *r.Usage
	}
	var f jsonx.Fields
	f.Bool("success", true)
	if r.ID != "" {
		f.Str("id", r.ID)
	}
	f.Str("model", r.Model).Merge(nest(pointer, jsonx.Quote(text))).Str("finish_reason", finish)
	f.Int("prompt_length", usage.Input).Int("num_generated_tokens", usage.Output)
	body := f.Raw()
	return body, append(warnings, codecs.LostFinish(c, r, body, p)...), nil
}

// nest builds the value that has v at pointer.
func nest(pointer string, v codecs.Raw) codecs.Raw {
	tokens := strings.Split(strings.TrimPrefix(pointer, "/"), "/")
	for i := len(tokens) - 1; i >= 0; i-- {
		key := strings.NewReplacer("~1", "/", "~0", "~").Replace(tokens[i])
		if _, err := strconv.Atoi(key); err == nil && i > 0 {
			v = jsonx.List(v)
			continue
		}
		v = (&jsonx.Fields{}).Set(key, v).Raw()
	}
	return v
}
