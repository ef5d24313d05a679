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
	"testing/iotest"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// badInputs are bodies that are no reply, request or case of anything.
func badInputs() map[string]string {
	const deep = 100_000
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	return map[string]string{
		"empty":                "",
		"blank":                " \n\t\r\n",
		"truncated":            `{"choices":[{"message":{"role":"assi`,
		"truncated in a key":   `{"content":[],"stop_rea`,
		"binary":               string(every),
		"compressed":           "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
		"a page":               "<html><head><title>502 Bad Gateway</title></head></html>",
		"two values":           `{"choices":[]} {"choices":[]}`,
		"deep lists, open":     strings.Repeat("[", deep),
		"deep lists":           strings.Repeat("[", deep) + strings.Repeat("]", deep),
		"deep objects":         strings.Repeat(`{"a":`, deep) + "1" + strings.Repeat("}", deep),
		"deep in the content":  `{"choices":` + strings.Repeat("[", deep) + strings.Repeat("]", deep) + "}",
		"a deep string of tag": strings.Repeat("<think>", 10) + strings.Repeat("<tool_call>", 1000),
	}
}

// longest is how long an error may be, in bytes.
const longest = 1000

type ran struct {
	code        int
	out, errors string
}

func conform(stdin io.Reader, args ...string) ran {
	var out, errs bytes.Buffer
	code := run(context.Background(), args, env{stdin: stdin, stdout: &out, stderr: &errs, getenv: func(string) string { return "" }})
	return ran{code, out.String(), errs.String()}
}

// oneLine checks that standard error holds one short line of the program's own.
func (r ran) oneLine(t *testing.T) {
	t.Helper()
	if !strings.HasPrefix(r.errors, "conform: ") || strings.Count(r.errors, "\n") != 1 || len(r.errors) > longest {
		t.Errorf("standard error is not one clear line: %.300q", r.errors)
	}
	if strings.ContainsFunc(strings.TrimSuffix(r.errors, "\n"), func(c rune) bool { return c < ' ' }) {
		t.Errorf("standard error holds control characters: %.300q", r.errors)
	}
}

// TestDecodeBadInput: one typed error with its place, exit code 1, nothing on
// standard error, no panic.
func TestDecodeBadInput(t *testing.T) {
	for _, d := range codecs.Dialects() {
		for name, body := range badInputs() {
			t.Run(string(d)+"/"+name, func(t *testing.T) {
				r := conform(strings.NewReader(body), "decode", "--dialect", string(d))
				v, err := jsonx.Parse([]byte(r.out))
				if err != nil {
					t.Fatalf("standard output is no JSON: %v: %.200q", err, r.out)
				}
				e := v.Get("error")
				status, _ := e.Get("status").Int()
				message := e.Get("message").Str()
				if r.code != exitFailed || e.Get("kind").Str() != "decode" || status != 200 || r.errors != "" {
					t.Errorf("exit code %d, standard error %q, %.300s", r.code, r.errors, r.out)
				}
				if !strings.HasPrefix(message, string(d)+": ") || len(message) > longest {
					t.Errorf("message %.300q", message)
				}
				if !strings.Contains(message, "at byte ") && !strings.Contains(message, "stream") {
					t.Errorf("the message names no place: %.300q", message)
				}

				// The same as the body of an error status: an error of a kind, with
				// words in it, whatever the body is.
				r = conform(strings.NewReader(body), "decode", "--dialect", string(d), "--status", "503")
				v, err = jsonx.Parse([]byte(r.out))
				if err != nil {
					t.Fatalf("status 503: standard output is no JSON: %v: %.200q", err, r.out)
				}
				e = v.Get("error")
				status, _ = e.Get("status").Int()
				if r.code != exitFailed || e.Get("kind").Str() != string(codecs.ErrOverload) || status != 503 || e.Get("message").Str() == "" || r.errors != "" {
					t.Errorf("status 503: exit code %d, standard error %q, %.300s", r.code, r.errors, r.out)
				}
			})
		}
	}
}

// TestEncodeAndPlayBadInput: wrong usage, with the place.
func TestEncodeAndPlayBadInput(t *testing.T) {
	commands := [][]string{{"encode", "--op", "tools"}, {"encode", "--op", "request"}, {"encode", "--op", "continue"}, {"play"}}
	for _, d := range codecs.Dialects() {
		for _, command := range commands {
			for name, body := range badInputs() {
				t.Run(strings.Join(command, " ")+"/"+string(d)+"/"+name, func(t *testing.T) {
					r := conform(strings.NewReader(body), append(command, "--dialect", string(d))...)
					if r.code != exitUsage || r.out != "" {
						t.Errorf("exit code %d, standard output %.200q", r.code, r.out)
					}
					r.oneLine(t)
					if !strings.Contains(r.errors, "at byte ") && !strings.Contains(r.errors, "empty input") {
						t.Errorf("no place: %s", r.errors)
					}
				})
			}
		}
	}
	// JSON, but not what the command reads.
	for _, body := range []string{"7", "null", `"text"`, "[1]", "{}"} {
		for _, args := range [][]string{
			{"encode", "--dialect", "openai", "--op", "continue"},
			{"encode", "--dialect", "openai", "--op", "tools"},
			{"play", "--dialect", "openai"},
		} {
			r := conform(strings.NewReader(body), args...)
			if r.code != exitUsage && r.code != exitFailed || r.out != "" {
				t.Errorf("%v < %s: exit code %d, standard output %.200q", args, body, r.code, r.out)
			}
			r.oneLine(t)
		}
	}
}

// TestBodiesInsideInput: the input reads, the body in it does not.
func TestBodiesInsideInput(t *testing.T) {
	for name, body := range badInputs() {
		quoted := string(jsonx.Quote(body))
		for _, d := range codecs.Dialects() {
			r := conform(strings.NewReader(`{"body_text":`+quoted+`,"results":[]}`), "encode", "--op", "continue", "--dialect", string(d))
			if r.code != exitFailed || r.out != "" {
				t.Errorf("encode, %s, %s: exit code %d, standard output %.200q", d, name, r.code, r.out)
			}
			r.oneLine(t)
			r = conform(strings.NewReader(`{"bodies":[`+quoted+`],"tools":[{"name":"light"}]}`), "play", "--dialect", string(d))
			e := jsonx.Of([]byte(r.out)).Get("error")
			if r.code != exitOK || e.Get("kind").Str() != "decode" || e.Get("message").Str() == "" {
				t.Errorf("play, %s, %s: exit code %d, %.300s%s", d, name, r.code, r.out, r.errors)
			}
		}
	}
}

// endless gives the same letter until somebody stops reading.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	e.read += len(p)
	return len(p), nil
}

// TestBodyOverTheLimit: input without end is read up to the limit, and no more.
func TestBodyOverTheLimit(t *testing.T) {
	for _, args := range [][]string{
		{"decode", "--dialect", "openai"},
		{"decode", "--dialect", "gemini", "--status", "500"},
		{"encode", "--dialect", "ollama", "--op", "continue"},
		{"play", "--dialect", "responses"},
	} {
		in := &endless{}
		r := conform(in, args...)
		if r.code != exitUsage || r.out != "" || !strings.Contains(r.errors, fmt.Sprintf("larger than the limit of %d MiB", codecs.MaxBody>>20)) {
			t.Errorf("%v: exit code %d, standard output %.100q, standard error %.300q", args, r.code, r.out, r.errors)
		}
		r.oneLine(t)
		if in.read > codecs.MaxBody+1<<20 {
			t.Errorf("%v: read %d bytes", args, in.read)
		}
	}
	if raceDetector {
		return // it would take seconds
	}
	// As large as the limit allows is read.
	r := conform(strings.NewReader(`{"done":true,"message":{"role":"assistant","content":"`+strings.Repeat("x", codecs.MaxBody-100)+`"}}`), "decode", "--dialect", "ollama")
	if r.code != exitOK || len(r.out) < codecs.MaxBody {
		t.Errorf("a body of nearly the limit: exit code %d, %d bytes, %.200q", r.code, len(r.out), r.errors)
	}
}

// TestBadFiles: verify and lint name each file that they cannot read.
func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for name, text := range badInputs() {
		name = strings.ReplaceAll(strings.ReplaceAll(name, " ", "-"), ",", "")
		write("recordings/"+name+".json", text)
		write("recordings/"+name+".yaml", "interactions:\n"+text)
		write("recordings/"+name+".httprr", text)
		write("suite/cases/openai/reply/"+name+".json", text)
		write("suite/scenarios/basic/"+name+".json", text)
		n++
	}
	r := conform(nil, "verify", filepath.Join(dir, "recordings"))
	if r.code != exitFailed || r.errors != "" {
		t.Errorf("verify: exit code %d, standard error %.300q", r.code, r.errors)
	}
	for _, line := range strings.Split(r.out, "\n") {
		if strings.HasPrefix(line, "FAILED: ") && len(line) > longest {
			t.Errorf("verify: a line of %d bytes: %.200s", len(line), line)
		}
	}
	for _, name := range []string{"truncated.json", "deep-objects.json", "a-page.httprr", "binary.yaml"} {
		if !strings.Contains(r.out, "FAILED: "+name+": ") {
			t.Errorf("verify does not name %s:\n%.2000s", name, r.out)
		}
	}
	report := jsonx.Of([]byte(conform(nil, "verify", "--json", filepath.Join(dir, "recordings")).out))
	if got := report.Get("failed").Len() + report.Get("skipped_files").Len(); got != 3*n {
		t.Errorf("verify accounts for %d of %d files", got, 3*n)
	}
	for _, schema := range []string{"case.v1.json", "scenario.v1.json"} {
		text, err := os.ReadFile(filepath.Join(repoRoot, "fixtures/schema", schema))
		if err != nil {
			t.Fatal(err)
		}
		write("suite/schema/"+schema, string(text))
	}
	r = conform(nil, "lint", filepath.Join(dir, "suite"))
	if r.code != exitFailed {
		t.Errorf("lint: exit code %d, standard error %.300q", r.code, r.errors)
	}
	r.oneLine(t)
	for _, folder := range []string{"cases/openai/reply/", "scenarios/basic/"} {
		if got := strings.Count(r.out, folder); got < n {
			t.Errorf("lint names %d of %d files below %s", got, n, folder)
		}
	}
}

var errCut = errors.New("the line is cut")

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errCut }

// TestHarnessFault: what is neither the input's nor the user's fault is exit code 3.
func TestHarnessFault(t *testing.T) {
	r := conform(iotest.ErrReader(errCut), "decode", "--dialect", "openai")
	if r.code != exitBroken || !strings.Contains(r.errors, "the line is cut") {
		t.Errorf("input that cannot be read: %+v", r)
	}
	for _, args := range [][]string{
		{"list", "dialects"},
		{"list", "dialects", "--json"},
		{"run", "--engine", "openai", "--scenario", "basic/one-call"},
		{"run", "--engine", "openai", "--scenario", "basic/one-call", "--format", "json"},
	} {
		var errs bytes.Buffer
		code := run(context.Background(), args, env{stdout: broken{}, stderr: &errs, getenv: func(string) string { return "" }})
		if code != exitBroken || !strings.Contains(errs.String(), "the line is cut") {
			t.Errorf("%v: output that cannot be written: exit code %d, %q", args, code, errs.String())
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var out, errs bytes.Buffer
	code := run(ctx, []string{"run"}, env{stdout: &out, stderr: &errs, getenv: func(string) string { return "" }})
	if code != exitBroken || errs.String() != "conform: stopped\n" || out.Len() > 0 {
		t.Errorf("interrupted: exit code %d, %q", code, errs.String())
	}
}

// panicking is a codec that panics where a client library might.
type panicking struct{ codecs.Full }

func (panicking) Reply([]byte, codecs.Profile) (codecs.Reply, error) {
	panic("the lamp fell into the sea")
}

// TestPanicInACell: one broken cell does not take the run down; it is named, and
// the exit code says that the verdict is none of the engine.
func TestPanicInACell(t *testing.T) {
	var out, errs bytes.Buffer
	code := run(context.Background(), []string{"run", "--engine", "openai", "--scenario", "basic"}, env{
		stdout: &out, stderr: &errs, getenv: func(string) string { return "" },
		wrap: func(c codecs.Full) codecs.Codec { return panicking{c} },
	})
	if code != exitBroken || errs.String() != "conform: the harness failed in at least one cell\n" {
		t.Errorf("exit code %d, %q", code, errs.String())
	}
	if !strings.Contains(out.String(), "! basic/one-call: the harness failed, openai\n    panic: the lamp fell into the sea\n") {
		t.Errorf("the cell is not named:\n%s", out.String())
	}
}

// TestColour: colours on a terminal only, and not where the user wants none.
func TestColour(t *testing.T) {
	vars := map[string]string{}
	getenv := func(name string) string { return vars[name] }
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	if isTerminal(&bytes.Buffer{}, getenv) || isTerminal(null, getenv) {
		t.Error("a buffer or the null device is taken for a terminal")
	}
	tty, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("no terminal to try: %v", err)
	}
	defer tty.Close()
	if !isTerminal(tty, getenv) {
		t.Error("a terminal is taken for none")
	}
	for name, value := range map[string]string{"NO_COLOR": "1", "TERM": "dumb"} {
		vars[name] = value
		if isTerminal(tty, getenv) {
			t.Errorf("%s=%s is not heeded", name, value)
		}
		delete(vars, name)
	}
	if w := terminalWidth(tty); w != 0 {
		t.Errorf("a terminal that tells no width has the width %d", w)
	}
}
