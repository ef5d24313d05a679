package suite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/suggest"
	"github.com/toolconform/conform/suite/results"
)

// Version is the version of the suite: of its scenarios, cases and checks.
const Version = "0.1.0"

// Runner replays scenarios with the reference loop. Catalog and Scenarios are
// required.
type Runner struct {
	Catalog   *engines.Catalog
	Scenarios []fixtures.Scenario
	Tapes     *Tapes // nil: every scenario is rendered

	// Wrap, when set, stands between the reference loop and its codec: the loop
	// uses what it returns, the judge and the replay keep the codec itself. A
	// test that plants a fault, and the mutants, use it.
	Wrap func(codecs.Full) codecs.Codec

	Date string // YYYY-MM-DD, for the document
}

// Selection says what to run. Empty lists take everything.
type Selection struct {
	Engines   []string
	Dialects  []string
	Scenarios []string // ids, folders or globs
	Model     string   // in place of the default models
}

// row is one line of the plan.
type row struct {
	engines.Resolved
	key string // dialect and effective profile
}

// Run replays the selected cells and returns the verdicts. An error means that
// the selection names something that does not exist.
func (r Runner) Run(ctx context.Context, sel Selection) (results.Document, error) {
	rows, scenarios, err := r.plan(sel)
	if err != nil {
		return results.Document{}, err
	}
	doc := results.Document{Version: results.Version, SuiteVersion: Version, Mode: "replay", Date: r.Date}
	for _, s := range scenarios {
		doc.Columns = append(doc.Columns, results.Column{Scenario: s.ID, Area: s.Area(), Title: s.Title})
	}
	base := map[string]string{}
	for _, row := range rows {
		out := results.Row{Name: row.Engine.Name, Kind: "engine", From: string(row.Dialect), To: string(row.Dialect), Model: row.Model}
		out.SameAs = base[row.key]
		if out.SameAs == "" {
			base[row.key] = row.Engine.Name
		}
		for _, s := range scenarios {
			if err := ctx.Err(); err != nil {
				return results.Document{}, err
			}
			out.Cells = append(out.Cells, r.cell(ctx, row.Resolved, s, out.SameAs, sel.Model))
		}
		doc.Rows = append(doc.Rows, out)
	}
	doc.Totals = results.Count(doc.Rows)
	return doc, nil
}

func (r Runner) plan(sel Selection) ([]row, []fixtures.Scenario, error) {
	var names []string // as the catalogue spells them
	for _, n := range sel.Engines {
		e, err := r.Catalog.Lookup(n)
		if err != nil {
			return nil, nil, err
		}
		names = append(names, e.Name)
	}
	for _, d := range sel.Dialects {
		if _, err := all.For(codecs.Dialect(d)); err != nil {
			return nil, nil, err
		}
	}
	var rows []row
	for _, e := range r.Catalog.All() {
		if len(names) > 0 && !slices.Contains(names, e.Name) {
			continue
		}
		res := e.Resolve(sel.Model)
		if len(sel.Dialects) > 0 && !slices.Contains(sel.Dialects, string(res.Dialect)) {
			continue
		}
		profile, err := jsonx.Marshal(res.Profile)
		if err != nil {
			return nil, nil, err
		}
		// What the entry does to a body is part of what is sent.
		edits, err := jsonx.Marshal([]any{res.Engine.BodySet, res.Engine.BodyRemove})
		if err != nil {
			return nil, nil, err
		}
		rows = append(rows, row{Resolved: res, key: string(res.Dialect) + string(profile) + string(edits)})
	}
	if len(rows) == 0 {
		return nil, nil, fmt.Errorf("no engine speaks the dialects %s among %s", strings.Join(sel.Dialects, ", "), strings.Join(sel.Engines, ", "))
	}
	order := map[codecs.Dialect]int{}
	for i, d := range codecs.Dialects() {
		order[d] = i
	}
	slices.SortStableFunc(rows, func(a, b row) int { return order[a.Dialect] - order[b.Dialect] })
	scenarios, err := SelectScenarios(r.Scenarios, sel.Scenarios)
	return rows, scenarios, err
}

// SelectScenarios returns the scenarios whose id is named, lies below a named
// folder or fits a glob in which * is any text. No pattern takes all. A pattern
// that fits nothing is an error that says what was probably meant.
func SelectScenarios(list []fixtures.Scenario, patterns []string) ([]fixtures.Scenario, error) {
	if len(patterns) == 0 {
		return list, nil
	}
	var ids []string
	for _, s := range list {
		ids = append(ids, s.ID)
	}
	chosen := map[string]bool{}
	for _, p := range patterns {
		found := false
		for _, id := range ids {
			if id == p || strings.HasPrefix(id, strings.TrimSuffix(p, "/")+"/") || glob(p, id) {
				chosen[id], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("no scenario fits %.80q%s; 'conform list scenarios' lists them", p, suggest.Text(p, ids))
		}
	}
	var out []fixtures.Scenario
	for _, s := range list {
		if chosen[s.ID] {
			out = append(out, s)
		}
	}
	return out, nil
}

// glob matches a pattern in which * stands for any text, slashes included.
func glob(pattern, s string) bool {
	p, at, star, mark := 0, 0, -1, 0
	for at < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, at
			p++
		case p < len(pattern) && pattern[p] == s[at]:
			p++
			at++
		case star >= 0: // let the last star take one character more
			mark++
			p, at = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// cell runs one scenario against one row, or says why not. model is the one that
// was asked for, "" when none was: a tape of another model says nothing about it.
func (r Runner) cell(ctx context.Context, res engines.Resolved, s fixtures.Scenario, sameAs, model string) (out results.Cell) {
	out = results.Cell{Scenario: s.ID}
	defer func() {
		if p := recover(); p != nil {
			out.Break(fmt.Sprintf("panic: %v", p))
		}
	}()
	if reason, excluded := s.Excludes(string(res.Dialect)); excluded {
		out.Verdict, out.Reason = results.NA, reason
		return out
	}
	if len(s.ServerTools[string(res.Dialect)]) > 0 && res.Profile.NoServerTool {
		out.Verdict, out.Reason = results.NA, "this engine takes no server tools"
		return out
	}
	if streamOnly(res.Engine) {
		out.Verdict, out.Reason = results.NA, "this engine answers as a stream only, and streams are not run yet"
		return out
	}
	entry, taped := r.Tapes.Find(res.Engine.Name, s.ID)
	taped = taped && (model == "" || entry.Model == model)
	if !taped && sameAs != "" {
		out.Verdict = results.Same
		return out
	}
	c, err := all.For(res.Dialect)
	if err != nil {
		out.Break(err.Error())
		return out
	}
	p := play{runner: r, resolved: res, codec: c, scenario: s.Bind(1)}
	if taped {
		out.Tape = entry.Tape
		if entry.Model != res.Model {
			out.Model = entry.Model
		}
		out.Origin = results.Origin(entry.Origin.Kind)
		err = p.useTape(r.Tapes, entry)
	} else {
		out.Origin = results.Synthetic
		err = p.render()
	}
	if reason := cannotSay(""); errors.As(err, &reason) {
		out.Verdict, out.Reason, out.Origin = results.NA, string(reason), ""
		return out
	}
	if err != nil {
		out.Break(err.Error())
		return out
	}
	p.run(ctx)
	p.judge(&out)
	return out
}

// streamOnly tells whether the entry of an engine asks for a stream on every
// request.
func streamOnly(e engines.Engine) bool {
	for _, set := range e.BodySet {
		if set.Pointer == "/stream" && string(set.Value) == "true" {
			return true
		}
	}
	return false
}
