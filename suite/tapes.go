package suite

import (
	"io/fs"

	"github.com/toolconform/conform/cassettes"
)

// Tapes is a collection of tapes with its index.
type Tapes struct {
	FS    fs.FS
	Index cassettes.Index
}

// LoadTapes reads the index of fsys, which has the layout of cassettes.FS.
func LoadTapes(fsys fs.FS) (*Tapes, error) {
	ix, err := cassettes.LoadIndex(fsys)
	if err != nil {
		return nil, err
	}
	return &Tapes{FS: fsys, Index: ix}, nil
}

// Find returns the tape of a scenario at an engine. A nil collection has none.
func (t *Tapes) Find(engine, scenario string) (cassettes.Entry, bool) {
	if t == nil {
		return cassettes.Entry{}, false
	}
	list := t.Index.Of(engine, scenario)
	if len(list) == 0 {
		return cassettes.Entry{}, false
	}
	return list[0], true
}
