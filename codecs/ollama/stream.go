package ollama

import (
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/sse"
	"github.com/toolconform/conform/internal/wire"
)

// Stream reads the lines of a chat: pieces of text and thinking, whole calls. The
// last line says done. Source: spec 2.10, row SM09.
func (c Codec) Stream(p codecs.Profile) codecs.Decoder {
	s := &stream{}
	s.StreamReader = wire.StreamReader{
		Codec: c, Profile: p, Tagged: wire.ThinkFeeder(p), Frames: &sse.Lines{}, Frame: s.line,
		Body: func() []byte { return s.root.Raw() }, Done: func() bool { return s.Complete },
	}
	return s
}

type stream struct {
	wire.StreamReader
	root  jsonx.Node
	calls int
}

func (s *stream) line(_ string, v jsonx.Value) error {
	if v.Get("error").Defined() {
		return s.Failed(v.Raw(), "")
	}
	for _, m := range v.Members() {
		if m.Key == "message" && m.Value.IsObject() {
			s.message(s.root.Member(m.Key), m.Value)
		} else if m.Value.Defined() {
			s.root.Member(m.Key).Set(m.Value)
		}
	}
	if v.Get("done").Bool() {
		s.EndVisible()
		s.Complete = true
	}
	return nil
}

func (s *stream) message(into *jsonx.Node, v jsonx.Value) {
	for _, m := range v.Members() {
		n := into.Member(m.Key)
		switch {
		case m.Key == "content":
			n.Append(m.Value)
			s.Visible(m.Value.Str())
		case m.Key == "thinking":
			n.Append(m.Value)
			s.EmitText(codecs.KindReasoning, m.Value.Str())
		case slices.Contains([]string{"tool_calls", "images"}, m.Key) && m.Value.IsArray():
			for _, item := range m.Value.Items() {
				n.Add().Set(item)
				if m.Key == "tool_calls" {
					s.call(item)
				}
			}
		case m.Value.Defined():
			n.Set(m.Value)
		}
	}
}

func (s *stream) call(item jsonx.Value) {
	name := item.Path("function", "name").Str()
	if name == "" {
		return
	}
	args := item.Path("function", "arguments")
	text := args.Str()
	if args.IsObject() {
		text = string(args.Raw())
	}
	s.Emit(codecs.Event{Kind: codecs.KindCall, Pos: s.calls, ID: wire.Scalar(item.Get("id")), Name: name, Text: text})
	s.calls++
}
