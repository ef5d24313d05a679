package suite_test

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/judge"
	"github.com/toolconform/conform/suite/results"
)

// TestScenarioIsOneFile adds a scenario as a file and finds it in every dialect.
func TestScenarioIsOneFile(t *testing.T) {
	r := newRunner(t)
	r.Scenarios = append(r.Scenarios, variant(t, "basic/one-call", "added/harbour-lamp", func(s string) string {
		return strings.NewReplacer("get_weather", "light_lamp", "What is the weather in Paris?", "Light the lamp.",
			"It is 21 degrees and sunny in Paris.", "The lamp is lit.").Replace(s)
	})...)
	doc, err := r.Run(context.Background(), suite.Selection{Scenarios: []string{"added"}})
	if err != nil {
		t.Fatal(err)
	}
	passed := map[codecs.Dialect]bool{}
	for _, row := range doc.Rows {
		if c := row.Cells[0]; c.Verdict == results.Pass && c.Exchanges == 2 && c.Origin == results.Synthetic {
			passed[codecs.Dialect(row.From)] = true
		}
	}
	for _, d := range codecs.Dialects() {
		if !passed[d] {
			t.Errorf("the scenario does not pass in %s", d)
		}
	}
}

// TestEngineIsOneEntry adds an engine as a file and finds it as a row: a new
// profile is run, one that another engine has stands for it.
func TestEngineIsOneEntry(t *testing.T) {
	data, err := os.ReadFile("../engines/catalogue/deepseek.json")
	if err != nil {
		t.Fatal(err)
	}
	add := func(name, edit, into string) []byte {
		text := strings.Replace(string(data), `"name": "deepseek"`, `"name": "`+name+`"`, 1)
		return []byte(strings.Replace(text, edit, into, 1))
	}
	dir := fstest.MapFS{
		"deepseek.json": {Data: data}, "quay.json": {Data: add("quay", "", "")},
		"pier.json": {Data: add("pier", `"max_tokens_key": "max_tokens"`, `"max_tokens_key": "max_completion_tokens"`)},
	}
	catalog, err := engines.LoadFS(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := newRunner(t)
	r.Catalog, r.Tapes = catalog, nil
	doc, err := r.Run(context.Background(), suite.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]results.Row{}
	for _, row := range doc.Rows {
		rows[row.Name] = row
	}
	if rows["quay"].SameAs != "deepseek" || rows["quay"].Cells[1].Verdict != results.Same {
		t.Errorf("quay has the profile of deepseek: %+v", rows["quay"].Cells[1])
	}
	if rows["pier"].SameAs != "" || rows["pier"].Cells[1].Verdict != results.Pass {
		t.Errorf("pier has a profile of its own: %+v", rows["pier"].Cells[1])
	}
}

// TestSameRowsAreTheSame runs a row that stands for another by itself: it must
// come to the verdicts of the row that it stands for.
func TestSameRowsAreTheSame(t *testing.T) {
	r := newRunner(t)
	doc, err := r.Run(context.Background(), suite.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]results.Row{}
	for _, row := range doc.Rows {
		rows[row.Name+row.From] = row
	}
	checked := 0
	for _, row := range doc.Rows {
		if row.SameAs == "" {
			continue
		}
		alone, err := r.Run(context.Background(), suite.Selection{Engines: []string{row.Name}})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range alone.Rows[0].Cells {
			base := rows[row.SameAs+row.From].Cells[i]
			if row.Cells[i].Verdict != results.Same || base.Tape != "" {
				continue
			}
			checked++
			if c.Verdict != base.Verdict {
				t.Errorf("%s %s: alone %s, as %s %s", row.Name, c.Scenario, c.Verdict, row.SameAs, base.Verdict)
			}
		}
	}
	if checked == 0 {
		t.Error("no row stands for another")
	}
}

// TestEveryCheckIsJudged finds a cell for each rule in which it had something to
// judge, and one for each check that a scenario lists.
func TestEveryCheckIsJudged(t *testing.T) {
	r := newRunner(t)
	doc, err := r.Run(context.Background(), suite.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	judged := map[string]bool{}
	for _, row := range doc.Rows {
		for _, c := range row.Cells {
			for _, k := range c.All {
				if k.Verdict != results.NA {
					judged[k.ID], judged[c.Scenario+" "+k.ID] = true, true
				}
			}
		}
	}
	for _, rule := range judge.Rules() {
		if !judged[rule.ID] {
			t.Errorf("no cell judges %s", rule.ID)
		}
	}
	for _, s := range r.Scenarios {
		for _, id := range s.Expect.Checks {
			if !judged[s.ID+" "+id] {
				t.Errorf("%s lists %s, which no row judges", s.ID, id)
			}
		}
	}
}

// TestTapeOfAnotherModel: with a model asked for, a tape of another one is no
// evidence; without one, the cell names the model of its tape.
func TestTapeOfAnotherModel(t *testing.T) {
	r := newRunner(t)
	sel := suite.Selection{Engines: []string{"deepseek"}, Scenarios: []string{"basic/parallel-calls"}, Model: "deepseek-chat"}
	doc, err := r.Run(context.Background(), sel)
	if err != nil {
		t.Fatal(err)
	}
	if c := doc.Rows[0].Cells[0]; c.Tape != "" || c.Origin != results.Synthetic {
		t.Errorf("deepseek-chat rests on %s (%s)", c.Tape, c.Origin)
	}
	if c := runCell(t, r, "ollama", "basic/one-call"); c.Model != "scripted" || c.Tape == "" {
		t.Errorf("the cell does not name the model of its tape: %+v", c)
	}
}

// TestSelection tells what is run, and what a wrong name is answered with.
func TestSelection(t *testing.T) {
	r := newRunner(t)
	for _, c := range []struct {
		name        string
		sel         suite.Selection
		rows, cells int
		err         string
	}{
		{"one engine", suite.Selection{Engines: []string{"deepseek"}, Scenarios: []string{"reasoning/echo"}}, 1, 1, ""},
		{"a folder", suite.Selection{Engines: []string{"openai"}, Scenarios: []string{"truncation/"}}, 1, 3, ""},
		{"a glob", suite.Selection{Engines: []string{"openai"}, Scenarios: []string{"*call*"}}, 1, 4, ""},
		{"an engine with a typo", suite.Selection{Engines: []string{"depseek"}}, 0, 0, `did you mean "deepseek"`},
		{"a dialect with a typo", suite.Selection{Dialects: []string{"anthropc"}}, 0, 0, `did you mean "anthropic"`},
		{"a scenario with a typo", suite.Selection{Scenarios: []string{"basic/one-cal"}}, 0, 0, `did you mean "basic/one-call"`},
		{"nothing left", suite.Selection{Engines: []string{"gemini"}, Dialects: []string{"ollama"}}, 0, 0, "no engine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := r.Run(context.Background(), c.sel)
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("error %v, want one with %q", err, c.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(doc.Rows) != c.rows || len(doc.Rows[0].Cells) != c.cells {
				t.Errorf("%d rows of %d cells, want %d of %d", len(doc.Rows), len(doc.Rows[0].Cells), c.rows, c.cells)
			}
		})
	}
}

// TestRunIsReproducible holds two runs against each other: ids, times and order
// of everything are the same.
func TestRunIsReproducible(t *testing.T) {
	r := newRunner(t)
	first, err := r.Run(context.Background(), suite.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	second, err := r.Run(context.Background(), suite.Selection{})
	if err != nil {
		t.Fatal(err)
	}
	a, errA := json.Marshal(first)
	b, errB := json.Marshal(second)
	if errA != nil || errB != nil || string(a) != string(b) {
		t.Error("two runs differ")
	}
}

// BenchmarkRun replays the whole catalogue.
func BenchmarkRun(b *testing.B) {
	r := newRunner(b)
	exchanges := 0
	for b.Loop() {
		doc, err := r.Run(context.Background(), suite.Selection{})
		if err != nil {
			b.Fatal(err)
		}
		exchanges += doc.Totals.Exchanges
	}
	b.ReportMetric(float64(exchanges)/b.Elapsed().Seconds(), "exchanges/s")
}
