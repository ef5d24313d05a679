// Package suggest finds the words of a list that a mistyped word may have meant.
package suggest

import (
	"slices"
	"strings"
)

// Closest returns the words of list that are nearest to word, best first and at
// most three: those that differ in few letters, then those that begin with it or
// hold it. It returns nil when nothing is near. Case does not count.
func Closest(word string, list []string) []string {
	w := strings.ToLower(strings.TrimSpace(word))
	if w == "" {
		return nil
	}
	type hit struct {
		word string
		rank int
	}
	var hits []hit
	// A third of the letters may be wrong; in a short word one.
	limit := max(1, len([]rune(w))/3)
	for _, s := range list {
		l := strings.ToLower(s)
		switch d := Distance(w, l); {
		case d <= limit:
			hits = append(hits, hit{s, d})
		case len(w) >= 3 && strings.HasPrefix(l, w):
			hits = append(hits, hit{s, limit + 1})
		case len(w) >= 3 && strings.Contains(l, w):
			hits = append(hits, hit{s, limit + 2})
		}
	}
	slices.SortStableFunc(hits, func(a, b hit) int {
		if a.rank != b.rank {
			return a.rank - b.rank
		}
		return strings.Compare(a.word, b.word)
	})
	var out []string
	for _, h := range hits[:min(len(hits), 3)] {
		if !slices.Contains(out, h.word) {
			out = append(out, h.word)
		}
	}
	return out
}

// Distance counts the letters that have to be put in, left out, replaced or
// swapped with their neighbour to turn a into b.
func Distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before := make([]int, len(y)+1) // two rows up, for swaps
	prev := make([]int, len(y)+1)
	row := make([]int, len(y)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := 1; i <= len(x); i++ {
		row[0] = i
		for j := 1; j <= len(y); j++ {
			cost := 1
			if x[i-1] == y[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, prev[j]+1, prev[j-1]+cost)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, prev, row = prev, row, before
	}
	return prev[len(y)]
}

// Text spells the words of Closest as a hint for an error message, such as
// `; did you mean "a" or "b"?`. It is empty when nothing is near.
func Text(word string, list []string) string {
	near := Closest(word, list)
	if len(near) == 0 {
		return ""
	}
	for i, s := range near {
		near[i] = `"` + s + `"`
	}
	last := len(near) - 1
	if last == 0 {
		return "; did you mean " + near[0] + "?"
	}
	return "; did you mean " + strings.Join(near[:last], ", ") + " or " + near[last] + "?"
}
