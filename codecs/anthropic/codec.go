// Package anthropic is the codec of the Anthropic Messages dialect, as
// Anthropic, its clouds (Bedrock, Vertex, Azure) and the compatible endpoints
// of other providers speak it.
package anthropic

import (
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Codec implements codecs.Full for the Messages dialect. It holds no state.
type Codec struct{}

var (
	_ codecs.Full    = Codec{}
	_ codecs.Readers = Codec{}
)

// Dialect returns codecs.Anthropic.
func (Codec) Dialect() codecs.Dialect { return codecs.Anthropic }

// form is what stands in Wire and is asked of each reply.
var form = wire.Form{ObjectArguments: true, IDs: codecs.IDsAlways, Finishes: finishes}

// Wire describes the Messages API.
func (Codec) Wire() codecs.Wire {
	return codecs.Wire{
		Home: "anthropic", Finishes: maps.Clone(form.Finishes), Messages: "messages", SystemFirst: true, StreamFlag: "/stream", Shapes: []codecs.Shape{{Name: "sse"}}, StreamWays: slices.Clone(streamWays),
		ToolNames:       codecs.NameRule{Max: 128, Other: "_-"},
		Choices:         []string{codecs.ChoiceAuto, codecs.ChoiceAny, codecs.ChoiceNone, codecs.ChoiceTool},
		ObjectArguments: form.ObjectArguments, IDs: form.IDs, ErrorFlag: true, ResultMedia: codecs.MediaNative,
		EchoesWhole: true, ReasoningEcho: true, ReasoningSigned: true, Parallel: true, ItemsDue: true,
		ThinkingOff: []codecs.Setting{{Pointer: "/thinking/type", Value: codecs.Raw(`"disabled"`)}},
	}
}

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
	if p.Kind == codecs.KindServer {
		return serverBlock(p.Type)
	}
	switch p.Type {
	case "image_url", "video_url", "audio_url", "input_audio", "input_text", "input_image", "input_file", "output_text",
		"file", "refusal", "reference", "message", "reasoning", "summary_text", "item_reference":
		return false
	}
	return !strings.HasSuffix(p.Type, "_call") && !strings.HasSuffix(p.Type, "_call_output")
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

// Match reads a request path: /v1/messages and /messages behind any prefix,
// Vertex's .../publishers/anthropic/models/MODEL:rawPredict and
// :streamRawPredict, Bedrock's /model/ID/invoke and
// /invoke-with-response-stream for a Claude model or an ARN. Sub-resources such
// as /v1/messages/batches do not match.
func (Codec) Match(in codecs.In) (model string, stream, ok bool) {
	path, ok := wire.Path(in)
	if !ok {
		return "", false, false
	}
	if strings.HasSuffix(path, "/messages") {
		return "", false, !strings.Contains(path, "/threads/") // the Assistants API has /threads/ID/messages
	}
	if _, rest, found := cutLast(path, "/publishers/anthropic/models/"); found {
		name, action, _ := strings.Cut(rest, ":")
		switch action {
		case "rawPredict":
			return unescape(name), false, name != ""
		case "streamRawPredict":
			return unescape(name), true, name != ""
		}
		return "", false, false
	}
	if _, rest, found := cutLast(path, "/model/"); found {
		id, action, _ := strings.Cut(rest, "/")
		if i := strings.LastIndexByte(rest, '/'); i >= 0 { // an ARN may hold slashes
			id, action = rest[:i], rest[i+1:]
		}
		id = unescape(id)
		claude := strings.Contains(id, "anthropic") || strings.Contains(id, "claude") || strings.HasPrefix(id, "arn:")
		switch action {
		case "invoke":
			return id, false, claude
		case "invoke-with-response-stream":
			return id, true, claude
		}
	}
	return "", false, false
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

func unescape(s string) string {
	if out, err := url.PathUnescape(s); err == nil {
		return out
	}
	return s
}
