package engines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/secrets"
	"github.com/toolconform/conform/loop"
)

// Client posts request bodies to one engine. Set the fields before the first
// use; Send may then be called from several goroutines. A Client is used by
// pointer.
type Client struct {
	Engine Engine       // with the edits of the model's rules: Resolved.Engine
	Codec  codecs.Codec // reads error bodies, so that an exhausted quota is not tried again; may be nil
	Model  string       // "" is the engine's default model
	Key    string       // see Engine.Key

	Command []string          // its output is the key; overrides Engine.Command, and works with every auth kind
	Vars    map[string]string // variables of the templates
	BaseURL string            // in place of the variable base: scheme, host and path before the endpoint
	Headers map[string]string // more headers; they win
	Query   map[string]string // more query values; they win

	HTTP       *http.Client  // nil is a client of its own
	MaxRetries int           // 0 is two, a negative number none
	MaxWait    time.Duration // longest pause before a retry; 0 is one minute

	// FirstByte is the longest wait for the first byte of an answer's body, of
	// each try; Idle that for each further part of it. 0 is no limit of its own.
	// Total is that of the whole exchange, pauses and reading included: 0 is ten
	// minutes, a negative value none. An error of theirs is
	// context.DeadlineExceeded.
	FirstByte, Idle, Total time.Duration

	once  sync.Once
	turn  chan struct{} // one key command at a time; waiting for it ends with the context
	token string        // what the key command printed
}

// String names the engine and never shows the key.
func (c *Client) String() string {
	key := "no key"
	if c.Key != "" {
		key = "key set"
	}
	return fmt.Sprintf("engine %s, model %s, %s", c.Engine.Name, c.model(), key)
}

// GoString is String, so that %#v shows no key either.
func (c *Client) GoString() string { return c.String() }

// Format is String for every verb.
func (c *Client) Format(s fmt.State, _ rune) { io.WriteString(s, c.String()) }

// Send implements loop.Sender. It returns when the first byte of the answer is
// there. Until then an overloaded engine, a rate limit and a reset connection are
// tried again; the last answer is returned. Neither the answer nor the error of a
// request that got none shows a key that the request carries.
func (c *Client) Send(ctx context.Context, call loop.Call) (*loop.Response, error) {
	key, err := c.key(ctx)
	if err != nil {
		return nil, err
	}
	sent, err := c.Body(call.Body)
	if err != nil {
		return nil, err
	}
	x := c.exchange(ctx)
	for try := 0; ; try++ {
		req, err := c.request(x.ctx, sent, call.Stream, key)
		if err != nil {
			x.end()
			return nil, err
		}
		keys := append(secrets.Carried(req.URL.String(), req.Header), key)
		x.hide = func(err error) error { return c.hide(err, req.URL, keys...) }
		var refusal []byte
		resp, err := x.post(req)
		if err == nil {
			quoted(resp, keys)
		}
		if err == nil && resp.Status >= 400 {
			refusal, err = whole(resp)
		}
		wait, again := c.retry(try, resp, refusal, err)
		if again && x.ctx.Err() == nil {
			if err = x.sleep(wait); err == nil {
				continue
			}
		}
		if err != nil {
			defer x.end()
			return nil, x.failed(err)
		}
		if resp.Status >= 400 { // it was read
			x.end()
		}
		resp.Sent = sent
		return resp, nil
	}
}

// request builds the HTTP request for a body with the engine's edits.
func (c *Client) request(ctx context.Context, body []byte, stream bool, key string) (*http.Request, error) {
	u, err := c.address(stream)
	if err != nil {
		return nil, err
	}
	kind, arg, _ := strings.Cut(c.Engine.Auth, ":")
	if key != "" && kind == "body" {
		if body, err = jsonx.Set(body, arg, jsonx.Quote(key)); err != nil {
			return nil, fmt.Errorf("engine %s: the key does not fit at %s of the request body: the body is no object there", c.Engine.Name, arg)
		}
	}
	if key != "" && kind == "query" {
		q := u.Query()
		q.Set(arg, key)
		u.RawQuery = q.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, c.hide(err, u, key)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	if stream {
		req.Header.Set("Accept", "text/event-stream, application/x-ndjson, application/json")
	}
	if key != "" {
		switch kind {
		case "bearer", "command":
			req.Header.Set("Authorization", "Bearer "+key)
		case "header":
			req.Header.Set(arg, key)
		}
	}
	for k, v := range c.Engine.Headers {
		if v, err = c.expand(v, plain); err != nil {
			return nil, err
		}
		req.Header.Set(k, v)
	}
	for k, v := range c.Headers {
		req.Header.Set(k, v)
	}
	return req, c.checkHeaders(req.Header, key)
}

// Body returns a request body with the engine's edits and without the key.
func (c *Client) Body(body []byte) ([]byte, error) {
	root, err := jsonx.Parse(body)
	if err == nil && !root.IsObject() {
		err = fmt.Errorf("it is %s", root.Kind())
	}
	if err != nil {
		return nil, fmt.Errorf("engine %s: the request body is no JSON object: %w", c.Engine.Name, err)
	}
	for _, e := range c.Engine.BodySet {
		value := e.Value
		if e.From != "" {
			if value = jsonx.Of(body).Lookup(e.From).Raw(); value == nil {
				continue
			}
		}
		if e.IfAbsent && jsonx.Of(body).Lookup(e.Pointer).Exists() {
			continue
		}
		if e.Text {
			value = jsonx.Quote(string(value))
		}
		if body, err = jsonx.Set(body, e.Pointer, value); err != nil {
			return nil, fmt.Errorf("engine %s: body_set: %w", c.Engine.Name, err)
		}
	}
	for _, p := range c.Engine.BodyRemove {
		if !jsonx.Of(body).Lookup(p).Exists() {
			continue
		}
		if body, err = jsonx.Delete(body, p); err != nil {
			return nil, fmt.Errorf("engine %s: body_remove: %w", c.Engine.Name, err)
		}
	}
	return body, nil
}

// reset tells whether the connection broke under the request.
func reset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}
