// Package report turns a verdict document into something to look at: one file a
// form. It reads the document only and knows no codec.
package report

import (
	"io"

	"github.com/toolconform/conform/suite/results"
)

// Form is one way to show a document.
type Form struct {
	Name  string // what --format calls it
	Ext   string // ending of the files that have it, with the dot
	Write func(io.Writer, results.Document, Options) error
}

// Forms is the table of the forms; the first is the default. To add one, write
// its file and its line here: flags, help and endings follow.
func Forms() []Form {
	return []Form{
		{"text", ".txt", writeText},
		{"json", ".json", writeJSON},
	}
}

// Options says how to lay a form for people out; the others pass it over.
type Options struct {
	Width int  // columns; 0 is 80
	Color bool // with colours
	Grid  bool // every cell, too
}
