package wire

import (
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Object builds an object of members with distinct keys, nil of none. It is
// linear in their number, which a sender chooses.
func Object(members []jsonx.Member) codecs.Raw {
	if len(members) == 0 {
		return nil
	}
	out := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(append(out, jsonx.Quote(m.Key)...), ':')
		out = append(out, m.Value.Raw()...)
	}
	return append(out, '}')
}

// Without returns the members of an object whose key is none of keys, as an
// object, or nil when nothing is left.
func Without(v jsonx.Value, keys ...string) codecs.Raw {
	if v.HasOnly(keys...) {
		return nil
	}
	var rest []jsonx.Member
	for _, m := range v.Members() {
		if !slices.Contains(keys, m.Key) {
			rest = append(rest, m)
		}
	}
	return Object(rest)
}

// Scalar is the text of a string, or the spelling of a number: ids, codes and enum
// values come as either. It is "" for anything else.
func Scalar(v jsonx.Value) string {
	if v.Kind() == jsonx.Number {
		return string(v.Raw())
	}
	return v.Str()
}
