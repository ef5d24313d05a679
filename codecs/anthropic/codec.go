// Package anthropic is the codec of the Anthropic Messages dialect, as
// Anthropic, its clouds (Bedrock, Vertex, Azure) and the compatible endpoints
// of other providers speak it.
package anthropic

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Codec implements codecs.Full for the Messages dialect. It holds no state.
type Codec struct{}

var _ codecs.Full = Codec{}

// Dialect returns codecs.Anthropic.
func (Codec) Dialect() codecs.Dialect { return codecs.Anthropic }

// Endpoint is /v1/messages for every model, streamed or not. Bedrock and Vertex
// have URLs of their own, which Match reads.
func (Codec) Endpoint(string, bool) string { return "/v1/messages" }

// Block types with a meaning of their own to this codec.
const (
	typeText       = "text"
	typeThinking   = "thinking"
	typeRedacted   = "redacted_thinking"
	typeToolUse    = "tool_use"
	typeToolResult = "tool_result"
	typeImage      = "image"
	typeDocument   = "document"
)

// serverBlock tells whether a block reports what the provider ran or keeps for
// itself. Such blocks are echoed as they are and never run. Source: the block
// types of the Messages API and its betas.
func serverBlock(typ string) bool {
	switch typ {
	case "server_tool_use", "mcp_tool_use", "mcp_tool_result", "mcp_tool_listing",
		"container_upload", "compaction", "fallback":
		return true
	}
	return typ != typeToolResult && strings.HasSuffix(typ, "_tool_result")
}

// carries tells whether a server or opaque part can go out as the block that it
// holds. A block of an unknown type goes, for new ones keep coming; a piece of
// another dialect does not.
func carries(p codecs.Part) bool {
	if p.Type == "" || jsonx.Of(p.Extra).Get("type").Str() != p.Type {
		return false
	}
	if p.Kind == codecs.Server {
		return serverBlock(p.Type)
	}
	switch p.Type {
	case "image_url", "video_url", "audio_url", "input_audio", "input_text", "input_image", "input_file", "output_text",
		"file", "refusal", "reference", "message", "reasoning", "summary_text", "item_reference":
		return false
	}
	return !strings.HasSuffix(p.Type, "_call") && !strings.HasSuffix(p.Type, "_call_output")
}

// finishes maps stop_reason to the neutral reason. The last three are no values
// of the dialect, but gateways pass them through from chat completions, and an
// unread "length" would hide a cut call.
var finishes = map[string]string{
	"end_turn":                      codecs.FinishStop,
	"stop_sequence":                 codecs.FinishStop,
	"tool_use":                      codecs.FinishToolCalls,
	"max_tokens":                    codecs.FinishLength,
	"model_context_window_exceeded": codecs.FinishLength,
	"refusal":                       codecs.FinishRefusal,
	"pause_turn":                    codecs.FinishPause,
	"compaction":                    codecs.FinishPause,
	"stop":                          codecs.FinishStop,
	"tool_calls":                    codecs.FinishToolCalls,
	"length":                        codecs.FinishLength,
}

// foreignFinish names the keys of finishes that are no stop_reason.
func foreignFinish(raw string) bool {
	return raw == "stop" || raw == "tool_calls" || raw == "length"
}

// join returns the object f with the members of extra behind its own; of a key
// that both have the value of extra stands. It stays linear in the size of
// extra, which came from outside.
func join(f *jsonx.Fields, extra codecs.Raw) codecs.Raw {
	var more []byte
	for _, m := range jsonx.Of(extra).Members() {
		if f.Has(m.Key) {
			f.Set(m.Key, m.Value.Raw())
			continue
		}
		more = append(append(append(more, ','), jsonx.Quote(m.Key)...), ':')
		more = append(more, m.Value.Raw()...)
	}
	out := f.Raw()
	if len(out) == 2 && len(more) > 0 {
		more = more[1:]
	}
	return append(append(out[:len(out)-1], more...), '}')
}

// RawCalls returns the tool_use blocks that have a name, in wire order.
func (Codec) RawCalls(body []byte, _ codecs.Profile) []codecs.Raw {
	v, err := codecs.ParseBody(codecs.Anthropic, body)
	if err != nil {
		return nil
	}
	var out []codecs.Raw
	for _, b := range v.Get("content").Items() {
		if isCall(b) {
			out = append(out, b.Raw())
		}
	}
	return out
}

// ExtractCall reads one tool_use block. Arguments are nil when they are no JSON
// object.
func (Codec) ExtractCall(raw codecs.Raw) (name string, arguments codecs.Raw, ok bool) {
	v, err := jsonx.Parse(raw)
	if err != nil || !isCall(v) {
		return "", nil, false
	}
	call := codecs.ToolCall{Name: v.Get("name").Str()}
	codecs.ReadArguments(&call, v.Get("input"), "")
	return call.Name, call.Arguments, true
}

// TextContent returns the text of a body without its thinking.
func (Codec) TextContent(body []byte, p codecs.Profile) string {
	v, err := codecs.ParseBody(codecs.Anthropic, body)
	if err != nil {
		return ""
	}
	var out strings.Builder
	add := func(text string) {
		parts, _ := codecs.SplitThink(text, p)
		out.WriteString(codecs.Reply{Parts: parts}.Text())
	}
	content := v.Get("content")
	add(content.Str())
	for _, b := range content.Items() {
		if b.Get("type").Str() == typeText {
			add(b.Get("text").Str())
		}
	}
	return out.String()
}

// isCall tells whether a block is a call that can be run: one without a name
// cannot be.
func isCall(block jsonx.Value) bool {
	return block.Get("type").Str() == typeToolUse && block.Get("name").Str() != ""
}
