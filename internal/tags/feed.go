package tags

import "strings"

// Retract is the kind of a Feeder's piece that has no text: what was shown as
// visible so far was thinking, since a closing tag came that nothing opened.
const Retract SpanKind = -1

// Feeder finds the markup of a text that comes in pieces. What may still turn out
// to be a tag is held back. Its pieces are provisional: Scan over the whole text
// decides, white space at the edges of a block included.
type Feeder struct {
	Scanner

	held   string // not given yet: the start of a tag, or an open call block
	mode   SpanKind
	opened bool // a thinking tag has been opened, as in scan
	shown  bool // something visible was given
	failed int  // length of an open block whose closing tag was looked at in vain
}

// Feed takes the next piece of the text and gives what it decides: Visible and
// Thinking text, Block for the inside of a call block, Retract.
func (f *Feeder) Feed(text string, give func(kind SpanKind, text string)) {
	text = f.held + text
	f.held = ""
	for text != "" {
		switch f.mode {
		case Thinking:
			text = f.thinking(text, give)
		case Block:
			text = f.block(text, give)
		default:
			text = f.visible(text, give)
		}
	}
}

// Close gives what was held back. An open call block is left to Scan.
func (f *Feeder) Close(give func(kind SpanKind, text string)) {
	held, mode := f.held, f.mode
	f.held = ""
	if held != "" && mode != Block {
		give(mode, held)
	}
}

func (f *Feeder) visible(text string, give func(kind SpanKind, text string)) string {
	type tag struct {
		text string
		to   SpanKind
	}
	var tags []tag
	if f.Think != "" {
		tags = append(tags, tag{"<" + f.Think + ">", Thinking})
		if !f.opened {
			tags = append(tags, tag{"</" + f.Think + ">", Retract})
		}
	}
	if f.Call != "" {
		tags = append(tags, tag{"<" + f.Call + ">", Block})
	}
	at, found := len(text), tag{}
	hold := len(text)
	for _, t := range tags {
		if i := strings.Index(text, t.text); i >= 0 && i < at {
			at, found = i, t
		}
		hold = min(hold, partial(text, t.text))
	}
	if found.text == "" {
		f.give(Visible, text[:hold], give)
		f.held = text[hold:]
		return ""
	}
	f.give(Visible, text[:at], give)
	rest := text[at+len(found.text):]
	switch found.to {
	case Thinking:
		f.mode, f.opened = Thinking, true
	case Block:
		f.mode, f.failed = Block, 0
		return text[at:]
	default:
		// Of several closing tags the last one that nothing opens counts; each
		// takes back what stands before it.
		give(Retract, "")
		f.shown = false
	}
	return rest
}

func (f *Feeder) give(kind SpanKind, text string, give func(kind SpanKind, text string)) {
	if text != "" {
		f.shown = f.shown || kind == Visible
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
	f.held = text[hold:]
	return ""
}

// block waits for the end of a call block. A closing tag may stand inside a string
// of the call, so Scan is asked; a block that it cannot close is looked at
// again when it has grown to twice its size, which keeps the work in proportion
// to the text.
func (f *Feeder) block(text string, give func(kind SpanKind, text string)) string {
	if len(text) < 2*f.failed || !strings.Contains(text, "</"+f.Call+">") {
		f.held = text
		return ""
	}
	spans := f.Scan(text)
	first := spans[0]
	if first.Kind != Block || first.Start != 0 {
		if first.Kind == Stray {
			f.mode = Visible
			f.give(Visible, text[:first.End], give)
			return text[first.End:]
		}
		f.failed, f.held = len(text), text
		return ""
	}
	f.mode = Visible
	give(Block, first.Body)
	return text[first.End:]
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
