// Package texts holds what is done with texts in more than one place.
package texts

import (
	"fmt"
	"strings"
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
