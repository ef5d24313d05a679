package report

import (
	"bytes"
	"io"
	"strings"

	json2 "github.com/go-json-experiment/json"

	"github.com/toolconform/conform/suite/results"
)

// writeJSON writes the document as it is, as suite/results/schema.v2.json
// describes it.
func writeJSON(w io.Writer, doc results.Document, _ Options) error {
	raw, err := json2.Marshal(doc, json2.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = w.Write(append(laidOut(raw), '\n'))
	return err
}

// laidOut breaks compact JSON into lines: one a member of the document, one a
// column, row and cell. Documents are searched and compared by line, and
// indentation would make them several times larger.
func laidOut(raw []byte) []byte {
	var b bytes.Buffer
	var open []byte // the brackets around this place
	breaks := func() bool {
		n := len(open)
		return n == 1 || n > 1 && n <= 4 && open[n-1] == '['
	}
	quoted := false
	for i := 0; i < len(raw); i++ {
		c := raw[i]
		switch {
		case quoted && c == '\\':
			b.WriteByte(c)
			i++
			c = raw[i]
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			open = append(open, c)
		case c == '}' || c == ']':
			if breaks() {
				b.WriteString("\n" + strings.Repeat(" ", len(open)-1))
			}
			open = open[:len(open)-1]
		}
		b.WriteByte(c)
		if !quoted && (c == '{' || c == '[' || c == ',') && breaks() {
			b.WriteString("\n" + strings.Repeat(" ", len(open)))
		}
	}
	return b.Bytes()
}
