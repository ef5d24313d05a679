package suite

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/suggest"
	"github.com/toolconform/conform/internal/texts"
	"github.com/toolconform/conform/suite/client"
	"github.com/toolconform/conform/suite/replay"
	"github.com/toolconform/conform/suite/results"
)

// Version is the version of the suite: of its scenarios, cases and checks.
const Version = "0.1.0"

// Runner plays scenarios with a client. Catalog and Scenarios are required.
type Runner struct {
	Catalog   *engines.Catalog
	Scenarios []fixtures.Scenario
	Tapes     *Tapes // nil: every scenario is rendered

	// Client is what is under test; nil is the reference loop. The policies of the
	// reference (exact ends, warnings, the requests of the tapes) are judged of a
	// client.Reference alone.
	Client client.Client
	// Codec finds the codec that plays the engine of a dialect; nil is all.For.
	Codec func(codecs.Dialect) (codecs.Full, error)
	// Timeout bounds the time that the client has for one cell; 0 is a minute.
	Timeout time.Duration
	// Keep, when set, is given every cell that ran and what happened in it; it
	// returns the reference under which the document names the transcript.
	Keep func(Played) (ref string, err error)

	Date string // YYYY-MM-DD, for the document
}

// Played is a cell that ran.
type Played struct {
	Client     client.Info
	Engine     string
	Dialect    codecs.Dialect
	Model      string // that was asked for
	Key        string // that the client was given
	Cell       results.Cell
	Transcript replay.Transcript
}

// Selection says what to run. Empty lists take everything.
type Selection struct {
	Engines   []string
	Dialects  []string
	Scenarios []string // ids, folders or globs
	Model     string   // in place of the default models
	Stream    string   // off, on or both; "" is off
}

// row is one line of the plan.
type row struct {
	engines.Resolved
	codec codecs.Full
	key   string // dialect and effective profile
}

// run is a Runner at work.
type run struct {
	Runner
	client    client.Client
	info      client.Info
	reference bool
	tools     toolbox
	listed    bool // play what the scenario leaves out, too: for a test of that list
}

// played is a row that was run.
type played struct {
	row
	cells map[results.Key]results.Cell
}

// standsFor tells whether the row's cell says all that another row with its key
// would: it ran, on a rendered conversation, and what decides it is known of both
// and the same.
func (p *played) standsFor(other row, s fixtures.Scenario, stream bool) bool {
	if p == nil {
		return false
	}
	c := p.cells[results.Key{Scenario: s.ID, Stream: stream}]
	ran := slices.Contains([]results.Verdict{results.Pass, results.Degraded, results.Fail}, c.Verdict)
	return ran && c.Tape == "" && len(unknown(p.Resolved, s)) == 0 && len(unknown(other.Resolved, s)) == 0 &&
		!slices.ContainsFunc(s.Facts(), func(name string) bool { return p.Facts.Of(name).Value != other.Facts.Of(name).Value })
}

func (r Runner) start() *run {
	out := &run{Runner: r, client: r.Client, tools: toolbox{}}
	if out.client == nil {
		out.client = client.Reference{Catalog: r.Catalog, Codec: r.Codec}
	}
	out.info = out.client.Info()
	_, out.reference = out.client.(client.Reference)
	return out
}

// Run plays the selected cells and returns the verdicts. An error means that the
// selection names something that does not exist.
func (r Runner) Run(ctx context.Context, sel Selection) (results.Document, error) {
	rows, scenarios, modes, err := r.plan(sel)
	if err != nil {
		return results.Document{}, err
	}
	at := r.start()
	defer at.tools.close()
	doc := results.Document{Version: results.Version, SuiteVersion: Version, Mode: "replay", Date: r.Date}
	for i, s := range scenarios {
		for _, stream := range modes {
			doc.Columns = append(doc.Columns, results.Column{Scenario: s.ID, Stream: stream, Area: s.Area(), Title: s.Title})
		}
		scenarios[i] = s.Bind(1)
	}
	first := map[string]*played{}
	for _, row := range rows {
		out := results.Row{Name: row.Engine.Name, Kind: "engine", From: string(row.Dialect), To: string(row.Dialect), Model: row.Model}
		base := first[row.key]
		if base != nil {
			out.SameAs = base.Engine.Name
		}
		for _, s := range scenarios {
			for _, stream := range modes {
				if err := ctx.Err(); err != nil {
					return results.Document{}, err
				}
				out.Cells = append(out.Cells, at.cell(ctx, row, s, stream, base, sel.Model))
			}
		}
		if base == nil {
			first[row.key] = &played{row, out.Index()}
		}
		doc.Rows = append(doc.Rows, out)
	}
	doc.Totals = results.Count(doc.Rows)
	doc.Recorded = r.recorded(doc.Rows)
	return doc, nil
}

// recorded names the engines, with their versions, whose recorded replies the
// cells of the rows rest on.
func (r Runner) recorded(rows []results.Row) []string {
	seen := map[string]bool{}
	for _, row := range rows {
		for _, c := range row.Cells {
			if entry, ok := r.Tapes.Find(row.Name, c.Scenario); ok && c.Origin == results.Recorded && c.Tape == entry.Tape {
				seen[strings.TrimSpace(entry.Origin.Engine+" "+entry.Origin.Version)] = true
			}
		}
	}
	delete(seen, "")
	return slices.Sorted(maps.Keys(seen))
}

func (r Runner) plan(sel Selection) ([]row, []fixtures.Scenario, []bool, error) {
	modes, ok := map[string][]bool{"": {false}, "off": {false}, "on": {true}, "both": {false, true}}[sel.Stream]
	if !ok {
		return nil, nil, nil, fmt.Errorf("stream %.40q is none of off, on and both", sel.Stream)
	}
	rows, err := r.rows(sel)
	if err != nil {
		return nil, nil, nil, err
	}
	scenarios, err := SelectScenarios(r.Scenarios, sel.Scenarios)
	return rows, slices.Clone(scenarios), modes, err
}

func (r Runner) rows(sel Selection) ([]row, error) {
	find := r.Codec
	if find == nil {
		find = all.For
	}
	var names []string // as the catalogue spells them
	for _, n := range sel.Engines {
		e, err := r.Catalog.Lookup(n)
		if err != nil {
			return nil, err
		}
		names = append(names, e.Name)
	}
	for _, d := range sel.Dialects {
		if _, err := all.For(codecs.Dialect(d)); err != nil {
			return nil, err
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
		codec, err := find(res.Dialect)
		if err != nil {
			return nil, err
		}
		profile, err := jsonx.Marshal([]any{res.Profile, res.Likeness})
		if err != nil {
			return nil, err
		}
		// What the entry does to a body is part of what is sent.
		edits, err := jsonx.Marshal([]any{res.Engine.BodySet, res.Engine.BodyRemove})
		if err != nil {
			return nil, err
		}
		rows = append(rows, row{Resolved: res, codec: codec, key: string(res.Dialect) + string(profile) + string(edits)})
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("no engine speaks the dialects %s among %s", strings.Join(sel.Dialects, ", "), strings.Join(sel.Engines, ", "))
	}
	order := map[codecs.Dialect]int{}
	for i, d := range codecs.Dialects() {
		order[d] = i
	}
	slices.SortStableFunc(rows, func(a, b row) int { return order[a.Dialect] - order[b.Dialect] })
	return rows, nil
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
			if id == p || strings.HasPrefix(id, strings.TrimSuffix(p, "/")+"/") || texts.Glob(p, id) {
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
