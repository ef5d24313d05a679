package tags_test

import (
	"strings"
	"testing"

	"github.com/toolconform/conform/internal/tags"
)

func TestSplitThink(t *testing.T) {
	for _, c := range []struct{ name, in, visible, thinking string }{
		{"none, byte exact", "  a \n", "  a \n", ""},
		{"leading block", "<think>\nplan\n</think>\n\nanswer", "answer", "plan"},
		{"leading block keeps indentation", "<think>p</think>\n\n  code\n", "  code\n", "p"},
		{"orphan close", "plan</think>answer", "answer", "plan"},
		{"unclosed", "before <think>rest", "before", "rest"},
		{"two blocks", "<think>a</think>x<think>b</think>y", "xy", "a\nb"},
		{"trailing block", "x \n<think>b</think>", "x", "b"},
		{"middle keeps spaces", "x <think>b</think> y", "x  y", "b"},
		{"only thinking", "<think>a</think>", "", "a"},
		{"not nested", "<think>a<think>b</think>c", "c", "a<think>b"},
		{"other case is text", "<Think>a</Think>b", "<Think>a</Think>b", ""},
		{"empty", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			segments, found := tags.SplitThink(c.in, "think")
			var visible string
			var thinking []string
			for _, s := range segments {
				if s.Think {
					thinking = append(thinking, s.Text)
				} else {
					visible += s.Text
				}
			}
			if got := strings.Join(thinking, "\n"); visible != c.visible || got != c.thinking {
				t.Errorf("visible %q, thinking %q; want %q, %q", visible, got, c.visible, c.thinking)
			}
			if found != strings.Contains(c.in, "think>") {
				t.Errorf("found = %v", found)
			}
		})
	}
}
