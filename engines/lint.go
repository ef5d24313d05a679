package engines

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/toolconform/conform/docs"
	"github.com/toolconform/conform/internal/sources"
)

// Lint checks every embedded entry against schema.json and then as Load does,
// and returns one line for each fault, with file and place.
func Lint() []string {
	sub, err := fs.Sub(files, "catalogue")
	if err != nil {
		return []string{err.Error()}
	}
	return LintFS(sub)
}

// LintFS is Lint for the entries at the root of dir.
func LintFS(dir fs.FS) []string {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return []string{"schema.json: " + err.Error()}
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", doc); err != nil {
		return []string{"schema.json: " + err.Error()}
	}
	s, err := c.Compile("schema.json")
	if err != nil {
		return []string{"schema.json: " + err.Error()}
	}
	names, err := fs.Glob(dir, "*.json")
	if err != nil {
		return []string{err.Error()}
	}
	var out []string
	for _, name := range names {
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			out = append(out, err.Error())
			continue
		}
		entry, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err == nil {
			err = s.Validate(entry)
		}
		if err != nil {
			out = append(out, fmt.Sprintf("engines/catalogue/%s: %s", path.Base(name), faults(err)))
		}
	}
	if len(out) > 0 {
		return out
	}
	catalog, err := LoadFS(dir)
	if err != nil {
		return append(out, err.Error())
	}
	pages, err := sources.Read(docs.FS())
	if err != nil {
		return append(out, err.Error())
	}
	for _, e := range catalog.All() {
		for _, o := range e.origins() {
			for _, f := range pages.Faults(o.origin) {
				out = append(out, fmt.Sprintf("engines/catalogue/%s.json: %s%s: %s", e.Name, o.at, f.Pointer, f.Text))
			}
		}
	}
	return out
}

// placed is an origin and where it stands in an entry.
type placed struct {
	at     string
	origin Origin
}

// origins lists where the statements of an entry come from. A fact whose value is
// unknown has none.
func (e Engine) origins() []placed {
	var out []placed
	for _, f := range e.Facts.List() {
		if f.Fact.Value != "unknown" {
			out = append(out, placed{"/facts/" + f.Name + "/origin", f.Fact.Origin})
		}
	}
	for i, n := range e.Notes {
		out = append(out, placed{fmt.Sprintf("/notes/%d/origin", i), n.Origin})
	}
	for i, m := range e.Models {
		if m.Note != nil {
			out = append(out, placed{fmt.Sprintf("/models/%d/note/origin", i), m.Note.Origin})
		}
	}
	return out
}

// faults lists the places of a validation error without the library's first
// line, which names an address that does not exist.
func faults(err error) string {
	_, rest, found := strings.Cut(err.Error(), "\n")
	if !found {
		return err.Error()
	}
	return strings.TrimPrefix(strings.ReplaceAll(rest, "\n", "; "), "- ")
}
