package engines

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/docs"
	"github.com/toolconform/conform/internal/files"
	"github.com/toolconform/conform/internal/lint"
	"github.com/toolconform/conform/internal/sources"
)

// Lint checks every embedded entry: against schema.json, as Load does, that its
// facts agree with what its profile makes the codec do, that it names the
// variable of its key, and that its sources can be opened.
func Lint() []lint.Problem {
	sub, err := fs.Sub(builtIn, "catalogue")
	if err != nil {
		return []lint.Problem{{File: "engines/catalogue", Text: err.Error()}}
	}
	return LintFS(sub)
}

// LintFS is Lint for the entries at the root of dir.
func LintFS(dir fs.FS) []lint.Problem {
	broken := func(err error) []lint.Problem { return []lint.Problem{{File: "engines", Text: err.Error()}} }
	schema, err := lint.Compile(builtIn, "schema.json")
	if err != nil {
		return broken(err)
	}
	pages, err := sources.Read(docs.FS())
	if err != nil {
		return broken(err)
	}
	names, err := fs.Glob(dir, "*.json")
	if err != nil {
		return broken(err)
	}
	var out []lint.Problem
	for _, name := range names {
		file := "engines/catalogue/" + name
		data, err := files.ReadFS(dir, name, mostEntry)
		if err != nil {
			out = append(out, lint.Problem{File: file, Text: err.Error()})
			continue
		}
		found := schema.Check(file, data)
		if len(found) == 0 {
			found = lintEntry(file, data, pages)
		}
		lint.Number(data, found)
		out = append(out, found...)
	}
	return out
}

func lintEntry(file string, data []byte, pages sources.Pages) (out []lint.Problem) {
	bad := func(pointer, format string, args ...any) {
		out = append(out, lint.Problem{File: file, Pointer: pointer, Text: fmt.Sprintf(format, args...)})
	}
	e, err := Parse(data)
	if err != nil {
		bad("", "%v", err)
		return out
	}
	if want := strings.TrimSuffix(file[strings.LastIndex(file, "/")+1:], ".json"); e.Name != want {
		bad("/name", "is %q, the file says %q", e.Name, want)
	}
	for _, o := range e.origins() {
		for _, f := range pages.Faults(o.origin) {
			bad(o.at+f.Pointer, "%s", f.Text)
		}
	}
	if e.Auth != "none" && len(e.Keys) == 0 {
		bad("/keys", "names no environment variable that may hold the key; give the provider's usual one")
	}
	e.agrees(bad)
	return out
}

// agrees holds the facts of an entry, for its default model, against its profile:
// what a report says of an engine is what the codec does for it.
func (e Engine) agrees(bad func(pointer, format string, args ...any)) {
	r, f := e.Resolve(""), e.Facts
	fact := func(name, value, profile string) {
		if value != Unknown && value != profile {
			bad("/facts/"+name, "the fact is %q, the effective profile %q", value, profile)
		}
	}
	if d := f.Dialect; d.Known() && d.Value != string(r.Dialect) {
		bad("/facts/dialect", "the fact is %q, the default model is reached in %q", d.Value, r.Dialect)
	}
	// An unknown answer must be met with the careful form.
	images, pdf := r.ResultMedia()
	for _, m := range [][3]string{{"result_images", f.ResultImages.Value, images}, {"result_pdf", f.ResultPDF.Value, pdf}} {
		fact(m[0], m[1], m[2])
		if m[1] == Unknown && m[2] != codecs.MediaPlaceholder {
			bad("/facts/"+m[0], "is unknown, and the profile sends %s", m[2])
		}
	}
	echo := r.Profile.ReasoningEcho
	switch {
	case echo != "" && f.ReasoningEcho.Value != echo:
		bad("/facts/reasoning_echo", "the fact is %q, the profile %q", f.ReasoningEcho.Value, echo)
	case echo == "" && slices.Contains([]string{codecs.EchoRefused, codecs.EchoRequiredEvenEmpty, codecs.EchoIgnored}, f.ReasoningEcho.Value):
		bad("/facts/reasoning_echo", "the fact is %q, and the profile does nothing about it", f.ReasoningEcho.Value)
	}
	fact("tool_choice", f.ToolChoice.Value, r.said()["tool_choice"])
	if f.ToolChoice.Value == Unknown && r.Profile.ToolChoice != nil {
		bad("/facts/tool_choice", "is unknown, and the profile limits it to %q", r.Profile.ToolChoice)
	}
	if (f.IDs.Value == "mistral9") != (r.Profile.IDRule == "mistral9") {
		bad("/facts/ids", "the fact is %q, the profile %q", f.IDs.Value, r.Profile.IDRule)
	}
	if s := e.Profile.ServerTools; s != "" {
		bad("/profile/server_tools", "the fact says it; leave it out of the profile")
	}
	if fields := r.Profile.ReasoningFields; len(fields) > 0 && f.ReasoningField.Value != "content" &&
		!slices.Contains(strings.Fields(f.ReasoningField.Value), fields[0]) {
		bad("/facts/reasoning_field", "the fact is %q, the profile reads %q first", f.ReasoningField.Value, fields[0])
	}
}

// LintProfile checks the profile of a case, or of a file of its own, against the
// same schema as those of the catalogue.
func LintProfile(profile []byte) []lint.Problem {
	schema, err := lint.Compile(builtIn, "schema.json#/$defs/profile")
	if err != nil {
		return []lint.Problem{{Text: err.Error()}}
	}
	return schema.Check("", profile)
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
		if f.Fact.Known() {
			out = append(out, placed{"/facts/" + f.Name + "/origin", f.Fact.Origin})
		}
	}
	if e.Likeness != nil {
		out = append(out, placed{"/likeness/origin", e.Likeness.Origin})
	}
	for i, n := range e.Notes {
		out = append(out, placed{fmt.Sprintf("/notes/%d/origin", i), n.Origin})
	}
	for i, m := range e.Models {
		if m.Likeness != nil {
			out = append(out, placed{fmt.Sprintf("/models/%d/likeness/origin", i), m.Likeness.Origin})
		}
		if m.Note != nil {
			out = append(out, placed{fmt.Sprintf("/models/%d/note/origin", i), m.Note.Origin})
		}
	}
	return out
}
