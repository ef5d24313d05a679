package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/toolconform/conform/internal/jsonx"
)

// tap collects the raw results of the requests that are sent under one context:
// the pages of a list, the rounds of a call.
type tap struct {
	mu    sync.Mutex
	raw   []json.RawMessage
	size  int       // of raw
	err   *RPCError // the last JSON-RPC error
	fault error     // why an answer cannot be read
}

// mostResults bounds the pages of a list, and the rounds of a call.
const mostResults = 1000

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

// fail notes why an answer cannot be read. t may be nil.
func (t *tap) fail(err error) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fault = err
}

// failure is what the server did wrong, nil for nothing.
func (t *tap) failure() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.fault != nil:
		return t.fault
	case t.err != nil:
		return t.err
	}
	return nil
}

// keep records the result of a tool request before the client reads it. What it
// hands on is what the client needs of it: page tells that of a list.
func keep(ctx context.Context, req transport.JSONRPCRequest, resp *transport.JSONRPCResponse, err error, page func(json.RawMessage) json.RawMessage) (*transport.JSONRPCResponse, error) {
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
	case string(mcp.MethodToolsList), string(mcp.MethodToolsCall):
	default:
		return resp, nil
	}
	if err := t.add(resp.Result); err != nil {
		return nil, err
	}
	with := *resp
	if req.Method == string(mcp.MethodToolsList) {
		with.Result = page(resp.Result)
	} else {
		with.Result = resultFor(resp.Result)
	}
	return &with, nil
}

// bare is what the client gets of a page where a call needs nothing of the tools:
// that there is one, and the cursor.
func bare(raw json.RawMessage) json.RawMessage {
	if jsonx.Check(raw) != nil {
		return raw
	}
	var page jsonx.Fields
	return page.Set("tools", jsonx.List()).Set("nextCursor", jsonx.Of(raw).Get("nextCursor").Raw()).Raw()
}

// pageFor is what the client gets of a page over HTTP, where tools may ask for
// headers of their own with each call. One that its types do not know must
// not end the listing, and one with a tool that it leaves out is not for the log
// of the process: the client gets the tools that it can use, and the cursor.
func pageFor(raw json.RawMessage) json.RawMessage {
	if jsonx.Check(raw) != nil {
		return raw
	}
	var typed mcp.ListToolsResult
	err := json.Unmarshal(raw, &typed)
	var tools []jsonx.Raw
	items := jsonx.Of(raw).Get("tools").Items()
	if err == nil && len(items) == len(typed.Tools) {
		for i := range typed.Tools {
			if mcp.ValidateParamHeaderAnnotations(&typed.Tools[i]) == nil {
				tools = append(tools, items[i].Raw())
			}
		}
		if len(tools) == len(items) {
			return raw
		}
	}
	var page jsonx.Fields
	return page.Set("tools", jsonx.List(tools...)).Set("nextCursor", jsonx.Of(raw).Get("nextCursor").Raw()).Raw()
}

// resultFor is what the client gets of a result: that there is one. Its content
// is read off the tap, and reading it twice would hold up who cancels. A result
// that asks for input is for the client.
func resultFor(raw json.RawMessage) json.RawMessage {
	if jsonx.Check(raw) != nil {
		return raw
	}
	kind := jsonx.Of(raw).Get("resultType")
	if !complete(kind) {
		return raw
	}
	var f jsonx.Fields
	return f.Set("resultType", kind.Raw()).Set("content", jsonx.List()).Raw()
}

// complete tells whether a result of that type is the last.
func complete(kind jsonx.Value) bool { return kind.Str() == "" || kind.Str() == "complete" }

func (t *tap) add(raw json.RawMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size += len(raw); t.size > MaxAnswer {
		return errTooLarge
	}
	if len(t.raw) == mostResults {
		return &AnswerError{fmt.Sprintf("it has more than %d pages", mostResults)}
	}
	t.raw = append(t.raw, append(json.RawMessage(nil), raw...))
	return nil
}

// The taps embed the transports themselves, since the client asks each for
// abilities beyond the interface.

type tapInProcess struct{ *transport.InProcessTransport }

func (t *tapInProcess) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	resp, err := t.InProcessTransport.SendRequest(ctx, req)
	return keep(ctx, req, resp, err, bare)
}

type tapStdio struct{ *stdio }

func (t *tapStdio) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	resp, err := t.stdio.SendRequest(ctx, req)
	return keep(ctx, req, resp, err, bare)
}

type tapHTTP struct{ *transport.StreamableHTTP }

func (t *tapHTTP) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	resp, err := t.StreamableHTTP.SendRequest(withID(ctx, req), req)
	return keep(ctx, req, resp, err, pageFor)
}

type tapAny struct{ transport.Interface }

func (t *tapAny) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	resp, err := t.Interface.SendRequest(ctx, req)
	return keep(ctx, req, resp, err, bare)
}
