package cassettes

import (
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolconform/conform/internal/secrets"
)

// keptRequest and keptResponse are the headers that a tape keeps: what the
// other side needs to understand the message. Everything else may identify an
// account or a machine.
var (
	keptRequest = []string{"Accept", "Anthropic-Beta", "Anthropic-Version", "Content-Type", "Openai-Beta"}

	keptResponse = []string{"Content-Type", "Retry-After", "Retry-After-Ms"}
)

// scrubber takes secrets out of an exchange.
type scrubber struct {
	known []*regexp.Regexp // configured
	keep  []string         // further headers, canonical
}

func newScrubber(known, keepHeaders []string) (scrubber, error) {
	var s scrubber
	for i, secret := range known {
		re, err := secrets.Spellings(secret)
		if err != nil {
			return s, fmt.Errorf("secret %d: %w", i, err)
		}
		s.known = append(s.known, re)
	}
	for _, name := range keepHeaders {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if secrets.KeyName(name) {
			return s, fmt.Errorf("header %s carries a key; it cannot be kept in a tape", name)
		}
		s.keep = append(s.keep, name)
	}
	return s, nil
}

// Scrub returns a copy of an exchange that may be kept: with the headers that a
// tape keeps, and without the known secrets and those that the request itself
// carries, wherever they stand. An empty secret is none.
func Scrub(x Exchange, known ...string) (Exchange, error) {
	s, err := newScrubber(slices.DeleteFunc(slices.Clone(known), func(k string) bool { return k == "" }), nil)
	if err != nil {
		return Exchange{}, err
	}
	return s.exchange(x), nil
}

// exchange returns a scrubbed copy. The secrets that the request itself carries
// in its headers and query are removed wherever else they stand: an engine may
// quote a key in its error text.
func (s scrubber) exchange(x Exchange) Exchange {
	all := slices.Clone(s.known)
	for _, secret := range secrets.Carried(x.Request.URL, x.Request.Header) {
		if len(secret) < leastCarried {
			continue
		}
		if re, err := secrets.Spellings(secret); err == nil {
			all = append(all, re)
		}
	}
	clean := func(text []byte) []byte {
		for _, re := range all {
			text = re.ReplaceAll(text, []byte(secrets.Redacted))
		}
		return secrets.RedactShapes(text)
	}
	return Exchange{
		Request: Request{
			Method: x.Request.Method,
			URL:    string(clean([]byte(cleanURL(x.Request.URL)))),
			Header: s.headers(x.Request.Header, keptRequest, clean),
			Body:   clean(x.Request.Body),
		},
		Response: Response{
			Status: x.Response.Status,
			Header: s.headers(x.Response.Header, keptResponse, clean),
			Body:   clean(x.Response.Body),
		},
	}
}

// leastCarried is the length from which a carried secret is searched for in
// bodies. Local engines take any word for a key, and removing that word from
// their replies would spoil them; keys of real providers are longer.
const leastCarried = 12

// cleanURL takes user, password and the values of secret parameters out of a
// URL; everything else keeps its spelling.
func cleanURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw // no request was sent to it; the texts are cleaned anyway
	}
	u.User = nil
	pairs := strings.Split(u.RawQuery, "&")
	for i, pair := range pairs {
		name, _, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil && secrets.Parameter(plain) {
			pairs[i] = name + "=" + secrets.Redacted
		}
	}
	u.RawQuery = strings.Join(pairs, "&")
	return u.String()
}

func (s scrubber) headers(h http.Header, kept []string, clean func([]byte) []byte) http.Header {
	out := http.Header{}
	for name, values := range h {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if !slices.Contains(kept, name) && !slices.Contains(s.keep, name) {
			continue
		}
		for _, v := range values {
			out.Add(name, string(clean([]byte(v))))
		}
	}
	return out
}

// leaks names what a finished tape must not hold: a configured secret or
// anything in the shape of one.
func (s scrubber) leaks(text []byte) []string {
	var out []string
	for i, re := range s.known {
		if re.Match(text) {
			out = append(out, fmt.Sprintf("configured secret %d", i))
		}
	}
	for _, f := range secrets.Find(text) {
		out = append(out, f.What)
	}
	return out
}
