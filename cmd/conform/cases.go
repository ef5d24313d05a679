package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/suggest"
	"github.com/toolconform/conform/internal/wait"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/results"
)

func casesCommand(e env) *cobra.Command {
	var dialects, rules, ops words
	var failOn string
	var asJSON bool
	levels := []string{string(results.Must), string(results.Should), string(results.Info)}
	known := map[string][]string{"op": suite.Ops(), "fail-on": levels}
	for _, r := range fixtures.Rules() {
		known["rule"] = append(known["rule"], r.ID)
	}
	for _, c := range all.Codecs() {
		known["dialect"] = append(known["dialect"], string(c.Dialect()))
	}
	cmd := &cobra.Command{
		Use: "cases [DIR]",
		Example: `  conform cases
  conform cases --dialect anthropic --op continue
  conform cases ./my-suite --json`,
		Short: "Run cases: of the suite, or of the suite in DIR",
		Long: `cases runs the codec cases of the embedded suite, or of the suite in DIR (a folder
that holds cases), with the reference, and counts law and policy apart: what
binds every implementation, and what binds the reference alone.

Exit code: 0 nothing failed at the level of --fail-on, 1 something did, 2 wrong
usage or a case that cannot be read, 3 a case that cannot be run.`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if !slices.Contains(levels, failOn) {
				return usage("--fail-on %.80q: want %s", failOn, strings.Join(levels, ", "))
			}
			for i, name := range []string{"dialect", "rule", "op"} {
				for _, word := range []words{dialects, rules, ops}[i] {
					if !slices.Contains(known[name], word) {
						return usage("--%s: no %s is called %.80q%s", name, name, word, suggest.Text(word, known[name]))
					}
				}
			}
			fsys, err := suiteDir(args)
			if err != nil {
				return err
			}
			cases, err := fixtures.LoadCases(fsys)
			if err != nil {
				return usage("%s", listed(err))
			}
			cases = slices.DeleteFunc(cases, func(c fixtures.Case) bool {
				skip := func(list words, word string) bool { return len(list) > 0 && !slices.Contains(list, word) }
				return skip(dialects, c.Dialect) || skip(rules, c.Rule) || skip(ops, c.Op)
			})
			if len(cases) == 0 {
				return usage("no case is left of this selection; 'conform list cases' lists them")
			}
			catalog, err := engines.Load()
			if err != nil {
				return &failure{exitBroken, err.Error()}
			}
			report := suite.RunCases(cases, catalog)
			if !asJSON {
				printCases(e.stdout, report)
			} else if err := printValue(e.stdout, report); err != nil {
				return err
			}
			switch {
			case report.Broken():
				return &failure{exitBroken, "a case cannot be run; 'conform lint' may tell why"}
			case report.FailedAt(results.Level(failOn)):
				return &failure{code: exitFailed}
			}
			return nil
		},
	}
	cmd.Flags().Var(&dialects, "dialect", "only cases of these wire dialects")
	cmd.Flags().Var(&rules, "rule", "only cases of these rules; 'conform list rules' lists them")
	cmd.Flags().Var(&ops, "op", "only cases of these operations: "+strings.Join(suite.Ops(), ", "))
	cmd.Flags().StringVar(&failOn, "fail-on", "must", "lowest level that counts as a failure: "+strings.Join(levels, ", "))
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	for name, list := range known {
		_ = cmd.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp)) // the flags are there
	}
	return cmd
}

// suiteDir is the suite in the folder that an argument names, or the embedded
// one.
func suiteDir(args []string) (fs.FS, error) {
	if len(args) == 0 {
		return fixtures.FS(), nil
	}
	fsys := os.DirFS(args[0])
	if err := fixtures.CheckDir(fsys); err != nil {
		return nil, usage("%.200q: %v", args[0], err)
	}
	return fsys, nil
}

func printCases(w io.Writer, r suite.CaseReport) {
	for _, f := range r.Failed {
		fmt.Fprintf(w, "%s  (%s, rule %s)\n", clean(f.File), f.Level, f.Rule)
		if f.Fault != "" {
			fmt.Fprintf(w, "  cannot be run: %s\n", clean(f.Fault))
		}
		for i, list := range [][]fixtures.Mismatch{f.Law, f.Policy} {
			for _, m := range list {
				fmt.Fprintf(w, "  %-6s  %s\n", []string{"law", "policy"}[i], clean(m.String()))
			}
		}
	}
	if len(r.Failed) > 0 {
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "%d cases with the reference\n", r.Cases)
	fmt.Fprintf(w, "law     %d cases, %d not met\n", r.Law.Cases, r.Law.Failed)
	fmt.Fprintf(w, "policy  %d cases, %d not met\n", r.Policy.Cases, r.Policy.Failed)
}

func opsCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use: "ops",
		Example: `  conform ops < operations.jsonl
  python3 docs/comparers/run.py fixtures openai conform ops`,
		Short: "Answer codec operations, one JSON object a line, with the reference",
		Long: `ops is the reference as a long-lived process for a runner of cases in any
language. It writes one line of JSON first, {"protocol":1,"name","version",
"dialects":[...],"ops":[...]}, and then answers each line of standard input

  {"id":ANY,"op":OP,"input":{"dialect":D,"engine":E,"model":M,"profile":{...}, ...}}

with one line

  {"id":ANY,"output":{"value":...,"warnings":[codes],"error":null|{"kind","message"}}}

or, when it cannot be run, {"id":ANY,"error":{"kind":"usage","message"}}. The rest
of the input is that of a case of the operation (docs/cases.md); a neutral request
stands under "request". docs/comparers/run.py is such a runner.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			catalog, err := engines.Load()
			if err != nil {
				return &failure{exitBroken, err.Error()}
			}
			return serveOps(cmd.Context(), e, catalog)
		},
	}
}

// serveOps answers lines until the input or ctx ends.
func serveOps(ctx context.Context, e env, catalog *engines.Catalog) error {
	answer := func(raw []byte) error { return writeRaw(e.stdout, append(safeJSON(raw, true), '\n')) }
	var hello jsonx.Fields
	hello.Int("protocol", 1).Str("name", "conform").Str("version", suite.Version)
	var dialects, ops []jsonx.Raw
	for _, c := range all.Codecs() {
		dialects = append(dialects, jsonx.Quote(string(c.Dialect())))
	}
	for _, op := range suite.Ops() {
		ops = append(ops, jsonx.Quote(op))
	}
	if err := answer(hello.Set("dialects", jsonx.List(dialects...)).Set("ops", jsonx.List(ops...)).Raw()); err != nil {
		return err
	}
	lines := bufio.NewReader(e.stdin)
	for {
		line, err := wait.For(ctx, 0, func() ([]byte, error) { return readLine(lines) })
		if ctx.Err() != nil {
			return &failure{exitBroken, "stopped"}
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if err := answer(runOp(line, catalog)); err != nil {
				return err
			}
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return usage("standard input: %v", err)
		}
	}
}

// readLine reads a line of at most the size of a body.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > 2*codecs.MaxBody {
			return nil, fmt.Errorf("a line is longer than %d MiB", 2*codecs.MaxBody>>20)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// runOp runs one line of ops and returns its answer.
func runOp(line []byte, catalog *engines.Catalog) jsonx.Raw {
	var f jsonx.Fields
	v, err := jsonx.Parse(line)
	if err == nil && !v.IsObject() {
		err = fmt.Errorf("want an object with id, op and input, got %s", v.Kind())
	}
	f.Set("id", jsonx.Raw("null"))
	if id := v.Get("id"); id.Exists() {
		f.Set("id", id.Raw())
	}
	var out suite.OpResult
	if err == nil {
		in := v.Get("input")
		c := fixtures.Case{Dialect: in.Get("dialect").Str(), Engine: in.Get("engine").Str(), Model: in.Get("model").Str(), Op: v.Get("op").Str(), Input: fixtures.Raw(in.Raw())}
		if p := in.Get("profile"); p.Defined() {
			c.Profile = fixtures.Raw(p.Raw())
		}
		out, err = suite.Run(c, catalog)
	}
	if err != nil {
		var fault jsonx.Fields
		return f.Set("error", fault.Str("kind", "usage").Str("message", err.Error()).Raw()).Raw()
	}
	return f.Set("output", outputJSON(out.Output())).Raw()
}

// outputJSON writes an output as docs/matching.md has it.
func outputJSON(out fixtures.Output) jsonx.Raw {
	var f jsonx.Fields
	if out.Value != nil {
		f.Set("value", jsonx.Raw(out.Value))
	}
	codes := []jsonx.Raw{}
	for _, code := range out.Warnings {
		codes = append(codes, jsonx.Quote(code))
	}
	f.Set("warnings", jsonx.List(codes...)).Set("error", jsonx.Raw("null"))
	if out.Error != nil {
		var e jsonx.Fields
		f.Set("error", e.Str("kind", out.Error.Kind).Str("message", out.Error.Message).Raw())
	}
	return f.Raw()
}
