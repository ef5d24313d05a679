package gemini

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/sse"
	"github.com/toolconform/conform/internal/wire"
)

// Stream reads the chunks of streamGenerateContent: events (alt=sse), or one JSON
// list. Each chunk is a whole response with some of the parts. The end is a
// finish reason, or the reason for which the prompt was blocked. Source: spec 2.10
// and the facts on streams of this wire.
func (c Codec) Stream(p codecs.Profile) codecs.Decoder {
	s := &stream{}
	s.StreamReader = wire.StreamReader{
		Codec: c, Profile: p, Tagged: wire.ThinkFeeder(p), Frames: &chunks{}, Frame: s.chunk, Body: s.body, Done: func() bool { return s.ending },
	}
	return s
}

// chunks tells a list from events by the first byte that is no white space, behind
// a byte order mark. What comes before that byte is held: positions count it.
type chunks struct {
	of   sse.Splitter
	held []byte
}

const (
	mark     = "\xEF\xBB\xBF"
	mostHeld = 64 << 10
)

func (c *chunks) Feed(chunk []byte, each func(sse.Frame) error) error {
	if c.of != nil {
		return c.of.Feed(chunk, each)
	}
	c.held = append(c.held, chunk...)
	start := bytes.TrimLeft(bytes.TrimPrefix(c.held, []byte(mark)), " \t\r\n")
	if strings.HasPrefix(mark, string(c.held[:min(len(c.held), len(mark))])) && len(c.held) < len(mark) || len(start) == 0 && len(c.held) < mostHeld {
		return nil
	}
	c.of = &sse.Events{}
	if len(start) > 0 && start[0] == '[' {
		c.of = &sse.Array{}
	}
	return c.of.Feed(c.held, each)
}

func (c *chunks) Close(each func(sse.Frame) error) error {
	if c.of == nil {
		c.of = &sse.Events{}
		if err := c.of.Feed(c.held, each); err != nil {
			return err
		}
	}
	return c.of.Close(each)
}

type stream struct {
	wire.StreamReader
	root   jsonx.Node
	parts  []*part // of the first candidate
	open   *part   // a call whose arguments still come
	calls  int
	ending bool
}

// part is one part of the body; plain tells that a further text of its kind may
// be added.
type part struct {
	node           *jsonx.Node
	plain, thought bool
	pos            int
	grows          string // path of the argument whose text is not complete
}

func (s *stream) chunk(_ string, v jsonx.Value) error {
	if e := v; e.IsArray() && e.Len() == 1 {
		v = e.At(0)
	}
	if v.Get("error").Defined() {
		return s.Failed(v.Raw(), "")
	}
	for _, m := range v.Members() {
		switch {
		case m.Key == "candidates":
			for i, c := range list(m.Value) {
				s.candidate(i, c)
			}
		case m.Value.Defined():
			s.root.Member(m.Key).Set(m.Value)
		}
	}
	if wire.Scalar(field(field(v, "promptFeedback"), "blockReason")) != "" {
		s.ending = true
	}
	return nil
}

const maxCandidates = 128

func (s *stream) candidate(i int, v jsonx.Value) {
	if n, ok := v.Get("index").Int(); ok && n >= 0 && n < maxCandidates {
		i = int(n)
	}
	all := s.root.Member("candidates")
	for len(all.Items()) <= i && i < maxCandidates {
		all.Add()
	}
	into := all.Items()[min(i, len(all.Items())-1)]
	for _, m := range v.Members() {
		switch {
		case m.Key == "content" && m.Value.IsObject():
			content := into.Member("content")
			for _, c := range m.Value.Members() {
				if c.Key == "parts" {
					for _, p := range list(c.Value) {
						s.part(content.Member("parts"), p, i == 0)
					}
				} else if c.Value.Defined() {
					content.Member(c.Key).Set(c.Value)
				}
			}
		case m.Value.Defined():
			into.Member(m.Key).Set(m.Value)
		}
	}
	if i == 0 && wire.Scalar(field(v, "finishReason")) != "" {
		s.ending = true
		s.EndVisible()
	}
}

// part adds one part. Neighbouring texts that carry nothing else are one text;
// an empty one says nothing.
func (s *stream) part(into *jsonx.Node, v jsonx.Value, first bool) {
	if !first {
		into.Add().Set(v)
		return
	}
	if into.Kind() == jsonx.Absent {
		into.Set(jsonx.Of([]byte("[]")))
	}
	if call := field(v, "functionCall"); call.IsObject() && s.partial(into, v, call) {
		return
	}
	thought := field(v, "thought").Bool()
	text, isText := v.Get("text").Text()
	plain := isText
	for _, m := range v.Members() {
		plain = plain && (m.Key == "text" || m.Key == "thought")
	}
	last := &part{}
	if len(s.parts) > 0 {
		last = s.parts[len(s.parts)-1]
	}
	switch {
	case plain && text == "" && len(s.parts) > 0:
	case plain && last.plain && last.thought == thought:
		last.node.Member("text").Append(v.Get("text"))
	default:
		n := into.Add()
		n.Set(v)
		s.parts = append(s.parts, &part{node: n, plain: plain, thought: thought})
	}
	switch call := field(v, "functionCall"); {
	case call.IsObject() && call.Get("name").Str() != "":
		s.Emit(codecs.Event{
			Kind: codecs.KindCall, Pos: s.calls, ID: wire.Scalar(call.Get("id")), Name: call.Get("name").Str(), Text: string(call.Get("args").Raw()),
		})
		s.calls++
	case thought:
		s.EmitText(codecs.KindReasoning, text)
	case isText:
		s.Visible(text)
	}
}

// partial reads a call whose arguments come piece by piece: the first part has
// the name, the others none, and the last one does not say that it goes on.
func (s *stream) partial(into *jsonx.Node, v, call jsonx.Value) bool {
	more, pieces := field(call, "willContinue").Bool(), field(call, "partialArgs")
	name := call.Get("name").Str()
	if name == "" && s.open == nil || name != "" && !more && !pieces.Exists() {
		return false
	}
	if name != "" {
		n := into.Add()
		n.Set(v)
		s.open = &part{node: n, pos: s.calls}
		s.parts, s.calls = append(s.parts, s.open), s.calls+1
		fn := callNode(n)
		for _, key := range []string{"partialArgs", "partial_args", "will_continue"} {
			if m := fn.Get(key); m != nil {
				m.Drop()
			}
		}
		fn.Member("args").Member("")
		s.Emit(codecs.Event{Kind: codecs.KindCall, Pos: s.open.pos, ID: wire.Scalar(call.Get("id")), Name: name})
	} else if sig := field(v, "thoughtSignature"); sig.Defined() {
		s.open.node.Member("thoughtSignature").Set(sig)
	}
	fn := callNode(s.open.node)
	for _, p := range pieces.Items() {
		s.argument(fn.Member("args"), p)
	}
	fn.Member("willContinue").Set(jsonx.Of([]byte("true")))
	if !more {
		fn.Member("willContinue").Drop()
		s.open = nil
	}
	return true
}

func callNode(part *jsonx.Node) *jsonx.Node {
	if n := part.Get("function_call"); n != nil {
		return n
	}
	return part.Member("functionCall")
}

// argument sets one value of the arguments, or adds to a text that is not complete.
func (s *stream) argument(args *jsonx.Node, v jsonx.Value) {
	path := field(v, "jsonPath").Str()
	at, ok := place(args, path)
	if !ok {
		s.Warn(codecs.WarnLossy, "/candidates/0/content/parts", "a piece of the arguments has the path %q, which cannot be followed", path)
		return
	}
	for _, key := range []string{"stringValue", "numberValue", "boolValue", "nullValue"} {
		value := field(v, key)
		switch {
		case !value.Exists():
		case key == "nullValue":
			at.Set(jsonx.Of([]byte("null")))
		case key == "stringValue" && s.open.grows == path:
			at.Append(value)
		default:
			at.Set(value)
		}
	}
	if s.open.grows = ""; field(v, "willContinue").Bool() {
		s.open.grows = path
		if at.Kind() == jsonx.Absent {
			at.SetStr("")
		}
	}
}

// deepest is how far a path may lead: each level costs the writer of the body one
// of its own.
const deepest = 512

// place follows a path such as $.a[0].b or $['a'], and makes what is missing.
func place(n *jsonx.Node, path string) (*jsonx.Node, bool) {
	rest, ok := strings.CutPrefix(path, "$")
	for depth := 0; ok && rest != ""; depth++ {
		if depth > deepest {
			return nil, false
		}
		var key string
		switch {
		case strings.HasPrefix(rest, "['") || strings.HasPrefix(rest, `["`):
			end := strings.Index(rest, rest[1:2]+"]")
			if end < 2 {
				return nil, false
			}
			key, rest = rest[2:end], rest[end+2:]
			n = n.Member(key)
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return nil, false
			}
			i, err := strconv.Atoi(rest[1:end])
			if err != nil || i < 0 || i > len(n.Items()) {
				return nil, false
			}
			if i == len(n.Items()) {
				n.Add()
			}
			n, rest = n.Items()[i], rest[end+1:]
		case rest[0] == '.':
			rest = rest[1:]
			end := strings.IndexAny(rest, ".[")
			if end < 0 {
				end = len(rest)
			}
			key, rest = rest[:end], rest[end:]
			n = n.Member(key)
		default:
			return nil, false
		}
	}
	return n, ok
}

func (s *stream) body() []byte { return s.root.Raw() }
