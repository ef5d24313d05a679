package suggest_test

import (
	"slices"
	"testing"

	"github.com/toolconform/conform/internal/suggest"
)

func TestClosest(t *testing.T) {
	list := []string{"deepseek", "deepseek-anthropic", "mistral", "minimax", "openai", "openai-responses", "xai"}
	for _, c := range []struct {
		word string
		want []string
	}{
		{"deepsek", []string{"deepseek"}},
		{"DeepSeek", []string{"deepseek", "deepseek-anthropic"}},
		{"mistarl", []string{"mistral"}},
		{"opena", []string{"openai", "openai-responses"}},
		{"responses", []string{"openai-responses"}},
		{"xia", []string{"xai"}},
		{"zzzzzz", nil},
		{"", nil},
		{"a", nil},
	} {
		if got := suggest.Closest(c.word, list); !slices.Equal(got, c.want) {
			t.Errorf("Closest(%q) = %q, want %q", c.word, got, c.want)
		}
	}
	if got := suggest.Closest("abcd", []string{"abce", "abcf", "abcg", "abch"}); len(got) != 3 {
		t.Errorf("%d words, want three", len(got))
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"abc", "", 3},
		{"same", "same", 0},
		{"kitten", "sitting", 3},
		{"ab", "ba", 1},
		{"grüße", "grüsse", 2},
	} {
		if got := suggest.Distance(c.a, c.b); got != c.want {
			t.Errorf("Distance(%q, %q) = %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	if got, want := suggest.Text("grok", []string{"groq", "brok", "grog"}), `; did you mean "brok", "grog" or "groq"?`; got != want {
		t.Errorf("Text = %s, want %s", got, want)
	}
	if got, want := suggest.Text("grpq", []string{"groq"}), `; did you mean "groq"?`; got != want {
		t.Errorf("Text = %s, want %s", got, want)
	}
	if got := suggest.Text("nothing", []string{"groq"}); got != "" {
		t.Errorf("Text = %q", got)
	}
}
