package ollama

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// streamWays are those that lines of /api/chat were seen in.
var streamWays = []string{wire.StreamWhole, wire.StreamBreaksOff, wire.StreamErrorAfter}

// RenderStream encodes a reply as lines of JSON: thinking and text in pieces, each
// call whole on a line of its own, and a last line that is done and counts. Source:
// our recordings of Ollama.
func (c Codec) RenderStream(r codecs.Reply, p codecs.Profile, l codecs.Likeness, _ string) ([][]byte, []codecs.Warning, error) {
	w, body, warnings, err := wire.StreamOf(c, r, p, l)
	if err != nil {
		return nil, nil, err
	}
	v := jsonx.Of(body)
	msg := v.Get("message")
	line := func(members ...jsonx.Member) {
		var f jsonx.Fields
		for _, key := range []string{"model", "created_at"} {
			f.Set(key, v.Get(key).Raw())
		}
		f.Set("message", wire.With(jsonx.Of([]byte(`{"role":"assistant","content":""}`)), members...))
		w.Line(f.Bool("done", false).Raw())
	}
	keys := reasoningFields(p)
	for _, key := range keys {
		for _, piece := range w.Pieces(msg.Get(key).Str()) {
			line(wire.TextMember(key, piece))
		}
	}
	for _, piece := range w.Pieces(msg.Get("content").Str()) {
		line(wire.TextMember("content", piece))
	}
	for _, call := range msg.Get("tool_calls").Items() {
		line(wire.RawMember("tool_calls", jsonx.List(call.Raw())))
	}
	switch {
	case w.Is(wire.StreamBreaksOff):
		return w.Frames, warnings, nil
	case w.Is(wire.StreamErrorAfter):
		w.Line(wire.StreamError(c, p, l))
		return w.Frames, warnings, nil
	}
	last := []jsonx.Member{wire.RawMember("tool_calls", nil), wire.TextMember("content", "")}
	for _, key := range keys {
		last = append(last, wire.RawMember(key, nil))
	}
	w.Line(wire.With(v, wire.RawMember("message", wire.With(msg, last...))))
	return w.Frames, warnings, nil
}
