package suite_test

import (
	"context"
	"testing"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/results"
)

func newRunner(t testing.TB) suite.Runner {
	t.Helper()
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	tapes, err := suite.LoadTapes(cassettes.FS())
	if err != nil {
		t.Fatal(err)
	}
	return suite.Runner{Catalog: catalog, Scenarios: scenarios, Tapes: tapes, Date: "2026-11-30"}
}

// TestReferenceMeetsEverything replays the whole catalogue: no cell fails, none
// is blank, each says what it rests on.
func TestReferenceMeetsEverything(t *testing.T) {
	doc, err := newRunner(t).Run(context.Background(), suite.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range doc.Rows {
		if len(row.Cells) != len(doc.Columns) {
			t.Errorf("%s has %d cells for %d columns", row.Name, len(row.Cells), len(doc.Columns))
		}
		for _, c := range row.Cells {
			switch c.Verdict {
			case results.Pass, results.Degraded:
				if c.Origin == "" || c.Exchanges == 0 {
					t.Errorf("%s %s: %s without origin or exchange", row.Name, c.Scenario, c.Verdict)
				}
			case results.Same, results.NA:
				if c.Reason == "" {
					t.Errorf("%s %s: %s without a reason", row.Name, c.Scenario, c.Verdict)
				}
			default:
				t.Errorf("%s (%s) %s: %s: %s", row.Name, row.Dialect, c.Scenario, c.Verdict, c.Reason)
			}
		}
	}
}
