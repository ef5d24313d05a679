package texts_test

import (
	"strings"
	"testing"

	"github.com/toolconform/conform/internal/texts"
)

func TestBounded(t *testing.T) {
	for in, want := range map[string]string{"ebb": "ebb", "ebbs": "ebbs", "flood": "floo... (5 bytes)", "ebbä": "ebb... (5 bytes)"} {
		if got := texts.Bounded(in, 4); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	if got := texts.Bounded([]byte("flood"), 2); got != "fl... (5 bytes)" {
		t.Error(got)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, s string
		want       bool
	}{
		{"", "", true},
		{"*", "", true},
		{"*", "a/b", true},
		{"a*c", "abbc", true},
		{"a*c", "abcd", false},
		{"a?c", "aäc", true},
		{"a?", "a", false},
		{"*a*b", "xaxbxb", true},
		{"a", "ab", false},
		{"**", "x", true},
		{"b", "ab", false},
		{strings.Repeat("a*", 500) + "b", strings.Repeat("a", 5000), false},
	} {
		if got := texts.Glob(c.pattern, c.s); got != c.want {
			t.Errorf("%.20q fits %.20q: %v", c.pattern, c.s, got)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct{ first, indent, in, want string }{
		{"", "", "", "\n"},
		{"a: ", "   ", "ebb and flood, as every day of the year", "a: ebb and flood, as every day\n   of the year\n"},
		{"✓ ", "  ", "übergrößen sind spaltenweise gezählt", "✓ übergrößen sind spaltenweise\n  gezählt\n"},
		{"", "  ", "x " + strings.Repeat("y", 40), "x " + strings.Repeat("y", 28) + "\n  " + strings.Repeat("y", 12) + "\n"},
		{"source: ", "  ", "https://ebb.example/and-flood", "source:\n  https://ebb.example/and-floo\n  d\n"},
		{"source: ", "  ", "https://ebb.example/flood", "source:\n  https://ebb.example/flood\n"},
	} {
		got := texts.Wrap(c.first, c.indent, c.in, 30)
		if got != c.want {
			t.Errorf("%q: got\n%s, want\n%s", c.in, got, c.want)
		}
	}
	if got := texts.Cut("Ebbe und Flut", 6) + texts.Cut("Ebbe", 4) + texts.Pad("ü", 3) + "|"; got != "Ebbe…Ebbeü  |" {
		t.Errorf("%q", got)
	}
}
