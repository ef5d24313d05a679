package jsonx

import (
	"fmt"
	"strconv"

	"github.com/toolconform/conform/internal/texts"
)

// Difference is one place where two documents disagree.
type Difference struct {
	Pointer   string
	Want, Got Raw // nil where a side has no value
}

func (d Difference) String() string {
	at := d.Pointer
	if at == "" {
		at = "(root)"
	}
	return fmt.Sprintf("%s: want %s, got %s", at, shown(d.Want), shown(d.Got))
}

// shown bounds what an error text quotes of a document.
func shown(r Raw) string {
	if r == nil {
		return "nothing"
	}
	return texts.Bounded(r, 200)
}

// Diff lists the places where got differs from want, in document order, at most
// 20 of them. Both must be valid JSON.
func Diff(want, got []byte) ([]Difference, error) {
	w, err := Parse(want)
	if err != nil {
		return nil, fmt.Errorf("wanted document: %w", err)
	}
	g, err := Parse(got)
	if err != nil {
		return nil, fmt.Errorf("received document: %w", err)
	}
	var out []Difference
	diff(&out, "", w, g)
	return out, nil
}

const mostDifferences = 20

func diff(out *[]Difference, at string, want, got Value) {
	if len(*out) >= mostDifferences {
		return
	}
	switch {
	case want.IsObject() && got.IsObject():
		for _, m := range want.Members() {
			diff(out, at+"/"+Token(m.Key), m.Value, got.Get(m.Key))
		}
		for _, m := range got.Members() {
			if !want.Get(m.Key).Exists() {
				diff(out, at+"/"+Token(m.Key), Value{}, m.Value)
			}
		}
	case want.IsArray() && got.IsArray():
		w, g := want.Items(), got.Items()
		for i := range max(len(w), len(g)) {
			var wi, gi Value
			if i < len(w) {
				wi = w[i]
			}
			if i < len(g) {
				gi = g[i]
			}
			diff(out, at+"/"+strconv.Itoa(i), wi, gi)
		}
	case want.Exists() && got.Exists() && Equal(want.Raw(), got.Raw()):
	default:
		*out = append(*out, Difference{at, want.Raw(), got.Raw()})
	}
}
