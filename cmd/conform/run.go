package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/files"
	"github.com/toolconform/conform/internal/suggest"
	"github.com/toolconform/conform/report"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/client"
	"github.com/toolconform/conform/suite/results"
)

var failLevels = []string{"must", "should", "degraded", "not-run"}

func runCommand(e env) *cobra.Command {
	var sel suite.Selection
	var format, failOn string
	var out []string
	var replay, live, grid bool
	var transcripts string
	forms, formats, endings := e.formNames()
	cmd := &cobra.Command{
		Use:   "run [--engine E,...] [--dialect D,...] [--scenario GLOB,...] [--format F] [--out FILE ...]",
		Short: "Replay the scenarios with the reference loop and say where each engine stands",
		Long: `run replays the catalogue with the reference loop from embedded data and says what
failed, where each dialect stands, which engines differ, and what that rests on.
--grid shows every cell. It needs no key and opens no socket.

Exit code: 0 nothing failed at the level of --fail-on, 1 something did, 2 wrong
usage, 3 the harness itself failed.`,
		Example: `  conform run
  conform run --engine deepseek,anthropic --scenario 'truncation/*'
  conform run --dialect gemini --grid
  conform run --format json --out run.txt > run.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if live {
				return usage("--live: there are no live runs yet: nothing is sent to an engine; leave the flag out to replay")
			}
			if !slices.Contains(failLevels, failOn) {
				return usage("--fail-on %.80q is none of %s%s", failOn, strings.Join(failLevels, ", "), suggest.Text(failOn, failLevels))
			}
			form := slices.Index(formats, format)
			if form < 0 {
				return usage("--format %.80q is none of %s%s", format, strings.Join(formats, ", "), suggest.Text(format, formats))
			}
			if !replay {
				return usage("--replay=false: there are no live runs yet; leave the flag out")
			}
			for _, file := range out {
				if ext := filepath.Ext(file); !slices.Contains(endings, ext) {
					return usage("--out %.200q: no report has the ending %.40q; use %s", file, ext, strings.Join(endings, " or "))
				}
				if err := files.Writable(file); err != nil {
					return usage("--out: %v", err)
				}
			}
			runner, err := newRunner(e)
			if err != nil {
				return err
			}
			if transcripts != "" {
				if err := os.MkdirAll(transcripts, 0o755); err != nil {
					return usage("--transcripts: %v", err)
				}
				dir, err := os.OpenRoot(transcripts)
				if err != nil {
					return usage("--transcripts: %v", err)
				}
				defer dir.Close()
				runner.Keep = func(p suite.Played) (string, error) { return writeTranscript(dir, p) }
			}
			unusedKeys(e, runner.Catalog, sel.Engines)
			for _, name := range sel.Engines {
				if en, err := runner.Catalog.Lookup(name); err == nil {
					oddModel(e, en, sel.Model)
				}
			}
			doc, err := runner.Run(cmd.Context(), sel)
			if err != nil {
				if cmd.Context().Err() != nil {
					return &failure{exitBroken, "stopped"}
				}
				return usage("%v", err)
			}
			doc.Command = commandLine(sel)
			var unwritten []error
			for _, file := range out {
				unwritten = append(unwritten, writeReport(file, beside(doc, file), forms[slices.Index(endings, filepath.Ext(file))]))
			}
			o := report.Options{Color: isTerminal(e.terminal, e.getenv), Width: terminalWidth(e.terminal), Grid: grid}
			if err := forms[form].Write(e.stdout, doc, o); err != nil {
				return &failure{exitBroken, err.Error()}
			}
			return alsoUnwritten(verdict(doc, failOn), errors.Join(unwritten...))
		},
	}
	f := cmd.Flags()
	f.Var((*words)(&sel.Engines), "engine", "engines of the catalogue; all when not given")
	f.Var((*words)(&sel.Dialects), "dialect", "dialects; all when not given")
	f.Var((*words)(&sel.Scenarios), "scenario", "scenario ids, folders or globs in which * is any text; all when not given")
	f.StringVar(&sel.Model, "model", "", "model id in place of each engine's default")
	f.StringVar(&sel.Stream, "stream", "off", "ask for streams: off, on, or both")
	f.StringVar(&transcripts, "transcripts", "", "write every request and reply of each cell into this folder, a file a cell, without keys")
	f.BoolVar(&replay, "replay", true, "replay from embedded data; the only mode there is")
	f.StringVar(&format, "format", formats[0], "form of the report on standard output: "+strings.Join(formats, ", "))
	f.StringArrayVar(&out, "out", nil, "also write the report to this file; its ending names the form ("+strings.Join(endings, ", ")+")")
	f.StringVar(&failOn, "fail-on", "must", "lowest level that makes exit code 1: "+strings.Join(failLevels, ", "))
	f.BoolVar(&live, "live", false, "run against the engines themselves; not there yet")
	f.BoolVar(&grid, "grid", false, "show every cell, too")
	completeFlags(cmd, map[string][]string{"format": formats, "fail-on": failLevels, "stream": {"off", "on", "both"}})
	return cmd
}

// unusedKeys says which key variables are set that a replay does not use.
func unusedKeys(e env, catalog *engines.Catalog, names []string) {
	var set []string
	for _, name := range names {
		if en, err := catalog.Lookup(name); err == nil {
			if _, variable := en.Key(e.getenv); variable != "" && !slices.Contains(set, variable) {
				set = append(set, variable)
			}
		}
	}
	if len(set) > 0 {
		fmt.Fprintf(e.stderr, "conform: %s not used: this is a replay, and nothing is sent to an engine\n", strings.Join(set, ", "))
	}
}

// oddModel says when the entry of an engine has nothing on a model: it may be
// misspelled.
func oddModel(e env, en engines.Engine, model string) {
	if !en.Knows(model) {
		fmt.Fprintf(e.stderr, "conform: %s: the entry says nothing of the model %s; what it says of every model counts\n", en.Name, clean(fmt.Sprintf("%.80s", model)))
	}
}

// writeTranscript writes what happened in a cell and returns the name of the file.
// Neither a name nor a link in the folder leads out of it.
func writeTranscript(dir *os.Root, p suite.Played) (string, error) {
	text, err := p.JSON()
	if err != nil {
		return "", err
	}
	name := p.Cell.Scenario
	if p.Cell.Stream {
		name += ".stream"
	}
	file := filepath.Join(p.Engine, filepath.FromSlash(name)+".json")
	if err := dir.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	return filepath.ToSlash(filepath.Join(dir.Name(), file)), dir.WriteFile(file, append([]byte(indented(text)), '\n'), 0o644)
}

// beside is the document with its transcripts named from where file is.
func beside(doc results.Document, file string) results.Document {
	doc.Rows = slices.Clone(doc.Rows)
	for i, row := range doc.Rows {
		doc.Rows[i].Cells = slices.Clone(row.Cells)
		for k, c := range row.Cells {
			if rel, err := filepath.Rel(filepath.Dir(file), filepath.FromSlash(c.Transcript)); err == nil && c.Transcript != "" {
				doc.Rows[i].Cells[k].Transcript = filepath.ToSlash(rel)
			}
		}
	}
	return doc
}

func verdict(doc results.Document, failOn string) error {
	switch {
	case doc.Broken():
		return &failure{exitBroken, "the harness failed in at least one cell"}
	case doc.Failed(failOn):
		return &failure{code: exitFailed}
	}
	return nil
}

// newRunner loads the embedded catalogue, scenarios and tapes.
func newRunner(e env) (suite.Runner, error) {
	broken := func(err error) (suite.Runner, error) { return suite.Runner{}, &failure{exitBroken, err.Error()} }
	catalog, err := engines.Load()
	if err != nil {
		return broken(err)
	}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		return broken(err)
	}
	tapes, err := suite.LoadTapes(cassettes.FS())
	if err != nil {
		return broken(err)
	}
	reference := client.Reference{Catalog: catalog, Wrap: e.wrap}
	return suite.Runner{Client: reference, Catalog: catalog, Scenarios: scenarios, Tapes: tapes, Date: time.Now().UTC().Format(time.DateOnly)}, nil
}

func commandLine(sel suite.Selection) string {
	line := "conform run"
	for _, f := range []struct {
		name string
		list []string
	}{{"engine", sel.Engines}, {"dialect", sel.Dialects}, {"scenario", sel.Scenarios}} {
		if len(f.list) > 0 {
			line += " --" + f.name + " " + strings.Join(f.list, ",")
		}
	}
	if sel.Model != "" {
		line += " --model " + sel.Model
	}
	if sel.Stream != "" && sel.Stream != "off" {
		line += " --stream " + sel.Stream
	}
	return line
}

// formNames gives the forms of the report with their names and endings.
func (e env) formNames() (forms []report.Form, names, endings []string) {
	if forms = e.forms; forms == nil {
		forms = report.Forms()
	}
	for _, f := range forms {
		names, endings = append(names, f.Name), append(endings, f.Ext)
	}
	return forms, names, endings
}

func writeReport(file string, doc results.Document, form report.Form) error {
	var b bytes.Buffer
	guard := guarded{w: &b} // a file is looked at in a terminal, too
	if err := form.Write(&guard, doc, report.Options{Width: 100, Grid: true}); err != nil {
		return &failure{exitBroken, err.Error()}
	}
	guard.flush()
	if err := files.Write(file, b.Bytes()); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	return nil
}

// alsoUnwritten joins a report that could not be written to the verdict, whose
// exit code counts: what failed is not hidden.
func alsoUnwritten(verdict, unwritten error) error {
	var f *failure
	switch {
	case unwritten == nil:
		return verdict
	case errors.As(verdict, &f) && f.text != "":
		return &failure{f.code, f.text + "; " + unwritten.Error()}
	case f != nil:
		return &failure{f.code, unwritten.Error()}
	case errors.As(unwritten, &f):
		return f
	}
	return &failure{exitUsage, unwritten.Error()}
}

// terminalWidth is the width of the terminal behind w, 0 when it is none.
func terminalWidth(w io.Writer) int {
	f, ok := w.(*os.File)
	if !ok {
		return 0
	}
	width, _, err := term.GetSize(f.Fd())
	if err != nil || width == 0 { // some terminals do not tell
		return 0
	}
	return min(max(width, 60), 160)
}

func lintCommand(e env) *cobra.Command {
	return &cobra.Command{
		Use: "lint [DIR]",
		Example: `  conform lint
  conform lint ./my-suite`,
		Short: "Check cases, scenarios, tapes and engine entries against their schemas and rules",
		Long: `lint checks the embedded suite, tapes and engine entries, or the suite in DIR (a
folder that holds cases and scenarios).`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			fsys, err := suiteDir(args)
			if err != nil {
				return err
			}
			catalog, err := engines.Load()
			if err != nil {
				return &failure{exitBroken, err.Error()}
			}
			problems := suite.Lint(fsys, catalog)
			if len(args) == 0 {
				problems = append(problems, cassettes.Lint(cassettes.FS())...)
				problems = append(problems, engines.Lint()...)
			}
			for _, p := range problems {
				fmt.Fprintln(e.stdout, clean(p.String()))
			}
			if len(problems) > 0 {
				return &failure{exitFailed, fmt.Sprintf("%d problems", len(problems))}
			}
			cases, err := fixtures.LoadCases(fsys)
			if err != nil {
				return &failure{exitFailed, listed(err)}
			}
			scenarios, err := fixtures.LoadScenarios(fsys)
			if err != nil {
				return &failure{exitFailed, listed(err)}
			}
			fmt.Fprintf(e.stdout, "no problems in %d cases and %d scenarios", len(cases), len(scenarios))
			if len(args) == 0 {
				tapes, err := suite.LoadTapes(cassettes.FS())
				if err != nil {
					return &failure{exitBroken, err.Error()}
				}
				fmt.Fprintf(e.stdout, ", %d tapes and %d engines", len(tapes.Index.Tapes), len(catalog.Names()))
			}
			fmt.Fprintln(e.stdout)
			return nil
		},
	}
}
