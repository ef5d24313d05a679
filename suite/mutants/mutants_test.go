package mutants_test

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite/judge"
	"github.com/toolconform/conform/suite/mutants"
	"github.com/toolconform/conform/suite/results"
)

func load(t *testing.T) []mutants.Fault {
	t.Helper()
	list, err := mutants.Faults()
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
		if (f.Side == mutants.Client) == (len(f.Fails) == 0) || (f.Side == mutants.Engine) == (f.Body == nil) {
			t.Errorf("%s: a client's fault names cells, an engine's a body", f.ID)
		}
	}
}

// TestFaultsOfEngines: the judge finds each fault in a reply, and nothing of the
// kind in the reply without it.
func TestFaultsOfEngines(t *testing.T) {
	for _, f := range load(t) {
		if f.Side != mutants.Engine {
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
