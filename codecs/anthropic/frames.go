package anthropic

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// streamWays are those that streams of messages were seen in.
var streamWays = []string{
	wire.StreamWhole, wire.StreamDoneMissing, wire.StreamIndexMissing, wire.StreamIndexZero, wire.StreamBlockOpen,
	wire.StreamBlocksMixed, wire.StreamBreaksOff, wire.StreamErrorAfter,
}

// RenderStream encodes a message as events: its blocks one after the other, each
// opened, filled and closed, then the stop reason with the usage. Source: the wire
// facts on streams, and the provider's schemas of its events.
func (c Codec) RenderStream(r codecs.Reply, p codecs.Profile, l codecs.Likeness, _ string) ([][]byte, []codecs.Warning, error) {
	w, body, warnings, err := wire.StreamOf(c, r, p, l)
	if err != nil {
		return nil, nil, err
	}
	s := eventWriter{w}
	v := jsonx.Of(body)
	if v.Get("type").Str() == "error" { // inside a 200
		s.Event("error", body)
		return s.Frames, warnings, nil
	}
	null := codecs.Raw("null")
	s.event("message_start", wire.RawMember("message", wire.With(v,
		wire.RawMember("content", []byte("[]")), wire.RawMember("stop_reason", null), wire.RawMember("stop_sequence", null),
		wire.RawMember("usage", begun(v.Get("usage"))), wire.RawMember("stop_details", nil), wire.RawMember("container", nil))))
	blocks := v.Get("content").Items()
	for i, b := range blocks {
		s.block(i, b)
		if i == 0 {
			s.event("ping")
		}
		if !s.Is(wire.StreamBlocksMixed) {
			s.close(i, b)
		}
	}
	if s.Is(wire.StreamBlocksMixed) {
		for i, b := range blocks {
			s.close(i, b)
		}
	}
	switch {
	case s.Is(wire.StreamBreaksOff):
		return s.Frames, warnings, nil
	case s.Is(wire.StreamErrorAfter):
		s.Event("error", wire.StreamError(c, p, l))
		return s.Frames, warnings, nil
	}
	var delta jsonx.Fields
	for _, key := range []string{"stop_reason", "stop_sequence", "stop_details", "container"} {
		delta.Set(key, v.Get(key).Raw())
	}
	s.event("message_delta", wire.RawMember("delta", delta.Raw()), jsonx.Member{Key: "usage", Value: v.Get("usage")})
	if !s.Is(wire.StreamDoneMissing) {
		s.event("message_stop")
	}
	return s.Frames, warnings, nil
}

// begun is the usage that the first event has: the output is only begun.
func begun(usage jsonx.Value) codecs.Raw {
	if !usage.IsObject() {
		return nil
	}
	return wire.With(usage, wire.RawMember("output_tokens", []byte("1")))
}

type eventWriter struct{ *wire.StreamWriter }

func (s eventWriter) event(name string, members ...jsonx.Member) {
	s.Event(name, wire.With(jsonx.Value{}, append([]jsonx.Member{wire.TextMember("type", name)}, members...)...))
}

// index is that of block i as the stream has it.
func (s eventWriter) index(i int) jsonx.Member {
	if s.Is(wire.StreamIndexMissing) {
		return wire.RawMember("index", nil)
	}
	if s.Is(wire.StreamIndexZero) {
		i = 0
	}
	n, _ := jsonx.Marshal(i)
	return wire.RawMember("index", n)
}

func (s eventWriter) delta(i int, typ string, members ...jsonx.Member) {
	d := wire.With(jsonx.Value{}, append([]jsonx.Member{wire.TextMember("type", typ)}, members...)...)
	s.event("content_block_delta", s.index(i), wire.RawMember("delta", d))
}

func (s eventWriter) close(i int, b jsonx.Value) {
	if s.Is(wire.StreamBlockOpen) && b.Get("type").Str() == typeText {
		return
	}
	s.event("content_block_stop", s.index(i))
}

// block opens a block and fills it. What has no delta of its own comes whole.
func (s eventWriter) block(i int, b jsonx.Value) {
	open := func(without ...jsonx.Member) {
		s.event("content_block_start", s.index(i), wire.RawMember("content_block", wire.With(b, without...)))
	}
	input := b.Get("input")
	switch typ := b.Get("type").Str(); {
	case typ == typeText:
		citations := b.Get("citations")
		if citations.Len() > 0 {
			open(wire.TextMember("text", ""), wire.RawMember("citations", []byte("[]")))
		} else {
			open(wire.TextMember("text", ""))
		}
		for _, c := range citations.Items() {
			s.delta(i, "citations_delta", jsonx.Member{Key: "citation", Value: c})
		}
		for _, piece := range s.Pieces(b.Get("text").Str()) {
			s.delta(i, "text_delta", wire.TextMember("text", piece))
		}
	case typ == typeThinking:
		open(wire.TextMember("thinking", ""), wire.TextMember("signature", ""))
		for _, piece := range s.Pieces(b.Get("thinking").Str()) {
			s.delta(i, "thinking_delta", wire.TextMember("thinking", piece))
		}
		if signature := b.Get("signature"); signature.Str() != "" {
			s.delta(i, "signature_delta", jsonx.Member{Key: "signature", Value: signature})
		}
	case input.Exists():
		open(wire.RawMember("input", []byte("{}")))
		text := input.Str() // of an input that is no object
		if input.Kind() != jsonx.String {
			text = string(input.Raw())
		}
		if text == "{}" && !s.Is(wire.StreamWhole) {
			text = ""
		}
		s.delta(i, "input_json_delta", wire.TextMember("partial_json", ""))
		for _, piece := range s.Pieces(text) {
			s.delta(i, "input_json_delta", wire.TextMember("partial_json", piece))
		}
	default:
		open()
	}
}
