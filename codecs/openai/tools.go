package openai

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Tools encodes tool definitions as nested function entries. A definition that
// came in this dialect's own form keeps its further keys, and strict travels
// from any form that names it. The schema goes out as it came but for what
// OpenAI refuses. Source: spec 1.1.
func (Codec) Tools(tools []codecs.Tool, _ codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	entries := make([]codecs.Raw, len(tools))
	var warnings []codecs.Warning
	for i, t := range tools {
		if t.Name == "" {
			return nil, nil, fmt.Errorf("tools[%d]: a tool needs a name", i)
		}
		schema, more, err := wire.ToolSchema(t, schemaRules, fmt.Sprintf("/%d/function/parameters", i))
		if err != nil {
			return nil, nil, fmt.Errorf("tools[%d]: %w", i, err)
		}
		entries[i], warnings = toolEntry(t, schema), append(warnings, more...)
	}
	return jsonx.List(entries...), warnings, nil
}

// schemaRules is what OpenAI refuses in parameters.
var schemaRules = wire.SchemaRules{NotAtRoot: []string{"oneOf", "anyOf", "allOf", "enum", "not"}, Items: true}

func toolEntry(t codecs.Tool, schema codecs.Raw) codecs.Raw {
	var fn, entry jsonx.Fields
	fn.Str("name", t.Name).Str("description", t.Description).Set("parameters", schema)
	entry.Str("type", "function")
	raw := jsonx.Value{}
	if jsonx.Check(t.Raw) == nil {
		raw = jsonx.Of(t.Raw)
	}
	if inner := raw.Get("function"); raw.Get("type").Str() == "function" && inner.IsObject() {
		entry.Set("function", joined(fn.Raw(), wire.Without(inner, "name", "description", "parameters")))
		return joined(entry.Raw(), wire.Without(raw, "type", "function"))
	}
	if strict := raw.Get("strict"); strict.Kind() == jsonx.Bool {
		fn.Set("strict", strict.Raw())
	}
	return entry.Set("function", fn.Raw()).Raw()
}

// ownChoice tells whether a choice that is none of the neutral ones is one of
// this wire: a list of allowed tools, a custom tool, or a word of a host.
func ownChoice(v jsonx.Value) bool {
	switch v.Get("type").Str() {
	case "allowed_tools":
		return v.Get("allowed_tools").IsObject()
	case "custom":
		return v.Get("custom").IsObject()
	}
	return v.Kind() == jsonx.String
}

// choice adds tool_choice in the forms of spec 1.3.
func (w *writer) choice(f *jsonx.Fields, c codecs.Choice, offered bool) {
	if c.Mode == "" && c.Raw == nil {
		return
	}
	if !offered {
		if c.Mode != codecs.ChoiceAuto && c.Mode != codecs.ChoiceNone {
			w.Warn(codecs.WarnChoiceDropped, "", "dropping tool_choice: the request has no tools")
		}
		return
	}
	switch c.Mode {
	case codecs.ChoiceAny:
		f.Str("tool_choice", "required")
	case codecs.ChoiceTool:
		if c.Name == "" {
			f.Str("tool_choice", "auto")
			return
		}
		var fn, o jsonx.Fields
		fn.Str("name", c.Name)
		f.Set("tool_choice", o.Str("type", "function").Set("function", fn.Raw()).Raw())
	case "":
		f.Set("tool_choice", c.Raw)
	default:
		f.Str("tool_choice", c.Mode)
	}
}
