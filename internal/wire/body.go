package wire

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// ParseBody validates a body and returns its root, or a *DecodeError that names
// the place. It is the first step of every codec's Reply and ParseRequest.
func ParseBody(d codecs.Dialect, body []byte) (jsonx.Value, error) {
	if len(body) > codecs.MaxBody {
		return jsonx.Value{}, &codecs.DecodeError{
			Dialect: d, Offset: codecs.MaxBody,
			Err: fmt.Errorf("body of %d bytes is larger than the limit of %d bytes", len(body), codecs.MaxBody),
		}
	}
	v, err := jsonx.Parse(body)
	if err == nil {
		return v, nil
	}
	de := &codecs.DecodeError{Dialect: d, Offset: -1, Err: fmt.Errorf("%w: %w", codecs.ErrNotJSON, err)}
	var se *jsonx.SyntaxError
	if errors.As(err, &se) {
		de.Offset, de.Pointer = se.Offset, se.Pointer
		de.Err = fmt.Errorf("%w: %s at byte %d: %s", codecs.ErrNotJSON, se.Reason, se.Offset, excerpt(body))
	}
	if isStream(body, de.Offset) {
		de.Err = fmt.Errorf("%w: %w", codecs.ErrNotJSON, codecs.ErrStream)
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
func ErrorKind(status int, code, message string) codecs.ErrorKind {
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
		return codecs.ErrQuota
	case has("content_policy", "content_filter", "moderation", "responsible_ai", "safety_violation"):
		return codecs.ErrModeration
	case status == 401, status == 403, has("authentication", "invalid_api_key", "api key not valid", "incorrect api key", "unauthenticated", "permission_denied"):
		return codecs.ErrAuth
	case has("overloaded", "capacity"), status == 529, status == 503, has("unavailable") && status >= 500:
		return codecs.ErrOverload
	case status == 429, has("rate_limit", "rate limit", "resource_exhausted", "too many requests"):
		return codecs.ErrRate
	case status >= 400 && status < 500, has("invalid_request", "invalid_argument"):
		return codecs.ErrShape
	default:
		return codecs.ErrServer
	}
}

// KindInside is ErrorKind for an error inside a 200: a code that is an HTTP status
// decides as that status would.
func KindInside(code, message string) codecs.ErrorKind {
	status := 200
	if n, err := strconv.Atoi(code); err == nil && n >= 400 && n < 600 {
		status = n
	}
	return ErrorKind(status, code, message)
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
