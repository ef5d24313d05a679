package reports_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/suite/reports"
)

// path is where the collection is: CONFORM_REPORTS, or a folder beside the
// project.
func path() string {
	if p := os.Getenv("CONFORM_REPORTS"); p != "" {
		return p
	}
	return filepath.Join("..", "..", "..", "shared", "reports", "cases.jsonl")
}

// TestReports runs every report against the reference. One whose outcome we
// decided otherwise stands in decisions, with the reason; an entry there that is
// met after all is stale and fails.
func TestReports(t *testing.T) {
	raw, err := os.ReadFile(path())
	if os.IsNotExist(err) {
		t.Skipf("no collection of reports at %s; CONFORM_REPORTS names another file", path())
	}
	if err != nil {
		t.Fatal(err)
	}
	list, err := reports.Read(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	passed, differ, skipped := 0, 0, 0
	known := map[string]bool{}
	for _, r := range list {
		known[r.ID] = true
		t.Run(r.ID, func(t *testing.T) {
			reason, decided := decisions[r.ID]
			if r.Operation == "stream" {
				skipped++
				if decided {
					t.Errorf("%s is decided (%s) but not run: stream reports wait for streams", r.ID, reason)
				}
				t.Skip("stream")
			}
			c := target(t, catalog, r)
			diffs := c.run()
			switch {
			case len(diffs) == 0 && decided:
				t.Errorf("stale: %s is met, drop its entry (%s)", r.ID, reason)
			case len(diffs) == 0:
				passed++
			case decided:
				differ++
			default:
				t.Errorf("%s (%s, %s, policy %v):\n%s", r.ID, r.Class, r.Operation, r.Policy, strings.Join(diffs, "\n"))
			}
		})
	}
	for id := range decisions {
		if !known[id] {
			t.Errorf("decisions: the collection has no report %s", id)
		}
	}
	t.Logf("%d reports: %d met, %d differ by decision, %d streams skipped", len(list), passed, differ, skipped)
}

// engineOf maps the engine of a report to the catalogue, "" where it has none:
// then the dialect's own profile is used.
var engineOf = map[string]string{
	"openai openai": "openai", "openai deepseek": "deepseek", "openai lm-studio": "lmstudio", "openai dashscope": "dashscope",
	"openai llama.cpp": "llama-server", "openai openrouter": "openrouter", "openai moonshot": "moonshot",
	"openai ollama-compat": "ollama-openai", "openai gemini-compat": "gemini-openai", "openai mistral": "mistral", "openai vllm": "vllm",
	"anthropic anthropic": "anthropic", "anthropic bedrock": "bedrock",
	"gemini gemini": "gemini", "gemini gemini-3": "gemini", "gemini gemini-2.5": "gemini", "gemini gemini-2.x": "gemini",
	"ollama ollama": "ollama", "responses openai": "openai-responses",
}

// modelOf is the model that stands for an engine of a report, where it is not
// the default of the catalogue.
var modelOf = map[string]string{
	"gemini-3": "gemini-3-flash-preview", "gemini-2.5": "gemini-2.5-flash", "gemini-2.x": "gemini-2.5-flash",
	"deepseek-thinking": "deepseek-reasoner", "mistral": "magistral-medium-latest",
}

// kase is one report with what it runs against.
type kase struct {
	t       *testing.T
	report  reports.Report
	codec   codecs.Full
	profile codecs.Profile
	model   string
}

func target(t *testing.T, catalog *engines.Catalog, r reports.Report) *kase {
	t.Helper()
	codec, err := all.For(codecs.Dialect(r.Dialect))
	if err != nil {
		t.Fatal(err)
	}
	k := &kase{t: t, report: r, codec: codec, model: "m-1"}
	name := engineOf[r.Dialect+" "+r.Engine]
	if name == "" {
		return k
	}
	engine, err := catalog.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	model, _ := r.Input["model"].(string)
	if model == "" {
		quirk, _ := r.Input["engine_quirk"].(string)
		if model = modelOf[quirk]; model == "" {
			model = modelOf[r.Engine]
		}
	}
	resolved := engine.Resolve(model)
	if resolved.Dialect != codec.Dialect() {
		t.Fatalf("%s %s speaks %s", name, resolved.Model, resolved.Dialect)
	}
	k.profile, k.model = resolved.Profile, resolved.Model
	return k
}
