package gemini

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// RawCalls returns the parts that hold a functionCall with a name, in wire
// order. Calls that a limit cut are there, those of a turn that ended with
// MALFORMED_FUNCTION_CALL are not. It never fails.
func (Codec) RawCalls(body []byte, _ codecs.Profile) []codecs.Raw {
	root, err := wire.ParseBody(codecs.Gemini, body)
	if err != nil {
		return nil
	}
	cand := root.Get("candidates").At(0)
	if isMalformed(cand) {
		return nil
	}
	var out []codecs.Raw
	for _, part := range list(cand.Get("content").Get("parts")) {
		if field(part, "functionCall").Get("name").Str() != "" {
			out = append(out, part.Raw())
		}
	}
	return out
}

// ExtractCall reads a part with a functionCall. arguments is nil when they do
// not decode to an object.
func (Codec) ExtractCall(raw codecs.Raw) (name string, arguments codecs.Raw, ok bool) {
	part, err := jsonx.Parse(raw)
	if err != nil {
		return "", nil, false
	}
	rd := partReader{}
	p, ok := rd.call(field(part, "functionCall"), codecs.Part{}, "")
	if !ok {
		return "", nil, false
	}
	return p.Call.Name, p.Call.Arguments, true
}

// TextContent returns the visible text of the first candidate, thinking left
// out. Of a list of stream chunks it is the text of all of them. It never fails.
func (c Codec) TextContent(body []byte, p codecs.Profile) string {
	if r, err := c.Reply(body, p); err == nil {
		return r.Text()
	}
	root, err := wire.ParseBody(codecs.Gemini, body)
	if err != nil {
		return ""
	}
	chunks := []jsonx.Value{root}
	if root.IsArray() {
		chunks = root.Items()
	}
	rd := partReader{}
	var parts []codecs.Part
	for _, chunk := range chunks {
		parts = append(parts, rd.readAll(list(chunk.Get("candidates").At(0).Get("content").Get("parts")), "")...)
	}
	var b strings.Builder
	for _, part := range splitThink(parts, p, &wire.Notes{}) {
		if part.Kind == codecs.KindText {
			b.WriteString(part.Text)
		}
	}
	return b.String()
}
