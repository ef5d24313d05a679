package codecs

import (
	"errors"
	"fmt"
	"strings"
)

// MaxBody is the largest body, in bytes, that a reply or a request may have.
const MaxBody = 32 << 20

// Kinds of a ProviderError.
const (
	ErrAuth       ErrorKind = "auth"
	ErrQuota      ErrorKind = "quota"
	ErrRate       ErrorKind = "rate"
	ErrShape      ErrorKind = "shape" // the request is refused for what it says
	ErrModeration ErrorKind = "moderation"
	ErrBlocked    ErrorKind = "blocked" // the prompt was refused as a whole
	ErrOverload   ErrorKind = "overload"
	ErrServer     ErrorKind = "server"
)

// ProviderError is an error that the provider reported: with an error status,
// inside a 200 body or inside a stream.
type ProviderError struct {
	Dialect    Dialect
	Status     int // HTTP status; 200 for an error inside a reply
	Kind       ErrorKind
	Code       string // the provider's own code or type, "" when it gave none
	Message    string // the provider's own words
	RetryAfter string // header value as it came, "" when absent
	Body       []byte // as received
	Prefix     string // what stands before Message in Error, such as "response carried an error: "
	Suffix     string // what stands after it, such as " (502)"
}

func (e *ProviderError) Error() string { return e.Prefix + e.Message + e.Suffix }

// Is finds the kind: errors.Is(err, ErrRate) tells a rate limit.
func (e *ProviderError) Is(target error) bool { return target == e.Kind }

// ErrorKind is a kind of ProviderError, for errors.Is. The empty one is none.
type ErrorKind string

func (k ErrorKind) Error() string { return "provider error of the kind " + string(k) }

// What errors.Is finds in the errors of this module.
var (
	// ErrNotJSON is wrapped by the DecodeError of a reply body that is no JSON.
	ErrNotJSON = errors.New("response is not valid JSON")

	// ErrStream is wrapped by the DecodeError of a body that is a stream: events,
	// lines of JSON, or a list of chunks.
	ErrStream = errors.New("this is a stream; read it as one, or ask for the reply without a stream")

	// ErrNoCall is wrapped by the error of Request and Continue for a result that answers no
	// call of the turn.
	ErrNoCall = errors.New("result answers no call of the turn")

	// ErrTwoResults is wrapped by the error for a result whose call has one already.
	ErrTwoResults = errors.New("the call has a result already")

	// ErrUnterminated is wrapped by the error of Decoder.Close for a stream that
	// ended before its terminal marker: the connection was cut.
	ErrUnterminated = errors.New("the stream ended before its end was said")
)

// TruncatedError says that a token limit cut what the loop needs.
type TruncatedError struct {
	Reason string     // finish reason as the wire spelled it, or what else showed the limit
	Calls  []ToolCall // the calls that were cut; empty when the limit left neither a call nor text
}

func (e *TruncatedError) Error() string {
	what := "tool call arguments"
	if len(e.Calls) == 0 {
		what = "reply"
	}
	return fmt.Sprintf("%s truncated (finish_reason %s); raise response_size", what, e.Reason)
}

// DecodeError says where a body or a request cannot be read.
type DecodeError struct {
	Dialect Dialect
	Pointer string // JSON pointer of the value at fault
	Offset  int64  // byte offset of the fault, -1 when only the pointer is known
	Err     error
}

func (e *DecodeError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: ", e.Dialect)
	if e.Pointer != "" {
		fmt.Fprintf(&b, "%s: ", e.Pointer)
	}
	b.WriteString(e.Err.Error())
	return b.String()
}

func (e *DecodeError) Unwrap() error { return e.Err }
