package cassettes

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/secrets"
	"github.com/toolconform/conform/internal/texts"
)

// A MismatchError says how a request differs from the recorded one.
type MismatchError struct {
	Tape     string
	Exchange int // index of the exchange
	Place    string
	Want     string // what the tape holds
	Got      string // what was sent
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("tape %s: exchange %d: %s: want %s, got %s", e.Tape, e.Exchange, e.Place, e.Want, e.Got)
}

// Differs tells how a request differs from the one of exchange i, by method, path,
// query and body; nil when it does not. The error is a *MismatchError.
//
// The host is not compared, since a client may be pointed at any address, nor
// are headers and query parameters that carry a key. Where the recorder took a
// secret out of path, query or body, the tape holds REDACTED, and anything may
// stand in its place.
func (t Tape) Differs(i int, got Request) error {
	fault := func(place, want, got string) error { return &MismatchError{t.Name, i, place, want, got} }
	sent, err := url.Parse(got.URL)
	if err != nil {
		return fault("url", "a URL that can be read", got.URL)
	}
	if i >= len(t.Exchanges) {
		return fault("request", fmt.Sprintf("none: the tape ends after %d exchanges", len(t.Exchanges)), got.Method+" "+sent.EscapedPath())
	}
	want := t.Exchanges[i].Request
	u, err := url.Parse(want.URL)
	if err != nil {
		return fault("url", "a URL that can be read", want.URL)
	}
	if got.Method != want.Method {
		return fault("method", want.Method, got.Method)
	}
	if w, g := u.EscapedPath(), sent.EscapedPath(); !sameText(w, g) {
		return fault("path", w, g)
	}
	if w, g := query(u), query(sent); !sameText(w, g) {
		return fault("query", w, g)
	}
	return checkBody(want.Body, got.Body, fault)
}

// query is the query in one spelling, without the parameters of a key.
func query(u *url.URL) string {
	q := u.Query()
	for name := range q {
		if secrets.Parameter(name) {
			q.Del(name)
		}
	}
	if len(q) == 0 {
		return "none"
	}
	return q.Encode()
}

func checkBody(want, got []byte, fault func(place, want, got string) error) error {
	if bytes.Equal(want, got) {
		return nil
	}
	if jsonx.Check(want) != nil && sameText(string(want), string(got)) {
		return nil
	}
	if jsonx.Check(want) != nil {
		return fault("body", bounded(want), bounded(got))
	}
	if err := jsonx.Check(got); err != nil {
		return fault("body", "JSON", fmt.Sprintf("%s (%v)", bounded(got), err))
	}
	differences, err := redactedDiff(want, got)
	if err != nil || len(differences) == 0 {
		return err
	}
	d := differences[0]
	place := "body " + d.Pointer
	if d.Pointer == "" {
		place = "body"
	}
	more := ""
	if len(differences) > 1 {
		var b strings.Builder
		for _, d := range differences[1:] {
			b.WriteString("\n  also " + d.String())
		}
		more = b.String()
	}
	return fault(place, shown(d.Want), shown(d.Got)+more)
}

// redactedDiff is jsonx.Diff without the places where the tape holds a text in
// which a secret was REDACTED and the request the text with something for it.
func redactedDiff(want, got []byte) ([]jsonx.Difference, error) {
	for {
		differences, err := jsonx.Diff(want, got)
		if err != nil {
			return nil, err
		}
		// Diff stops at some number, so what is allowed is put into the wanted
		// document, and the rest compared anew.
		allowed := false
		for _, d := range differences {
			w, g := jsonx.Of(d.Want), jsonx.Of(d.Got)
			if w.Kind() == jsonx.String && g.Kind() == jsonx.String && w.Str() != g.Str() && sameText(w.Str(), g.Str()) {
				if want, err = jsonx.Set(want, d.Pointer, d.Got); err != nil {
					return nil, err
				}
				allowed = true
			}
		}
		if !allowed {
			return differences, nil
		}
	}
}

// sameText compares a recorded text with a sent one. Where the recorded one says
// REDACTED, anything may stand.
func sameText(want, got string) bool {
	pieces := strings.Split(want, secrets.Redacted)
	if len(pieces) == 1 {
		return want == got
	}
	first, last := pieces[0], pieces[len(pieces)-1]
	if len(got) < len(first)+len(last) || !strings.HasPrefix(got, first) || !strings.HasSuffix(got, last) {
		return false
	}
	got = got[len(first) : len(got)-len(last)]
	for _, piece := range pieces[1 : len(pieces)-1] {
		_, rest, found := strings.Cut(got, piece)
		if !found {
			return false
		}
		got = rest
	}
	return true
}

func shown(raw jsonx.Raw) string {
	if raw == nil {
		return "nothing"
	}
	return bounded(raw)
}

func bounded(b []byte) string {
	if len(b) == 0 {
		return "no body"
	}
	return texts.Bounded(b, 300)
}
