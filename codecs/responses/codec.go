// Package responses is the codec of the OpenAI Responses dialect, also spoken
// by Azure, xAI, DeepSeek, OpenRouter, Perplexity, Ollama, vLLM, llama.cpp and
// others: POST /responses, with a flat list of typed items in both directions.
package responses

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Codec translates the Responses dialect. Its zero value is ready to use.
type Codec struct{}

var _ codecs.Full = Codec{}

// Dialect is codecs.Responses.
func (Codec) Dialect() codecs.Dialect { return codecs.Responses }

// Endpoint is /responses; the model and the stream flag travel in the body.
func (Codec) Endpoint(string, bool) string { return "/responses" }

// Match accepts paths that end in /responses (with any prefix: /v1, /api/v1,
// /openai/v1, /backend-api/codex, an Azure deployment) and Perplexity's
// /v1/agent. The model is known from a deployment path only.
func (Codec) Match(path string) (model string, stream, ok bool) {
	if i := strings.IndexAny(path, "?#"); i >= 0 {
		path = path[:i]
	}
	segments := strings.Split(strings.Trim(path, "/"), "/")
	switch segments[len(segments)-1] {
	case "responses", "agent":
	default:
		return "", false, false
	}
	if n := len(segments); n >= 3 && segments[n-3] == "deployments" {
		model = segments[n-2]
	}
	return model, false, true
}

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
		schema := t.InputSchema
		if len(schema) == 0 {
			schema = codecs.Raw(`{"type":"object","properties":{}}`)
		}
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
			f.Merge(codecs.Without(own, "type", "name", "description", "parameters", "inputSchema", "input_schema", "strict", "function"))
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

// RawCalls returns the function_call items of a body, those nested in messages
// included, in wire order.
func (Codec) RawCalls(body []byte, _ codecs.Profile) []codecs.Raw {
	var out []codecs.Raw
	root, err := codecs.ParseBody(codecs.Responses, body)
	if err != nil {
		return out
	}
	eachCall(root.Get("output"), func(call jsonx.Value) { out = append(out, call.Raw()) })
	return out
}

// eachCall visits the calls of an output list that have a name.
func eachCall(output jsonx.Value, visit func(call jsonx.Value)) {
	for _, item := range output.Items() {
		switch itemType(item) {
		case typeCall:
			if item.Get("name").Str() != "" {
				visit(item)
			}
		case typeMessage:
			for _, block := range item.Get("content").Items() {
				if block.Get("type").Str() == typeCall && block.Get("name").Str() != "" {
					visit(block)
				}
			}
		}
	}
}

// ExtractCall reads one raw function_call item. arguments is nil when they do
// not decode.
func (Codec) ExtractCall(raw codecs.Raw) (name string, arguments codecs.Raw, ok bool) {
	v, err := jsonx.Parse(raw)
	if err != nil || !v.IsObject() || v.Get("name").Str() == "" {
		return "", nil, false
	}
	if t := v.Get("type"); t.Exists() && t.Str() != typeCall {
		return "", nil, false
	}
	c, _ := readCall(v, 0, "")
	return c.Name, c.Arguments, true
}

// TextContent returns the output_text of a body without thinking.
func (c Codec) TextContent(body []byte, p codecs.Profile) string {
	if r, err := c.Reply(body, p); err == nil {
		return r.Text()
	}
	root, err := codecs.ParseBody(codecs.Responses, body)
	if err != nil {
		return ""
	}
	rd := reader{profile: p}
	for i, item := range root.Get("output").Items() {
		rd.item(item, fmt.Sprintf("/output/%d", i))
	}
	return codecs.Reply{Parts: rd.parts}.Text()
}
