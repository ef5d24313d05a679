package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/client"
	"github.com/toolconform/conform/suite/judge"
	"github.com/toolconform/conform/suite/results"
)

func load(t *testing.T) []Fault {
	t.Helper()
	list, err := Faults()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestFaultsNameRules: a fault is of a rule and of dialects that there are, and a
// fault of a client says in which cells it shows.
func TestFaultsNameRules(t *testing.T) {
	for _, f := range load(t) {
		for _, id := range append(f.Rules, f.May...) {
			if _, ok := fixtures.RuleByID(id); !ok {
				t.Errorf("%s: %s is no rule", f.ID, id)
			}
		}
		for _, d := range f.Dialects {
			if _, err := all.For(codecs.Dialect(d)); err != nil {
				t.Errorf("%s: %v", f.ID, err)
			}
		}
		if (f.Side == Client) == (len(f.Fails) == 0) || (f.Side == Engine) == (f.Body == nil) {
			t.Errorf("%s: a client's fault names cells, an engine's a body", f.ID)
		}
	}
}

// TestFaultsOfEngines: the judge finds each fault in a reply, and nothing of the
// kind in the reply without it.
func TestFaultsOfEngines(t *testing.T) {
	for _, f := range load(t) {
		if f.Side != Engine {
			continue
		}
		t.Run(f.ID, func(t *testing.T) {
			c, err := all.For(codecs.Dialect(f.Dialects[0]))
			if err != nil {
				t.Fatal(err)
			}
			whole, err := c.Reply(f.Body, codecs.Profile{})
			if err != nil {
				t.Fatal(err)
			}
			spoiled, changed := f.Spoil(f.Body)
			if !changed {
				t.Fatal("the fault changes nothing")
			}
			for verdict, body := range map[results.Verdict]codecs.Raw{results.Pass: f.Body, results.Fail: spoiled} {
				in := codecs.In{Method: "POST", Path: c.Endpoint("m", false), Body: f.Request}
				x := judge.Read(c, codecs.Profile{}, in, &codecs.Answer{Status: 200, Body: body})
				got := map[string]results.Verdict{}
				for _, k := range judge.Judge(judge.Observed{Exchanges: []judge.Exchange{x}}, &judge.Expectation{Turns: []*codecs.Reply{&whole}}) {
					got[k.ID] = k.Verdict
				}
				for _, rule := range f.Rules {
					if got[rule] != verdict {
						t.Errorf("%s is %q, want %q: %s", rule, got[rule], verdict, body)
					}
				}
			}
		})
	}
}

// quiet is a codec that says what it is told.
type quiet struct {
	codecs.Full
	messages []codecs.Raw
}

func (q quiet) Continue(codecs.Reply, []codecs.ToolResult, codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	return q.messages, nil, nil
}

// TestPlantedLeavesTheRestAlone: what a fault does not apply to keeps every byte,
// and is not marked as touched.
func TestPlantedLeavesTheRestAlone(t *testing.T) {
	openai, err := all.For(codecs.OpenAI)
	if err != nil {
		t.Fatal(err)
	}
	msg := codecs.Raw(`{ "role":"assistant","content":"ebb","z": 1.0 }`)
	for _, f := range load(t) {
		if f.ID == "message-between" { // stands before any second message, and there is none
			continue
		}
		p := f.Plant(quiet{openai, []codecs.Raw{msg}})
		out, _, err := p.Continue(codecs.Reply{}, nil, codecs.Profile{})
		if err != nil || len(out) != 1 || string(out[0]) != string(msg) || p.Touched {
			t.Errorf("%s: %s, touched %v, %v", f.ID, out, p.Touched, err)
		}
	}
}

// TestFaultsAreFound plants each fault of a client: its rules fail where they
// must, and other cells are as good as without it.
func TestFaultsAreFound(t *testing.T) {
	for _, f := range load(t) {
		if f.Side != Client || f.Everywhere { // those are held over the whole matrix by the command's test
			continue
		}
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			r, err := newRunner(env{})
			if err != nil {
				t.Fatal(err)
			}
			r.Client = client.Reference{Catalog: r.Catalog, Wrap: func(c codecs.Full) codecs.Codec { return f.Plant(c) }}
			found := map[string]bool{}
			for _, id := range f.Fails {
				engine, scenario, _ := strings.Cut(id, " ")
				cell := playCell(t, r, engine, scenario)
				n := len(found)
				for _, rule := range f.Rules {
					at := slices.IndexFunc(cell.All, func(k results.Check) bool { return k.ID == rule })
					if at < 0 || cell.All[at].Verdict != results.Fail {
						continue
					}
					k := cell.All[at]
					found[rule] = true
					if !strings.Contains(k.Evidence, "expected") && rule != "request.as_recorded" && rule != "prompt.kept" {
						t.Errorf("evidence %q does not say what was expected and seen", k.Evidence)
					}
				}
				if len(found) == n && n < len(f.Rules) {
					t.Errorf("%s: none of %q fails; the checks are %+v", id, f.Rules, cell.All)
				}
			}
			for _, rule := range f.Rules {
				if !found[rule] {
					t.Errorf("%s fails in none of %q", rule, f.Fails)
				}
			}
			for _, id := range f.Passes {
				engine, scenario, _ := strings.Cut(id, " ")
				if other := playCell(t, r, engine, scenario); other.Verdict != results.Pass {
					t.Errorf("%s is %s: %s", id, other.Verdict, other.Reason)
				}
			}
		})
	}
}

// TestEveryCheckCanFail makes sure that no check is without a fault that fails
// it, and that no fault names a rule without a check.
func TestEveryCheckCanFail(t *testing.T) {
	fails := map[string]string{"warnings.given": "TestMissingWarningFails"}
	for _, f := range load(t) {
		for _, rule := range f.Rules {
			fails[rule] = f.ID
		}
	}
	for _, rule := range judge.Rules() {
		if fails[rule.ID] == "" {
			t.Errorf("no fault fails %s", rule.ID)
		}
		delete(fails, rule.ID)
	}
	for rule, id := range fails {
		t.Errorf("%s: nothing judges %s", id, rule)
	}
}

func playCell(t testing.TB, r suite.Runner, engine, scenario string) results.Cell {
	t.Helper()
	doc, err := r.Run(t.Context(), suite.Selection{Engines: []string{engine}, Scenarios: []string{scenario}})
	if err != nil {
		t.Fatal(err)
	}
	return doc.Rows[0].Cells[0]
}
