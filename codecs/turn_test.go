package codecs_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/wire"
)

func at(n int) *int { return &n }

// TestTurn: which call a result answers, by the one rule there is. Each row
// gives the results at once and, unless it says so, one after the other too.
func TestTurn(t *testing.T) {
	type R = codecs.ToolResult
	ids := []codecs.ToolCall{{ID: "a", Name: "tide"}, {Pos: 1, ID: "b", Name: "tide"}, {Pos: 2, ID: "c", Name: "now"}}
	none := []codecs.ToolCall{{Name: "tide"}, {Pos: 1, Name: "now"}, {Pos: 2, Name: "tide"}}
	mixed := []codecs.ToolCall{{ID: "a", Name: "tide"}, {Pos: 1, Name: "now"}, {Pos: 2, Name: "tide"}}
	twice := []codecs.ToolCall{{ID: "x", Name: "tide"}, {Pos: 1, ID: "x", Name: "now"}}
	literals := []codecs.ToolCall{{Name: "tide"}, {Name: "now"}}
	gaps := []codecs.ToolCall{{Pos: 1, Name: "tide"}, {Pos: 3, Name: "now"}}
	for _, c := range []struct {
		name    string
		calls   []codecs.ToolCall
		results []R
		want    []int
		err     string
		atOnce  bool // the answer needs all results together
	}{
		{"by id, any order", ids, []R{{ID: "c"}, {ID: "a"}, {ID: "b"}}, []int{2, 0, 1}, "", false},
		{"by order", ids, []R{{}, {}, {}}, []int{0, 1, 2}, "", false},
		{"by name", ids, []R{{Name: "now"}, {Name: "tide"}, {Name: "tide"}}, []int{2, 0, 1}, "", false},
		{"by ordinal", ids, []R{{Pos: at(2)}, {Pos: at(0)}}, []int{2, 0}, "", false},
		{"an id tells more than a name", ids, []R{{ID: "a", Name: "other"}}, []int{0}, "", false},
		{"ordinal and another id", ids, []R{{Pos: at(0), ID: "b"}}, nil, `has the id "a", the result "b"`, false},
		{"ordinal and another name", ids, []R{{Pos: at(0), Name: "now"}}, nil, `one of "tide", the result one of "now"`, false},
		{"no such ordinal", ids, []R{{Pos: at(3)}}, nil, "no call 3", false},
		{"two for an ordinal", ids, []R{{Pos: at(0)}, {Pos: at(0)}}, nil, "two results", false},
		{"two for an id", ids, []R{{ID: "a"}, {ID: "a"}}, nil, "more results than calls", false},
		{"an id that no call has", ids, []R{{ID: "z", Name: "now"}}, nil, `no call has the id "z"`, false},
		{"a name that no call has", ids, []R{{Name: "ebb"}}, nil, `no call of "ebb"`, false},
		{"more results than calls", none, []R{{}, {}, {}, {}}, nil, "no call is left", false},
		{"made ids, by name", none, []R{{ID: "m2", Name: "now"}, {ID: "m1", Name: "tide"}, {ID: "m3", Name: "tide"}}, []int{1, 0, 2}, "", false},
		{"made ids without names", none, []R{{ID: "m1"}, {ID: "m2"}, {ID: "m3"}}, []int{0, 1, 2}, "", false},
		{"a made id and a name of no call", none, []R{{ID: "m1", Name: "ebb"}}, nil, `no call of "ebb"`, false},
		{"a made id goes to a call without one", mixed, []R{{ID: "m1", Name: "tide"}, {ID: "a", Name: "tide"}}, []int{2, 0}, "", false},
		{"a name goes to a call without an id first", mixed, []R{{Name: "tide"}, {ID: "a"}}, []int{2, 0}, "", false},
		{"nothing said, the rest taken", mixed, []R{{}, {ID: "a"}, {Name: "tide"}}, []int{1, 0, 2}, "", true},
		{"a repeated id, by order", twice, []R{{ID: "x"}, {ID: "x"}}, []int{0, 1}, "", false},
		{"a repeated id, by name", twice, []R{{ID: "x", Name: "now"}, {ID: "x", Name: "tide"}}, []int{1, 0}, "", false},
		{"a repeated id, one with a name", twice, []R{{ID: "x"}, {ID: "x", Name: "tide"}}, []int{1, 0}, "", true},
		{"a repeated id, a name too often", twice, []R{{ID: "x", Name: "now"}, {ID: "x", Name: "now"}}, nil, `no call of "now" with the id "x"`, false},
		{"literals without ordinals", literals, []R{{Name: "now"}, {Name: "tide"}}, []int{1, 0}, "", false},
		{"the place where ordinals do not rise", literals, []R{{Pos: at(1)}, {Pos: at(0)}}, []int{1, 0}, "", false},
		{"ordinals with gaps", gaps, []R{{Pos: at(3)}, {Pos: at(1)}}, []int{1, 0}, "", false},
		{"a gap is no call", gaps, []R{{Pos: at(0)}}, nil, "no call 0", false},
		{"no calls", nil, []R{{ID: "a"}}, nil, "no call", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			all, errs := codecs.NewTurn(c.calls).AnswerAll(c.results)
			check := func(got []int, err error) {
				t.Helper()
				switch {
				case c.err != "":
					if err == nil || !strings.Contains(err.Error(), c.err) {
						t.Errorf("error %v, want one with %q", err, c.err)
					}
				case err != nil || !cmp.Equal(c.want, got):
					t.Errorf("%v, %v, want %v", got, err, c.want)
				}
			}
			check(all, errors.Join(errs...))
			if c.atOnce {
				return
			}
			turn := codecs.NewTurn(c.calls)
			var got []int
			var failed error
			for _, r := range c.results {
				i, err := turn.Answer(r)
				got, failed = append(got, i), errors.Join(failed, err)
			}
			check(got, failed)
		})
	}
}

// TestTurnOrder: whatever the order of the results, each answers the same call.
func TestTurnOrder(t *testing.T) {
	calls := []codecs.ToolCall{{ID: "a", Name: "tide"}, {Pos: 1, Name: "now"}, {Pos: 2, ID: "x", Name: "ebb"}, {Pos: 3, ID: "x", Name: "flow"}}
	results := []codecs.ToolResult{{ID: "a"}, {Name: "now"}, {ID: "x", Name: "flow"}, {ID: "x"}}
	want := []int{0, 1, 3, 2}
	permute(len(results), func(order []int) {
		var some []codecs.ToolResult
		var expect []int
		for _, i := range order {
			some, expect = append(some, results[i]), append(expect, want[i])
		}
		got, errs := codecs.NewTurn(calls).AnswerAll(some)
		if errs != nil || !cmp.Equal(expect, got) {
			t.Errorf("%v: %v, %v, want %v", order, got, errs, expect)
		}
	})
}

func permute(n int, visit func([]int)) {
	order := make([]int, 0, n)
	var next func()
	next = func() {
		if len(order) == n {
			visit(order)
			return
		}
	search:
		for i := range n {
			for _, o := range order {
				if o == i {
					continue search
				}
			}
			order = append(order, i)
			next()
			order = order[:len(order)-1]
		}
	}
	next()
}

// TestTurnResult: the result that a call begins answers that call.
func TestTurnResult(t *testing.T) {
	calls := []codecs.ToolCall{{ID: "x", Name: "tide"}, {Pos: 1, ID: "x", Name: "tide"}, {Pos: 2, Name: "tide"}}
	turn := codecs.NewTurn(calls)
	for _, i := range []int{2, 0, 1} {
		r := calls[i].Result(codecs.TextBlock("low"))
		if got, err := turn.Answer(r); got != i || err != nil || len(r.Content) != 1 {
			t.Errorf("the result of call %d answers %d: %v", i, got, err)
		}
	}
	if open := turn.Open(); open != nil {
		t.Errorf("calls %v are open", open)
	}
}

// TestPairHistory: a result may come late, but not to a call that another one
// with its id leaves in doubt; what answers nothing goes.
func TestPairHistory(t *testing.T) {
	call := func(id string) codecs.Part {
		return codecs.Part{Kind: codecs.KindCall, Call: &codecs.ToolCall{ID: id, Name: "tide"}}
	}
	result := func(id string) codecs.Part {
		return codecs.Part{Kind: codecs.KindResult, Result: &codecs.ToolResult{ID: id}}
	}
	text := codecs.Part{Kind: codecs.KindText, Text: "hm"}
	m := func(role string, parts ...codecs.Part) codecs.Message {
		return codecs.Message{Role: role, Parts: parts}
	}
	for _, c := range []struct {
		name string
		in   []codecs.Message
		want string
	}{
		{"late", []codecs.Message{m("assistant", call("a"), call("b")), m("tool", result("b")), m("assistant", text), m("tool", result("a"))}, "assistant 2, tool 1, assistant 1, tool 1"},
		{"late, in doubt", []codecs.Message{m("assistant", call("a")), m("user", text), m("assistant", call("a")), m("user", text), m("assistant", text), m("tool", result("a"))}, "user 1, user 1, assistant 1"},
		{"two messages, one turn", []codecs.Message{m("assistant", call("a")), m("assistant", call("")), m("tool", result("")), m("tool", result("a"))}, "assistant 1, assistant 1, tool 1, tool 1"},
		{"text between", []codecs.Message{m("assistant", call("a")), m("user", text), m("tool", result("a"))}, "assistant 1, user 1, tool 1"},
		{"before every turn", []codecs.Message{m("tool", result("a")), m("user", text)}, "user 1"},
		{"before its call", []codecs.Message{m("user", result("a"), text), m("assistant", call("a"))}, "user 1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			kept, _ := wire.PairHistory(c.in)
			var got []string
			for _, m := range kept {
				got = append(got, fmt.Sprint(m.Role, " ", len(m.Parts)))
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("%s, want %s", s, c.want)
			}
		})
	}
}

// BenchmarkTurn pairs as many results as one turn may hold, all alike. The work
// for a call must not grow with their number: BenchmarkTurn/100000 against
// BenchmarkTurn/1000.
func BenchmarkTurn(b *testing.B) {
	for _, n := range []int{1000, 100000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			calls, results := alike(n)
			for b.Loop() {
				codecs.NewTurn(calls).AnswerAll(results)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/call")
		})
	}
}

func alike(n int) ([]codecs.ToolCall, []codecs.ToolResult) {
	calls, results := make([]codecs.ToolCall, n), make([]codecs.ToolResult, n)
	for i := range calls {
		calls[i] = codecs.ToolCall{Pos: i, ID: "x", Name: "tide"}
		results[i] = codecs.ToolResult{ID: "x", Name: "tide"}
	}
	return calls, results
}
