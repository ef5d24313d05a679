package hermes

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// RawCalls returns native calls as they came; without any, one
// {"name","arguments"} for each call in the text. Calls that the limit cut are
// there, with their arguments as text.
func (c Codec) RawCalls(body []byte, p codecs.Profile) []codecs.Raw {
	if _, standard := contentAt(p); standard {
		if native := chat.RawCalls(body, p); len(native) > 0 {
			return native
		}
	}
	r, err := c.Reply(body, p)
	if err != nil {
		return nil
	}
	var out []codecs.Raw
	for _, call := range r.Calls() {
		args := call.Arguments
		if args == nil {
			args = jsonx.Quote(call.ArgumentsText)
		}
		var f jsonx.Fields
		out = append(out, f.Str("name", call.Name).Set("arguments", args).Raw())
	}
	return out
}

// ExtractCall reads {"name","arguments"} or a native call.
func (Codec) ExtractCall(raw codecs.Raw) (name string, arguments codecs.Raw, ok bool) {
	v, err := jsonx.Parse(raw)
	if err != nil || !v.IsObject() {
		return "", nil, false
	}
	if v.Get("function").IsObject() {
		return chat.ExtractCall(raw)
	}
	call, _ := wholeCall(string(raw), "")
	if call == nil {
		return "", nil, false
	}
	return call.Name, call.Arguments, true
}

// TextContent returns the text of a body without thinking and call blocks.
func (c Codec) TextContent(body []byte, p codecs.Profile) string {
	if r, err := c.Reply(body, p); err == nil {
		return r.Text()
	}
	at, standard := contentAt(p)
	text := ""
	if standard {
		text = chat.TextContent(body, transport(p))
	} else if root, err := wire.ParseBody(codecs.Hermes, body); err == nil {
		text = root.Lookup(at).Str()
	}
	return codecs.Reply{Parts: lift(text, at, false, p).parts}.Text()
}
