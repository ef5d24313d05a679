package main

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
)

// corpus compares the decoding of all recorded replies of a dialect below a folder
// of recordings: those that are no stream, that succeeded, and that both sides read.
func corpus(dir string) ([]comparison, error) {
	bodies := map[codecs.Dialect][][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !cassettes.IsRecording(path) {
			return err
		}
		rec, err := cassettes.ReadRecording(path)
		if err != nil {
			return nil // no recording; conform verify names these
		}
		for _, x := range rec.Exchanges {
			d, b := codecs.Dialect(rec.Dialect), x.Response.Body
			if x.Response.Status/100 != 2 || x.Response.Streamed() || !slices.Contains(compared, d) {
				continue
			}
			if _, err := codecOf(d).Reply(b, codecs.Profile{}); err == nil && sdk(d, b, true) == nil && sdk(d, b, false) == nil {
				bodies[d] = append(bodies[d], b)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var out []comparison
	for _, d := range compared {
		list := bodies[d]
		if len(list) == 0 {
			continue
		}
		slices.SortFunc(list, func(a, b []byte) int { return len(a) - len(b) })
		name := fmt.Sprintf("recorded/%s: %d replies, median %d bytes", d, len(list), len(list[len(list)/2]))
		out = append(out, decode(name, d, goal{ratio: 4, bare: 2.5}, -1, list))
	}
	return out, nil
}
