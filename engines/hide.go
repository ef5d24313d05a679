package engines

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// hide takes address and key out of an error; the cause stays for errors.Is.
func (c *Client) hide(err error, u *url.URL, key string) error {
	if err == nil {
		return nil
	}
	if done := (*sendError)(nil); errors.As(err, &done) {
		return done
	}
	cause := err
	var ue *url.Error
	if errors.As(err, &ue) {
		cause = ue.Err
	}
	shown := *u
	shown.User, shown.RawQuery = nil, ""
	text := fmt.Sprintf("engine %s: POST %s: %v", c.Engine.Name, shown.String(), cause)
	for _, spelling := range spellings(key) {
		text = strings.ReplaceAll(text, spelling, "REDACTED")
	}
	return &sendError{text: text, cause: cause}
}

type sendError struct {
	text  string
	cause error
}

func (e *sendError) Error() string { return e.text }

// Is passes on what the cause is without showing its text.
func (e *sendError) Is(target error) bool { return errors.Is(e.cause, target) }

// spellings are the ways in which an error text may show a key, the longest
// first.
func spellings(key string) []string {
	if key == "" {
		return nil
	}
	quoted := strconv.Quote(key)
	out := []string{key, quoted[1 : len(quoted)-1], url.QueryEscape(key), url.PathEscape(key), http.CanonicalHeaderKey(key), strings.ToLower(key)}
	slices.SortStableFunc(out, func(a, b string) int { return len(b) - len(a) })
	return out
}

// checkHeaders refuses what cannot be sent, in words that show neither a value
// nor a name that the catalogue does not know: net/http would quote the name,
// and who mixes up name and value has put a key there.
func (c *Client) checkHeaders(h http.Header, key string) error {
	for name, values := range h {
		if name == "" || strings.Trim(name, tokenCharacters) != "" {
			return fmt.Errorf("engine %s: a header name of %d characters is none; want letters, digits and hyphens (auth, headers, Client.Headers)", c.Engine.Name, len(name))
		}
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return fmt.Errorf("engine %s: the value of %s holds a line break or another control character", c.Engine.Name, c.headerShown(name, key))
			}
		}
	}
	return nil
}

func (c *Client) headerShown(name, key string) string {
	known := name == "Authorization"
	for k := range c.Engine.Headers {
		known = known || strings.EqualFold(k, name)
	}
	if known && !strings.EqualFold(name, key) {
		return "the header " + name
	}
	return "a header (auth, Client.Headers)"
}

// tokenCharacters are those of a header name (RFC 9110, 5.6.2).
const tokenCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!#$%&'*+-.^_`|~"
