package suite

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/suite/judge"
	"github.com/toolconform/conform/suite/results"
)

// judge fills the verdict from what happened. Policies are judged of the
// reference only.
func (c *cell) judge(out *results.Cell, reference bool) {
	seen := c.seen()
	session := judge.Over(seen, c.expectation(reference))
	out.Exchanges = len(seen.Exchanges)
	out.All = session.Findings()
	c.listed(out)
	c.strayed(out)
	if len(c.scenario.Expect.Classify["cut_call"]) > 0 {
		out.Class = c.class(session)
	}
	order := map[string]int{}
	for i, r := range judge.Rules() {
		order[r.ID] = i
	}
	slices.SortStableFunc(out.All, func(a, b results.Check) int { return order[a.ID] - order[b.ID] })
	out.Settle(out.All)
	out.RestOn(c.resolved.Engine.Name, unknown(c.resolved, c.scenario))
	switch pointless := c.pointless(out); {
	case out.Verdict != results.Pass:
	case pointless && c.lacks == "":
		out.Break("nothing was judged that the scenario is about (" + strings.Join(c.scenario.Rules, ", ") + "), and it does not leave this engine out")
	case pointless:
		out.Verdict, out.Reason = results.NA, c.lacks // and the tape is the evidence
	case c.lacks != "":
		out.Break("the index of the tapes says that this one shows nothing, and it does: " + c.lacks)
	}
}

// errorIn200 tells whether a turn of a scenario is an error inside a 200: only an
// engine's likeness says how that looks, or that there is none.
func errorIn200(s fixtures.Scenario) bool {
	return slices.ContainsFunc(s.Turns, func(t fixtures.Turn) bool { return t.Error != nil && t.Error.Status == http.StatusOK })
}

// unknown names the facts that decide what a scenario shows of an engine and that
// nobody knows. That the engine speaks its dialect is one of all of them.
func unknown(res engines.Resolved, s fixtures.Scenario) []string {
	out := slices.DeleteFunc(append([]string{"dialect"}, s.Facts()...), func(name string) bool { return res.Facts.Of(name).Known() })
	if errorIn200(s) && res.Likeness.ErrorIn200 == nil {
		out = append(out, codecs.SaysErrorIn200)
	}
	return out
}

// class tells which of the accepted ways of treating a cut call was seen. A limit
// that left no call to speak of stops the loop or is passed over.
func (c *cell) class(s *judge.Session) string {
	if seen := s.CutCall(); seen != "" {
		return seen
	}
	if c.outcome.Error != nil {
		return "stopped"
	}
	return "dropped"
}

// pointless tells whether every rule that the scenario is about had nothing to
// judge at this row: the loop completed, but the cell would say more than it shows.
func (c *cell) pointless(cell *results.Cell) bool {
	for _, id := range c.scenario.Rules {
		if slices.ContainsFunc(cell.All, func(k results.Check) bool { return k.ID == id && k.Verdict != results.NA }) {
			return false
		}
	}
	return len(c.scenario.Rules) > 0
}

// seen is what the judge is shown: the requests that came in, the replies that
// went out, and what the tool servers were asked.
func (c *cell) seen() judge.Observed {
	t := c.transcript
	out := judge.Observed{Watched: true, End: &judge.End{Text: t.End.Text, Error: t.End.Kind, Message: t.End.Message, Warnings: c.outcome.Warnings}}
	for _, k := range t.Calls {
		e := judge.Executed{Server: k.Server, Name: k.Name, Arguments: k.Arguments}
		err := errors.New(k.Error)
		if k.Error == "" {
			err = wire.ReadMCPResult(&e.Result, jsonx.Of(k.Result))
		}
		if err != nil {
			e.Result = codecs.ToolResult{Content: []codecs.Raw{codecs.TextBlock(err.Error())}, IsError: true}
		}
		out.Executed = append(out.Executed, e)
	}
	for _, e := range t.Exchanges {
		var answer *codecs.Answer
		if e.Turn < len(c.script.Turns) { // past it nothing is the engine's
			answer = &e.Out
		}
		body, err := c.resolved.Engine.Restore(e.In.Body, c.model)
		in := e.In
		in.Body = body
		x := judge.Read(c.codec, c.resolved.Profile, in, answer)
		if err != nil {
			x.RequestErr = err
		}
		out.Exchanges = append(out.Exchanges, x)
	}
	return out
}

// strayed names the paths that nothing answered where requests are missing: a
// client that has its own idea of a path sends none that counts.
func (c *cell) strayed(out *results.Cell) {
	for i, k := range out.All {
		if k.ID != "requests.count" || k.Verdict != results.Fail {
			continue
		}
		for _, x := range c.transcript.Side {
			if x.Out.Status == http.StatusNotFound {
				out.All[i].Evidence += fmt.Sprintf("; %s %s is no path of this engine", x.In.Method, x.In.Path)
				return
			}
		}
	}
}

// expectation is what the scenario wants of the client.
func (c *cell) expectation(reference bool) *judge.Expectation {
	want, req := c.scenario.Expect, c.scenario.Request
	out := &judge.Expectation{
		Model: c.wireModel(), MaxTokens: c.maxTokens, Stream: &c.stream, Parallel: req.Parallel, Prompt: c.prompt(),
		Tools: c.expectedTools(), ServerTools: c.scenario.ServerTools[string(c.codec.Dialect())],
		Calls: [][]fixtures.ToolCall{want.ToolCalls, c.withoutLastTurn(want.ToolCalls)}, Requests: &want.Requests, Ends: want.End.Accept,
	}
	for _, t := range c.script.Turns {
		out.Turns = append(out.Turns, t.Says)
	}
	if len(req.Choice) > 0 {
		out.Choice = wire.ParseChoice(req.Choice)
	}
	if !reference {
		return out
	}
	out.Ends, out.Warnings = []fixtures.Ending{want.End.Reference}, want.Warnings
	if c.tape != nil {
		out.Recorded = &judge.Recorded{Requests: len(c.tape.Exchanges), Differs: func(i int, _ codecs.In) error {
			in := c.transcript.Exchanges[i].In // as it was sent
			address := url.URL{Path: in.Path, RawPath: in.Path, RawQuery: in.Query.Encode()}
			return c.tape.Differs(i, cassettes.Request{Method: in.Method, URL: address.String(), Body: in.Body})
		}}
	}
	return out
}

// wireModel is the model as its requests name it: a dialect that has it in the
// path may have another spelling there.
func (c *cell) wireModel() string {
	address, err := url.Parse(c.codec.Endpoint(c.model, false))
	if err != nil {
		return c.model
	}
	named, _, _ := c.codec.Match(codecs.In{Path: address.Path, Query: address.Query()})
	return cmp.Or(named, c.model)
}

// prompt reads the scenario's messages.
func (c *cell) prompt() []codecs.Message {
	messages, err := c.task().Prompt()
	if err != nil {
		panic(err) // the scenario's schema rules it out
	}
	return messages
}

// expectedTools are the tools that a request must declare: of each name the
// first offer.
func (c *cell) expectedTools() []codecs.Tool {
	var out []codecs.Tool
	seen := map[string]bool{}
	for _, s := range c.scenario.Servers {
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
func (c *cell) withoutLastTurn(want []fixtures.ToolCall) []fixtures.ToolCall {
	if c.scenario.Expect.End.Reference.Error != "iterations" || len(c.scenario.Turns) == 0 {
		return want
	}
	calls := 0
	for _, raw := range c.scenario.Turns[len(c.scenario.Turns)-1].Parts {
		if jsonx.Of(raw).Get("kind").Str() == string(codecs.KindCall) {
			calls++
		}
	}
	return want[:max(len(want)-calls, 0)]
}

// listed names the checks that the scenario lists and that had nothing to judge
// at this row, so that a check never disappears in silence.
func (c *cell) listed(cell *results.Cell) {
	for _, id := range c.scenario.Expect.Checks {
		if !slices.ContainsFunc(cell.All, func(k results.Check) bool { return k.ID == id }) {
			r, _ := judge.RuleByID(id)
			cell.All = append(cell.All, results.Check{ID: id, Side: r.Side, Level: results.Level(r.Level), Verdict: results.NA, Message: "nothing to judge at this row"})
		}
	}
}
