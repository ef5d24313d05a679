package results_test

import (
	"reflect"
	"testing"

	"github.com/toolconform/conform/suite/results"
)

func TestSettle(t *testing.T) {
	k := func(id, side string, level results.Level, v results.Verdict) results.Check {
		return results.Check{ID: id, Side: side, Level: level, Verdict: v, Evidence: "seen"}
	}
	pass := k("results.pairing", "request", results.Must, results.Pass)
	for _, c := range []struct {
		name    string
		checks  []results.Check
		verdict results.Verdict
		cause   results.Cause
		reason  string
		passed  int
	}{
		{name: "nothing judged", verdict: results.Pass},
		{name: "all pass", checks: []results.Check{pass, pass}, verdict: results.Pass, passed: 2},
		{name: "n/a is no failure", checks: []results.Check{pass, k("a.b", "request", results.Must, results.NA)}, verdict: results.Pass, passed: 1},
		{name: "client", checks: []results.Check{pass, k("a.b", "request", results.Should, results.Fail)}, verdict: results.Fail, cause: results.ByClient, reason: "a.b: seen", passed: 1},
		{name: "end", checks: []results.Check{k("a.b", "end", results.Must, results.Fail)}, verdict: results.Fail, cause: results.ByClient, reason: "a.b: seen"},
		{name: "engine", checks: []results.Check{k("a.b", "reply", results.Must, results.Fail)}, verdict: results.Fail, cause: results.ByEngine, reason: "a.b: seen"},
		{name: "engine, below must", checks: []results.Check{k("a.b", "reply", results.Should, results.Fail)}, verdict: results.Degraded, cause: results.ByEngine, reason: "a.b: seen"},
		{name: "the first of several", checks: []results.Check{k("a.a", "request", results.Must, results.Degraded), k("a.b", "request", results.Must, results.Fail), k("a.c", "reply", results.Must, results.Fail)}, verdict: results.Fail, cause: results.ByClient, reason: "a.b: seen"},
		{name: "unknown is not the fallback", checks: []results.Check{k("a.a", "request", results.Must, results.Degraded), k("a.b", "request", results.Must, results.Unknown)}, verdict: results.Unknown, reason: "a.b: seen"},
	} {
		cell := results.Cell{Verdict: results.Error, Reason: "from before", Cause: results.ByHarness}
		cell.Settle(c.checks)
		if cell.Verdict != c.verdict || cell.Cause != c.cause || cell.Reason != c.reason || cell.Passed != c.passed {
			t.Errorf("%s: %+v", c.name, cell)
		}
		if len(cell.All) != len(c.checks) || len(cell.Checks)+cell.Passed != len(c.checks) {
			t.Errorf("%s: %d checks of %d, %d kept", c.name, len(cell.All), len(c.checks), len(cell.Checks))
		}
	}
}

// TestRestOn: what rests on an unknown fact is neither green nor evidence; a
// failure stays one.
func TestRestOn(t *testing.T) {
	for _, c := range []struct {
		was, is results.Verdict
		unknown []string
		reason  string
	}{
		{results.Pass, results.Pass, nil, ""},
		{results.Pass, results.Unknown, []string{"cut_call"}, "cut_call of pier is unknown"},
		{results.Degraded, results.Unknown, []string{"dialect", "ids"}, "dialect and ids of pier are unknown"},
		{results.NA, results.Unknown, []string{"ids"}, "ids of pier is unknown"},
		{results.Fail, results.Fail, []string{"ids"}, ""},
		{results.Error, results.Error, []string{"ids"}, ""},
	} {
		cell := results.Cell{Verdict: c.was, Origin: results.Synthetic, Tape: "t", Exchanges: 2}
		cell.RestOn("pier", c.unknown)
		want := results.Cell{Verdict: c.is, Origin: results.Synthetic, Tape: "t", Exchanges: 2}
		if c.is == results.Unknown {
			want = results.Cell{Verdict: c.is, Facts: c.unknown, Reason: c.reason, Exchanges: 2}
		}
		if !reflect.DeepEqual(cell, want) {
			t.Errorf("%s on %v: %+v", c.was, c.unknown, cell)
		}
	}
	rows := []results.Row{{Name: "pier", Cells: []results.Cell{{Verdict: results.Unknown, Facts: []string{"dialect", "ids"}}, {Verdict: results.Unknown, Facts: []string{"ids"}}, {Verdict: results.Pass}}}}
	if got := results.Count(rows).ByFact; !reflect.DeepEqual(got, map[string]int{"dialect": 1, "ids": 2}) {
		t.Errorf("by fact: %v", got)
	}
}

func TestFailed(t *testing.T) {
	fail := func(l results.Level, cause results.Cause) results.Cell {
		return results.Cell{Verdict: results.Fail, Cause: cause, Checks: []results.Check{{Verdict: results.Fail, Level: l}}}
	}
	levels := []string{"must", "should", "degraded", "not-run"}
	for _, c := range []struct {
		name string
		cell results.Cell
		from int // index of the first level at which it fails
	}{
		{"pass", results.Cell{Verdict: results.Pass}, 4},
		{"as another row", results.Cell{Verdict: results.Same}, 4},
		{"must", fail(results.Must, results.ByClient), 0},
		{"should", fail(results.Should, results.ByClient), 1},
		{"the model's", fail(results.Must, results.ByModel), 4},
		{"the budget's", fail(results.Must, results.ByBudget), 4},
		{"degraded", results.Cell{Verdict: results.Degraded}, 2},
		{"unknown", results.Cell{Verdict: results.Unknown}, 3},
		{"not run", results.Cell{Verdict: results.NotRun}, 3},
	} {
		doc := results.Document{Rows: []results.Row{{Cells: []results.Cell{{Verdict: results.Pass}, c.cell}}}}
		for i, l := range levels {
			if got := doc.Failed(l); got != (i >= c.from) {
				t.Errorf("%s at %s: failed is %v", c.name, l, got)
			}
		}
	}
}

func TestIndex(t *testing.T) {
	a := results.Key{Scenario: "tide/high"}
	row := results.Row{Cells: []results.Cell{
		{Scenario: a.Scenario, Verdict: results.Pass},
		{Scenario: a.Scenario, Stream: true, Verdict: results.NotRun},
		{Scenario: a.Scenario, Verdict: results.NotRun},
		{Scenario: a.Scenario, Stream: true, Verdict: results.Fail},
	}}
	got := row.Index()
	if len(got) != 2 || got[a].Verdict != results.Pass || got[results.Key{Scenario: a.Scenario, Stream: true}].Verdict != results.Fail {
		t.Errorf("got %+v", got)
	}
}
