package openai

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// RawCalls returns the entries of tool_calls that have a name, or the legacy
// function_call when there are none.
func (Codec) RawCalls(body []byte, _ codecs.Profile) []codecs.Raw {
	root, err := wire.ParseBody(codecs.OpenAI, body)
	if err != nil {
		return nil
	}
	msg := root.Get("choices").At(0).Get("message")
	var out []codecs.Raw
	for _, item := range msg.Get("tool_calls").Items() {
		if named(item) {
			out = append(out, item.Raw())
		}
	}
	if fn := msg.Get("function_call"); out == nil && fn.Get("name").Str() != "" {
		out = append(out, fn.Raw())
	}
	return out
}

// ExtractCall reads the name and the arguments of an entry of tool_calls, or of
// a legacy function_call. arguments is nil when they do not decode.
func (Codec) ExtractCall(raw codecs.Raw) (name string, arguments codecs.Raw, ok bool) {
	v, err := jsonx.Parse(raw)
	if err != nil || !v.IsObject() {
		return "", nil, false
	}
	fn := v.Get("function")
	if !fn.Exists() && !v.Get("type").Exists() {
		fn = v
	}
	call := codecs.ToolCall{Name: fn.Get("name").Str()}
	if call.Name == "" {
		return "", nil, false
	}
	wire.ReadArguments(&call, fn.Get("arguments"), "")
	return call.Name, call.Arguments, true
}

// TextContent returns the final text of a body; of one that Reply rejects, the
// text that its message holds.
func (c Codec) TextContent(body []byte, p codecs.Profile) string {
	if r, err := c.Reply(body, p); err == nil {
		return r.Text()
	}
	root, err := wire.ParseBody(c.Dialect(), body)
	if err != nil {
		return ""
	}
	msg, _ := messageOf(root.Get("choices").At(0))
	t := readAssistant(msg, "", p)
	return codecs.Reply{Parts: t.parts}.Text()
}
