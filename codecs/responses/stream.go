package responses

import (
	"cmp"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/sse"
	"github.com/toolconform/conform/internal/wire"
)

// Stream reads the events of a response. The terminal event has the response;
// its items are those of the output_item.done events where those differ, and all
// of them where its output is empty (the ChatGPT backend). Items are told apart
// by output_index, by item_id where there is none (llama-server). Source: spec
// 2.10, row SM10, and the facts on streams of this wire.
func (c Codec) Stream(p codecs.Profile) codecs.Decoder {
	s := &stream{}
	s.StreamReader = wire.StreamReader{
		Codec: c, Profile: p, Tagged: wire.ThinkFeeder(p), Frames: &sse.Events{}, Frame: s.event, Body: s.body, Done: func() bool { return s.ended },
	}
	return s
}

type stream struct {
	wire.StreamReader
	root    jsonx.Node // the response as the last event that has it tells
	items   []*item
	byID    map[string]*item
	byIndex map[int64]*item // the last one under an index; -1 the last one without
	calls   int
	ended   bool
}

// item is one item of the output as its events tell it.
type item struct {
	index int64 // -1 when no event says
	id    string
	typ   string
	done  jsonx.Node // of output_item.done
	grows jsonx.Node // of output_item.added, with what the deltas add
	shown bool       // a delta was shown
	pos   int        // of a call among the calls
	whole bool       // the last piece of what grows was said to be
}

// terminal are the events that end a response, and the status that each means.
var terminal = map[string]string{
	"response.completed": "completed", "response.done": "completed", "response.incomplete": "incomplete", "response.failed": "failed",
}

func (s *stream) event(name string, v jsonx.Value) error {
	typ := v.Get("type").Str()
	if typ == "" {
		typ = name
	}
	if typ == "error" || typ == "" && v.Get("error").Defined() {
		return s.Failed(v.Raw(), "")
	}
	if r := v.Get("response"); r.IsObject() {
		for _, m := range r.Members() {
			s.root.Member(m.Key).Set(m.Value)
		}
	}
	if status, ok := terminal[typ]; ok {
		if !v.Path("response", "status").Defined() {
			s.root.Member("status").SetStr(status)
		}
		s.ended, s.Complete = true, true
		if status == "failed" {
			_, err := s.Codec.Reply(s.body(), s.Profile)
			if err == nil {
				err = s.Failed(v.Raw(), "")
			}
			return err
		}
		return nil
	}
	rest, ok := strings.CutPrefix(typ, "response.")
	if !ok {
		return nil
	}
	switch rest {
	case "output_item.added":
		s.added(s.item(v), v.Get("item"))
	case "output_item.done":
		s.finished(v)
	default:
		s.grown(rest, v)
	}
	return nil
}

// item finds the item that an event is about, or makes it. An index counts, but
// Ollama gives two items the same one: then the id tells them apart.
func (s *stream) item(v jsonx.Value) *item {
	index, numbered := v.Get("output_index").Int()
	id := wire.Scalar(v.Get("item_id"))
	of := v.Get("item")
	if of.IsObject() {
		id = wire.Scalar(of.Get("id"))
	}
	if !numbered {
		index = -1
		s.Warn(codecs.WarnStreamIndex, "/output", "an event of an item has no output_index")
	}
	if it := s.byID[id]; it != nil && id != "" && (!numbered || it.index == index) {
		return it
	}
	switch it := s.byIndex[index]; {
	case it == nil:
	case numbered && of.IsObject() && it.started(of):
		s.Warn(codecs.WarnStreamIndex, "/output", "two items have the output_index %d", index)
	case numbered, id == "":
		return it
	}
	it := &item{index: index, id: id, pos: -1}
	s.items = append(s.items, it)
	if s.byID == nil {
		s.byID, s.byIndex = map[string]*item{}, map[int64]*item{}
	}
	s.byID[id], s.byIndex[index] = it, it
	return it
}

// started tells whether it is another item than the one that an event has under
// the same index: of another type, or whole already.
func (it *item) started(of jsonx.Value) bool {
	return it.typ != "" && (it.typ != itemType(of) || it.done.Kind() != jsonx.Absent)
}

func (s *stream) added(it *item, v jsonx.Value) {
	it.typ = itemType(v)
	it.grows.Set(v)
	if it.typ == typeCall && it.pos < 0 {
		it.pos = s.calls
		s.calls++
		s.Emit(codecs.Event{Kind: codecs.KindCall, Pos: it.pos, ID: callID(v), Name: v.Get("name").Str(), Text: v.Get("arguments").Str()})
		it.shown = v.Get("arguments").Str() != ""
	}
}

func (s *stream) finished(v jsonx.Value) {
	of := v.Get("item")
	if !of.IsObject() {
		return
	}
	known := len(s.items)
	it := s.item(v)
	if known < len(s.items) {
		s.Warn(codecs.WarnStreamBlock, "/output", "an item is done that was not added")
		s.added(it, of)
	}
	if it.typ == "" {
		it.typ = itemType(of)
	}
	it.done.Set(of)
	s.EndVisible()
	if it.shown {
		return
	}
	it.shown = true
	switch it.typ { // what no delta told
	case typeCall:
		if args := of.Get("arguments").Str(); args != "" && it.pos >= 0 {
			s.Emit(codecs.Event{Kind: codecs.KindCall, Pos: it.pos, Text: args})
		}
	case typeMessage:
		for _, b := range of.Get("content").Items() {
			s.Visible(b.Get("text").Str())
		}
		s.EndVisible()
	}
}

// growing are the events that add to an item: the list and the key that grow, the
// type of the blocks of that list, and the event's own index into it.
var growing = map[string]struct{ list, index, typ, key string }{
	"output_text":                {"content", "content_index", "output_text", "text"},
	"refusal":                    {"content", "content_index", typeRefusal, "refusal"},
	"reasoning_text":             {"content", "content_index", "reasoning_text", "text"},
	"reasoning_summary_text":     {"summary", "summary_index", "summary_text", "text"},
	"function_call_arguments":    {"", "", "", "arguments"},
	"mcp_call_arguments":         {"", "", "", "arguments"},
	"custom_tool_call_input":     {"", "", "", "input"},
	"code_interpreter_call_code": {"", "", "", "code"},
}

// grown adds a delta to its item; a done event has the whole, which counts.
func (s *stream) grown(event string, v jsonx.Value) {
	what, stage, _ := cutLast(event)
	g, ok := growing[what]
	if !ok || stage != "delta" && stage != "done" {
		return
	}
	it := s.item(v)
	if it.typ == "" {
		s.Warn(codecs.WarnStreamBlock, "/output", "a delta came before its item")
	}
	n := it.grows.Member(g.key)
	if g.list != "" {
		list := it.grows.Member(g.list)
		at, ok := v.Get(g.index).Int()
		if !ok || at < 0 || at > int64(len(list.Items())) {
			at = int64(max(0, len(list.Items())-1))
		}
		for int64(len(list.Items())) <= at {
			list.Add().Member("type").SetStr(g.typ)
		}
		n = list.Items()[at].Member(g.key)
	}
	if stage == "done" {
		it.whole = true
		if whole := v.Get(g.key); whole.Defined() {
			n.Set(whole)
		}
		return
	}
	piece := v.Get("delta")
	n.Append(piece)
	switch text := piece.Str(); {
	case text == "":
	case what == "output_text":
		it.shown = true
		s.Visible(text)
	case strings.HasPrefix(what, "reasoning"):
		s.EmitText(codecs.KindReasoning, text)
	case what == "function_call_arguments" && it.pos >= 0:
		it.shown = true
		s.Emit(codecs.Event{Kind: codecs.KindCall, Pos: it.pos, Text: text})
	}
}

func cutLast(s string) (before, after string, ok bool) {
	if i := strings.LastIndexByte(s, '.'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}

// value is the item as it goes into the body: as it was when it was done, else
// as far as it came.
func (s *stream) value(it *item) jsonx.Value {
	if it.done.Kind() != jsonx.Absent {
		return jsonx.Of(it.done.Raw())
	}
	if it.grows.Kind() == jsonx.Absent {
		return jsonx.Value{}
	}
	s.Warn(codecs.WarnStreamBlock, "/output", "an item was not closed")
	if it.grows.Get("status") != nil {
		status := "completed"
		if it.typ == typeCall && !it.whole || s.root.Get("status").Text() != status {
			status = "incomplete"
		}
		it.grows.Member("status").SetStr(status)
	}
	return jsonx.Of(it.grows.Raw())
}

// body writes the response: the items that the terminal event has, each as its
// done event had it. Where it leaves some out, the items are in the order of
// their events.
func (s *stream) body() []byte {
	if s.root.Kind() == jsonx.Absent {
		s.root.Member("object").SetStr("response")
	}
	last := jsonx.Of(s.root.Member("output").Raw()).Items()
	of, alone := s.match(last)
	var output jsonx.Node
	output.Set(jsonx.Of([]byte("[]")))
	if len(of) < len(s.items) {
		items := slices.Clone(s.items)
		if !slices.ContainsFunc(items, func(it *item) bool { return it.index < 0 }) {
			slices.SortStableFunc(items, func(a, b *item) int { return cmp.Compare(a.index, b.index) })
		}
		for _, it := range items {
			if v := s.value(it); v.Exists() {
				output.Add().Set(v)
			} else if i, ok := of[it]; ok {
				output.Add().Set(last[i])
			}
		}
		for _, i := range alone {
			output.Add().Set(last[i])
		}
	} else {
		at := make([]*item, len(last))
		for it, i := range of {
			at[i] = it
		}
		for i, v := range last {
			if it := at[i]; it != nil && it.done.Kind() != jsonx.Absent {
				v = s.value(it)
			}
			output.Add().Set(v)
		}
	}
	s.root.Member("output").Set(jsonx.Of(output.Raw()))
	return s.root.Raw()
}

// match tells which element of the terminal event's output an item is: by its
// id, else by its place and type, since some proxies change ids between events.
// alone are the elements that no item is.
func (s *stream) match(last []jsonx.Value) (of map[*item]int, alone []int) {
	of = map[*item]int{}
	ids := map[string]*item{}
	for _, it := range s.items {
		ids[it.id] = it
		ids[wire.Scalar(jsonx.Of(it.done.Raw()).Get("id"))] = it
	}
	for i, v := range last {
		it := ids[wire.Scalar(v.Get("id"))]
		if it == nil || wire.Scalar(v.Get("id")) == "" {
			it = s.byIndex[int64(i)]
		}
		if it == nil || it.typ != itemType(v) {
			alone = append(alone, i)
			continue
		}
		if _, taken := of[it]; taken {
			alone = append(alone, i)
			continue
		}
		of[it] = i
	}
	return of, alone
}
