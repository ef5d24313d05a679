package anthropic

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

type decoder struct {
	profile codecs.Profile
	reply   codecs.Reply
	calls   []wire.Spelled
	cited   wire.Citations

	lastNameless bool // the last block is a call without a name
}

func (d *decoder) add(p codecs.Part) { d.reply.Parts = append(d.reply.Parts, p) }

func (d *decoder) warn(code, pointer, format string, args ...any) {
	d.reply.Warnings = append(d.reply.Warnings, codecs.Warnf(code, pointer, format, args...))
}

func (d *decoder) block(b jsonx.Value, at string) {
	d.lastNameless = false
	switch typ := b.Get("type").Str(); {
	case typ == typeText:
		d.text(b.Get("text").Str(), at, wire.Without(b, "type", "text"))
		for _, c := range b.Get("citations").Items() {
			d.cite(c)
		}
	case typ == typeThinking, typ == typeRedacted:
		d.add(reasoningPart(b))
	case typ == typeToolUse && b.Get("name").Str() == "":
		d.lastNameless = true
		d.warn(codecs.WarnCallNameless, at, "left out a tool_use block without a name")
	case typ == typeToolUse:
		call, warnings := readCall(b, at, len(d.calls))
		d.calls = append(d.calls, wire.Spelled{At: at, ID: b.Get("id"), Arguments: b.Get("input")})
		d.reply.Warnings = append(d.reply.Warnings, warnings...)
		d.add(codecs.Part{Kind: codecs.KindCall, Call: &call})
	default:
		d.add(otherPart(b))
	}
}

// text adds the parts of a text block: thinking between tags becomes reasoning
// where it stands. Thinking that the block form reported stays beside it: the
// two are different thoughts, and nothing is lost that way.
func (d *decoder) text(text, at string, extra codecs.Raw) {
	d.reply.Warnings = append(d.reply.Warnings, wire.UnpairedThink(text, at, d.profile)...)
	parts, _ := wire.SplitThink(text, d.profile)
	if text == "" { // a block all the same
		parts = []codecs.Part{{Kind: codecs.KindText}}
	}
	for _, p := range parts {
		if p.Kind == codecs.KindText {
			p.Extra, extra = extra, nil
		}
		d.add(p)
	}
}

// reasoningPart reads a thinking or redacted_thinking block. A signature that
// is absent or empty is legal: shims have none.
func reasoningPart(b jsonx.Value) codecs.Part {
	if b.Get("type").Str() == typeRedacted {
		return codecs.Part{Kind: codecs.KindReasoning, Redacted: true, Signature: b.Get("data").Str(), Extra: wire.Without(b, "type", "data")}
	}
	return codecs.Part{
		Kind: codecs.KindReasoning, Text: b.Get("thinking").Str(), Signature: b.Get("signature").Str(),
		Extra: wire.Without(b, "type", "thinking", "signature"),
	}
}

// readCall reads a tool_use block. Shims send the input as a JSON string.
func readCall(b jsonx.Value, at string, pos int) (codecs.ToolCall, []codecs.Warning) {
	call := codecs.ToolCall{Pos: pos, ID: b.Get("id").Str(), Name: b.Get("name").Str(), Extra: wire.Without(b, "type", "id", "name", "input")}
	return call, wire.ReadArguments(&call, b.Get("input"), at+"/input")
}

// otherPart keeps a block of the provider's, or of an unknown type, whole.
func otherPart(b jsonx.Value) codecs.Part {
	if s, ok := b.Text(); ok {
		return codecs.Part{Kind: codecs.KindText, Text: s}
	}
	part := codecs.Part{Kind: codecs.KindOpaque, Type: b.Get("type").Str(), Extra: b.Raw()}
	if serverBlock(part.Type) {
		part.Kind = codecs.KindServer
		if part.ID = b.Get("id").Str(); part.ID == "" {
			part.ID = b.Get("tool_use_id").Str()
		}
	}
	return part
}

// cite adds the source of a citation; a cited document has a title only.
func (d *decoder) cite(c jsonx.Value) {
	out := codecs.Citation{URL: c.Get("url").Str(), Title: c.Get("title").Str()}
	if out.URL == "" {
		out.URL = c.Get("source").Str() // search_result_location
	}
	if out.Title == "" {
		out.Title = c.Get("document_title").Str()
	}
	d.cited.Add(out)
}
