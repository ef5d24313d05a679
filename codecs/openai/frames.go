package openai

import (
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// streamWays are those that chat completions were seen in.
var streamWays = []string{
	wire.StreamWhole, wire.StreamCallsWhole, wire.StreamUsageFinish, wire.StreamUsageEach, wire.StreamUsageNever, wire.StreamRoleEach,
	wire.StreamDoneMissing, wire.StreamIndexMissing, wire.StreamIndexZero, wire.StreamIDLate, wire.StreamIDRepeated,
	wire.StreamNameRepeated, wire.StreamBreaksOff, wire.StreamErrorAfter,
}

// RenderStream encodes a reply as chunks of a chat completion: the role, reasoning,
// text and calls in pieces, the finish reason, usage in a chunk of its own, [DONE].
// Source: the wire facts on streams, and counts over recorded ones.
func (c Codec) RenderStream(r codecs.Reply, p codecs.Profile, l codecs.Likeness, _ string) ([][]byte, []codecs.Warning, error) {
	body, warnings, err := c.RenderReply(r, p, l)
	if err != nil {
		return nil, nil, err
	}
	frames, err := Chunks(c, body, p, l)
	return frames, warnings, err
}

// Chunks cuts the body of a chat completion into those of a stream, for a dialect
// that travels over chat completions too.
func Chunks(c codecs.Full, body codecs.Raw, p codecs.Profile, l codecs.Likeness) ([][]byte, error) {
	w, err := wire.NewStreamWriter(c, l)
	if err != nil {
		return nil, err
	}
	v := jsonx.Of(body)
	choice := v.Get("choices").At(0)
	if !choice.IsObject() {
		w.Data(body) // an error inside a 200
		return w.Frames, nil
	}
	s := chunker{StreamWriter: w, base: v, choice: choice}
	keys := slices.Concat(reasoningKeys, p.ReasoningFields)
	s.message(choice.Get("message"), slices.DeleteFunc(keys, func(key string) bool { return key == "content" })) // Mistral: in chunks there
	switch {
	case w.Is(wire.StreamBreaksOff):
		return w.Frames, nil
	case w.Is(wire.StreamErrorAfter):
		w.Data(wire.StreamError(c, p, l))
		return w.Frames, nil
	}
	s.finish()
	if !w.Is(wire.StreamDoneMissing) {
		w.Data([]byte("[DONE]"))
	}
	return w.Frames, nil
}

// chunker writes chunks.
type chunker struct {
	*wire.StreamWriter
	base, choice jsonx.Value
}

// chunk writes one, with what is the same in all of them. A nil finish is one that
// has not come; usage that is absent stands in no chunk of this kind.
func (s *chunker) chunk(delta codecs.Raw, finish, usage jsonx.Value) {
	choices := codecs.Raw("[]")
	if delta != nil {
		var f jsonx.Fields
		f.Set("index", s.choice.Get("index").Raw()).Set("delta", delta)
		for _, m := range s.choice.Members() {
			end := m.Key == "finish_reason" || m.Key == "native_finish_reason" // comes with the end
			if m.Key != "message" && (!end || finish.Exists()) {
				f.Set(m.Key, m.Value.Raw())
			} else if m.Key == "finish_reason" {
				f.Set(m.Key, codecs.Raw("null"))
			}
		}
		choices = jsonx.List(f.Raw())
	}
	if s.Is(wire.StreamUsageEach) {
		usage = s.base.Get("usage")
	}
	members := []jsonx.Member{wire.RawMember("choices", choices), {Key: "usage", Value: usage}}
	if s.base.Get("object").Exists() {
		members = append(members, wire.TextMember("object", "chat.completion.chunk"))
	}
	s.Data(wire.With(s.base, members...))
}

func (s *chunker) delta(f *jsonx.Fields) {
	if s.Is(wire.StreamRoleEach) {
		f.Str("role", "assistant")
	}
	s.chunk(f.Raw(), jsonx.Value{}, jsonx.Value{})
}

// message writes the deltas of a message: reasoning, text, what comes whole, calls.
func (s *chunker) message(msg jsonx.Value, reasoning []string) {
	var first jsonx.Fields
	first.Set("role", msg.Get("role").Raw())
	if content := msg.Get("content"); content.Kind() == jsonx.String {
		first.Str("content", "")
	} else if content.Kind() == jsonx.Null {
		first.Set("content", content.Raw())
	}
	s.chunk(first.Raw(), jsonx.Value{}, jsonx.Value{})
	s.reasoning(msg, reasoning)
	for _, m := range msg.Members() {
		switch {
		case m.Key == "role" || m.Key == "tool_calls" || slices.Contains(reasoning, m.Key) || wire.Hollow(m.Value):
		case (m.Key == "content" || m.Key == "refusal") && m.Value.Kind() == jsonx.String:
			for _, piece := range s.Pieces(m.Value.Str()) {
				s.delta((&jsonx.Fields{}).Str(m.Key, piece))
			}
		case m.Key == "content":
			for _, item := range m.Value.Items() {
				s.delta((&jsonx.Fields{}).Set(m.Key, jsonx.List(item.Raw())))
			}
		default:
			s.delta((&jsonx.Fields{}).Set(m.Key, m.Value.Raw()))
		}
	}
	for i, call := range msg.Get("tool_calls").Items() {
		s.call(i, call)
	}
}

// reasoning writes the pieces of reasoning under each key that has it: some hosts
// say the same under two.
func (s *chunker) reasoning(msg jsonx.Value, keys []string) {
	said := map[string][]string{}
	var order []string
	for _, m := range msg.Members() {
		if text := m.Value.Str(); text != "" && slices.Contains(keys, m.Key) {
			if said[text] == nil {
				order = append(order, text)
			}
			said[text] = append(said[text], m.Key)
		}
	}
	for _, text := range order {
		for _, piece := range s.Pieces(text) {
			var f jsonx.Fields
			for _, key := range said[text] {
				f.Str(key, piece)
			}
			s.delta(&f)
		}
	}
}

// call writes the pieces of a call: its id and name, then its arguments.
func (s *chunker) call(i int, call jsonx.Value) {
	fn := call.Get("function")
	arguments, isText := fn.Get("arguments").Text()
	pieces := s.Pieces(arguments)
	if s.Is(wire.StreamWhole) || s.Is(wire.StreamCallsWhole) || !fn.IsObject() || !isText {
		pieces = nil
	}
	var index codecs.Raw
	if n, _ := jsonx.Marshal(i); s.Is(wire.StreamIndexZero) {
		index = codecs.Raw("0")
	} else if !s.Is(wire.StreamIndexMissing) {
		index = n
	}
	piece := func(at int, whole bool, arguments string) {
		members := []jsonx.Member{}
		var f jsonx.Fields
		f.Set("index", index)
		when := 0
		if s.Is(wire.StreamIDLate) {
			when = len(pieces)
		}
		if s.Is(wire.StreamIDRepeated) || at == when {
			f.Set("id", call.Get("id").Raw())
		}
		if whole {
			members = call.Members()
		}
		for _, m := range members {
			if m.Key != "id" && m.Key != "function" {
				f.Set(m.Key, m.Value.Raw())
			}
		}
		var in jsonx.Fields
		switch {
		case whole && pieces == nil:
			f.Set("function", fn.Raw())
			s.calls(&f)
			return
		case whole:
			in.Merge(wire.With(fn, wire.RawMember("arguments", nil)))
		case s.Is(wire.StreamNameRepeated):
			in.Set("name", fn.Get("name").Raw())
		}
		f.Set("function", in.Str("arguments", arguments).Raw())
		s.calls(&f)
	}
	piece(0, true, "")
	for n, text := range pieces {
		piece(n+1, false, text)
	}
}

func (s *chunker) calls(call *jsonx.Fields) {
	s.delta((&jsonx.Fields{}).Set("tool_calls", jsonx.List(call.Raw())))
}

// finish writes the finish reason, and usage in its place.
func (s *chunker) finish() {
	usage := s.base.Get("usage")
	var with jsonx.Value
	if s.Is(wire.StreamUsageFinish) {
		with = usage
	}
	finish := s.choice.Get("finish_reason")
	if !finish.Exists() {
		finish = jsonx.Of([]byte("null"))
	}
	var f jsonx.Fields
	if s.Is(wire.StreamRoleEach) {
		f.Str("role", "assistant")
	}
	s.chunk(f.Raw(), finish, with)
	own := usage.Defined() && !with.Exists() && !s.Is(wire.StreamUsageEach) && !s.Is(wire.StreamUsageNever)
	if own {
		s.chunk(nil, jsonx.Value{}, usage)
	}
}
