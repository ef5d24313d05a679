// Package tags scans the markup that models write into plain text: thinking
// between <think> tags and calls between <tool_call> tags.
package tags

import (
	"slices"
	"strings"
)

// Segment is one piece of a text: thinking, or what the reader is meant to see.
type Segment struct {
	Think bool
	Text  string
}

// SplitThink separates thinking from visible text. tag is the name between the
// brackets, such as think; it is case-sensitive and does not nest.
//
//   - a closed pair is thinking wherever it stands;
//   - a closing tag with no opening one before it makes everything before it
//     thinking;
//   - an opening tag that is never closed makes everything after it thinking.
//
// A text without a tag comes back byte for byte as one visible segment, found
// false. Otherwise white space goes only where a removed block stood at an end:
// after a leading block the blank lines, while the first line keeps its
// indentation; before a trailing block everything. Thinking is trimmed.
// Source: spec 2.7 of the source documents.
func SplitThink(text, tag string) (segments []Segment, found bool) {
	if !strings.Contains(text, "<"+tag+">") && !strings.Contains(text, "</"+tag+">") {
		return []Segment{{Text: text}}, false
	}
	for _, s := range (Scanner{Think: tag}).Scan(text) {
		if s.Kind == Thinking {
			segments, found = append(segments, Segment{Think: true, Text: s.Body}), true
		} else {
			segments = append(segments, Segment{Text: text[s.Start:s.End]})
		}
	}
	if !found {
		return []Segment{{Text: text}}, false
	}
	return trimSegments(segments), true
}

func trimSegments(in []Segment) []Segment {
	seen := func(s Segment) bool { return !s.Think && strings.TrimSpace(s.Text) != "" }
	first := slices.IndexFunc(in, seen) // nothing visible stands before it
	last := len(in) - 1                 // nothing visible stands after it
	for last >= 0 && !seen(in[last]) {
		last--
	}
	if first < 0 {
		first = len(in)
	}
	out := make([]Segment, 0, len(in))
	for i, s := range in {
		if s.Think {
			s.Text = strings.TrimSpace(s.Text)
			out = append(out, s)
			continue
		}
		if i <= first && i > 0 {
			s.Text = dropBlankLines(s.Text)
		}
		if i >= last && i+1 < len(in) {
			s.Text = strings.TrimRight(s.Text, " \t\r\n")
		}
		if s.Text != "" {
			out = append(out, s)
		}
	}
	return out
}

// dropBlankLines cuts blank lines at the start; the first line that is not
// blank keeps its indentation.
func dropBlankLines(s string) string {
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 || strings.TrimSpace(s[:i]) != "" {
			if strings.TrimSpace(s) == "" {
				return ""
			}
			return s
		}
		s = s[i+1:]
	}
}
