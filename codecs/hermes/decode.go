package hermes

import (
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/tags"
	"github.com/toolconform/conform/internal/wire"
)

// readCall reads the body of a block. A whole JSON object with a name is a
// call; so is a broken one whose name can be read, with undecodable arguments,
// so that the model hears of it. Everything else is no call: a list, a nameless
// object, another form of call in the same tag, a nested opening tag.
func readCall(s tags.Span, at string) (*codecs.ToolCall, []codecs.Warning) {
	body := strings.TrimSpace(s.Body)
	if s.Value {
		return wholeCall(body, at)
	}
	if s.Nested {
		return nil, nil
	}
	name, args, ok := looseCall(body, s.Kind == tags.Unclosed)
	if !ok {
		return nil, nil
	}
	call := &codecs.ToolCall{Name: name, ArgumentsText: args}
	wire.ReadArgumentsText(call, args, at)
	if call.Arguments != nil { // the fault is elsewhere in the block
		call.Arguments = nil
		call.ArgumentsErr = "the call is no JSON object"
		if err := jsonx.Check([]byte(body)); err != nil {
			call.ArgumentsErr = err.Error()
		}
	}
	return call, nil
}

func wholeCall(body, at string) (*codecs.ToolCall, []codecs.Warning) {
	v, err := jsonx.Parse([]byte(body))
	if err != nil || v.Get("name").Str() == "" {
		return nil, nil
	}
	call := &codecs.ToolCall{Name: v.Get("name").Str()}
	key := "arguments"
	var warnings []codecs.Warning
	if !v.Get(key).Exists() && v.Get("parameters").Exists() {
		key = "parameters"
		warnings = append(warnings, codecs.Warnf(codecs.WarnParametersKey, at, "call of %s: the key parameters is read as arguments", call.Name))
	}
	warnings = append(warnings, wire.ReadArguments(call, v.Get(key), at)...)
	call.Extra = wire.Without(v, "name", key)
	return call, warnings
}

// looseCall reads name and arguments off an object that is broken or cut, by
// quotes and brackets alone. ok is false when it has no complete name. The
// arguments text is as it stands, never repaired.
func looseCall(body string, cut bool) (name, args string, ok bool) {
	if !strings.HasPrefix(body, "{") {
		return "", "", false
	}
	depth, start, end := 0, -1, -1
	key := true // a key may follow
	for i := 0; i < len(body); i++ {
		switch c := body[i]; c {
		case '"':
			text, size, whole := quoted(body[i:])
			if !whole {
				i = len(body)
				continue
			}
			i += size - 1
			if depth != 1 || !key {
				continue
			}
			key = false
			rest := strings.TrimLeft(body[i+1:], " \t\r\n")
			if !strings.HasPrefix(rest, ":") {
				continue
			}
			value := strings.TrimLeft(rest[1:], " \t\r\n")
			switch {
			case text == "name" && name == "":
				if n, _, whole := quoted(value); whole {
					name = n
				}
			case text == "arguments" || text == "parameters" && start < 0:
				start, end = len(body)-len(value), -1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 && start >= 0 && end < 0 {
				end = i
			}
			if depth <= 0 {
				i = len(body)
			}
		case ',':
			if depth == 1 && strings.HasPrefix(strings.TrimLeft(body[i+1:], " \t\r\n"), `"`) {
				key = true
				if start >= 0 && end < 0 {
					end = i
				}
			}
		}
	}
	switch {
	case start < 0:
	case end >= start:
		args = body[start:end]
	case cut:
		args = body[start:]
	default:
		args = strings.TrimSuffix(body[start:], "}")
	}
	return name, strings.TrimSpace(args), name != ""
}

// quoted reads the JSON string at the start of text.
func quoted(text string) (content string, size int, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", 0, false
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			v, err := jsonx.Parse([]byte(text[:i+1]))
			if err != nil { // such as a raw newline
				return text[1:i], i + 1, true
			}
			return v.Str(), i + 1, true
		}
	}
	return "", 0, false
}

// lifted is an assistant's text, read.
type lifted struct {
	parts      []codecs.Part
	blocks     []spot // of calls and of blocks that the limit cut before their name
	calls      int
	thinking   bool // tags held some thinking
	unfinished int
	warnings   []codecs.Warning

	source   string
	runStart int // of the text part written last
	runEnd   int
}

// spot is where a call stands in the text; pos is -1 when it has no name.
type spot struct{ pos, start, end int }

// lift cuts text into thinking, visible text and calls, in order. limit tells
// that a token limit ended the reply. What is visible is trimmed at both ends
// of the whole. Calls inside thinking are thinking.
func lift(text, at string, limit bool, p codecs.Profile) lifted {
	t := lifted{source: text}
	spans := scanner(p).Scan(text)
	var tail *spot
	if limit {
		tail = t.cutTag(text, spans, p)
	}
	for _, s := range spans {
		switch s.Kind {
		case tags.Thinking:
			if body := strings.TrimSpace(s.Body); body != "" {
				t.thinking = true
				t.parts = append(t.parts, codecs.Part{Kind: codecs.KindReasoning, Text: body})
			}
		case tags.Block:
			t.block(s, at, false)
		case tags.Unclosed:
			t.block(s, at, limit)
		case tags.Stray:
			t.unreadable(at, s)
		default:
			t.text(s)
		}
	}
	if tail != nil {
		t.blocks = append(t.blocks, *tail)
	}
	t.parts = trim(t.parts)
	if slices.ContainsFunc(t.parts, func(p codecs.Part) bool { return p.Kind == codecs.KindText }) {
		t.warnings = append(t.warnings, wire.UnpairedThink(text, at, p)...)
	}
	return t
}

// cutTag takes the start of an opening tag off the end of a text that the limit
// cut, and returns where it stood. Less than half of the tag is taken for text.
func (t *lifted) cutTag(text string, spans []tags.Span, p codecs.Profile) *spot {
	if len(spans) == 0 {
		return nil
	}
	last := &spans[len(spans)-1]
	n := scanner(p).PartialOpen(text[last.Start:last.End])
	if last.Kind != tags.Visible || n <= (len(callTag(p))+2)/2 {
		return nil
	}
	t.unfinished++
	last.End -= n
	return &spot{-1, last.End, last.End + n}
}

// text adds what a span holds to the visible text. Neighbours make one part.
func (t *lifted) text(s tags.Span) {
	if n := len(t.parts); n > 0 && t.parts[n-1].Kind == codecs.KindText && t.runEnd == s.Start {
		t.runEnd = s.End
		t.parts[n-1].Text = t.source[t.runStart:t.runEnd]
		return
	}
	if s.End > s.Start {
		t.runStart, t.runEnd = s.Start, s.End
		t.parts = append(t.parts, codecs.Part{Kind: codecs.KindText, Text: t.source[s.Start:s.End]})
	}
}

func (t *lifted) unreadable(at string, s tags.Span) {
	t.text(s)
	raw := t.source[s.Start:s.End]
	t.warnings = append(t.warnings, codecs.Warnf(codecs.WarnBlockUnreadable, at, "a call block that cannot be read as a call stays text: %s", excerpt(raw)))
}

// block reads one block. An unclosed one is cut by the limit, when there was
// one; without a limit it is a call when its JSON is whole, since some servers
// strip the closing tag as a stop word.
func (t *lifted) block(s tags.Span, at string, cut bool) {
	call, warnings := readCall(s, at)
	open := s.Kind == tags.Unclosed
	switch {
	case call == nil && cut:
		t.unfinished++
		t.blocks = append(t.blocks, spot{-1, s.Start, s.End})
		return
	case call == nil, open && !cut && !s.Value:
		t.unreadable(at, s)
		return
	case open && !cut:
		warnings = append(warnings, codecs.Warnf(codecs.WarnBlockUnclosed, at, "the block of %s has no closing tag; its JSON is whole", call.Name))
	}
	call.Pos, call.Cut = t.calls, cut
	t.calls++
	t.blocks = append(t.blocks, spot{call.Pos, s.Start, s.End})
	t.warnings = append(t.warnings, warnings...)
	t.parts = append(t.parts, codecs.Part{Kind: codecs.KindCall, Call: call})
}

func excerpt(s string) string {
	const most = 80
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "..."
	}
	return s
}

// trim takes white space off both ends of what is visible, over all its parts.
func trim(parts []codecs.Part) []codecs.Part {
	const space = " \t\r\n"
	for i := range parts {
		if parts[i].Kind != codecs.KindText {
			continue
		}
		if parts[i].Text = strings.TrimLeft(parts[i].Text, space); parts[i].Text != "" {
			break
		}
	}
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].Kind != codecs.KindText {
			continue
		}
		if parts[i].Text = strings.TrimRight(parts[i].Text, space); parts[i].Text != "" {
			break
		}
	}
	var out []codecs.Part
	for _, p := range parts {
		if p.Kind != codecs.KindText || p.Text != "" {
			out = append(out, p)
		}
	}
	return out
}

// splice puts what was read out of the text in the place of the text. Thinking
// in tags takes the place of the server's own reasoning field.
func splice(parts []codecs.Part, t lifted) []codecs.Part {
	var out []codecs.Part
	done := false
	for _, p := range parts {
		switch {
		case p.Kind == codecs.KindText && done:
		case p.Kind == codecs.KindText:
			out, done = append(out, t.parts...), true
		case p.Kind == codecs.KindReasoning && t.thinking:
		default:
			out = append(out, p)
		}
	}
	return out
}
