package report

import (
	"io"

	json2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/toolconform/conform/suite/results"
)

// writeJSON writes the document as it is, as suite/results/schema.v1.json
// describes it.
func writeJSON(w io.Writer, doc results.Document) error {
	if err := json2.MarshalWrite(w, doc, json2.Deterministic(true), jsontext.Multiline(true), jsontext.WithIndent("  ")); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}
