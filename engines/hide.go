package engines

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/toolconform/conform/internal/secrets"
	"github.com/toolconform/conform/loop"
)

// hide takes address and keys out of an error; the cause stays for errors.Is.
func (c *Client) hide(err error, u *url.URL, keys ...string) error {
	if err == nil {
		return nil
	}
	if done := (*secrets.HiddenError)(nil); errors.As(err, &done) {
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
	return &secrets.HiddenError{Text: secrets.Hide(text, keys...), Cause: cause}
}

// Lengths from which a key is searched for in what an engine answers. Local
// engines take any word for a key, and without that word their replies would be
// spoilt; the text of an error bears it.
const (
	leastInError = 4
	leastInReply = 12
)

// quoted takes keys out of an answer: a provider may quote what it got.
func quoted(resp *loop.Response, keys []string) {
	least := leastInReply
	if resp.Status >= 400 {
		least = leastInError
	}
	keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return len(k) < least })
	if len(keys) == 0 {
		return
	}
	header := http.Header(resp.Header).Clone()
	for _, values := range header {
		for i, v := range values {
			values[i] = secrets.Hide(v, keys...)
		}
	}
	body := resp.Body.(*answer)
	r := &hiding{read: body.read}
	for _, key := range keys {
		for _, l := range secrets.Literals(key) {
			r.literals = append(r.literals, []byte(l))
		}
	}
	slices.SortStableFunc(r.literals, func(a, b []byte) int { return len(b) - len(a) })
	resp.Header, body.keys = header, r
}

// hiding is a body without keys. It holds back only what may be the beginning of
// one.
type hiding struct {
	read        func([]byte) (int, error)
	literals    [][]byte // the longest first
	ready, held []byte
	err         error
}

func (h *hiding) Read(p []byte) (int, error) {
	for len(h.ready) == 0 && h.err == nil {
		buf := make([]byte, max(len(p), 512))
		var n int
		n, h.err = h.read(buf)
		text := append(h.held, buf[:n]...)
		for _, l := range h.literals {
			text = bytes.ReplaceAll(text, l, []byte(secrets.Redacted))
		}
		whole := len(text)
		if h.err == nil {
			whole -= h.unfinished(text)
		}
		h.ready, h.held = text[:whole], bytes.Clone(text[whole:])
	}
	n := copy(p, h.ready)
	if h.ready = h.ready[n:]; len(h.ready) > 0 {
		return n, nil
	}
	return n, h.err
}

// unfinished counts the bytes at the end of a text that may begin a key.
func (h *hiding) unfinished(text []byte) int {
	for n := min(len(text), len(h.literals[0])-1); n > 0; n-- {
		if slices.ContainsFunc(h.literals, func(l []byte) bool { return bytes.HasPrefix(l, text[len(text)-n:]) }) {
			return n
		}
	}
	return 0
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
