// Package openai is the codec of the chat completions dialect: OpenAI itself
// and the many hosts that speak its wire with small differences. One tolerant
// decoder reads them all; what a host demands of a request comes from the
// Profile.
package openai

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Codec implements the chat completions dialect. It has no state.
type Codec struct{}

var _ codecs.Full = Codec{}

// Message keys that hold reasoning text, in the order in which they are read.
// An empty one does not mask a filled one. Source: spec 2.6 and table A of the
// wire facts.
var reasoningKeys = []string{"reasoning_content", "reasoning", "reasoning_text"}

const detailsKey = "reasoning_details"

// Dialect returns codecs.OpenAI.
func (Codec) Dialect() codecs.Dialect { return codecs.OpenAI }

// Endpoint returns the path of chat completions; streams use the same one.
func (Codec) Endpoint(string, bool) string { return "/chat/completions" }

// Tools encodes tool definitions as nested function entries. A definition that
// came in this dialect's own form keeps its further keys, and strict travels
// from any form that names it. The schema goes out unchanged.
// Source: spec 1.1.
func (Codec) Tools(tools []codecs.Tool, _ codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	entries := make([]codecs.Raw, len(tools))
	for i, t := range tools {
		entry, err := toolEntry(t)
		if err != nil {
			return nil, nil, fmt.Errorf("tools[%d]: %w", i, err)
		}
		entries[i] = entry
	}
	return jsonx.List(entries...), nil, nil
}

func toolEntry(t codecs.Tool) (codecs.Raw, error) {
	if t.Name == "" {
		return nil, fmt.Errorf("a tool needs a name")
	}
	schema := t.InputSchema
	if len(schema) == 0 {
		schema = codecs.Raw(`{"type":"object","properties":{}}`)
	}
	if err := jsonx.Check(schema); err != nil {
		return nil, fmt.Errorf("input schema of %s: %w", t.Name, err)
	}
	var fn, entry jsonx.Fields
	fn.Str("name", t.Name).Str("description", t.Description).Set("parameters", schema)
	entry.Str("type", "function")
	raw := jsonx.Value{}
	if jsonx.Check(t.Raw) == nil {
		raw = jsonx.Of(t.Raw)
	}
	if inner := raw.Get("function"); raw.Get("type").Str() == "function" && inner.IsObject() {
		entry.Set("function", joined(fn.Raw(), codecs.Without(inner, "name", "description", "parameters")))
		return joined(entry.Raw(), codecs.Without(raw, "type", "function")), nil
	}
	if strict := raw.Get("strict"); strict.Kind() == jsonx.Bool {
		fn.Set("strict", strict.Raw())
	}
	return entry.Set("function", fn.Raw()).Raw(), nil
}

// filled is codecs.Without, and null members left out too.
func filled(v jsonx.Value, keys ...string) codecs.Raw {
	for _, m := range v.Members() {
		if !m.Value.Defined() {
			keys = append(keys, m.Key)
		}
	}
	return codecs.Without(v, keys...)
}

// joined appends the members of the object rest, whose keys are not in object.
func joined(object, rest codecs.Raw) codecs.Raw {
	if len(rest) <= len("{}") {
		return object
	}
	return append(append(object[:len(object)-1:len(object)-1], ','), rest[1:]...)
}

// replaced returns the object v with one member set; every other value keeps
// its bytes.
func replaced(v jsonx.Value, key string, value codecs.Raw) codecs.Raw {
	members := v.Members()
	for i, m := range members {
		if m.Key == key {
			members[i].Value = jsonx.Of(value)
			return codecs.Object(members)
		}
	}
	return codecs.Object(append(members, jsonx.Member{Key: key, Value: jsonx.Of(value)}))
}
