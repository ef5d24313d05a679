package main

import (
	"bytes"
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/suite/results"
)

// TestFaults plants each fault in the codec of the reference and holds the
// matrix against the one without it: exactly the cells that the fault reached and
// where it matters fail, with the right checks; every other cell stays as it was.
func TestFaults(t *testing.T) {
	args := []string{"run", "--format", "json"}
	if raceDetector { // which takes ten times as long: an engine of each kind, all that are written out below among them
		args = append(args, "--engine", "openai,deepseek,moonshot,mistral,dashscope,llama-server,openrouter,anthropic,ollama-anthropic,gemini,ollama,openai-responses,perplexity,ollama-responses,nousresearch,ollama-hermes")
	}
	clean, code := runJSON(t, nil, args)
	if code != exitOK {
		t.Fatalf("without a fault the exit code is %d", code)
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	list, err := Faults()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if !f.Everywhere {
			continue
		}
		t.Run(f.ID, func(t *testing.T) {
			t.Parallel()
			p := &planted{fault: f}
			doc, code := runJSON(t, p.wrap, args)
			if code != exitFailed {
				t.Errorf("exit code %d, want %d", code, exitFailed)
			}
			cells := zip(t, clean, doc)
			p.reached(t, cells)
			seen := map[string]bool{}
			for _, c := range cells {
				seen[c.id] = c.got.Verdict == results.Fail
				e, err := catalog.Lookup(c.row.Name)
				if err != nil {
					t.Fatal(err)
				}
				judged(t, f, c, e.Resolve(c.row.Model))
			}
			for _, id := range f.Fails {
				if !seen[id] {
					t.Errorf("%s does not fail", id)
				}
			}
			for _, id := range f.Passes {
				if failed, ran := seen[id]; failed || !ran {
					t.Errorf("%s fails, or is no cell", id)
				}
			}
			told(t, f)
		})
	}
}

// cell is a cell without the fault and with it.
type cell struct {
	id      string // "engine scenario"
	row     results.Row
	clean   results.Cell
	got     results.Cell
	touched bool
}

func zip(t *testing.T, clean, doc results.Document) []*cell {
	t.Helper()
	if len(clean.Rows) != len(doc.Rows) {
		t.Fatalf("%d rows, without the fault %d", len(doc.Rows), len(clean.Rows))
	}
	var out []*cell
	for i, row := range doc.Rows {
		for k, c := range row.Cells {
			out = append(out, &cell{id: row.Name + " " + c.Scenario, row: row, clean: clean.Rows[i].Cells[k], got: c})
		}
	}
	return out
}

// judged holds one cell against what the fault should have done to it.
func judged(t *testing.T, f Fault, c *cell, res engines.Resolved) {
	t.Helper()
	var want []string
	if c.touched && c.clean.Tape != "" {
		want = append(want, "request.as_recorded") // a tape knows every byte
	}
	if c.touched && f.MattersTo(res.Profile) {
		want = append(want, f.Rules...)
	}
	got := failing(c.got)
	for _, id := range failing(c.clean) { // what the engine itself does not meet
		got = slices.DeleteFunc(got, func(s string) bool { return s == id })
	}
	may := append(slices.Clone(f.May), want...)
	if c.touched && c.clean.Tape != "" {
		// The player answers no request that is not the recorded one, so the run
		// ends there: what the tape says about the end is not met, and a check
		// may have had nothing to judge.
		may = append(may, "end.accepted", "requests.count", "calls.run", "warnings.given")
	}
	for _, id := range want {
		if !slices.Contains(got, id) {
			t.Errorf("%s: %s does not fail; failing: %v", c.id, id, got)
		}
	}
	for _, id := range got {
		if !slices.Contains(may, id) {
			t.Errorf("%s: %s fails: %s", c.id, id, c.got.Reason)
		}
	}
	if len(want) == 0 && c.got.Verdict != c.clean.Verdict {
		t.Errorf("%s: %s, without the fault %s: %s", c.id, c.got.Verdict, c.clean.Verdict, c.got.Reason)
	}
	if len(want) > 0 && c.got.Verdict != results.Fail {
		t.Errorf("%s: %s, want fail", c.id, c.got.Verdict)
	}
}

func failing(c results.Cell) []string {
	var out []string
	for _, k := range c.Checks {
		if k.Verdict == results.Fail {
			out = append(out, k.ID)
		}
	}
	return out
}

// told checks what people see of the first cell that has to fail: the check, the
// expected and the seen value, and the command that shows more.
func told(t *testing.T, f Fault) {
	t.Helper()
	engine, scenario, _ := strings.Cut(f.Fails[0], " ")
	text, code := runText(t, (&planted{fault: f}).wrap, "run", "--fail-on", "should", "--engine", engine, "--scenario", scenario)
	if code != exitFailed {
		t.Errorf("exit code %d for one cell, want %d", code, exitFailed)
	}
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{"✗ " + scenario + ": " + f.Rules[0] + " (", "expected ", ", seen ", "conform explain " + scenario + " --engine " + engine} {
		if !strings.Contains(flat, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
	text, code = runText(t, (&planted{fault: f}).wrap, "explain", scenario, "--engine", engine)
	flat = strings.Join(strings.Fields(text), " ")
	due := exitFailed
	if !regexp.MustCompile(`fail +must`).MatchString(text) {
		due = exitOK // a failure below must
	}
	if code != due || !strings.Contains(flat, ": fail") || !strings.Contains(flat, f.Rules[0]) || !strings.Contains(flat, "expected ") {
		t.Errorf("conform explain: exit code %d\n%s", code, text)
	}
}

func runText(t *testing.T, wrap func(codecs.Full) codecs.Codec, args ...string) (string, int) {
	t.Helper()
	var out, errs bytes.Buffer
	code := run(context.Background(), args, env{
		stdin: strings.NewReader(""), stdout: &out, stderr: &errs, getenv: func(string) string { return "" }, wrap: wrap,
	})
	if errs.Len() > 0 {
		t.Errorf("conform %s: standard error: %s", strings.Join(args, " "), errs.String())
	}
	return out.String(), code
}

func runJSON(t *testing.T, wrap func(codecs.Full) codecs.Codec, args []string) (doc results.Document, code int) {
	t.Helper()
	text, code := runText(t, wrap, args...)
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	return doc, code
}

// planted wraps the codec of every cell that is run and keeps which of them the
// fault reached.
type planted struct {
	fault Fault
	runs  []*Planted
}

func (p *planted) wrap(c codecs.Full) codecs.Codec {
	f := p.fault.Plant(c)
	p.runs = append(p.runs, f)
	return f
}

// reached marks the cells: those that were run come in the order of the runs.
func (p *planted) reached(t *testing.T, cells []*cell) {
	t.Helper()
	n, touched := 0, 0
	for _, c := range cells {
		if c.got.Origin == "" && c.got.Exchanges == 0 {
			continue // not run
		}
		if n >= len(p.runs) {
			t.Fatalf("%d runs for more cells", n)
		}
		if string(p.runs[n].Dialect()) != c.row.From {
			t.Fatalf("%s: run %d is one of %s", c.id, n, p.runs[n].Dialect())
		}
		if c.touched = p.runs[n].Touched; c.touched {
			touched++
		}
		n++
	}
	if n != len(p.runs) {
		t.Fatalf("%d runs for %d cells", len(p.runs), n)
	}
	if touched == 0 {
		t.Fatal("the fault reached no cell")
	}
}
