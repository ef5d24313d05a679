package responses

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// RawCalls returns the function_call items of a body, those nested in messages
// included, in wire order.
func (Codec) RawCalls(body []byte, _ codecs.Profile) []codecs.Raw {
	var out []codecs.Raw
	root, err := wire.ParseBody(codecs.Responses, body)
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
	root, err := wire.ParseBody(codecs.Responses, body)
	if err != nil {
		return ""
	}
	rd := reader{profile: p}
	for i, item := range root.Get("output").Items() {
		rd.item(item, fmt.Sprintf("/output/%d", i))
	}
	return codecs.Reply{Parts: rd.parts}.Text()
}
