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

// ownChoice tells whether a choice is a toolConfig.
func ownChoice(v jsonx.Value) bool { return field(v, "functionCallingConfig").IsObject() }

// toolConfig adds the choice, and the flag without which Gemini 3 refuses its own
// tools beside functions. The provider refuses a choice beside no declarations,
// so it then stays out; a forced call that gets lost that way warns.
func (e *encoder) toolConfig(body *jsonx.Fields, c codecs.Choice, declared, mixed bool) {
	var cfg, out jsonx.Fields
	switch {
	case c.Raw != nil:
		out.Merge(c.Raw)
	case c.Mode == "":
	case !declared:
		if c.Mode == codecs.ChoiceAny || c.Mode == codecs.ChoiceTool {
			e.Warn(codecs.WarnChoiceDropped, "", "dropping tool_choice '%s': the request declares no functions", c.Mode)
		}
	case c.Mode == codecs.ChoiceTool:
		cfg.Str("mode", "ANY").Set("allowedFunctionNames", jsonx.List(jsonx.Quote(c.Name)))
	default:
		cfg.Str("mode", strings.ToUpper(c.Mode))
	}
	if cfg.Has("mode") {
		out.Set("functionCallingConfig", cfg.Raw())
	}
	if mixed && !e.profile.NoMixedFlag && !out.Has("includeServerSideToolInvocations") {
		out.Bool("includeServerSideToolInvocations", true)
	}
	if raw := out.Raw(); string(raw) != "{}" {
		body.Set("toolConfig", raw)
	}
}

// declarationKeys are members of a declaration beside name, description and the
// schema; they survive when a tool came in this dialect's own form.
var declarationKeys = []string{"behavior", "response", "responseJsonSchema"}

// Tools encodes tools as one entry with all function declarations. The schema
// goes out as parametersJsonSchema, as it came but for a top-level $schema and
// empty texts in an enum, and is left out where it says no more than "an object". With Profile.SchemaKey
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
			fit, lost := wire.SchemaRules{Words: true}.Deep(schema)
			d.Set("parametersJsonSchema", withoutKey(jsonx.Of(fit), "$schema"))
			if len(lost) > 0 {
				warnings = append(warnings, codecs.Warnf(codecs.WarnSchemaReduced, fmt.Sprintf("/0/functionDeclarations/%d/parametersJsonSchema", i),
					"the schema of %s lost what this wire refuses: %s", t.Name, strings.Join(lost, ", ")))
			}
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

// notAtRoot may not stand at the root of parameters, which is an object.
var notAtRoot = wire.SchemaRules{NotAtRoot: []string{"oneOf", "anyOf", "allOf", "enum", "const", "not"}}

// keyword says of a keyword of parameters beside which types it may stand and
// what its value is.
type keyword struct {
	types []string // nil: any
	takes func(jsonx.Value) bool
}

func isText(v jsonx.Value) bool   { return v.Kind() == jsonx.String }
func isFlag(v jsonx.Value) bool   { return v.Kind() == jsonx.Bool }
func isNumber(v jsonx.Value) bool { return v.Kind() == jsonx.Number }
func isObject(v jsonx.Value) bool { return v.IsObject() }
func isCount(v jsonx.Value) bool  { n, whole := v.Int(); return whole && n >= 0 }
func isTexts(v jsonx.Value) bool {
	return v.IsArray() && !slices.ContainsFunc(v.Items(), func(x jsonx.Value) bool { return !isText(x) })
}

// keywords are what the Schema of the field parameters knows.
var keywords = map[string]keyword{
	"title": {nil, isText}, "description": {nil, isText}, "nullable": {nil, isFlag}, "default": {nil, jsonx.Value.Exists}, "example": {nil, jsonx.Value.Exists},
	"format":     {[]string{"string", "number", "integer"}, isText},
	"enum":       {[]string{"string"}, isTexts},
	"pattern":    {[]string{"string"}, isText},
	"minLength":  {[]string{"string"}, isCount},
	"maxLength":  {[]string{"string"}, isCount},
	"minimum":    {[]string{"number", "integer"}, isNumber},
	"maximum":    {[]string{"number", "integer"}, isNumber},
	"items":      {[]string{"array"}, isObject},
	"minItems":   {[]string{"array"}, isCount},
	"maxItems":   {[]string{"array"}, isCount},
	"properties": {[]string{"object"}, isObject},
	"required":   {[]string{"object"}, isTexts},

	"propertyOrdering": {[]string{"object"}, isTexts},
	"minProperties":    {[]string{"object"}, isCount},
	"maxProperties":    {[]string{"object"}, isCount},
}

// formats that the provider lists, by type; it refuses others.
var formats = map[string][]string{"string": {"enum", "date-time"}, "number": {"float", "double"}, "integer": {"int32", "int64"}}

var schemaTypes = []string{"string", "number", "integer", "boolean", "array", "object"}

// droppedSilently carry no constraint.
var droppedSilently = []string{"$schema", "$id", "$comment", "$defs", "definitions"}

// reducer rewrites a JSON Schema for the field parameters.
type reducer struct {
	root  jsonx.Value
	nodes int
	lost  []string
}

// reduceSchema rewrites a JSON Schema into the OpenAPI-like one of the field
// parameters, which refuses every keyword that it does not know, or that does
// not go with the type beside it. Local references are put in place. lost names
// what had to go, in order of appearance. Source: Schema of the Gemini API
// reference.
func reduceSchema(v jsonx.Value) (reduced codecs.Raw, lost []string) {
	fit, lost := wire.FitSchema(v.Raw(), notAtRoot)
	r := reducer{root: v, lost: lost}
	return r.schema(jsonx.Of(fit), 0), r.lost
}

func (r *reducer) lose(what string) {
	if !slices.Contains(r.lost, what) {
		r.lost = append(r.lost, what)
	}
}

func (r *reducer) schema(v jsonx.Value, depth int) codecs.Raw {
	n := node{}
	r.read(&n, v, depth)
	return r.write(n)
}

// node is a schema taken apart: what it says for every type that it names.
type node struct {
	types    []string
	anyOf    []codecs.Raw
	props    jsonx.Fields
	required []codecs.Raw
	order    []string              // of the keys of said
	said     map[string]codecs.Raw // keywords of the table
}

// say adds a keyword, and returns what was said by it before.
func (n *node) say(key string, value codecs.Raw) (before codecs.Raw) {
	if before = n.said[key]; before != nil {
		return before
	}
	if n.said == nil {
		n.said = map[string]codecs.Raw{}
	}
	n.order, n.said[key] = append(n.order, key), value
	return nil
}

// read adds what v says; what is there already stays.
func (r *reducer) read(n *node, v jsonx.Value, depth int) {
	r.nodes++
	if depth > maxSchemaDepth || r.nodes > maxSchemaNodes {
		r.lose("nesting")
		n.types = append(n.types, "object")
		return
	}
	if !v.IsObject() {
		if v.Kind() != jsonx.Bool || !v.Bool() { // true is a schema too
			r.lose("a schema that is no object")
		}
		return
	}
	for _, m := range v.Members() {
		switch m.Key {
		case "$ref":
			ref := m.Value.Str()
			if target := r.root.Lookup(strings.TrimPrefix(ref, "#")); strings.HasPrefix(ref, "#") && target.IsObject() {
				r.read(n, target, depth+1)
			} else {
				r.lose("$ref " + ref)
			}
		case "allOf":
			for _, a := range m.Value.Items() {
				r.read(n, a, depth+1)
			}
		case "type":
			r.types(n, m.Value)
		case "anyOf", "oneOf":
			for _, a := range m.Value.Items() {
				if a.Get("type").Str() == "null" {
					n.say("nullable", codecs.Raw("true"))
					continue
				}
				n.anyOf = append(n.anyOf, r.schema(a, depth+1))
			}
		case "const":
			r.enum(n, []jsonx.Value{m.Value})
		case "enum":
			r.enum(n, m.Value.Items())
		case "properties":
			for _, p := range m.Value.Members() {
				if !n.props.Has(p.Key) {
					n.props.Set(p.Key, r.schema(p.Value, depth+1))
					n.say("properties", codecs.Raw("{}"))
				}
			}
		case "items":
			if !m.Value.IsObject() || n.say("items", r.schema(m.Value, depth+1)) != nil {
				r.lose("items")
			}
		case "required":
			for _, x := range m.Value.Items() {
				n.required = append(n.required, x.Raw())
				n.say("required", codecs.Raw("[]"))
			}
		default:
			k, known := keywords[m.Key]
			switch {
			case slices.Contains(droppedSilently, m.Key):
			case !known:
				r.lose(m.Key)
			case !k.takes(m.Value):
				r.lose(m.Key + " that is " + m.Value.Kind().String())
			default:
				if before := n.say(m.Key, m.Value.Raw()); before != nil && !jsonx.Equal(before, m.Value.Raw()) {
					r.lose("allOf: " + m.Key)
				}
			}
		}
	}
}

// types adds one type or several; null means nullable.
func (r *reducer) types(n *node, v jsonx.Value) {
	if len(n.types) > 0 {
		return
	}
	for _, t := range append(v.Items(), v) {
		switch name := strings.ToLower(t.Str()); {
		case name == "null":
			n.say("nullable", codecs.Raw("true"))
		case slices.Contains(schemaTypes, name):
			n.types = append(n.types, t.Str())
		case !t.IsArray():
			r.lose("type " + string(t.Raw()))
		}
	}
}

// enum keeps texts; null means nullable, and any other value cannot be said. The
// empty text alone goes: it refuses the whole request.
func (r *reducer) enum(n *node, values []jsonx.Value) {
	var texts []codecs.Raw
	for _, v := range values {
		switch {
		case v.Kind() == jsonx.Null:
			n.say("nullable", codecs.Raw("true"))
		case v.Kind() != jsonx.String:
			r.lose("enum of " + v.Kind().String())
			return
		case v.Str() == "":
			r.lose(wire.EmptyWord)
		default:
			texts = append(texts, v.Raw())
		}
	}
	if len(texts) > 0 {
		n.say("enum", jsonx.List(texts...))
	}
}

// write puts a node together: beside a type what goes with it, and beside anyOf
// nothing, since the provider wants it alone.
func (r *reducer) write(n node) codecs.Raw {
	for key, value := range map[string]codecs.Raw{"properties": n.props.Raw(), "required": jsonx.List(n.required...)} {
		if n.said[key] != nil {
			n.said[key] = value
		}
	}
	if len(n.anyOf) == 0 && len(n.types) == 0 {
		n.types = []string{r.guess(n)}
	}
	var forms []codecs.Raw
	used := map[string]bool{}
	if len(n.anyOf) == 0 {
		for _, t := range n.types {
			forms = append(forms, r.typed(t, n, used, nil))
		}
	}
	for _, a := range n.anyOf {
		inner := jsonx.Of(a).Get("anyOf").Items()
		if len(inner) == 0 {
			inner = []jsonx.Value{jsonx.Of(a)}
		}
		for _, one := range inner {
			forms = append(forms, r.typed(one.Get("type").Str(), n, used, one.Raw()))
		}
	}
	for _, key := range n.order {
		if !used[key] {
			r.lose(key + " beside another type")
		}
	}
	if len(forms) == 1 {
		return forms[0]
	}
	var f jsonx.Fields
	return f.Set("anyOf", jsonx.List(forms...)).Raw()
}

// typed is one type with the keywords that go with it, and with what it says
// itself.
func (r *reducer) typed(name string, n node, used map[string]bool, own codecs.Raw) codecs.Raw {
	var f jsonx.Fields
	f.Str("type", name)
	name = strings.ToLower(name)
	for _, key := range n.order {
		if types := keywords[key].types; types != nil && !slices.Contains(types, name) {
			continue
		}
		used[key] = true
		if key == "format" && !slices.Contains(formats[name], jsonx.Of(n.said[key]).Str()) {
			r.lose("format " + jsonx.Of(n.said[key]).Str())
			continue
		}
		f.Set(key, n.said[key])
	}
	if own != nil {
		f.Merge(own)
	}
	return r.tidy(f)
}

// guess is the type of a node that names none.
func (r *reducer) guess(n node) string {
	for _, key := range n.order {
		if types := keywords[key].types; len(types) > 0 {
			return types[0]
		}
	}
	r.lose("any type")
	return "string"
}

// tidy adds what the provider demands: an array has items, and required names
// only properties that are there, each once.
func (r *reducer) tidy(f jsonx.Fields) codecs.Raw {
	v := jsonx.Of(f.Raw())
	if strings.EqualFold(v.Get("type").Str(), "array") && !v.Get("items").Exists() {
		var items jsonx.Fields
		f.Set("items", items.Str("type", "string").Raw())
		r.lose("items of any type")
	}
	if required := v.Get("required"); required.Exists() {
		names := []codecs.Raw{}
		var seen []string
		for _, n := range required.Items() {
			if s := n.Str(); v.Get("properties").Get(s).Exists() && !slices.Contains(seen, s) {
				names, seen = append(names, n.Raw()), append(seen, s)
			}
		}
		f.Set("required", jsonx.List(names...))
	}
	return f.Raw()
}
