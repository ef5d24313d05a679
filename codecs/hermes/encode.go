package hermes

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// block writes a call as the model does. Arguments that did not decode go in as
// they came.
func block(c codecs.ToolCall, p codecs.Profile) string {
	args := string(c.Arguments)
	if c.Arguments == nil {
		args = c.ArgumentsText
		if copied := c; args != "" {
			wire.ReadArgumentsText(&copied, args, "")
			if copied.Arguments != nil { // it was the block that did not decode
				args += "}"
			}
		}
	}
	tag := callTag(p)
	return "<" + tag + ">\n{\"name\": " + string(jsonx.Quote(c.Name)) + ", \"arguments\": " + args + "}\n</" + tag + ">"
}

// encoder turns calls and results of the history into text.
type encoder struct {
	p        codecs.Profile
	out      []codecs.Message
	warnings []codecs.Warning
}

func (e *encoder) message(m wire.Message) error {
	if m.Native != nil {
		e.out = append(e.out, m.Message)
		return nil
	}
	if m.Role == "assistant" {
		text, rest, warnings := assemble(m.Parts, false, e.p)
		e.warnings = append(e.warnings, warnings...)
		if text != "" {
			rest = append([]codecs.Part{{Kind: codecs.KindText, Text: text}}, rest...)
		}
		e.out = append(e.out, codecs.Message{Role: m.Role, Parts: rest})
		return nil
	}
	if m.Results() {
		msgs, warnings, err := resultMessages(m.ToolResults(), e.p, m.At())
		if err != nil {
			return err
		}
		e.warnings = append(e.warnings, warnings...)
		e.out = append(e.out, codecs.Message{Role: "tool", Native: msgs})
		return nil
	}
	e.out = append(e.out, m.Message)
	return nil
}

// assemble writes an assistant turn as the model writes it: thinking in its
// tags, calls in theirs, all in order. rest are the parts that are no text.
// White space goes between two pieces only where a reader trims it again. limit
// leaves a cut call at the end open.
func assemble(parts []codecs.Part, limit bool, p codecs.Profile) (text string, rest []codecs.Part, warnings []codecs.Warning) {
	type piece struct {
		text    string
		visible bool
	}
	var pieces []piece
	lossy := func(format string, args ...any) {
		warnings = append(warnings, codecs.Warnf(codecs.WarnLossy, "", format, args...))
	}
	think := wire.ThinkTag(p)
	ids := false
	for i, part := range parts {
		switch {
		case part.Kind == codecs.KindText:
			if part.Text != "" {
				if t := lift(part.Text, "", false, p); t.calls > 0 || t.thinking {
					lossy("a text holds markup that will be read as a call or as thinking")
				}
				pieces = append(pieces, piece{part.Text, true})
			}
		case part.Kind == codecs.KindReasoning && part.Text != "" && len(part.Extra) == 0 && think != "" && p.ReasoningEcho != codecs.EchoRefused:
			if part.Signature != "" {
				lossy("the signature of reasoning cannot go out as text")
			}
			pieces = append(pieces, piece{text: "<" + think + ">\n" + part.Text + "\n</" + think + ">"})
		case part.Kind == codecs.KindCall && part.Call != nil:
			if part.Call.Signature != "" || len(part.Call.Extra) > 0 {
				lossy("what stands beside name and arguments of the call %s cannot go out as text", part.Call.Name)
			}
			if part.Call.ID != "" && !ids {
				ids = true
				lossy("ids of calls cannot go out as text; results are told apart by name and order")
			}
			b := block(*part.Call, p)
			if part.Call.Cut {
				if limit && i == len(parts)-1 {
					b = openBlock(*part.Call, p)
				} else {
					lossy("the cut call %s does not end the text; it goes out whole", part.Call.Name)
				}
			}
			pieces = append(pieces, piece{text: b})
		default:
			rest = append(rest, part)
		}
	}
	last := -1 // the last visible piece
	for i, pc := range pieces {
		if pc.visible && strings.TrimSpace(pc.text) != "" {
			last = i
		}
	}
	var b strings.Builder
	seen := false
	for i, pc := range pieces {
		if i > 0 && (!seen || i > last) {
			b.WriteByte('\n')
		}
		seen = seen || pc.visible
		b.WriteString(pc.text)
	}
	return b.String(), rest, warnings
}

// openBlock is the block of a call that the limit cut.
func openBlock(c codecs.ToolCall, p codecs.Profile) string {
	args := c.ArgumentsText
	if c.Arguments != nil { // only the end of the block is missing
		args = string(c.Arguments) + "}"
	}
	return "<" + callTag(p) + ">\n{\"name\": " + string(jsonx.Quote(c.Name)) + ", \"arguments\": " + args
}
