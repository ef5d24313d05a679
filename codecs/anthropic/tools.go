package anthropic

import (
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// maxOptional is how many optional properties all strict tools of a request may
// have together; the API refuses more. Source: recorded refusal.
const maxOptional = 24

// Tools encodes tool definitions: {name, description, input_schema}, the schema
// as it came but for what the API refuses at its root.
//
// strict:true is added where it is safe: the schema and every object in it are
// closed, it requires something, and it uses nothing that strict tools refuse
// (recursion, limits of numbers and lengths). A definition that says strict
// itself, or comes in this dialect's form, is taken at its word. Keys that only this dialect has (cache_control,
// defer_loading, input_examples, ...) go out for a definition that came in this
// dialect's form; a typed client tool of the dialect goes out as it came.
func (Codec) Tools(tools []codecs.Tool, _ codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	out := make([]codecs.Raw, 0, len(tools))
	optional := 0
	var warnings []codecs.Warning
	for i, t := range tools {
		if class, owner, _ := wire.ClassifyTool(t.Raw); len(t.Raw) > 0 && class == wire.ClientTool && owner == codecs.Anthropic {
			out = append(out, t.Raw)
			continue
		}
		schema, more, err := wire.ToolSchema(t, schemaRules, fmt.Sprintf("/%d/input_schema", i))
		if err != nil {
			return nil, nil, fmt.Errorf("tools[%d]: %w", i, err)
		}
		warnings = append(warnings, more...)
		var f jsonx.Fields
		f.Str("name", t.Name).Str("description", t.Description).Set("input_schema", schema)
		raw := jsonx.Of(t.Raw)
		carryKeys(&f, raw)
		if !f.Has("strict") && !raw.Get("input_schema").IsObject() {
			if n, ok := strictSchema(jsonx.Of(schema)); ok && optional+n <= maxOptional {
				optional += n
				f.Bool("strict", true)
			}
		}
		out = append(out, f.Raw())
	}
	return jsonx.List(out...), warnings, nil
}

// schemaRules is what the API refuses in input_schema.
var schemaRules = wire.SchemaRules{NotAtRoot: []string{"oneOf", "anyOf", "allOf"}}

// carryKeys copies what a definition says beside name, description and schema:
// everything when it is in this dialect's form, else strict and cache_control.
func carryKeys(f *jsonx.Fields, raw jsonx.Value) {
	if raw.Get("input_schema").IsObject() {
		f.Merge(wire.Without(raw, "name", "description", "input_schema", "inputSchema", "parameters"))
		return
	}
	f.Set("cache_control", raw.Get("cache_control").Raw())
	strict := raw.Get("strict")
	if !strict.Exists() {
		strict = raw.Path("function", "strict")
	}
	if strict.Kind() == jsonx.Bool {
		f.Set("strict", strict.Raw())
	}
}

// strictSchema tells whether a root schema can be strict, and how many optional
// properties it has.
func strictSchema(root jsonx.Value) (optional int, ok bool) {
	if !closed(root) || root.Get("required").Len() == 0 {
		return 0, false
	}
	ok = strictDeep(root, &optional)
	return optional, ok
}

// closed tells whether additionalProperties is false.
func closed(schema jsonx.Value) bool {
	v := schema.Get("additionalProperties")
	return v.Kind() == jsonx.Bool && !v.Bool()
}

// strictDeep checks a schema and every schema in it.
func strictDeep(schema jsonx.Value, optional *int) bool {
	if !schema.IsObject() {
		return true // a boolean schema holds nothing
	}
	props := schema.Get("properties")
	if (wire.SchemaType(schema, "object") || props.IsObject()) && !closed(schema) {
		return false
	}
	required := map[string]bool{}
	for _, r := range schema.Get("required").Items() {
		required[r.Str()] = true
	}
	for _, m := range schema.Members() {
		switch m.Key {
		case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
			"maxItems", "minProperties", "maxProperties", "$ref", "$dynamicRef", "patternProperties":
			return false
		case "minItems":
			if n, whole := m.Value.Int(); !whole || n > 1 {
				return false
			}
		case "properties":
			for _, prop := range m.Value.Members() {
				if !required[prop.Key] {
					*optional++
				}
				if !strictDeep(prop.Value, optional) {
					return false
				}
			}
		case "$defs", "definitions":
			for _, def := range m.Value.Members() {
				if !strictDeep(def.Value, optional) {
					return false
				}
			}
		case "anyOf", "oneOf", "allOf", "prefixItems":
			for _, s := range m.Value.Items() {
				if !strictDeep(s, optional) {
					return false
				}
			}
		case "items", "not", "if", "then", "else", "contains":
			if !strictDeep(m.Value, optional) {
				return false
			}
		}
	}
	return true
}

// encodeChoice returns the value of tool_choice, nil for none. The parallel
// knob is folded into it; forbidden calls need none.
func encodeChoice(req codecs.Request, choice codecs.Choice, p codecs.Profile) (codecs.Raw, []codecs.Warning) {
	var f jsonx.Fields
	switch {
	case choice.Mode == codecs.ChoiceTool:
		f.Str("type", "tool").Str("name", choice.Name)
	case choice.Mode != "":
		f.Str("type", choice.Mode)
	}
	if req.Parallel != nil && choice.Mode != codecs.ChoiceNone {
		if p.NoParallel || (p.ToolChoice != nil && !f.Has("type") && !slices.Contains(p.ToolChoice, codecs.ChoiceAuto)) {
			warning := codecs.Warnf(codecs.WarnParallelDropped, "", "dropping parallel_tool_use: this engine has no such knob")
			return fieldsOrNil(&f), []codecs.Warning{warning}
		}
		if !f.Has("type") {
			f.Str("type", codecs.ChoiceAuto)
		}
		f.Bool("disable_parallel_tool_use", !*req.Parallel)
	}
	return fieldsOrNil(&f), nil
}

func fieldsOrNil(f *jsonx.Fields) codecs.Raw {
	if raw := f.Raw(); string(raw) != "{}" {
		return raw
	}
	return nil
}

// encodeTools adds tools and tool_choice. Without tools there is no choice: the
// API refuses it. extraTools says that Extra brings tools of its own.
func encodeTools(f *jsonx.Fields, req codecs.Request, p codecs.Profile, extraTools bool) ([]codecs.Warning, error) {
	hasTools := len(req.Tools) > 0 || len(req.ServerTools) > 0 || extraTools
	choice, withhold, warnings := wire.GateChoice(req.Choice, nil, hasTools, p)
	if !hasTools {
		if choice.Mode == codecs.ChoiceAny || choice.Mode == codecs.ChoiceTool {
			warnings = append(warnings, codecs.Warnf(codecs.WarnChoiceDropped, "", "dropping tool_choice '%s': the request has no tools", choice.Mode))
		}
		return warnings, nil
	}
	if withhold {
		return warnings, nil
	}
	if len(req.Tools) > 0 || len(req.ServerTools) > 0 {
		list, more, err := Codec{}.Tools(req.Tools, p)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, more...)
		var entries []codecs.Raw
		for _, t := range jsonx.Of(list).Items() {
			entries = append(entries, t.Raw())
		}
		f.Set("tools", jsonx.List(append(entries, req.ServerTools...)...))
	}
	value, more := encodeChoice(req, choice, p)
	f.Set("tool_choice", value)
	return append(warnings, more...), nil
}
