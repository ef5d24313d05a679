package cassettes

import (
	"bytes"
	"fmt"
	"net/http"
	"net/textproto"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/toolconform/conform/internal/jsonx"
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
	clean, _ := s.exchange(x)
	return clean, nil
}

// exchange returns a scrubbed copy, and what was taken out of it only because it
// looks like a secret. The secrets that the request itself carries in its headers,
// its query and its body are removed wherever else they stand: an engine may quote
// a key in its error text.
func (s scrubber) exchange(x Exchange) (Exchange, []string) {
	request, inBody := bodyKeys(x.Request.Body)
	all := slices.Clone(s.known)
	for _, secret := range append(secrets.Carried(x.Request.URL, x.Request.Header), inBody...) {
		if len(secret) < leastCarried {
			continue
		}
		if re, err := secrets.Spellings(secret); err == nil {
			all = append(all, re)
		}
	}
	var told []string
	clean := func(place string, text []byte) []byte {
		for _, re := range all {
			text = re.ReplaceAll(text, []byte(secrets.Redacted))
		}
		for _, f := range secrets.Find(text) {
			told = append(told, place+": "+f.What)
		}
		return secrets.RedactShapes(text)
	}
	return Exchange{
		Request: Request{
			Method: x.Request.Method,
			URL:    string(clean("url", []byte(cleanURL(x.Request.URL)))),
			Header: s.headers(x.Request.Header, keptRequest, clean),
			Body:   clean("request body", request),
		},
		Response: Response{
			Status: x.Response.Status,
			Header: s.headers(x.Response.Header, keptResponse, clean),
			Body:   clean("response body", x.Response.Body),
		},
	}, told
}

// bodyKeys finds the keys that stand in a request body as members of its root, or
// of an object that itself is named like a key, or as fields of a form. It returns
// the body without them.
func bodyKeys(body []byte) (clean []byte, keys []string) {
	root, err := jsonx.Parse(body)
	if err != nil {
		if form := bytes.TrimSpace(body); !bytes.ContainsAny(form, " \t\n{\"") {
			text, found := withoutKeys(string(form))
			if len(found) > 0 {
				return []byte(text), found
			}
		}
		return body, nil
	}
	var walk func(at string, v jsonx.Value)
	walk = func(at string, v jsonx.Value) {
		for _, m := range v.Members() {
			pointer := at + "/" + jsonx.Token(m.Key)
			switch {
			case !secrets.Parameter(m.Key):
			case m.Value.IsObject():
				walk(pointer, m.Value)
			case m.Value.Kind() == jsonx.String && m.Value.Str() != "":
				if without, err := jsonx.Set(body, pointer, jsonx.Quote(secrets.Redacted)); err == nil {
					body, keys = without, append(keys, m.Value.Str())
				}
			}
		}
	}
	walk("", root)
	return body, keys
}

// withoutKeys takes the values of secret parameters out of a query or a form;
// everything else keeps its spelling.
func withoutKeys(query string) (clean string, keys []string) {
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(name); err == nil && secrets.Parameter(plain) {
			pairs[i] = name + "=" + secrets.Redacted
			if value, err := url.QueryUnescape(value); err == nil {
				keys = append(keys, value)
			}
		}
	}
	return strings.Join(pairs, "&"), keys
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
	u.RawQuery, _ = withoutKeys(u.RawQuery)
	return u.String()
}

func (s scrubber) headers(h http.Header, kept []string, clean func(string, []byte) []byte) http.Header {
	out := http.Header{}
	for name, values := range h {
		name = textproto.CanonicalMIMEHeaderKey(name)
		if !slices.Contains(kept, name) && !slices.Contains(s.keep, name) {
			continue
		}
		for _, v := range values {
			out.Add(name, string(clean("header "+name, []byte(v))))
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
