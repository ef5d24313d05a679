package bugreports

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
)

// folder is where the collections cases*.jsonl are: CONFORM_REPORTS, or a folder
// beside the project.
func folder() string {
	if p := os.Getenv("CONFORM_REPORTS"); p != "" {
		return p
	}
	return filepath.Join("..", "..", "..", "shared", "reports")
}

// TestReports runs every report against the reference. One whose outcome we
// decided otherwise stands in decisions, with the reason, one that we still get
// wrong in open; an entry there that is met after all is stale and fails.
func TestReports(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder(), "cases*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("no collection of reports in %s; CONFORM_REPORTS names another folder", folder())
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		list, err := read(bytes.NewReader(raw))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		count := map[string]int{}
		for _, r := range list {
			if known[r.ID] {
				t.Errorf("%s: a second report %s", file, r.ID)
			}
			known[r.ID] = true
			t.Run(r.ID, func(t *testing.T) { runReport(t, catalog, r, count) })
		}
		t.Logf("%s: %d reports: %d met, %d differ by decision, %d open",
			filepath.Base(file), len(list), count["met"], count["decided"], count["open"])
	}
	for _, table := range []map[string]string{decisions, open} {
		for id := range table {
			if !known[id] {
				t.Errorf("the collections have no report %s", id)
			}
		}
	}
}

func runReport(t *testing.T, catalog *engines.Catalog, r Report, count map[string]int) {
	reason, decided := decisions[r.ID]
	fault, isOpen := open[r.ID]
	diffs := target(t, catalog, r).run()
	switch {
	case len(diffs) == 0 && (decided || isOpen):
		t.Errorf("stale: %s is met, drop its entry (%s)", r.ID, reason+fault)
	case len(diffs) == 0:
		count["met"]++
	case decided:
		count["decided"]++
	case isOpen:
		count["open"]++
	default:
		t.Errorf("%s (%s, %s, policy %v):\n%s", r.ID, r.Class, r.Operation, r.Policy, strings.Join(diffs, "\n"))
	}
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
	report  Report
	codec   codecs.Full
	profile codecs.Profile
	model   string
}

func target(t *testing.T, catalog *engines.Catalog, r Report) *kase {
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
