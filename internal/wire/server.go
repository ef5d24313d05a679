package wire

import (
	"math"
	"strconv"
	"strings"

	"github.com/toolconform/conform/codecs"
)

// Path is the path of a request in the one spelling that the codecs match: a
// slash in front, none at the end. ok is false for a request that cannot be a
// chat request, since its method is another than POST; a method that is not
// known ("") may be any.
func Path(in codecs.In) (path string, ok bool) {
	return "/" + strings.Trim(in.Path, "/"), in.Method == "" || strings.EqualFold(in.Method, "POST")
}

// ErrorAnswer is an error body as it is sent: as JSON, with Retry-After where
// the error knows it.
func ErrorAnswer(e *codecs.ProviderError, status int, body codecs.Raw) codecs.Answer {
	header := map[string][]string{"Content-Type": {"application/json"}}
	if after := retryAfter(e.RetryAfter); after != "" {
		header["Retry-After"] = []string{after}
	}
	return codecs.Answer{Status: status, Header: header, Body: body}
}

// retryAfter spells a delay as the header has it (RFC 9110, 10.2.3): whole
// seconds or a date. Gemini's bodies say "1.5s", which becomes 2.
func retryAfter(delay string) string {
	if n, err := strconv.ParseFloat(strings.TrimSuffix(delay, "s"), 64); err == nil {
		if n >= 0 && n <= math.MaxInt32 { // no NaN, nothing endless
			return strconv.Itoa(int(math.Ceil(n)))
		}
		return ""
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f { // no line of a header inside a header
			return -1
		}
		return r
	}, delay))
}
