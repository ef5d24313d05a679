// Package report turns a verdict document into something to look at: one file a
// form. It reads the document only and knows no codec.
package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/toolconform/conform/suite/results"
)

// Options says how to lay a report out.
type Options struct {
	Format string // text, json
	Width  int    // columns of the text form; 0 is 100
	Color  bool   // text form with colours
	Unfold bool   // text form: show every row, also those that stand for another
}

// Formats lists the forms.
func Formats() []string { return []string{"text", "json"} }

// Write writes the document in the form that o names.
func Write(w io.Writer, doc results.Document, o Options) error {
	switch o.Format {
	case "", "text":
		return writeText(w, doc, o)
	case "json":
		return writeJSON(w, doc, o)
	}
	return fmt.Errorf("unknown format %q; the formats are %s", o.Format, strings.Join(Formats(), ", "))
}
