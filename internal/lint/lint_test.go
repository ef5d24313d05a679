package lint

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

const schema = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "type": "object", "additionalProperties": false,
  "properties": {
    "lamp": {"enum": ["lit", "dark", 7]},
    "piers": {"type": "array", "items": {"type": "integer"}},
    "answer": {"type": "object", "oneOf": [{"required": ["result"]}, {"required": ["error"]}]},
    "form": {"anyOf": [{"type": "null"}, {"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string"}}}]},
    "never": false
  },
  "$defs": {"pier": {"type": "integer"}}
}`

func TestSchema(t *testing.T) {
	s, err := Compile(fstest.MapFS{"s.json": {Data: []byte(schema)}}, "s.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ doc, want string }{
		{`{"lamp": "lit", "piers": [1], "answer": {"error": 1}, "form": null}`, ``},
		{`{"lamp": "lid"}`, `f: /lamp: "lid" is none of "lit", "dark", 7; did you mean "lit"?`},
		{`{"lamp": 8}`, `f: /lamp: 8 is none of "lit", "dark", 7`},
		{`{"lmap": "lit"}`, `f: /lmap: unknown key; did you mean "lamp"?`},
		{`{"a/b": 1}`, `f: /a~1b: unknown key`},
		{`{"answer": {}}`, `f: /answer: want one of the keys result, error`},
		{`{"answer": {"result": 1, "error": 1}}`, `f: /answer: fits more than one of the forms that exclude each other`},
		{`{"form": {"kind": 1}}`, `f: /form: fits none of the forms: got object, want null; or /kind: got number, want string`},
		{`{"never": 1}`, `f: /never: is not allowed here`},
		{`{"piers": [1, "2", 3.5]}`, `f: /piers/1: got string, want integer` + "\n" + `f: /piers/2: got number, want integer`},
		{`{`, `f: unexpected EOF`},
	} {
		var got []string
		for _, p := range s.Check("f", []byte(c.doc)) {
			got = append(got, p.String())
		}
		if text := strings.Join(got, "\n"); text != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.doc, text, c.want)
		}
	}
	part, err := Compile(fstest.MapFS{"s.json": {Data: []byte(schema)}}, "s.json#/$defs/pier")
	if err != nil || len(part.Check("f", []byte(`"x"`))) != 1 || len(part.Check("f", []byte(`1`))) != 0 {
		t.Errorf("a part of a schema: %v", err)
	}
}

func TestNumber(t *testing.T) {
	doc := "{\n \"a\": 1,\n \"b\":\n  [1,\n   {\"c\": 2,\n    \"d/e\": 3}],\n \"a\": 2\n}"
	places := []string{"/a", "/b/1/c", "/b/1/d~1e", "/b/1", "/none", ""}
	var problems []Problem
	for _, p := range places {
		problems = append(problems, Problem{File: "f", Pointer: p, Text: "t"})
	}
	problems = append(problems, Problem{Line: 9, Pointer: "/a"})
	Number([]byte(doc), problems)
	var got []int
	for _, p := range problems {
		got = append(got, p.Line)
	}
	if want := []int{2, 5, 6, 5, 0, 0, 9}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("lines %v, want %v", got, want)
	}
	if text := problems[1].String(); text != "f:5: /b/1/c: t" {
		t.Errorf("%q", text)
	}
	Number([]byte(`{"a": [1, `), problems) // broken files have problems, too
}

// A deep document with a fault at its top costs no more than its length.
func TestNumberDeep(t *testing.T) {
	deep := `{"x":` + strings.Repeat("[", 4000) + strings.Repeat("1,", 200_000) + "1" + strings.Repeat("]", 4000) + `,"a":1}`
	problems := []Problem{{Pointer: "/a"}}
	Number([]byte(deep), problems)
	if problems[0].Line != 1 {
		t.Errorf("line %d", problems[0].Line)
	}
}
