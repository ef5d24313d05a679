//go:build unix

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/toolconform/conform/codecs"
)

// A report is written whole into a regular file, or the command says that it was
// not, before it runs where it can; cells that failed stay what counts.
func TestOutFiles(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	one := []string{"run", "--engine", "openai", "--scenario", "basic/one-call", "--out"}
	r := conform(strings.NewReader(""), append(one, pipe)...)
	if r.code != exitUsage || r.out != "" || !strings.Contains(r.errors, "pipe.json is a pipe; give a regular file") {
		t.Errorf("pipe: exit code %d, %s%s", r.code, r.out, r.errors)
	}
	list, err := Faults()
	if err != nil {
		t.Fatal(err)
	}
	p := &planted{fault: list[0]}
	engine, scenario, _ := strings.Cut(p.fault.Fails[0], " ")
	gone := filepath.Join(dir, "gone")
	if err := os.Mkdir(gone, 0o700); err != nil {
		t.Fatal(err)
	}
	wrap := func(c codecs.Full) codecs.Codec {
		os.RemoveAll(gone) // while it runs
		return p.wrap(c)
	}
	var out, errs bytes.Buffer
	e := env{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: func(string) string { return "" }, wrap: wrap}
	code := run(t.Context(), []string{"run", "--fail-on", "should", "--engine", engine, "--scenario", scenario, "--out", filepath.Join(gone, "a.json")}, e)
	if code != exitFailed || !strings.Contains(out.String(), p.fault.Rules[0]) || !strings.Contains(errs.String(), "--out: ") {
		t.Errorf("folder gone: exit code %d\n%s%s", code, out.String(), errs.String())
	}
}
