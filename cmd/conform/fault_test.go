package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/suite/results"
)

// fault is one thing that a client library gets wrong. reply and cont stand
// behind the codec's own; they tell whether they changed anything, so that the
// test knows which cells the fault reached.
type fault struct {
	name  string
	reply func(r *codecs.Reply) bool
	// results changes what the loop found out before the codec encodes it.
	results func(in []codecs.ToolResult) ([]codecs.ToolResult, bool)
	cont    func(d codecs.Dialect, r codecs.Reply, out []codecs.Raw) ([]codecs.Raw, bool)

	// matters tells whether a row that the fault reached has to fail. nil: it has.
	matters func(res engines.Resolved) bool
	// must are the checks that fail in every such cell, may those that can fail
	// with them.
	must, may []string

	fails, passes []string // "engine scenario", written out: cells that have to fail, and that must not
}

func faults() []fault {
	return []fault{
		{
			name: "reasoning left out of the echo",
			cont: eachMessage(func(d codecs.Dialect, _ codecs.Reply, msg *codecs.Raw) bool {
				return d == codecs.OpenAI && remove(msg, "reasoning_content", "reasoning", "reasoning_text", "reasoning_details")
			}),
			matters: func(r engines.Resolved) bool {
				return slices.Contains([]string{codecs.EchoRequired, codecs.EchoRequiredEvenEmpty, codecs.EchoAccepted}, r.Profile.ReasoningEcho)
			},
			must:   []string{"echo.reasoning"},
			fails:  []string{"deepseek reasoning/echo", "moonshot reasoning/echo", "deepseek truncation/second-of-two-cut"},
			passes: []string{"openai reasoning/echo", "anthropic reasoning/echo", "deepseek basic/one-call"},
		},
		{
			name:   "the last of several results not sent",
			cont:   dropLastResult,
			must:   []string{"results.pairing"},
			fails:  []string{"openai basic/parallel-calls", "anthropic basic/parallel-calls", "gemini basic/parallel-calls", "ollama errors/unknown-tool", "openai-responses basic/parallel-calls", "nousresearch basic/parallel-calls"},
			passes: []string{"openai basic/one-call", "openai truncation/second-of-two-cut"},
		},
		{
			name:  "arguments that the limit cut repaired and run",
			reply: repairCut,
			must:  []string{"truncation.not_run", "calls.run"},
			// What follows on the action that should not have been taken.
			may:    []string{"end.accepted", "requests.count", "truncation.no_dangling", "results.pairing", "warnings.given", "echo.arguments_verbatim"},
			fails:  []string{"openai truncation/lone-cut", "openai truncation/second-of-two-cut", "openai-responses truncation/lone-cut", "nousresearch truncation/second-of-two-cut"},
			passes: []string{"openai errors/undecodable-arguments", "gemini truncation/lone-cut", "ollama truncation/lone-cut"},
		},
		{
			name:    "images put into the text as base64",
			results: images(func(data string) []codecs.Raw { return []codecs.Raw{codecs.TextBlock(data)} }),
			must:    []string{"results.media"},
			fails:   []string{"openai media/image-in-result", "anthropic media/image-in-result", "gemini media/image-in-result", "ollama media/image-in-result", "openai-responses media/image-in-result", "nousresearch media/image-in-result"},
			passes:  []string{"openai media/pdf-in-result", "openai basic/messages-with-image"},
		},
		{
			name: "nothing sent for a result with an image",
			results: func(in []codecs.ToolResult) ([]codecs.ToolResult, bool) {
				out, changed := images(func(string) []codecs.Raw { return nil })(in)
				for i := range out {
					if len(out[i].Content) < len(in[i].Content) {
						out[i].Content = nil
					}
				}
				return out, changed
			},
			must:   []string{"results.content"},
			fails:  []string{"openai media/image-in-result", "anthropic media/image-in-result", "gemini media/image-in-result", "openai-responses media/image-in-result"},
			passes: []string{"openai media/pdf-in-result", "openai basic/messages-with-image"},
		},
		{
			name:    "images forgotten",
			results: images(func(string) []codecs.Raw { return nil }),
			must:    []string{"results.media"},
			fails:   []string{"openai media/image-in-result", "anthropic media/image-in-result", "gemini media/image-in-result", "openai-responses media/image-in-result"},
			passes:  []string{"openai media/pdf-in-result", "openai basic/messages-with-image"},
		},
		{
			name: "one byte of a signature changed",
			cont: changeSignature,
			matters: func(r engines.Resolved) bool {
				return r.Profile.ReasoningEcho != codecs.EchoIgnored && r.Profile.ReasoningEcho != codecs.EchoRefused
			},
			must:   []string{"echo.signature"},
			fails:  []string{"anthropic reasoning/echo", "gemini reasoning/echo", "openai-responses reasoning/echo"},
			passes: []string{"openai reasoning/echo", "anthropic basic/one-call"},
		},
		{
			name:   "a result under another id",
			cont:   otherID,
			must:   []string{"results.pairing"},
			fails:  []string{"openai basic/one-call", "anthropic basic/one-call", "openai-responses basic/one-call", "deepseek reasoning/echo"},
			passes: []string{"openai basic/plain-text", "nousresearch basic/one-call"},
		},
		{
			name:   "the last of several calls lost",
			reply:  loseCall,
			must:   []string{"echo.calls"},
			may:    []string{"calls.run"},
			fails:  []string{"openai basic/parallel-calls", "anthropic basic/parallel-calls", "gemini basic/parallel-calls", "openai-responses basic/parallel-calls", "nousresearch basic/parallel-calls"},
			passes: []string{"openai basic/one-call", "openai truncation/second-of-two-cut"},
		},
		{
			name: "arguments spelled anew",
			cont: eachMessage(func(d codecs.Dialect, _ codecs.Reply, msg *codecs.Raw) bool {
				return d == codecs.OpenAI && respell(msg)
			}),
			must:   []string{"echo.arguments_verbatim"},
			fails:  []string{"openai values/unicode-and-numbers", "openai basic/one-call", "deepseek basic/parallel-calls"},
			passes: []string{"openai basic/plain-text", "anthropic basic/one-call"},
		},
	}
}

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
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
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
				f.judge(t, c, e.Resolve(c.row.Model))
			}
			for _, id := range f.fails {
				if !seen[id] {
					t.Errorf("%s does not fail", id)
				}
			}
			for _, id := range f.passes {
				if failed, ran := seen[id]; failed || !ran {
					t.Errorf("%s fails, or is no cell", id)
				}
			}
			f.told(t)
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

// judge holds one cell against what the fault should have done to it.
func (f fault) judge(t *testing.T, c *cell, res engines.Resolved) {
	t.Helper()
	var want []string
	if c.touched && c.clean.Tape != "" {
		want = append(want, "request.as_recorded") // a tape knows every byte
	}
	if c.touched && (f.matters == nil || f.matters(res)) {
		want = append(want, f.must...)
	}
	got := failing(c.got)
	for _, id := range failing(c.clean) { // what the engine itself does not meet
		got = slices.DeleteFunc(got, func(s string) bool { return s == id })
	}
	may := append(slices.Clone(f.may), want...)
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
func (f fault) told(t *testing.T) {
	t.Helper()
	engine, scenario, _ := strings.Cut(f.fails[0], " ")
	text, code := runText(t, (&planted{fault: f}).wrap, "run", "--engine", engine, "--scenario", scenario)
	if code != exitFailed {
		t.Errorf("exit code %d for one cell, want %d", code, exitFailed)
	}
	flat := strings.Join(strings.Fields(text), " ")
	for _, want := range []string{"✗ " + engine + " " + scenario + " " + f.must[0] + " (", "expected ", ", seen ", "conform explain " + scenario + " --engine " + engine} {
		if !strings.Contains(flat, want) {
			t.Errorf("the report does not say %q:\n%s", want, text)
		}
	}
	text, code = runText(t, (&planted{fault: f}).wrap, "explain", scenario, "--engine", engine)
	flat = strings.Join(strings.Fields(text), " ")
	if code != exitFailed || !strings.Contains(flat, ": fail") || !strings.Contains(flat, f.must[0]) || !strings.Contains(flat, "expected ") {
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
	fault fault
	runs  []*faulty
}

func (p *planted) wrap(c codecs.Full) codecs.Codec {
	f := &faulty{Full: c, fault: p.fault}
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
		if c.touched = p.runs[n].touched; c.touched {
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

// faulty is a codec with one fault.
type faulty struct {
	codecs.Full
	fault   fault
	touched bool
}

func (f *faulty) Reply(body []byte, p codecs.Profile) (codecs.Reply, error) {
	r, err := f.Full.Reply(body, p)
	if err == nil && f.fault.reply != nil && f.fault.reply(&r) {
		f.touched = true
	}
	return r, err
}

func (f *faulty) Continue(r codecs.Reply, in []codecs.ToolResult, p codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	if f.fault.results != nil {
		changed := false
		if in, changed = f.fault.results(in); changed {
			f.touched = true
		}
	}
	out, warnings, err := f.Full.Continue(r, in, p)
	if err == nil && f.fault.cont != nil {
		changed := false
		if out, changed = f.fault.cont(f.Dialect(), r, out); changed {
			f.touched = true
		}
	}
	return out, warnings, err
}
