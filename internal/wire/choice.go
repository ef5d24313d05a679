package wire

import (
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// ParseChoice reads a tool choice in any dialect's form. An empty tool name
// falls back to auto. A value that no form covers comes back in Choice.Raw.
// Source: spec 1.3 of the source documents.
func ParseChoice(raw codecs.Raw) codecs.Choice {
	v := jsonx.Of(raw)
	word := v.Str()
	name := ""
	if v.IsObject() {
		word = v.Get("type").Str()
		if name = v.Get("name").Str(); name == "" {
			name = v.Path("function", "name").Str()
		}
		if cfg := v.Get("functionCallingConfig"); cfg.IsObject() {
			return parseCallingConfig(cfg, raw)
		}
		if mode := v.Get("mode").Str(); word == "" && mode != "" { // the neutral form
			word = mode
		}
	}
	switch word {
	case "auto", "none":
		return codecs.Choice{Mode: word}
	case "any", "required":
		return codecs.Choice{Mode: codecs.ChoiceAny}
	case "tool", "function":
		if name == "" {
			return codecs.Choice{Mode: codecs.ChoiceAuto}
		}
		return codecs.Choice{Mode: codecs.ChoiceTool, Name: name}
	}
	if !v.Defined() {
		return codecs.Choice{}
	}
	return codecs.Choice{Raw: raw}
}

func parseCallingConfig(cfg jsonx.Value, raw codecs.Raw) codecs.Choice {
	names := cfg.Get("allowedFunctionNames")
	if !names.Exists() {
		names = cfg.Get("allowed_function_names")
	}
	switch cfg.Get("mode").Str() {
	case "AUTO", "":
		return codecs.Choice{Mode: codecs.ChoiceAuto}
	case "NONE":
		return codecs.Choice{Mode: codecs.ChoiceNone}
	case "ANY":
		switch names.Len() {
		case 0:
			return codecs.Choice{Mode: codecs.ChoiceAny}
		case 1:
			return codecs.Choice{Mode: codecs.ChoiceTool, Name: names.At(0).Str()}
		}
	}
	return codecs.Choice{Raw: raw}
}

// GateChoice applies the engine's tool-choice capability to a request. A choice
// that the engine lacks is not sent; a dropped auto is silent, anything else
// warns; a none that cannot be sent withholds the tools instead, and so keeps
// its meaning. A value that no neutral form covers goes out where own says that
// the wire knows it; nil knows none.
// Source: spec 1.3 of the source documents, capability gate.
func GateChoice(c codecs.Choice, own func(jsonx.Value) bool, hasTools bool, p codecs.Profile) (send codecs.Choice, withhold bool, warnings []codecs.Warning) {
	if c.Mode == "" && c.Raw == nil {
		return c, false, nil
	}
	if c.Mode == "" && (own == nil || !own(jsonx.Of(c.Raw))) {
		return codecs.Choice{}, false, []codecs.Warning{codecs.Warnf(codecs.WarnChoiceDropped, "", "dropping tool_choice %s: this wire has no such form", c.Raw)}
	}
	if c.Mode == codecs.ChoiceTool && c.Name == "" {
		c = codecs.Choice{Mode: codecs.ChoiceAuto}
	}
	if p.ToolChoice == nil || (c.Mode != "" && slices.Contains(p.ToolChoice, c.Mode)) ||
		(c.Raw != nil && !slices.Equal(p.ToolChoice, []string{"-"})) {
		return c, false, nil
	}
	switch {
	case c.Mode == codecs.ChoiceAuto:
		return codecs.Choice{}, false, nil
	case c.Mode == codecs.ChoiceNone:
		if !hasTools {
			return codecs.Choice{}, true, nil
		}
		return codecs.Choice{}, true, []codecs.Warning{codecs.Warnf(codecs.WarnToolsWithheld, "", "tool_choice 'none' cannot be sent to this engine: its tools are withheld")}
	case c.Raw != nil:
		return codecs.Choice{}, false, []codecs.Warning{codecs.Warnf(codecs.WarnChoiceDropped, "", "dropping tool_choice %s: this engine has none", c.Raw)}
	default:
		return codecs.Choice{}, false, []codecs.Warning{codecs.Warnf(codecs.WarnChoiceDropped, "", "dropping tool_choice '%s': this engine does not take it", c.Mode)}
	}
}
