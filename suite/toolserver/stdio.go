package toolserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/mark3labs/mcp-go/mcp"

	"github.com/toolconform/conform/internal/jsonx"
)

// ServeStdio serves MCP as lines of JSON until in ends or ctx is done. Calls run
// side by side, so that one that hangs holds up no other; when in ends they are
// cancelled. The error is that of in or out, nil at a plain end.
func (s *Server) ServeStdio(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	c := &stdio{session: s.newSession(), out: out, open: map[string]context.CancelFunc{}}
	lines := make(chan []byte)
	ended := make(chan error, 1)
	go func() { // in cannot be interrupted, so it is read beside
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadBytes('\n')
			if len(bytes.TrimSpace(line)) > 0 {
				select {
				case lines <- line:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				ended <- err
				return
			}
		}
	}()
	var err error
	for err == nil {
		select {
		case line := <-lines:
			c.message(ctx, line)
		case err = <-ended:
		case <-ctx.Done():
			err = io.EOF
		}
	}
	cancel()
	c.running.Wait()
	if !errors.Is(err, io.EOF) {
		return fmt.Errorf("tool server %q: reading: %w", s.Name, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.failed
}

type stdio struct {
	*session
	running sync.WaitGroup

	mu     sync.Mutex
	out    io.Writer
	open   map[string]context.CancelFunc // calls under way by request id
	failed error
}

func (c *stdio) message(ctx context.Context, line []byte) {
	v, err := jsonx.Parse(line)
	if err != nil {
		c.write(rpcError(nil, &RPCError{codeParse, err.Error()}))
		return
	}
	id := string(v.Get("id").Raw())
	switch v.Get("method").Str() {
	case string(mcp.MethodNotificationCancelled):
		c.mu.Lock()
		if stop := c.open[string(v.Path("params", "requestId").Raw())]; stop != nil {
			stop()
		}
		c.mu.Unlock()
	case string(mcp.MethodToolsCall):
		ctx, stop := context.WithCancel(ctx)
		c.mu.Lock()
		c.open[id] = stop
		c.mu.Unlock()
		c.running.Go(func() {
			reply := c.handle(ctx, line)
			c.mu.Lock()
			delete(c.open, id)
			c.mu.Unlock()
			if ctx.Err() == nil { // a call that was cancelled gets no answer
				c.write(reply)
			}
			stop()
		})
	default:
		c.write(c.handle(ctx, line))
	}
}

// write sends one message as one line. Line ends inside it can only be white
// space between tokens.
func (c *stdio) write(message json.RawMessage) {
	if message == nil {
		return
	}
	if bytes.ContainsAny(message, "\r\n") {
		if compact, err := jsonx.Compact(message); err == nil {
			message = compact
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, err := c.out.Write(append(append([]byte(nil), message...), '\n')); err != nil && c.failed == nil {
		c.failed = fmt.Errorf("tool server %q: writing: %w", c.s.Name, err)
	}
}
