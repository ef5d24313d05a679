package tags

import (
	"errors"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// SpanKind tells what a Span is.
type SpanKind int

// The kinds of a Span.
const (
	Visible  SpanKind = iota // text outside every tag
	Thinking                 // thinking; it hides whatever else stands inside
	Block                    // a closed call block
	Unclosed                 // a call block that the end of the text leaves open
	Stray                    // a call's opening tag that starts no block, and the text up to the next tag
)

// Span is one piece of a text, its tags included.
type Span struct {
	Kind       SpanKind
	Start, End int    // byte offsets; the spans of a text cover it without gaps
	Body       string // what stands between the tags
	Value      bool   // Block, Unclosed: Body is exactly one JSON value
	Nested     bool   // Block, Unclosed: another opening tag stands in a Body that is no JSON value
}

// Scanner finds thinking and call blocks in one pass. A tag is the name between
// the brackets; an empty one is not looked for.
//
// The rules for thinking are those of SplitThink. A call block opens with its
// tag and holds JSON, which is read with a real decoder: a tag inside a string
// of it is data and neither ends the block nor starts thinking. A block whose
// JSON is broken ends at the first closing tag; when a thinking tag stands
// before that, the opening tag was only text.
type Scanner struct {
	Think string
	Call  string
}

// Scan cuts text into spans. It needs time in proportion to the text: tags are
// searched once, and of two opening tags at most one can lie in a string of the
// other's JSON, so no stretch is decoded again and again.
func (s Scanner) Scan(text string) []Span {
	st := scan{text: text}
	if s.Think != "" {
		st.thinkOpen.tag, st.thinkClose.tag = "<"+s.Think+">", "</"+s.Think+">"
	}
	if s.Call != "" {
		st.callOpen.tag, st.callClose.tag = "<"+s.Call+">", "</"+s.Call+">"
	}
	for st.step() {
	}
	if st.orphan && len(st.spans) > 0 {
		first := &st.spans[0]
		body := text[:first.End-len(st.thinkClose.tag)]
		first.Body = strings.ReplaceAll(body, st.thinkClose.tag, "\n")
	}
	return st.spans
}

// PartialOpen returns how many bytes at the end of text may be the start of a
// call's opening tag: a proper prefix of it.
func (s Scanner) PartialOpen(text string) int {
	tag := "<" + s.Call + ">"
	for n := min(len(tag)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}
	return 0
}

// scan is the state between two steps. All decisions of a step depend on it and
// on the text from at onwards, so that text may be fed in pieces.
type scan struct {
	text   string
	at     int
	spans  []Span
	opened bool // a thinking tag has been opened: a closing one alone is text from here on
	orphan bool // the first span is thinking that has only a closing tag

	thinkOpen, thinkClose, callOpen, callClose finder
}

// finder searches forward for one tag and remembers what it found.
type finder struct {
	tag         string
	from, found int
	searched    bool
}

// next returns where the tag stands at or after from, or the length of text.
func (f *finder) next(text string, from int) int {
	if f.tag == "" {
		return len(text)
	}
	if !f.searched || from < f.from || from > f.found {
		f.searched, f.from, f.found = true, from, len(text)
		if i := strings.Index(text[from:], f.tag); i >= 0 {
			f.found = from + i
		}
	}
	return f.found
}

// think returns where the next tag stands that has to do with thinking.
func (s *scan) think(from int) int {
	at := s.thinkOpen.next(s.text, from)
	if !s.opened {
		at = min(at, s.thinkClose.next(s.text, from))
	}
	return at
}

func (s *scan) add(k SpanKind, end int, body string) *Span {
	s.spans = append(s.spans, Span{Kind: k, Start: s.at, End: end, Body: body})
	s.at = end
	return &s.spans[len(s.spans)-1]
}

// step reads up to the next tag and the span that it opens. It returns false at
// the end of the text.
func (s *scan) step() bool {
	think, call := s.think(s.at), s.callOpen.next(s.text, s.at)
	if next := min(think, call); next > s.at {
		s.add(Visible, next, s.text[s.at:next])
	}
	switch {
	case s.at == len(s.text):
		return false
	case call < think:
		s.block()
	case strings.HasPrefix(s.text[s.at:], s.thinkOpen.tag):
		s.opened = true
		from := s.at + len(s.thinkOpen.tag)
		end := s.thinkClose.next(s.text, from)
		s.add(Thinking, min(end+len(s.thinkClose.tag), len(s.text)), s.text[from:end])
	default: // everything before a closing tag that was never opened is thinking
		s.orphan = true
		s.spans = append(s.spans[:0], Span{Kind: Thinking, End: s.at + len(s.thinkClose.tag)})
		s.at = s.spans[0].End
	}
	return s.at < len(s.text)
}

// block reads the call block that opens at s.at.
func (s *scan) block() {
	from := s.at + len(s.callOpen.tag)
	size, state := jsonValue(s.text[from:])
	tags := from // where tags count as tags again
	switch state {
	case whole:
		tags = from + size
		rest := strings.TrimLeft(s.text[tags:], " \t\r\n")
		end := len(s.text) - len(rest)
		if strings.HasPrefix(rest, s.callClose.tag) {
			s.add(Block, end+len(s.callClose.tag), s.text[from:end]).Value = true
			return
		}
		if strings.HasPrefix(s.callClose.tag, rest) {
			s.add(Unclosed, len(s.text), s.text[from:end]).Value = true
			return
		}
	case cut:
		if s.callClose.next(s.text, from) == len(s.text) { // every tag stands in a string
			s.add(Unclosed, len(s.text), s.text[from:])
			return
		}
	}
	end := s.callClose.next(s.text, tags)
	if think := s.think(tags); think < end {
		s.add(Stray, think, "")
		return
	}
	kind := Block
	if end == len(s.text) {
		kind = Unclosed
	}
	b := s.add(kind, min(end+len(s.callClose.tag), len(s.text)), s.text[from:end])
	b.Nested = strings.Contains(b.Body, s.callOpen.tag)
}

// JSONValue returns how far the JSON list or object at the start of text
// reaches, white space before it included. ok is false when there is none.
func JSONValue(text string) (size int, ok bool) {
	size, state := jsonValue(text)
	return size, state == whole
}

type valueState int

const (
	broken valueState = iota
	cut
	whole
)

var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// jsonValue reads one JSON value at the start of text, after white space, and
// returns where it ends. A text that may still become one is cut.
func jsonValue(text string) (size int, state valueState) {
	// A decoder per block is dear; most stray tags are told apart by a byte.
	first := strings.TrimLeft(text, " \t\r\n")
	if first == "" {
		return 0, cut
	}
	if first[0] != '{' && first[0] != '[' {
		return 0, broken
	}
	d := jsontext.NewDecoder(strings.NewReader(text), lenient)
	switch err := d.SkipValue(); {
	case err == nil:
		return int(d.InputOffset()), whole
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return 0, cut
	}
	return 0, broken
}
