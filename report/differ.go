package report

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/toolconform/conform/internal/texts"
	"github.com/toolconform/conform/suite/results"
)

// mostDifferences bounds the lines on engines that differ, so that what is above
// and below fits a screen.
const mostDifferences = 8

// difference is what engines have in an area where most of their dialect have
// something else.
type difference struct {
	dialect, area string
	verdict       results.Verdict
	scenarios, at []string
}

func (d difference) text() string {
	switch {
	case d.verdict == results.Unknown:
		return d.dialect + ": more is unknown: "
	case len(d.scenarios) == 1:
		return d.dialect + ": " + d.scenarios[0] + " " + verb[d.verdict] + ": "
	}
	return d.dialect + ": " + d.area + " " + verb[d.verdict] + ": "
}

// differences says which engines differ from their dialect, in words. A run of one
// engine has nobody to differ from: there every cell that did not pass is told.
func (t *text) differences() {
	if len(t.doc.Rows) == 1 {
		t.cells(t.doc.Rows[0])
		return
	}
	var list []difference
	names, rows := t.sections()
	for _, d := range names {
		list = append(list, t.differ(d, rows[d])...)
	}
	if len(list) == 0 {
		return
	}
	rank := map[results.Verdict]int{results.Error: 0, results.Fail: 1, results.Pass: 2, results.Degraded: 3, results.NotRun: 4, results.NA: 5, results.Unknown: 6}
	slices.SortStableFunc(list, func(a, b difference) int { return rank[a.verdict] - rank[b.verdict] })
	t.line("%s", t.bold("Engines that differ from most of their dialect:"))
	for _, d := range list[:min(len(list), mostDifferences)] {
		first := "  " + d.text()
		n := len(d.at)
		fits := func(n int) bool { return utf8.RuneCountInString(first+some(d.at, n)) <= t.width }
		for n > 1 && !fits(n) {
			n--
		}
		t.line("%s", texts.Cut(first+some(d.at, n), t.width))
	}
	if more := len(list) - mostDifferences; more > 0 {
		t.line("  and %s; --grid shows every cell", counted(more, "more difference"))
	}
	t.line("")
}

// differ finds the differences in one dialect. What engines have more of that is
// unknown is one difference for all areas: it says nothing of the engine.
func (t *text) differ(dialect string, rows []int) []difference {
	if len(rows) < 3 { // no most
		return nil
	}
	var out []difference
	found := map[string]int{}
	add := func(c results.Column, v results.Verdict, engine string) {
		key := c.Area + string(v)
		if v == results.Unknown {
			key = string(v)
		}
		i, ok := found[key]
		if !ok {
			i = len(out)
			found[key] = i
			out = append(out, difference{dialect: dialect, area: c.Area, verdict: v})
		}
		for list, word := range map[*[]string]string{&out[i].at: engine, &out[i].scenarios: columnName(c.Key())} {
			if !slices.Contains(*list, word) {
				*list = append(*list, word)
			}
		}
	}
	for _, c := range t.doc.Columns {
		n := tally{}
		for _, i := range rows {
			n[t.rows[i][c.Key()].Verdict]++
		}
		for _, i := range rows {
			v := t.rows[i][c.Key()].Verdict
			if 2*n[v] >= len(rows) || v == results.Same {
				continue
			}
			most := slices.MaxFunc(results.Verdicts(), func(a, b results.Verdict) int { return n[a] - n[b] })
			if v == most {
				continue
			}
			add(c, v, t.doc.Rows[i].Name)
		}
	}
	return out
}

var verb = map[results.Verdict]string{
	results.Pass: "passes", results.Degraded: "on a fallback", results.Fail: "fails", results.NA: "does not apply",
	results.NotRun: "not run", results.Error: "the harness failed",
}

// cells tells every cell of a row that is neither a pass nor told as a failure.
func (t *text) cells(r results.Row) {
	any := false
	for _, col := range t.doc.Columns {
		c := t.rows[0][col.Key()]
		switch c.Verdict {
		case results.Degraded, results.Unknown, results.NA, results.NotRun:
			t.wrap(mark(c.Verdict)+" ", "    ", fmt.Sprintf("%s: %s", columnName(c.Key()), texts.Cut(c.Reason, 2*t.width)))
			any = true
		}
	}
	if any {
		t.line("")
	}
}
