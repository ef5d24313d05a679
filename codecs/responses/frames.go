package responses

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// streamWays are those that streams of responses were seen in.
var streamWays = []string{
	wire.StreamWhole, wire.StreamIndexMissing, wire.StreamIndexZero, wire.StreamArgsInDone,
	wire.StreamOutputEmpty, wire.StreamBlockOpen, wire.StreamBreaksOff, wire.StreamErrorAfter,
}

// RenderStream encodes a response as events: each item added, filled and done, and
// the whole response with the last event. Source: the wire facts on streams, and the
// provider's schemas of its events.
func (c Codec) RenderStream(r codecs.Reply, p codecs.Profile, l codecs.Likeness, _ string) ([][]byte, []codecs.Warning, error) {
	w, body, warnings, err := wire.StreamOf(c, r, p, l)
	if err != nil {
		return nil, nil, err
	}
	s := &itemWriter{StreamWriter: w}
	v := jsonx.Of(body)
	begun := wire.With(v, wire.TextMember("status", "in_progress"), wire.RawMember("output", []byte("[]")), wire.RawMember("usage", []byte("null")),
		wire.RawMember("error", []byte("null")), wire.RawMember("incomplete_details", []byte("null")), wire.RawMember("completed_at", nil), wire.RawMember("output_text", nil))
	s.event("response.created", wire.RawMember("response", begun))
	s.event("response.in_progress", wire.RawMember("response", begun))
	for i, item := range v.Get("output").Items() {
		s.item(i, item)
	}
	switch {
	case s.Is(wire.StreamBreaksOff):
		return s.Frames, warnings, nil
	case s.Is(wire.StreamErrorAfter):
		e := jsonx.Of(wire.StreamError(c, p, l)).Get("error")
		s.event("error", jsonx.Member{Key: "code", Value: e.Get("code")}, jsonx.Member{Key: "message", Value: e.Get("message")}, wire.RawMember("param", []byte("null")))
		return s.Frames, warnings, nil
	}
	if s.Is(wire.StreamOutputEmpty) {
		v = jsonx.Of(wire.With(v, wire.RawMember("output", []byte("[]"))))
	}
	name := "response.completed"
	if status := v.Get("status").Str(); status == "incomplete" || status == "failed" {
		name = "response." + status
	}
	s.event(name, jsonx.Member{Key: "response", Value: v})
	return s.Frames, warnings, nil
}

// itemWriter numbers the events.
type itemWriter struct {
	*wire.StreamWriter
	sequence int
}

func (s *itemWriter) event(name string, members ...jsonx.Member) {
	n, _ := jsonx.Marshal(s.sequence)
	s.sequence++
	s.Event(name, wire.With(jsonx.Value{}, append([]jsonx.Member{wire.TextMember("type", name), wire.RawMember("sequence_number", n)}, members...)...))
}

func number(key string, i int) jsonx.Member {
	n, _ := jsonx.Marshal(i)
	return wire.RawMember(key, n)
}

// output is the index of item i as the stream has it.
func (s *itemWriter) output(i int) jsonx.Member {
	if s.Is(wire.StreamIndexMissing) {
		return wire.RawMember("output_index", nil)
	}
	if s.Is(wire.StreamIndexZero) {
		i = 0
	}
	return number("output_index", i)
}

func (s *itemWriter) item(i int, item jsonx.Value) {
	at := []jsonx.Member{s.output(i)}
	id := jsonx.Member{Key: "item_id", Value: item.Get("id")}
	inside := func(more ...jsonx.Member) []jsonx.Member { return append([]jsonx.Member{id, at[0]}, more...) }
	var status jsonx.Member
	if item.Get("status").Exists() {
		status = wire.TextMember("status", "in_progress")
	}
	add := func(members ...jsonx.Member) {
		s.event("response.output_item.added", append(at, wire.RawMember("item", wire.With(item, append(members, status)...)))...)
	}
	empty := codecs.Raw("[]")
	open := false
	switch typ := item.Get("type").Str(); {
	case typ == "message":
		add(wire.RawMember("content", empty))
		for k, part := range item.Get("content").Items() {
			s.part(inside(number("content_index", k)), part)
		}
		open = s.Is(wire.StreamBlockOpen)
	case typ == "function_call":
		add(wire.TextMember("arguments", ""))
		arguments := item.Get("arguments")
		if !s.Is(wire.StreamArgsInDone) {
			for _, piece := range s.Pieces(arguments.Str()) {
				s.event("response.function_call_arguments.delta", inside(wire.TextMember("delta", piece))...)
			}
		}
		s.event("response.function_call_arguments.done", inside(jsonx.Member{Key: "name", Value: item.Get("name")}, jsonx.Member{Key: "arguments", Value: arguments})...)
	case typ == "reasoning":
		members := []jsonx.Member{wire.RawMember("summary", empty)}
		if item.Get("content").IsArray() {
			members = append(members, wire.RawMember("content", empty))
		}
		add(members...)
		for k, part := range item.Get("summary").Items() {
			s.summary(inside(number("summary_index", k)), part)
		}
		for k, part := range item.Get("content").Items() {
			s.part(inside(number("content_index", k)), part)
		}
	default:
		add()
	}
	if !open {
		s.event("response.output_item.done", append(at, jsonx.Member{Key: "item", Value: item})...)
	}
}

// texts are the names of the events of a part, by its type, and the member that
// grows.
var texts = map[string][2]string{
	"output_text": {"response.output_text", "text"}, "refusal": {"response.refusal", "refusal"}, "reasoning_text": {"response.reasoning_text", "text"},
}

func (s *itemWriter) part(at []jsonx.Member, part jsonx.Value) {
	typ := part.Get("type").Str()
	names, ok := texts[typ]
	if !ok {
		s.event("response.content_part.added", append(at, jsonx.Member{Key: "part", Value: part})...)
		s.event("response.content_part.done", append(at, jsonx.Member{Key: "part", Value: part})...)
		return
	}
	begun := []jsonx.Member{wire.TextMember(names[1], "")}
	notes := part.Get("annotations")
	if notes.Len() > 0 {
		begun = append(begun, wire.RawMember("annotations", []byte("[]")))
	}
	var logprobs jsonx.Member
	if typ == "output_text" {
		logprobs = wire.RawMember("logprobs", []byte("[]"))
	}
	s.event("response.content_part.added", append(at, wire.RawMember("part", wire.With(part, begun...)))...)
	for _, piece := range s.Pieces(part.Get(names[1]).Str()) {
		s.event(names[0]+".delta", append(at, wire.TextMember("delta", piece), logprobs)...)
	}
	for n, note := range notes.Items() {
		s.event("response.output_text.annotation.added", append(at, number("annotation_index", n), jsonx.Member{Key: "annotation", Value: note})...)
	}
	s.event(names[0]+".done", append(at, jsonx.Member{Key: names[1], Value: part.Get(names[1])}, logprobs)...)
	s.event("response.content_part.done", append(at, jsonx.Member{Key: "part", Value: part})...)
}

func (s *itemWriter) summary(at []jsonx.Member, part jsonx.Value) {
	s.event("response.reasoning_summary_part.added", append(at, wire.RawMember("part", wire.With(part, wire.TextMember("text", ""))))...)
	for _, piece := range s.Pieces(part.Get("text").Str()) {
		s.event("response.reasoning_summary_text.delta", append(at, wire.TextMember("delta", piece))...)
	}
	s.event("response.reasoning_summary_text.done", append(at, jsonx.Member{Key: "text", Value: part.Get("text")})...)
	s.event("response.reasoning_summary_part.done", append(at, jsonx.Member{Key: "part", Value: part})...)
}
