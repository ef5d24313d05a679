package codecs

import (
	"net/url"
	"strings"
)

// Codec is the client half of a dialect: what a client sends and how it reads
// what comes back. A Codec is stateless and safe for concurrent use.
type Codec interface {
	// Dialect names the dialect.
	Dialect() Dialect

	// Wire is what others have to know about the dialect.
	Wire() Wire

	// Endpoint is the path below the engine's base URL, such as
	// /chat/completions. Engines override it with URL templates of their own.
	Endpoint(model string, stream bool) string

	// Tools encodes tool definitions as the value of the request's tools
	// field (hermes: the text of the tool prompt, as a JSON string).
	Tools(tools []Tool, p Profile) (Raw, []Warning, error)

	// Request encodes a request body. The same Request gives the same bytes.
	Request(req Request, p Profile) (Raw, []Warning, error)

	// Reply decodes the body of a reply that is no stream. A body that is no
	// JSON gives a *DecodeError, an error inside a 200 a *ProviderError.
	Reply(body []byte, p Profile) (Reply, error)

	// Error reads the body of an error status. It never fails: a body that it
	// cannot read becomes the message.
	Error(status int, header map[string][]string, body []byte) *ProviderError

	// Continue returns the messages that carry the conversation on after r:
	// the echo of the turn, spliced from r.Body, then the results. Calls are
	// found by ordinal. A call without a result leaves the echo together with
	// what cannot stand without it; a result without a call is an error; with
	// no results the turn alone is echoed, unchanged.
	Continue(r Reply, results []ToolResult, p Profile) ([]Raw, []Warning, error)
}

// In is a request as a server sees it. A reader of one that knows less leaves
// the rest empty: an empty Method stands for POST.
type In struct {
	Method string
	Path   string // without the query, escapes as they came
	Query  url.Values
	Header map[string][]string // keys in any case
	Body   []byte
}

// Post is a request with a body, to a target such as an Endpoint: a path that
// may have a query behind it.
func Post(target string, body []byte) In {
	target, _, _ = strings.Cut(target, "#")
	path, query, _ := strings.Cut(target, "?")
	values, _ := url.ParseQuery(query) // what can be read of it
	return In{Method: "POST", Path: path, Query: values, Body: body}
}

// Answer is what a server sends. Keys of Header are in their canonical form.
type Answer struct {
	Status int
	Header map[string][]string
	Body   []byte
}

// ServerHalf is the other half of a dialect, the provider's: it reads what a
// client sent and writes what a provider would answer. The replay, the judge
// and the translation between dialects stand on it.
type ServerHalf interface {
	// Match tells by method, path and query whether a request is one of this
	// dialect for a reply of the model, and reads the model and the stream
	// flag from them where they stand there. What the body says is for
	// ParseRequest.
	Match(in In) (model string, stream, ok bool)

	// ParseRequest decodes a request. Media, calls, results and reasoning come
	// back as parts, in order. Model and Stream come from the body and from
	// the path, whichever carries them. It reads the body also when Match
	// does not know the path.
	ParseRequest(in In, p Profile) (Request, []Warning, error)

	// RenderReply encodes a reply as the engine of p and l would. What the dialect
	// cannot carry is a warning.
	RenderReply(r Reply, p Profile, l Likeness) (Raw, []Warning, error)

	// RenderError encodes an error as the provider would send it. A status of
	// e that is an error stays, otherwise the kind picks one; Retry-After is
	// set where e knows it.
	RenderError(e *ProviderError, p Profile, l Likeness) Answer
}

// Readers is an extension of Codec, found by type assertion. It reads single
// facts off a body that Reply may reject, for callers that run a loop of their
// own. None of the three ever fails.
type Readers interface {
	// RawCalls returns the raw call structures of a body in wire order; those
	// without a name are left out, those that a limit cut are not.
	RawCalls(body []byte, p Profile) []Raw

	// ExtractCall reads one raw call structure. ok is false when it is no call.
	ExtractCall(raw Raw) (name string, arguments Raw, ok bool)

	// TextContent returns the final text of a body, thinking left out; of a
	// body that Reply rejects the text is read straight off, or "".
	TextContent(body []byte, p Profile) string
}

// Full is both halves of a dialect. What a dialect may have besides (Readers,
// Streamer, StreamRenderer) is found by type assertion.
type Full interface {
	Codec
	ServerHalf
}
