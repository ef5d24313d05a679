package engines

import (
	"reflect"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/texts"
)

// matches tells whether one of the alternatives of pattern covers model.
func matches(pattern, model string) bool {
	model = strings.ToLower(model)
	for _, p := range strings.Split(strings.ToLower(pattern), "|") {
		if texts.Glob(p, model) {
			return true
		}
	}
	return false
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
