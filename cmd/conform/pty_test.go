//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/creack/pty"
)

var paint = regexp.MustCompile("\x1b\\[[0-9;]*m")

// onTerminal runs conform on a pseudo-terminal of so many columns and returns what
// arrives there.
func onTerminal(t *testing.T, columns int, args ...string) string {
	t.Helper()
	cmd := exec.Command(conformBinary(t), args...)
	cmd.Env = []string{"TERM=xterm-256color", "GORACE=" + noWait}
	f, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 24, Cols: uint16(columns)})
	if err != nil {
		t.Skipf("no pseudo-terminal here: %v", err)
	}
	defer f.Close()
	var b bytes.Buffer
	_, _ = io.Copy(&b, f) // Linux ends it with an error
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v at %d columns: %v", args, columns, err)
	}
	return strings.ReplaceAll(b.String(), "\r\n", "\n")
}

// unclean says what of a text would look bad on a terminal of so many columns.
func unclean(text string, columns int) string {
	for i, line := range strings.Split(text, "\n") {
		bare := paint.ReplaceAllString(line, "")
		switch {
		case !utf8.ValidString(line) || strings.ContainsRune(line, utf8.RuneError):
			return fmt.Sprintf("line %d: a broken rune: %q", i+1, line)
		case strings.Contains(line, `\u00`) || strings.ContainsAny(bare, "\x1b\r"):
			return fmt.Sprintf("line %d: an escape: %q", i+1, line)
		case utf8.RuneCountInString(bare) > columns:
			return fmt.Sprintf("line %d: %d columns: %q", i+1, utf8.RuneCountInString(bare), bare)
		}
	}
	return ""
}

// TestOnATerminal: coloured output arrives whole at every width.
func TestOnATerminal(t *testing.T) {
	for _, columns := range []int{60, 80, 100, 140, 200} {
		for _, args := range [][]string{{"run"}, {"run", "--grid"}} {
			text := onTerminal(t, columns, args...)
			if !strings.Contains(text, "\x1b[") {
				t.Errorf("%v at %d columns: no colours", args, columns)
			}
			if what := unclean(text, columns); what != "" {
				t.Errorf("%v at %d columns: %s", args, columns, what)
			}
		}
	}
}

// TestUnclean shows that it can fail.
func TestUnclean(t *testing.T) {
	for _, bad := range []string{"ok\n\\u001b[33m✓", "\xe2\x9c", "a\uFFFD", "\x1b[2J", strings.Repeat("x", 81)} {
		if unclean(bad, 80) == "" {
			t.Errorf("%q passes", bad)
		}
	}
	if what := unclean("\x1b[32m✓\x1b[m "+strings.Repeat("x", 78)+"\n", 80); what != "" {
		t.Error(what)
	}
}
