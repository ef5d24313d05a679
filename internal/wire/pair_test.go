package wire_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/internal/wire"
)

// TestHistory: where the results of a turn stand when they go out, and under
// which ids. A line is a message: its role and its parts, calls as name=id,
// results as id<text.
func TestHistory(t *testing.T) {
	call := func(name, id string) codecs.Part {
		return codecs.Part{Kind: codecs.KindCall, Call: &codecs.ToolCall{Name: name, ID: id, ArgumentsText: "{}"}}
	}
	result := func(id, text string) codecs.Part {
		return codecs.Part{Kind: codecs.KindResult, Result: &codecs.ToolResult{ID: id, Content: []codecs.Raw{codecs.TextBlock(text)}}}
	}
	text := func(s string) codecs.Part { return codecs.Part{Kind: codecs.KindText, Text: s} }
	m := func(role string, parts ...codecs.Part) codecs.Message {
		return codecs.Message{Role: role, Parts: parts}
	}
	native := func(body string) codecs.Message {
		return codecs.Message{Role: "assistant", Native: []codecs.Raw{codecs.Raw(body)}}
	}
	asked := native(`{"role":"assistant","content":null,"tool_calls":[{"id":"n1","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"n2","type":"function","function":{"name":"b","arguments":"{}"}}]}`)
	for _, c := range []struct {
		name string
		with wire.History
		in   []codecs.Message
		want string // or the words of an error
	}{
		{"two messages, one turn", wire.History{}, []codecs.Message{m("assistant", call("a", "1")), m("assistant", call("b", "2")), m("tool", result("2", "B"), result("1", "A"))}, "assistant a=1 | tool 1<A | assistant b=2 | tool 2<B"},
		{"two messages that become one", wire.History{Joins: true}, []codecs.Message{m("assistant", call("a", "1")), m("assistant", call("b", "2")), m("tool", result("2", "B"), result("1", "A"))}, "assistant a=1 | assistant b=2 | tool 2<B 1<A"},
		{"in the order of the calls", wire.History{ByOrder: true}, []codecs.Message{m("assistant", call("a", "1"), call("b", "2")), m("tool", result("2", "B")), m("tool", result("1", "A"))}, "assistant a=1 b=2 | tool 1<A 2<B"},
		{"what stood between", wire.History{}, []codecs.Message{m("assistant", call("a", "1")), m("system", text("s")), m("user", text("u"), result("1", "A"), text("v"))}, "assistant a=1 | tool 1<A | system s | user u v"},
		{"an unanswered call beside one", wire.History{}, []codecs.Message{m("assistant", call("a", "1"), call("b", "2")), m("tool", result("2", "B"))}, "assistant b=2 | tool 2<B"},
		{"unanswered calls alone", wire.History{}, []codecs.Message{m("assistant", call("a", "1")), m("user", text("u"))}, "assistant a=1 | user u"},
		{"an id of another turn", wire.History{IDs: wire.IDs{Whole: true, Prefix: "m_"}}, []codecs.Message{m("assistant", call("a", "1")), m("tool", result("1", "A")), m("assistant", call("a", "1")), m("tool", result("1", "B"))}, "assistant a=1 | tool 1<A | assistant a=m_ | tool m_<B"},
		{"an id of another turn that may be", wire.History{}, []codecs.Message{m("assistant", call("a", "1")), m("tool", result("1", "A")), m("assistant", call("a", "1")), m("tool", result("1", "B"))}, "assistant a=1 | tool 1<A | assistant a=1 | tool 1<B"},
		{"a shape that the wire refuses", wire.History{IDs: wire.IDs{Prefix: "m_", Fits: func(id string) bool { return id != "1" }}}, []codecs.Message{m("assistant", call("a", "1")), m("tool", result("1", "A"))}, "assistant a=m_ | tool m_<A"},
		{"results of native calls", wire.History{}, []codecs.Message{asked, m("tool", result("n2", "B")), m("user", text("u"), result("n1", "A"))}, "native | tool n2<B n1<A | user u"},
		{"a result that native messages have", wire.History{}, []codecs.Message{asked, native(`{"role":"tool","tool_call_id":"n2","content":"B"}`), m("tool", result("n1", "A"))}, "native | tool n1<A | native"},
		{"a result of no native call", wire.History{}, []codecs.Message{asked, m("tool", result("zz", "B"))}, "messages[1].parts[0]"},
		{"a native message that does not read", wire.History{}, []codecs.Message{native(`{"x":1}`), m("tool", result("n1", "A"))}, "native | tool n1<A"},
		{"a call that the provider keeps", wire.History{Loose: true}, []codecs.Message{m("user", text("u"), result("kept", "A"))}, "tool kept<A | user u"},
		{"two results for one call", wire.History{}, []codecs.Message{m("assistant", call("a", "1")), m("tool", result("1", "A"), result("1", "B"))}, "messages[1].parts[1]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := c.with
			h.Reader, h.List = openai.Codec{}, "messages"
			out, warnings, err := h.Messages(c.in)
			if err != nil {
				if !strings.Contains(err.Error(), c.want) || !errors.Is(err, codecs.ErrNoCall) && !errors.Is(err, codecs.ErrTwoResults) {
					t.Errorf("%v, want %s", err, c.want)
				}
				return
			}
			var lines []string
			for _, m := range out {
				lines = append(lines, line(m))
			}
			if got := strings.Join(lines, " | "); got != c.want {
				t.Errorf("%s\nwant %s", got, c.want)
			}
			lost := strings.HasPrefix(c.name, "an unanswered") || strings.Contains(c.want, "m_")
			if lost != (len(warnings) == 1) {
				t.Errorf("warnings %v", warnings)
			}
		})
	}
}

func line(m wire.Message) string {
	if m.Native != nil {
		return "native"
	}
	words := []string{m.Role}
	short := func(id string) string {
		if strings.HasPrefix(id, "m_") {
			return "m_"
		}
		return id
	}
	for _, p := range m.Parts {
		switch {
		case p.Call != nil:
			words = append(words, p.Call.Name+"="+short(p.Call.ID))
		case p.Result != nil:
			words = append(words, short(p.Result.ID)+"<"+wire.ResultText(*p.Result))
		default:
			words = append(words, p.Text)
		}
	}
	return strings.Join(words, " ")
}

// BenchmarkHistory pairs one turn of many calls, and many turns, all calls
// alike: ns/call must not grow with their number.
func BenchmarkHistory(b *testing.B) {
	for _, shape := range []struct{ turns, calls int }{{1, 1000}, {1, 50000}, {1000, 1}, {50000, 1}} {
		b.Run(fmt.Sprintf("%dx%d", shape.turns, shape.calls), func(b *testing.B) {
			var in []codecs.Message
			for range shape.turns {
				turn, answers := codecs.Message{Role: "assistant"}, codecs.Message{Role: "tool"}
				for range shape.calls {
					turn.Parts = append(turn.Parts, codecs.Part{Kind: codecs.KindCall, Call: &codecs.ToolCall{ID: "x", Name: "tide"}})
					answers.Parts = append(answers.Parts, codecs.Part{Kind: codecs.KindResult, Result: &codecs.ToolResult{ID: "x", Name: "tide"}})
				}
				in = append(in, turn, answers)
			}
			h := wire.History{IDs: wire.IDs{Whole: true, Prefix: "call_"}}
			for b.Loop() {
				if _, _, err := h.Messages(in); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(shape.turns*shape.calls), "ns/call")
		})
	}
}
