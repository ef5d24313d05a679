package openai

import (
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// An id of another wire that is longer than OpenAI takes is made anew, the same
// for call and result, and the same in every request. Source: wire facts, ids.
func TestLongIDs(t *testing.T) {
	for n, keep := range map[int]bool{40: true, 41: false} {
		id := strings.Repeat("k", n)
		req := codecs.Request{Model: "m", Messages: []codecs.Message{
			{Role: "assistant", Parts: []codecs.Part{{Kind: codecs.KindCall, Call: &codecs.ToolCall{ID: id, Name: "ring", Arguments: codecs.Raw("{}")}}}},
			{Role: "tool", Parts: []codecs.Part{{Kind: codecs.KindResult, Result: &codecs.ToolResult{ID: id, Name: "ring", Content: []codecs.Raw{codecs.TextBlock("rung")}}}}},
		}}
		body, _, err := Codec{}.Request(req, codecs.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := Codec{}.Request(req, codecs.Profile{})
		if err != nil || string(again) != string(body) {
			t.Errorf("encoded again: %s (%v), want %s", again, err, body)
		}
		msgs := jsonx.Of(body).Get("messages")
		call, result := msgs.At(0).Get("tool_calls").At(0).Get("id").Str(), msgs.At(1).Get("tool_call_id").Str()
		if call == "" || len(call) > 40 || call != result || (call == id) != keep {
			t.Errorf("id of %d characters: call %q, result %q", n, call, result)
		}
	}
}
