package responses

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Tools encodes the flat function form with strict off: OpenAI turns an absent
// strict on and then makes every optional property required. A tool that came
// in this dialect's or the chat form keeps its own strict, and a flat one its
// other keys. Profile.StrictSchema leaves strict out.
func (Codec) Tools(tools []codecs.Tool, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	list := make([]codecs.Raw, len(tools))
	for i, t := range tools {
		if t.Name == "" {
			return nil, nil, fmt.Errorf("tools[%d]: a tool needs a name", i)
		}
		schema := wire.Schema(t)
		var f jsonx.Fields
		f.Str("type", "function").Str("name", t.Name).Str("description", t.Description).Set("parameters", schema)
		own := jsonx.Of(t.Raw)
		if own.Get("type").Str() != "function" {
			own = jsonx.Value{}
		}
		strict := own.Get("strict")
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
	return jsonx.List(list...), nil, nil
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
	choice, withhold, more := wire.GateChoice(req.Choice, hasTools, p)
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
	f.Set("tool_choice", choiceValue(choice))
	switch {
	case req.Parallel == nil:
	case p.NoParallel:
		warnings = append(warnings, codecs.Warnf(codecs.WarnParallelDropped, "", "dropping parallel_tool_calls: this engine has no such field"))
	case hasTools && !withhold:
		f.Bool("parallel_tool_calls", *req.Parallel)
	}
	return warnings, nil
}
