package suite

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite/results"
)

// Respell runs the scenario of a tape against its responses and returns the tape
// with the requests that the reference sends, and how the run was judged. It is
// how a tape is written: the responses are somebody's, the requests are ours.
// Responses that nobody asked for are an error.
func (r Runner) Respell(ctx context.Context, tape cassettes.Tape, entry cassettes.Entry) (cassettes.Tape, results.Cell, error) {
	at := slices.IndexFunc(r.Scenarios, func(s fixtures.Scenario) bool { return s.ID == entry.Scenario })
	if at < 0 {
		return tape, results.Cell{}, fmt.Errorf("tape %s: no scenario %q", entry.Tape, entry.Scenario)
	}
	p := play{runner: r, scenario: r.Scenarios[at].Bind(1)}
	engine, err := r.Catalog.Lookup(entry.Engine)
	if err != nil {
		return tape, results.Cell{}, fmt.Errorf("tape %s: %w", entry.Tape, err)
	}
	if p.codec, err = all.For(engine.Resolve(entry.Model).Dialect); err != nil {
		return tape, results.Cell{}, err
	}
	if err := p.fromTape(tape, entry); err != nil {
		return tape, results.Cell{}, err
	}
	p.run(ctx)
	cell := results.Cell{Scenario: entry.Scenario, Origin: results.Origin(entry.Origin.Kind), Tape: entry.Tape}
	p.judge(&cell)
	sent := p.conversation.Sent()
	if len(sent) < len(tape.Exchanges) {
		return tape, cell, fmt.Errorf("tape %s: %d responses, but the loop sends %d requests (it ended with %q, %v)", entry.Tape, len(tape.Exchanges), len(sent), p.outcome.Text, p.err)
	}
	out := cassettes.Tape{Name: entry.Tape}
	for i, x := range tape.Exchanges {
		x.Request = cassettes.Request{
			Method: sent[i].Method, URL: withoutKey(sent[i].URL, engine.Auth),
			Header: http.Header{"Content-Type": {"application/json"}}, Body: sent[i].Body,
		}
		out.Exchanges = append(out.Exchanges, x)
	}
	return out, cell, nil
}

// withoutKey takes the key out of a URL whose engine takes it in the query.
func withoutKey(address, auth string) string {
	name, inQuery := strings.CutPrefix(auth, "query:")
	u, err := url.Parse(address)
	if err != nil || !inQuery {
		return address
	}
	q := u.Query()
	q.Del(name)
	u.RawQuery = q.Encode()
	return u.String()
}

// NeutralRequest reads a request body as what it says: messages and parts, with
// the ids of results left out, since some clients send none and pair by name.
func NeutralRequest(c codecs.Full, p codecs.Profile, body []byte) (codecs.Raw, error) {
	req, _, err := c.ParseRequest(codecs.In{Body: body}, p)
	if err != nil {
		return nil, err
	}
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			if part.Kind == codecs.ResultKind {
				part.Result.ID = ""
			}
		}
	}
	return codecs.RequestView(req), nil
}
