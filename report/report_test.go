package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/report"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/results"
)

// fullRun is a run of everything, once for all tests.
var fullRun = sync.OnceValues(func() (results.Document, error) {
	catalog, err := engines.Load()
	if err != nil {
		return results.Document{}, err
	}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		return results.Document{}, err
	}
	tapes, err := suite.LoadTapes(cassettes.FS())
	if err != nil {
		return results.Document{}, err
	}
	runner := suite.Runner{Catalog: catalog, Scenarios: scenarios, Tapes: tapes, Date: "2026-11-30"}
	return runner.Run(context.Background(), suite.Selection{})
})

func full(t *testing.T) results.Document {
	t.Helper()
	doc, err := fullRun()
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func schema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(results.Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("results.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("results.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func valid(t *testing.T, s *jsonschema.Schema, raw []byte) error {
	t.Helper()
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

// TestJSON holds the JSON form against its schema and reads it back.
func TestJSON(t *testing.T) {
	s := schema(t)
	for name, doc := range map[string]results.Document{"full run": full(t), "sample": sample()} {
		raw := written(t, "json", doc, report.Options{})
		if err := valid(t, s, raw); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		var back results.Document
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&back); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(doc, back, cmpopts.IgnoreFields(results.Cell{}, "All")); d != "" {
			t.Errorf("%s: the document changed on the way:\n%s", name, d)
		}
		if !bytes.Equal(raw, written(t, "json", doc, report.Options{})) {
			t.Errorf("%s: written twice, the bytes differ", name)
		}
	}
}

// TestSize: a run of today's catalogue stays far below the limit, and a cell is
// a line.
func TestSize(t *testing.T) {
	doc := full(t)
	raw := written(t, "json", doc, report.Options{})
	if len(raw) > 600_000 {
		t.Errorf("%d bytes for %d cells", len(raw), doc.Totals.Cells)
	}
	if n := bytes.Count(raw, []byte("\n    {\"scenario\":")); n != doc.Totals.Cells {
		t.Errorf("%d lines for %d cells", n, doc.Totals.Cells)
	}
}

// TestNewKeys: a document of a later program, with keys of its own everywhere,
// is valid and reads as the same document.
func TestNewKeys(t *testing.T) {
	s := schema(t)
	for name, doc := range map[string]results.Document{"full run": full(t), "sample": sample()} {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(written(t, "json", doc, report.Options{})))
		if err != nil {
			t.Fatal(err)
		}
		added := 0
		var extend func(at string, v any)
		extend = func(at string, v any) {
			switch v := v.(type) {
			case []any:
				for _, e := range v {
					extend(at, e)
				}
			case map[string]any:
				for k, e := range v {
					extend(k, e)
				}
				if at != "by_verdict" && at != "by_origin" && at != "by_fact" { // these are lists, not objects with members
					v["weather"] = map[string]any{"wind": []any{6, "NW"}}
					added++
				}
			}
		}
		extend("", v)
		if added < len(doc.Rows)+len(doc.Columns)+doc.Totals.Cells {
			t.Errorf("%s: %d keys added only", name, added)
		}
		if err := s.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var back results.Document
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(doc, back, cmpopts.IgnoreFields(results.Cell{}, "All")); d != "" {
			t.Errorf("%s: reads as another document:\n%s", name, d)
		}
	}
}

// TestCellsByKey: cells are found by scenario and stream, in whatever order they
// stand; one that is missing shows as not run, never as its neighbour.
func TestCellsByKey(t *testing.T) {
	doc := results.Document{Mode: "replay", Columns: []results.Column{
		{Scenario: "tide/high", Area: "tide"}, {Scenario: "tide/high", Stream: true, Area: "tide"}, {Scenario: "tide/low", Area: "tide"}, {Scenario: "tide/neap", Area: "tide"},
	}}
	cells := []results.Cell{
		{Scenario: "tide/low", Verdict: results.NA}, {Scenario: "tide/high", Stream: true, Verdict: results.Fail}, {Scenario: "tide/high", Verdict: results.Pass},
	}
	doc.Rows = []results.Row{{Name: "pier", From: "openai", To: "anthropic", Cells: cells}}
	text := string(asText(t, doc, report.Options{Grid: true}))
	if !regexp.MustCompile(`(?m)^openai to anthropic:\npier +✓ ✗ - ·$`).MatchString(text) {
		t.Errorf("the row is not in the order of the columns:\n%s", text)
	}
	if !strings.Contains(text, "tide/high (stream) ┐ │ │\n") {
		t.Errorf("the stream column is not named:\n%s", text)
	}
}

// TestSchemaRefuses shows that the schema can fail.
func TestSchemaRefuses(t *testing.T) {
	s := schema(t)
	for name, spoil := range map[string]func(*results.Document){
		"a verdict of no list":  func(d *results.Document) { d.Rows[0].Cells[0].Verdict = "perhaps" },
		"a pass without origin": func(d *results.Document) { d.Rows[0].Cells[0].Origin = "" },
		"no reason":             func(d *results.Document) { d.Rows[2].Cells[2].Reason = "" },
		"no dialect behind":     func(d *results.Document) { d.Rows[0].To = "" },
		"a fail without cause":  func(d *results.Document) { d.Rows[4].Cells[3].Cause = "" },
		"a cause of no list":    func(d *results.Document) { d.Rows[4].Cells[3].Cause = "weather" },
		"a check that passed":   func(d *results.Document) { d.Rows[4].Cells[3].Checks[0].Verdict = results.Pass },
		"a column without area": func(d *results.Document) { d.Columns[0].Area = "" },
		"the same as no row":    func(d *results.Document) { d.Rows[1].SameAs = "" },
		"a kind of no list":     func(d *results.Document) { d.Rows[0].Kind = "ferry" },
		"a date of no form":     func(d *results.Document) { d.Date = "30 November" },
		"a check without level": func(d *results.Document) { d.Rows[4].Cells[3].Checks[0].Level = "" },
		"another version":       func(d *results.Document) { d.Version = 1 },
		"no columns at all":     func(d *results.Document) { d.Columns = nil },
	} {
		doc := sample()
		spoil(&doc)
		raw, err := json.Marshal(doc) // null for no columns, which the report does not write
		if err != nil {
			t.Fatal(err)
		}
		if valid(t, s, raw) == nil {
			t.Errorf("%s passes", name)
		}
	}
}

// TestTextIsPlain: no colour, no control character, whatever an engine said.
func TestTextIsPlain(t *testing.T) {
	for name, doc := range map[string]results.Document{"full run": full(t), "sample": sample()} {
		for _, grid := range []bool{false, true} {
			text := string(asText(t, doc, report.Options{Grid: grid}))
			if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == 0x7f }); i >= 0 {
				t.Errorf("%s: control character %q in %q", name, text[i], text[max(i-20, 0):i+1])
			}
			if !utf8.ValidString(text) {
				t.Errorf("%s: not UTF-8", name)
			}
		}
	}
}

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestColourIsPaint: without its colours the coloured form is the plain one.
func TestColourIsPaint(t *testing.T) {
	for name, doc := range map[string]results.Document{"full run": full(t), "sample": sample()} {
		plain := string(asText(t, doc, report.Options{Grid: true}))
		colour := string(asText(t, doc, report.Options{Color: true, Grid: true}))
		if !ansi.MatchString(colour) {
			t.Errorf("%s: no colour", name)
		}
		if d := cmp.Diff(plain, ansi.ReplaceAllString(colour, "")); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

// TestWidth: no line is longer than the report is wide. Only the command that
// explains a failure may be, since a command in two lines is none.
func TestWidth(t *testing.T) {
	for name, doc := range map[string]results.Document{"full run": full(t), "sample": sample(), "failed run": failed(full(t))} {
		for _, width := range []int{0, 60, 72, 80, 100, 160} {
			for _, grid := range []bool{false, true} {
				most := width
				if most == 0 {
					most = 80
				}
				for _, line := range strings.Split(string(asText(t, doc, report.Options{Width: width, Grid: grid})), "\n") {
					if n := utf8.RuneCountInString(line); n > most && !strings.HasPrefix(line, "    conform explain ") {
						t.Errorf("%s: %d columns at width %d: %s", name, n, width, line)
					}
				}
			}
		}
	}
}

// failed is a run in which every cell that was run fails.
func failed(doc results.Document) results.Document {
	out := doc
	out.Rows = nil
	for _, r := range doc.Rows {
		cells := append([]results.Cell(nil), r.Cells...)
		for i, c := range cells {
			if c.Origin != "" {
				cells[i].Verdict = results.Fail
				cells[i].Checks = []results.Check{{
					ID: "arguments.undecodable_answered", Side: "request", Level: results.Should, Verdict: results.Fail,
					Message: "request 2, turn 1", Evidence: "expected " + strings.Repeat("longer than any line ", 9) + ", seen " + strings.Repeat("x", 300),
				}}
			}
		}
		r.Cells = cells
		out.Rows = append(out.Rows, r)
	}
	out.Totals = results.Count(out.Rows)
	return out
}

// TestFailures: each failed check is named once for a scenario, with the engines,
// what was expected and seen, and the command that shows more; passed checks are
// not named.
func TestFailures(t *testing.T) {
	text := string(asText(t, sample(), report.Options{}))
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{
		"✗ reasoning/echo: echo.reasoning (must), a-harbour-with-a-very-long-name",
		`request 2, turn 1: expected the reasoning "The user wants to know how high the water stands at Husum; I will ask the gauge.", seen ""`,
		"✗ reasoning/echo: echo.signature (must), a-harbour-with-a-very-long-name expected c2ln, seen",
		"conform explain reasoning/echo --engine a-harbour-with-a-very-long-name",
		"! truncation/lone-cut: the harness failed, a-harbour-with-a-very-long-name panic: the lamp fell into the sea",
		"Failed or broken: 2 cells at 1 engine, in reasoning/echo, truncation/lone-cut",
	} {
		if !strings.Contains(flat, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "results.pairing") {
		t.Error("a check that passed stands among the failures")
	}
	clean := string(asText(t, full(t), report.Options{}))
	if strings.Contains(clean, "conform explain") || !strings.Contains(clean, "Nothing failed") {
		t.Error("a run without failures explains one")
	}
	// One scenario that fails everywhere is one failure, not one an engine.
	doc := failed(full(t))
	text = string(asText(t, doc, report.Options{}))
	if n, most := strings.Count(text, "conform explain "), len(doc.Columns); n == 0 || n > most {
		t.Errorf("%d explanations for %d scenarios", n, most)
	}
	if !regexp.MustCompile(`(?s)✗ basic/one-call: .*?\d\d engines:\s+openai,\s.*?\sand\s+\d+\s+more`).MatchString(text) {
		t.Errorf("the engines are not counted:\n%.600s", text)
	}
}

// TestLastScreen: the last 24 lines at 80 columns say whether something failed and
// where, what that rests on, and how much is unknown.
func TestLastScreen(t *testing.T) {
	for name, doc := range map[string]results.Document{"full run": full(t), "sample": sample(), "failed run": failed(full(t))} {
		lines := strings.Split(strings.TrimSpace(string(asText(t, doc, report.Options{Width: 80}))), "\n")
		screen := strings.Join(strings.Fields(strings.Join(lines[max(len(lines)-24, 0):], " ")), " ")
		outcome := "Nothing failed"
		if n := doc.Totals.ByVerdict[results.Fail] + doc.Totals.ByVerdict[results.Error]; n > 0 {
			outcome = fmt.Sprintf(": %d cell", n)
			for _, c := range doc.Columns {
				if fails(doc, c.Key()) && !strings.Contains(screen, c.Scenario) && len(doc.Columns) < 6 {
					t.Errorf("%s: the last screen does not name %s", name, c.Scenario)
				}
			}
		}
		k := doc.Totals
		for _, want := range append([]string{
			outcome, fmt.Sprintf("Unknown: %d of %d cell", k.ByVerdict[results.Unknown], k.Cells-k.ByVerdict[results.NA]),
			fmt.Sprintf("%d recorded", k.ByOrigin[results.Recorded]), fmt.Sprintf("%d documented", k.ByOrigin[results.Documented]), doc.Date, doc.SuiteVersion,
		}, doc.Recorded...) {
			if !strings.Contains(screen, want) {
				t.Errorf("%s: the last screen does not say %q:\n%s", name, want, screen)
			}
		}
	}
	if len(full(t).Recorded) == 0 {
		t.Error("a full run names no engine that was recorded")
	}
}

func fails(doc results.Document, k results.Key) bool {
	for _, r := range doc.Rows {
		if v := r.Index()[k].Verdict; v == results.Fail || v == results.Error {
			return true
		}
	}
	return false
}

// TestEnginesThatDiffer: an engine with a failure of its own is named in words,
// and legends stand for marks that occur alone.
func TestEnginesThatDiffer(t *testing.T) {
	doc := results.Document{Mode: "replay", Columns: []results.Column{{Scenario: "tide/high", Area: "tide"}, {Scenario: "tide/low", Area: "tide"}}}
	for _, name := range []string{"pier", "quay", "mole", "jetty"} {
		cells := []results.Cell{{Scenario: "tide/high", Verdict: results.Pass}, {Scenario: "tide/low", Verdict: results.Pass}}
		if name == "mole" {
			cells[1].Verdict = results.Unknown
		}
		if name == "jetty" {
			cells[1].Verdict = results.Degraded
		}
		doc.Rows = append(doc.Rows, results.Row{Name: name, From: "openai", To: "openai", Cells: cells})
	}
	text := string(asText(t, doc, report.Options{Grid: true}))
	for _, want := range []string{"  openai: tide/low on a fallback: jetty\n", "  openai: more is unknown: mole\n", "tide 6/8 ~1 ?1\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("it does not say %q:\n%s", want, text)
		}
	}
	for _, not := range []string{"✗", "does not apply", "as another engine", "not run"} {
		if strings.Contains(text, not) {
			t.Errorf("it says %q:\n%s", not, text)
		}
	}
}

// TestTotals counts again, from the JSON, without the code that counted.
func TestTotals(t *testing.T) {
	for name, doc := range map[string]results.Document{"full run": full(t), "sample": sample()} {
		var back struct {
			Rows []struct {
				Name, From, To string
				Cells          []struct {
					Verdict, Origin string
					Exchanges       int
					Facts           []string
				}
			}
			Totals struct {
				Cells, Exchanges, Rows, Engines, Dialects int
				ByVerdict                                 map[string]int `json:"by_verdict"`
				ByOrigin                                  map[string]int `json:"by_origin"`
				ByFact                                    map[string]int `json:"by_fact"`
			}
		}
		if err := json.Unmarshal(written(t, "json", doc, report.Options{}), &back); err != nil {
			t.Fatal(err)
		}
		engines, dialects, verdicts, origins, facts := map[string]bool{}, map[string]bool{}, map[string]int{}, map[string]int{}, map[string]int{}
		cells, exchanges := 0, 0
		for _, v := range results.Verdicts() {
			verdicts[string(v)] = 0
		}
		for _, o := range []string{"recorded", "documented", "synthetic"} {
			origins[o] = 0
		}
		for _, r := range back.Rows {
			engines[r.Name], dialects[r.From], dialects[r.To] = true, true, true
			for _, c := range r.Cells {
				cells++
				exchanges += c.Exchanges
				verdicts[c.Verdict]++
				for _, f := range c.Facts {
					facts[f]++
				}
				if c.Origin != "" {
					origins[c.Origin]++
				}
			}
		}
		got := back.Totals
		if got.Cells != cells || got.Exchanges != exchanges || got.Rows != len(back.Rows) || got.Engines != len(engines) || got.Dialects != len(dialects) {
			t.Errorf("%s: totals %+v; counted %d cells, %d exchanges, %d rows, %d engines, %d dialects", name, got, cells, exchanges, len(back.Rows), len(engines), len(dialects))
		}
		if d := cmp.Diff(verdicts, got.ByVerdict); d != "" {
			t.Errorf("%s: by verdict:\n%s", name, d)
		}
		if d := cmp.Diff(origins, got.ByOrigin); d != "" {
			t.Errorf("%s: by origin:\n%s", name, d)
		}
		if d := cmp.Diff(facts, got.ByFact); d != "" {
			t.Errorf("%s: by fact:\n%s", name, d)
		}
		// The last lines say the same to people.
		text := strings.Join(strings.Fields(string(asText(t, doc, report.Options{}))), " ")
		for _, want := range []string{
			fmt.Sprintf("(%d engines, %d dialects, %d cells)", len(engines), len(dialects), cells),
			fmt.Sprintf("Unknown: %d of %d cells that apply", verdicts["unknown"], cells-verdicts["n/a"]),
			fmt.Sprintf("Evidence: cells on %d recorded (", origins["recorded"]),
			fmt.Sprintf("%d documented, %d rendered replies", origins["documented"], origins["synthetic"]),
			fmt.Sprintf("; %d as another engine", verdicts["="]),
			fmt.Sprintf(", %d exchanges.", exchanges),
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: the text does not say %q", name, want)
			}
		}
	}
}

// TestNoBlankCell: every row of the grid has a sign in every column, and every
// column its name.
func TestNoBlankCell(t *testing.T) {
	doc := full(t)
	text := string(asText(t, doc, report.Options{Width: 160, Grid: true}))
	grid, _, _ := strings.Cut(text, "\nR pass on a recorded tape")
	lines := strings.Split(grid, "\n")
	for _, r := range doc.Rows {
		found := false
		for _, line := range lines {
			if name, rest, ok := strings.Cut(line, " "); ok && name == r.Name {
				found = true
				if signs := strings.Fields(rest); len(signs) != len(doc.Columns) {
					t.Errorf("%s: %d signs for %d columns: %s", r.Name, len(signs), len(doc.Columns), line)
				}
			}
		}
		if !found {
			t.Errorf("%s has no line", r.Name)
		}
	}
	for _, c := range doc.Columns {
		if !strings.Contains(text, c.Scenario+" ┐") {
			t.Errorf("no head names %s", c.Scenario)
		}
	}
}

func TestForms(t *testing.T) {
	names, endings := map[string]bool{}, map[string]bool{}
	for _, f := range report.Forms() {
		if f.Name == "" || names[f.Name] || !strings.HasPrefix(f.Ext, ".") || endings[f.Ext] {
			t.Errorf("%q, %q: names and endings are there and not twice", f.Name, f.Ext)
		}
		names[f.Name], endings[f.Ext] = true, true
		if err := f.Write(failing{}, sample(), report.Options{}); !errors.Is(err, errFull) {
			t.Errorf("%s: error %v of a writer that fails", f.Name, err)
		}
		if err := f.Write(io.Discard, results.Document{}, report.Options{}); err != nil {
			t.Errorf("%s: an empty document: %v", f.Name, err)
		}
	}
}

var errFull = errors.New("the disk is full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }
