package report_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"

	"github.com/toolconform/conform/report"
	"github.com/toolconform/conform/suite/results"
)

// sample is a small document with every verdict, every origin, a row that
// stands for another, one that does but for a tape of its own, and two failures.
func sample() results.Document {
	scenarios := []string{"basic/one-call", "limits/iterations", "media/image-in-result", "reasoning/echo", "truncation/lone-cut"}
	doc := results.Document{Version: results.Version, SuiteVersion: "0.1.0", Mode: "replay", Date: "2026-11-30", Command: "conform run"}
	for _, s := range scenarios {
		doc.Columns = append(doc.Columns, results.Column{Scenario: s, Area: strings.Split(s, "/")[0], Title: "Title of " + s})
	}
	row := func(name, dialect, sameAs string, cells ...results.Cell) {
		for i := range cells {
			cells[i].Scenario = scenarios[i]
		}
		doc.Rows = append(doc.Rows, results.Row{Name: name, Kind: "engine", From: dialect, To: dialect, Model: "lamp-1", SameAs: sameAs, Cells: cells})
	}
	recorded := results.Cell{Verdict: results.Pass, Origin: results.Recorded, Tape: "lighthouse/basic/one-call", Exchanges: 2}
	documented := results.Cell{Verdict: results.Pass, Origin: results.Documented, Tape: "lighthouse/reasoning/echo", Exchanges: 2}
	pass := results.Cell{Verdict: results.Pass, Origin: results.Synthetic, Exchanges: 2, Passed: 1}
	degraded := results.Cell{
		Verdict: results.Degraded, Origin: results.Synthetic, Exchanges: 2, Reason: "results.media: a line of text stands for [image] image/png (3 bytes)",
		Checks: []results.Check{{
			ID: "results.media", Side: "request", Level: results.Must, Verdict: results.Degraded,
			Message: "request 2, turn 1", Evidence: "a line of text stands for [image] image/png (3 bytes)",
		}},
	}
	same := results.Cell{Verdict: results.Same}
	na := results.Cell{Verdict: results.NA, Reason: "this wire has no word for it"}
	row("lighthouse", "openai", "", recorded, pass, degraded, documented, pass)
	row("pier-one", "openai", "lighthouse", same, same, same, same, same)
	row("pier-two", "openai", "lighthouse", same, same, na, results.Cell{Verdict: results.Unknown, Facts: []string{"reasoning_echo"}, Reason: "reasoning_echo of pier-two is unknown"}, same)
	row("buoy", "openai", "lighthouse", same, same, same, recorded, same)
	row("a-harbour-with-a-very-long-name", "anthropic", "", pass, results.Cell{Verdict: results.NotRun, Reason: "needs a key"}, na,
		results.Cell{
			Verdict: results.Fail, Origin: results.Synthetic, Exchanges: 2, Reason: "echo.reasoning: expected the reasoning, seen none", Cause: results.ByClient, Passed: 1,
			Checks: []results.Check{
				{
					ID: "echo.reasoning", Side: "request", Level: results.Must, Verdict: results.Fail, Message: "request 2, turn 1",
					Evidence: `expected the reasoning "The user wants to know how high the water stands at Husum; I will ask the gauge.", seen ""`,
				},
				{ID: "echo.signature", Side: "request", Level: results.Must, Verdict: results.Fail, Evidence: "expected c2ln, seen \"\x1b[31mred\x07\""},
				{ID: "results.pairing", Side: "request", Level: results.Must, Verdict: results.NA},
			},
		},
		results.Cell{Verdict: results.Error, Cause: results.ByHarness, Reason: "panic: the lamp fell into the sea"})
	doc.Totals = results.Count(doc.Rows)
	doc.Recorded = []string{"Lamp 0.3"}
	return doc
}

func TestGolden(t *testing.T) {
	for name, o := range map[string]report.Options{
		"plain": {}, "wide": {Width: 140}, "tiny": {Width: 50}, "colour": {Color: true, Grid: true}, "grid": {Grid: true},
	} {
		t.Run(name, func(t *testing.T) {
			goldie.New(t).Assert(t, name, asText(t, sample(), o))
		})
	}
	t.Run("json", func(t *testing.T) {
		goldie.New(t).Assert(t, "json", written(t, "json", sample(), report.Options{}))
	})
}

func asText(t *testing.T, doc results.Document, o report.Options) []byte {
	t.Helper()
	return written(t, "text", doc, o)
}

func written(t *testing.T, form string, doc results.Document, o report.Options) []byte {
	t.Helper()
	forms := report.Forms()
	at := slices.IndexFunc(forms, func(f report.Form) bool { return f.Name == form })
	var b bytes.Buffer
	if err := forms[at].Write(&b, doc, o); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
