package ollama

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// message is one wire message, read for Reply and ParseRequest alike, so that
// the echo of a turn parses to what the reply gave.
type message struct {
	parts    []codecs.Part
	warnings []codecs.Warning
	calls    []wire.Spelled
}

// readAssistant reads thinking, content, images and calls, in this order: the
// server sends them so in a stream.
func readAssistant(v jsonx.Value, at string, p codecs.Profile) message {
	var m message
	text := contentText(v.Get("content"))
	native := ""
	for _, key := range reasoningFields(p) {
		if native = v.Get(key).Str(); native != "" {
			break
		}
	}
	m.warnings = append(m.warnings, wire.UnpairedThink(text, at+"/content", p)...)
	body, tagged := wire.SplitThink(text, p)
	if native != "" && !tagged { // thinking in tags takes the place of the field
		m.parts = append(m.parts, codecs.Part{Kind: codecs.KindReasoning, Text: native})
	}
	m.parts = append(m.parts, body...)
	m.parts = append(m.parts, images(v.Get("images"))...)
	for i, c := range v.Get("tool_calls").Items() {
		place := fmt.Sprintf("%s/tool_calls/%d", at, i)
		call, warnings := readCall(c, place)
		m.warnings = append(m.warnings, warnings...)
		if call == nil {
			continue
		}
		call.Pos = len(m.calls)
		m.calls = append(m.calls, wire.Spelled{At: place, ID: c.Get("id"), Arguments: c.Path("function", "arguments")})
		m.parts = append(m.parts, codecs.Part{Kind: codecs.KindCall, Call: call})
	}
	return m
}

func reasoningFields(p codecs.Profile) []string {
	if p.ReasoningFields != nil {
		return p.ReasoningFields
	}
	return []string{"thinking"}
}

// contentText reads content. The wire knows strings only; a list, as a foreign
// client sends it, is read by its text parts.
func contentText(v jsonx.Value) string {
	if v.Kind() != jsonx.Array {
		return v.Str()
	}
	var b strings.Builder
	for _, item := range v.Items() {
		if s, ok := item.Text(); ok {
			b.WriteString(s)
		} else {
			b.WriteString(item.Get("text").Str())
		}
	}
	return b.String()
}

func images(v jsonx.Value) []codecs.Part {
	var out []codecs.Part
	for _, item := range v.Items() {
		if data, ok := item.Text(); ok {
			out = append(out, codecs.Part{Kind: codecs.KindMedia, Media: &codecs.Media{MIME: imageMIME(data), Data: data}})
		}
	}
	return out
}

// nameOf returns the name of a raw call, "" for a structure that is no call.
func nameOf(v jsonx.Value) string { return v.Path("function", "name").Str() }

// readCall reads one entry of tool_calls; nil for one without a name.
func readCall(v jsonx.Value, at string) (*codecs.ToolCall, []codecs.Warning) {
	name := nameOf(v)
	if name == "" {
		return nil, []codecs.Warning{codecs.Warnf(codecs.WarnCallNameless, at, "entry of tool_calls has no function name; it is no call")}
	}
	call := &codecs.ToolCall{ID: idOf(v), Name: name}
	warnings := wire.ReadArguments(call, v.Path("function", "arguments"), at+"/function/arguments")
	call.Extra = wire.Without(v, "id", "type", "function")
	return call, warnings
}

// idOf reads an id; a number, which no server of this wire sends but a foreign
// one may, is read by its spelling.
func idOf(v jsonx.Value) string { return wire.Scalar(v.Get("id")) }
