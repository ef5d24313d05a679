// Package bugreports runs collections of bug reports against the reference: one
// report a line, each with an operation, its input and the outcome that the
// reporter should have seen. The reports stay where they are; nothing of them is
// kept here.
//
// A report names only what matters about an outcome, so it is matched as a
// subset: see match.
package bugreports

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// Report is one line of a collection.
type Report struct {
	ID        string         `json:"id"`
	Dialect   string         `json:"dialect"`
	Engine    string         `json:"engine"`
	Class     string         `json:"class"`
	Operation string         `json:"operation"` // decode, stream, echo, encode, schema or loop
	Input     map[string]any `json:"input"`
	Expected  any            `json:"expected"`
	Policy    bool           `json:"policy"` // more than one outcome can be defended
}

// read reads a collection in JSON lines form. Numbers keep their spelling.
func read(r io.Reader) ([]Report, error) {
	var out []Report
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 16<<20)
	for n := 1; lines.Scan(); n++ {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var rep Report
		dec := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		dec.UseNumber()
		if err := dec.Decode(&rep); err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if rep.ID == "" || rep.Operation == "" {
			return nil, fmt.Errorf("line %d: a report needs id and operation", n)
		}
		out = append(out, rep)
	}
	return out, lines.Err()
}
