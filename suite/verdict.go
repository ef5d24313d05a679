package suite

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
	"github.com/toolconform/conform/suite/judge"
	"github.com/toolconform/conform/suite/results"
)

// judge fills the cell from what the play saw.
func (p *play) judge(cell *results.Cell) {
	run := p.seen()
	cell.Exchanges = len(run.Exchanges)
	cell.All = judge.Judge(run)
	v := verdicts{cell: cell}
	p.judgeTape(&v)
	p.judgeRun(&v, run)
	p.judgeEnd(&v)
	p.judgeWarnings(&v)
	p.listed(&v)
	cell.Class = p.class(run)
	order := map[string]int{}
	for i, r := range judge.Rules() {
		order[r.ID] = i
	}
	slices.SortStableFunc(cell.All, func(a, b results.Check) int { return order[a.ID] - order[b.ID] })
	cell.Settle(cell.All)
	if cell.Verdict == results.Pass && p.player == nil && p.pointless(cell) {
		cell.Verdict, cell.Origin, cell.Tape, cell.Model = results.NA, "", "", ""
		cell.Reason = "nothing that the scenario is about applies to this engine: " + strings.Join(p.scenario.Rules, ", ")
	}
}

// pointless tells whether every rule that the scenario is about had nothing to
// judge at this row: the loop completed, but the cell would say more than it shows.
func (p *play) pointless(cell *results.Cell) bool {
	for _, id := range p.scenario.Rules {
		at := slices.IndexFunc(cell.All, func(c results.Check) bool { return c.ID == id })
		if at < 0 || cell.All[at].Verdict != results.NA {
			return false
		}
	}
	return len(p.scenario.Rules) > 0
}

// verdicts adds checks of the runner's own to a cell.
type verdicts struct{ cell *results.Cell }

func (v *verdicts) add(id string, verdict results.Verdict, message, evidence string) {
	rule, _ := judge.RuleByID(id)
	v.cell.All = append(v.cell.All, results.Check{ID: id, Side: rule.Side, Level: rule.Level, Verdict: verdict, Message: message, Evidence: evidence})
}

// seen is the run as the judge reads it: the requests that came in, the replies
// that went out, and what the tool servers were asked.
func (p *play) seen() judge.Run {
	run := judge.Run{
		Dialect: p.codec.Dialect(), Profile: p.resolved.Profile, Model: p.model, MaxTokens: p.maxTokens, Prompt: p.prompt(),
		Tools: p.expectedTools(), ServerTools: p.scenario.ServerTools[string(p.codec.Dialect())],
	}
	for _, c := range p.tools.calls {
		run.Executed = append(run.Executed, judge.Executed{Server: c.server, Name: c.name, Arguments: c.arguments, Result: c.result})
	}
	for i, s := range p.conversation.Sent() {
		x := judge.Exchange{Body: s.Body, Request: s.Request, ReadErr: s.Err}
		if i < len(p.turns) {
			p.readReply(&x, i, run.Tools)
		}
		run.Exchanges = append(run.Exchanges, x)
	}
	run.Answers = judge.Attribute(run.Exchanges, run.Executed)
	return run
}

// readReply reads what the engine answered, with the codec itself: a fault in
// the subject's codec must not hide in the judgement.
func (p *play) readReply(x *judge.Exchange, i int, tools []codecs.Tool) {
	t := p.turns[i]
	if t.Status >= 300 {
		return
	}
	reply, err := p.codec.Reply(t.Body, p.resolved.Profile)
	if err != nil {
		var pe *codecs.ProviderError
		if !errors.As(err, &pe) {
			x.ReplyErr = err
		}
		return
	}
	x.Reply, x.Replied, x.Want = reply, true, p.neutral[i]
	_, dropped, _ := codecs.Truncate(reply, tools, p.maxTokens, codecs.Safe)
	for _, c := range dropped {
		if c.Name != "" {
			x.Cut = append(x.Cut, c.Pos)
		}
	}
	_, limit := codecs.LimitHit(reply, p.maxTokens, codecs.Safe)
	x.HiddenLimit = limit && reply.Finish != codecs.FinishLength
}

// expectedTools are the tools that a request must declare: of each name the
// first offer.
func (p *play) expectedTools() []codecs.Tool {
	var out []codecs.Tool
	seen := map[string]bool{}
	for _, s := range p.scenario.Servers {
		for _, t := range s.Tools {
			if !seen[t.Name] {
				seen[t.Name] = true
				out = append(out, codecs.Tool{Name: t.Name, Description: t.Description, InputSchema: t.InputSchema})
			}
		}
	}
	return out
}

func (p *play) judgeTape(v *verdicts) {
	if p.player == nil {
		return
	}
	if p.mismatch != nil {
		v.add("request.as_recorded", results.Fail, "", p.mismatch.Error())
		return
	}
	if err := p.player.Done(); err != nil {
		v.add("request.as_recorded", results.Fail, "", err.Error())
		return
	}
	v.add("request.as_recorded", results.Pass, "", "")
}

// judgeRun compares what ran and how many requests were sent with what the
// scenario expects.
func (p *play) judgeRun(v *verdicts, run judge.Run) {
	want := p.scenario.Expect.ToolCalls
	if d := runDifference(want, p.tools.calls); d == "" || runDifference(p.withoutLastTurn(want), p.tools.calls) == "" {
		v.add("calls.run", results.Pass, "", "")
	} else {
		v.add("calls.run", results.Fail, "", d)
	}
	n, bounds := len(run.Exchanges), p.scenario.Expect.Requests
	if n < bounds.Min || n > bounds.Max {
		v.add("requests.count", results.Fail, "", fmt.Sprintf("expected %d to %d requests, seen %d", bounds.Min, bounds.Max, n))
		return
	}
	v.add("requests.count", results.Pass, "", "")
}

// withoutLastTurn leaves out the calls of the last turn where the iteration
// limit ends the loop: whether they run is policy.
func (p *play) withoutLastTurn(want []fixtures.ToolCall) []fixtures.ToolCall {
	if p.scenario.Expect.End.Reference.Error != "iterations" || len(p.scenario.Turns) == 0 {
		return want
	}
	calls := 0
	for _, raw := range p.scenario.Turns[len(p.scenario.Turns)-1].Parts {
		if jsonx.Of(raw).Get("kind").Str() == string(codecs.CallKind) {
			calls++
		}
	}
	return want[:max(len(want)-calls, 0)]
}

// runDifference compares executions with the expected ones; their order is
// free. It returns "" when they agree.
func runDifference(want []fixtures.ToolCall, got []call) string {
	left := slices.Clone(got)
	for _, w := range want {
		at := slices.IndexFunc(left, func(c call) bool {
			return c.server == w.Server && c.name == w.Name && jsonx.Equal(c.arguments, w.Arguments)
		})
		if at < 0 {
			return fmt.Sprintf("expected %s(%s) on %s, seen %s", w.Name, w.Arguments, w.Server, shownCalls(got))
		}
		left = slices.Delete(left, at, at+1)
	}
	if len(left) > 0 {
		return fmt.Sprintf("expected %d executions, seen besides %s", len(want), shownCalls(left))
	}
	return ""
}

func shownCalls(calls []call) string {
	if len(calls) == 0 {
		return "nothing run"
	}
	var out []string
	for _, c := range calls {
		out = append(out, fmt.Sprintf("%s(%s) on %s", c.name, c.arguments, c.server))
	}
	return strings.Join(out, ", ")
}

// judgeEnd compares the end with the one that the reference must have.
func (p *play) judgeEnd(v *verdicts) {
	kind, message := "", ""
	if p.err != nil {
		kind, message = loop.ErrorKind(p.err), p.err.Error()
	}
	want := p.scenario.Expect.End.Reference
	if !want.Accepts(p.outcome.Text, kind) || (want.Message != "" && want.Message != message) {
		v.add("end.accepted", results.Fail, "", fmt.Sprintf("expected %s, seen %s", shownEnding(want), shownEnd(p.outcome.Text, kind, message)))
		return
	}
	v.add("end.accepted", results.Pass, "", "")
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

func shownEnd(text, kind, message string) string {
	if kind != "" {
		return fmt.Sprintf("the error %s %q", kind, message)
	}
	return fmt.Sprintf("the text %q", text)
}

func (p *play) judgeWarnings(v *verdicts) {
	for _, code := range p.scenario.Expect.Warnings {
		n := 0
		for _, w := range p.outcome.Warnings {
			if w.Code == code {
				n++
			}
		}
		if n == 0 {
			v.add("warnings.given", results.Fail, "", fmt.Sprintf("expected the warning %s, seen none", code))
			return
		}
	}
	if len(p.scenario.Expect.Warnings) > 0 {
		v.add("warnings.given", results.Pass, "", "")
	}
}

// listed names the checks that the scenario lists and that had nothing to judge
// at this row, so that a check never disappears in silence.
func (p *play) listed(v *verdicts) {
	for _, id := range p.scenario.Expect.Checks {
		if !slices.ContainsFunc(v.cell.All, func(c results.Check) bool { return c.ID == id }) {
			v.add(id, results.NA, "nothing to judge at this row", "")
		}
	}
}

// class tells which of the accepted ways of treating a cut call was seen.
func (p *play) class(run judge.Run) string {
	if len(p.scenario.Expect.Classify["cut_call"]) == 0 {
		return ""
	}
	for i, x := range run.Exchanges {
		if len(x.Cut) == 0 {
			continue
		}
		pos := x.Cut[0]
		if _, ran := run.Answers[judge.AnswerKey(i, pos)]; ran {
			return ranAs(x, pos, run)
		}
		if i+1 < len(run.Exchanges) {
			return answeredAs(x, pos, run.Exchanges[i+1])
		}
		return "stopped"
	}
	if p.err != nil {
		return "stopped"
	}
	return "dropped"
}

func ranAs(x judge.Exchange, pos int, run judge.Run) string {
	name := ""
	for _, c := range x.Reply.Calls() {
		if c.Pos == pos {
			name = c.Name
		}
	}
	for _, e := range run.Executed {
		if e.Name == name && jsonx.Equal(e.Arguments, []byte("{}")) {
			return "run_empty"
		}
	}
	return "repaired_and_run"
}

func answeredAs(x judge.Exchange, pos int, next judge.Exchange) string {
	id := ""
	for _, c := range x.Reply.Calls() {
		if c.Pos == pos {
			id = c.ID
		}
	}
	for _, m := range next.Request.Messages {
		for _, part := range m.Parts {
			if part.Kind == codecs.ResultKind && part.Result.ID == id && id != "" {
				return "error_result"
			}
		}
	}
	return "dropped"
}
