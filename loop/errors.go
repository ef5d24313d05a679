package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/toolconform/conform/codecs"
)

// ErrNoServers is the error of Run without a tool server. Source: LP01 of the
// source documents, as is the text.
//
//lint:ignore ST1005 the text is fixed
var ErrNoServers = errors.New("No MCP servers configured")

// IterationsError says that the model kept calling until the limit. Exactly
// Limit requests were sent.
type IterationsError struct{ Limit int }

func (e *IterationsError) Error() string {
	return fmt.Sprintf("Tool calling loop exceeded %d iterations", e.Limit)
}

// EndedError says that the provider ended the reply for a reason that leaves no
// answer: a refusal, a content filter, a malformed call. Nothing of the reply
// was run.
type EndedError struct {
	Finish  string // refusal, content_filter or malformed_call
	Raw     string // finish reason as the wire spelled it
	Message string // the provider's own words, or the text that came with it; may be ""
}

func (e *EndedError) Error() string {
	what := map[string]string{
		codecs.FinishRefusal:       "the model refused to answer",
		codecs.FinishContentFilter: "the reply was stopped by a content filter",
		codecs.FinishMalformedCall: "the model made a tool call that the provider could not read",
	}[e.Finish]
	if what == "" {
		what = "the reply ended"
	}
	text := fmt.Sprintf("%s (finish_reason %s)", what, e.Raw)
	if e.Message != "" {
		text += ": " + e.Message
	}
	return text
}

// ClientCallError says that the reply holds calls that the client must answer in
// another way than with a tool result. Nothing of the reply was run.
type ClientCallError struct{ Calls []codecs.Part }

func (e *ClientCallError) Error() string {
	var types []string
	approval := false
	for _, p := range e.Calls {
		types = append(types, p.Type)
		approval = approval || p.Type == "mcp_approval_request"
	}
	text := fmt.Sprintf("the reply asks for %s, which the client must answer itself; a tool loop cannot run it", strings.Join(types, ", "))
	if approval {
		text += " (give the remote MCP tool require_approval => 'never')"
	}
	return text
}

// RequestError says that the engine answered with an error status. It wraps what
// the codec read: errors.As finds the *codecs.ProviderError.
type RequestError struct {
	Prefix string // "tool chat request failed", or "chat request failed" from Once
	Status int
	Err    *codecs.ProviderError
}

// Error gives the status line and the body; a body that is long or no text gives
// way to the message that the codec read off it.
func (e *RequestError) Error() string {
	detail := e.Err.Message
	if body := strings.TrimSpace(string(e.Err.Body)); body != "" && len(body) <= 2000 && utf8.ValidString(body) {
		detail = body
	}
	line := fmt.Sprintf("%d", e.Status)
	if t := statusText[e.Status]; t != "" {
		line += " " + t
	}
	text := fmt.Sprintf("%s: %s - %s", e.Prefix, line, detail)
	if e.Err.RetryAfter != "" {
		text += fmt.Sprintf(" (retry-after: %s)", e.Err.RetryAfter)
	}
	return text
}

func (e *RequestError) Unwrap() error { return e.Err }

// SendError says that the engine gave no answer: the connection failed, or
// Config.RequestTimeout ran out.
type SendError struct {
	Prefix string
	Err    error
}

func (e *SendError) Error() string { return e.Prefix + ": " + e.Err.Error() }

func (e *SendError) Unwrap() error { return e.Err }

// ToolServerError says that a tool server could not list its tools.
type ToolServerError struct {
	Number int // 1 is the first of Config.Servers
	Name   string
	Err    error
}

func (e *ToolServerError) Error() string {
	return fmt.Sprintf("listing the tools of MCP server %d (%s): %v", e.Number, e.Name, e.Err)
}

func (e *ToolServerError) Unwrap() error { return e.Err }

// Kinds that ErrorKind gives.
const (
	KindTruncated     = "truncated"
	KindBlocked       = "blocked"
	KindRefused       = "refused"
	KindContentFilter = "content_filter"
	KindMalformedCall = "malformed_call"
	KindIterations    = "iterations"
	KindProvider      = "provider" // an error that the provider reported, or no answer at all
	KindClientCall    = "client_call"
	KindNoServers     = "no_servers"
	KindDecode        = "decode"
	KindCancelled     = "cancelled"
	KindToolServer    = "tool_server"
	KindInternal      = "internal"
)

// ErrorKind names the kind of an error of Run or Once; "" for nil.
func ErrorKind(err error) string {
	if err == nil {
		return ""
	}
	var ended *EndedError
	var provider *codecs.ProviderError
	switch {
	case errors.Is(err, ErrNoServers):
		return KindNoServers
	case is[*IterationsError](err):
		return KindIterations
	case is[*ClientCallError](err):
		return KindClientCall
	case is[*codecs.TruncatedError](err):
		return KindTruncated
	case errors.As(err, &ended):
		switch ended.Finish {
		case codecs.FinishRefusal:
			return KindRefused
		case codecs.FinishContentFilter, codecs.FinishMalformedCall:
			return ended.Finish
		}
		return KindProvider
	case errors.As(err, &provider):
		if provider.Kind == codecs.ErrBlocked {
			return KindBlocked
		}
		return KindProvider
	case is[*codecs.DecodeError](err):
		return KindDecode
	case is[*ToolServerError](err):
		return KindToolServer
	case is[*SendError](err): // before the context: its own timeout is no cancellation
		return KindProvider
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return KindCancelled
	}
	return KindInternal
}

func is[T error](err error) bool {
	var to T
	return errors.As(err, &to)
}

// statusText spells the statuses that providers use. The table of net/http is
// not used because this package stays below it.
var statusText = map[int]string{
	300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
	307: "Temporary Redirect", 308: "Permanent Redirect",
	400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found",
	405: "Method Not Allowed", 406: "Not Acceptable", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
	411: "Length Required", 412: "Precondition Failed", 413: "Request Entity Too Large", 415: "Unsupported Media Type",
	422: "Unprocessable Entity", 424: "Failed Dependency", 425: "Too Early", 429: "Too Many Requests",
	431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
	499: "Client Closed Request",
	500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
	504: "Gateway Timeout", 507: "Insufficient Storage", 520: "Web Server Returned an Unknown Error",
	522: "Connection Timed Out", 524: "A Timeout Occurred", 529: "Overloaded",
}

// ended turns a reply that leaves nothing to go on with into its error.
func ended(r codecs.Reply, d codecs.Dialect) error {
	switch r.Finish {
	case codecs.FinishBlocked:
		reason := r.RawFinish
		if reason == "" {
			reason = r.FinishMessage
		}
		return &codecs.ProviderError{
			Dialect: d, Status: 200, Kind: codecs.ErrBlocked, Code: r.RawFinish,
			Prefix: "prompt blocked: ", Message: reason, Body: r.Body,
		}
	case codecs.FinishError:
		message := r.FinishMessage
		if message == "" {
			message = "response ended with finish_reason " + r.RawFinish
		}
		return &codecs.ProviderError{Dialect: d, Status: 200, Kind: codecs.ErrServer, Message: message, Body: r.Body}
	case codecs.FinishRefusal, codecs.FinishContentFilter, codecs.FinishMalformedCall:
		message := r.FinishMessage
		if message == "" {
			message = r.Text()
		}
		return &EndedError{Finish: r.Finish, Raw: r.RawFinish, Message: message}
	}
	if calls := r.ClientCalls(); len(calls) > 0 {
		return &ClientCallError{Calls: calls}
	}
	return nil
}
