package codecs

import (
	"slices"

	"github.com/toolconform/conform/internal/jsonx"
)

// Modes of a Choice.
const (
	ChoiceAuto = "auto"
	ChoiceAny  = "any"
	ChoiceNone = "none"
	ChoiceTool = "tool"
)

// ParseChoice reads a tool choice in any dialect's form. An empty tool name
// falls back to auto. A value that no form covers comes back in Choice.Raw.
// Source: spec 1.3 of the source documents.
func ParseChoice(raw Raw) Choice {
	v := jsonx.Of(raw)
	word := v.Str()
	name := ""
	if v.IsObject() {
		word = v.Get("type").Str()
		if name = v.Get("name").Str(); name == "" {
			name = v.Path("function", "name").Str()
		}
		if cfg := v.Get("functionCallingConfig"); cfg.IsObject() {
			return parseGeminiChoice(cfg, raw)
		}
		if mode := v.Get("mode").Str(); word == "" && mode != "" { // the neutral form
			word = mode
		}
	}
	switch word {
	case "auto", "none":
		return Choice{Mode: word}
	case "any", "required":
		return Choice{Mode: ChoiceAny}
	case "tool", "function":
		if name == "" {
			return Choice{Mode: ChoiceAuto}
		}
		return Choice{Mode: ChoiceTool, Name: name}
	}
	if !v.Defined() {
		return Choice{}
	}
	return Choice{Raw: raw}
}

func parseGeminiChoice(cfg jsonx.Value, raw Raw) Choice {
	names := cfg.Get("allowedFunctionNames")
	if !names.Exists() {
		names = cfg.Get("allowed_function_names")
	}
	switch cfg.Get("mode").Str() {
	case "AUTO", "":
		return Choice{Mode: ChoiceAuto}
	case "NONE":
		return Choice{Mode: ChoiceNone}
	case "ANY":
		switch names.Len() {
		case 0:
			return Choice{Mode: ChoiceAny}
		case 1:
			return Choice{Mode: ChoiceTool, Name: names.At(0).Str()}
		}
	}
	return Choice{Raw: raw}
}

// GateChoice applies the engine's tool-choice capability to a request. A choice
// that the engine lacks is not sent; a dropped auto is silent, anything else
// warns; a none that cannot be sent withholds the tools instead, and so keeps
// its meaning. Source: spec 1.3 of the source documents, capability gate.
func GateChoice(c Choice, hasTools bool, p Profile) (send Choice, withhold bool, warnings []Warning) {
	if c.Mode == "" && c.Raw == nil {
		return c, false, nil
	}
	if c.Mode == ChoiceTool && c.Name == "" {
		c = Choice{Mode: ChoiceAuto}
	}
	if p.ToolChoice == nil || (c.Mode != "" && slices.Contains(p.ToolChoice, c.Mode)) ||
		(c.Raw != nil && !slices.Equal(p.ToolChoice, []string{"-"})) {
		return c, false, nil
	}
	switch {
	case c.Mode == ChoiceAuto:
		return Choice{}, false, nil
	case c.Mode == ChoiceNone:
		if !hasTools {
			return Choice{}, true, nil
		}
		return Choice{}, true, []Warning{Warnf(WarnToolsWithheld, "", "tool_choice 'none' cannot be sent to this engine: its tools are withheld")}
	case c.Raw != nil:
		return Choice{}, false, []Warning{Warnf(WarnChoiceDropped, "", "dropping tool_choice %s: this engine has none", c.Raw)}
	default:
		return Choice{}, false, []Warning{Warnf(WarnChoiceDropped, "", "dropping tool_choice '%s': this engine does not take it", c.Mode)}
	}
}
