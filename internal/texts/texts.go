// Package texts holds what is done with texts in more than one place.
package texts

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Bounded is a text for a message: its first most bytes and its size, when it is
// longer.
func Bounded[T ~string | ~[]byte](s T, most int) string {
	if len(s) <= most {
		return string(s)
	}
	return strings.ToValidUTF8(string(s[:most]), "") + fmt.Sprintf("... (%d bytes)", len(s))
}

// Glob tells whether a pattern fits all of a text: * is any text, slashes
// included, ? one character. It takes linear space and at most quadratic time: on
// a mismatch only the last star takes one character more.
func Glob(pattern, s string) bool {
	p, t := []rune(pattern), []rune(s)
	star, mark, i, j := -1, 0, 0, 0
	for j < len(t) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == t[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(string(p[i:]), "*") == ""
}

// Wrap lays words out in lines of at most width columns, the first behind first
// and the others behind indent, which is shorter, and ends the last one. A word
// that is longer than a line is cut.
func Wrap(first, indent, s string, width int) string {
	var b strings.Builder
	b.WriteString(first)
	n := utf8.RuneCountInString(first)
	wide := utf8.RuneCountInString(indent)
	most := max(width-wide, 20)
	open := false // the line holds a word already
	put := func(word []rune) {
		switch {
		case n+len(word) > width && !open && n > wide, open && n+1+len(word) > width:
			line := strings.TrimRight(b.String(), " ")
			b.Reset()
			b.WriteString(line + "\n" + indent)
			n = wide
		case open:
			b.WriteString(" ")
			n++
		}
		b.WriteString(string(word))
		n += len(word)
		open = true
	}
	for _, word := range strings.Fields(s) {
		runes := []rune(word)
		for ; len(runes) > most; runes = runes[most:] {
			put(runes[:most])
		}
		put(runes)
	}
	b.WriteString("\n")
	return b.String()
}

// Cut is a text of at most n characters; where some are missing it ends with an
// ellipsis.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return strings.TrimRight(string([]rune(s)[:max(n-1, 0)]), " ") + "…"
}

// Pad is a text of at least n characters, filled up with blanks.
func Pad(s string, n int) string {
	return s + strings.Repeat(" ", max(n-utf8.RuneCountInString(s), 0))
}
