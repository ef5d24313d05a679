package mcp

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/toolconform/conform/internal/jsonx"
)

// tap collects the raw results of the requests that are sent under one context:
// the pages of a list, the rounds of a call.
type tap struct {
	mu  sync.Mutex
	raw []json.RawMessage
	err *RPCError // the last JSON-RPC error
}

// RPCError is a JSON-RPC error that the server answered with. Its text is the
// server's own.
type RPCError struct {
	Code    int
	Message string
}

func (e *RPCError) Error() string { return e.Message }

type tapKey struct{}

func withTap(ctx context.Context) (context.Context, *tap) {
	t := &tap{}
	return context.WithValue(ctx, tapKey{}, t), t
}

func (t *tap) results() []json.RawMessage {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.raw
}

func (t *tap) failure() *RPCError {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.err
}

// keep records the result of a tool request before the client reads it.
func keep(ctx context.Context, req transport.JSONRPCRequest, resp *transport.JSONRPCResponse, err error) (*transport.JSONRPCResponse, error) {
	t, _ := ctx.Value(tapKey{}).(*tap)
	if err != nil || t == nil || resp == nil {
		return resp, err
	}
	if resp.Error != nil {
		t.mu.Lock()
		t.err = &RPCError{resp.Error.Code, resp.Error.Message}
		t.mu.Unlock()
		return resp, nil
	}
	if len(resp.Result) == 0 {
		return resp, nil
	}
	switch req.Method {
	case string(mcp.MethodToolsList):
		t.add(resp.Result)
		// A page that the client's types do not know must not end the listing:
		// the client gets a page without tools, so that it follows the cursor.
		if json.Unmarshal(resp.Result, &mcp.ListToolsResult{}) != nil && jsonx.Check(resp.Result) == nil {
			var page jsonx.Fields
			page.Set("tools", jsonx.List()).Set("nextCursor", jsonx.Of(resp.Result).Get("nextCursor").Raw())
			with := *resp
			with.Result = page.Raw()
			return &with, nil
		}
	case string(mcp.MethodToolsCall):
		t.add(resp.Result)
	}
	return resp, err
}

func (t *tap) add(raw json.RawMessage) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.raw = append(t.raw, append(json.RawMessage(nil), raw...))
}

// The taps embed the transports themselves, since the client asks each for
// abilities beyond the interface.

type tapInProcess struct{ *transport.InProcessTransport }

func (t *tapInProcess) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	resp, err := t.InProcessTransport.SendRequest(ctx, req)
	return keep(ctx, req, resp, err)
}

type tapStdio struct{ *transport.Stdio }

func (t *tapStdio) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	resp, err := t.Stdio.SendRequest(ctx, req)
	return keep(ctx, req, resp, err)
}

type tapHTTP struct{ *transport.StreamableHTTP }

func (t *tapHTTP) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	resp, err := t.StreamableHTTP.SendRequest(ctx, req)
	return keep(ctx, req, resp, err)
}

type tapAny struct{ transport.Interface }

func (t *tapAny) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	resp, err := t.Interface.SendRequest(ctx, req)
	return keep(ctx, req, resp, err)
}
