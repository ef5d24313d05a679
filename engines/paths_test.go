package engines_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/codecs/gemini"
	"github.com/toolconform/conform/codecs/ollama"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/codecs/responses"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/loop"
)

// The loop posts through a Client.
var _ loop.Sender = (*engines.Client)(nil)

// TestPathsBelongToTheDialect holds the addresses of the catalogue against what
// the server half of the dialect answers to. hermes has the paths of openai.
func TestPathsBelongToTheDialect(t *testing.T) {
	halves := map[codecs.Dialect]codecs.ServerHalf{
		codecs.OpenAI: openai.Codec{}, codecs.Anthropic: anthropic.Codec{},
		codecs.Gemini: gemini.Codec{}, codecs.Ollama: ollama.Codec{}, codecs.Responses: responses.Codec{}, codecs.Hermes: openai.Codec{},
	}
	for _, e := range load(t).All() {
		if e.Name == "aki" {
			continue // a path of its own
		}
		vars := map[string]string{}
		for k, v := range e.Vars {
			if v == "" {
				vars[k] = "given"
			}
		}
		for _, stream := range []bool{false, true} {
			if stream && e.NoStream != "" {
				continue
			}
			text, err := (&engines.Client{Engine: e, Vars: vars}).URL(stream)
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
				continue
			}
			u, err := url.Parse(text)
			if err != nil {
				t.Errorf("%s: %v", e.Name, err)
				continue
			}
			model, asStream, ok := halves[e.Dialect].Match(codecs.In{Path: u.EscapedPath(), Query: u.Query()})
			if !ok {
				t.Errorf("%s: %s does not belong to %s", e.Name, u.Path, e.Dialect)
			}
			if strings.Contains(e.URL, "{model}") && model != e.DefaultModel {
				t.Errorf("%s: model %q in the path, want %q", e.Name, model, e.DefaultModel)
			}
			if e.StreamURL != "" && asStream != stream {
				t.Errorf("%s: %s reads as stream %v", e.Name, u.Path, asStream)
			}
		}
	}
}
