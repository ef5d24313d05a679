package codecs

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/internal/jsonx"
)

// MaxBody is the largest body, in bytes, that a reply or a request may have.
const MaxBody = 32 << 20

// Kinds of a ProviderError.
const (
	ErrAuth       = "auth"
	ErrQuota      = "quota"
	ErrRate       = "rate"
	ErrShape      = "shape" // the request is refused for what it says
	ErrModeration = "moderation"
	ErrBlocked    = "blocked" // the prompt was refused as a whole
	ErrOverload   = "overload"
	ErrServer     = "server"
)

// ProviderError is an error that the provider reported: with an error status,
// inside a 200 body or inside a stream.
type ProviderError struct {
	Dialect    Dialect
	Status     int    // HTTP status; 200 for an error inside a reply
	Kind       string // one of the kinds above
	Code       string // the provider's own code or type, "" when it gave none
	Message    string // the provider's own words
	RetryAfter string // header value as it came, "" when absent
	Body       []byte // as received
	Prefix     string // what stands before Message in Error, such as "response carried an error: "
	Suffix     string // what stands after it, such as " (502)"
}

func (e *ProviderError) Error() string { return e.Prefix + e.Message + e.Suffix }

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

// ErrNotJSON is wrapped by the DecodeError of a reply body that is no JSON.
var ErrNotJSON = errors.New("response is not valid JSON")

// ErrStream is wrapped by the DecodeError of a body that is a stream: events,
// lines of JSON, or a list of chunks.
var ErrStream = errors.New("this is a stream, and streams are not read here; ask for the reply without one")

// ErrNoCall is wrapped by the error of Request and Continue for a result that answers no
// call of the turn.
var ErrNoCall = errors.New("result answers no call of the turn")

// ParseBody validates a body and returns its root, or a *DecodeError that names
// the place. It is the first step of every codec's Reply and ParseRequest.
func ParseBody(d Dialect, body []byte) (jsonx.Value, error) {
	if len(body) > MaxBody {
		return jsonx.Value{}, &DecodeError{
			Dialect: d, Offset: MaxBody,
			Err: fmt.Errorf("body of %d bytes is larger than the limit of %d bytes", len(body), MaxBody),
		}
	}
	v, err := jsonx.Parse(body)
	if err == nil {
		return v, nil
	}
	de := &DecodeError{Dialect: d, Offset: -1, Err: fmt.Errorf("%w: %w", ErrNotJSON, err)}
	var se *jsonx.SyntaxError
	if errors.As(err, &se) {
		de.Offset, de.Pointer = se.Offset, se.Pointer
		de.Err = fmt.Errorf("%w: %s at byte %d: %s", ErrNotJSON, se.Reason, se.Offset, excerpt(body))
	}
	if isStream(body, de.Offset) {
		de.Err = fmt.Errorf("%w: %w", ErrNotJSON, ErrStream)
	}
	return jsonx.Value{}, de
}

// isStream tells whether a body that is not JSON is a stream: it begins with a
// line of server-sent events, or one JSON object follows on another. fault is
// where reading stopped, -1 when that is not known.
func isStream(body []byte, fault int64) bool {
	start := bytes.TrimLeft(bytes.TrimPrefix(body, []byte("\xEF\xBB\xBF")), " \t\r\n")
	first, rest, _ := bytes.Cut(start, []byte("\n"))
	field := func(line []byte, names ...string) bool {
		return slices.ContainsFunc(names, func(n string) bool { return bytes.HasPrefix(line, []byte(n+":")) })
	}
	if field(first, "data", "event") {
		return true
	}
	if field(first, "", "id", "retry") { // "" is a comment; either may stand before the first event
		for line := range bytes.Lines(rest) {
			if field(line, "data", "event") {
				return true
			}
		}
		return false
	}
	if fault <= 0 || fault >= int64(len(body)) || body[fault] != '{' {
		return false
	}
	v, err := jsonx.Parse(body[:fault])
	return err == nil && v.IsObject()
}

// excerpt quotes the start of a body that is not JSON, bounded and printable.
func excerpt(body []byte) string {
	const most = 120
	s := string(body[:min(len(body), most)])
	s = strings.ToValidUTF8(s, "\uFFFD")
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, s)
	if len(body) > most {
		s += "..."
	}
	if s == "" {
		return "(empty body)"
	}
	return s
}

// ErrorKind maps an HTTP status and the provider's code and message to a kind.
// The words win over the status where a provider uses a general status for a
// special case, such as 400 for an exhausted quota.
func ErrorKind(status int, code, message string) string {
	words := strings.ToLower(code + " " + message)
	has := func(list ...string) bool {
		for _, w := range list {
			if strings.Contains(words, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("insufficient_quota", "billing", "credit balance", "insufficient balance", "quota exceeded", "exceeded your current quota"), status == 402:
		return ErrQuota
	case has("content_policy", "content_filter", "moderation", "responsible_ai", "safety_violation"):
		return ErrModeration
	case status == 401, status == 403, has("authentication", "invalid_api_key", "api key not valid", "unauthenticated", "permission_denied"):
		return ErrAuth
	case has("overloaded", "capacity"), status == 529, status == 503, has("unavailable") && status >= 500:
		return ErrOverload
	case status == 429, has("rate_limit", "rate limit", "resource_exhausted", "too many requests"):
		return ErrRate
	case status >= 400 && status < 500, has("invalid_request", "invalid_argument"):
		return ErrShape
	default:
		return ErrServer
	}
}

// HeaderValue returns the first value of a header, whatever its case.
func HeaderValue(header map[string][]string, name string) string {
	for k, v := range header {
		if strings.EqualFold(k, name) && len(v) > 0 {
			return v[0]
		}
	}
	return ""
}
