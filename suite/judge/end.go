package judge

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/fixtures"
)

func endChecks() []check {
	return []check{
		{"calls.run", atEnd, callsRun},
		{"calls.thinking_not_run", atEnd, thinkingNotRun},
		{"requests.count", atEnd, requestsCount},
		{"end.accepted", atEnd, endAccepted},
		{"warnings.given", atEnd, warningsGiven},
	}
}

// callsRun compares what ran with the lists of which one is expected; the order
// is free.
func callsRun(c *scene) {
	if !c.session.Watched || c.expect().Calls == nil {
		return
	}
	first := ""
	for i, want := range c.expect().Calls {
		d := runDifference(want, c.session.executed)
		if d == "" {
			c.pass()
			return
		}
		if i == 0 {
			first = d
		}
	}
	c.say("", "fail", "", first)
}

func runDifference(want []fixtures.ToolCall, got []Executed) string {
	key := func(server, name string, arguments []byte) string {
		return server + "\x00" + name + "\x00" + canonical(arguments)
	}
	left := map[string]int{}
	for _, e := range got {
		left[key(e.Server, e.Name, e.Arguments)]++
	}
	for _, w := range want {
		k := key(w.Server, w.Name, w.Arguments)
		if left[k] == 0 {
			return fmt.Sprintf("expected %s(%s) on %s, seen %s", w.Name, w.Arguments, w.Server, shownCalls(got))
		}
		left[k]--
	}
	var besides []Executed
	for _, e := range got {
		if k := key(e.Server, e.Name, e.Arguments); left[k] > 0 {
			left[k]--
			besides = append(besides, e)
		}
	}
	if len(besides) > 0 {
		return fmt.Sprintf("expected %d executions, seen besides %s", len(want), shownCalls(besides))
	}
	return ""
}

func shownCalls(calls []Executed) string {
	if len(calls) == 0 {
		return "nothing run"
	}
	var out []string
	for _, c := range calls {
		out = append(out, fmt.Sprintf("%s(%s) on %s", c.Name, c.Arguments, c.Server))
	}
	return strings.Join(out, ", ")
}

// thinkingNotRun checks that nothing ran beyond the calls of the replies where a
// reply has the text of a call inside its thinking.
func thinkingNotRun(c *scene) {
	if !c.session.Watched {
		return
	}
	inside, calls := false, 0
	for _, o := range c.session.seen {
		tag := o.Profile.CallTag
		if tag == "" {
			tag = "tool_call"
		}
		inside = inside || strings.Contains(o.Reply.Reasoning(), "<"+tag+">")
		calls += len(o.Reply.Calls())
	}
	switch n := len(c.session.executed); {
	case !inside:
	case n > calls:
		c.where = "executions"
		c.fail(fmt.Sprintf("at most %d", calls), fmt.Sprintf("%d", n))
	default:
		c.pass()
	}
}

func requestsCount(c *scene) {
	bounds, n := c.expect().Requests, len(c.session.seen)
	switch {
	case bounds == nil:
	case n < bounds.Min || n > bounds.Max:
		c.say("", "fail", "", fmt.Sprintf("expected %d to %d requests, seen %d", bounds.Min, bounds.Max, n))
	default:
		c.pass()
	}
}

func endAccepted(c *scene) {
	ends := c.expect().Ends
	if ends == nil {
		return
	}
	var due []string
	for _, e := range ends {
		if e.Accepts(c.end.Text, c.end.Error) && (e.Message == "" || e.Message == c.end.Message) {
			c.pass()
			return
		}
		due = append(due, shownEnding(e))
	}
	seen := fmt.Sprintf("the text %q", c.end.Text)
	if c.end.Error != "" {
		seen = fmt.Sprintf("the error %s %q", c.end.Error, c.end.Message)
	}
	c.say("", "fail", "", "expected "+strings.Join(due, " or ")+", seen "+seen)
}

func shownEnding(e fixtures.Ending) string {
	switch {
	case e.Error != "" && e.Message != "":
		return fmt.Sprintf("the error %s %q", e.Error, e.Message)
	case e.Error != "":
		return "an error of kind " + e.Error
	case e.Text != nil:
		return fmt.Sprintf("the text %q", *e.Text)
	case e.TextContains != "":
		return fmt.Sprintf("a text with %q", e.TextContains)
	}
	return "any text"
}

func warningsGiven(c *scene) {
	if c.expect().Warnings == nil {
		return
	}
	given := map[string]bool{}
	for _, w := range c.end.Warnings {
		given[w.Code] = true
	}
	for _, code := range c.expect().Warnings {
		if !given[code] {
			c.say("", "fail", "", fmt.Sprintf("expected the warning %s, seen none", code))
			return
		}
	}
	if len(c.expect().Warnings) > 0 {
		c.pass()
	}
}
