package ollama

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// RawCalls returns the entries of message.tool_calls that have a name.
func (Codec) RawCalls(body []byte, _ codecs.Profile) []codecs.Raw {
	root, err := wire.ParseBody(codecs.Ollama, body)
	if err != nil {
		return nil
	}
	var out []codecs.Raw
	for _, c := range root.Path("message", "tool_calls").Items() {
		if nameOf(c) != "" {
			out = append(out, c.Raw())
		}
	}
	return out
}

// ExtractCall reads {"id"?,"function":{"name","arguments"}}. arguments is nil
// when they do not decode to an object.
func (Codec) ExtractCall(raw codecs.Raw) (name string, arguments codecs.Raw, ok bool) {
	v, err := jsonx.Parse(raw)
	if err != nil {
		return "", nil, false
	}
	call, _ := readCall(v, "")
	if call == nil {
		return "", nil, false
	}
	return call.Name, call.Arguments, true
}

// TextContent returns message.content without thinking.
func (c Codec) TextContent(body []byte, p codecs.Profile) string {
	if r, err := c.Reply(body, p); err == nil {
		return r.Text()
	}
	root, err := wire.ParseBody(codecs.Ollama, body)
	if err != nil {
		return ""
	}
	parts, _ := wire.SplitThink(contentText(root.Path("message", "content")), p)
	return codecs.Reply{Parts: parts}.Text()
}
