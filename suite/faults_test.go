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
	"github.com/toolconform/conform/suite/results"
)

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
