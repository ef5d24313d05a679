package interop_test

import (
	"bytes"
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

//go:embed testdata/schemas/*.json
var schemaFiles embed.FS

// schemas holds bodies against what the providers publish. A finding is named as
// testdata/schemas/exempt.json names it: "anthropic.reply required $.usage speed".
type schemas struct {
	byName map[string]*jsonschema.Schema
	exempt map[string]bool // real accepted traffic breaks these
}

func loadSchemas(t *testing.T) schemas {
	t.Helper()
	out := schemas{map[string]*jsonschema.Schema{}, map[string]bool{}}
	files, err := fs.Glob(schemaFiles, "testdata/schemas/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no schemas", err)
	}
	for _, file := range files {
		data, err := schemaFiles.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		name := strings.TrimSuffix(file[strings.LastIndexByte(file, '/')+1:], ".json")
		if name == "exempt" {
			for _, x := range doc.([]any) {
				out.exempt[x.(map[string]any)["key"].(string)] = true
			}
			continue
		}
		root := doc.(map[string]any)
		rules(root, root["x-closed"] == true, root["x-lenient"] == true)
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mem:///"+name, doc); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		if out.byName[name], err = c.Compile("mem:///" + name); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
	}
	return out
}

// rules writes what the x- words mean into a schema: closed objects, one of
// several keys, and Google's reader, which takes one value for a list of one and
// enum words in any case.
func rules(v any, closed, lenient bool) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = rules(v[i], closed, lenient)
		}
	case map[string]any:
		for k := range v {
			if k != "enum" && k != "const" && k != "required" {
				v[k] = rules(v[k], closed, lenient)
			}
		}
		if _, open := v["additionalProperties"]; closed && !open && v["type"] == "object" && v["properties"] != nil {
			v["additionalProperties"] = false
		}
		if groups, ok := v["x-oneof"].([]any); ok {
			var all []any
			for _, g := range groups {
				keys := g.([]any)
				for i, a := range keys {
					for _, b := range keys[i+1:] {
						all = append(all, map[string]any{"not": map[string]any{"required": []any{a, b}}})
					}
				}
			}
			v["allOf"] = all
		}
		if lenient {
			if words, ok := v["enum"].([]any); ok {
				for _, w := range words {
					if s, ok := w.(string); ok {
						words = append(words, strings.ToLower(s))
					}
				}
				v["enum"] = words
			}
			if _, ok := v["items"]; ok && v["type"] == "array" {
				return map[string]any{"anyOf": []any{v, v["items"]}}
			}
		}
	}
	return v
}

// check returns the findings in a body, without the exempt ones.
func (s schemas) check(t *testing.T, name string, body []byte) []string {
	t.Helper()
	schema := s.byName[name]
	if schema == nil {
		t.Fatalf("no schema %s", name)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return []string{name + " json $ " + err.Error()}
	}
	if strings.HasSuffix(name, ".request") && (strings.HasPrefix(name, "gemini") || strings.HasPrefix(name, "vertex")) {
		v = withoutNulls(v)
	}
	ve, ok := schema.Validate(v).(*jsonschema.ValidationError)
	if !ok {
		return nil
	}
	var out []string
	for _, f := range findings(ve, v) {
		key := name + " " + f.kind + " " + f.path + " " + f.detail
		if !s.exempt[key] && !slices.Contains(out, key) {
			out = append(out, key)
		}
	}
	return out
}

// withoutNulls is how Google's reader sees a body: null is absent.
func withoutNulls(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			if v[k] == nil {
				delete(v, k)
			} else {
				v[k] = withoutNulls(v[k])
			}
		}
	case []any:
		for i := range v {
			v[i] = withoutNulls(v[i])
		}
	}
	return v
}

type finding struct {
	kind, path, detail string
	depth              int
	field              string // last name of the path, outside lists
}

var printer = message.NewPrinter(language.English)

// findings flattens an error. Of several forms that a value may have, the one
// that its type and role name counts, else the one with the fewest findings.
func findings(ve *jsonschema.ValidationError, root any) []finding {
	at := finding{path: "$", depth: len(ve.InstanceLocation)}
	v := root
	for _, name := range ve.InstanceLocation {
		at.field = ""
		switch x := v.(type) {
		case []any:
			i, _ := strconv.Atoi(name)
			v = x[i]
			at.path += "[]"
		case map[string]any:
			v = x[name]
			at.path += "." + name
			at.field = name
		}
	}
	one := func(kind, detail string) []finding {
		at.kind, at.detail = kind, detail
		return []finding{at}
	}
	each := func(kind string, details []string) (out []finding) {
		for _, d := range details {
			out = append(out, one(kind, d)...)
		}
		return out
	}
	switch k := ve.ErrorKind.(type) {
	case *kind.AnyOf, *kind.OneOf:
		var best []finding
		for _, c := range ve.Causes {
			f := findings(c, root)
			if !slices.ContainsFunc(f, func(x finding) bool { return otherForm(x, at.depth) }) && (best == nil || len(f) < len(best)) {
				best = f
			}
		}
		if best != nil {
			return best
		}
		if o, ok := v.(map[string]any); ok {
			for _, name := range []string{"type", "role"} {
				if w, ok := o[name]; ok {
					return one("variant", fmt.Sprintf("%s=%v", name, w))
				}
			}
			return one("variant", "of an object")
		}
		if len(ve.Causes) > 0 {
			return findings(ve.Causes[0], root)
		}
		return one("variant", "")
	case *kind.Required:
		return each("required", k.Missing)
	case *kind.AdditionalProperties:
		return each("unknown-closed", k.Properties)
	case *kind.Type:
		return one("type", fmt.Sprintf("want %s, is %s", strings.Join(k.Want, " or "), k.Got))
	case *kind.Enum, *kind.Const:
		return one("enum", fmt.Sprintf("%.40v", v))
	}
	if len(ve.Causes) == 0 {
		return one("limit", ve.ErrorKind.LocalizedString(printer))
	}
	var out []finding
	for _, c := range ve.Causes {
		out = append(out, findings(c, root)...)
	}
	return out
}

// otherForm tells whether a finding says that the value at depth is of another
// form than the one that was tried.
func otherForm(f finding, depth int) bool {
	switch {
	case f.depth == depth:
		return f.kind == "type" || f.kind == "variant" || f.kind == "enum"
	case f.depth == depth+1:
		return f.kind == "enum" && slices.Contains([]string{"type", "role"}, f.field)
	}
	return false
}

// TestSchemaJudge holds the judge against bodies whose faults are known.
func TestSchemaJudge(t *testing.T) {
	s := loadSchemas(t)
	for _, c := range []struct{ schema, body, want string }{
		{"gemini.request", `{"contents":[{"role":"user","parts":[{"text":"hi"}]}]}`, ""},
		{"gemini.request", `{"contents":{"role":"user","parts":{"text":"hi"}},"toolConfig":null}`, ""},
		{"gemini.request", `{"contents":[{"parts":[{"text":"hi","colour":1}]}]}`, "gemini.request unknown-closed $.contents[].parts[] colour"},
		{"gemini.request", `{"contents":[{"parts":[{"text":"hi","functionCall":{"name":"f"}}]}]}`, "gemini.request limit $.contents[].parts[] 'not' failed"},
		{
			"gemini.request", `{"contents":[],"tools":[{"functionDeclarations":[{"name":"f","parameters":{"type":"object","properties":{"a":{"type":"str"}}}}]}]}`,
			"gemini.request enum $.tools[].functionDeclarations[].parameters.properties.a.type str",
		},
		{"anthropic.request", `{"model":"m","max_tokens":1,"messages":[{"role":"user","content":[{"type":"text"}]}]}`, "anthropic.request required $.messages[].content[] text"},
		{"anthropic.request", `{"model":"m","max_tokens":1,"messages":[],"tools":[{"name":"f","input_schema":{}}]}`, "anthropic.request required $.tools[].input_schema type"},
		{"anthropic.request", `{"model":"m","max_tokens":1,"messages":[],"tool_choice":{"type":"allowed_tools"}}`, "anthropic.request variant $.tool_choice type=allowed_tools"},
		{"openai.request", `{"model":"m","messages":[{"role":"user","content":1}]}`, "openai.request type $.messages[].content want string, is number"},
		{"responses.request", `{"model":"m","input":[{"type":"function_call_output","call_id":"c"}]}`, "responses.request required $.input[] output"},
		{"ollama.request", `{"model":"m","messages":[{"role":"user","content":null}]}`, "ollama.request type $.messages[].content want string, is null"},
	} {
		if got := strings.Join(s.check(t, c.schema, []byte(c.body)), "; "); got != c.want {
			t.Errorf("%s %s\n got %s\nwant %s", c.schema, c.body, cmp.Or(got, "nothing"), c.want)
		}
	}
}
