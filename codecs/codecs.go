// Package codecs holds the neutral types of a tool loop and the contract of a
// codec: the translation between these types and one wire dialect of an LLM
// provider, in both directions.
//
// A client takes the codec of its dialect from a folder below this one, or by
// name from codecs/all, and a Profile that says how its engine differs. It sends
// what Codec.Request encodes to Codec.Endpoint and reads the answer with
// Codec.Reply or Codec.Error. Truncate takes away the calls that a token limit
// cut. The tools run; ToolCall.Result makes the answer to a call, and
// Codec.Continue the messages that carry the conversation on: they go into the
// next request as Message.Native. A server, a proxy or a test uses the
// ServerHalf. Package loop does all of this for a client.
//
// The types carry what the six dialects have in common, in order and without
// loss: a message is a list of parts, a call keeps the spelling of its
// arguments, a reply keeps the body that it was read from. What differs between
// dialects is code in the folder of the dialect, and what others must know of it
// its Wire; what differs between engines and models is data in a Profile.
//
// Packages below this one never open a socket, never log and never exit. They
// are safe for concurrent use.
//
// # Compatibility
//
// From the first tagged release on, within a major version: names stay, and what
// a function accepts and means stays. Structs may get fields, so literals name
// theirs; their zero value keeps its meaning. Codec and ServerHalf get no
// methods: what a codec may have besides is an interface of its own, found by
// type assertion. Values of string constants, as kinds and warning codes, stay,
// and new ones may come. Texts of errors and warnings are for people, and the
// bytes of a request may change where its meaning does not.
package codecs

import (
	"encoding/json"
	"strings"
)

// Modes of a Choice.
const (
	ChoiceAuto = "auto"
	ChoiceAny  = "any"
	ChoiceNone = "none"
	ChoiceTool = "tool"
)

// Raw is one JSON value in its wire spelling: key order, number tokens and
// string escapes as they came.
type Raw = json.RawMessage

// Dialect names one wire dialect.
type Dialect string

// The dialects.
const (
	OpenAI    Dialect = "openai"    // chat completions
	Anthropic Dialect = "anthropic" // messages
	Gemini    Dialect = "gemini"    // generateContent
	Ollama    Dialect = "ollama"    // /api/chat
	Responses Dialect = "responses" // OpenAI Responses
	Hermes    Dialect = "hermes"    // <tool_call> text over chat completions
)

// Dialects lists them in the order in which reports show them.
func Dialects() []Dialect {
	return []Dialect{OpenAI, Anthropic, Gemini, Ollama, Responses, Hermes}
}

// Kind tells what a Part is.
type Kind string

// The kinds of a Part.
const (
	KindText      Kind = "text"
	KindReasoning Kind = "reasoning"
	KindMedia     Kind = "media"
	KindCall      Kind = "call"
	KindResult    Kind = "result"
	KindServer    Kind = "server" // a call that the provider ran, or its result
	KindClient    Kind = "client" // a call that the client must answer in a way other than a tool result; never run
	KindOpaque    Kind = "opaque" // a block of a type this project does not know; kept for the echo
)

// Part is one ordered piece of a message. Media, Call and Result are set for
// their own kinds only.
type Part struct {
	Kind      Kind        `json:"kind"`
	Type      string      `json:"type,omitempty"` // wire type of a server, client or opaque part
	ID        string      `json:"id,omitempty"`   // wire id of a reasoning, server or client part, where it has one
	Text      string      `json:"text,omitempty"`
	Signature string      `json:"signature,omitempty"` // opaque: thinking.signature, thoughtSignature, encrypted_content, redacted data
	Redacted  bool        `json:"redacted,omitempty"`  // reasoning without text; Signature holds its data
	Media     *Media      `json:"media,omitempty"`
	Call      *ToolCall   `json:"call,omitempty"`
	Result    *ToolResult `json:"result,omitempty"`
	Extra     Raw         `json:"extra,omitempty"` // unknown sibling keys as an object; the whole block for server, client and opaque parts
}

// Media is an image, a file or a sound. Data is base64 as it came; a part that
// only refers to its content has a URI instead.
type Media struct {
	MIME string `json:"mime,omitempty"`
	URI  string `json:"uri,omitempty"`
	Name string `json:"name,omitempty"`
	Data string `json:"data,omitempty"`
}

// Tool is a function that the model may call.
type Tool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	InputSchema Raw    `json:"inputSchema"`   // a JSON Schema object; never empty after ParseTool
	Raw         Raw    `json:"raw,omitempty"` // as the tool server listed it
}

// ToolCall is one call of a tool. Pos, its ordinal among the calls of the turn,
// is the key: ids may be absent, empty or repeated.
type ToolCall struct {
	Pos           int    `json:"pos"`
	ID            string `json:"id"`
	Name          string `json:"name"`
	ArgumentsText string `json:"arguments_text"`      // as the wire carried it: the content of a string, or the spelling of an object
	Arguments     Raw    `json:"arguments"`           // a JSON object; nil when undecodable
	ArgumentsErr  string `json:"error,omitempty"`     // why Arguments is nil
	Cut           bool   `json:"cut,omitempty"`       // the wire itself says that the call was not finished
	Signature     string `json:"signature,omitempty"` // opaque, of the part that carries the call (Gemini)
	ItemID        string `json:"item_id,omitempty"`   // id of the item that carries the call, where it is not the call id (Responses)
	Extra         Raw    `json:"extra,omitempty"`     // unknown sibling keys as an object
}

// ToolResult answers a call of the turn before it; Turn says which one.
// ToolCall.Result begins one that says all it can.
type ToolResult struct {
	Pos        *int   `json:"pos,omitempty"` // ordinal of the call; nil: not said
	ID         string `json:"id"`
	Name       string `json:"name"`
	Content    []Raw  `json:"content"`                     // MCP content blocks
	Structured Raw    `json:"structuredContent,omitempty"` // MCP structured content
	IsError    bool   `json:"isError"`
}

// Message is one turn of the conversation. Role is system, user, assistant or
// tool. Native, when set, holds wire messages of the same dialect that are
// spliced in verbatim instead of Role and Parts.
type Message struct {
	Role   string `json:"role"`
	Parts  []Part `json:"parts,omitempty"`
	Native []Raw  `json:"native,omitempty"`
}

// Request is one request for a reply.
type Request struct {
	Model       string
	Messages    []Message
	Tools       []Tool
	ServerTools []Raw // provider-native entries, sent after Tools
	Choice      Choice
	Parallel    *bool // nil: the provider's default
	MaxTokens   int   // 0: the provider's default
	Stream      bool
	Extra       Raw // object, merged into the body; its keys win
}

// Choice says whether the model must call. The zero Choice sends nothing.
type Choice struct {
	Mode string `json:"mode"`           // "", auto, any, none, tool
	Name string `json:"name,omitempty"` // of the tool, with mode tool
	Raw  Raw    `json:"raw,omitempty"`  // a native value that none of the modes covers; Mode is then ""
}

// Usage counts tokens. A provider that leaves a figure out leaves it 0.
type Usage struct {
	Input      int64 `json:"input"`
	Output     int64 `json:"output"`
	Cached     int64 `json:"cached"`
	CacheWrite int64 `json:"cache_write"`
	Reasoning  int64 `json:"reasoning"`
}

// Citation is one source that the reply names.
type Citation struct {
	URL        string `json:"url"`
	Title      string `json:"title,omitempty"`
	StartIndex *int64 `json:"start_index,omitempty"`
	EndIndex   *int64 `json:"end_index,omitempty"`
}

// Normalised reasons why a reply ended (Reply.Finish). docs/finish.md has the
// table raw value -> reason.
const (
	FinishStop          = "stop"
	FinishToolCalls     = "tool_calls"
	FinishLength        = "length"
	FinishContentFilter = "content_filter"
	FinishRefusal       = "refusal"
	FinishPause         = "pause"
	FinishBlocked       = "blocked"
	FinishMalformedCall = "malformed_call"
	FinishError         = "error"
)

// Reply is one reply of the model.
type Reply struct {
	ID, Model     string
	Parts         []Part
	Finish        string // one of the Finish constants, or "" when the wire gave none
	RawFinish     string // as the wire spelled it
	FinishMessage string // the provider's own words on why it stopped
	Unfinished    int    // calls that a limit cut before their name could be read; no Part stands for them
	Usage         *Usage // nil when the body had none
	Citations     []Citation
	Body          Raw // as received, or rebuilt from a stream; the only source of the echo
	Warnings      []Warning
}

// Text joins the text parts with nothing between them.
func (r Reply) Text() string { return Message{Parts: r.Parts}.Text() }

// Reasoning joins the texts of the reasoning parts with one newline.
func (r Reply) Reasoning() string {
	var texts []string
	for _, p := range r.Parts {
		if p.Kind == KindReasoning && p.Text != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n")
}

// Calls returns the calls of the turn in wire order.
func (r Reply) Calls() []ToolCall {
	var out []ToolCall
	for _, p := range r.Parts {
		if p.Kind == KindCall && p.Call != nil {
			out = append(out, *p.Call)
		}
	}
	return out
}

// ServerCalls returns the parts that report what the provider ran itself.
func (r Reply) ServerCalls() []Part { return r.ofKind(KindServer) }

// ClientCalls returns the calls that the client must answer in another way than
// with a tool result. They are never run.
func (r Reply) ClientCalls() []Part { return r.ofKind(KindClient) }

// Media returns the media that the model made.
func (r Reply) Media() []Part { return r.ofKind(KindMedia) }

func (r Reply) ofKind(k Kind) []Part {
	var out []Part
	for _, p := range r.Parts {
		if p.Kind == k {
			out = append(out, p)
		}
	}
	return out
}

// Text joins the text parts of a message with nothing between them.
func (m Message) Text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		if p.Kind == KindText {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}
