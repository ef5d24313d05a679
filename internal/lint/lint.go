// Package lint finds faults of JSON files and says them so that their author can
// mend them: file, line, place, what is wrong, and which word was probably meant.
package lint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/secrets"
	"github.com/toolconform/conform/internal/suggest"
)

// Problem is a fault of a file.
type Problem struct {
	File    string
	Line    int    // 0 is not known
	Pointer string // JSON pointer; "" is the whole file
	Text    string
}

func (p Problem) String() string {
	out := p.File
	if p.Line > 0 {
		out += fmt.Sprintf(":%d", p.Line)
	}
	if p.Pointer != "" {
		out += ": " + p.Pointer
	}
	return out + ": " + p.Text
}

// Number finds the lines of problems of one file by their pointers; those that
// have a line, or whose place does not exist, stay as they are.
func Number(data []byte, problems []Problem) {
	wanted, depth := map[string][]int{}, 0
	for i, p := range problems {
		if p.Line == 0 && p.Pointer != "" {
			wanted[p.Pointer] = append(wanted[p.Pointer], i)
			depth = max(depth, strings.Count(p.Pointer, "/"))
		}
	}
	dec := jsontext.NewDecoder(bytes.NewReader(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	line, at := 1, int64(0)
	for len(wanted) > 0 {
		if _, err := dec.ReadToken(); err != nil {
			return
		}
		// The pointer of a deep place is long, and nobody asked for one.
		if dec.StackDepth() > depth+1 {
			continue
		}
		pointer := string(dec.StackPointer())
		for _, i := range wanted[pointer] {
			end := dec.InputOffset()
			line, at = line+bytes.Count(data[at:end], []byte("\n")), end
			problems[i].Line = line
		}
		delete(wanted, pointer)
	}
}

// Secrets finds texts that look like a secret or a path of somebody's machine.
func Secrets(file string, data []byte) []Problem {
	found := append(secrets.Find(data), secrets.FindPaths(data)...)
	slices.SortStableFunc(found, func(a, b secrets.Finding) int { return a.Offset - b.Offset })
	var out []Problem
	line, at := 1, 0
	for _, f := range found {
		line, at = line+bytes.Count(data[at:f.Offset], []byte("\n")), f.Offset
		out = append(out, Problem{File: file, Line: line, Text: "looks like " + f.What})
	}
	return out
}

// Schema is a JSON Schema, compiled.
type Schema struct {
	schema *jsonschema.Schema
	keys   []string // that it names anywhere
}

// Compile reads the schema in a file, or the part of it that a fragment such as
// "#/$defs/profile" behind the name tells. It may refer to no other document.
func Compile(fsys fs.FS, name string) (*Schema, error) {
	file, _, _ := strings.Cut(name, "#")
	data, err := fs.ReadFile(fsys, file)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertContent()
	c.UseLoader(noLoader{})
	if err := c.AddResource(file, doc); err != nil {
		return nil, err
	}
	s := &Schema{}
	s.named(doc)
	s.schema, err = c.Compile(name)
	return s, err
}

// noLoader loads nothing, neither files nor what is on the net.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is no part of the schema", url)
}

// named collects the keys of every "properties" of a schema.
func (s *Schema) named(v any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			s.named(item)
		}
	case map[string]any:
		for key, item := range v {
			if properties, ok := item.(map[string]any); ok && key == "properties" {
				for name := range properties {
					s.keys = append(s.keys, name)
				}
			}
			s.named(item)
		}
	}
	slices.Sort(s.keys)
	s.keys = slices.Compact(s.keys)
}

// Check lists what is wrong with a document, each fault once.
func (s *Schema) Check(file string, data []byte) []Problem {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err == nil {
		err = s.schema.Validate(doc)
	}
	var ve *jsonschema.ValidationError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &ve):
		return []Problem{{File: file, Text: err.Error()}}
	}
	var out []Problem
	told := map[Problem]bool{}
	for _, p := range s.faults(ve) {
		p.File = file
		if !told[p] {
			out, told[p] = append(out, p), true
		}
	}
	return out
}

// faults reports the innermost faults; what holds them only repeats them. Where
// one of several forms would do, that is one fault.
func (s *Schema) faults(ve *jsonschema.ValidationError) []Problem {
	at := ""
	for _, token := range ve.InstanceLocation {
		at += "/" + jsonx.Token(token)
	}
	one := func(format string, args ...any) []Problem {
		return []Problem{{Pointer: at, Text: fmt.Sprintf(format, args...)}}
	}
	switch k := ve.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		if one, ok := k.(*kind.OneOf); ok && len(one.Subschemas) > 0 {
			return []Problem{{Pointer: at, Text: "fits more than one of the forms that exclude each other"}}
		}
		return []Problem{{Pointer: at, Text: s.forms(at, ve.Causes)}}
	case *kind.Enum:
		got, isText := k.Got.(string)
		var names, want []string
		for _, v := range k.Want {
			if name, ok := v.(string); ok {
				names = append(names, name)
			}
			raw, _ := json.Marshal(v)
			want = append(want, string(raw))
		}
		hint := ""
		if isText {
			hint = suggest.Text(bounded(got), names)
		}
		raw, _ := json.Marshal(k.Got)
		return one("%s is none of %s%s", bounded(string(raw)), strings.Join(want, ", "), hint)
	case *kind.AdditionalProperties:
		var out []Problem
		for _, name := range k.Properties {
			out = append(out, Problem{Pointer: at + "/" + jsonx.Token(name), Text: "unknown key" + suggest.Text(bounded(name), s.keys)})
		}
		return out
	case *kind.FalseSchema:
		return one("is not allowed here")
	}
	var out []Problem
	for _, cause := range ve.Causes {
		out = append(out, s.faults(cause)...)
	}
	if len(ve.Causes) == 0 {
		out = one("%s", ve.ErrorKind.LocalizedString(message.NewPrinter(language.English)))
	}
	return out
}

// forms says what each of several forms lacks.
func (s *Schema) forms(at string, causes []*jsonschema.ValidationError) string {
	var missing, texts []string
	for _, cause := range causes {
		for _, p := range s.faults(cause) {
			if required := leaf(cause); p.Pointer == at && required != "" {
				missing = append(missing, required)
			}
			if place := strings.TrimPrefix(p.Pointer, at); place != "" {
				p.Text = place + ": " + p.Text
			}
			if !slices.Contains(texts, p.Text) {
				texts = append(texts, p.Text)
			}
		}
	}
	if len(missing) == len(texts) {
		return "want one of the keys " + strings.Join(missing, ", ")
	}
	return "fits none of the forms: " + strings.Join(texts, "; or ")
}

// leaf is the key that a form lacks and nothing else.
func leaf(ve *jsonschema.ValidationError) string {
	for len(ve.Causes) == 1 {
		ve = ve.Causes[0]
	}
	if r, ok := ve.ErrorKind.(*kind.Required); ok && len(ve.Causes) == 0 && len(r.Missing) == 1 {
		return r.Missing[0]
	}
	return ""
}

// bounded keeps a text readable, and a search for its like short.
func bounded(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "..."
}
