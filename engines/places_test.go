package engines_test

import (
	"testing"

	"github.com/toolconform/conform/codecs"
)

// EG17: whether the default model of an engine sees the images of a prompt, as
// the table of engines in the source documents has it. "" is yes.
func TestPromptImages(t *testing.T) {
	const blind = codecs.MediaPlaceholder
	for _, c := range []struct{ engine, model, want string }{
		{"openai", "", ""},
		{"openai", "gpt-3.5-turbo", blind},
		{"openai", "o3-mini", blind},
		{"openai-responses", "", ""},
		{"openai-responses", "gpt-oss-120b", blind},
		{"anthropic", "", ""},
		{"anthropic", "claude-2.1", blind},
		{"gemini", "", ""},
		{"gemini", "gemini-3-flash-preview-tts", blind},
		{"gemini", "gemma-2-27b-it", blind},
		{"perplexity", "", blind},
		{"perplexity", "openai/gpt-5.6", ""},
		{"perplexity", "openai/gpt-oss-120b", blind},
		{"deepseek", "", ""},
		{"deepseek", "deepseek-v4-pro", blind},
		{"mistral", "", ""},
		{"mistral", "pixtral-12b", ""},
		{"groq", "qwen/qwen3.8-27b", ""},
		{"groq", "openai/gpt-oss-120b", blind},
		{"cerebras", "", blind},
		{"cerebras", "gemma-4-31b", ""},
		{"xai", "", ""},
		{"minimax", "", ""},
		{"minimax-anthropic", "", ""},
		{"minimax-anthropic", "MiniMax-M2.7", blind},
		{"moonshot", "", ""},
		{"moonshot", "kimi-k2.5", blind},
		{"moonshot-anthropic", "kimi-k3", ""},
		{"aki-openai", "", blind},
		{"aki-openai", "qwen3.8-max", ""},
		{"scaleway", "pixtral-12b-2409", ""},
		{"scaleway", "", blind},
		{"hetzner", "", ""},
	} {
		r := lookup(t, c.engine).Resolve(c.model)
		if got := r.Profile.PromptImages; got != c.want {
			t.Errorf("%s %s: prompt images %q, want %q", c.engine, r.Model, got, c.want)
		}
	}
}

// EG12: OpenAI Responses takes server tools, and streams, which upstream does
// not do yet. TC24 and SV09 are about the engines that take none.
func TestServerToolFlags(t *testing.T) {
	r := lookup(t, "openai-responses").Resolve("")
	if r.Profile.ServerTools != "" || r.Engine.NoStream != "" {
		t.Errorf("openai-responses: server tools %q, no stream %q", r.Profile.ServerTools, r.Engine.NoStream)
	}
	for _, name := range []string{"aki-anthropic", "lmstudio-anthropic", "moonshot-anthropic", "minimax-anthropic"} {
		if lookup(t, name).Resolve("").Profile.ServerTools != codecs.ServerToolsNo {
			t.Errorf("%s takes no server tools", name)
		}
	}
}

// EG15: the key of Gemini goes in a header, where proxies and logs do not keep
// it, and not in the query as upstream has it; both are documented. EG14, CH20:
// LM Studio's native face takes no tools and has no entry; its other faces do.
func TestPlacesOfRows(t *testing.T) {
	if auth := lookup(t, "gemini").Auth; auth != "header:x-goog-api-key" {
		t.Errorf("gemini: auth %s", auth)
	}
	for name, dialect := range map[string]codecs.Dialect{
		"lmstudio": codecs.OpenAI, "lmstudio-anthropic": codecs.Anthropic, "lmstudio-responses": codecs.Responses,
	} {
		if d := lookup(t, name).Dialect; d != dialect {
			t.Errorf("%s speaks %s", name, d)
		}
	}
}
