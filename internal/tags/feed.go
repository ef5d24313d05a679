package tags

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Retract is the kind of a Feeder's piece that has no text: what was shown as
// visible so far was thinking, since a closing tag came that nothing opened.
const Retract SpanKind = -1

// Feeder finds the markup of a text that comes in pieces. What may still turn out
// to be a tag is held back. Its pieces are provisional: Scan over the whole text
// decides, white space at the edges of a block included.
type Feeder struct {
	Scanner

	held   []byte // not given yet: the start of a tag, or an open call block
	mode   SpanKind
	opened bool // a thinking tag has been opened, as in scan
	looked int  // how far an open block was searched for its closing tag
	tries  int  // how often a closing tag was looked at
	failed int  // length of an open block whose closing tag was looked at in vain
	strays int  // opening tags that began no block
}

// Feed takes the next piece of the text and gives what it decides: Visible and
// Thinking text, Block for the inside of a call block, Retract.
func (f *Feeder) Feed(text string, give func(kind SpanKind, text string)) {
	for len(text) > mostPiece { // what one step may copy is bounded
		cut := mostPiece
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		if cut == 0 {
			cut = mostPiece
		}
		f.feed(text[:cut], give)
		text = text[cut:]
	}
	f.feed(text, give)
}

const mostPiece = 4 << 10

func (f *Feeder) feed(text string, give func(kind SpanKind, text string)) {
	for text != "" {
		switch f.mode {
		case Thinking:
			text = f.thinking(f.take(text), give)
		case Block:
			text = f.block(text, give)
		default:
			text = f.visible(f.take(text), give)
		}
	}
}

// take puts what was held back before the text; it is shorter than a tag.
func (f *Feeder) take(text string) string {
	if len(f.held) > 0 {
		text = string(f.held) + text
		f.held = f.held[:0]
	}
	return text
}

// Close gives what was held back. An open call block is left to Scan.
func (f *Feeder) Close(give func(kind SpanKind, text string)) {
	if len(f.held) > 0 && f.mode != Block {
		give(f.mode, string(f.held))
		f.held = f.held[:0]
	}
}

// visible gives the text up to the next tag, and returns what follows it.
func (f *Feeder) visible(text string, give func(kind SpanKind, text string)) string {
	for at := 0; ; at++ {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			f.give(Visible, text, give)
			return ""
		}
		at += i
		rest := text[at:]
		switch tag, whole := f.tag(rest); {
		case tag == "":
		case !whole:
			f.give(Visible, text[:at], give)
			f.held = append(f.held, rest...)
			return ""
		case tag == "<"+f.Call+">":
			f.give(Visible, text[:at], give)
			f.mode, f.tries, f.failed, f.looked = Block, 0, 0, 0
			return rest
		case tag == "</"+f.Think+">":
			// Of several closing tags that nothing opens the last one counts; each
			// takes back what stands before it.
			give(Retract, "")
			return rest[len(tag):]
		default:
			f.give(Visible, text[:at], give)
			f.mode, f.opened = Thinking, true
			return rest[len(tag):]
		}
	}
}

// tag returns the tag that a text begins with, or may begin with when more of it
// comes; "" when it is no tag.
func (f *Feeder) tag(text string) (tag string, whole bool) {
	tags := make([]string, 0, 3)
	if f.Think != "" {
		tags = append(tags, "<"+f.Think+">")
		if !f.opened {
			tags = append(tags, "</"+f.Think+">")
		}
	}
	if f.Call != "" {
		tags = append(tags, "<"+f.Call+">")
	}
	for _, t := range tags {
		if strings.HasPrefix(text, t) {
			return t, true
		}
		if len(text) < len(t) && strings.HasPrefix(t, text) {
			tag = t
		}
	}
	return tag, false
}

func (f *Feeder) give(kind SpanKind, text string, give func(kind SpanKind, text string)) {
	if text != "" {
		give(kind, text)
	}
}

func (f *Feeder) thinking(text string, give func(kind SpanKind, text string)) string {
	end := "</" + f.Think + ">"
	if i := strings.Index(text, end); i >= 0 {
		f.give(Thinking, text[:i], give)
		f.mode = Visible
		return text[i+len(end):]
	}
	hold := partial(text, end)
	f.give(Thinking, text[:hold], give)
	f.held = append(f.held, text[hold:]...)
	return ""
}

// block waits for the end of a call block. A closing tag may stand inside a string
// of the call, so Scan is asked about the text up to it; a block that it cannot
// close is looked at again some times, and then when it has grown to twice its
// size. That, and a bound on the opening tags that began none, keeps the work in
// proportion to the text; what is beyond it is held back until the whole is there.
func (f *Feeder) block(text string, give func(kind SpanKind, text string)) string {
	const mostStrays, few = 64, 16
	end := []byte("</" + f.Call + ">")
	f.held = append(f.held, text...)
	for f.strays < mostStrays {
		i := bytes.Index(f.held[f.looked:], end)
		if i < 0 {
			f.looked = max(f.looked, len(f.held)-len(end)+1)
			break
		}
		f.looked += i + len(end)
		if f.tries++; f.tries > few && f.looked < 2*f.failed {
			continue
		}
		text := string(f.held[:f.looked])
		first := f.Scan(text)[0]
		_, state := jsonValue(text[len("<"+f.Call+">"):])
		switch {
		case state == cut: // this closing tag may stand inside a string of the call
			f.failed = f.looked
			continue
		case first.Kind == Block:
			give(Block, first.Body)
		case first.Kind == Stray:
			f.strays++
			f.give(Visible, text[:first.End], give)
		default:
			f.failed = f.looked
			continue
		}
		rest := string(f.held[first.End:])
		f.mode, f.held = Visible, f.held[:0]
		return rest
	}
	return ""
}

// partial returns where at the end of text a tag may begin that has not come
// whole; the length of text when nowhere.
func partial(text, tag string) int {
	for n := min(len(tag)-1, len(text)); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return len(text) - n
		}
	}
	return len(text)
}
