package responses

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Tools encodes the flat function form with strict off: OpenAI turns an absent
// strict on and then makes every optional property required. A tool that came
// with a strict of its own keeps it, whatever its form, and a flat one its other
// keys. Profile.StrictSchema leaves strict out. The schema goes out as it
// came but for what OpenAI refuses.
func (Codec) Tools(tools []codecs.Tool, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	list := make([]codecs.Raw, len(tools))
	var warnings []codecs.Warning
	for i, t := range tools {
		if t.Name == "" {
			return nil, nil, fmt.Errorf("tools[%d]: a tool needs a name", i)
		}
		schema, more, err := wire.ToolSchema(t, schemaRules, fmt.Sprintf("/%d/parameters", i))
		if err != nil {
			return nil, nil, fmt.Errorf("tools[%d]: %w", i, err)
		}
		warnings = append(warnings, more...)
		var f jsonx.Fields
		f.Str("type", "function").Str("name", t.Name).Str("description", t.Description).Set("parameters", schema)
		own := jsonx.Of(t.Raw)
		strict := own.Get("strict") // of whatever form
		if own.Get("type").Str() != "function" {
			own = jsonx.Value{}
		}
		if nested := own.Get("function"); nested.IsObject() {
			strict = nested.Get("strict")
		} else {
			f.Merge(wire.Without(own, "type", "name", "description", "parameters", "inputSchema", "input_schema", "strict", "function"))
		}
		switch {
		case strict.Exists():
			f.Set("strict", strict.Raw())
		case !p.StrictSchema:
			f.Bool("strict", false)
		}
		list[i] = f.Raw()
	}
	return jsonx.List(list...), warnings, nil
}

// schemaRules is what OpenAI refuses in parameters.
var schemaRules = wire.SchemaRules{NotAtRoot: []string{"oneOf", "anyOf", "allOf", "enum", "not"}, Items: true}

// ownChoice tells whether a choice that is none of the neutral ones is one of
// this wire: a list of allowed tools, a tool that the provider runs, a custom
// tool, or a word of a host.
func ownChoice(v jsonx.Value) bool {
	switch typ := v.Get("type").Str(); typ {
	case "":
		return v.Kind() == jsonx.String
	case "allowed_tools":
		return v.Get("tools").IsArray()
	case "custom":
		return v.Get("name").Str() != ""
	default:
		_, owner, _ := wire.ClassifyTool(v.Raw())
		return owner == codecs.Responses
	}
}

// choiceValue is the tool_choice field of a choice, nil for none.
// Source: spec 1.3.
func choiceValue(c codecs.Choice) codecs.Raw {
	switch c.Mode {
	case codecs.ChoiceAuto, codecs.ChoiceNone:
		return jsonx.Quote(c.Mode)
	case codecs.ChoiceAny:
		return jsonx.Quote("required")
	case codecs.ChoiceTool:
		var f jsonx.Fields
		return f.Str("type", "function").Str("name", c.Name).Raw()
	}
	return c.Raw
}

// requestTools writes tools, tool_choice and parallel_tool_calls.
func (c Codec) requestTools(f *jsonx.Fields, req codecs.Request, p codecs.Profile) ([]codecs.Warning, error) {
	warnings, err := wire.ServerTools(codecs.Responses, req.ServerTools, p, true)
	if err != nil {
		return nil, err
	}
	hasTools := len(req.Tools)+len(req.ServerTools) > 0
	choice, withhold, more := wire.GateChoice(req.Choice, ownChoice, hasTools, p)
	warnings = append(warnings, more...)
	if hasTools && !withhold {
		functions, more, err := c.Tools(req.Tools, p)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, more...)
		var list []codecs.Raw
		for _, t := range jsonx.Of(functions).Items() {
			list = append(list, t.Raw())
		}
		f.Set("tools", jsonx.List(append(list, req.ServerTools...)...))
	}
	offered := hasTools && !withhold || jsonx.Of(req.Extra).Get("tools").Len() > 0
	switch {
	case offered:
		f.Set("tool_choice", choiceValue(choice))
	case !hasTools && (choice.Mode == codecs.ChoiceAny || choice.Mode == codecs.ChoiceTool || choice.Raw != nil):
		warnings = append(warnings, codecs.Warnf(codecs.WarnChoiceDropped, "", "dropping tool_choice: the request has no tools"))
	}
	switch {
	case req.Parallel == nil:
	case p.NoParallel:
		warnings = append(warnings, codecs.Warnf(codecs.WarnParallelDropped, "", "dropping parallel_tool_calls: this engine has no such field"))
	case hasTools && !withhold:
		f.Bool("parallel_tool_calls", *req.Parallel)
	}
	return warnings, nil
}
