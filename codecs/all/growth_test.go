package all_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/internal/wire"
)

// Streams of shapes that once could make a decoder look back at what it has: the
// piece i of many, what stands before and after them.
var shapes = []struct {
	name                string
	dialect             codecs.Dialect
	before, each, after string
}{
	{"many calls", codecs.OpenAI, "", chat(`"tool_calls":[{"index":%[1]d,"id":"c%[1]d","function":{"name":"f","arguments":"{}"}}]`), chatEnd},
	{"calls without index", codecs.OpenAI, "", chat(`"tool_calls":[{"function":{"name":"f%d","arguments":"{}"}}]`), chatEnd},
	{"a name with each piece", codecs.OpenAI, "", chat(`"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{\"a\":\"xxxx%d"}}]`), chatEnd},
	{"a closed fault, and a name with each piece", codecs.OpenAI, chat(`"tool_calls":[{"index":0,"function":{"name":"f","arguments":"{a}"}}]`), chat(`"tool_calls":[{"index":0,"function":{"name":"f","arguments":" [%d]"}}]`), chatEnd},
	{"call blocks", codecs.Hermes, "", chat(`"content":"<tool_call>{\"name\":\"f%d\",\"arguments\":{}}</tool_call>"`), chatEnd},
	{"an open call block", codecs.Hermes, chat(`"content":"<tool_call>{\"name\":\""`), chat(`"content":"</tool_call>%d"`), chatEnd},
	{
		"blocks of one index", codecs.Anthropic, "data: {\"type\":\"message_start\",\"message\":{\"content\":[]}}\n\n",
		"data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t%d\",\"name\":\"f\",\"input\":{}}}\n\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\n",
		"data: {\"type\":\"message_stop\"}\n\n",
	},
	{"parts", codecs.Gemini, "", "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"},{\"functionCall\":{\"name\":\"f%d\",\"args\":{}}}]}}]}\n\n", geminiEnd},
	{
		"pieces of arguments", codecs.Gemini, "data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"name\":\"f\",\"willContinue\":true}}]}}]}\n\n",
		"data: {\"candidates\":[{\"content\":{\"parts\":[{\"functionCall\":{\"partialArgs\":[{\"jsonPath\":\"$.a[%d].b\",\"stringValue\":\"x\"}],\"willContinue\":true}}]}}]}\n\n", geminiEnd,
	},
	{
		"items of one output_index", codecs.Responses, "", "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"i%[1]d\",\"content\":[]}}\n\ndata: {\"type\":\"response.output_item.done\",\"output_index\":0,\"item\":{\"type\":\"message\",\"id\":\"i%[1]d\",\"content\":[]}}\n\n",
		"data: {\"type\":\"response.completed\",\"response\":{\"output\":[]}}\n\n",
	},
	{"lines", codecs.Ollama, "", "{\"message\":{\"content\":\"<think>a</think> \",\"tool_calls\":[{\"function\":{\"name\":\"f%d\",\"arguments\":{}}}]}}\n", "{\"done\":true,\"message\":{}}\n"},
}

const (
	chatEnd   = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	geminiEnd = "data: {\"candidates\":[{\"finishReason\":\"STOP\"}]}\n\n"
)

func chat(delta string) string {
	return "data: {\"choices\":[{\"index\":0,\"delta\":{" + delta + "}}]}\n\n"
}

// What a decoder allocates grows as the stream does: eight times the pieces need
// eight times the memory, not sixty-four.
func TestStreamsGrowAsTheirInput(t *testing.T) {
	const few, times = 500, 8
	for _, c := range shapes {
		t.Run(string(c.dialect)+" "+c.name, func(t *testing.T) {
			codec, err := all.For(c.dialect)
			if err != nil {
				t.Fatal(err)
			}
			needs := func(n int) uint64 {
				var b strings.Builder
				b.WriteString(c.before)
				for i := range n {
					fmt.Fprintf(&b, c.each, i)
				}
				b.WriteString(c.after)
				stream := []byte(b.String())
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				if _, err := wire.DecodeStream(codec.(codecs.Streamer), codecs.Profile{}, stream); err != nil {
					t.Fatal(err)
				}
				runtime.ReadMemStats(&after)
				return after.TotalAlloc - before.TotalAlloc
			}
			needs(few)
			small, large := needs(few), needs(few*times)
			if large > 2*times*small {
				t.Errorf("%d pieces allocate %d bytes, %d pieces %d: %.1f times as much", few, small, few*times, large, float64(large)/float64(small))
			}
		})
	}
}

// allocated is what f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// operations are what else is done with a reply, each with what the one before it
// made.
func operations(t *testing.T, c codecs.Full, r codecs.Reply) map[string]uint64 {
	t.Helper()
	out := map[string]uint64{}
	p, l := codecs.Profile{}, codecs.Likeness{}
	measure := func(name string, f func() error) {
		t.Helper()
		var err error
		if out[name] = allocated(func() { err = f() }); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var results []codecs.ToolResult
	tool := codecs.Message{Role: "tool"}
	for _, call := range r.Calls() {
		result := call.Result(codecs.TextBlock("x"))
		results = append(results, result)
		tool.Parts = append(tool.Parts, codecs.Part{Kind: codecs.KindResult, Result: &result})
	}
	ask := codecs.Message{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: "?"}}}
	req := codecs.Request{Model: "m", Messages: []codecs.Message{ask, {Role: "assistant", Parts: r.Parts}}}
	if len(tool.Parts) > 0 {
		req.Messages = append(req.Messages, tool)
	}
	var body codecs.Raw
	measure("Reply", func() error { _, err := c.Reply(r.Body, p); return err })
	measure("Continue", func() error { _, _, err := c.Continue(r, results, p); return err })
	measure("Truncate", func() error { _, _, _ = codecs.Truncate(r, nil, 0, codecs.Safe); return nil }) // an error says that a call was cut
	measure("Request", func() (err error) { body, _, err = c.Request(req, p); return err })
	measure("ParseRequest", func() error { _, _, err := c.ParseRequest(codecs.Post(c.Endpoint("m", false), body), p); return err })
	measure("RenderReply", func() error { _, _, err := c.RenderReply(r, p, l); return err })
	measure("RenderStream", func() error {
		_, _, err := c.(codecs.StreamRenderer).RenderStream(r, p, l, c.Wire().Shapes[0].Name)
		return err
	})
	measure("Error", func() error { c.Error(500, nil, r.Body); return nil })
	measure("RawCalls", func() error { c.(codecs.Readers).RawCalls(r.Body, p); return nil })
	measure("TextContent", func() error { c.(codecs.Readers).TextContent(r.Body, p); return nil })
	return out
}

// TestOperationsGrowAsTheirInput: the same of every other operation, over the
// replies that these streams are.
func TestOperationsGrowAsTheirInput(t *testing.T) {
	const few, times = 250, 8
	for _, s := range shapes {
		t.Run(string(s.dialect)+" "+s.name, func(t *testing.T) {
			codec, err := all.For(s.dialect)
			if err != nil {
				t.Fatal(err)
			}
			reply := func(n int) codecs.Reply {
				var b strings.Builder
				b.WriteString(s.before)
				for i := range n {
					fmt.Fprintf(&b, s.each, i)
				}
				b.WriteString(s.after)
				r, err := wire.DecodeStream(codec.(codecs.Streamer), codecs.Profile{}, []byte(b.String()))
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			small, large := reply(few), reply(few*times)
			operations(t, codec, small)
			a, b := operations(t, codec, small), operations(t, codec, large)
			const floor = 64 << 10 // what small inputs need besides
			for name := range a {
				if b[name] > 2*times*max(a[name], floor/times) {
					t.Errorf("%s: %d pieces allocate %d bytes, %d pieces %d", name, few, a[name], few*times, b[name])
				}
			}
		})
	}
}
