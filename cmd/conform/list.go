package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/suggest"
	"github.com/toolconform/conform/suite/judge"
)

// listing is one thing that can be listed: rows for people, values for JSON.
type listing struct {
	head []string
	rows [][]string
	json []any
}

func (l *listing) add(value any, cells ...string) {
	l.rows = append(l.rows, cells)
	l.json = append(l.json, value)
}

func listCommand(e env) *cobra.Command {
	var asJSON, facts bool
	lists := map[string]func() (listing, error){
		"dialects": listDialects, "scenarios": listScenarios, "cases": listCases, "checks": listChecks, "rules": listRules, "warnings": listWarnings,
		"engines": func() (listing, error) { return listEngines(facts) },
	}
	names := []string{"engines", "dialects", "scenarios", "cases", "checks", "rules", "warnings"}
	cmd := &cobra.Command{
		Use:       "list " + strings.Join(names, "|"),
		Short:     "List what there is",
		Long:      "list shows a line for each, cut to 80 columns; --json has everything of each, and\n'explain' tells about one.",
		Example:   "  conform list engines\n  conform list rules --json",
		Args:      oneArg("what to list: " + strings.Join(names, ", ")),
		ValidArgs: names,
		RunE: func(_ *cobra.Command, args []string) error {
			make, ok := lists[args[0]]
			if !ok {
				return usage("nothing to list is called %.80q%s; there are %s", args[0], suggest.Text(args[0], names), strings.Join(names, ", "))
			}
			l, err := make()
			if err != nil {
				return &failure{exitBroken, err.Error()}
			}
			if asJSON {
				return printValue(e.stdout, l.json)
			}
			printTable(e.stdout, append([][]string{l.head}, l.rows...), len(l.head)-1)
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&facts, "facts", false, "with engines: every fact of each, with its origin and how many recordings show it")
	return cmd
}

func listDialects() (listing, error) {
	l := listing{head: []string{"DIALECT", "ENDPOINT"}}
	for _, c := range all.Codecs() {
		path := c.Endpoint("MODEL", false)
		l.add(map[string]string{"dialect": string(c.Dialect()), "endpoint": path}, string(c.Dialect()), path)
	}
	return l, nil
}

func listScenarios() (listing, error) {
	l := listing{head: []string{"SCENARIO", "TITLE"}}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	for _, s := range scenarios {
		l.add(map[string]any{"id": s.ID, "title": s.Title, "origin": s.Origin.Kind, "features": s.Features, "checks": s.Expect.Checks}, s.ID, s.Title)
	}
	return l, err
}

func listCases() (listing, error) {
	l := listing{head: []string{"CASE", "LEVEL", "TITLE"}}
	cases, err := fixtures.LoadCases(fixtures.FS())
	for _, c := range cases {
		l.add(map[string]any{"id": c.ID, "op": c.Op, "dialect": c.Dialect, "level": c.Level, "origin": c.Origin.Kind, "rule": c.Rule, "title": c.Title},
			c.ID, c.Level, c.Title)
	}
	return l, err
}

func listChecks() (listing, error) {
	l := listing{head: []string{"CHECK", "SIDE", "LEVEL", "TITLE"}}
	for _, r := range judge.Rules() {
		l.add(r, r.ID, r.Side, string(r.Level), r.Title)
	}
	return l, nil
}

func listRules() (listing, error) {
	l := listing{head: []string{"RULE", "SIDE", "KIND", "LEVEL", "TITLE"}}
	for _, r := range fixtures.Rules() {
		l.add(r, r.ID, r.Side, r.Kind, r.Level, r.Title)
	}
	return l, nil
}

func listEngines(facts bool) (listing, error) {
	catalog, err := engines.Load()
	if err != nil {
		return listing{}, err
	}
	if facts {
		return engineFacts(catalog), nil
	}
	l := listing{head: []string{"ENGINE", "DIALECT", "DEFAULT MODEL", "KEY"}}
	for _, en := range catalog.All() {
		r := en.Resolve("")
		l.add(en, en.Name, string(r.Dialect), r.Model, keyText(en))
	}
	return l, nil
}

// engineFacts lists what is known about each engine, with where it comes from.
func engineFacts(catalog *engines.Catalog) listing {
	l := listing{head: []string{"ENGINE", "FACT", "ORIGIN", "SEEN", "VALUE"}, json: factsJSON(catalog.All())}
	for _, en := range catalog.All() {
		for _, f := range en.Facts.List() {
			o := f.Fact.Origin
			seen := "-"
			if c := o.ConfirmedBy; c != nil && c.Count > 0 {
				seen = fmt.Sprint(c.Count)
			}
			l.rows = append(l.rows, []string{en.Name, f.Name, cmp.Or(o.Kind, "-"), seen, f.Fact.Value})
		}
	}
	return l
}

func listWarnings() (listing, error) {
	l := listing{head: []string{"WARNING", "GIVEN WHEN"}}
	list, err := entries()
	for _, e := range list {
		if e.page == "warnings.md" {
			code, when := plain(e.cells[0]), plain(e.cells[1])
			l.add(map[string]string{"code": code, "when": when}, code, when)
		}
	}
	return l, err
}
