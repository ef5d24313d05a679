package judge

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite/results"
)

func truncationRows(t *testing.T) []row {
	t.Helper()
	cut := func() *chat {
		return newChat(t, "openai").replyAs(codecs.Reply{Finish: codecs.FinishLength, Parts: some{call("c1", "tide", `{"port":"Ob`)}})
	}
	ended := func(c *chat) Observed { c.seen.End = &End{}; return c.seen }
	const id = "truncation.not_run"
	return []row{
		{rule: id, name: "nobody watched", seen: ended(cut())},
		{rule: id, name: "not run", seen: ended(cut().watched()), verdict: results.Pass},
		{rule: id, name: "repaired and run", seen: ended(cut().ran("tide", `{"port":"Ob"}`)), verdict: results.Fail},
		{rule: id, name: "a whole one", seen: ended(newChat(t, "openai").reply(call("c1", "tide", oban)).ran("tide", oban))},
	}
}

func replyRows(t *testing.T) []row {
	t.Helper()
	want := func(parts ...codecs.Part) *Expectation { return &Expectation{Turns: []*codecs.Reply{{Parts: parts}}} }
	said := func(r codecs.Reply) Observed { return newChat(t, "openai").replyAs(r).seen }
	plain := newChat(t, "openai").done()
	unread := newChat(t, "openai").done()
	unread.Exchanges[0].Replied, unread.Exchanges[0].ReplyErr = false, codecs.ErrNotJSON
	limited := newChat(t, "openai")
	limited.limit = 10
	hidden := limited.replyAs(codecs.Reply{Finish: codecs.FinishStop, RawFinish: "stop", Usage: &codecs.Usage{Output: 10}}).seen
	return []row{
		{rule: "reply.decodes", name: "read", seen: plain, verdict: results.Pass},
		{rule: "reply.decodes", name: "not read", seen: unread, verdict: results.Fail},
		{rule: "reply.content", name: "not known", seen: plain},
		{rule: "reply.content", name: "as the turn says", seen: plain, want: want(text("Ebb.")), verdict: results.Pass},
		{rule: "reply.content", name: "another text", seen: plain, want: want(text("Flood.")), verdict: results.Fail},
		{rule: "reply.content", name: "a lost call", seen: plain, want: want(text("Ebb."), call("c1", "tide", oban)), verdict: results.Fail},
		{rule: "reply.content", name: "other arguments", seen: said(codecs.Reply{Parts: some{call("c1", "tide", "{}")}}), want: want(call("c1", "tide", oban)), verdict: results.Fail},
		{rule: "reply.content", name: "lost reasoning", seen: plain, want: want(thought("Low."), text("Ebb.")), verdict: results.Fail},
		{rule: "reply.limit_visible", name: "hidden", seen: hidden, verdict: results.Fail},
		{rule: "reply.limit_visible", name: "visible", seen: said(codecs.Reply{Finish: codecs.FinishLength}), verdict: results.Pass},
		{rule: "reply.limit_visible", name: "not reached", seen: plain},
	}
}

func endRows(t *testing.T) []row {
	t.Helper()
	with := func(c *chat, e End) Observed { c.seen.End = &e; return c.seen }
	ran := func(names ...string) Observed {
		c := newChat(t, "openai").reply(call("c1", "tide", oban)).watched()
		for _, n := range names {
			c.ran(n, oban, block("2 m"))
		}
		return with(c, End{Text: "Ebb."})
	}
	tide := fixtures.ToolCall{Server: "s", Name: "tide", Arguments: codecs.Raw(`{"port": "Oban"}`)}
	calls := func(lists ...[]fixtures.ToolCall) *Expectation { return &Expectation{Calls: lists} }
	inside := func(n int) Observed {
		c := newChat(t, "hermes").reply(thought(`<tool_call>{"name":"tide"}</tool_call>`), text("Ebb.")).watched()
		for range n {
			c.ran("tide", oban)
		}
		return with(c, End{})
	}
	count := func(least, most int) *Expectation {
		return &Expectation{Requests: &fixtures.Range{Min: least, Max: most}}
	}
	ebb, flood := "Ebb.", "Flood."
	failed := with(newChat(t, "openai"), End{Error: "iterations", Message: "too many"})
	warned := with(newChat(t, "openai"), End{Warnings: []codecs.Warning{{Code: codecs.WarnToolDuplicate}}})
	return []row{
		{rule: "calls.run", name: "the one", seen: ran("tide"), want: calls([]fixtures.ToolCall{tide}), verdict: results.Pass},
		{rule: "calls.run", name: "one of two ways", seen: ran(), want: calls([]fixtures.ToolCall{tide}, nil), verdict: results.Pass},
		{rule: "calls.run", name: "none", seen: ran(), want: calls([]fixtures.ToolCall{tide}), verdict: results.Fail},
		{rule: "calls.run", name: "one twice", seen: ran("tide", "tide"), want: calls([]fixtures.ToolCall{tide}), verdict: results.Fail},
		{rule: "calls.run", name: "none expected", seen: ran("tide"), want: calls(nil), verdict: results.Fail},
		{rule: "calls.run", name: "not known", seen: ran("tide")},
		{rule: "calls.thinking_not_run", name: "only considered", seen: inside(0), verdict: results.Pass},
		{rule: "calls.thinking_not_run", name: "run", seen: inside(1), verdict: results.Fail},
		{rule: "requests.count", name: "within", seen: ran("tide"), want: count(1, 2), verdict: results.Pass},
		{rule: "requests.count", name: "too few", seen: ran("tide"), want: count(2, 3), verdict: results.Fail},
		{rule: "requests.count", name: "too many", seen: ran("tide"), want: count(0, 0), verdict: results.Fail},
		{rule: "requests.count", name: "not known", seen: ran("tide")},
		{rule: "end.accepted", name: "the text", seen: ran("tide"), want: &Expectation{Ends: []fixtures.Ending{{Text: &flood}, {Text: &ebb}}}, verdict: results.Pass},
		{rule: "end.accepted", name: "another text", seen: ran("tide"), want: &Expectation{Ends: []fixtures.Ending{{Text: &flood}}}, verdict: results.Fail},
		{rule: "end.accepted", name: "the error", seen: failed, want: &Expectation{Ends: []fixtures.Ending{{Error: "iterations", Message: "too many"}}}, verdict: results.Pass},
		{rule: "end.accepted", name: "the error in other words", seen: failed, want: &Expectation{Ends: []fixtures.Ending{{Error: "iterations", Message: "enough"}}}, verdict: results.Fail},
		{rule: "end.accepted", name: "an error in place of a text", seen: failed, want: &Expectation{Ends: []fixtures.Ending{{AnyText: true}}}, verdict: results.Fail},
		{rule: "end.accepted", name: "not known", seen: failed},
		{rule: "warnings.given", name: "given", seen: warned, want: &Expectation{Warnings: []string{codecs.WarnToolDuplicate}}, verdict: results.Pass},
		{rule: "warnings.given", name: "not given", seen: failed, want: &Expectation{Warnings: []string{codecs.WarnToolDuplicate}}, verdict: results.Fail},
		{rule: "warnings.given", name: "not known", seen: warned},
	}
}

// TestCutCall names each way of treating a cut call.
func TestCutCall(t *testing.T) {
	a, b := call("c1", "tide", oban), call("c2", "wind", `{"port":"Ob`)
	start := func() *chat {
		return newChat(t, "openai").replyAs(codecs.Reply{Finish: codecs.FinishLength, Parts: some{a, b}}).ran("tide", oban, block("2 m"))
	}
	ra, rb := result("c1", "tide", block("2 m")), result("c2", "wind", block("cut"))
	for want, seen := range map[string]Observed{
		"stopped":          start().seen,
		"dropped":          start().say(parts(a), answers(ra)).done(),
		"error_result":     start().say(parts(a, b), answers(ra, rb)).done(),
		"run_empty":        start().ran("wind", "{}", block("calm")).say(parts(a, b), answers(ra, rb)).done(),
		"repaired_and_run": start().ran("wind", `{"port":"Ob"}`, block("calm")).say(parts(a, b), answers(ra, rb)).done(),
		"":                 newChat(t, "openai").reply(a).seen,
	} {
		if got := Over(seen, nil).CutCall(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
