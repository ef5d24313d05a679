package engines

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/loop"
)

// exchange is one Send under way, until the body of its answer is closed.
type exchange struct {
	c      *Client
	ctx    context.Context
	cancel context.CancelCauseFunc
	total  *time.Timer       // nil: no limit
	hide   func(error) error // what the caller may see of an error
}

func (c *Client) exchange(ctx context.Context) *exchange {
	x := &exchange{c: c, hide: func(err error) error { return err }}
	x.ctx, x.cancel = context.WithCancelCause(ctx)
	total := c.Total
	if total == 0 {
		total = 10 * time.Minute
	}
	x.total = x.limit(total, "no whole answer within %s (Client.Total)")
	return x
}

// limit ends the exchange after d unless the timer is stopped before; nil is no
// limit.
func (x *exchange) limit(d time.Duration, text string) *time.Timer {
	if d <= 0 {
		return nil
	}
	return time.AfterFunc(d, func() { x.cancel(overdue(fmt.Sprintf(text, d))) })
}

func stop(t *time.Timer) {
	if t != nil {
		t.Stop()
	}
}

// overdue says which limit ran out.
type overdue string

func (o overdue) Error() string { return string(o) }

func (o overdue) Is(target error) bool { return target == context.DeadlineExceeded }

// failed is an error as the caller sees it: what ended the exchange, where
// something did, in the place of what that broke.
func (x *exchange) failed(err error) error {
	if cause := context.Cause(x.ctx); cause != nil {
		err = cause
	}
	return x.hide(err)
}

// end releases what the exchange holds.
func (x *exchange) end() {
	stop(x.total)
	x.cancel(errors.New("the body is closed"))
}

// post sends one request and waits for the first byte of the answer. Redirects
// are not followed: they would carry the key to another host.
func (x *exchange) post(req *http.Request) (*loop.Response, error) {
	h := http.Client{}
	if x.c.HTTP != nil {
		h = *x.c.HTTP
	}
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	defer stop(x.limit(x.c.FirstByte, "no byte of an answer within %s (Client.FirstByte)"))
	resp, err := h.Do(req)
	if err != nil {
		return nil, err
	}
	b := &answer{x: x, status: resp.StatusCode, from: resp.Body, r: bufio.NewReader(resp.Body)}
	b.release = context.AfterFunc(x.ctx, func() { resp.Body.Close() })
	if _, err := b.r.Peek(1); err != nil && err != io.EOF {
		b.leave()
		return nil, fmt.Errorf("reading the answer (status %d): %w", resp.StatusCode, err)
	}
	return &loop.Response{Status: resp.StatusCode, Header: resp.Header, Body: b}, nil
}

// whole reads a response and gives it a body of its own.
func whole(resp *loop.Response) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(resp.Body, codecs.MaxBody+1))
	resp.Body.(*answer).leave()
	resp.Body = io.NopCloser(bytes.NewReader(b))
	return b, err
}

// answer is the body of a response.
type answer struct {
	x       *exchange
	status  int
	from    io.Closer
	r       *bufio.Reader
	keys    *hiding     // nil: none to take out
	release func() bool // the end of the context closes from no more
}

func (a *answer) Read(p []byte) (int, error) {
	if a.keys != nil {
		return a.keys.Read(p)
	}
	return a.read(p)
}

func (a *answer) read(p []byte) (int, error) {
	idle := a.x.limit(a.x.c.Idle, "the answer paused for %s (Client.Idle)")
	n, err := a.r.Read(p)
	stop(idle)
	if err != nil && err != io.EOF {
		err = a.x.failed(fmt.Errorf("reading the answer (status %d): %w", a.status, err))
	}
	return n, err
}

// leave closes the body; the exchange may go on with another try.
func (a *answer) leave() {
	a.release()
	a.from.Close()
}

func (a *answer) Close() error {
	a.leave()
	a.x.end()
	return nil
}
