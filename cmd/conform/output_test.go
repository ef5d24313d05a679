package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolconform/conform/internal/jsonx"
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
		if _, err := io.WriteString(&guarded{w: &b}, c.in); err != nil || b.String() != c.want {
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
