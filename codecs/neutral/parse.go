package neutral

import (
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Request reads the neutral JSON form of a request:
//
//	{"model","system"?,"messages":[{"role","content": string | [MCP blocks]} |
//	  {"role","parts":[...]} | {"native":[...]}],
//	 "tools":[MCP tools or any dialect's],"server_tools":[...],
//	 "choice": string | {"mode","name"} | native, "parallel": bool,
//	 "max_tokens": n, "stream": bool, "extra": {...}}
func Request(raw []byte) (codecs.Request, []codecs.Warning, error) {
	v, err := jsonx.Parse(raw)
	if err != nil {
		return codecs.Request{}, nil, fmt.Errorf("request: %w", err)
	}
	if !v.IsObject() {
		return codecs.Request{}, nil, fmt.Errorf("request: want an object, got %s", v.Kind())
	}
	warnings, err := checkNeutralRequest(v)
	if err != nil {
		return codecs.Request{}, nil, err
	}
	req := codecs.Request{Model: v.Get("model").Str(), Stream: v.Get("stream").Bool()}
	if s := v.Get("system").Str(); s != "" {
		req.Messages = append(req.Messages, codecs.Message{Role: "system", Parts: []codecs.Part{{Kind: codecs.KindText, Text: s}}})
	}
	for i, m := range v.Get("messages").Items() {
		for _, k := range m.Members() {
			if !slices.Contains(messageKeys, k.Key) {
				warnings = append(warnings, codecs.Warnf(codecs.WarnUnknownKey, fmt.Sprintf("/messages/%d/%s", i, jsonx.Token(k.Key)), "a message has no key %.80q; it is not read: calls and results go into parts", k.Key))
			}
		}
		msg, err := parseNeutralMessage(m)
		if err != nil {
			return codecs.Request{}, nil, fmt.Errorf("request: messages[%d]: %w", i, err)
		}
		req.Messages = append(req.Messages, msg)
	}
	if t := v.Get("tools"); t.Defined() {
		tools, skipped, err := wire.ParseTools(t.Raw())
		if err != nil {
			return codecs.Request{}, nil, err
		}
		req.Tools, warnings = tools, append(warnings, skipped...)
	}
	for _, t := range v.Get("server_tools").Items() {
		req.ServerTools = append(req.ServerTools, t.Raw())
	}
	choice := v.Get("choice")
	if !choice.Exists() {
		choice = v.Get("tool_choice")
	}
	if choice.Defined() {
		req.Choice = wire.ParseChoice(choice.Raw())
	}
	if p := v.Get("parallel"); p.Kind() == jsonx.Bool {
		b := p.Bool()
		req.Parallel = &b
	}
	if n := v.Get("max_tokens"); n.Defined() {
		i, ok := n.Int()
		if !ok || i < 0 {
			return codecs.Request{}, nil, fmt.Errorf("request: max_tokens: want a whole number, got %s", n.Raw())
		}
		req.MaxTokens = int(i)
	}
	if e := v.Get("extra"); e.Defined() {
		if !e.IsObject() {
			return codecs.Request{}, nil, fmt.Errorf("request: extra: want an object, got %s", e.Kind())
		}
		req.Extra = e.Raw()
	}
	return req, warnings, nil
}

// messageKeys are the keys of a neutral message.
var messageKeys = []string{"role", "content", "parts", "native"}

// ResultKeys are the keys that a neutral result is read from.
func ResultKeys() []string {
	return []string{"pos", "id", "call_id", "tool_call_id", "tool_use_id", "name", "content", "isError", "is_error", "structuredContent", "_meta"}
}

// checkNeutralRequest refuses values of a wrong kind, which would be read as
// absent, and warns about keys that nothing reads.
func checkNeutralRequest(v jsonx.Value) ([]codecs.Warning, error) {
	if !v.Get("messages").Exists() {
		return nil, fmt.Errorf(`request: messages: missing; give a list of {"role","content"}`)
	}
	kinds := map[string]jsonx.Kind{
		"model": jsonx.String, "system": jsonx.String, "messages": jsonx.Array, "server_tools": jsonx.Array,
		"parallel": jsonx.Bool, "stream": jsonx.Bool, "max_tokens": jsonx.Number, "extra": jsonx.Object,
		"tools": jsonx.Absent, "choice": jsonx.Absent, "tool_choice": jsonx.Absent, // read in several forms
	}
	var warnings []codecs.Warning
	for _, m := range v.Members() {
		kind, known := kinds[m.Key]
		switch {
		case !known:
			warnings = append(warnings, codecs.Warnf(codecs.WarnUnknownKey, "/"+jsonx.Token(m.Key), "the request has no key %.80q; it is not read", m.Key))
		case kind != jsonx.Absent && m.Value.Defined() && m.Value.Kind() != kind:
			return nil, fmt.Errorf("request: %s: want %s, got %s", m.Key, kind, m.Value.Kind())
		}
	}
	return warnings, nil
}

func parseNeutralMessage(v jsonx.Value) (codecs.Message, error) {
	if v.Kind() == jsonx.String { // a plain string is a user message
		return codecs.Message{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: v.Str()}}}, nil
	}
	if !v.IsObject() {
		return codecs.Message{}, fmt.Errorf("want an object or a string, got %s", v.Kind())
	}
	msg := codecs.Message{Role: v.Get("role").Str()}
	for _, n := range v.Get("native").Items() {
		msg.Native = append(msg.Native, n.Raw())
	}
	if msg.Native != nil {
		return msg, nil
	}
	switch msg.Role {
	case "system", "user", "assistant", "tool":
	default:
		return codecs.Message{}, fmt.Errorf("role %q is none of system, user, assistant, tool", msg.Role)
	}
	if parts := v.Get("parts"); parts.Exists() {
		var err error
		msg.Parts, err = readParts(parts.Raw())
		return msg, err
	}
	content := v.Get("content")
	switch content.Kind() {
	case jsonx.String:
		msg.Parts = []codecs.Part{{Kind: codecs.KindText, Text: content.Str()}}
	case jsonx.Array:
		var blocks []codecs.Raw
		for _, b := range content.Items() {
			blocks = append(blocks, b.Raw())
		}
		msg.Parts = promptParts(blocks)
	case jsonx.Absent, jsonx.Null:
	default:
		return codecs.Message{}, fmt.Errorf("content: want a string or a list of MCP content blocks, got %s", content.Kind())
	}
	return msg, nil
}

// promptParts turns MCP content blocks of a prompt into parts: text and text
// resources become text, images, audio, blobs and links become media.
func promptParts(blocks []codecs.Raw) []codecs.Part {
	var out []codecs.Part
	for _, it := range wire.ReadItems(blocks) {
		v := jsonx.Of(it.Raw)
		switch {
		case it.Kind == wire.ItemBlob:
			out = append(out, codecs.Part{Kind: codecs.KindMedia, Media: &codecs.Media{MIME: it.MIME, URI: it.URI, Data: it.Data, Name: v.Get("name").Str()}})
		case it.Type == "resource_link":
			out = append(out, codecs.Part{Kind: codecs.KindMedia, Media: &codecs.Media{MIME: it.MIME, URI: it.URI, Name: v.Get("name").Str()}})
		default:
			out = append(out, codecs.Part{Kind: codecs.KindText, Text: it.String()})
		}
	}
	return out
}

// readParts reads a list of parts. The fields of a call, a result or
// media may stand in the part itself or in an object named after its kind.
func readParts(raw []byte) ([]codecs.Part, error) {
	list, err := jsonx.Parse(raw)
	if err != nil {
		return nil, err
	}
	if !list.IsArray() {
		return nil, fmt.Errorf("parts: want a list, got %s", list.Kind())
	}
	var out []codecs.Part
	calls := 0
	for i, v := range list.Items() {
		p, err := parseNeutralPart(v, &calls)
		if err != nil {
			return nil, fmt.Errorf("parts[%d]: %w", i, err)
		}
		out = append(out, p)
	}
	return out, nil
}

// wantTexts refuses members that are neither a string nor null: read as absent, an
// id or a name would pair a result with the call of another.
func wantTexts(v jsonx.Value, keys ...string) error {
	for _, key := range keys {
		if m := v.Get(key); m.Defined() && m.Kind() != jsonx.String {
			return fmt.Errorf("%s: want %s, got %s", key, jsonx.String, m.Kind())
		}
	}
	return nil
}

func parseNeutralPart(v jsonx.Value, calls *int) (codecs.Part, error) {
	if err := wantTexts(v, "kind", "type", "text", "signature", "id"); err != nil {
		return codecs.Part{}, err
	}
	p := codecs.Part{
		Kind: codecs.Kind(v.Get("kind").Str()), Type: v.Get("type").Str(), Text: v.Get("text").Str(),
		Signature: v.Get("signature").Str(), Redacted: v.Get("redacted").Bool(), Extra: v.Get("extra").Raw(),
	}
	inner := func(name string) jsonx.Value {
		if in := v.Get(name); in.IsObject() {
			return in
		}
		return v
	}
	switch p.Kind {
	case codecs.KindText, codecs.KindReasoning, codecs.KindServer, codecs.KindClient, codecs.KindOpaque:
		p.ID = v.Get("id").Str()
	case codecs.KindMedia:
		m := inner("media")
		if err := wantTexts(m, "mime", "uri", "name", "data"); err != nil {
			return p, err
		}
		p.Media = &codecs.Media{MIME: m.Get("mime").Str(), URI: m.Get("uri").Str(), Name: m.Get("name").Str(), Data: m.Get("data").Str()}
	case codecs.KindCall:
		in := inner("call")
		if err := wantTexts(in, "id", "name", "signature", "item_id"); err != nil {
			return p, err
		}
		c := &codecs.ToolCall{
			Pos: *calls, ID: in.Get("id").Str(), Name: in.Get("name").Str(), Cut: in.Get("cut").Bool(),
			Signature: in.Get("signature").Str(), ItemID: in.Get("item_id").Str(), Extra: in.Get("extra").Raw(),
		}
		args := in.Get("arguments_text")
		if !args.Exists() {
			args = in.Get("arguments")
		}
		wire.ReadArguments(c, args, "")
		p.Call, p.Signature, p.Extra = c, "", nil
		*calls++
	case codecs.KindResult:
		r, err := parseNeutralResult(inner("result"))
		if err != nil {
			return p, err
		}
		p.Result, p.Text = &r, ""
	default:
		return p, fmt.Errorf("kind %q is none of text, reasoning, media, call, result, server, client, opaque", p.Kind)
	}
	return p, nil
}

// Results reads a list of tool results
// {"pos"?,"id","name","content":[MCP],"isError","structuredContent"}.
func Results(raw []byte) ([]codecs.ToolResult, error) {
	list, err := jsonx.Parse(raw)
	if err != nil {
		return nil, fmt.Errorf("results: %w", err)
	}
	if !list.IsArray() {
		return nil, fmt.Errorf("results: want a list, got %s", list.Kind())
	}
	var out []codecs.ToolResult
	for i, v := range list.Items() {
		r, err := parseNeutralResult(v)
		if err != nil {
			return nil, fmt.Errorf("results[%d]: %w", i, err)
		}
		out = append(out, r)
	}
	return out, nil
}

func parseNeutralResult(v jsonx.Value) (codecs.ToolResult, error) {
	if !v.IsObject() {
		return codecs.ToolResult{}, fmt.Errorf("want an object, got %s", v.Kind())
	}
	if err := wantTexts(v, "id", "call_id", "tool_call_id", "tool_use_id", "name"); err != nil {
		return codecs.ToolResult{}, err
	}
	r := codecs.ToolResult{ID: v.Get("id").Str(), Name: v.Get("name").Str()}
	for _, key := range []string{"call_id", "tool_call_id", "tool_use_id"} { // as the wires spell it
		if r.ID == "" {
			r.ID = v.Get(key).Str()
		}
	}
	if pos := v.Get("pos"); pos.Defined() {
		n, ok := pos.Int()
		if !ok || n < 0 || n > 1<<31 {
			return r, fmt.Errorf("pos: want the ordinal of a call, 0 or more, got %.40s", pos.Raw())
		}
		at := int(n)
		r.Pos = &at
	}
	if err := wire.ReadMCPResult(&r, v); err != nil {
		return r, err
	}
	return r, nil
}

// Reply reads the neutral form of a reply, as scenario turns have
// it: {"id","model","parts":[...],"finish","raw_finish","finish_message",
// "usage":{...}}.
func Reply(raw []byte) (codecs.Reply, error) {
	v, err := jsonx.Parse(raw)
	if err != nil {
		return codecs.Reply{}, fmt.Errorf("reply: %w", err)
	}
	if err := wantTexts(v, "id", "model", "finish", "raw_finish", "finish_message"); err != nil {
		return codecs.Reply{}, fmt.Errorf("reply: %w", err)
	}
	r := codecs.Reply{
		ID: v.Get("id").Str(), Model: v.Get("model").Str(), Finish: v.Get("finish").Str(),
		RawFinish: v.Get("raw_finish").Str(), FinishMessage: v.Get("finish_message").Str(),
	}
	if p := v.Get("parts"); p.Defined() {
		if r.Parts, err = readParts(p.Raw()); err != nil {
			return codecs.Reply{}, fmt.Errorf("reply: %w", err)
		}
	}
	if u := v.Get("usage"); u.IsObject() {
		r.Usage = &codecs.Usage{}
		for name, to := range map[string]*int64{
			"input": &r.Usage.Input, "output": &r.Usage.Output,
			"cached": &r.Usage.Cached, "cache_write": &r.Usage.CacheWrite, "reasoning": &r.Usage.Reasoning,
		} {
			*to, _ = u.Get(name).Int()
		}
	}
	return r, nil
}
