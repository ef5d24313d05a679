package wire

// ValueEnd tells, piece by piece, whether a text may be one whole JSON value: by
// quotes and brackets alone, so that a text which grows in many pieces is not read
// again with each of them.
type ValueEnd struct {
	depth, size    int
	first          byte
	quoted, escape bool
	refused        bool
}

// mostScalar is the size up to which a text that is neither string nor container
// may still become a value.
const mostScalar = 64

// Add takes the next piece.
func (e *ValueEnd) Add(text string) {
	for i := range len(text) {
		c := text[i]
		if e.first == 0 && c != ' ' && c != '\t' && c != '\r' && c != '\n' {
			e.first = c
		}
		switch {
		case e.escape:
			e.escape = false
		case e.quoted:
			e.escape, e.quoted = c == '\\', c != '"'
		case c == '"':
			e.quoted = true
		case c == '{' || c == '[':
			e.depth++
		case c == '}' || c == ']':
			e.depth--
		}
	}
	e.size += len(text)
}

// Maybe tells whether the text so far may be a value; only then it is worth
// reading.
func (e *ValueEnd) Maybe() bool { return e.first != 0 && !e.quoted && e.depth <= 0 && !e.refused }

// Refused notes that the text so far was read and is none. What has closed and is
// no value never becomes one; a number or a word may yet.
func (e *ValueEnd) Refused() {
	e.refused = e.first == '{' || e.first == '[' || e.first == '"' || e.size > mostScalar
}
