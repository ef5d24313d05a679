package anthropic

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// RawCalls returns the tool_use blocks that have a name, in wire order.
func (Codec) RawCalls(body []byte, _ codecs.Profile) []codecs.Raw {
	v, err := wire.ParseBody(codecs.Anthropic, body)
	if err != nil {
		return nil
	}
	var out []codecs.Raw
	for _, b := range v.Get("content").Items() {
		if isCall(b) {
			out = append(out, b.Raw())
		}
	}
	return out
}

// ExtractCall reads one tool_use block. Arguments are nil when they are no JSON
// object.
func (Codec) ExtractCall(raw codecs.Raw) (name string, arguments codecs.Raw, ok bool) {
	v, err := jsonx.Parse(raw)
	if err != nil || !isCall(v) {
		return "", nil, false
	}
	call := codecs.ToolCall{Name: v.Get("name").Str()}
	wire.ReadArguments(&call, v.Get("input"), "")
	return call.Name, call.Arguments, true
}

// TextContent returns the text of a body without its thinking.
func (Codec) TextContent(body []byte, p codecs.Profile) string {
	v, err := wire.ParseBody(codecs.Anthropic, body)
	if err != nil {
		return ""
	}
	var out strings.Builder
	add := func(text string) {
		parts, _ := wire.SplitThink(text, p)
		out.WriteString(codecs.Reply{Parts: parts}.Text())
	}
	content := v.Get("content")
	add(content.Str())
	for _, b := range content.Items() {
		if b.Get("type").Str() == typeText {
			add(b.Get("text").Str())
		}
	}
	return out.String()
}

// isCall tells whether a block is a call that can be run: one without a name
// cannot be.
func isCall(block jsonx.Value) bool {
	return block.Get("type").Str() == typeToolUse && block.Get("name").Str() != ""
}
