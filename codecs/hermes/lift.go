package hermes

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/tags"
)

// turn is an assistant's text, read.
type turn struct {
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
func lift(text, at string, limit bool, p codecs.Profile) turn {
	t := turn{source: text}
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
				t.parts = append(t.parts, codecs.Part{Kind: codecs.Reasoning, Text: body})
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
	return t
}

// cutTag takes the start of an opening tag off the end of a text that the limit
// cut, and returns where it stood. Less than half of the tag is taken for text.
func (t *turn) cutTag(text string, spans []tags.Span, p codecs.Profile) *spot {
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
func (t *turn) text(s tags.Span) {
	if n := len(t.parts); n > 0 && t.parts[n-1].Kind == codecs.Text && t.runEnd == s.Start {
		t.runEnd = s.End
		t.parts[n-1].Text = t.source[t.runStart:t.runEnd]
		return
	}
	if s.End > s.Start {
		t.runStart, t.runEnd = s.Start, s.End
		t.parts = append(t.parts, codecs.Part{Kind: codecs.Text, Text: t.source[s.Start:s.End]})
	}
}

func (t *turn) unreadable(at string, s tags.Span) {
	t.text(s)
	raw := t.source[s.Start:s.End]
	t.warnings = append(t.warnings, codecs.Warnf(codecs.WarnBlockUnreadable, at, "a call block that cannot be read as a call stays text: %s", excerpt(raw)))
}

// block reads one block. An unclosed one is cut by the limit, when there was
// one; without a limit it is a call when its JSON is whole, since some servers
// strip the closing tag as a stop word.
func (t *turn) block(s tags.Span, at string, cut bool) {
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
	t.parts = append(t.parts, codecs.Part{Kind: codecs.CallKind, Call: call})
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
		if parts[i].Kind != codecs.Text {
			continue
		}
		if parts[i].Text = strings.TrimLeft(parts[i].Text, space); parts[i].Text != "" {
			break
		}
	}
	for i := len(parts) - 1; i >= 0; i-- {
		if parts[i].Kind != codecs.Text {
			continue
		}
		if parts[i].Text = strings.TrimRight(parts[i].Text, space); parts[i].Text != "" {
			break
		}
	}
	var out []codecs.Part
	for _, p := range parts {
		if p.Kind != codecs.Text || p.Text != "" {
			out = append(out, p)
		}
	}
	return out
}
