// Package jsonx reads, compares and edits JSON without changing what it does
// not touch: key order, number spelling and string escapes stay as they came.
//
// index.go reads: one pass validates a text and notes where its values are; each
// is a piece of that text, and a string is unescaped when somebody asks for it.
//
// It is the only importer of sjson, which misbehaves on invalid input and on
// user-made keys: every edit validates first and addresses values by RFC 6901
// JSON pointers.
package jsonx

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strings"
	"unicode/utf8"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Raw is one JSON value in its wire spelling.
type Raw = json.RawMessage

// SyntaxError tells where a text stops being JSON.
type SyntaxError struct {
	Offset  int64  // byte offset of the fault
	Pointer string // JSON pointer of the value that holds it; "" is the root
	Reason  string // what is wrong, without a position
}

func (e *SyntaxError) Error() string {
	if e.Pointer == "" {
		return fmt.Sprintf("%s at byte %d", e.Reason, e.Offset)
	}
	return fmt.Sprintf("%s at byte %d (in %s)", e.Reason, e.Offset, shortened(e.Pointer))
}

// shortened keeps the end of a long pointer: the place, not the way there.
func shortened(pointer string) string {
	const most = 120
	if len(pointer) <= most {
		return pointer
	}
	return "..." + strings.ToValidUTF8(pointer[len(pointer)-most:], "")
}

// lenient accepts what real providers send: repeated keys (the last one wins)
// and lone surrogates or bad UTF-8 (read as U+FFFD; the raw bytes stay).
var lenient = json2.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// MaxDepth is how deep JSON that comes from outside may nest. The parser's own
// limit is 10,000: a value that was let in can still be wrapped on its way out.
const MaxDepth = 5000

// Check reports whether b is exactly one JSON value, with optional white space
// around it, nested at most MaxDepth levels. The error is a *SyntaxError.
func Check(b []byte) error {
	if wellFormed(b, MaxDepth) {
		return nil
	}
	return fault(b)
}

// fault finds the place at which b stops being JSON. It is a second reader, for
// its words: index.go only tells whether.
func fault(b []byte) error {
	if len(b) > math.MaxInt32 {
		return &SyntaxError{Offset: math.MaxInt32, Reason: "longer than 2 GiB"}
	}
	if at := tooDeep(b, MaxDepth); at >= 0 {
		return &SyntaxError{Offset: int64(at), Reason: fmt.Sprintf("nested deeper than %d levels", MaxDepth)}
	}
	if err := check(b); err != nil {
		return err
	}
	return &SyntaxError{Reason: "invalid JSON"}
}

// tooDeep returns where brackets outside strings nest deeper than most levels,
// -1 when they do not.
func tooDeep(b []byte, most int) int {
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case inString:
		case c == '[' || c == '{':
			if depth++; depth > most {
				return i
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return -1
}

func check(b []byte) error {
	if len(bytes.TrimSpace(b)) == 0 {
		return &SyntaxError{Reason: "empty input"}
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(b), lenient)
	if err := d.SkipValue(); err != nil {
		return syntaxError(err, d, len(b))
	}
	end := d.InputOffset()
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		rest := b[end:]
		at := end + int64(len(rest)-len(bytes.TrimLeft(rest, " \t\r\n")))
		return &SyntaxError{Offset: at, Reason: "text after the JSON value"}
	}
	return nil
}

func syntaxError(err error, d *jsontext.Decoder, size int) error {
	var se *jsontext.SyntacticError
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return &SyntaxError{Offset: int64(size), Pointer: string(d.StackPointer()), Reason: "unexpected end of JSON"}
	}
	if errors.As(err, &se) {
		reason := "invalid JSON"
		if se.Err != nil {
			reason = se.Err.Error()
		}
		return &SyntaxError{Offset: se.ByteOffset, Pointer: string(se.JSONPointer), Reason: reason}
	}
	return &SyntaxError{Offset: d.InputOffset(), Reason: err.Error()}
}

// Parse validates b and returns its root.
// It keeps a copy of its own: b may be used again, as buffers
// of streams are, and values stay what they were.
func Parse(b []byte) (Value, error) { return ParseText(string(b)) }

// ParseText is Parse for a text, which needs no copy.
func ParseText(s string) (Value, error) {
	if d := indexed(s, MaxDepth); d != nil {
		return Value{d: d}, nil
	}
	return Value{}, fault(bytesOf(s))
}

// A Reader reads the frames of a stream, one after the other, into the same room:
// the values of one are gone when the next is read, the texts that they gave are
// not. The zero Reader is ready; it is for one goroutine.
type Reader struct{ d document }

// Parse is that of the package.
func (r *Reader) Parse(b []byte) (Value, error) {
	if r.d.lists == nil {
		r.d.lists = &lists{}
	}
	r.d.src, r.d.nodes = string(b), r.d.nodes[:0]
	r.d.lists.members, r.d.lists.items = r.d.lists.members[:0], r.d.lists.items[:0]
	if r.d.read(MaxDepth) {
		return Value{d: &r.d}, nil
	}
	return Value{}, fault(b)
}

// IsObjectText tells whether s is one JSON object.
func IsObjectText(s string) bool {
	b := bytesOf(s)
	t := bytes.TrimLeft(b, " \t\r\n")
	return len(t) > 0 && t[0] == '{' && wellFormed(b, MaxDepth)
}

// Quote returns s as a JSON string. Only what JSON demands is escaped; bad
// UTF-8 becomes U+FFFD.
func Quote(s string) Raw { return AppendQuote(make([]byte, 0, len(s)+2), s) }

// AppendQuote adds s to dst as Quote spells it.
func AppendQuote(dst []byte, s string) []byte {
	wide := false
	dst = append(dst, '"')
	from := len(dst)
	rest := bytesOf(s)
	for {
		run, w := verbatim(rest)
		wide = wide || w
		dst = append(dst, rest[:run]...)
		if run == len(rest) {
			break
		}
		dst = appendEscape(dst, rest[run])
		rest = rest[run+1:]
	}
	if wide && !utf8.ValidString(s) {
		dst, _ = jsontext.AppendQuote(dst[:from-1], s) // the error only reports bad UTF-8, which was replaced
		return dst
	}
	return append(dst, '"')
}

// verbatim returns how many bytes at the start of b need no escape, and whether
// they are not all ASCII.
func verbatim(b []byte) (n int, wide bool) {
	for n+8 <= len(b) {
		w := binary.LittleEndian.Uint64(b[n:])
		if m := special(w); m != 0 {
			run := bits.TrailingZeros64(m) &^ 7
			return n + run/8, wide || w&(1<<run-1)&highs != 0
		}
		wide = wide || w&highs != 0
		n += 8
	}
	for ; n < len(b) && b[n] != '"' && b[n] != '\\' && b[n] >= 0x20; n++ {
		wide = wide || b[n] >= utf8.RuneSelf
	}
	return n, wide
}

func appendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}

// Compact returns b without insignificant white space. The spelling of strings
// and numbers stays.
func Compact(b []byte) (Raw, error) {
	if err := check(b); err != nil {
		return nil, err
	}
	out, err := jsontext.AppendFormat(nil, b, lenient, jsontext.PreserveRawStrings(true))
	return Raw(out), err
}

// Indent returns b laid out for people, two blanks a level. What nests deeper
// than a person can follow is compact instead: the indentation of deep JSON is
// the square of its depth.
func Indent(b []byte) (Raw, error) {
	if tooDeep(b, 200) >= 0 {
		return Compact(b)
	}
	if err := check(b); err != nil {
		return nil, err
	}
	out, err := jsontext.AppendFormat(nil, b, lenient, jsontext.PreserveRawStrings(true),
		jsontext.Multiline(true), jsontext.WithIndent("  "))
	return Raw(out), err
}

// Canonical returns b compact, with sorted keys and one spelling for each
// string. Numbers keep their tokens: 1.0 and 1 differ, and so do two integers
// that a float64 could not tell apart. Of a repeated key the last value stays.
func Canonical(b []byte) (Raw, error) {
	v, err := Parse(b)
	if err != nil {
		return nil, err
	}
	return appendCanonical(nil, v), nil
}

// Equal tells whether a and b are the same JSON value: key order free, lists
// ordered, numbers compared as tokens. Invalid JSON equals nothing.
func Equal(a, b []byte) bool {
	ca, errA := Canonical(a)
	cb, errB := Canonical(b)
	return errA == nil && errB == nil && bytes.Equal(ca, cb)
}

// Marshal encodes v. The same value always gives the same bytes.
func Marshal(v any) (Raw, error) {
	out, err := json2.Marshal(v, json2.Deterministic(true))
	return Raw(out), err
}
