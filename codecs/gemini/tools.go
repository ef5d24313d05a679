package gemini

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// setTools adds the function declarations and the server tools.
func (c Codec) setTools(e *encoder, body *jsonx.Fields, req codecs.Request, p codecs.Profile) error {
	var entries []codecs.Raw
	if len(req.Tools) > 0 {
		decls, ws, err := c.Tools(req.Tools, p)
		if err != nil {
			return err
		}
		e.Warnings = append(e.Warnings, ws...)
		entries = append(entries, jsonx.Of(decls).At(0).Raw())
	}
	if entries = append(entries, req.ServerTools...); len(entries) > 0 {
		body.Set("tools", jsonx.List(entries...))
	}
	return nil
}

// choice adds toolConfig. The provider refuses one beside no declarations, so it
// then stays out; a forced call that gets lost that way warns.
func (e *encoder) choice(body *jsonx.Fields, c codecs.Choice, declared bool) {
	var cfg, out jsonx.Fields
	switch {
	case c.Raw != nil:
		if !field(jsonx.Of(c.Raw), "functionCallingConfig").IsObject() {
			e.Warn(codecs.WarnChoiceDropped, "", "dropping tool_choice %s: it has no functionCallingConfig", c.Raw)
			return
		}
		body.Set("toolConfig", c.Raw)
		return
	case c.Mode == "":
		return
	case !declared:
		if c.Mode == codecs.ChoiceAny || c.Mode == codecs.ChoiceTool {
			e.Warn(codecs.WarnChoiceDropped, "", "dropping tool_choice '%s': the request declares no functions", c.Mode)
		}
		return
	case c.Mode == codecs.ChoiceTool:
		cfg.Str("mode", "ANY").Set("allowedFunctionNames", jsonx.List(jsonx.Quote(c.Name)))
	default:
		cfg.Str("mode", strings.ToUpper(c.Mode))
	}
	body.Set("toolConfig", out.Set("functionCallingConfig", cfg.Raw()).Raw())
}

// declarationKeys are members of a declaration beside name, description and the
// schema; they survive when a tool came in this dialect's own form.
var declarationKeys = []string{"behavior", "response", "responseJsonSchema"}

// Tools encodes tools as one entry with all function declarations. The schema
// goes out as parametersJsonSchema, as it came but for a top-level $schema, and
// is left out where it says no more than "an object". With Profile.SchemaKey
// parameters it is reduced to the keywords that the older field knows, with a
// warning for each tool that loses some.
func (Codec) Tools(tools []codecs.Tool, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	var warnings []codecs.Warning
	decls := make([]codecs.Raw, len(tools))
	for i, t := range tools {
		if t.Name == "" {
			return nil, nil, fmt.Errorf("tools[%d]: a function declaration needs a name", i)
		}
		var d jsonx.Fields
		d.Str("name", t.Name).Str("description", t.Description)
		schema, err := parseSchema(t.InputSchema)
		if err != nil {
			return nil, nil, fmt.Errorf("tools[%d] (%s): input schema: %w", i, t.Name, err)
		}
		switch {
		case saysNothing(schema):
		case p.SchemaKey == "parameters":
			reduced, lost := reduceSchema(schema)
			d.Set("parameters", reduced)
			if len(lost) > 0 {
				warnings = append(warnings, codecs.Warnf(codecs.WarnSchemaReduced, fmt.Sprintf("/0/functionDeclarations/%d/parameters", i),
					"the schema of %s lost what the parameters field does not know: %s", t.Name, strings.Join(lost, ", ")))
			}
		default:
			d.Set("parametersJsonSchema", withoutKey(schema, "$schema"))
		}
		if own := jsonx.Of(t.Raw); !own.Get("type").Exists() && !own.Get("inputSchema").Exists() {
			for _, key := range declarationKeys {
				if v := field(own, key); v.Defined() {
					d.Set(key, v.Raw())
				}
			}
		}
		decls[i] = d.Raw()
	}
	var entry jsonx.Fields
	return jsonx.List(entry.Set("functionDeclarations", jsonx.List(decls...)).Raw()), warnings, nil
}

func parseSchema(raw codecs.Raw) (jsonx.Value, error) {
	if len(raw) == 0 {
		return jsonx.Value{}, nil
	}
	return jsonx.Parse(raw)
}

// saysNothing tells whether a schema only says that the arguments are an object:
// the declaration then has no schema at all. A schema that opens the object, by
// additionalProperties or in another way, does say something.
func saysNothing(v jsonx.Value) bool {
	if !v.IsObject() {
		return true
	}
	for _, m := range v.Members() {
		switch m.Key {
		case "$schema":
		case "type":
			if !strings.EqualFold(m.Value.Str(), "object") {
				return false
			}
		case "properties", "required":
			if m.Value.Len() > 0 {
				return false
			}
		case "additionalProperties":
			if m.Value.Kind() != jsonx.Bool || m.Value.Bool() {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// withoutKey drops one top-level key; without it the spelling stays.
func withoutKey(v jsonx.Value, key string) codecs.Raw {
	if !v.Get(key).Exists() {
		return v.Raw()
	}
	var kept []jsonx.Member
	for _, m := range v.Members() {
		if m.Key != key {
			kept = append(kept, m)
		}
	}
	if kept == nil {
		return codecs.Raw("{}")
	}
	return wire.Object(kept)
}

// Bounds of the reduction: references may repeat and contain themselves.
const (
	maxSchemaDepth = 32
	maxSchemaNodes = 4000
)

// keptKeywords go into parameters as they are.
var keptKeywords = []string{
	"title", "description", "nullable", "default", "example", "minItems", "maxItems",
	"propertyOrdering", "minProperties", "maxProperties", "minimum", "maximum", "minLength", "maxLength", "pattern",
}

// droppedSilently carry no constraint.
var droppedSilently = []string{"$schema", "$id", "$comment", "$defs", "definitions"}

// reducer rewrites a JSON Schema for the field parameters.
type reducer struct {
	root  jsonx.Value
	nodes int
	lost  []string
}

// reduceSchema rewrites a JSON Schema into the OpenAPI-like one of the field
// parameters, which refuses every keyword that it does not know. Local
// references are put in place. lost names what had to go, in order of
// appearance. Source: Schema of the Gemini API reference.
func reduceSchema(v jsonx.Value) (reduced codecs.Raw, lost []string) {
	r := reducer{root: v}
	f := r.schema(v, 0)
	return f.Raw(), r.lost
}

func (r *reducer) lose(what string) {
	if !slices.Contains(r.lost, what) {
		r.lost = append(r.lost, what)
	}
}

func (r *reducer) schema(v jsonx.Value, depth int) *jsonx.Fields {
	f := &jsonx.Fields{}
	r.nodes++
	if depth > maxSchemaDepth || r.nodes > maxSchemaNodes {
		r.lose("nesting")
		return f.Str("type", "object")
	}
	if !v.IsObject() { // true and false are schemas too
		if v.Kind() == jsonx.Bool && !v.Bool() {
			r.lose("false")
		}
		return f
	}
	if ref, ok := v.Get("$ref").Text(); ok {
		target := jsonx.Value{}
		if strings.HasPrefix(ref, "#") {
			target = r.root.Lookup(ref[1:])
		}
		if target.IsObject() {
			f = r.schema(target, depth+1)
		} else {
			r.lose("$ref " + ref)
		}
	}
	for _, m := range v.Members() {
		r.keyword(f, m, v, depth)
	}
	r.finish(f)
	return f
}

func (r *reducer) keyword(f *jsonx.Fields, m jsonx.Member, owner jsonx.Value, depth int) {
	switch m.Key {
	case "$ref":
	case "type":
		r.types(f, m.Value)
	case "properties":
		var props jsonx.Fields
		for _, p := range m.Value.Members() {
			props.Set(p.Key, r.schema(p.Value, depth+1).Raw())
		}
		if m.Value.Len() > 0 {
			f.Set("properties", props.Raw())
		}
	case "items":
		if m.Value.IsObject() {
			f.Set("items", r.schema(m.Value, depth+1).Raw())
		} else {
			r.lose("items")
		}
	case "anyOf", "oneOf":
		var alternatives []codecs.Raw
		for _, a := range m.Value.Items() {
			if a.Get("type").Str() == "null" {
				f.Bool("nullable", true)
				continue
			}
			alternatives = append(alternatives, r.schema(a, depth+1).Raw())
		}
		if len(alternatives) == 1 {
			f.Merge(alternatives[0])
		} else if len(alternatives) > 1 {
			f.Set("anyOf", jsonx.List(alternatives...))
		}
	case "allOf":
		for _, a := range m.Value.Items() {
			r.merge(f, r.schema(a, depth+1).Raw())
		}
	case "const":
		r.enum(f, []jsonx.Value{m.Value})
	case "enum":
		r.enum(f, m.Value.Items())
	case "format":
		r.format(f, m.Value, owner)
	case "required":
		f.Set("required", m.Value.Raw())
	default:
		switch {
		case slices.Contains(keptKeywords, m.Key):
			f.Set(m.Key, m.Value.Raw())
		case !slices.Contains(droppedSilently, m.Key):
			r.lose(m.Key)
		}
	}
}

// types writes one type; a list of types becomes nullable and anyOf.
func (r *reducer) types(f *jsonx.Fields, v jsonx.Value) {
	if !v.IsArray() {
		if v.Str() != "" {
			f.Set("type", v.Raw())
		}
		return
	}
	var named []codecs.Raw
	for _, t := range v.Items() {
		switch t.Str() {
		case "null":
			f.Bool("nullable", true)
		case "":
		default:
			named = append(named, t.Raw())
		}
	}
	if len(named) == 1 {
		f.Set("type", named[0])
		return
	}
	for i, t := range named {
		one := &jsonx.Fields{}
		one.Set("type", t)
		r.finish(one)
		named[i] = one.Raw()
	}
	if len(named) > 0 {
		f.Set("anyOf", jsonx.List(named...))
	}
}

// enum keeps texts; null means nullable, and any other value cannot be said.
func (r *reducer) enum(f *jsonx.Fields, values []jsonx.Value) {
	var texts []codecs.Raw
	for _, v := range values {
		switch v.Kind() {
		case jsonx.String:
			texts = append(texts, v.Raw())
		case jsonx.Null:
			f.Bool("nullable", true)
		default:
			r.lose("enum of " + v.Kind().String())
			return
		}
	}
	if len(texts) > 0 {
		f.Set("enum", jsonx.List(texts...))
		if !f.Has("type") {
			f.Str("type", "string")
		}
	}
}

// format keeps the formats that the provider lists; it refuses others.
func (r *reducer) format(f *jsonx.Fields, v, owner jsonx.Value) {
	switch v.Str() {
	case "enum", "date-time", "float", "double", "int32", "int64":
		f.Set("format", v.Raw())
	default:
		r.lose("format " + v.Str())
	}
}

// merge adds the members of one schema of an allOf: properties and required are
// united, of other members the first one stays.
func (r *reducer) merge(f *jsonx.Fields, more codecs.Raw) {
	have := jsonx.Of(f.Raw())
	for _, m := range jsonx.Of(more).Members() {
		old := have.Get(m.Key)
		switch {
		case !old.Exists():
			f.Set(m.Key, m.Value.Raw())
		case m.Key == "properties":
			var both jsonx.Fields
			f.Set(m.Key, both.Merge(old.Raw()).Merge(m.Value.Raw()).Raw())
		case m.Key == "required":
			names := []codecs.Raw{}
			for _, n := range append(old.Items(), m.Value.Items()...) {
				names = append(names, n.Raw())
			}
			f.Set(m.Key, jsonx.List(names...))
		case !jsonx.Equal(old.Raw(), m.Value.Raw()):
			r.lose("allOf: " + m.Key)
		}
	}
}

// finish adds what the provider demands: an array has items, and required names
// only properties that are there, each once.
func (r *reducer) finish(f *jsonx.Fields) {
	v := jsonx.Of(f.Raw())
	if strings.EqualFold(v.Get("type").Str(), "array") && !v.Get("items").Exists() {
		var items jsonx.Fields
		f.Set("items", items.Str("type", "string").Raw())
		r.lose("items of any type")
	}
	required := v.Get("required")
	if !required.Exists() {
		return
	}
	names := []codecs.Raw{}
	var seen []string
	for _, n := range required.Items() {
		if s := n.Str(); v.Get("properties").Get(s).Exists() && !slices.Contains(seen, s) {
			names, seen = append(names, n.Raw()), append(seen, s)
		}
	}
	f.Set("required", jsonx.List(names...))
}
