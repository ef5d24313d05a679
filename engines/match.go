package engines

import (
	"reflect"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
)

// matches tells whether one of the alternatives of pattern covers model.
func matches(pattern, model string) bool {
	model = strings.ToLower(model)
	for _, p := range strings.Split(strings.ToLower(pattern), "|") {
		if glob([]rune(p), []rune(model)) {
			return true
		}
	}
	return false
}

// glob matches * and ? in linear space and at most quadratic time: on a mismatch
// only the last star takes one more character.
func glob(p, s []rune) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == s[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}

// cloneProfile copies the lists of a profile too, whatever fields it has; nil
// and empty stay what they are.
func cloneProfile(p codecs.Profile) codecs.Profile {
	v := reflect.ValueOf(&p).Elem()
	for i := range v.NumField() {
		if list, ok := v.Field(i).Interface().([]string); ok {
			v.Field(i).Set(reflect.ValueOf(slices.Clone(list)))
		}
	}
	return p
}
