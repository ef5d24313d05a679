package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/charmbracelet/x/term"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/suggest"
	"github.com/toolconform/conform/internal/wait"
	"github.com/toolconform/conform/report"
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
	terminal       io.Writer                      // stdout as it is, to ask whether it is a terminal
	wrap           func(codecs.Full) codecs.Codec // nil; a test plants a fault with it
	forms          []report.Form                  // nil: those of the report; a test adds one
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

// listed puts the faults of a list one after the other.
func listed(err error) string {
	list, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return err.Error()
	}
	var texts []string
	for _, e := range list.Unwrap() {
		texts = append(texts, e.Error())
	}
	return strings.Join(texts, "; ")
}

// run executes one command line and returns its exit code.
func run(ctx context.Context, args []string, e env) int {
	out := &guarded{w: e.stdout}
	e.terminal, e.stdout = e.stdout, out
	root := newRoot(e)
	root.SetArgs(args)
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	err := root.ExecuteContext(ctx)
	out.flush()
	if out.err != nil {
		err = &failure{exitBroken, "write standard output: " + out.err.Error()}
	}
	if err == nil {
		return exitOK
	}
	code := exitUsage // what cobra itself refuses
	var f *failure
	if errors.As(err, &f) {
		code = f.code
	}
	if text := err.Error(); text != "" {
		fmt.Fprintf(e.stderr, "conform: %s\n", oneLine(text))
	}
	return code
}

func newRoot(e env) *cobra.Command {
	root := &cobra.Command{
		Use:   "conform",
		Short: "Does an LLM engine and a client library complete a tool loop together?",
		Long: `conform is a suite about one question: do an LLM engine and a client library
complete a tool loop together? The request with tools goes out, calls come back,
the tools run over MCP, the results are fed back, the final text returns. It
speaks six wire dialects and judges both sides of the wire. Today it replays:
the client under test is its own reference.

Without a key and without a flag, 'conform run' replays the catalogue of engines
with the reference loop, from embedded data, and says where each stands.`,
		Example: `  conform facts
  conform explain deepseek
  conform run --engine deepseek,anthropic`,
		SilenceUsage:      true,
		SilenceErrors:     true,
		Version:           suite.Version,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: true},
		Args:              cobra.ArbitraryArgs,
	}
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		return usage("unknown command %.80q%s; 'conform help' lists the commands", args[0], suggest.Text(args[0], commandNames(cmd)))
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(runCommand(e), factsCommand(e), casesCommand(e), listCommand(e), explainCommand(e), decodeCommand(e), encodeCommand(e), playCommand(e), verifyCommand(e), lintCommand(e), opsCommand(e))
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [command]",
		Short: "Show the help of a command",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return commandNames(root), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			of, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usage("no command is called %.80q%s; 'conform help' lists the commands", args[0], suggest.Text(args[0], commandNames(root)))
			}
			of.InitDefaultHelpFlag()
			return of.Help()
		},
	})
	return root
}

func commandNames(root *cobra.Command) []string {
	var out []string
	for _, c := range root.Commands() {
		out = append(out, c.Name())
	}
	return out
}

// flagError says what is wrong with a flag and which one was probably meant.
func flagError(cmd *cobra.Command, err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "unknown flag: --"); ok {
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		return usage("unknown flag --%s%s; 'conform %s --help' lists the flags", name, suggest.Text(name, names), cmd.Name())
	}
	if i := strings.Index(text, ": strconv."); i >= 0 {
		text = text[:i] + ": want a whole number"
	}
	return usage("%s", text)
}

// oneArg wants exactly one argument and says what it is.
func oneArg(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 {
			return usage("conform %s wants one argument, %s", cmd.Name(), what)
		}
		return nil
	}
}

// words is a flag that takes words, separated by commas or given several times.
type words []string

func (w *words) String() string { return strings.Join(*w, ",") }
func (w *words) Type() string   { return "words" }

func (w *words) Set(s string) error {
	for _, word := range strings.Split(s, ",") {
		if word = strings.TrimSpace(word); word == "" {
			return errors.New("an empty word; leave the flag out to take everything")
		}
		*w = append(*w, word)
	}
	return nil
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
	completeFlags(cmd, nil)
}

func (t *target) resolve(e env) error {
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
		oddModel(e, engine, t.model)
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

// readInput reads stdin up to the limit of a body. It gives up when ctx ends,
// also while nothing comes.
func readInput(ctx context.Context, e env) ([]byte, error) {
	body, err := wait.For(ctx, 0, func() ([]byte, error) { return io.ReadAll(io.LimitReader(e.stdin, codecs.MaxBody+1)) })
	switch {
	case ctx.Err() != nil:
		return nil, &failure{exitBroken, "stopped"}
	case err != nil:
		return nil, &failure{exitBroken, "read standard input: " + err.Error()}
	case len(body) > codecs.MaxBody:
		return nil, usage("standard input is larger than the limit of %d MiB; pipe in one body", codecs.MaxBody>>20)
	}
	return body, nil
}

// printValue prints a value as JSON.
func printValue(w io.Writer, v any) error {
	raw, err := jsonx.Marshal(v)
	if err != nil {
		return &failure{exitBroken, err.Error()}
	}
	return printJSON(w, raw)
}

// printJSON writes one JSON value, indented, as valid UTF-8.
func printJSON(w io.Writer, raw []byte) error { return writeJSON(w, raw, true) }

// printEcho is printJSON for what goes to a provider: an echo keeps the bytes
// that came, even those that are no UTF-8.
func printEcho(w io.Writer, raw []byte) error { return writeJSON(w, raw, false) }

func writeJSON(w io.Writer, raw []byte, valid bool) error {
	out, err := jsonx.Indent(raw)
	if err != nil {
		return &failure{exitBroken, "internal: output is not JSON: " + err.Error()}
	}
	return writeRaw(w, append(safeJSON(out, valid), '\n'))
}

// writeRaw writes JSON as it is: it escapes what a terminal must not see in its own
// way.
func writeRaw(w io.Writer, text []byte) (err error) {
	if g, ok := w.(*guarded); ok {
		err = g.json(text)
	} else {
		_, err = w.Write(text)
	}
	if err != nil {
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
