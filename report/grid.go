package report

import (
	"cmp"
	"strings"
	"unicode/utf8"

	"github.com/toolconform/conform/internal/texts"
	"github.com/toolconform/conform/suite/results"
)

// grid writes every cell, in blocks of as many columns as fit the width. The heads
// are the names of the scenarios: stairs that lead down to their columns.
func (t *text) grid() {
	var shown []map[results.Key]results.Cell // of each row, as the document has it
	for _, r := range t.doc.Rows {
		shown = append(shown, r.Index())
	}
	name := 0
	for _, r := range t.doc.Rows {
		name = max(name, utf8.RuneCountInString(r.Name)+1)
	}
	for _, c := range t.doc.Columns {
		name = max(name, utf8.RuneCountInString(columnName(c.Key()))-1) // it ends over its own column
	}
	name = min(name, t.width/2)
	per := max((t.width-name)/2, 4)
	for from := 0; from < len(t.doc.Columns); from += per {
		t.block(shown, name, t.doc.Columns[from:min(from+per, len(t.doc.Columns))])
		t.line("")
	}
	var legend []string
	for _, l := range []struct {
		glyph, text string
	}{
		{"R", "pass on a recorded tape"},
		{"D", "pass on a documented tape"},
		{"✓", "pass on rendered replies"},
		{"~", meaning[results.Degraded]},
		{"✗", meaning[results.Fail]},
		{"?", meaning[results.Unknown]},
		{"=", "as another engine: same profile, no tape of its own"},
		{"-", meaning[results.NA]},
		{"·", meaning[results.NotRun]},
		{"!", meaning[results.Error]},
	} {
		if t.occurs(shown, l.glyph) {
			legend = append(legend, l.glyph+" "+l.text)
		}
	}
	t.wrap("", "", strings.Join(legend, "; "))
	t.line("")
}

func (t *text) occurs(shown []map[results.Key]results.Cell, g string) bool {
	for _, cells := range shown {
		for _, c := range t.doc.Columns {
			if glyph(cells[c.Key()]) == g {
				return true
			}
		}
	}
	return false
}

func (t *text) block(shown []map[results.Key]results.Cell, name int, columns []results.Column) {
	for i := len(columns) - 1; i >= 0; i-- {
		head := texts.Cut(columnName(columns[i].Key()), name+2*i-1)
		t.line("%s%s", strings.Repeat(" ", name+2*i-1-utf8.RuneCountInString(head)), head+t.faint(" ┐"+strings.Repeat(" │", len(columns)-1-i)))
	}
	dialect := ""
	for row, r := range t.doc.Rows {
		if d := spoken(r); d != dialect {
			dialect = d
			t.line("%s", t.bold(d+":"))
		}
		t.w.WriteString(texts.Pad(texts.Cut(r.Name, name-1), name))
		for i, c := range columns {
			if i > 0 {
				t.w.WriteString(" ")
			}
			t.w.WriteString(t.cell(shown[row][c.Key()])) // a cell that is not there was not run
		}
		t.w.WriteString("\n")
	}
}

// glyph is the one character of a cell; a pass shows what it rests on.
func glyph(c results.Cell) string {
	switch {
	case c.Verdict == results.Pass && c.Origin == results.Recorded:
		return "R"
	case c.Verdict == results.Pass && c.Origin == results.Documented:
		return "D"
	}
	return cmp.Or(mark(c.Verdict), "·")
}
