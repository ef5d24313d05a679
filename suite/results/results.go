// Package results holds the verdict document: what a run found, as data that
// any report can be made from. It is a leaf: it knows no codec and no engine.
package results

import _ "embed" // for the schema

// Version is the version of the document's form; schema.v1.json describes it.
const Version = 1

// Verdict is the outcome of a cell or of one check.
type Verdict string

// The verdicts.
const (
	Pass     Verdict = "pass"
	Degraded Verdict = "degraded" // the documented fallback, such as a placeholder for an image
	Fail     Verdict = "fail"
	Same     Verdict = "="       // same effective profile as another row and no tape of its own: not run again
	NA       Verdict = "n/a"     // does not apply, with a reason
	NotRun   Verdict = "not_run" // could have been run, with a reason
	Error    Verdict = "error"   // the harness itself failed
)

// Verdicts lists them in the order of the totals line.
func Verdicts() []Verdict { return []Verdict{Pass, Degraded, Fail, Same, NA, NotRun, Error} }

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

// Document is one run.
type Document struct {
	Version      int      `json:"version"`
	SuiteVersion string   `json:"suite_version"`
	Mode         string   `json:"mode"` // replay, or live
	Date         string   `json:"date"` // YYYY-MM-DD
	Command      string   `json:"command,omitempty"`
	Columns      []Column `json:"columns"`
	Rows         []Row    `json:"rows"`
	Totals       Totals   `json:"totals"`
}

// Column is one scenario.
type Column struct {
	Scenario string `json:"scenario"`
	Title    string `json:"title"`
}

// Row is one engine, subject or gateway in one dialect.
type Row struct {
	Name    string `json:"name"`
	Kind    string `json:"kind"` // engine, subject, gateway
	Library string `json:"library,omitempty"`
	Dialect string `json:"dialect"`
	Model   string `json:"model,omitempty"`
	SameAs  string `json:"same_as,omitempty"` // the row with the same effective profile
	Cells   []Cell `json:"cells"`
}

// Cell is one scenario of a row.
type Cell struct {
	Scenario  string  `json:"scenario"`
	Stream    bool    `json:"stream"`
	Verdict   Verdict `json:"verdict"`
	Origin    Origin  `json:"origin,omitempty"` // empty when the cell is no evidence
	Tape      string  `json:"tape,omitempty"`
	Model     string  `json:"model,omitempty"`  // of the tape, where it is not the row's
	Reason    string  `json:"reason,omitempty"` // why it is n/a, not run, degraded, the same or in error
	Class     string  `json:"class,omitempty"`  // which of the accepted ends was seen
	Exchanges int     `json:"exchanges"`        // requests that were sent
	Checks    []Check `json:"checks"`
}

// Check is one judgement.
type Check struct {
	ID       string  `json:"id"`
	Side     string  `json:"side"` // request: the client's duty; reply: the engine's duty; end: the outcome
	Level    Level   `json:"level"`
	Verdict  Verdict `json:"verdict"`
	Message  string  `json:"message,omitempty"`
	Evidence string  `json:"evidence,omitempty"` // expected and seen value, bounded
}

// Totals counts cells.
type Totals struct {
	Cells     int             `json:"cells"`
	ByVerdict map[Verdict]int `json:"by_verdict"`
	ByOrigin  map[Origin]int  `json:"by_origin"` // of the cells that were run
	Exchanges int             `json:"exchanges"`
	Rows      int             `json:"rows"`
	Engines   int             `json:"engines"`
	Dialects  int             `json:"dialects"`
}

// Count computes the totals of rows.
func Count(rows []Row) Totals {
	t := Totals{ByVerdict: map[Verdict]int{}, ByOrigin: map[Origin]int{}, Rows: len(rows)}
	engines, dialects := map[string]bool{}, map[string]bool{}
	for _, r := range rows {
		engines[r.Name], dialects[r.Dialect] = true, true
		for _, c := range r.Cells {
			t.Cells++
			t.ByVerdict[c.Verdict]++
			if c.Origin != "" {
				t.ByOrigin[c.Origin]++
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
// threshold is failOn: must, should, degraded or not-run.
func (d Document) Failed(failOn string) bool {
	for _, r := range d.Rows {
		for _, c := range r.Cells {
			switch {
			case c.Verdict == Fail && (failOn == "should" || failOn == "degraded" || failOn == "not-run" || c.failsAt(Must)):
				return true
			case c.Verdict == Degraded && (failOn == "degraded" || failOn == "not-run"):
				return true
			case c.Verdict == NotRun && failOn == "not-run":
				return true
			}
		}
	}
	return false
}

func (c Cell) failsAt(l Level) bool {
	for _, k := range c.Checks {
		if k.Verdict == Fail && k.Level == l {
			return true
		}
	}
	return false
}

// Broken tells whether the harness itself failed somewhere.
func (d Document) Broken() bool { return d.Totals.ByVerdict[Error] > 0 }

//go:embed schema.v1.json
var schema []byte

// Schema returns the JSON Schema of the document.
func Schema() []byte { return append([]byte(nil), schema...) }
