// Package results holds the verdict document: what a run found, as data that
// any report can be made from. It is a leaf: it knows no codec and no engine.
package results

import (
	_ "embed" // for the schema
	"slices"
	"strings"
)

// Version is the version of the document's form; schema.v2.json describes it.
const Version = 2

// Verdict is the outcome of a cell or of one check.
type Verdict string

// The verdicts.
const (
	Pass     Verdict = "pass"
	Degraded Verdict = "degraded" // the documented fallback, such as a placeholder for an image
	Fail     Verdict = "fail"
	Unknown  Verdict = "unknown" // the fact that decides it is not known
	Same     Verdict = "="       // same effective profile as another row and no tape of its own: not run again
	NA       Verdict = "n/a"     // does not apply, with a reason
	NotRun   Verdict = "not_run" // could have been run, with a reason
	Error    Verdict = "error"   // the harness itself failed
)

// Verdicts lists them in the order of the totals line.
func Verdicts() []Verdict {
	return []Verdict{Pass, Degraded, Fail, Unknown, Same, NA, NotRun, Error}
}

// Origin says what a verdict rests on.
type Origin string

// The origins, strongest first.
const (
	Recorded   Origin = "recorded"
	Documented Origin = "documented"
	Synthetic  Origin = "synthetic"
)

// Level says how much a failed check matters.
type Level string

// The levels.
const (
	Must   Level = "must"   // this engine refuses otherwise, a wrong action is run, or content is silently lost
	Should Level = "should" // accepted but worse
	Info   Level = "info"
)

// Cause says who made a cell fail.
type Cause string

// The causes.
const (
	ByClient  Cause = "client"
	ByEngine  Cause = "engine"
	ByModel   Cause = "model" // what the model said made the scenario impossible
	ByHarness Cause = "harness"
	ByBudget  Cause = "budget" // a limit of the run was reached
	ByGateway Cause = "gateway"
)

// Document is one run.
type Document struct {
	Version      int      `json:"version"`
	SuiteVersion string   `json:"suite_version"`
	Mode         string   `json:"mode"` // replay, or live
	Date         string   `json:"date"` // YYYY-MM-DD
	Command      string   `json:"command,omitempty"`
	Recorded     []string `json:"recorded,omitempty"` // engines, with versions, whose recorded replies cells rest on
	Columns      []Column `json:"columns"`
	Rows         []Row    `json:"rows"`
	Totals       Totals   `json:"totals"`
}

// Key names a column and, in every row, its cell.
type Key struct {
	Scenario string
	Stream   bool
}

// Column is one scenario, played with streams or without.
type Column struct {
	Scenario string `json:"scenario"`
	Stream   bool   `json:"stream"`
	Area     string `json:"area"`
	Title    string `json:"title"`
}

// Key of the column.
func (c Column) Key() Key { return Key{c.Scenario, c.Stream} }

// Row is one engine, subject or gateway in one dialect.
type Row struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // engine, subject, gateway
	Library string `json:"library,omitempty"`
	From    string `json:"from"` // dialect that the client speaks
	To      string `json:"to"`   // dialect of the engine; another one than From behind a gateway
	Model   string `json:"model,omitempty"`
	SameAs  string `json:"same_as,omitempty"` // the row with the same effective profile
	Cells   []Cell `json:"cells"`             // in any order; Index finds them
}

// Index finds the cells of a row. Where two have one key, as in documents put
// together, the later one counts, but one that was run before one that was not.
func (r Row) Index() map[Key]Cell {
	out := make(map[Key]Cell, len(r.Cells))
	for _, c := range r.Cells {
		if _, twice := out[c.Key()]; !twice || c.Verdict != NotRun {
			out[c.Key()] = c
		}
	}
	return out
}

// Cell is one scenario of a row.
type Cell struct {
	Scenario   string   `json:"scenario"`
	Stream     bool     `json:"stream,omitempty"`
	Verdict    Verdict  `json:"verdict"`
	Origin     Origin   `json:"origin,omitempty"` // empty when the cell is no evidence
	Tape       string   `json:"tape,omitempty"`
	Model      string   `json:"model,omitempty"`      // of the tape, where it is not the row's
	Reason     string   `json:"reason,omitempty"`     // why it is anything but a pass or the same as the row's SameAs
	Cause      Cause    `json:"cause,omitempty"`      // of a fail or an error, and of a degraded cell where the engine failed a duty
	Facts      []string `json:"facts,omitempty"`      // of an unknown cell: the facts of the catalogue that decide it and are unknown
	Class      string   `json:"class,omitempty"`      // which of the accepted ends was seen
	Transcript string   `json:"transcript,omitempty"` // where requests and replies stand, relative to the document
	Exchanges  int      `json:"exchanges,omitempty"`  // requests that were sent
	Passed     int      `json:"passed,omitempty"`     // checks that passed
	Checks     []Check  `json:"checks,omitempty"`     // those that did not pass

	All []Check `json:"-"` // every check, in a document that was not read back
}

// Key of the cell.
func (c Cell) Key() Key { return Key{c.Scenario, c.Stream} }

// Check is one judgement.
type Check struct {
	ID       string  `json:"id"`
	Side     string  `json:"side"` // request: the client's duty; reply: the engine's duty; end: the outcome
	Level    Level   `json:"level"`
	Verdict  Verdict `json:"verdict"`
	Message  string  `json:"message,omitempty"`
	Evidence string  `json:"evidence,omitempty"` // expected and seen value, bounded
}

// Settle gives the cell its checks and derives verdict, reason and cause from
// them. A duty of the engine below must that it does not meet degrades the cell:
// the loop completed all the same, on the fallback that makes up for it.
func (c *Cell) Settle(all []Check) {
	c.All, c.Checks, c.Passed = all, nil, 0
	c.Verdict, c.Reason, c.Cause = Pass, "", ""
	rank := map[Verdict]int{Pass: 0, Degraded: 1, Unknown: 2, Fail: 3}
	for _, k := range all {
		if k.Verdict == Pass {
			c.Passed++
			continue
		}
		c.Checks = append(c.Checks, k)
		verdict, cause := k.Verdict, Cause("")
		if verdict == Fail {
			if cause = ByClient; k.Side == "reply" {
				cause = ByEngine
				if k.Level != Must {
					verdict = Degraded
				}
			}
		}
		if rank[verdict] > rank[c.Verdict] { // of several the first
			c.Verdict, c.Reason, c.Cause = verdict, k.ID+": "+k.Evidence, cause
		}
	}
}

// RestOn turns a verdict that is no failure into unknown where one of the facts
// that decide it is: the names of those. What a cell shows then is no evidence.
func (c *Cell) RestOn(engine string, unknown []string) {
	if len(unknown) == 0 || c.Verdict == Fail || c.Verdict == Error {
		return
	}
	verb := "is"
	if len(unknown) > 1 {
		verb = "are"
	}
	c.Verdict, c.Facts, c.Cause = Unknown, unknown, ""
	c.Reason = strings.Join(unknown, " and ") + " of " + engine + " " + verb + " unknown"
	c.Origin, c.Tape, c.Model = "", "", ""
}

// Break marks the cell as one in which the harness failed.
func (c *Cell) Break(reason string) { c.Verdict, c.Reason, c.Cause = Error, reason, ByHarness }

// Totals counts cells.
type Totals struct {
	Cells     int             `json:"cells"`
	ByVerdict map[Verdict]int `json:"by_verdict"` // every verdict, also one that no cell has
	ByOrigin  map[Origin]int  `json:"by_origin"`  // every origin; of the cells that were run
	ByFact    map[string]int  `json:"by_fact"`    // unknown cells by the facts that decide them; a cell counts for each of its facts
	Exchanges int             `json:"exchanges"`
	Rows      int             `json:"rows"`
	Engines   int             `json:"engines"`
	Dialects  int             `json:"dialects"`
}

// Count computes the totals of rows.
func Count(rows []Row) Totals {
	t := Totals{ByVerdict: map[Verdict]int{}, ByFact: map[string]int{}, ByOrigin: map[Origin]int{Recorded: 0, Documented: 0, Synthetic: 0}, Rows: len(rows)}
	for _, v := range Verdicts() {
		t.ByVerdict[v] = 0
	}
	engines, dialects := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		engines[r.Name], dialects[r.From], dialects[r.To] = true, true, true
		for _, c := range r.Cells {
			t.Cells++
			t.ByVerdict[c.Verdict]++
			if c.Origin != "" {
				t.ByOrigin[c.Origin]++
			}
			for _, f := range c.Facts {
				t.ByFact[f]++
			}
			t.Exchanges += c.Exchanges
		}
	}
	t.Engines, t.Dialects = len(engines), len(dialects)
	return t
}

// Origins counts the cells of one row by origin; cells that stand for another
// row count as "as dialect".
func (r Row) Origins() (recorded, documented, synthetic, asDialect int) {
	for _, c := range r.Cells {
		switch {
		case c.Verdict == Same:
			asDialect++
		case c.Origin == Recorded:
			recorded++
		case c.Origin == Documented:
			documented++
		case c.Origin == Synthetic:
			synthetic++
		}
	}
	return
}

// Failed tells whether the document holds something that fails a run whose
// threshold is failOn: must, should, degraded or not-run. What the model said and
// what the budget did not reach never does.
func (d Document) Failed(failOn string) bool {
	for _, r := range d.Rows {
		for _, c := range r.Cells {
			switch {
			case c.Cause == ByModel || c.Cause == ByBudget:
			case c.Verdict == Fail && (failOn != "must" || c.failsAt(Must)),
				c.Verdict == Degraded && (failOn == "degraded" || failOn == "not-run"),
				(c.Verdict == NotRun || c.Verdict == Unknown) && failOn == "not-run":
				return true
			}
		}
	}
	return false
}

func (c Cell) failsAt(l Level) bool {
	return slices.ContainsFunc(c.Checks, func(k Check) bool { return k.Verdict == Fail && k.Level == l })
}

// Broken tells whether the harness itself failed somewhere.
func (d Document) Broken() bool { return d.Totals.ByVerdict[Error] > 0 }

//go:embed schema.v2.json
var schema []byte

// Schema returns the JSON Schema of the document.
func Schema() []byte { return append([]byte(nil), schema...) }
