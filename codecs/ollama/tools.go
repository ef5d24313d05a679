package ollama

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Tools encodes tool definitions as
// [{"type":"function","function":{"name","description","parameters"}}]. The
// schema goes out whole; the server drops what it does not use.
func (Codec) Tools(tools []codecs.Tool, _ codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	out := make([]codecs.Raw, len(tools))
	var warnings []codecs.Warning
	for i, t := range tools {
		if t.Name == "" {
			return nil, nil, fmt.Errorf("ollama: tools[%d]: a tool needs a name", i)
		}
		schema := wire.Schema(t)
		// Servers in languages whose empty map is an empty list say [] for {}; this
		// one fails to read that, and the whole request with it.
		if props := jsonx.Of(schema).Get("properties"); props.IsArray() && props.Len() == 0 {
			if mended, err := jsonx.Set(schema, "/properties", codecs.Raw("{}")); err == nil {
				schema = mended
				warnings = append(warnings, codecs.Warnf(codecs.WarnSchemaReduced, fmt.Sprintf("/tools/%d", i), "the properties of tool %s are an empty list; {} goes out", t.Name))
			}
		}
		var fn, f jsonx.Fields
		fn.Str("name", t.Name).Str("description", t.Description).Set("parameters", schema)
		out[i] = f.Str("type", "function").Set("function", fn.Raw()).Raw()
	}
	return jsonx.List(out...), warnings, nil
}
