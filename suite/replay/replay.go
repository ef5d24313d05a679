// Package replay plays the engine's side of a conversation: it answers each
// request with the next turn of a script and keeps what was sent, for the judge.
// It never opens a socket: a Conversation is an http.RoundTripper.
package replay

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Turn is one answer of the engine.
type Turn struct {
	Status int // 0 is 200
	Header http.Header
	Body   []byte
}

// Sent is one request as it came in, read by the server half.
type Sent struct {
	Method, Path string
	URL          string // whole, with its query
	Body         codecs.Raw
	Request      codecs.Request
	Warnings     []codecs.Warning
	Err          error // the request cannot be read as the dialect
	Past         bool  // it came after the last turn
}

// Conversation answers requests with its turns, in order. It is safe for
// concurrent use; requests that arrive together are answered in the order in
// which they get in. A request after the last turn is answered 400.
type Conversation struct {
	Server  codecs.Full
	Profile codecs.Profile
	Turns   []Turn
	// AnyPath accepts requests whose path is not one of the dialect's own: an
	// engine may have URL templates of its own.
	AnyPath bool
	// Restore, when set, undoes what the engine's entry does to a body before it
	// goes out, so that the server half can read it as its dialect.
	Restore func(body []byte) ([]byte, error)

	mu   sync.Mutex
	sent []Sent
}

// Sent returns what came in so far, in order.
func (c *Conversation) Sent() []Sent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Sent(nil), c.sent...)
}

// RoundTrip answers one request. It never dials.
func (c *Conversation) RoundTrip(req *http.Request) (*http.Response, error) {
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(io.LimitReader(req.Body, codecs.MaxBody+1))
		_ = req.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("replay: read request: %w", err)
		}
	}
	turn := c.next(req, body)
	status := turn.Status
	if status == 0 {
		status = http.StatusOK
	}
	header := turn.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	if header.Get("Content-Type") == "" {
		header.Set("Content-Type", "application/json")
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), StatusCode: status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: header, Body: io.NopCloser(bytes.NewReader(turn.Body)), ContentLength: int64(len(turn.Body)), Request: req,
	}, nil
}

func (c *Conversation) next(req *http.Request, body []byte) Turn {
	in := codecs.In{Method: req.Method, Path: req.URL.EscapedPath(), Query: req.URL.Query(), Header: req.Header, Body: body}
	s := Sent{Method: req.Method, Path: req.URL.Path, URL: req.URL.String(), Body: bytes.Clone(body)}
	if _, _, ok := c.Server.Match(in); !ok && !c.AnyPath {
		s.Err = fmt.Errorf("%s %s belongs to no %s endpoint", in.Method, in.Path, c.Server.Dialect())
	} else {
		s.read(c, in)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.sent)
	s.Past = n >= len(c.Turns)
	c.sent = append(c.sent, s)
	if !s.Past {
		return c.Turns[n]
	}
	answer := c.Server.RenderError(&codecs.ProviderError{
		Dialect: c.Server.Dialect(), Status: http.StatusBadRequest, Kind: codecs.ErrShape,
		Message: fmt.Sprintf("the conversation has %d turns; this is request %d", len(c.Turns), n+1),
	}, c.Profile)
	return Turn{Status: answer.Status, Header: answer.Header, Body: answer.Body}
}

// read reads the request as the dialect's.
func (s *Sent) read(c *Conversation, in codecs.In) {
	if c.Restore != nil {
		if in.Body, s.Err = c.Restore(in.Body); s.Err != nil {
			return
		}
	}
	s.Request, s.Warnings, s.Err = c.Server.ParseRequest(in, c.Profile)
}

// Patch applies one change to a rendered body: what a real engine sends in
// place of the neutral form.
type Patch struct {
	Path   string
	Set    codecs.Raw // nil with Remove
	Remove bool
}

// Apply returns body with the patches made, in order.
func Apply(body codecs.Raw, patches []Patch) (codecs.Raw, error) {
	var err error
	for _, p := range patches {
		if p.Remove {
			body, err = jsonx.Delete(body, p.Path)
		} else {
			body, err = jsonx.Set(body, p.Path, p.Set)
		}
		if err != nil {
			return nil, fmt.Errorf("wire patch: %w", err)
		}
	}
	return body, nil
}

// Peek reads the body of a request and puts it back.
func Peek(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, codecs.MaxBody+1))
	_ = req.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("replay: read request: %w", err)
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	return body, nil
}

// Note keeps a request that something else answers.
func (c *Conversation) Note(req *http.Request, body []byte) { c.next(req, body) }
