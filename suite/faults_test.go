package suite_test

import (
	"context"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/client"
	"github.com/toolconform/conform/suite/judge"
	"github.com/toolconform/conform/suite/mutants"
	"github.com/toolconform/conform/suite/results"
)

// TestFaultsAreFound plants each fault of a client: its rules fail where they
// must, and other cells are as good as without it.
func TestFaultsAreFound(t *testing.T) {
	for _, f := range planted(t) {
		if f.Side != mutants.Client || f.Everywhere { // those are held over the whole matrix by the command's test
			continue
		}
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t)
			r.Client = client.Reference{Catalog: r.Catalog, Wrap: func(c codecs.Full) codecs.Codec { return f.Plant(c) }}
			found := map[string]bool{}
			for _, id := range f.Fails {
				engine, scenario, _ := strings.Cut(id, " ")
				cell := runCell(t, r, engine, scenario)
				n := len(found)
				for _, rule := range f.Rules {
					k := checkOf(cell, rule)
					if k.Verdict != results.Fail {
						continue
					}
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
				if other := runCell(t, r, engine, scenario); other.Verdict != results.Pass {
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
	for _, f := range planted(t) {
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

func planted(t *testing.T) []mutants.Fault {
	t.Helper()
	list, err := mutants.Faults()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func runCell(t testing.TB, r suite.Runner, engine, scenario string) results.Cell {
	t.Helper()
	doc, err := r.Run(context.Background(), suite.Selection{Engines: []string{engine}, Scenarios: []string{scenario}})
	if err != nil {
		t.Fatal(err)
	}
	return doc.Rows[0].Cells[0]
}

func checkOf(c results.Cell, id string) results.Check {
	for _, k := range c.All {
		if k.ID == id {
			return k
		}
	}
	return results.Check{}
}

func TestMissingWarningFails(t *testing.T) {
	r := newRunner(t)
	r.Scenarios = variant(t, "basic/one-call", "basic/wants-a-warning", func(s string) string {
		return strings.Replace(s, `"expect": {`, `"expect": {"warnings": ["tool.duplicate"],`, 1)
	})
	k := checkOf(runCell(t, r, "openai", "basic/wants-a-warning"), "warnings.given")
	if k.Verdict != results.Fail || k.Level != results.Should || !strings.Contains(k.Evidence, codecs.WarnToolDuplicate) {
		t.Errorf("got %+v", k)
	}
}

// variant loads a suite of one scenario: the named one under another id, with
// its text edited.
func variant(t testing.TB, id, as string, edit func(string) string) []fixtures.Scenario {
	t.Helper()
	data, err := fs.ReadFile(fixtures.FS(), "scenarios/"+id+".json")
	if err != nil {
		t.Fatal(err)
	}
	text := edit(strings.Replace(string(data), `"id": "`+id+`"`, `"id": "`+as+`"`, 1))
	list, err := fixtures.LoadScenarios(fstest.MapFS{"scenarios/" + as + ".json": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
