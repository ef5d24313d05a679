package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
)

// completeEngines offers the engines that are not named yet.
func completeEngines(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	names := slices.DeleteFunc(engineNames(), func(n string) bool { return slices.Contains(args, n) })
	return names, cobra.ShellCompDirectiveNoFileComp
}

func engineNames() []string {
	catalog, err := engines.Load()
	if err != nil {
		return nil // the command itself will say so
	}
	return catalog.Names()
}

func dialectNames() []string {
	var out []string
	for _, d := range codecs.Dialects() {
		out = append(out, string(d))
	}
	return out
}

func scenarioNames() []string {
	list, _ := fixtures.LoadScenarios(fixtures.FS()) // as above
	var out []string
	for _, s := range list {
		out = append(out, s.ID)
	}
	return out
}

// completeFlags offers names for the flags that a command has of these: engine,
// dialect, scenario, rule and the words given.
func completeFlags(cmd *cobra.Command, more map[string][]string) {
	lists := map[string]func() []string{"engine": engineNames, "dialect": dialectNames, "scenario": scenarioNames}
	for name, words := range more {
		lists[name] = func() []string { return words }
	}
	for name, list := range lists {
		if cmd.Flags().Lookup(name) == nil {
			continue
		}
		err := cmd.RegisterFlagCompletionFunc(name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return list(), cobra.ShellCompDirectiveNoFileComp
		})
		if err != nil {
			panic(fmt.Sprintf("flag --%s of %s: %v", name, cmd.Name(), err)) // twice the same flag
		}
	}
}
