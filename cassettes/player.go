package cassettes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/secrets"
)

// Player is an http.RoundTripper that answers from a tape, strictly in its
// order: each request must be the next recorded one, by method, path, query and
// body. It never dials and never waits, and is safe for concurrent use.
//
// The host is not compared, since a client may be pointed at any address, nor
// are headers and query parameters that carry a key. Where the recorder took a
// secret out of path, query or body, the tape holds REDACTED, and anything may
// stand in its place.
type Player struct {
	tape Tape

	mu    sync.Mutex
	next  int
	fault error // the first one
}

// NewPlayer plays a tape from its start.
func NewPlayer(t Tape) *Player { return &Player{tape: t} }

// A PlayError says how a request differs from the recorded one.
type PlayError struct {
	Tape     string
	Exchange int // index of the exchange that was next
	Place    string
	Want     string // what the tape holds
	Got      string // what was sent
}

func (e *PlayError) Error() string {
	return fmt.Sprintf("tape %s: exchange %d: %s: want %s, got %s", e.Tape, e.Exchange, e.Place, e.Want, e.Got)
}

// RoundTrip answers the next exchange of the tape. A request that is not the
// recorded one is a *PlayError and does not use the exchange up.
func (p *Player) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, fmt.Errorf("tape %s: the request's body: %w", p.tape.Name, err)
	}
	if req.URL == nil {
		return nil, fmt.Errorf("tape %s: a request without a URL", p.tape.Name)
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.check(req, body); err != nil {
		if p.fault == nil {
			p.fault = err
		}
		return nil, err
	}
	r := p.tape.Exchanges[p.next].Response
	p.next++
	header := r.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	return &http.Response{
		Status:     strings.TrimSpace(fmt.Sprintf("%d %s", r.Status, http.StatusText(r.Status))),
		StatusCode: r.Status,
		Proto:      "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header:        header,
		Body:          io.NopCloser(bytes.NewReader(r.Body)),
		ContentLength: int64(len(r.Body)),
		Request:       req,
	}, nil
}

// readBody reads a body of at most MostYAML bytes and closes it; no tape holds a
// larger one.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(&atMost{ReadCloser: req.Body, left: MostYAML, err: errors.New("it is larger than " + size(MostYAML))})
	if closed := req.Body.Close(); err == nil {
		err = closed
	}
	return body, err
}

func (p *Player) check(req *http.Request, body []byte) error {
	fault := func(place, want, got string) error {
		return &PlayError{p.tape.Name, p.next, place, want, got}
	}
	if p.next >= len(p.tape.Exchanges) {
		return fault("request", fmt.Sprintf("none: the tape ends after %d exchanges", len(p.tape.Exchanges)),
			req.Method+" "+req.URL.EscapedPath())
	}
	want := p.tape.Exchanges[p.next].Request
	u, err := url.Parse(want.URL)
	if err != nil {
		return fault("url", "a URL that can be read", want.URL)
	}
	if req.Method != want.Method {
		return fault("method", want.Method, req.Method)
	}
	if w, g := u.EscapedPath(), req.URL.EscapedPath(); !sameText(w, g) {
		return fault("path", w, g)
	}
	if w, g := query(u), query(req.URL); !sameText(w, g) {
		return fault("query", w, g)
	}
	return p.checkBody(want.Body, body, fault)
}

// query is the query in one spelling, without the parameters of a key.
func query(u *url.URL) string {
	q := u.Query()
	for name := range q {
		if secretParameter(name) {
			q.Del(name)
		}
	}
	if len(q) == 0 {
		return "none"
	}
	return q.Encode()
}

func (p *Player) checkBody(want, got []byte, fault func(place, want, got string) error) error {
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
	const most = 300
	if len(b) == 0 {
		return "no body"
	}
	if len(b) <= most {
		return string(b)
	}
	return strings.ToValidUTF8(string(b[:most]), "") + fmt.Sprintf("... (%d bytes)", len(b))
}

// Unused lists the indices of the exchanges that were not played.
func (p *Player) Unused() []int {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []int
	for i := p.next; i < len(p.tape.Exchanges); i++ {
		out = append(out, i)
	}
	return out
}

// Done is an error when a request was refused or an exchange was not played.
func (p *Player) Done() error {
	unused := p.Unused()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fault != nil {
		return p.fault
	}
	if len(unused) > 0 {
		r := p.tape.Exchanges[unused[0]].Request
		return fmt.Errorf("tape %s: %d of %d exchanges were not played, the first is exchange %d: %s %s",
			p.tape.Name, len(unused), len(p.tape.Exchanges), unused[0], r.Method, r.URL)
	}
	return nil
}
