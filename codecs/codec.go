package codecs

// Codec is the client half of a dialect: what a client sends and how it reads
// what comes back. A Codec is stateless and safe for concurrent use.
type Codec interface {
	// Dialect names the dialect.
	Dialect() Dialect

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

// ServerHalf is the other half of a dialect, the provider's: it reads what a
// client sent and writes what a provider would answer. The replay, the judge
// and the translation between dialects stand on it.
type ServerHalf interface {
	// Match tells whether a request path belongs to this dialect, and reads
	// the model and the stream flag from it where the path carries them.
	Match(path string) (model string, stream, ok bool)

	// ParseRequest decodes a request body. Media, calls, results and
	// reasoning come back as parts, in order.
	ParseRequest(path string, body []byte, p Profile) (Request, []Warning, error)

	// RenderReply encodes a reply as the provider would. What the dialect
	// cannot carry is a warning.
	RenderReply(r Reply, p Profile) (Raw, []Warning, error)

	// RenderError encodes an error and picks its HTTP status.
	RenderError(e *ProviderError, p Profile) (status int, body Raw)
}

// Readers reads single facts off a body that Reply may reject, for callers that
// run a loop of their own. None of the three ever fails.
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

// Full is everything that a dialect of this project implements.
type Full interface {
	Codec
	ServerHalf
	Readers
}
