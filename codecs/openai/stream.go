package openai

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/sse"
	"github.com/toolconform/conform/internal/tags"
	"github.com/toolconform/conform/internal/wire"
)

// Stream reads the chunks of a chat completion. The end is said by a finish
// reason; [DONE] alone says it for text, since many hosts leave one of the two
// out. A stream that ends with neither, or with calls and without a reason,
// broke off. Source: spec 2.10, rows SM01 to SM06.
func (c Codec) Stream(p codecs.Profile) codecs.Decoder {
	return NewStream(c, p, tags.Scanner{Think: wire.ThinkTag(p)})
}

// NewStream returns the decoder for a dialect that travels over chat completions:
// its codec decodes the rebuilt body, scan tells which markup in text is no text.
func NewStream(c codecs.Codec, p codecs.Profile, scan tags.Scanner) codecs.Decoder {
	s := &stream{texts: textKeys(p)}
	s.StreamReader = wire.StreamReader{
		Codec: c, Profile: p, Frames: &sse.Events{}, Frame: s.chunk,
		Body: s.body, Done: s.done, Tagged: tags.Feeder{Scanner: scan},
	}
	return s
}

// stream puts a body together. The message of each choice grows with its deltas.
type stream struct {
	wire.StreamReader
	root   jsonx.Node
	texts  []string // keys of a delta whose strings are pieces of one text
	calls  calls
	ending bool // a finish reason came
}

// textKeys are the keys of a delta that grow; every other key is whole where it
// comes.
func textKeys(p codecs.Profile) []string {
	return slices.Concat([]string{"refusal"}, reasoningKeys, p.ReasoningFields)
}

func (s *stream) done() bool {
	return s.ending || s.Complete && len(s.calls.list) == 0
}

func (s *stream) chunk(_ string, v jsonx.Value) error {
	if v.Get("error").Defined() || v.Get("choices").Len() == 0 && !v.Get("usage").Exists() && isError(v) {
		return s.Failed(v.Raw(), "")
	}
	for _, m := range v.Members() {
		switch m.Key {
		case "choices":
			for i, choice := range m.Value.Items() {
				if err := s.choice(i, choice, v); err != nil {
					return err
				}
			}
		case "object":
			if n := s.root.Member("object"); n.Kind() == jsonx.Absent {
				n.SetStr(strings.TrimSuffix(m.Value.Str(), ".chunk"))
			}
		case "id", "model", "created":
			if old := s.root.Member(m.Key); m.Value.Defined() && m.Value.Str() != "" || old.Kind() == jsonx.Absent {
				first(old, m.Value)
			}
		default:
			s.root.Member(m.Key).Fill(m.Value)
		}
	}
	return nil
}

// isError tells whether a frame without choices is an error of the flat form.
func isError(v jsonx.Value) bool {
	message, _, ok := envelope(v)
	return ok && message != "" && v.Get("object").Str() == ""
}

// first sets a value that no earlier chunk had; an empty one gives way.
func first(n *jsonx.Node, v jsonx.Value) {
	if k := n.Kind(); k == jsonx.Absent || k == jsonx.Null || k == jsonx.String && n.Size() == 0 {
		n.Set(v)
	}
}

func (s *stream) choice(i int, v, chunk jsonx.Value) error {
	if v.Get("error").Defined() {
		return s.Failed(v.Raw(), "")
	}
	n, numbered := v.Get("index").Int()
	if !numbered {
		n = int64(i)
	}
	into := s.choiceAt(n)
	if into == nil {
		return nil
	}
	for _, m := range v.Members() {
		switch m.Key {
		case "delta", "message":
			if m.Key == "message" && v.Get("delta").IsObject() {
				continue // the whole so far, beside the piece (Perplexity)
			}
			s.delta(into.Member("message"), m.Value, n == 0)
		case "finish_reason":
			if r := wire.Scalar(m.Value); r != "" {
				into.Member(m.Key).Set(m.Value)
				if n == 0 {
					s.ending = true
					s.EndVisible()
				}
				if r == codecs.FinishError {
					return s.Failed(chunk.Raw(), "")
				}
			} else if into.Member(m.Key).Kind() == jsonx.Absent {
				into.Member(m.Key).Set(m.Value)
			}
		case "logprobs":
			grow(into.Member(m.Key), m.Value)
		default:
			into.Member(m.Key).Fill(m.Value)
		}
	}
	return nil
}

// maxChoices bounds what one index can ask for.
const maxChoices = 128

func (s *stream) choiceAt(n int64) *jsonx.Node {
	list := s.root.Member("choices")
	if n < 0 || n >= maxChoices {
		s.Warn(codecs.WarnLossy, "/choices", "a choice of index %d is left out", n)
		return nil
	}
	for len(list.Items()) <= int(n) {
		list.Add().Member("index").Set(jsonx.Of(fmt.Appendf(nil, "%d", len(list.Items())-1)))
	}
	return list.Items()[n]
}

// grow adds the lists inside an object to those that are there.
func grow(n *jsonx.Node, v jsonx.Value) {
	if !v.IsObject() {
		if n.Kind() == jsonx.Absent {
			n.Set(v)
		}
		return
	}
	for _, m := range v.Members() {
		if !m.Value.IsArray() {
			n.Member(m.Key).Fill(m.Value)
			continue
		}
		for _, item := range m.Value.Items() {
			n.Member(m.Key).Add().Set(item)
		}
	}
}

// delta adds a piece of a message.
func (s *stream) delta(msg *jsonx.Node, v jsonx.Value, shown bool) {
	for _, m := range v.Members() {
		switch {
		case m.Key == "content":
			s.content(msg.Member("content"), m.Value, shown)
		case m.Key == "tool_calls":
			for i, item := range m.Value.Items() {
				s.call(msg, i, item, m.Value.Len(), shown)
			}
		case m.Key == "function_call":
			fn := msg.Member(m.Key)
			first(fn.Member("name"), m.Value.Get("name"))
			fn.Member("arguments").Append(m.Value.Get("arguments"))
			if shown {
				s.Emit(codecs.Event{Kind: codecs.KindCall, Name: m.Value.Get("name").Str(), Text: m.Value.Get("arguments").Str()})
			}
		case m.Key == detailsKey:
			s.details(msg.Member(m.Key), m.Value)
		case m.Key == "audio" && m.Value.IsObject():
			audio := msg.Member(m.Key)
			for _, a := range m.Value.Members() {
				if a.Key == "data" || a.Key == "transcript" {
					audio.Member(a.Key).Append(a.Value)
				} else if a.Value.Defined() {
					audio.Member(a.Key).Set(a.Value)
				}
			}
		case m.Key == "images", m.Key == "annotations":
			for _, item := range m.Value.Items() {
				msg.Member(m.Key).Add().Set(item)
			}
		case m.Key == "executed_tools":
			byIndex(msg.Member(m.Key), m.Value)
		case slices.Contains(s.texts, m.Key):
			msg.Member(m.Key).Append(m.Value)
			if shown && m.Key != "refusal" && !s.spoken(v, m.Key) {
				s.EmitText(codecs.KindReasoning, m.Value.Str())
			}
		case m.Value.Defined() && m.Value.Str() != "" || m.Value.Defined() && m.Value.Kind() != jsonx.String,
			msg.Member(m.Key).Kind() == jsonx.Absent:
			msg.Member(m.Key).Set(m.Value)
		}
	}
}

// spoken tells whether an earlier key of the delta carries the same reasoning:
// some hosts send it under two names.
func (s *stream) spoken(v jsonx.Value, key string) bool {
	for _, k := range s.texts {
		if k == key {
			return false
		}
		if k != "refusal" && v.Get(k).Str() != "" {
			return true
		}
	}
	return false
}

// byIndex merges entries that come whole, each under its index: a later one
// completes an earlier one.
func byIndex(n *jsonx.Node, v jsonx.Value) {
	for i, item := range v.Items() {
		at := i
		if index, ok := item.Get("index").Int(); ok && index >= 0 && index <= int64(len(n.Items())) {
			at = int(index)
		}
		for len(n.Items()) <= at {
			n.Add()
		}
		for _, m := range item.Members() {
			if m.Value.Defined() {
				n.Items()[at].Member(m.Key).Set(m.Value)
			}
		}
	}
}

// content adds a piece of content: a text, or chunks of which neighbours of the
// same kind are one.
func (s *stream) content(n *jsonx.Node, v jsonx.Value, shown bool) {
	if !v.IsArray() {
		if last := lastItem(n); last != nil && v.Kind() == jsonx.String {
			s.chunkOf(n, "text", "text", v)
		} else {
			n.Append(v)
		}
		if shown {
			s.Visible(v.Str())
		}
		return
	}
	if n.Kind() == jsonx.String && n.Size() > 0 {
		text := n.Raw()
		n.Drop()
		s.chunkOf(n, "text", "text", jsonx.Of(text))
	}
	for _, item := range v.Items() {
		typ := item.Get("type").Str()
		switch {
		case item.Kind() == jsonx.String:
			s.chunkOf(n, "text", "text", item)
			if shown {
				s.Visible(item.Str())
			}
		case typ == "text" && item.Len() == 2:
			s.chunkOf(n, typ, "text", item.Get("text"))
			if shown {
				s.Visible(item.Get("text").Str())
			}
		case typ == "thinking":
			s.thinking(n, item, shown)
		default:
			n.Add().Set(item)
		}
	}
	if n.Kind() != jsonx.Array {
		n.Set(v)
	}
}

func lastItem(n *jsonx.Node) *jsonx.Node {
	if items := n.Items(); len(items) > 0 {
		return items[len(items)-1]
	}
	return nil
}

func (s *stream) chunkOf(n *jsonx.Node, typ, key string, text jsonx.Value) {
	last := lastItem(n)
	if last == nil || last.Get("type").Text() != typ {
		last = n.Add()
		last.Member("type").SetStr(typ)
	}
	last.Member(key).Append(text)
}

// thinking adds a thinking chunk (Mistral): its inner texts are pieces of one.
func (s *stream) thinking(n *jsonx.Node, item jsonx.Value, shown bool) {
	last := lastItem(n)
	if last == nil || last.Get("type").Text() != "thinking" {
		last = n.Add()
		last.Member("type").SetStr("thinking")
	}
	for _, m := range item.Members() {
		switch {
		case m.Key == "type":
		case m.Key == "thinking" && m.Value.Kind() == jsonx.String:
			last.Member(m.Key).Append(m.Value)
		case m.Key == "thinking":
			for _, inner := range m.Value.Items() {
				s.chunkOf(last.Member(m.Key), "text", "text", inner.Get("text"))
			}
		case m.Value.Defined():
			last.Member(m.Key).Set(m.Value)
		}
	}
	if shown {
		s.EmitText(codecs.KindReasoning, thinkingPart(item).Text)
	}
}

// details adds reasoning_details. Neighbouring texts of one index are one; what
// is encrypted is whole.
func (s *stream) details(n *jsonx.Node, v jsonx.Value) {
	if n.Kind() == jsonx.Absent && v.IsArray() && v.Len() == 0 {
		n.Set(v)
	}
	for _, item := range v.Items() {
		last := lastItem(n)
		typ := item.Get("type").Str()
		key := map[string]string{"reasoning.text": "text", "reasoning.summary": "summary"}[typ]
		if last == nil || key == "" || last.Get("type").Text() != typ || string(last.Get("index").Raw()) != string(item.Get("index").Raw()) {
			n.Add().Set(item)
			continue
		}
		for _, m := range item.Members() {
			switch {
			case m.Key == key:
				last.Member(key).Append(m.Value)
			case m.Value.Defined():
				last.Member(m.Key).Set(m.Value)
			}
		}
	}
}

func (s *stream) body() []byte {
	for _, choice := range s.root.Member("choices").Items() {
		if choice.Get("message") == nil {
			choice.Member("message").Member("role").SetStr("assistant")
		}
		if m := choice.Member("message"); m.Get("content") == nil && m.Get("tool_calls") != nil {
			m.Member("content").Set(jsonx.Of([]byte("null"))) // as a body has it
		}
	}
	return s.root.Raw()
}

// calls tells which call of tool_calls a piece belongs to.
type calls struct {
	list    []*growing
	byIndex map[int64]*growing
	byID    map[string]*growing
}

// growing is one call.
type growing struct {
	node *jsonx.Node
	pos  int
	id   string
	name string
	args int // bytes of arguments so far
	ends wire.ValueEnd
}

// whole tells whether the arguments so far are a JSON value.
func (g *growing) whole() bool {
	if !g.ends.Maybe() {
		return false
	}
	args := g.node.Member("function").Get("arguments")
	if args == nil || args.Kind() == jsonx.Object {
		return args != nil
	}
	ok := jsonx.Check([]byte(args.Text())) == nil
	if !ok {
		g.ends.Refused()
	}
	return ok
}

// find returns the call that the piece at place i of n goes on with, nil when it
// begins a new one. The index counts, then the id, then the place; but hosts
// number all calls 0, repeat the name in every piece, or leave index and id out.
func (c *calls) find(i, n int, item jsonx.Value) *growing {
	id, name := callID(item), item.Path("function", "name").Str()
	args := item.Path("function", "arguments")
	var g *growing
	index, numbered := item.Get("index").Int()
	switch {
	case numbered:
		g = c.byIndex[index]
	case id != "":
		return c.byID[id]
	case n > 1 && i < len(c.list) && name == "":
		g = c.list[i]
	case len(c.list) > 0:
		g = c.list[len(c.list)-1]
	}
	switch {
	case g == nil:
		return nil
	case name == "":
		return g
	case id != "" && g.id != "" && id != g.id: // another call under the same index
		return nil
	case id != "" && id == g.id:
		return g
	case g.args > 0 && (args.Str() != "" || args.IsObject() || name != g.name) && g.whole(): // a call with a name after one that is complete
		return nil
	case !numbered && g.name != name && g.args > 0:
		return nil
	}
	return g
}

// call adds a piece of a call.
func (s *stream) call(msg *jsonx.Node, i int, item jsonx.Value, n int, shown bool) {
	if !shown {
		msg.Member("tool_calls").Add().Set(item)
		return
	}
	c := &s.calls
	g := c.find(i, n, item)
	index, numbered := item.Get("index").Int()
	if !numbered {
		s.Warn(codecs.WarnStreamIndex, "/choices/0/message/tool_calls", "a piece of a call has no index")
	}
	begun := g == nil
	if begun {
		if numbered && c.byIndex[index] != nil {
			s.Warn(codecs.WarnStreamIndex, "/choices/0/message/tool_calls", "two calls have the index %d", index)
		}
		g = &growing{node: msg.Member("tool_calls").Add(), pos: len(c.list)}
		c.list = append(c.list, g)
		if c.byIndex == nil {
			c.byIndex, c.byID = map[int64]*growing{}, map[string]*growing{}
		}
	}
	if numbered {
		c.byIndex[index] = g
	}
	event := codecs.Event{Kind: codecs.KindCall, Pos: g.pos}
	if id := callID(item); id != "" && g.id == "" {
		g.id, event.ID, c.byID[id] = id, id, g
	}
	for _, m := range item.Members() {
		switch {
		case m.Key == "function":
			event.Name, event.Text = s.function(g, m.Value)
		case m.Key == "index":
		case m.Key == "id":
			if g.id != "" || begun {
				first(g.node.Member("id"), m.Value)
			}
		default:
			g.node.Member(m.Key).Fill(m.Value)
		}
	}
	if event.ID != "" || event.Name != "" || event.Text != "" {
		s.Emit(event)
	}
}

// function adds the function of a piece: the name whole, once, or in pieces
// before the arguments; the arguments as text that grows, or whole.
func (s *stream) function(g *growing, v jsonx.Value) (name, text string) {
	fn := g.node.Member("function")
	begun := g.args > 0 // in an earlier piece: the order of the keys says nothing
	for _, m := range v.Members() {
		n := fn.Member(m.Key)
		switch m.Key {
		case "name":
			piece := m.Value.Str()
			switch {
			case piece == "" && n.Kind() == jsonx.Absent, n.Kind() != jsonx.String, n.Size() == 0:
				n.Set(m.Value)
				g.name, name = piece, piece
			case piece == "" || piece == g.name || begun:
			case strings.HasPrefix(piece, g.name): // said again, longer
				name = piece[len(g.name):]
				g.name = piece
				n.Set(m.Value)
			default:
				n.Append(m.Value)
				g.name, name = g.name+piece, piece
			}
		case "arguments":
			if m.Value.Defined() || n.Kind() == jsonx.Absent {
				n.Append(m.Value)
				text = m.Value.Str()
				if m.Value.IsObject() {
					text = string(m.Value.Raw())
				}
				g.args += len(text)
				g.ends.Add(text)
			}
		default:
			n.Fill(m.Value)
		}
	}
	return name, text
}
