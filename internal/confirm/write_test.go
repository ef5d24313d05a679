package confirm

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/sources"
)

// write puts the figures into the catalogue files <dir>/<engine>.json: every
// other byte of a file stays, apart from white space. A fact without a figure
// loses the one that it had. It returns the names of the files that changed.
func write(dir string, counted counts) ([]string, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no catalogue files in %s", dir)
	}
	slices.Sort(names)
	var changed []string
	for _, name := range names {
		old, err := os.ReadFile(name)
		if err != nil {
			return changed, err
		}
		e, err := engines.Parse(old)
		if err != nil {
			return changed, fmt.Errorf("%s: %w", name, err)
		}
		text, err := update(old, counted[e.Name])
		if err != nil {
			return changed, fmt.Errorf("%s: %w", name, err)
		}
		if string(text) == string(old) {
			continue
		}
		if err := os.WriteFile(name, text, 0o644); err != nil {
			return changed, err
		}
		changed = append(changed, filepath.Base(name))
	}
	return changed, nil
}

// update returns one catalogue entry with the figures, laid out two blanks a
// level with a line end after it.
func update(entry []byte, figures map[string]sources.Confirmed) ([]byte, error) {
	root, err := jsonx.Parse(entry)
	if err != nil {
		return nil, err
	}
	for _, fact := range root.Get("facts").Members() {
		at := "/facts/" + jsonx.Token(fact.Key) + "/origin/confirmed_by"
		if f, ok := figures[fact.Key]; ok && f.Count > 0 {
			value := new(jsonx.Fields).Int("count", int64(f.Count)).Str("repository", f.Repository).Str("path", f.Path).Str("commit", f.Commit).Raw()
			if entry, err = jsonx.Set(entry, at, value); err != nil {
				return nil, err
			}
		} else if fact.Value.Path("origin", "confirmed_by").Exists() {
			if entry, err = jsonx.Delete(entry, at); err != nil {
				return nil, err
			}
		}
	}
	out, err := jsonx.Indent(entry)
	if err != nil {
		return nil, err
	}
	return append(out, '\n'), nil
}
