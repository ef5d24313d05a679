package jsonx

import (
	"sort"
	"strconv"
	"strings"

	"github.com/tidwall/gjson"
)

// Kind is the JSON type of a Value.
type Kind int

// The kinds. Absent is no value at all, which is not null.
const (
	Absent Kind = iota
	Null
	Bool
	Number
	String
	Array
	Object
)

func (k Kind) String() string {
	return [...]string{"nothing", "null", "a boolean", "a number", "a string", "a list", "an object"}[k]
}

// Value is one value inside validated JSON. The zero Value is absent; every
// method may be called on it.
type Value struct{ r gjson.Result }

// Member is one key and value of an object.
type Member struct {
	Key   string
	Value Value
}

// Of returns the root of raw, which must be valid JSON: a Raw that came out of
// this package or passed Check. Use Parse for anything else.
func Of(raw []byte) Value {
	if len(raw) == 0 {
		return Value{}
	}
	return Value{gjson.ParseBytes(raw)}
}

// Kind returns the JSON type.
func (v Value) Kind() Kind {
	switch v.r.Type {
	case gjson.Null:
		if v.r.Raw == "" {
			return Absent
		}
		return Null
	case gjson.False, gjson.True:
		return Bool
	case gjson.Number:
		return Number
	case gjson.String:
		return String
	}
	if strings.HasPrefix(v.r.Raw, "[") {
		return Array
	}
	return Object
}

// Exists tells whether there is a value; null is one.
func (v Value) Exists() bool { return v.Kind() != Absent }

// IsObject and IsArray tell the kind.
func (v Value) IsObject() bool { return v.Kind() == Object }

// IsArray tells whether v is a list.
func (v Value) IsArray() bool { return v.Kind() == Array }

// Defined tells whether v is there and not null.
func (v Value) Defined() bool { return v.Kind() > Null }

// Raw returns the wire spelling, nil when absent.
func (v Value) Raw() Raw {
	if v.r.Raw == "" {
		return nil
	}
	return Raw(v.r.Raw)
}

// Text returns the content of a string, bad UTF-8 and lone surrogates read as
// U+FFFD; ok is false for every other kind.
func (v Value) Text() (s string, ok bool) {
	if v.r.Type != gjson.String {
		return "", false
	}
	return strings.ToValidUTF8(v.r.Str, "\uFFFD"), true
}

// Str returns the content of a string and "" for every other kind.
func (v Value) Str() string { s, _ := v.Text(); return s }

// Bool returns the value of a boolean, false for every other kind.
func (v Value) Bool() bool { return v.r.Type == gjson.True }

// Int returns a number that is an integer in the range of int64. A fraction of
// zero, as in 12.0, is accepted.
func (v Value) Int() (n int64, ok bool) {
	if v.r.Type != gjson.Number {
		return 0, false
	}
	if n, err := strconv.ParseInt(v.r.Raw, 10, 64); err == nil {
		return n, true
	}
	f := v.r.Num
	if f != float64(int64(f)) || f > 1<<53 || f < -(1<<53) {
		return 0, false
	}
	return int64(f), true
}

// Get returns the member called key, absent when there is none or v is no
// object. Of a repeated key the last one counts.
func (v Value) Get(key string) Value {
	var found Value
	if !v.IsObject() {
		return found
	}
	v.r.ForEach(func(k, val gjson.Result) bool {
		if k.Str == key {
			found = Value{val}
		}
		return true
	})
	return found
}

// repeats tells whether an object has a key more than once.
func (v Value) repeats(key string) bool {
	n := 0
	v.r.ForEach(func(k, _ gjson.Result) bool {
		if k.Str == key {
			n++
		}
		return n < 2
	})
	return n > 1
}

// Path returns Get applied along keys.
func (v Value) Path(keys ...string) Value {
	for _, k := range keys {
		v = v.Get(k)
	}
	return v
}

// At returns element i of a list, absent when there is none.
func (v Value) At(i int) Value {
	var found Value
	if !v.IsArray() || i < 0 {
		return found
	}
	n := 0
	v.r.ForEach(func(_, val gjson.Result) bool {
		if n == i {
			found = Value{val}
			return false
		}
		n++
		return true
	})
	return found
}

// Items returns the elements of a list, nil for every other kind.
func (v Value) Items() []Value {
	if !v.IsArray() {
		return nil
	}
	var out []Value
	v.r.ForEach(func(_, val gjson.Result) bool {
		out = append(out, Value{val})
		return true
	})
	return out
}

// Len returns the number of elements or of distinct keys.
func (v Value) Len() int {
	if v.IsArray() {
		return len(v.Items())
	}
	return len(v.Members())
}

// Members returns the members of an object in wire order, nil for every other
// kind. Of a repeated key the last value stands, at the place of the first.
func (v Value) Members() []Member {
	if !v.IsObject() {
		return nil
	}
	var out []Member
	at := map[string]int{}
	v.r.ForEach(func(k, val gjson.Result) bool {
		if i, again := at[k.Str]; again {
			out[i].Value = Value{val}
			return true
		}
		at[k.Str] = len(out)
		out = append(out, Member{k.Str, Value{val}})
		return true
	})
	return out
}

// Lookup follows an RFC 6901 JSON pointer; "" is v itself.
func (v Value) Lookup(pointer string) Value {
	tokens, err := pointerTokens(pointer)
	if err != nil {
		return Value{}
	}
	for _, t := range tokens {
		if v.IsArray() {
			i, ok := index(t)
			if !ok {
				return Value{}
			}
			v = v.At(i)
		} else {
			v = v.Get(t)
		}
		if !v.Exists() {
			return Value{}
		}
	}
	return v
}

// index reads a list index of a JSON pointer: digits without a leading zero.
func index(token string) (int, bool) {
	for _, c := range token {
		if c < '0' || c > '9' {
			return 0, false
		}
	}
	i, err := strconv.Atoi(token)
	return i, err == nil && (token == "0" || token[0] != '0')
}

func appendCanonical(out []byte, v Value) []byte {
	switch v.Kind() {
	case Array:
		out = append(out, '[')
		for i, item := range v.Items() {
			if i > 0 {
				out = append(out, ',')
			}
			out = appendCanonical(out, item)
		}
		return append(out, ']')
	case Object:
		members := v.Members()
		sort.Slice(members, func(i, j int) bool { return members[i].Key < members[j].Key })
		out = append(out, '{')
		for i, m := range members {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, Quote(m.Key)...)
			out = append(out, ':')
			out = appendCanonical(out, m.Value)
		}
		return append(out, '}')
	case String:
		return append(out, Quote(v.Str())...)
	default:
		return append(out, v.Raw()...)
	}
}
