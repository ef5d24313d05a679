package suite_test

import (
	"context"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

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
// is blank, each says what it rests on, or which fact is missing.
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
			case results.Unknown:
				if len(c.Facts) == 0 || c.Origin != "" {
					t.Errorf("%s %s: unknown, on the facts %v and origin %q", row.Name, c.Scenario, c.Facts, c.Origin)
				}
			case results.Same:
				if row.SameAs == "" {
					t.Errorf("%s %s: the same as no row", row.Name, c.Scenario)
				}
			case results.NA:
				if c.Reason == "" {
					t.Errorf("%s %s: %s without a reason", row.Name, c.Scenario, c.Verdict)
				}
			default:
				t.Errorf("%s (%s) %s: %s: %s", row.Name, row.From, c.Scenario, c.Verdict, c.Reason)
			}
		}
	}
}

// TestBrokenTape: a tape that is missing or broken is an error of the harness
// that names file and remedy, in its own cell only. It never turns into a
// recording or into a rendered conversation.
func TestBrokenTape(t *testing.T) {
	for _, c := range []struct{ name, tape, want string }{
		{"missing", "", "tapes/llama-server/basic/one-call.yaml"},
		{"broken", "interactions: [", "line"},
		{"binary", "\x00\x01\x02", "tapes/llama-server/basic/one-call.yaml"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRunner(t)
			files := fstest.MapFS{}
			if c.tape != "" {
				files["tapes/llama-server/basic/one-call.yaml"] = &fstest.MapFile{Data: []byte(c.tape)}
			}
			r.Tapes = &suite.Tapes{FS: files, Index: r.Tapes.Index}
			cell := runCell(t, r, "llama-server", "basic/one-call")
			if cell.Verdict != results.Error || !strings.Contains(cell.Reason, c.want) || cell.Origin == results.Synthetic {
				t.Errorf("got %s, %q, origin %q", cell.Verdict, cell.Reason, cell.Origin)
			}
			if other := runCell(t, r, "openai", "basic/one-call"); other.Verdict != results.Pass {
				t.Errorf("a row without a tape is %s: %s", other.Verdict, other.Reason)
			}
		})
	}
}

// TestReadmeFigures holds the figures of the README against a run: what is added
// later may make them too small, never too large.
func TestReadmeFigures(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := newRunner(t).Run(context.Background(), suite.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	for pattern, want := range map[string]int{
		`replays (\S+) engines`:         doc.Totals.Engines,
		`full run is (\S+)\s+exchanges`: doc.Totals.Exchanges,
	} {
		m := regexp.MustCompile(pattern).FindStringSubmatch(string(readme))
		if m == nil {
			t.Errorf("README: nothing fits %q", pattern)
			continue
		}
		if said, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", "")); err != nil || said > want || said < want*8/10 {
			t.Errorf("README: %q says %s, the run %d", pattern, m[1], want)
		}
	}
}
