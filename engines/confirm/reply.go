package confirm

import (
	"regexp"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
)

// reply is what a reply shows, whether it came in one piece or as a stream.
type reply struct {
	failed bool // an error under a success status, or no JSON at all
	text   string
	fields map[string]bool // keys, blocks and items that carry reasoning
	calls  []call
	limit  bool // the token limit ended it
	server bool // the provider ran a tool
	blocks map[int64]int
}

type call struct {
	id, args string
	object   bool // arguments are an object, not a text
}

func (r *reply) says(words ...string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(r.text, w) })
}

// lastCut says how the last call of a reply looks that the limit ended; "" when
// it looks complete or is not there.
func (r *reply) lastCut() string {
	if len(r.calls) == 0 {
		return ""
	}
	c := r.calls[len(r.calls)-1]
	switch {
	case c.object && jsonx.Of([]byte(c.args)).Len() == 0:
		return engines.CutEmptyObject
	case c.object:
		return ""
	case c.args == "":
		return engines.CutEmptyText
	case jsonx.Check([]byte(c.args)) != nil:
		return engines.CutPartialText
	}
	return ""
}

var nine = regexp.MustCompile(`^[A-Za-z0-9]{9}$`)

// shows tells whether the ids of the calls are of the kind.
func (r *reply) shows(kind string, seen map[string]bool) bool {
	if len(r.calls) == 0 {
		return false
	}
	all := func(ok func(call) bool) bool {
		return !slices.ContainsFunc(r.calls, func(c call) bool { return !ok(c) })
	}
	switch kind {
	case "given":
		return all(func(c call) bool { return c.id != "" })
	case "optional":
		return !all(func(c call) bool { return c.id != "" })
	case "none":
		return all(func(c call) bool { return c.id == "" })
	case "mistral9":
		return all(func(c call) bool { return nine.MatchString(c.id) })
	case "repeated":
		return slices.ContainsFunc(r.calls, func(c call) bool { return seen[c.id] })
	}
	return false
}

func readReply(dialect string, x exchange) *reply {
	r := &reply{fields: map[string]bool{}, blocks: map[int64]int{}}
	docs := documents(x)
	r.failed = len(docs) == 0
	r.text = x.Response.Raw + string(x.Response.Body)
	for _, d := range docs {
		if e := d.Get("error"); e.Defined() || d.Get("type").Str() == "error" {
			r.failed = true
		}
		switch codecs.Dialect(dialect) {
		case codecs.OpenAI, codecs.Hermes:
			r.openai(d)
		case codecs.Anthropic:
			r.anthropic(d)
		case codecs.Gemini:
			r.gemini(d)
		case codecs.Ollama:
			r.message(d.Get("message"))
			r.limit = r.limit || d.Get("done_reason").Str() == "length"
		case codecs.Responses:
			r.responses(d)
		}
	}
	return r
}

// documents splits a reply into its JSON values: the body, the elements of a
// list, the data of an SSE stream or the lines of NDJSON.
func documents(x exchange) []jsonx.Value {
	var out []jsonx.Value
	add := func(b []byte) {
		v, err := jsonx.Parse(b)
		switch {
		case err != nil:
		case v.IsArray():
			out = append(out, v.Items()...)
		default:
			out = append(out, v)
		}
	}
	if len(x.Response.Body) > 0 {
		add(x.Response.Body)
		return out
	}
	if jsonx.Check([]byte(x.Response.Raw)) == nil {
		add([]byte(x.Response.Raw))
		return out
	}
	for _, line := range strings.Split(x.Response.Raw, "\n") {
		line = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "data:"))
		if strings.HasPrefix(line, "{") {
			add([]byte(line))
		}
	}
	return out
}

func (r *reply) openai(d jsonx.Value) {
	c := d.Get("choices").At(0)
	if c.Get("finish_reason").Str() == "length" {
		r.limit = true
	}
	switch c.Get("native_finish_reason").Str() {
	case "length", "max_output_tokens", "MAX_TOKENS", "max_tokens":
		r.limit = true
	}
	if m := c.Get("message"); m.Exists() {
		r.message(m)
	} else {
		r.message(c.Get("delta"))
	}
}

// message reads a chat message or a delta of one.
func (r *reply) message(m jsonx.Value) {
	for _, key := range []string{"reasoning_content", "reasoning", "reasoning_details", "thinking", "extra_content"} {
		if x := m.Get(key); x.Str() != "" || x.Len() > 0 {
			r.fields[key] = true
		}
	}
	content := m.Get("content")
	if strings.Contains(content.Str(), "<think>") {
		r.fields["content"] = true
	}
	for _, p := range content.Items() {
		if p.Get("type").Str() == "thinking" {
			r.fields["content"] = true
		}
	}
	r.server = r.server || m.Get("executed_tools").Len() > 0
	for _, a := range m.Get("annotations").Items() {
		r.server = r.server || a.Get("type").Str() == "url_citation"
	}
	for i, tc := range m.Get("tool_calls").Items() {
		if tc.Get("extra_content").Len() > 0 {
			r.fields["extra_content"] = true
		}
		args := tc.Get("function").Get("arguments")
		index, ok := tc.Get("index").Int()
		if !ok {
			index = int64(i)
		}
		id := tc.Get("id").Str()
		at, known := r.blocks[index]
		if !known || id != "" && r.calls[at].id != "" && r.calls[at].id != id {
			at = len(r.calls)
			r.blocks[index] = at
			r.calls = append(r.calls, call{id: id, object: args.IsObject()})
		}
		if args.IsObject() {
			r.calls[at].args = string(args.Raw())
		} else {
			r.calls[at].args += args.Str()
		}
	}
}

func (r *reply) anthropic(d jsonx.Value) {
	if reason := either(d, "stop_reason", "delta"); reason.Str() == "max_tokens" || reason.Get("stop_reason").Str() == "max_tokens" {
		r.limit = true
	}
	for _, b := range d.Get("content").Items() {
		r.block(b, -1)
	}
	index, _ := d.Get("index").Int()
	if b := d.Get("content_block"); b.Exists() {
		r.block(b, index)
	}
	if at, ok := r.blocks[index]; ok && d.Path("delta", "type").Str() == "input_json_delta" {
		// A stream carries the text of the arguments; the object of the start
		// is a stand-in.
		if r.calls[at].object {
			r.calls[at].object, r.calls[at].args = false, ""
		}
		r.calls[at].args += d.Path("delta", "partial_json").Str()
	}
}

func (r *reply) block(b jsonx.Value, index int64) {
	switch t := b.Get("type").Str(); t {
	case "thinking", "redacted_thinking":
		r.fields["thinking"] = true
	case "tool_use":
		input := b.Get("input")
		if index >= 0 {
			r.blocks[index] = len(r.calls)
		}
		r.calls = append(r.calls, call{id: b.Get("id").Str(), args: string(input.Raw()), object: input.IsObject()})
	case "server_tool_use", "mcp_tool_use":
		r.server = true
	}
}

func (r *reply) gemini(d jsonx.Value) {
	c := d.Get("candidates").At(0)
	r.limit = r.limit || either(c, "finishReason", "finish_reason").Str() == "MAX_TOKENS"
	r.server = r.server || either(c, "groundingMetadata", "grounding_metadata").Len() > 0
	for _, p := range c.Path("content", "parts").Items() {
		if either(p, "thoughtSignature", "thought_signature").Str() != "" {
			r.fields["thoughtSignature"] = true
		}
		r.server = r.server || either(p, "executableCode", "executable_code").Exists() || p.Get("toolCall").Exists()
		if f := either(p, "functionCall", "function_call"); f.Exists() {
			r.calls = append(r.calls, call{id: f.Get("id").Str(), args: string(f.Get("args").Raw()), object: true})
		}
	}
}

func (r *reply) responses(d jsonx.Value) {
	if item := d.Get("item"); item.Exists() && d.Get("type").Str() == "response.output_item.done" {
		r.item(item)
	}
	if resp := d.Get("response"); resp.Exists() {
		// The terminal event repeats the items that were done before it.
		r.envelope(resp)
		return
	}
	r.envelope(d)
	for _, item := range d.Get("output").Items() {
		r.item(item)
	}
}

func (r *reply) envelope(d jsonx.Value) {
	if e := d.Get("error"); e.Defined() {
		r.failed = true
	}
	switch d.Path("incomplete_details", "reason").Str() {
	case "max_output_tokens", "max_tokens":
		r.limit = true
	}
}

func (r *reply) item(item jsonx.Value) {
	switch t := item.Get("type").Str(); t {
	case "reasoning":
		r.fields["reasoning"] = true
		if item.Get("encrypted_content").Str() != "" {
			r.fields["encrypted_content"] = true
		}
	case "function_call":
		r.calls = append(r.calls, call{id: item.Get("call_id").Str(), args: item.Get("arguments").Str()})
	case "web_search_call", "file_search_call", "code_interpreter_call", "image_generation_call", "mcp_call",
		"mcp_list_tools", "x_search_call":
		r.server = true
	}
}
