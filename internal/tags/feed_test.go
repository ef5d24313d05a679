package tags_test

import (
	"strings"
	"testing"

	"github.com/toolconform/conform/internal/tags"
)

// feed gives a text in pieces of size bytes and returns what a reader has seen
// at the end.
func feed(text string, size int) (visible, thinking string, blocks []string) {
	var seen, thought strings.Builder
	f := tags.Feeder{Scanner: tags.Scanner{Think: "think", Call: "tool_call"}}
	give := func(kind tags.SpanKind, text string) {
		switch kind {
		case tags.Visible:
			seen.WriteString(text)
		case tags.Thinking:
			thought.WriteString(text)
		case tags.Block:
			blocks = append(blocks, text)
		case tags.Retract:
			seen.Reset()
		}
	}
	for len(text) > 0 {
		n := min(size, len(text))
		f.Feed(text[:n], give)
		text = text[n:]
	}
	f.Close(give)
	return seen.String(), thought.String(), blocks
}

// However a text comes, what a reader has seen at its end is what Scan says of
// the whole, and no markup was ever shown.
func TestFeedAgreesWithScan(t *testing.T) {
	for _, text := range []string{
		"plain", "a <b> c", "a<think>b</think>c", "plan</think>answer", "x<think>b", "<think>a</think><think>b</think>c",
		`before<tool_call>{"name":"f"}</tool_call>after`, `<tool_call>{"name":"</tool_call>"}</tool_call> b`, "a<tool_call>no json</tool_call>b",
		"<think><tool_call>{}</tool_call></think>x", "a</thi", "<tool_cal", "\u00e9<think>\u00fc</think>\u00e8",
		`<tool_call>{"a":1}</tool_call><tool_call>{"b":2}</tool_call>`, "a<tool_call>x<think>y</think>z</tool_call>",
	} {
		var visible, thinking string
		var blocks []string
		for _, s := range (tags.Scanner{Think: "think", Call: "tool_call"}).Scan(text) {
			switch s.Kind {
			case tags.Visible, tags.Stray:
				visible += text[s.Start:s.End]
			case tags.Thinking:
				if s.Start == 0 && !strings.HasPrefix(text, "<think>") {
					continue // retracted: it was shown before its closing tag came
				}
				thinking += s.Body
			case tags.Block:
				blocks = append(blocks, s.Body)
			}
		}
		for size := 1; size <= len(text); size++ {
			v, th, b := feed(text, size)
			if v != visible || th != thinking || strings.Join(b, "|") != strings.Join(blocks, "|") {
				t.Errorf("%q in pieces of %d: visible %q, thinking %q, blocks %q; want %q, %q, %q", text, size, v, th, b, visible, thinking, blocks)
			}
		}
	}
}
