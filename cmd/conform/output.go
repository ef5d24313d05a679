package main

import (
	"bytes"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"
)

// guarded is standard output. It keeps the first error of writing, since a
// report that did not arrive must not look like one that did, and in text it
// shows control characters instead of passing them on: data of strangers must
// not steer the terminal. A rune or a colour that a write cuts is kept for the
// next one; flush writes what never ended.
type guarded struct {
	w    io.Writer
	rest []byte
	err  error
}

func (g *guarded) Write(p []byte) (int, error) {
	n := len(p)
	if len(g.rest) > 0 {
		p = append(g.rest, p...)
	}
	whole := len(p) - unfinished(p)
	g.rest = append([]byte(nil), p[whole:]...)
	g.pass(visible(p[:whole]))
	if g.err != nil {
		return 0, g.err
	}
	return n, nil
}

// json writes a JSON text as it is.
func (g *guarded) json(p []byte) error {
	g.flush()
	g.pass(p)
	return g.err
}

func (g *guarded) flush() {
	g.pass(visible(g.rest))
	g.rest = nil
}

func (g *guarded) pass(p []byte) {
	if g.err == nil && len(p) > 0 {
		_, g.err = g.w.Write(p)
	}
}

// unfinished counts the bytes at the end of p that may be the beginning of a
// rune or of a colour.
func unfinished(p []byte) int {
	tail := p[max(len(p)-longestColour+1, 0):]
	if i := bytes.LastIndexByte(tail, '\x1b'); i >= 0 && colourStart.Match(tail[i:]) {
		return len(tail) - i
	}
	for n := 1; n < utf8.UTFMax && n <= len(p); n++ {
		if last := p[len(p)-n:]; utf8.RuneStart(last[0]) {
			if utf8.FullRune(last) {
				return 0
			}
			return n
		}
	}
	return 0
}

// visible spells control characters other than newline and tab, C1 and DEL
// included, as escapes. Colours of our own pass: an escape character is let
// through only as the start of a colour sequence.
func visible(p []byte) []byte {
	if bytes.IndexFunc(p, control) < 0 && utf8.Valid(p) {
		return p
	}
	var b bytes.Buffer
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		switch {
		case r == '\x1b' && colour.Match(p[i:min(len(p), i+longestColour)]):
			b.WriteByte(p[i])
		case r == utf8.RuneError && n == 1:
			b.WriteString("\uFFFD")
		case control(r):
			b.WriteString(escaped(r))
		default:
			b.Write(p[i : i+n])
		}
		i += n
	}
	return b.Bytes()
}

// A sequence that only sets colours is ESC [ digits and semicolons m.
const longestColour = 32

var (
	colour      = regexp.MustCompile(`^\x1b\[[0-9;]*m`)
	colourStart = regexp.MustCompile(`^\x1b(\[[0-9;]*)?$`)
)

func control(r rune) bool {
	return r < ' ' && r != '\n' && r != '\t' || r == 0x7f || r >= 0x80 && r <= 0x9f
}

const hex = "0123456789abcdef"

func escaped(r rune) string {
	return `\u00` + string(hex[r>>4&15]) + string(hex[r&15])
}

// oneLine makes a text of an error fit one line: what came from outside may hold
// line breaks, and would look like lines of our own.
func oneLine(s string) string {
	const most = 2000
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	s = strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\n", `\n`)
	return string(visible([]byte(strings.ReplaceAll(s, "\x1b", `\u001b`))))
}

// clean is oneLine for names inside text output, such as those of files.
func clean(s string) string { return oneLine(strings.ReplaceAll(s, "\t", `\t`)) }

// safeJSON keeps a JSON text the same value and makes it safe to look at:
// DEL and the C1 characters, which JSON allows raw, are written as escapes. valid
// replaces bytes that are no UTF-8, for output that is no echo.
func safeJSON(raw []byte, valid bool) []byte {
	if valid && !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if bytes.IndexFunc(raw, func(r rune) bool { return r == 0x7f || r >= 0x80 && r <= 0x9f }) < 0 {
		return raw
	}
	var b bytes.Buffer
	for i := 0; i < len(raw); {
		r, n := utf8.DecodeRune(raw[i:])
		if n > 0 && (r == 0x7f || r >= 0x80 && r <= 0x9f) {
			b.WriteString(escaped(r))
		} else {
			b.Write(raw[i : i+n])
		}
		i += n
	}
	return b.Bytes()
}
