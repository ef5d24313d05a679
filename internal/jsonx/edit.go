package jsonx

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/sjson"
)

// Set returns doc with value at pointer; every other byte stays. A missing
// object key is added at the end of its object, the token "-" appends to a
// list. Missing parents, an index past the end and invalid JSON are errors.
func Set(doc []byte, pointer string, value []byte) (Raw, error) {
	if err := Check(value); err != nil {
		return nil, fmt.Errorf("value for %s: %w", pointer, err)
	}
	if pointer == "" {
		return Raw(value), Check(doc)
	}
	doc, path, err := editPath(doc, pointer, true)
	if err != nil {
		return nil, err
	}
	out, err := sjson.SetRawBytes(doc, path, value)
	if err != nil {
		return nil, fmt.Errorf("set %s: %w", pointer, err)
	}
	return Raw(out), nil
}

// Delete returns doc without the value at pointer; every other value keeps its
// spelling. A value that is not there is an error.
func Delete(doc []byte, pointer string) (Raw, error) {
	doc, path, err := editPath(doc, pointer, false)
	if err != nil {
		return nil, err
	}
	out, err := sjson.DeleteBytes(doc, path)
	if err != nil {
		return nil, fmt.Errorf("delete %s: %w", pointer, err)
	}
	return Raw(out), nil
}

// editPath checks that pointer can be edited in doc and spells it as an sjson
// path, with every character that sjson reads specially escaped. sjson edits the
// first of repeated keys and everybody reads the last: an object on the path
// that repeats its key comes back with one of each.
func editPath(doc []byte, pointer string, add bool) (edited []byte, path string, err error) {
	root, err := Parse(doc)
	if err != nil {
		return nil, "", err
	}
	tokens, err := pointerTokens(pointer)
	if err != nil {
		return nil, "", err
	}
	if len(tokens) == 0 {
		return nil, "", fmt.Errorf("pointer %q is the whole document", pointer)
	}
	parts := make([]string, len(tokens))
	v := root
	for i, t := range tokens {
		last := i == len(tokens)-1
		switch v.Kind() {
		case Array:
			n, ok := index(t)
			switch {
			case t == "-" && last && add:
				parts[i] = "-1"
			case !ok || n >= v.Len():
				return nil, "", fmt.Errorf("pointer %s: a list of %d has no element %q", pointer, v.Len(), t)
			default:
				parts[i] = t
			}
			v = v.At(n)
		case Object:
			if !v.Get(t).Exists() && (!last || !add) {
				return nil, "", fmt.Errorf("pointer %s: no member %q", pointer, t)
			}
			if v.repeats(t) {
				var f Fields
				for _, m := range v.Members() {
					f.Set(m.Key, m.Value.Raw())
				}
				v = Of(f.Raw())
				if i == 0 {
					doc = v.Raw()
				} else if doc, err = sjson.SetRawBytes(doc, strings.Join(parts[:i], "."), v.Raw()); err != nil {
					return nil, "", fmt.Errorf("pointer %s: %w", pointer, err)
				}
			}
			parts[i] = escapeKey(t)
			v = v.Get(t)
		default:
			return nil, "", fmt.Errorf("pointer %s: %q is inside %s", pointer, t, v.Kind())
		}
	}
	return doc, strings.Join(parts, "."), nil
}

// escapeKey spells an object key for sjson. The leading colon makes a number a
// key; a backslash takes the meaning from everything else.
func escapeKey(key string) string {
	var b strings.Builder
	if _, err := strconv.Atoi(key); err == nil {
		return ":" + key
	}
	for _, r := range key {
		if strings.ContainsRune(`.*?|#@!{}[]()=<>%\:`, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// pointerTokens splits an RFC 6901 pointer.
func pointerTokens(pointer string) ([]string, error) {
	if pointer == "" {
		return nil, nil
	}
	if pointer[0] != '/' {
		return nil, fmt.Errorf("JSON pointer %q does not start with a slash", pointer)
	}
	if !utf8.ValidString(pointer) {
		return nil, fmt.Errorf("JSON pointer %q is not valid UTF-8", pointer)
	}
	tokens := strings.Split(pointer[1:], "/")
	for i, t := range tokens {
		tokens[i] = strings.NewReplacer("~1", "/", "~0", "~").Replace(t)
	}
	return tokens, nil
}

// Token spells one key as a token of a JSON pointer.
func Token(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// Fields builds an object whose keys keep the order in which they were set.
type Fields struct {
	members []field
	at      map[string]int // built once there are many members
}

// manyFields is the number of members from which on keys are looked up in a map.
const manyFields = 16

type field struct {
	key  string
	raw  Raw
	text string // in place of raw, spelled when the object is
}

// Set adds a member, or replaces the value of one that is there. A nil raw adds
// nothing.
func (f *Fields) Set(key string, raw Raw) *Fields {
	if raw == nil {
		return f
	}
	return f.set(field{key: key, raw: raw})
}

func (f *Fields) set(m field) *Fields {
	if i := f.find(m.key); i >= 0 {
		f.members[i] = m
		return f
	}
	if f.members == nil {
		f.members = make([]field, 0, 6)
	}
	f.members = append(f.members, m)
	if f.at != nil {
		f.at[m.key] = len(f.members) - 1
	}
	return f
}

// find returns the place of a member, -1 when there is none.
func (f *Fields) find(key string) int {
	if f.at == nil && len(f.members) >= manyFields {
		f.at = make(map[string]int, len(f.members))
		for i, m := range f.members {
			f.at[m.key] = i
		}
	}
	if f.at != nil {
		if i, ok := f.at[key]; ok {
			return i
		}
		return -1
	}
	for i, m := range f.members {
		if m.key == key {
			return i
		}
	}
	return -1
}

// Str adds a string member.
func (f *Fields) Str(key, value string) *Fields { return f.set(field{key: key, text: value}) }

// Bool adds a boolean member.
func (f *Fields) Bool(key string, value bool) *Fields {
	return f.Set(key, Raw(strconv.FormatBool(value)))
}

// Int adds an integer member.
func (f *Fields) Int(key string, value int64) *Fields {
	return f.Set(key, Raw(strconv.FormatInt(value, 10)))
}

// Has tells whether a member is there.
func (f *Fields) Has(key string) bool { return f.find(key) >= 0 }

// Merge adds every member of the object raw; its values win.
func (f *Fields) Merge(raw Raw) *Fields {
	for _, m := range Of(raw).Members() {
		f.Set(m.Key, m.Value.Raw())
	}
	return f
}

// Raw returns the object.
func (f *Fields) Raw() Raw {
	size := 2
	for _, m := range f.members {
		size += len(m.key) + len(m.raw) + len(m.text) + len(m.text)/16 + 6
	}
	out := append(make([]byte, 0, size), '{')
	for i, m := range f.members {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(AppendQuote(out, m.key), ':')
		if m.raw == nil {
			out = AppendQuote(out, m.text)
		} else {
			out = append(out, m.raw...)
		}
	}
	return append(out, '}')
}

// List returns the list of items.
func List(items ...Raw) Raw {
	size := 2
	for _, item := range items {
		size += len(item) + 1
	}
	out := append(make([]byte, 0, size), '[')
	for i, item := range items {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, item...)
	}
	return append(out, ']')
}
