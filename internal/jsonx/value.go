package jsonx

import (
	"math"
	"slices"
	"sort"
	"strconv"
)

// Kind is the JSON type of a Value.
type Kind uint8

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
type Value struct {
	d *document
	i int32
}

// Member is one key and value of an object.
type Member struct {
	Key   string
	Value Value
}

// Of returns the root of raw, which must be valid JSON that nobody writes to any
// more: a Raw that came out of this package or passed Check. Of invalid JSON it
// is absent. Use Parse for anything else.
func Of(raw []byte) Value {
	if len(raw) == 0 {
		return Value{}
	}
	if d := indexed(view(raw), math.MaxInt); d != nil {
		return Value{d: d}
	}
	return Value{}
}

func (v Value) node() *node { return &v.d.nodes[v.i] }

// spelling is the text of v on the wire.
func (v Value) spelling() string {
	n := v.node()
	return v.d.src[n.start:n.end]
}

// Kind returns the JSON type.
func (v Value) Kind() Kind {
	if v.d == nil {
		return Absent
	}
	return v.node().kind
}

// Exists tells whether there is a value; null is one.
func (v Value) Exists() bool { return v.d != nil }

// IsObject and IsArray tell the kind.
func (v Value) IsObject() bool { return v.Kind() == Object }

// IsArray tells whether v is a list.
func (v Value) IsArray() bool { return v.Kind() == Array }

// Defined tells whether v is there and not null.
func (v Value) Defined() bool { return v.Kind() > Null }

// Raw returns the wire spelling, nil when absent. It is a piece of the document
// and not to be written to; appending to it copies.
func (v Value) Raw() Raw {
	if v.d == nil {
		return nil
	}
	return Raw(bytesOf(v.spelling()))
}

// Text returns the content of a string, bad UTF-8 and lone surrogates read as
// U+FFFD; ok is false for every other kind.
func (v Value) Text() (s string, ok bool) {
	if v.Kind() != String {
		return "", false
	}
	return v.d.text(v.i), true
}

// Str returns the content of a string and "" for every other kind.
func (v Value) Str() string { s, _ := v.Text(); return s }

// Bool returns the value of a boolean, false for every other kind.
func (v Value) Bool() bool { return v.Kind() == Bool && v.spelling() == "true" }

// Int returns a number that is an integer in the range of int64. A fraction of
// zero, as in 12.0, is accepted.
func (v Value) Int() (n int64, ok bool) {
	if v.Kind() != Number {
		return 0, false
	}
	s := v.spelling()
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, _ := strconv.ParseFloat(s, 64) // the error only reports what is out of range
	if f != float64(int64(f)) || f > 1<<53 || f < -(1<<53) {
		return 0, false
	}
	return int64(f), true
}

// first is the first child, 0 when there is none or v is no container.
func (v Value) first() int32 {
	if v.d == nil || v.node().size == 0 {
		return 0
	}
	return v.i + 1
}

// Get returns the member called key, absent when there is none or v is no
// object. Of a repeated key the last one counts.
func (v Value) Get(key string) (found Value) {
	if !v.IsObject() {
		return found
	}
	for k := v.first(); k > 0; k = v.d.nodes[k].next {
		if v.d.key(k) == key {
			found = Value{v.d, k + 1}
		}
	}
	return found
}

// repeats tells whether an object has a key more than once.
func (v Value) repeats(key string) bool {
	n := 0
	for k := v.first(); k > 0; k = v.d.nodes[k].next {
		if v.d.key(k) == key {
			n++
		}
	}
	return n > 1
}

// HasOnly tells whether v has no member but those of keys.
func (v Value) HasOnly(keys ...string) bool {
	if !v.IsObject() {
		return true
	}
	for k := v.first(); k > 0; k = v.d.nodes[k].next {
		if !slices.Contains(keys, v.d.key(k)) {
			return false
		}
	}
	return true
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
	if !v.IsArray() || i < 0 || i >= int(v.node().size) {
		return Value{}
	}
	k := v.first()
	for ; i > 0; i-- {
		k = v.d.nodes[k].next
	}
	return Value{v.d, k}
}

// Items returns the elements of a list, nil for every other kind.
func (v Value) Items() []Value {
	if !v.IsArray() || v.node().size == 0 {
		return nil
	}
	var out []Value
	if v.d.lists != nil {
		out = v.d.lists.items
	} else {
		out = make([]Value, 0, v.node().size)
	}
	from := len(out)
	for k := v.first(); k > 0; k = v.d.nodes[k].next {
		out = append(out, Value{v.d, k})
	}
	if v.d.lists != nil {
		v.d.lists.items = out
	}
	return out[from:len(out):len(out)]
}

// Len returns the number of elements or of distinct keys.
func (v Value) Len() int {
	if v.IsArray() {
		return int(v.node().size)
	}
	return len(v.Members())
}

// Members returns the members of an object in wire order, nil for every other
// kind. Of a repeated key the last value stands, at the place of the first.
func (v Value) Members() []Member {
	if !v.IsObject() || v.node().size == 0 {
		return nil
	}
	var room []Member
	if v.d.lists != nil {
		room = v.d.lists.members
	} else {
		room = make([]Member, 0, v.node().size)
	}
	from := len(room)
	var at map[string]int // from many members on
	if v.node().size >= manyFields {
		at = make(map[string]int, v.node().size)
	}
	for k := v.first(); k > 0; k = v.d.nodes[k].next {
		m := Member{v.d.key(k), Value{v.d, k + 1}}
		i, again := -1, false
		if at != nil {
			i, again = at[m.Key]
		} else {
			i = slices.IndexFunc(room[from:], func(o Member) bool { return o.Key == m.Key })
			again = i >= 0
		}
		if again {
			room[from+i].Value = m.Value
			continue
		}
		if at != nil {
			at[m.Key] = len(room) - from
		}
		room = append(room, m)
	}
	if v.d.lists != nil {
		v.d.lists.members = room
	}
	return room[from:len(room):len(room)]
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
