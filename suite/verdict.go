package suite

import (
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
	seen := p.seen()
	session := judge.Over(seen, p.expectation())
	cell.Exchanges = len(seen.Exchanges)
	cell.All = session.Findings()
	p.listed(cell)
	if len(p.scenario.Expect.Classify["cut_call"]) > 0 {
		cell.Class = p.class(session)
	}
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

// class tells which of the accepted ways of treating a cut call was seen. A limit
// that left no call to speak of stops the loop or is passed over.
func (p *play) class(s *judge.Session) string {
	if seen := s.CutCall(); seen != "" {
		return seen
	}
	if p.err != nil {
		return "stopped"
	}
	return "dropped"
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

// seen is what the judge is shown: the requests that came in, the replies that
// went out, and what the tool servers were asked.
func (p *play) seen() judge.Observed {
	out := judge.Observed{Watched: true, End: &judge.End{Text: p.outcome.Text, Warnings: p.outcome.Warnings}}
	if p.err != nil {
		out.End.Error, out.End.Message = loop.ErrorKind(p.err), p.err.Error()
	}
	for _, c := range p.tools.calls {
		out.Executed = append(out.Executed, judge.Executed{Server: c.server, Name: c.name, Arguments: c.arguments, Result: c.result})
	}
	for i, s := range p.conversation.Sent() {
		var answer *codecs.Answer
		if i < len(p.turns) {
			answer = &codecs.Answer{Status: p.turns[i].Status, Header: p.turns[i].Header, Body: p.turns[i].Body}
		}
		x := judge.Read(p.codec, p.resolved.Profile, codecs.In{Method: s.Method, Path: s.Path, Body: s.Body}, answer)
		x.Request, x.RequestErr = s.Request, s.Err // read without what the engine's entry does to a body
		out.Exchanges = append(out.Exchanges, x)
	}
	return out
}

// expectation is what the scenario wants of the reference.
func (p *play) expectation() *judge.Expectation {
	want, off := p.scenario.Expect, false
	out := &judge.Expectation{
		Model: p.model, MaxTokens: p.maxTokens, Stream: &off, Parallel: p.scenario.Request.Parallel, Prompt: p.prompt(),
		Tools: p.expectedTools(), ServerTools: p.scenario.ServerTools[string(p.codec.Dialect())], Turns: p.neutral,
		Calls: [][]fixtures.ToolCall{want.ToolCalls, p.withoutLastTurn(want.ToolCalls)}, Requests: &want.Requests,
		Ends: []fixtures.Ending{want.End.Reference}, Warnings: want.Warnings,
	}
	if len(p.scenario.Request.Choice) > 0 {
		out.Choice = codecs.ParseChoice(p.scenario.Request.Choice)
	}
	if p.player != nil {
		out.Recorded = &judge.Recorded{Differs: func(i int, _ codecs.In) error {
			if i+1 < len(p.conversation.Sent()) {
				return nil
			}
			if p.mismatch != nil {
				return p.mismatch
			}
			return p.player.Done()
		}}
	}
	return out
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

// listed names the checks that the scenario lists and that had nothing to judge
// at this row, so that a check never disappears in silence.
func (p *play) listed(cell *results.Cell) {
	for _, id := range p.scenario.Expect.Checks {
		if !slices.ContainsFunc(cell.All, func(c results.Check) bool { return c.ID == id }) {
			r, _ := judge.RuleByID(id)
			cell.All = append(cell.All, results.Check{ID: id, Side: r.Side, Level: results.Level(r.Level), Verdict: results.NA, Message: "nothing to judge at this row"})
		}
	}
}
