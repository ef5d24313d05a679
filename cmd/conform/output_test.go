package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/report"
	"github.com/toolconform/conform/suite/results"
)

func TestOutputDoesNotSteerTheTerminal(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"plain", "a\tb\nü✓\n", "a\tb\nü✓\n"},
		{"our colours", "\x1b[32m✓\x1b[0m", "\x1b[32m✓\x1b[0m"},
		{"title", "\x1b]0;pwned\x07", `\u001b]0;pwned\u0007`},
		{"clear", "\x1b[2J", `\u001b[2J`},
		{"cut colour", "\x1b[3", `\u001b[3`},
		{"C1 and DEL", "a\u009b31m\x7f", `a\u009b31m\u007f`},
		{"bad UTF-8", "a\xffb", "a\uFFFDb"},
	} {
		var b bytes.Buffer
		g := guarded{w: &b}
		_, err := io.WriteString(&g, c.in)
		if g.flush(); err != nil || b.String() != c.want {
			t.Errorf("%s: %q (%v), want %q", c.name, b.String(), err, c.want)
		}
	}
	if got := oneLine("a\nconform: all well\x1b[2J"); got != `a\nconform: all well\u001b[2J` {
		t.Errorf("oneLine = %q", got)
	}
	if got := oneLine(strings.Repeat("x", 100_000)); len(got) > 2100 {
		t.Errorf("oneLine keeps %d bytes", len(got))
	}
}

func TestSafeJSONKeepsTheValue(t *testing.T) {
	in := []byte("{\"a\":\"x\u009b\x7fü\"}")
	out := safeJSON(in, true)
	if bytes.ContainsAny(out, "\u009b\x7f") || !jsonx.Equal(in, out) {
		t.Errorf("got %q", out)
	}
	bad := []byte("{\"a\":\"\xff\"}")
	if got := safeJSON(bad, true); !utf8.Valid(got) {
		t.Errorf("decode prints %q", got)
	}
	if got := safeJSON(bad, false); !bytes.Equal(got, bad) {
		t.Errorf("an echo changed to %q", got)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// TestUnwritableOutput: every command says that its output did not arrive.
func TestUnwritableOutput(t *testing.T) {
	for _, args := range [][]string{
		{"list", "checks"},
		{"explain", "echo.reasoning"},
		{"lint"},
		{"run", "--scenario", "basic/one-call"},
		{"decode", "--dialect", "openai"},
		{"help"},
		{"--version"},
	} {
		var stderr bytes.Buffer
		code := run(context.Background(), args, env{stdin: strings.NewReader(`{"choices":[{"message":{"content":"x"}}]}`), stdout: fullDisk{}, stderr: &stderr, getenv: func(string) string { return "" }})
		if code != exitBroken || !strings.Contains(stderr.String(), "disk full") {
			t.Errorf("%v: exit %d, %q", args, code, stderr.String())
		}
	}
}

// TestInterruptWhileWaiting: a command that waits for input stops when it is
// asked to.
func TestInterruptWhileWaiting(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	in, out := io.Pipe()
	defer out.Close()
	cancel()
	var stderr bytes.Buffer
	code := run(ctx, []string{"decode", "--dialect", "openai"}, env{stdin: in, stdout: io.Discard, stderr: &stderr, getenv: func(string) string { return "" }})
	if code != exitBroken || !strings.Contains(stderr.String(), "stopped") {
		t.Errorf("exit %d, %q", code, stderr.String())
	}
}

// TestOutputInChunks: however a text is cut into writes, colours and runes arrive
// whole, and what must not pass does not.
func TestOutputInChunks(t *testing.T) {
	row := "  \x1b[1mlighthouse\x1b[m  \x1b[32m✓\x1b[m \x1b[38;5;208m~\x1b[m \U0001f6a2 …\n"
	for _, c := range []struct{ name, in, want string }{
		{"colours", strings.Repeat(row, 600), strings.Repeat(row, 600)},
		{"what steers", strings.Repeat("\x1b]0;x\x07\u009b2J\x1b[2J\xff\x1b\x1b[1m", 40), strings.Repeat(`\u001b]0;x\u0007\u009b2J\u001b[2J`+"\uFFFD"+`\u001b`+"\x1b[1m", 40)},
		{"an endless colour", "\x1b[" + strings.Repeat("1;", 4000) + "m", `\u001b[` + strings.Repeat("1;", 4000) + "m"},
		{"cut at the end", "x\x1b[3", `x\u001b[3`},
		{"half a rune at the end", "x\xe2\x9c", "x\uFFFD\uFFFD"},
	} {
		for size := 1; size <= 7; size++ {
			var b bytes.Buffer
			g := guarded{w: &b}
			for rest := c.in; rest != ""; {
				n := min(size, len(rest))
				if wrote, err := io.WriteString(&g, rest[:n]); err != nil || wrote != n {
					t.Fatalf("%s: wrote %d of %d, %v", c.name, wrote, n, err)
				}
				rest = rest[n:]
			}
			g.flush()
			if b.String() != c.want {
				t.Errorf("%s in chunks of %d: got\n%.300q, want\n%.300q", c.name, size, b.String(), c.want)
			}
		}
	}
}

// TestReportFormIsOneLine adds a form to the table and finds it in help, flags
// and endings: to add one is a file and a line, as CONTRIBUTING.md says.
func TestReportFormIsOneLine(t *testing.T) {
	flags := report.Form{Name: "semaphore", Ext: ".flags", Write: func(w io.Writer, doc results.Document, _ report.Options) error {
		_, err := fmt.Fprintf(w, "%d flags\n", doc.Totals.Cells)
		return err
	}}
	forms := append(report.Forms(), flags)
	conform := func(args ...string) (stdout, stderr string, code int) {
		var out, errs bytes.Buffer
		code = run(t.Context(), args, env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: func(string) string { return "" }, forms: forms})
		return out.String(), errs.String(), code
	}
	help, _, _ := conform("run", "--help")
	for _, want := range []string{"text, json, semaphore", "(.txt, .json, .flags)"} {
		if !strings.Contains(help, want) {
			t.Errorf("help does not say %q:\n%s", want, help)
		}
	}
	file := filepath.Join(t.TempDir(), "a.flags")
	out, errs, code := conform("run", "--engine", "openai", "--scenario", "basic/one-call", "--format", "semaphore", "--out", file)
	written, err := os.ReadFile(file)
	if out != "1 flags\n" || string(written) != out || code != exitOK || err != nil {
		t.Errorf("got %q, the file %q, exit %d, %s, %v", out, written, code, errs, err)
	}
	if _, errs, code := conform("run", "--format", "semafore"); code != exitUsage || !strings.Contains(errs, `did you mean "semaphore"`) {
		t.Errorf("exit %d, %s", code, errs)
	}
	if _, errs, code := conform("run", "--out", "a.pdf"); code != exitUsage || !strings.Contains(errs, "use .txt or .json or .flags") {
		t.Errorf("exit %d, %s", code, errs)
	}
}
