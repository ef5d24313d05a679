package jsonx

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// node is one value, or one key of an object, of a document.
type node struct {
	start, end int32 // of its spelling
	next       int32 // the next sibling; 0 at the last
	size       int32 // elements of a list, members of an object
	kind       Kind
	escaped    bool // a string with a backslash
	wide       bool // a string that is not all ASCII
}

// document is one pass over a text: its values in their order. The first child
// of a list or an object is the node behind it; members are key, value.
type document struct {
	src   string
	nodes []node
	open  []level // room of the scanner
	lists *lists  // of a Reader: where Members and Items make their lists
}

// lists is the room of those lists; each list is the end of it.
type lists struct {
	members []Member
	items   []Value
}

// view reads bytes that nobody writes to any more as a string.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// bytesOf is the other way round. Capacity ends with the text, so appending to
// it never writes into what follows.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// indexed reads src, nil when it is not exactly one JSON value nested at most
// most levels.
func indexed(src string, most int) *document {
	const levels = 8
	d := &document{src: src, nodes: make([]node, 0, min(len(src)/24+4, 256)), open: make([]level, 0, levels)}
	if !d.read(most) {
		return nil
	}
	return d
}

func (d *document) read(most int) bool {
	s := scanner{src: bytesOf(d.src), most: most, doc: d, open: d.open[:0]}
	ok := s.document()
	d.open = s.open
	return ok
}

// wellFormed is indexed for who needs no values.
func wellFormed(b []byte, most int) bool {
	var room [32]level
	s := scanner{src: b, most: most, open: room[:0]}
	return s.document()
}

// scanner walks over a text once. Containers that are open stand in a list of
// its own and not on the stack of the program: depth costs bytes, not frames.
type scanner struct {
	src  []byte
	at   int
	most int
	doc  *document // nil: validate only
	open []level
}

// level is one open container.
type level struct {
	node, last, size int32 // last is its last child, the key of a member
	object           bool
}

func (s *scanner) add(n node) int32 {
	if s.doc == nil {
		return 0
	}
	if len(s.doc.nodes) == cap(s.doc.nodes) {
		s.grow()
	}
	s.doc.nodes = append(s.doc.nodes, n)
	return int32(len(s.doc.nodes) - 1)
}

// grow makes room for as many nodes as the rest of the text has when it is like
// what was read, at most four times those that are there: what follows may as well
// be one long text.
func (s *scanner) grow() {
	have := len(s.doc.nodes)
	rest := int(float64(have)/float64(s.at+1)*float64(len(s.src)-s.at)) + have/8 + 8
	s.doc.nodes = slices.Grow(s.doc.nodes, min(rest, 3*have+8))
}

// peek skips white space and returns the byte behind it, 0 at the end.
func (s *scanner) peek() byte {
	for ; s.at < len(s.src); s.at++ {
		switch c := s.src[s.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (s *scanner) document() bool {
	if len(s.src) > math.MaxInt32 {
		return false
	}
	for {
		if opened, ok := s.value(); !ok {
			return false
		} else if opened {
			continue
		}
		if more, ok := s.after(); !ok {
			return false
		} else if !more {
			return s.peek() == 0 && s.at == len(s.src)
		}
	}
}

// value reads a value or the start of a container; opened tells that a first
// element has to follow.
func (s *scanner) value() (opened, ok bool) {
	switch c := s.peek(); c {
	case '"':
		return false, s.str()
	case '{', '[':
		if len(s.open) >= s.most {
			return false, false
		}
		kind := Array
		if c == '{' {
			kind = Object
		}
		me := s.add(node{start: int32(s.at), kind: kind})
		s.at++
		s.open = append(s.open, level{node: me, object: c == '{'})
		if s.peek() == c+2 { // ']' and '}' stand two behind their opening
			return false, true
		}
		return true, s.member()
	case 't':
		return false, s.word("true", Bool)
	case 'f':
		return false, s.word("false", Bool)
	case 'n':
		return false, s.word("null", Null)
	default:
		return false, s.number()
	}
}

// member begins an element of the innermost container: its place among its
// siblings, and the key in an object.
func (s *scanner) member() bool {
	l := &s.open[len(s.open)-1]
	if s.doc != nil {
		here := int32(len(s.doc.nodes))
		if l.last > 0 {
			s.doc.nodes[l.last].next = here
		}
		l.last = here
	}
	l.size++
	if !l.object {
		return true
	}
	if s.peek() != '"' || !s.str() || s.peek() != ':' {
		return false
	}
	s.at++
	return true
}

// after reads what stands behind a value up to the next one; more is false when
// the outermost value is complete.
func (s *scanner) after() (more, ok bool) {
	for len(s.open) > 0 {
		l := &s.open[len(s.open)-1]
		closing := byte(']')
		if l.object {
			closing = '}'
		}
		switch s.peek() {
		case closing:
			s.at++
			if s.doc != nil {
				n := &s.doc.nodes[l.node]
				n.end, n.size = int32(s.at), l.size
			}
			s.open = s.open[:len(s.open)-1]
		case ',':
			s.at++
			return true, s.member()
		default:
			return false, false
		}
	}
	return false, true
}

func (s *scanner) word(w string, k Kind) bool {
	if len(s.src)-s.at < len(w) || string(s.src[s.at:s.at+len(w)]) != w {
		return false
	}
	s.add(node{start: int32(s.at), end: int32(s.at + len(w)), kind: k})
	s.at += len(w)
	return true
}

func (s *scanner) is(c byte) bool { return s.at < len(s.src) && s.src[s.at] == c }

func (s *scanner) digits() bool {
	from := s.at
	for s.at < len(s.src) && s.src[s.at] >= '0' && s.src[s.at] <= '9' {
		s.at++
	}
	return s.at > from
}

func (s *scanner) number() bool {
	from := s.at
	if s.is('-') {
		s.at++
	}
	if s.is('0') {
		s.at++
	} else if !s.digits() {
		return false
	}
	if s.is('.') {
		s.at++
		if !s.digits() {
			return false
		}
	}
	if s.is('e') || s.is('E') {
		s.at++
		if s.is('+') || s.is('-') {
			s.at++
		}
		if !s.digits() {
			return false
		}
	}
	s.add(node{start: int32(from), end: int32(s.at), kind: Number})
	return true
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// special marks the bytes of eight that end a run of a string: the quote, the
// backslash, control characters. The lowest mark is always right; one above it
// may be the borrow of a subtraction.
func special(w uint64) uint64 {
	quote, slash := w^(ones*'"'), w^(ones*'\\')
	return ((quote-ones)&^quote | (slash-ones)&^slash | (w-ones*0x20)&^w) & highs
}

// str reads a string, a key or a value.
func (s *scanner) str() bool {
	src, from, i := s.src, s.at, s.at+1
	var seen uint64 // high bits of its bytes
	escaped := false
	for {
		for i+8 <= len(src) {
			w := binary.LittleEndian.Uint64(src[i:])
			if m := special(w); m != 0 {
				run := bits.TrailingZeros64(m) &^ 7
				seen |= w & (1<<run - 1)
				i += run / 8
				break
			}
			seen |= w
			i += 8
		}
		if i >= len(src) {
			return false
		}
		switch c := src[i]; {
		case c == '"':
			s.add(node{start: int32(from), end: int32(i + 1), kind: String, escaped: escaped, wide: seen&highs != 0})
			s.at = i + 1
			return true
		case c == '\\':
			escaped = true
			n := escape(src[i:])
			if n == 0 {
				return false
			}
			i += n
		case c < 0x20:
			return false
		default:
			seen |= uint64(c)
			i++
		}
	}
}

// escape returns the length of the escape at the start of b, 0 when it is none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if hex(c) < 0 {
				return 0
			}
		}
		return 6
	}
	return 0
}

func hex(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}

// key is the text of a key. Bad UTF-8 stays, so that keys which differ in it
// stay two.
func (d *document) key(i int32) string {
	n := &d.nodes[i]
	in := d.src[n.start+1 : n.end-1]
	if !n.escaped {
		return in
	}
	return unescaped(in)
}

// text is the content of a string.
func (d *document) text(i int32) string {
	s := d.key(i)
	if n := &d.nodes[i]; !n.wide || utf8.ValidString(s) {
		return s // an escape never makes bad UTF-8
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

// unescaped resolves the escapes of a string that was validated. A surrogate
// without its other half becomes U+FFFD, and takes nothing with it.
func unescaped(in string) string {
	out := make([]byte, 0, len(in))
	for {
		at := strings.IndexByte(in, '\\')
		if at < 0 {
			return view(append(out, in...))
		}
		out = append(out, in[:at]...)
		c := in[at+1]
		in = in[at+2:]
		switch c {
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'n':
			out = append(out, '\n')
		case 'r':
			out = append(out, '\r')
		case 't':
			out = append(out, '\t')
		case 'u':
			r := rune4(in)
			in = in[4:]
			if r >= 0xD800 && r < 0xDC00 && strings.HasPrefix(in, `\u`) {
				if low := rune4(in[2:]); low >= 0xDC00 && low < 0xE000 {
					r = (r-0xD800)<<10 | (low - 0xDC00) + 0x10000
					in = in[6:]
				}
			}
			out = utf8.AppendRune(out, r)
		default:
			out = append(out, c)
		}
	}
}

func rune4(s string) (r rune) {
	for i := range 4 {
		r = r<<4 | hex(s[i])
	}
	return r
}
