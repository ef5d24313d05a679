package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

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
		"dialects": listDialects, "scenarios": listScenarios, "cases": listCases, "checks": listChecks, "rules": listRules,
		"engines": func() (listing, error) { return listEngines(facts) },
	}
	names := []string{"engines", "dialects", "scenarios", "cases", "checks", "rules"}
	cmd := &cobra.Command{
		Use:       "list " + strings.Join(names, "|"),
		Short:     "List what there is",
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
			w := tabwriter.NewWriter(e.stdout, 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, strings.Join(l.head, "\t"))
			for _, r := range l.rows {
				fmt.Fprintln(w, strings.Join(r, "\t"))
			}
			if err := w.Flush(); err != nil {
				return &failure{exitBroken, "write the output: " + err.Error()}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&facts, "facts", false, "with engines: what is known about each, with its origin")
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
	l := listing{head: []string{"SCENARIO", "ORIGIN", "TITLE"}}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	for _, s := range scenarios {
		l.add(map[string]any{"id": s.ID, "title": s.Title, "origin": s.Origin.Kind, "features": s.Features, "checks": s.Expect.Checks}, s.ID, s.Origin.Kind, s.Title)
	}
	return l, err
}

func listCases() (listing, error) {
	l := listing{head: []string{"CASE", "OP", "LEVEL", "ORIGIN", "TITLE"}}
	cases, err := fixtures.LoadCases(fixtures.FS())
	for _, c := range cases {
		l.add(map[string]any{"id": c.ID, "op": c.Op, "dialect": c.Dialect, "level": c.Level, "origin": c.Origin.Kind, "rule": c.Rule, "title": c.Title},
			c.ID, c.Op, c.Level, c.Origin.Kind, c.Title)
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
	l := listing{head: []string{"ENGINE", "DIALECT", "DEFAULT MODEL", "KEY", "TITLE"}}
	for _, en := range catalog.All() {
		r := en.Resolve("")
		l.add(en, en.Name, string(r.Dialect), r.Model, keyText(en), en.Title)
	}
	return l, nil
}

// engineFacts lists what is known about each engine, with where it comes from.
func engineFacts(catalog *engines.Catalog) listing {
	l := listing{head: []string{"ENGINE", "FACT", "VALUE", "ORIGIN", "CONFIRMED BY", "SOURCE"}}
	for _, en := range catalog.All() {
		for _, f := range en.Facts.List() {
			o := f.Fact.Origin
			kind, confirmed := o.Kind, ""
			if c := o.ConfirmedBy; c != nil && c.Count > 0 {
				confirmed = fmt.Sprintf("%d recorded", c.Count)
			}
			if kind == "" {
				kind = "-"
			}
			l.add(map[string]any{"engine": en.Name, "dialect": en.Dialect, "fact": f.Name, "value": f.Fact.Value, "origin": kind, "source": o},
				en.Name, f.Name, f.Fact.Value, kind, confirmed, o.From())
		}
	}
	return l
}
