package engines

import (
	"io/fs"
	"reflect"
	"strings"

	"github.com/toolconform/conform/codecs"
)

// Files returns the catalogue's files by name.
func Files() (map[string][]byte, error) {
	out := map[string][]byte{}
	names, err := fs.Glob(builtIn, "catalogue/*.json")
	for _, n := range names {
		if out[n], err = fs.ReadFile(builtIn, n); err != nil {
			return nil, err
		}
	}
	return out, err
}

// Schema returns the JSON Schema of a catalogue entry.
func Schema() ([]byte, error) { return fs.ReadFile(builtIn, "schema.json") }

// ProfileKeys lists the JSON keys of a profile.
func ProfileKeys() []string {
	t := reflect.TypeOf(codecs.Profile{})
	var out []string
	for i := range t.NumField() {
		key, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		out = append(out, key)
	}
	return out
}

// Matches exposes the glob of model rules.
var Matches = matches
