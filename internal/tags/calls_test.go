package tags_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolconform/conform/internal/tags"
)

var scanner = tags.Scanner{Think: "think", Call: "tool_call"}

// shown writes spans in a short form: V text, T thinking, B body, U body, S text;
// = after B or U for one whole JSON value, ! for a nested opening tag.
func shown(text string, spans []tags.Span) string {
	var out []string
	for _, s := range spans {
		mark := ""
		if s.Value {
			mark = "="
		}
		if s.Nested {
			mark += "!"
		}
		switch s.Kind {
		case tags.Visible, tags.Stray:
			out = append(out, fmt.Sprintf("%s%s(%s)", "VTBUS"[s.Kind:s.Kind+1], mark, text[s.Start:s.End]))
		default:
			out = append(out, fmt.Sprintf("%s%s(%s)", "VTBUS"[s.Kind:s.Kind+1], mark, s.Body))
		}
	}
	return strings.Join(out, " ")
}

func TestScan(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", ""},
		{"text", " a ", "V( a )"},
		{"one block", "a<tool_call>\n{\"n\":1}\n</tool_call>b", "V(a) B=(\n{\"n\":1}\n) V(b)"},
		{"closing tag in a string", `<tool_call>{"n":"</tool_call>"}</tool_call>`, `B=({"n":"</tool_call>"})`},
		{"opening tag in a string", `<tool_call>{"n":"<tool_call>"}</tool_call>`, `B=({"n":"<tool_call>"})`},
		{"think tags in a string", `<tool_call>{"n":"<think>"}</tool_call></x>`, `B=({"n":"<think>"}) V(</x>)`},
		{"orphan close in a string", `<tool_call>{"n":"a</think>"}</tool_call>`, `B=({"n":"a</think>"})`},
		{"escaped quote", `<tool_call>{"n":"\"</tool_call>"}</tool_call>`, `B=({"n":"\"</tool_call>"})`},
		{"broken", `<tool_call>{n:1}</tool_call>x`, `B({n:1}) V(x)`},
		{"junk after the value", `<tool_call>{"n":"</tool_call>"}}</tool_call>`, `B({"n":"</tool_call>"}})`},
		{"doubled opening tag", `<tool_call><tool_call>{"n":1}</tool_call>`, `B!(<tool_call>{"n":1})`},
		{"missing closing tag between two", `<tool_call>{"n":1}<tool_call>{"n":2}</tool_call>`, `B!({"n":1}<tool_call>{"n":2})`},
		{"broken then good", `<tool_call>{</tool_call><tool_call>{"n":2}</tool_call>`, `B({) B=({"n":2})`},
		{"open quote does not eat the next line", "<tool_call>{\"n\":\"x}</tool_call>\n<tool_call>{\"n\":2}</tool_call>", "B({\"n\":\"x}) V(\n) B=({\"n\":2})"},
		{"unclosed whole", "<tool_call>{\"n\":1}\n", "U=({\"n\":1}\n)"},
		{"unclosed, closing tag cut", "<tool_call>{\"n\":1}</tool_c", "U=({\"n\":1})"},
		{"unclosed cut", `<tool_call>{"n":"<think>`, `U({"n":"<think>)`},
		{"unclosed broken", `<tool_call>{n`, `U({n)`},
		{"only the tag", `a<tool_call>`, `V(a) U()`},
		{"inside thinking", `<think><tool_call>{"n":1}</tool_call></think>b`, `T(<tool_call>{"n":1}</tool_call>) V(b)`},
		{"inside unclosed thinking", `<think><tool_call>{"n":1}</tool_call>`, `T(<tool_call>{"n":1}</tool_call>)`},
		{"before an orphan close", `<tool_call>{"n":1}</tool_call>x</think>y`, `T(<tool_call>{"n":1}</tool_call>x) V(y)`},
		{"two orphan closes", `a</think>b</think>c`, "T(a\nb) V(c)"},
		{"orphan close after an opening tag is text", `<think>a</think>b</think>c`, `T(a) V(b</think>c)`},
		{"tag named in thinking, then a call", `use <tool_call> now</think><tool_call>{"n":1}</tool_call>`, `T(use <tool_call> now) B=({"n":1})`},
		{"thinking inside a broken block", `<tool_call>x<think>a</think>{}</tool_call>`, `S(<tool_call>x) T(a) V({}</tool_call>)`},
		{"whole value, then orphan close", `<tool_call>{"n":1}</think>b`, `T(<tool_call>{"n":1}) V(b)`},
		{"list", `<tool_call>[{"n":1}]</tool_call>`, `B=([{"n":1}])`},
		{"other form", "<tool_call>f\n<arg_key>k</arg_key></tool_call>", "B(f\n<arg_key>k</arg_key>)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := shown(c.in, scanner.Scan(c.in)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestPartialOpen(t *testing.T) {
	for in, want := range map[string]int{"": 0, "a": 0, "a<": 1, "a<tool_": 6, "<tool_call": 10, "<tool_call>": 0, "<tool_x": 0} {
		if got := scanner.PartialOpen(in); got != want {
			t.Errorf("PartialOpen(%q) = %d, want %d", in, got, want)
		}
	}
}

// covers checks that spans cover the text without gaps.
func covers(t *testing.T, text string) {
	at := 0
	for _, s := range scanner.Scan(text) {
		if s.Start != at || s.End < s.Start {
			t.Fatalf("span %+v of %q does not start at %d", s, text, at)
		}
		at = s.End
	}
	if at != len(text) {
		t.Fatalf("spans of %q end at %d of %d", text, at, len(text))
	}
}

func TestScanIsLinear(t *testing.T) {
	for _, unit := range []string{
		"<tool_call>", "</think>", "<think></think><tool_call>", `<tool_call>{"`, `<tool_call>{"n":"`, `<tool_call>{"n":1}`,
		`<tool_call>{",":["`, `<tool_call>{</tool_call>`, `<tool_call>{"n":1}</tool_call>`, "<", `<tool_call>[`, `<tool_call>{"</think>`,
		"<think>a</think> ", "<think></think>", "<tool_call>{<think></think>", `<tool_call>{",":[",</tool_call>`,
	} {
		text := strings.Repeat(unit, 1<<20/len(unit))
		for _, end := range []string{"", "</tool_call>", "</think>"} {
			start := time.Now()
			covers(t, text+end)
			tags.SplitThink(text+end, "think")
			for _, size := range []int{7, len(text) + len(end)} {
				feed(text+end, size)
			}
			if d := time.Since(start); d > time.Minute {
				t.Errorf("1 MiB of %q takes %v", unit, d)
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add(`a<think>b</think><tool_call>{"n":"</tool_call>"}</tool_call></think>`)
	f.Add(`<tool_call>{"n":1}<tool_call>`)
	f.Fuzz(func(t *testing.T, text string) { covers(t, text) })
}

// Thinking is cut out to the byte as a plain search for tags does it, where no
// call block is in the way.
func TestScanAgreesWithSplitThink(t *testing.T) {
	pieces := []string{"a", " \n", "<think>", "</think>", "b<"}
	for n := range 5 * 5 * 5 * 5 * 5 * 5 {
		var text string
		for i, k := 0, n; i < 6; i, k = i+1, k/len(pieces) {
			text += pieces[k%len(pieces)]
		}
		var got []tags.Segment
		for _, s := range scanner.Scan(text) {
			if s.Kind == tags.Thinking {
				got = append(got, tags.Segment{Think: true, Text: s.Body})
			} else {
				got = append(got, tags.Segment{Text: text[s.Start:s.End]})
			}
		}
		if want := splitThink(text, "think"); !slices.Equal(got, want) {
			t.Fatalf("%q: %+v, want %+v", text, got, want)
		}
	}
}

// splitThink cuts thinking out of a text by searching it again for each tag: what
// Scan, which remembers, has to agree with.
func splitThink(text, tag string) (segments []tags.Segment) {
	open, closing := "<"+tag+">", "</"+tag+">"
	if !strings.Contains(text, open) && !strings.Contains(text, closing) {
		return []tags.Segment{{Text: text}}
	}
	rest := text
	if o, c := strings.Index(rest, open), strings.Index(rest, closing); c >= 0 && (o < 0 || c < o) {
		// Orphan closing tags: the last one before any opening tag ends the thinking.
		limit := len(rest)
		if o >= 0 {
			limit = o
		}
		last := strings.LastIndex(rest[:limit], closing)
		segments = append(segments, tags.Segment{Think: true, Text: strings.ReplaceAll(rest[:last], closing, "\n")})
		rest = rest[last+len(closing):]
	}
	for rest != "" {
		o := strings.Index(rest, open)
		if o < 0 {
			segments = append(segments, tags.Segment{Text: rest})
			break
		}
		if o > 0 {
			segments = append(segments, tags.Segment{Text: rest[:o]})
		}
		rest = rest[o+len(open):]
		c := strings.Index(rest, closing)
		if c < 0 {
			segments = append(segments, tags.Segment{Think: true, Text: rest})
			break
		}
		segments = append(segments, tags.Segment{Think: true, Text: rest[:c]})
		rest = rest[c+len(closing):]
	}
	return segments
}
