package suite

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite/results"
)

// respell runs the scenario of a tape against its responses and returns the tape
// with the requests that the reference sends, and how the run was judged. It is
// how a tape is written: the responses are somebody's, the requests are ours.
// Responses that nobody asked for are an error.
func (r Runner) respell(ctx context.Context, tape cassettes.Tape, entry cassettes.Entry) (cassettes.Tape, results.Cell, error) {
	at := slices.IndexFunc(r.Scenarios, func(s fixtures.Scenario) bool { return s.ID == entry.Scenario })
	if at < 0 {
		return tape, results.Cell{}, fmt.Errorf("tape %s: no scenario %q", entry.Tape, entry.Scenario)
	}
	engine, err := r.Catalog.Lookup(entry.Engine)
	if err != nil {
		return tape, results.Cell{}, fmt.Errorf("tape %s: %w", entry.Tape, err)
	}
	c := cell{scenario: r.Scenarios[at].Bind(1)}
	if c.codec, err = all.For(engine.Resolve(entry.Model).Dialect); err != nil {
		return tape, results.Cell{}, err
	}
	if err := c.fromTape(r, tape, entry); err != nil {
		return tape, results.Cell{}, err
	}
	run := r.start()
	defer run.tools.close()
	if err := c.play(ctx, run); err != nil {
		return tape, results.Cell{}, err
	}
	c.tape = nil // its requests are what is being written
	cell := results.Cell{Scenario: entry.Scenario, Origin: results.Origin(entry.Origin.Kind), Tape: entry.Tape}
	c.judge(&cell, run.reference)
	sent := c.transcript.Exchanges
	if len(sent) < len(tape.Exchanges) {
		return tape, cell, fmt.Errorf("tape %s: %d responses, but the loop sends %d requests (it ended with %+v)", entry.Tape, len(tape.Exchanges), len(sent), c.transcript.End)
	}
	task := c.task()
	address, err := (&engines.Client{Engine: c.resolved.Engine, Model: c.model, Vars: task.Vars}).URL(false)
	if err != nil {
		return tape, cell, err
	}
	out := cassettes.Tape{Name: entry.Tape}
	for i, x := range tape.Exchanges {
		x.Request = cassettes.Request{Method: sent[i].In.Method, URL: address, Header: http.Header{"Content-Type": {"application/json"}}, Body: sent[i].In.Body}
		out.Exchanges = append(out.Exchanges, x)
	}
	return out, cell, nil
}

// neutralRequest reads a request body as what it says: messages and parts, with
// the ids of results left out, since some clients send none and pair by name.
func neutralRequest(c codecs.Full, p codecs.Profile, body []byte) (codecs.Raw, error) {
	req, _, err := c.ParseRequest(codecs.In{Body: body}, p)
	if err != nil {
		return nil, err
	}
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			if part.Kind == codecs.KindResult {
				part.Result.ID = ""
			}
		}
	}
	return neutral.ViewRequest(req), nil
}
