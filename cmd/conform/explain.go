package main

import (
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/suggest"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/judge"
	"github.com/toolconform/conform/suite/results"
)

func explainCommand(e env) *cobra.Command {
	var engine, model string
	var show bool
	cmd := &cobra.Command{
		Use:   "explain ID [--engine E [--show] | --model M]",
		Short: "Explain a rule, a scenario, a case or an engine; with --engine run a scenario there and show each check",
		Args:  oneArg("the id of a rule, a scenario, a case or an engine; 'conform list' lists them"),
		RunE: func(cmd *cobra.Command, args []string) error {
			id := args[0]
			runner, err := newRunner(e)
			if err != nil {
				return err
			}
			scenario := slices.IndexFunc(runner.Scenarios, func(s fixtures.Scenario) bool { return s.ID == id })
			if engine != "" && scenario < 0 {
				return usage("--engine goes with a scenario, and %.80q is none%s; 'conform list scenarios' lists them", id, suggest.Text(id, scenarioIDs(runner)))
			}
			if show && engine == "" {
				return usage("--show shows a scenario at one engine; say which with --engine")
			}
			if scenario >= 0 {
				return explainScenario(cmd, e.stdout, runner, runner.Scenarios[scenario], engine, show)
			}
			cases, err := fixtures.LoadCases(fixtures.FS())
			if err != nil {
				return &failure{exitBroken, err.Error()}
			}
			if rule, ok := fixtures.RuleByID(id); ok {
				return explainRule(e.stdout, rule, runner.Scenarios, cases)
			}
			if i := slices.IndexFunc(cases, func(c fixtures.Case) bool { return c.ID == id }); i >= 0 {
				return explainCase(e.stdout, cases[i], runner.Catalog)
			}
			if en, err := runner.Catalog.Lookup(id); err == nil {
				return explainEngine(e.stdout, en, model)
			}
			return usage("nothing is called %.80q%s; 'conform list rules|scenarios|cases|engines' lists what there is", id, suggest.Text(id, ids(runner, cases)))
		},
	}
	cmd.Flags().StringVar(&engine, "engine", "", "run the scenario against this engine of the catalogue")
	cmd.Flags().BoolVar(&show, "show", false, "with --engine: show every request and reply")
	cmd.Flags().StringVar(&model, "model", "", "with an engine: show what counts for this model")
	return cmd
}

func scenarioIDs(runner suite.Runner) []string {
	var out []string
	for _, s := range runner.Scenarios {
		out = append(out, s.ID)
	}
	return out
}

func ids(runner suite.Runner, cases []fixtures.Case) []string {
	out := scenarioIDs(runner)
	for _, r := range fixtures.Rules() {
		out = append(out, r.ID)
	}
	for _, c := range cases {
		out = append(out, c.ID)
	}
	return append(out, runner.Catalog.Names()...)
}

// explainRule shows a rule and who names it.
func explainRule(w io.Writer, r fixtures.Rule, scenarios []fixtures.Scenario, cases []fixtures.Case) error {
	fmt.Fprintf(w, "%s  (%s, %s side, usual level %s)\n%s.\n\nWhy: %s\n", r.ID, r.Kind, r.Side, r.Level, r.Title, r.Why)
	by := slices.Sorted(maps.Keys(r.Facts))
	if r.Profile != "" {
		by = append(by, r.Profile+" of the profile")
	}
	if len(by) > 0 {
		fmt.Fprintf(w, "Decided at an engine by: %s\n", strings.Join(by, ", "))
	}
	for _, s := range r.Sources {
		fmt.Fprintf(w, "Source: %s\n", s)
	}
	if _, ok := judge.RuleByID(r.ID); ok {
		fmt.Fprintln(w, "Check: yes; every scenario where it applies is judged by it")
	}
	var in, of []string
	for _, s := range scenarios {
		if slices.Contains(s.Rules, r.ID) || slices.Contains(s.Expect.Checks, r.ID) {
			in = append(in, s.ID)
		}
	}
	for _, c := range cases {
		if c.Rule == r.ID {
			of = append(of, c.ID)
		}
	}
	if len(in) > 0 {
		fmt.Fprintf(w, "Scenarios that name it: %s\n", strings.Join(in, ", "))
	}
	if len(of) > 0 {
		fmt.Fprintf(w, "Cases (%d):\n  %s\n", len(of), strings.Join(of, "\n  "))
	}
	return nil
}

func explainScenario(cmd *cobra.Command, w io.Writer, runner suite.Runner, s fixtures.Scenario, engine string, show bool) error {
	fmt.Fprintf(w, "%s  (origin %s, %s)\n%s.\n\nWhy: %s\n", s.ID, s.Origin.Kind, s.Origin.Date, s.Title, s.Why)
	for _, src := range s.Origin.Source {
		fmt.Fprintf(w, "Source: %s\n", src)
	}
	fmt.Fprintf(w, "Turns of the engine: %d. Requests: %d to %d. Checks: %s\n", len(s.Turns), s.Expect.Requests.Min, s.Expect.Requests.Max, strings.Join(s.Expect.Checks, ", "))
	if engine == "" {
		fmt.Fprintf(w, "\nRun it: conform run --scenario %s\nSee each check at one engine: conform explain %s --engine openai\nSee every request and reply too: conform explain %s --engine openai --show\n", s.ID, s.ID, s.ID)
		return nil
	}
	var played codecs.Raw
	if show {
		runner.Keep = func(p suite.Played) (_ string, err error) {
			played, err = p.JSON()
			return "", err
		}
	}
	doc, err := runner.Run(cmd.Context(), suite.Selection{Engines: []string{engine}, Scenarios: []string{s.ID}})
	if err != nil {
		return usage("%v", err)
	}
	row := doc.Rows[0]
	for _, c := range row.Cells {
		fmt.Fprintf(w, "\n%s (%s, %s): %s", row.Name, row.From, row.Model, c.Verdict)
		if c.Origin != "" {
			fmt.Fprintf(w, ", rests on %s data", c.Origin)
		}
		if c.Tape != "" {
			fmt.Fprintf(w, ", tape %s", c.Tape)
		}
		if c.Model != "" {
			fmt.Fprintf(w, " made with the model %s", c.Model)
		}
		if c.Class != "" {
			fmt.Fprintf(w, ", class %s", c.Class)
		}
		if c.Verdict == results.Same {
			fmt.Fprintf(w, "\n  same effective profile as %s", row.SameAs)
		}
		if c.Reason != "" {
			fmt.Fprintf(w, "\n  %s", c.Reason)
		}
		fmt.Fprintln(w)
		if played != nil {
			showTranscript(w, jsonx.Of(played))
		}
		for _, k := range c.All {
			fmt.Fprintf(w, "  %-8s  %-6s  %s", k.Verdict, k.Level, k.ID)
			for _, more := range []string{k.Message, k.Evidence} {
				if more != "" {
					fmt.Fprintf(w, "\n%22s%s", "", more)
				}
			}
			fmt.Fprintln(w)
		}
	}
	return verdict(doc, "must")
}

func explainCase(w io.Writer, c fixtures.Case, catalog *engines.Catalog) error {
	fmt.Fprintf(w, "%s  (%s, level %s, rule %s)\n%s.\n\nWhy: %s\nOrigin: %s %s, %s\n", c.ID, c.Op, c.Level, c.Rule, c.Title, c.Why, c.Origin.Kind, c.Origin.Date, c.Origin.From())
	for _, engine := range slices.Sorted(maps.Keys(c.Levels)) {
		fmt.Fprintf(w, "Level at %s: %s\n", engine, c.Levels[engine])
	}
	if len(c.KnownBugs) > 0 {
		fmt.Fprintf(w, "Known bugs: %s\n", strings.Join(c.KnownBugs, ", "))
	}
	file, err := fs.ReadFile(fixtures.FS(), c.File) // its own bytes: an empty list of warnings says something
	if err != nil {
		return &failure{exitBroken, err.Error()}
	}
	fmt.Fprintf(w, "\nInput:\n%s\n", indented(jsonx.Of(file).Get("input").Raw()))
	for _, part := range [][2]string{{"want", "Wanted of everybody (law)"}, {"reference", "Wanted of the reference besides (policy)"}} {
		if v := jsonx.Of(file).Get(part[0]); v.Exists() {
			fmt.Fprintf(w, "\n%s:\n%s\n", part[1], indented(v.Raw()))
		}
	}
	r, err := suite.RunCase(c, catalog)
	if err != nil {
		return &failure{exitBroken, err.Error()}
	}
	if r.Got.Value != nil {
		fmt.Fprintf(w, "\nGot from the reference:\n%s\n", indented(r.Got.Value))
	}
	if r.Got.Err != nil {
		fmt.Fprintf(w, "\nError of the reference: %v\n", r.Got.Err)
	}
	if len(r.Law)+len(r.Policy) == 0 {
		fmt.Fprintln(w, "\nThe reference meets it.")
		return nil
	}
	fmt.Fprintln(w, "\nThe reference does not meet it:")
	for i, list := range [][]fixtures.Mismatch{r.Law, r.Policy} {
		for _, m := range list {
			fmt.Fprintf(w, "  %s: %s\n", []string{"law", "policy"}[i], m)
		}
	}
	return &failure{code: exitFailed}
}

// explainEngine shows what counts for an engine: where it is, its effective
// profile for the model, the rules that led there, and what is known.
func explainEngine(w io.Writer, en engines.Engine, model string) error {
	r := en.Resolve(model)
	address := strings.ReplaceAll(en.URL, "{base}", en.Vars["base"])
	fmt.Fprintf(w, "%s  %s\n\nDialect   %s\nModel     %s\nURL       %s\nKey       %s\n", en.Name, en.Title, r.Dialect, r.Model, address, keyText(en))
	profile, err := jsonx.Marshal(r.Profile)
	if err != nil {
		return &failure{exitBroken, err.Error()}
	}
	members := slices.DeleteFunc(jsonx.Of(profile).Members(), func(m jsonx.Member) bool {
		return slices.Contains([]string{"false", "0", `""`, "null"}, string(m.Value.Raw())) // the dialect's own way
	})
	if len(members) == 0 {
		fmt.Fprintln(w, "\nIt does as its dialect does: the profile is empty.")
	} else {
		fmt.Fprintln(w, "\nWhere it differs from its dialect, for this model (docs/engines.md explains the fields):")
	}
	for _, m := range members {
		fmt.Fprintf(w, "  %-18s %s\n", m.Key, m.Value.Raw())
	}
	if len(en.Models) > 0 {
		fmt.Fprintln(w, "\nRules by model, later ones win:")
	}
	for _, rule := range en.Models {
		fmt.Fprintf(w, "  %s", rule.Match)
		if rule.Dialect != "" {
			fmt.Fprintf(w, "  dialect %s", rule.Dialect)
		}
		if compact, err := jsonx.Compact(rule.Profile); err == nil {
			fmt.Fprintf(w, "  %s", compact)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, "\nFacts, with the default model:")
	for _, f := range en.Facts.List() {
		text := f.Fact.Origin.Kind
		if from := f.Fact.Origin.From(); from != "" {
			text += ", " + from
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("  %-16s %-22s %s", f.Name, f.Fact.Value, text), " "))
	}
	for _, n := range en.Notes {
		fmt.Fprintf(w, "\nNote: %s (%s, %s)\n", n.Text, n.Origin.Kind, n.Origin.From())
	}
	return nil
}

func keyText(en engines.Engine) string {
	text := strings.Join(en.Keys, " or ")
	switch {
	case text == "":
		return "none"
	case en.KeyOptional:
		return text + " (optional)"
	}
	return text
}
