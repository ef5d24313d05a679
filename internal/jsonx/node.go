package jsonx

import (
	"slices"
	"unicode/utf8"
)

// Node is one value of a document that is put together piece by piece, as a
// stream tells it. The zero Node is absent. It copies what it is given. A text
// keeps the spelling of its pieces, so that a surrogate pair whose halves come
// apart is whole again.
type Node struct {
	kind    Kind
	raw     []byte // Null, Bool, Number: the value; String: its characters as spelled, without the quotes; Array, Object: the value, while nothing in it has grown
	opened  bool   // Array, Object: the members or items are what counts, and no longer raw
	keys    []string
	members []*Node // of keys, or the items of a list
	index   map[string]int
}

// Kind returns the JSON type of what is there so far.
func (n *Node) Kind() Kind { return n.kind }

// Set makes n the value v. An absent v changes nothing.
func (n *Node) Set(v Value) {
	if !v.Exists() {
		return
	}
	raw := v.Raw()
	kind := v.Kind()
	if kind == String {
		raw = raw[1 : len(raw)-1]
	}
	*n = Node{kind: kind, raw: append(n.raw[:0], raw...)}
}

// Fill is Set, but for a null, which takes nothing away that is there.
func (n *Node) Fill(v Value) {
	if v.Defined() || n.kind == Absent {
		n.Set(v)
	}
}

// SetStr makes n the string s.
func (n *Node) SetStr(s string) { n.Set(Of(Quote(s))) }

// Append adds the string v at the end of the string n. A value that is no string
// replaces what is there, null only what is absent.
func (n *Node) Append(v Value) {
	switch kind := v.Kind(); {
	case kind == Absent || kind == Null && n.kind != Absent:
	case kind == String && n.kind == String:
		raw := v.Raw()
		n.raw = append(n.raw, raw[1:len(raw)-1]...)
	default:
		n.Set(v)
	}
}

// Text returns the content of a string, "" of every other kind.
func (n *Node) Text() string {
	if n == nil || n.kind != String {
		return ""
	}
	return Of(n.Raw()).Str()
}

// Size returns how many bytes the spelling of a string has, without its quotes.
func (n *Node) Size() int {
	if n.kind != String {
		return 0
	}
	return len(n.raw)
}

// open makes n a container of that kind whose content can grow. What n was
// before stays when it was one.
func (n *Node) open(kind Kind) {
	if n.kind == kind && n.opened {
		return
	}
	raw := n.raw
	was := n.kind
	*n = Node{kind: kind, opened: true}
	if was != kind {
		return
	}
	if kind == Array {
		for _, v := range Of(raw).Items() {
			n.Add().Set(v)
		}
		return
	}
	for _, m := range Of(raw).Members() {
		n.Member(m.Key).Set(m.Value)
	}
}

// Member returns the member called key, absent but writable when there was none.
// A node that is no object becomes an empty one.
func (n *Node) Member(key string) *Node {
	n.open(Object)
	if m := n.find(key); m != nil {
		return m
	}
	const few = 12
	n.keys, n.members = append(n.keys, key), append(n.members, &Node{})
	switch {
	case n.index != nil:
		n.index[key] = len(n.keys) - 1
	case len(n.keys) > few:
		n.index = make(map[string]int, 2*few)
		for i, k := range n.keys {
			n.index[k] = i
		}
	}
	return n.members[len(n.members)-1]
}

func (n *Node) find(key string) *Node {
	if n.index != nil {
		if i, ok := n.index[key]; ok {
			return n.members[i]
		}
		return nil
	}
	if i := slices.Index(n.keys, key); i >= 0 {
		return n.members[i]
	}
	return nil
}

// Get returns the member called key for reading, nil when there is none.
func (n *Node) Get(key string) *Node {
	if n.kind != Object {
		return nil
	}
	n.open(Object)
	if m := n.find(key); m != nil && m.kind != Absent {
		return m
	}
	return nil
}

// Items returns the elements of a list; they can grow.
func (n *Node) Items() []*Node {
	if n.kind != Array {
		return nil
	}
	n.open(Array)
	return n.members
}

// Add returns a new element at the end of a list. A node that is no list becomes
// an empty one.
func (n *Node) Add() *Node {
	n.open(Array)
	n.members = append(n.members, &Node{})
	return n.members[len(n.members)-1]
}

// Drop makes n absent.
func (n *Node) Drop() { *n = Node{} }

// Raw returns the value, nil when absent. Absent members and elements are left
// out.
func (n *Node) Raw() Raw {
	if n == nil || n.kind == Absent {
		return nil
	}
	return n.write(nil)
}

func (n *Node) write(dst []byte) []byte {
	switch {
	case n.kind == String:
		return append(appendText(append(dst, '"'), n.raw), '"')
	case n.kind != Array && n.kind != Object, !n.opened:
		return append(dst, n.raw...)
	}
	open, end := byte('{'), byte('}')
	if n.kind == Array {
		open, end = '[', ']'
	}
	dst = append(dst, open)
	first := true
	for i, m := range n.members {
		if m.kind == Absent {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		if n.kind == Object {
			dst = append(append(dst, Quote(n.keys[i])...), ':')
		}
		dst = m.write(dst)
	}
	return append(dst, end)
}

// appendText adds the characters of a string. Each piece was valid JSON; bad
// UTF-8 in it, which is let in, reads as U+FFFD.
func appendText(dst, text []byte) []byte {
	if utf8.Valid(text) {
		return append(dst, text...)
	}
	for len(text) > 0 {
		r, size := utf8.DecodeRune(text)
		dst = utf8.AppendRune(dst, r)
		text = text[size:]
	}
	return dst
}
