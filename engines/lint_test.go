package engines_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolconform/conform/engines"
)

func TestLint(t *testing.T) {
	if got := engines.Lint(); len(got) > 0 {
		t.Errorf("the catalogue has problems: %v", got)
	}
	data, err := os.ReadFile("catalogue/deepseek.json")
	if err != nil {
		t.Fatal(err)
	}
	typo := strings.Replace(string(data), `"reasoning_echo": "required_even_empty"`, `"reasoning_echo": "requird"`, 1)
	noFacts := `{"name":"quay","title":"Quay","family":"hosted","dialect":"openai","url":"{base}/chat/completions","auth":"bearer","vars":{"base":"https://quay.example/v1"},"default_model":"m","profile":{},"facts":{}}`
	for name, c := range map[string]struct{ text, want string }{
		"deepseek.json": {typo, "/profile/reasoning_echo"},
		"quay.json":     {noFacts, "facts"},
		"broken.json":   {`{"name":`, "broken.json"},
	} {
		got := strings.Join(engines.LintFS(fstest.MapFS{name: {Data: []byte(c.text)}}), "\n")
		if !strings.Contains(got, name) || !strings.Contains(got, c.want) {
			t.Errorf("%s: got %q, want one with %q", name, got, c.want)
		}
	}
}
