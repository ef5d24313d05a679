package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // something failed at the level that was asked for
	exitUsage  = 2 // wrong usage
	exitBroken = 3 // the harness itself failed
)

// env is what a command may touch of the world.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	getenv         func(string) string
	wrap           func(codecs.Full) codecs.Codec // nil; a test plants a fault with it
}

// failure ends a command with an exit code. Its text, when not empty, goes to
// stderr.
type failure struct {
	code int
	text string
}

func (f *failure) Error() string { return f.text }

func usage(format string, args ...any) error {
	return &failure{exitUsage, fmt.Sprintf(format, args...)}
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, e env) int {
	root := newRoot(e)
	root.SetArgs(args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitUsage // what cobra itself refuses
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(e.stderr, "conform: %s\n", text)
	}
	return code
}

func newRoot(e env) *cobra.Command {
	root := &cobra.Command{
		Use:   "conform",
		Short: "Does an LLM engine and a client library complete a tool loop together?",
		Long: `conform proves that an LLM engine and a client library complete a tool loop
together: the request with tools goes out, calls come back, the tools run over
MCP, the results are fed back, the final text returns. It speaks six wire
dialects and judges both sides of the wire.

Without a key and without a flag, 'conform run' replays the catalogue of engines
with the reference loop, from embedded data, and prints the matrix.`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		Version:           suite.Version,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
	}
	root.AddCommand(runCommand(e), listCommand(e), explainCommand(e), decodeCommand(e), encodeCommand(e), playCommand(e), verifyCommand(e), lintCommand(e))
	return root
}

// target is the codec and the profile that --dialect, --engine and --model name.
type target struct {
	dialect, engine, model string

	codec    codecs.Full
	resolved engines.Resolved
}

func (t *target) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&t.dialect, "dialect", "", "wire dialect; that of --engine when it is not given")
	cmd.Flags().StringVar(&t.engine, "engine", "", "engine of the catalogue whose profile counts; the dialect's own provider when it is not given")
	cmd.Flags().StringVar(&t.model, "model", "", "model id; profiles are scoped by model")
}

func (t *target) resolve() error {
	if t.dialect == "" && t.engine == "" {
		return usage("name a dialect with --dialect, or an engine with --engine; 'conform list dialects' and 'conform list engines' list them")
	}
	if t.dialect != "" {
		c, err := all.For(codecs.Dialect(t.dialect))
		if err != nil {
			return usage("%v", err)
		}
		t.codec = c
	}
	t.resolved = engines.Resolved{Model: t.model, Dialect: codecs.Dialect(t.dialect)}
	if t.engine != "" {
		catalog, err := engines.Load()
		if err != nil {
			return &failure{exitBroken, err.Error()}
		}
		engine, err := catalog.Lookup(t.engine)
		if err != nil {
			return usage("%v", err)
		}
		t.resolved = engine.Resolve(t.model)
		if t.dialect == "" {
			t.codec, err = all.For(t.resolved.Dialect)
			if err != nil {
				return &failure{exitBroken, err.Error()}
			}
		} else if t.resolved.Dialect != codecs.Dialect(t.dialect) {
			return usage("engine %s speaks the dialect %s for the model %s, not %s", t.engine, t.resolved.Dialect, t.resolved.Model, t.dialect)
		}
	}
	return nil
}

// readInput reads stdin up to the limit of a body.
func readInput(e env) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(e.stdin, codecs.MaxBody+1))
	if err != nil {
		return nil, &failure{exitBroken, "read standard input: " + err.Error()}
	}
	if len(b) > codecs.MaxBody {
		return nil, usage("standard input is larger than the limit of %d MiB; pipe in one body", codecs.MaxBody>>20)
	}
	return b, nil
}

// printJSON writes one JSON value, indented.
func printJSON(w io.Writer, raw []byte) error {
	out, err := jsonx.Indent(raw)
	if err != nil {
		return &failure{exitBroken, "internal: output is not JSON: " + err.Error()}
	}
	if _, err := fmt.Fprintf(w, "%s\n", out); err != nil {
		return &failure{exitBroken, "write the output: " + err.Error()}
	}
	return nil
}

// isTerminal tells whether w is a terminal that shows colours.
func isTerminal(w io.Writer, getenv func(string) string) bool {
	f, ok := w.(*os.File)
	if !ok || getenv("NO_COLOR") != "" || getenv("TERM") == "dumb" {
		return false
	}
	return term.IsTerminal(f.Fd())
}

// indented lays JSON out for people; what is no JSON stays as it is.
func indented(raw []byte) string {
	out, err := jsonx.Indent(raw)
	if err != nil {
		return string(raw)
	}
	return string(out)
}
