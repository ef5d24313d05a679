package anthropic

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/sse"
	"github.com/toolconform/conform/internal/tags"
	"github.com/toolconform/conform/internal/wire"
)

// Stream reads the events of a message. Blocks are put together by their index;
// where two blocks have the same (Ollama), a delta goes to the last one that its
// kind fits. The end is message_stop, or a stop reason where a host leaves that
// event out. Source: spec 2.10, rows SM07 and SM08, and the facts on streams of
// this wire.
func (c Codec) Stream(p codecs.Profile) codecs.Decoder {
	s := &stream{}
	s.StreamReader = wire.StreamReader{
		Codec: c, Profile: p, Frames: &sse.Events{}, Frame: s.event, Body: s.body, Done: s.done,
	}
	return s
}

type stream struct {
	wire.StreamReader
	root    jsonx.Node
	blocks  []*block
	last    map[blockKey]*block // the last block of a kind under an index
	open    map[int64][]*block  // by index, in order
	first   int                 // no block before it is open
	calls   int
	stopped bool // a stop reason came
}

// blockKey is an index, -1 for all of them, and what can be added to a block of
// the kind: text, thinking, or the input that any other block may have.
type blockKey struct {
	index int64
	kind  string
}

func kindOf(typ string) string {
	if typ == typeText || typ == typeThinking {
		return typ
	}
	return ""
}

// block is one content block that grows.
type block struct {
	node   *jsonx.Node
	index  int64
	typ    string
	input  jsonx.Node // the text of an input that comes in pieces
	tagged tags.Feeder
	pos    int
	closed bool
}

func (s *stream) done() bool {
	if !s.Complete && s.stopped {
		s.Warn(codecs.WarnStreamEnd, "", "the stream ended after its stop reason, without message_stop")
	}
	return s.Complete || s.stopped
}

func (s *stream) event(name string, v jsonx.Value) error {
	typ := v.Get("type").Str()
	if typ == "" {
		typ = name
	}
	switch typ {
	case "message_start":
		for _, m := range v.Get("message").Members() {
			if m.Key == "content" {
				for i, b := range m.Value.Items() {
					s.start(int64(i), b)
				}
			} else {
				s.root.Member(m.Key).Fill(m.Value)
			}
		}
	case "content_block_start":
		index, ok := v.Get("index").Int()
		if !ok {
			index = int64(len(s.blocks))
			s.Warn(codecs.WarnStreamIndex, "/content", "a block has no index")
		}
		if len(s.open[index]) > 0 {
			s.Warn(codecs.WarnStreamIndex, fmt.Sprintf("/content/%d", index), "two blocks of the message are open under index %d", index)
		}
		s.start(index, v.Get("content_block"))
	case "content_block_delta":
		s.delta(v)
	case "content_block_stop":
		s.stop(v)
	case "message_delta":
		s.messageDelta(v)
	case "message_stop":
		for i, b := range s.blocks {
			if !b.closed {
				s.Warn(codecs.WarnStreamBlock, fmt.Sprintf("/content/%d", i), "block %d was not closed", i)
			}
		}
		s.Complete = true
	case "error":
		return s.Failed(v.Raw(), "")
	default:
		if v.Get("error").Defined() {
			return s.Failed(v.Raw(), "")
		}
	}
	return nil
}

func (s *stream) messageDelta(v jsonx.Value) {
	for _, m := range v.Members() {
		switch m.Key {
		case "type":
		case "delta", "usage":
			into := &s.root
			if m.Key == "usage" {
				into = s.root.Member(m.Key)
			}
			for _, d := range m.Value.Members() {
				into.Member(d.Key).Fill(d.Value)
			}
		default:
			s.root.Member(m.Key).Set(m.Value)
		}
	}
	s.stopped = s.stopped || v.Path("delta", "stop_reason").Str() != ""
}

func (s *stream) start(index int64, v jsonx.Value) {
	b := &block{
		node: s.root.Member("content").Add(), index: index, typ: v.Get("type").Str(), pos: -1,
		tagged: wire.ThinkFeeder(s.Profile),
	}
	b.node.Set(v)
	s.blocks = append(s.blocks, b)
	if s.last == nil {
		s.last, s.open = map[blockKey]*block{}, map[int64][]*block{}
	}
	for _, at := range []int64{index, -1} {
		s.last[blockKey{at, kindOf(b.typ)}] = b
	}
	s.open[index] = append(s.open[index], b)
	switch b.typ {
	case typeText:
		b.tagged.Feed(v.Get("text").Str(), s.Show)
	case typeThinking:
		s.EmitText(codecs.KindReasoning, v.Get("thinking").Str())
	case typeToolUse:
		if name := v.Get("name").Str(); name != "" {
			b.pos = s.calls
			s.calls++
			s.Emit(codecs.Event{Kind: codecs.KindCall, Pos: b.pos, ID: v.Get("id").Str(), Name: name})
		}
	}
}

// deltaKinds are the kinds of blocks that a kind of delta adds to; any other one
// adds to a block that is neither text nor thinking, or to the last one.
var deltaKinds = map[string]string{
	"text_delta": typeText, "citations_delta": typeText, "thinking_delta": typeThinking, "signature_delta": typeThinking,
}

// find returns the block that a delta is about: of several with its index the
// last one that it fits, of none that fits the last one.
func (s *stream) find(v jsonx.Value, kind string) *block {
	index, numbered := v.Get("index").Int()
	if !numbered {
		index = -1
		s.Warn(codecs.WarnStreamIndex, "/content", "an event of a block has no index")
	}
	if b := s.last[blockKey{index, kind}]; b != nil {
		return b
	}
	for _, other := range []string{"", typeText, typeThinking} {
		if b := s.last[blockKey{index, other}]; b != nil {
			return b
		}
	}
	if len(s.blocks) == 0 {
		s.Warn(codecs.WarnStreamBlock, "/content", "a delta came before every block")
		s.start(0, jsonx.Of([]byte(`{"type":"text","text":""}`)))
	}
	return s.blocks[len(s.blocks)-1]
}

func (s *stream) delta(v jsonx.Value) {
	d := v.Get("delta")
	typ := d.Get("type").Str()
	b := s.find(v, deltaKinds[typ])
	switch typ {
	case "input_json_delta":
		piece := d.Get("partial_json")
		b.input.Append(piece)
		if text := piece.Str(); b.pos >= 0 && text != "" {
			s.Emit(codecs.Event{Kind: codecs.KindCall, Pos: b.pos, Text: text})
		}
	case "text_delta":
		b.node.Member("text").Append(d.Get("text"))
		b.tagged.Feed(d.Get("text").Str(), s.Show)
	case "thinking_delta":
		b.node.Member("thinking").Append(d.Get("thinking"))
		s.EmitText(codecs.KindReasoning, d.Get("thinking").Str())
	case "signature_delta":
		b.node.Member("signature").Set(d.Get("signature"))
	case "citations_delta":
		b.node.Member("citations").Add().Set(d.Get("citation"))
	default: // of a kind to come: its texts grow, the rest is as it comes
		for _, m := range d.Members() {
			if m.Key != "type" {
				b.node.Member(m.Key).Append(m.Value)
			}
		}
	}
}

// stop closes a block: of two open ones under an index the first. Ollama closes
// the second of them under the next index; so a stop that is for no open block
// closes the first one that is.
func (s *stream) stop(v jsonx.Value) {
	for s.first < len(s.blocks) && s.blocks[s.first].closed {
		s.first++
	}
	if s.first == len(s.blocks) {
		s.Warn(codecs.WarnStreamBlock, "/content", "a block was closed that is not open")
		return
	}
	b := s.blocks[s.first]
	if index, ok := v.Get("index").Int(); ok && len(s.open[index]) > 0 {
		b = s.open[index][0]
	}
	s.open[b.index] = s.open[b.index][1:] // b is the first of them in either case
	b.closed = true
	b.tagged.Close(s.Show)
}

// body writes the message. An input whose pieces are no JSON, as a limit leaves
// it, is their text: this is the one place where a tool_use has a string.
func (s *stream) body() []byte {
	for _, b := range s.blocks {
		if b.input.Size() == 0 {
			continue
		}
		if text := b.input.Text(); jsonx.Check([]byte(text)) == nil {
			b.node.Member("input").Set(jsonx.Of([]byte(text)))
		} else {
			b.node.Member("input").Set(jsonx.Of(b.input.Raw()))
		}
	}
	if s.root.Get("content") == nil {
		s.root.Member("content").Set(jsonx.Of([]byte("[]")))
	}
	return s.root.Raw()
}
