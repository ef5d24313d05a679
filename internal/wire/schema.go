package wire

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// SchemaRules is what a wire demands of the schema of a tool's arguments. The
// root is an object with a type and properties in every case.
type SchemaRules struct {
	NotAtRoot []string // keywords that the wire refuses at the root
	Items     bool     // an array has items
	Words     bool     // an enum has no empty text
}

// maxSchemaDepth bounds the nesting that is looked at.
const maxSchemaDepth = 64

// schemaPlaces are the keywords that hold schemas: one, a list, or by name.
var schemaPlaces = map[string]string{
	"items": "one", "additionalProperties": "one", "not": "one", "if": "one", "then": "one", "else": "one", "contains": "one",
	"propertyNames": "one", "unevaluatedItems": "one", "unevaluatedProperties": "one", "additionalItems": "one",
	"anyOf": "list", "oneOf": "list", "allOf": "list", "prefixItems": "list",
	"properties": "named", "patternProperties": "named", "$defs": "named", "definitions": "named", "dependentSchemas": "named",
}

// FitSchema returns the schema as the wire takes it: as it came where it may go
// out so. lost names what had to go; what is added says no more than the schema
// did.
func FitSchema(raw codecs.Raw, rules SchemaRules) (fit codecs.Raw, lost []string) {
	root := jsonx.Of(raw)
	if rules.rootFits(root) {
		return rules.Deep(root)
	}
	r := rootFitter{rules: rules, root: root}
	if root.IsObject() {
		r.take(root, 0, true)
	} else if root.Exists() && (root.Kind() != jsonx.Bool || !root.Bool()) {
		r.lose(root.Kind().String() + " as a schema")
	}
	var f jsonx.Fields
	f.Str("type", "object")
	var props, required jsonx.Fields
	for _, p := range r.properties {
		props.Set(p.Key, p.Value.Raw())
	}
	f.Set("properties", props.Raw())
	if len(r.required) > 0 {
		var names []codecs.Raw
		for _, n := range r.required {
			if !required.Has(n) {
				required.Bool(n, true)
				names = append(names, jsonx.Quote(n))
			}
		}
		f.Set("required", jsonx.List(names...))
	}
	f.Merge(r.rest.Raw())
	fit, lost = rules.Deep(jsonx.Of(f.Raw()))
	return fit, append(r.lost, lost...)
}

// Deep is FitSchema without what the rules say of the root.
func (s SchemaRules) Deep(v jsonx.Value) (fit codecs.Raw, lost []string) {
	fit, _ = s.deep(v, 0, &lost)
	return fit, lost
}

func (s SchemaRules) rootFits(root jsonx.Value) bool {
	return root.Get("type").Str() == "object" && root.Get("properties").IsObject() && !root.Get("$ref").Exists() &&
		!slices.ContainsFunc(s.NotAtRoot, func(k string) bool { return root.Get(k).Exists() })
}

// rootFitter makes one object of a root that is put together of several.
type rootFitter struct {
	rules      SchemaRules
	root       jsonx.Value
	properties []jsonx.Member
	named      map[string]bool
	required   []string
	rest       jsonx.Fields
	lost       []string
	steps      int
}

func (r *rootFitter) lose(what string) {
	if !slices.Contains(r.lost, what) {
		r.lost = append(r.lost, what)
	}
}

// take adds what a schema says of the root. sure is false for one of several
// alternatives: their properties are known, none of them is required.
func (r *rootFitter) take(v jsonx.Value, depth int, sure bool) {
	if r.steps++; depth > maxRefs || r.steps > maxSteps {
		r.lose("nesting")
		return
	}
	for _, m := range v.Members() {
		switch {
		case m.Key == "type":
			if m.Value.Str() != "object" {
				r.lose("type " + string(m.Value.Raw()))
			}
		case m.Key == "properties":
			if !m.Value.IsObject() && m.Value.Len() > 0 {
				r.lose("properties that are no object")
			}
			r.add(m.Value.Members())
		case m.Key == "required" && sure:
			for _, n := range m.Value.Items() {
				r.required = append(r.required, n.Str())
			}
		case m.Key == "$ref":
			r.refer(m.Value.Str(), depth, sure)
		case slices.Contains(r.rules.NotAtRoot, m.Key):
			if m.Key != "allOf" || !sure {
				r.lose(m.Key)
			}
			for _, alternative := range m.Value.Items() {
				r.take(alternative, depth+1, sure && m.Key == "allOf")
			}
		case depth == 0:
			r.rest.Set(m.Key, m.Value.Raw())
		case m.Key != "required" && m.Key != "title" && m.Key != "description" && m.Key != "$defs":
			r.lose(m.Key)
		}
	}
}

// Bounds of what is followed at the root: references may repeat and contain
// themselves.
const (
	maxRefs  = 8
	maxSteps = 200
)

func (r *rootFitter) refer(ref string, depth int, sure bool) {
	if len(ref) > 0 && ref[0] == '#' {
		if target := r.root.Lookup(ref[1:]); target.IsObject() {
			r.take(target, depth+1, sure)
			return
		}
	}
	r.lose("$ref " + ref)
}

func (r *rootFitter) add(members []jsonx.Member) {
	if r.named == nil {
		r.named = map[string]bool{}
	}
	for _, m := range members {
		if !r.named[m.Key] { // the first that says something of a property counts
			r.named[m.Key] = true
			r.properties = append(r.properties, m)
		}
	}
}

// deep gives arrays their items and takes the empty text from each enum,
// everywhere. changed is false where the schema stays as it came.
func (s SchemaRules) deep(v jsonx.Value, depth int, lost *[]string) (out codecs.Raw, changed bool) {
	if !s.Items && !s.Words || depth > maxSchemaDepth || !v.IsObject() {
		return v.Raw(), false
	}
	members := v.Members()
	values := make([]codecs.Raw, len(members))
	for i, m := range members {
		value, other := m.Value.Raw(), false
		switch schemaPlaces[m.Key] {
		case "one":
			value, other = s.deep(m.Value, depth+1, lost)
		case "list":
			var list []codecs.Raw
			for _, x := range m.Value.Items() {
				one, o := s.deep(x, depth+1, lost)
				list, other = append(list, one), other || o
			}
			if other {
				value = jsonx.List(list...)
			}
		case "named":
			var named jsonx.Fields
			for _, x := range m.Value.Members() {
				one, o := s.deep(x.Value, depth+1, lost)
				named.Set(x.Key, one)
				other = other || o
			}
			if other {
				value = named.Raw()
			}
		}
		if words := Words(m.Value.Items()); s.Words && m.Key == "enum" && len(words) < m.Value.Len() {
			value, other = nil, true
			if len(words) > 0 {
				value = jsonx.List(words...)
			}
			if !slices.Contains(*lost, EmptyWord) {
				*lost = append(*lost, EmptyWord)
			}
		}
		values[i] = value
		changed = changed || other
	}
	bare := s.Items && !v.Get("items").Exists() && SchemaType(v, "array")
	if !changed && !bare {
		return v.Raw(), false
	}
	var f jsonx.Fields
	for i, m := range members {
		if values[i] != nil {
			f.Set(m.Key, values[i])
		}
	}
	if bare {
		f.Set("items", codecs.Raw("{}"))
	}
	return f.Raw(), true
}

// EmptyWord is what a schema loses whose enum had an empty text.
const EmptyWord = "enum of an empty text"

// Words are the members of an enum but for the empty text.
func Words(enum []jsonx.Value) []codecs.Raw {
	var out []codecs.Raw
	for _, v := range enum {
		if v.Kind() != jsonx.String || v.Str() != "" {
			out = append(out, v.Raw())
		}
	}
	return out
}

// SchemaType tells whether a schema names a type, alone or among others.
func SchemaType(schema jsonx.Value, name string) bool {
	t := schema.Get("type")
	return t.Str() == name || slices.ContainsFunc(t.Items(), func(v jsonx.Value) bool { return v.Str() == name })
}

// ToolSchema returns the schema of a tool as a wire takes it, with a warning at
// the pointer for what it lost.
func ToolSchema(t codecs.Tool, rules SchemaRules, pointer string) (codecs.Raw, []codecs.Warning, error) {
	schema := Schema(t)
	if err := jsonx.Check(schema); err != nil {
		return nil, nil, fmt.Errorf("input schema of %s: %w", t.Name, err)
	}
	fit, lost := FitSchema(schema, rules)
	if len(lost) == 0 {
		return fit, nil, nil
	}
	return fit, []codecs.Warning{codecs.Warnf(codecs.WarnSchemaReduced, pointer, "the schema of %s lost what this wire refuses: %s", t.Name, strings.Join(lost, ", "))}, nil
}
