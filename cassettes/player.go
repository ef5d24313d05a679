package cassettes

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/toolconform/conform/internal/jsonx"
)

// Player is an http.RoundTripper that answers from a tape, strictly in its
// order: each request must be the next recorded one, by method, path, query and
// body. It never dials and never waits, and is safe for concurrent use.
//
// The host is not compared, since a client may be pointed at any address, nor
// are headers and query parameters that carry a key.
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
		return nil, err
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

func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(req.Body)
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
	if w, g := u.EscapedPath(), req.URL.EscapedPath(); w != g {
		return fault("path", w, g)
	}
	if w, g := query(u), query(req.URL); w != g {
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
	if jsonx.Check(want) != nil {
		return fault("body", bounded(want), bounded(got))
	}
	if err := jsonx.Check(got); err != nil {
		return fault("body", "JSON", fmt.Sprintf("%s (%v)", bounded(got), err))
	}
	differences, err := jsonx.Diff(want, got)
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
