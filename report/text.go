package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/lipgloss/v2"

	"github.com/toolconform/conform/internal/texts"
	"github.com/toolconform/conform/suite/results"
)

// defaultWidth is that of a screen nobody has widened.
const defaultWidth = 80

// text lays a document out for people: what failed, then where each dialect
// stands, then who differs, and last what all of it rests on.
type text struct {
	w     *bufio.Writer
	doc   results.Document
	width int
	color bool

	rows []map[results.Key]results.Cell // of each row; a cell that stands for another is that one
}

func writeText(w io.Writer, doc results.Document, o Options) error {
	t := text{w: bufio.NewWriter(w), doc: doc, width: o.Width, color: o.Color}
	if t.width <= 0 {
		t.width = defaultWidth
	}
	t.resolve()
	t.head()
	if o.Grid {
		t.grid()
	}
	t.failures()
	t.dialects()
	t.differences()
	t.bottom()
	return t.w.Flush()
}

// resolve finds the cells that stand for another row's. One whose base is not in
// the document stays as it is.
func (t *text) resolve() {
	index := map[string]map[results.Key]results.Cell{}
	for _, r := range t.doc.Rows {
		cells := r.Index()
		for key, c := range cells {
			if base, ok := index[r.From+" "+r.SameAs][key]; ok && c.Verdict == results.Same {
				cells[key] = base
			}
		}
		t.rows = append(t.rows, cells)
		index[r.From+" "+r.Name] = cells
	}
}

func (t *text) line(format string, args ...any) { fmt.Fprintf(t.w, format+"\n", args...) }

// wrap writes words in lines of the report's width.
func (t *text) wrap(first, indent, s string) {
	t.w.WriteString(texts.Wrap(first, indent, harmless(s), t.width))
}

// harmless replaces what would steer a terminal: bytes of an engine may be in a
// text.
func harmless(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && !unicode.IsSpace(r) {
			return utf8.RuneError
		}
		return r
	}, s)
}

func (t *text) head() {
	if t.doc.Mode == "replay" {
		t.wrap("", "", "What each engine's wire demands and whether the reference meets it; nothing about engines today.")
	} else {
		t.wrap("", "", "What the engines answered to the tool loops of the suite on "+t.doc.Date+".")
	}
	t.line("")
}

// spoken names the dialects of a row.
func spoken(r results.Row) string {
	if r.From == r.To {
		return r.From
	}
	return r.From + " to " + r.To
}

// group is what went wrong in one way in one scenario, at one engine or many.
type group struct {
	sign, scenario, what, detail string
	must                         bool
	at                           []string
}

// mostGroups bounds the failures that are told one by one.
const mostGroups = 20

// groups puts failed checks and broken cells together by scenario and check,
// those of level must and of many engines first.
func (t *text) groups() []*group {
	var out []*group
	found := map[string]*group{}
	add := func(g group, engine string) {
		key := g.sign + g.scenario + " " + g.what
		if found[key] == nil {
			found[key] = &g
			out = append(out, &g)
		}
		found[key].at = append(found[key].at, engine)
	}
	for _, r := range t.doc.Rows {
		for _, c := range r.Cells {
			switch c.Verdict {
			case results.Fail:
				for _, k := range c.Checks {
					if k.Verdict == results.Fail {
						add(group{"✗", columnName(c.Key()), fmt.Sprintf("%s (%s)", k.ID, k.Level), strings.TrimPrefix(k.Message+": "+k.Evidence, ": "), k.Level == results.Must, nil}, r.Name)
					}
				}
			case results.Error:
				add(group{"!", columnName(c.Key()), "the harness failed", c.Reason, true, nil}, r.Name)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *group) int {
		if a.must != b.must {
			return map[bool]int{true: -1, false: 1}[a.must]
		}
		return len(b.at) - len(a.at)
	})
	return out
}

func columnName(k results.Key) string {
	if k.Stream {
		return k.Scenario + " (stream)"
	}
	return k.Scenario
}

// failures writes each group with what was expected and seen at the first engine,
// and the command that shows more.
func (t *text) failures() {
	groups := t.groups()
	for _, g := range groups[:min(len(groups), mostGroups)] {
		at := g.at[0]
		if len(g.at) > 1 {
			at = counted(len(g.at), "engine") + ": " + some(g.at, 5)
		}
		lines := strings.SplitN(texts.Wrap(g.sign+" ", "    ", g.scenario+": "+g.what+", "+at, t.width), "\n", 2)
		t.line("%s", t.paint(lines[0], lipgloss.Red))
		t.w.WriteString(lines[1])
		t.wrap("    ", "    ", texts.Cut(g.detail, 3*t.width))
		if g.sign == "✗" {
			scenario, _, _ := strings.Cut(g.scenario, " ") // without (stream)
			t.line("    conform explain %s --engine %s", scenario, g.at[0])
		}
		t.line("")
	}
	if more := len(groups) - mostGroups; more > 0 {
		t.wrap("", "", fmt.Sprintf("%s more like these; --grid shows every cell, --format json every check.", counted(more, "group")))
		t.line("")
	}
}

// some names the first n of a list, and says how many there are besides.
func some(list []string, n int) string {
	if len(list) <= n+1 { // "and 1 more" is no shorter than the one
		return strings.Join(list, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(list[:n], ", "), len(list)-n)
}

// tally counts verdicts.
type tally map[results.Verdict]int

// applies counts the cells that say something: all but those that do not apply.
func (n tally) applies() (sum int) {
	for v, k := range n {
		if v != results.NA {
			sum += k
		}
	}
	return sum
}

// text is passed of all, and what the others are: "1/4 ~3".
func (n tally) text() string {
	out := fmt.Sprintf("%d/%d", n[results.Pass], n.applies())
	for _, v := range results.Verdicts() {
		if k := n[v]; k > 0 && v != results.Pass && v != results.NA {
			out += fmt.Sprintf(" %s%d", mark(v), k)
		}
	}
	return out
}

// sections returns the dialects in the order of the rows, with the rows of each.
func (t *text) sections() (names []string, rows map[string][]int) {
	rows = map[string][]int{}
	for i, r := range t.doc.Rows {
		d := spoken(r)
		if rows[d] == nil {
			names = append(names, d)
		}
		rows[d] = append(rows[d], i)
	}
	return names, rows
}

// dialects writes a line for each dialect, areas where all passed left to the end.
func (t *text) dialects() {
	names, rows := t.sections()
	wide := 0
	for _, d := range names {
		wide = max(wide, utf8.RuneCountInString(d))
	}
	seen := tally{}
	for _, d := range names {
		byArea, all := map[string]tally{}, tally{}
		var areas []string
		for _, c := range t.doc.Columns {
			if byArea[c.Area] == nil {
				byArea[c.Area] = tally{}
				areas = append(areas, c.Area)
			}
			for _, i := range rows[d] {
				v := cmp.Or(t.rows[i][c.Key()].Verdict, results.NotRun)
				byArea[c.Area][v]++
				all[v]++
				seen[v]++
			}
		}
		var parts []string
		whole := 0
		for _, a := range areas {
			switch n := byArea[a]; {
			case n.applies() == 0:
			case n[results.Pass] == n.applies():
				whole++
			default:
				parts = append(parts, a+" "+n.text())
			}
		}
		switch {
		case all.applies() == 0:
			parts = []string{"nothing applies"}
		case len(parts) == 0:
			parts = []string{"all passes"}
		case whole > 0:
			parts = append(parts, "the rest all passes")
		}
		first := fmt.Sprintf("%s  %s  %d/%d  ", texts.Pad(d, wide), texts.Pad(counted(len(rows[d]), "engine"), 10), all[results.Pass], all.applies())
		for i, part := range parts {
			parts[i] = strings.ReplaceAll(part, " ", together)
		}
		wrapped := texts.Wrap(first, strings.Repeat(" ", wide+2), strings.Join(parts, ", "), t.width)
		wrapped = strings.ReplaceAll(wrapped, together, " ")
		t.w.WriteString(t.bold(wrapped[:len(d)]) + wrapped[len(d):])
	}
	var legend []string
	for _, v := range results.Verdicts() {
		if seen[v] > 0 && v != results.Pass && v != results.NA {
			legend = append(legend, mark(v)+" "+meaning[v])
		}
	}
	if len(legend) > 0 {
		t.wrap("", "", "passed/all that apply; "+strings.Join(legend, "; "))
	}
	t.line("")
}

// together stands for a blank at which no line may end.
const together = "\x00"

var meaning = map[results.Verdict]string{
	results.Degraded: "on the documented fallback",
	results.Fail:     "failed",
	results.Unknown:  "the fact that decides is unknown",
	results.Same:     "as another engine",
	results.NA:       "does not apply",
	results.NotRun:   "not run",
	results.Error:    "the harness failed",
}

// mark is the one character of a verdict.
func mark(v results.Verdict) string {
	return map[results.Verdict]string{
		results.Pass: "✓", results.Degraded: "~", results.Fail: "✗", results.Unknown: "?",
		results.Same: "=", results.NA: "-", results.NotRun: "·", results.Error: "!",
	}[v]
}

// bottom says in its last lines whether something failed and where, how much is
// unknown, what all rests on, and when it was.
func (t *text) bottom() {
	k := t.doc.Totals
	outcome := "Nothing failed"
	if n := k.ByVerdict[results.Fail] + k.ByVerdict[results.Error]; n > 0 {
		var scenarios []string
		at := map[string]bool{}
		for _, g := range t.groups() {
			if !slices.Contains(scenarios, g.scenario) {
				scenarios = append(scenarios, g.scenario)
			}
			for _, name := range g.at {
				at[name] = true
			}
		}
		verb := "Failed"
		if k.ByVerdict[results.Error] > 0 {
			verb = "Failed or broken"
		}
		outcome = fmt.Sprintf("%s: %s at %s, in %s", verb, counted(n, "cell"), counted(len(at), "engine"), some(scenarios, 3))
	}
	color := lipgloss.Green
	if outcome != "Nothing failed" {
		color = lipgloss.Red
	}
	outcome += fmt.Sprintf(" (%s, %s, %s).", counted(k.Engines, "engine"), counted(k.Dialects, "dialect"), counted(k.Cells, "cell"))
	lines := texts.Wrap("", "  ", outcome, t.width)
	first, rest, _ := strings.Cut(lines, "\n")
	t.line("%s", t.paint(first, color))
	t.w.WriteString(rest)

	text := fmt.Sprintf("Unknown: %d of %s", k.ByVerdict[results.Unknown], counted(k.Cells-k.ByVerdict[results.NA], "cell")+" that apply")
	if len(k.ByFact) > 0 {
		var facts []string
		for name := range k.ByFact {
			facts = append(facts, name)
		}
		slices.SortFunc(facts, func(a, b string) int { return cmp.Or(k.ByFact[b]-k.ByFact[a], strings.Compare(a, b)) })
		for i, name := range facts {
			facts[i] = fmt.Sprintf("%s %d", name, k.ByFact[name])
		}
		text += ": " + some(facts, 3) + "; see conform facts"
	}
	t.wrap("", "  ", text+".")

	recorded := fmt.Sprintf("%d recorded", k.ByOrigin[results.Recorded])
	if len(t.doc.Recorded) > 0 {
		recorded += " (" + strings.Join(t.doc.Recorded, ", ") + ")"
	}
	text = fmt.Sprintf("Evidence: cells on %s, %d documented, %d rendered replies", recorded, k.ByOrigin[results.Documented], k.ByOrigin[results.Synthetic])
	if n := k.ByVerdict[results.Same]; n > 0 {
		text += fmt.Sprintf("; %d as another engine", n)
	}
	if n := k.ByVerdict[results.NotRun]; n > 0 {
		text += fmt.Sprintf("; %d not run", n)
	}
	t.wrap("", "  ", text+".")
	t.wrap("", "  ", fmt.Sprintf("%s, suite %s, %s, %s.", t.doc.Date, t.doc.SuiteVersion, t.doc.Mode, counted(k.Exchanges, "exchange")))
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
