package main

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/suggest"
	"github.com/toolconform/conform/internal/texts"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/judge"
	"github.com/toolconform/conform/suite/results"
)

func explainCommand(e env) *cobra.Command {
	var engine, model string
	var show, stream bool
	cmd := &cobra.Command{
		Use:   "explain ID [--engine E [--show] [--stream] | --model M]",
		Short: "Explain whatever conform prints; with --engine run a scenario there and show each check",
		Long: `explain knows rules and checks, scenarios and their areas, cases, engines, dialects,
fields of the profile and of the facts with their values, warning codes, verdicts,
levels, origins and the marks of a report. With --engine it runs a scenario at that
engine and shows each check, with --show also every request and reply, with
--stream the streamed cell.`,
		Example: `  conform explain deepseek
  conform explain mistral --model magistral-medium-latest
  conform explain echo.reasoning
  conform explain reasoning/echo --engine deepseek --show
  conform explain required_even_empty`,
		Args: oneArg("the id of a rule, a scenario, a case or an engine, or another word that conform prints; 'conform list' lists them"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return explainable(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			id := args[0]
			runner, err := newRunner(e)
			if err != nil {
				return err
			}
			scenario := slices.IndexFunc(runner.Scenarios, func(s fixtures.Scenario) bool { return s.ID == id })
			if engine != "" && scenario < 0 {
				return usage("--engine goes with a scenario, and %.80q is none%s; 'conform list scenarios' lists them", id, suggest.Text(id, scenarioNames()))
			}
			en, err := runner.Catalog.Lookup(id)
			isEngine := err == nil
			if model != "" && !isEngine {
				return usage("--model goes with an engine, and %.80q is none%s", id, suggest.Text(id, runner.Catalog.Names()))
			}
			if (show || stream) && engine == "" {
				return usage("--show and --stream are about a scenario at one engine; say which with --engine")
			}
			if scenario >= 0 {
				return explainScenario(cmd, e.stdout, runner, runner.Scenarios[scenario], engine, show, stream)
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
			found := false
			for _, c := range all.Codecs() {
				if string(c.Dialect()) == id {
					explainDialect(e.stdout, c, runner.Catalog, cases)
					found = true
				}
			}
			if found && isEngine {
				fmt.Fprint(e.stdout, "\nThe engine of that name:\n\n")
			}
			if isEngine {
				oddModel(e, en, model)
				return explainEngine(e.stdout, en, model)
			}
			if explainArea(e.stdout, id, runner.Scenarios) {
				found = true
			}
			more, err := explainWord(e.stdout, id)
			if err != nil {
				return &failure{exitBroken, err.Error()}
			}
			if !found && !more {
				return usage("nothing is called %.80q%s; 'conform list rules|scenarios|cases|engines' lists what there is", id, suggest.Text(id, explainable()))
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&engine, "engine", "", "run the scenario against this engine of the catalogue")
	cmd.Flags().BoolVar(&show, "show", false, "with --engine: show every request and reply")
	cmd.Flags().BoolVar(&stream, "stream", false, "with --engine: run it with streams")
	cmd.Flags().StringVar(&model, "model", "", "with an engine: show what counts for this model")
	completeFlags(cmd, nil)
	return cmd
}

// explainable are all words that explain takes, but for values.
func explainable() []string {
	out := append(scenarioNames(), engineNames()...)
	for _, r := range fixtures.Rules() {
		out = append(out, r.ID)
	}
	cases, _ := fixtures.LoadCases(fixtures.FS()) // the command itself says what is wrong
	for _, c := range cases {
		out = append(out, c.ID)
	}
	out = append(append(out, dialectNames()...), wordNames()...)
	slices.Sort(out)
	return slices.Compact(out)
}

// explainDialect shows what a dialect is and who speaks it.
func explainDialect(w io.Writer, c codecs.Full, catalog *engines.Catalog, cases []fixtures.Case) {
	fmt.Fprintf(w, "%s  (dialect)\n\n", c.Dialect())
	say(w, "Endpoint  ", c.Endpoint("MODEL", false))
	say(w, "Messages  ", "stand under "+c.Wire().Messages)
	say(w, "Choices   ", cmp.Or(strings.Join(c.Wire().Choices, ", "), "no such field"))
	say(w, "Media of a result  ", c.Wire().ResultMedia)
	var speak []string
	for _, en := range catalog.All() {
		if en.Dialect == c.Dialect() {
			speak = append(speak, en.Name)
		}
	}
	n := 0
	for _, k := range cases {
		if k.Dialect == string(c.Dialect()) {
			n++
		}
	}
	say(w, fmt.Sprintf("Engines (%d): ", len(speak)), strings.Join(speak, ", "))
	fmt.Fprintf(w, "Cases: %d; 'conform cases --dialect %s' runs them\n", n, c.Dialect())
}

// explainArea shows the scenarios of an area.
func explainArea(w io.Writer, area string, scenarios []fixtures.Scenario) (found bool) {
	for _, s := range scenarios {
		if s.Area() != area {
			continue
		}
		if !found {
			fmt.Fprintf(w, "%s  (area of scenarios)\n", area)
		}
		found = true
		say(w, "  "+s.ID+"  ", s.Title)
	}
	return found
}

// explainRule shows a rule and who names it.
func explainRule(w io.Writer, r fixtures.Rule, scenarios []fixtures.Scenario, cases []fixtures.Case) error {
	fmt.Fprintf(w, "%s  (%s, %s side, usual level %s)\n", r.ID, r.Kind, r.Side, r.Level)
	say(w, "", r.Title+".")
	say(w, "\nWhy: ", r.Why)
	by := slices.Sorted(maps.Keys(r.Facts))
	if r.Profile != "" {
		by = append(by, r.Profile+" of the profile")
	}
	if len(by) > 0 {
		say(w, "Decided at an engine by: ", strings.Join(by, ", "))
	}
	for _, s := range r.Sources {
		say(w, "Source: ", s)
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
		say(w, "Scenarios that name it: ", strings.Join(in, ", "))
	}
	if len(of) > 0 {
		fmt.Fprintf(w, "Cases (%d):\n  %s\n", len(of), strings.Join(of, "\n  "))
	}
	return nil
}

func explainScenario(cmd *cobra.Command, w io.Writer, runner suite.Runner, s fixtures.Scenario, engine string, show, stream bool) error {
	fmt.Fprintf(w, "%s  (origin %s, %s)\n", s.ID, s.Origin.Kind, s.Origin.Date)
	say(w, "", s.Title+".")
	say(w, "\nWhy: ", s.Why)
	for _, src := range s.Origin.Source {
		say(w, "Source: ", src)
	}
	fmt.Fprintf(w, "Turns of the engine: %d. Requests: %d to %d.\n", len(s.Turns), s.Expect.Requests.Min, s.Expect.Requests.Max)
	say(w, "Checks: ", strings.Join(s.Expect.Checks, ", "))
	if engine == "" {
		fmt.Fprintf(w, "\nRun it; see each check at one engine; see every request and reply, too:\n  conform run --scenario %s\n  conform explain %s --engine openai\n  conform explain %s --engine openai --show\n", s.ID, s.ID, s.ID)
		return nil
	}
	var played codecs.Raw
	if show {
		runner.Keep = func(p suite.Played) (_ string, err error) {
			played, err = p.JSON()
			return "", err
		}
	}
	doc, err := runner.Run(cmd.Context(), suite.Selection{Engines: []string{engine}, Scenarios: []string{s.ID}, Stream: map[bool]string{true: "on"}[stream]})
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
			fmt.Fprint(w, "\n", strings.TrimSuffix(texts.Wrap("  ", "  ", c.Reason, screen), "\n"))
		}
		fmt.Fprintln(w)
		if played != nil {
			showTranscript(w, jsonx.Of(played))
		}
		for _, k := range c.All {
			fmt.Fprintf(w, "  %-8s  %-6s  %s", k.Verdict, k.Level, k.ID)
			for _, more := range []string{k.Message, k.Evidence} {
				if more != "" {
					fmt.Fprint(w, "\n", strings.TrimSuffix(texts.Wrap("      ", "      ", more, screen), "\n"))
				}
			}
			fmt.Fprintln(w)
		}
	}
	return verdict(doc, "must")
}

func explainCase(w io.Writer, c fixtures.Case, catalog *engines.Catalog) error {
	fmt.Fprintf(w, "%s  (%s, level %s, rule %s)\n", c.ID, c.Op, c.Level, c.Rule)
	say(w, "", c.Title+".")
	say(w, "\nWhy: ", c.Why)
	say(w, "Origin: ", strings.TrimSuffix(c.Origin.Kind+" "+c.Origin.Date+", "+c.Origin.From(), ", "))
	for _, engine := range slices.Sorted(maps.Keys(c.Levels)) {
		fmt.Fprintf(w, "Level at %s: %s\n", engine, c.Levels[engine])
	}
	if len(c.KnownBugs) > 0 {
		say(w, "Known bugs: ", strings.Join(c.KnownBugs, ", "))
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
