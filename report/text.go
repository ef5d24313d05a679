package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"github.com/toolconform/conform/suite/results"
)

const (
	defaultWidth = 100
	nameWidth    = 25
	originWidth  = 17
)

// text lays the matrix out for people.
type text struct {
	w     *bufio.Writer
	doc   results.Document
	width int
	color bool
	all   bool
}

func writeText(w io.Writer, doc results.Document, o Options) error {
	t := text{w: bufio.NewWriter(w), doc: doc, width: o.Width, color: o.Color, all: o.Unfold}
	if t.width <= 0 {
		t.width = defaultWidth
	}
	t.head()
	t.matrix()
	t.columns()
	t.legend()
	t.failures()
	t.totals()
	return t.w.Flush()
}

func (t *text) line(format string, args ...any) { fmt.Fprintf(t.w, format+"\n", args...) }

// wrap writes words in lines of the report's width. A word that is longer than a
// line is cut.
func (t *text) wrap(first, indent, s string) {
	t.w.WriteString(first)
	n := utf8.RuneCountInString(first)
	open := false // the line holds a word already
	for _, word := range t.words(s, max(utf8.RuneCountInString(first), utf8.RuneCountInString(indent))) {
		switch size := utf8.RuneCountInString(word); {
		case open && n+1+size > t.width:
			t.w.WriteString("\n" + indent)
			n = utf8.RuneCountInString(indent)
		case open:
			t.w.WriteString(" ")
			n++
		}
		t.w.WriteString(word)
		n += utf8.RuneCountInString(word)
		open = true
	}
	t.w.WriteString("\n")
}

// words splits s, words longer than a line behind indent columns cut. Bytes of
// an engine may be in it: what would steer a terminal is replaced.
func (t *text) words(s string, indent int) []string {
	most := max(t.width-indent, 20)
	var out []string
	for _, word := range strings.Fields(s) {
		runes := []rune(word)
		for i, r := range runes {
			if unicode.IsControl(r) {
				runes[i] = utf8.RuneError
			}
		}
		for ; len(runes) > most; runes = runes[most:] {
			out = append(out, string(runes[:most]))
		}
		out = append(out, string(runes))
	}
	return out
}

func (t *text) head() {
	if t.doc.Mode == "replay" {
		t.wrap("", "", "What each engine's wire demands and whether the reference meets it; nothing about engines today.")
	} else {
		t.wrap("", "", "What the engines answered to the tool loops of the suite on "+t.doc.Date+".")
	}
	t.line("")
}

// letter names a column with one character.
func letter(i int) string {
	names := []rune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" +
		"αβγδεζηθικλμνξοπρστυφχψωΓΔΘΛΞΠΣΦΨΩбвгджзийлпуфцчшщъыьэюя")
	return string(names[i%len(names)])
}

// matrix writes the rows, in blocks of as many columns as fit the width.
func (t *text) matrix() {
	per := max((t.width-nameWidth-originWidth)/2, 4)
	for from := 0; from < len(t.doc.Columns); from += per {
		t.block(from, min(from+per, len(t.doc.Columns)))
		t.line("")
	}
}

func (t *text) block(from, to int) {
	var head strings.Builder
	for i := from; i < to; i++ {
		head.WriteString(letter(i) + " ")
	}
	tail := ""
	if from == 0 {
		tail = "  rec doc syn   ="
	}
	t.line("%s%s%s", pad("", nameWidth), t.faint(strings.TrimRight(head.String(), " ")), t.faint(tail))
	for i := 0; i < len(t.doc.Rows); {
		i = t.section(i, from, to)
	}
}

// section writes the rows of one dialect from row i on, and returns the row
// after it. Rows that only stand for another are folded into a line at its end.
func (t *text) section(i, from, to int) int {
	dialect := spoken(t.doc.Rows[i])
	t.line("%s", t.bold(dialect))
	var order []string
	folded := map[string][]string{}
	for ; i < len(t.doc.Rows) && spoken(t.doc.Rows[i]) == dialect; i++ {
		r := t.doc.Rows[i]
		if r.SameAs != "" && !t.all && onlySame(r) {
			if folded[r.SameAs] == nil {
				order = append(order, r.SameAs)
			}
			folded[r.SameAs] = append(folded[r.SameAs], r.Name)
			continue
		}
		t.row(r, from, to)
	}
	for _, as := range order {
		t.wrap(pad("  = as "+as, nameWidth), pad("", nameWidth), strings.Join(folded[as], ", "))
	}
	return i
}

// spoken names the dialects of a row.
func spoken(r results.Row) string {
	if r.From == r.To {
		return r.From
	}
	return r.From + " to " + r.To
}

func (t *text) row(r results.Row, from, to int) {
	t.w.WriteString(pad("  "+r.Name, nameWidth))
	cells := r.Index()
	for c := from; c < to; c++ {
		t.w.WriteString(t.cell(cells[t.doc.Columns[c].Key()])) // a cell that is not there was not run
		if c < to-1 {
			t.w.WriteString(" ")
		}
	}
	if from == 0 {
		rec, doc, syn, same := r.Origins()
		t.w.WriteString(t.faint(fmt.Sprintf("  %3s %3s %3s %3s", count(rec), count(doc), count(syn), count(same))))
	}
	t.w.WriteString("\n")
}

func count(n int) string {
	if n == 0 {
		return "."
	}
	return fmt.Sprint(n)
}

// onlySame tells whether every cell of a row stands for another row's, or does
// not apply.
func onlySame(r results.Row) bool {
	for _, c := range r.Cells {
		if c.Verdict != results.Same && c.Verdict != results.NA {
			return false
		}
	}
	return true
}

func pad(s string, n int) string {
	if k := utf8.RuneCountInString(s); k < n {
		return s + strings.Repeat(" ", n-k)
	} else if k > n {
		return string([]rune(s)[:n-2]) + "… "
	}
	return s
}

// glyph is the one character of a cell.
func glyph(c results.Cell) string {
	switch c.Verdict {
	case results.Pass:
		switch c.Origin {
		case results.Recorded:
			return "R"
		case results.Documented:
			return "D"
		}
		return "✓"
	case results.Degraded:
		return "~"
	case results.Fail:
		return "✗"
	case results.Same:
		return "="
	case results.NA:
		return "-"
	case results.Unknown:
		return "?"
	case results.Error:
		return "!"
	}
	return "·"
}

func (t *text) columns() {
	width := 0
	for _, c := range t.doc.Columns {
		width = max(width, utf8.RuneCountInString(column(c))+2)
	}
	per := max(t.width/(width+2), 1)
	rows := (len(t.doc.Columns) + per - 1) / per
	for r := range rows {
		var b strings.Builder
		for k := range per {
			if i := k*rows + r; i < len(t.doc.Columns) {
				b.WriteString(pad(letter(i)+" "+column(t.doc.Columns[i]), width+2))
			}
		}
		t.line("%s", strings.TrimRight(b.String(), " "))
	}
	t.line("")
}

func column(c results.Column) string {
	if c.Stream {
		return c.Scenario + " (stream)"
	}
	return c.Scenario
}

func (t *text) legend() {
	const column = 37
	for _, pair := range [][2]string{
		{"R pass on a recorded tape", "~ degraded: the documented fallback"},
		{"D pass on a documented tape", "✗ fail"},
		{"✓ pass on a rendered conversation", "= as another row: same profile, no tape of its own"},
		{"- does not apply", "? the fact that decides it is unknown"},
		{"· not run", "! error of the harness"},
		{"rec doc syn =", "cells on recorded, documented, rendered data; as another row"},
	} {
		if t.width < 90 { // the longest line does not fit
			t.line("%s\n%s", pair[0], pair[1])
			continue
		}
		t.line("%s%s", pad(pair[0], column), pair[1])
	}
	t.line("")
}

// failures writes each failed check with what was expected and seen, and the
// command that shows more of the cell.
func (t *text) failures() {
	for _, r := range t.doc.Rows {
		for _, c := range r.Cells {
			switch c.Verdict {
			case results.Fail:
				for _, k := range c.Checks {
					if k.Verdict == results.Fail {
						t.failure("✗", r, c, fmt.Sprintf("%s (%s)", k.ID, k.Level))
						t.wrap("    ", "    ", strings.TrimPrefix(k.Message+": "+k.Evidence, ": "))
					}
				}
				t.line("    conform explain %s --engine %s", c.Scenario, r.Name)
				t.line("")
			case results.Error:
				t.failure("!", r, c, "harness")
				t.wrap("    ", "    ", c.Reason)
				t.line("")
			}
		}
	}
}

// failure writes the first line of one, in two where it is too long.
func (t *text) failure(sign string, r results.Row, c results.Cell, what string) {
	name := r.Name + "  " + c.Scenario
	gap := "  "
	if utf8.RuneCountInString(sign+" "+name+gap+what) > t.width {
		gap = "\n    "
	}
	t.line("%s %s%s%s", t.paint(sign, lipgloss.Red), t.bold(name), gap, what)
}

func (t *text) totals() {
	k := t.doc.Totals
	var parts []string
	for _, v := range results.Verdicts() {
		if n := k.ByVerdict[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, name(v)))
		}
	}
	t.wrap("", "", fmt.Sprintf("%s, %s, %s: %s", counted(k.Engines, "engine"), counted(k.Dialects, "dialect"),
		counted(k.Cells, "cell"), strings.Join(parts, ", ")))
	t.wrap("", "", fmt.Sprintf("run on: %d recorded, %d documented, %d synthetic; %s", k.ByOrigin[results.Recorded],
		k.ByOrigin[results.Documented], k.ByOrigin[results.Synthetic], counted(k.Exchanges, "exchange")))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func name(v results.Verdict) string {
	switch v {
	case results.Same:
		return "as another row (=)"
	case results.NotRun:
		return "not run"
	}
	return string(v)
}
