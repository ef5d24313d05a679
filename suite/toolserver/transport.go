package toolserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"

	"github.com/toolconform/conform/internal/jsonx"
)

// Transport returns an in-process connection to the server for a client of
// mcp-go: the messages are those of the other transports, without a wire.
func (s *Server) Transport() transport.Interface {
	t := &inProcess{session: s.newSession()}
	t.open, t.close = context.WithCancel(context.Background())
	return t
}

type inProcess struct {
	*session
	open  context.Context // ends with Close
	close context.CancelFunc
}

// Start does nothing: there is no wire.
func (t *inProcess) Start(context.Context) error { return nil }

// SendRequest answers a request. It returns when ctx ends, also from a tool
// that hangs.
func (t *inProcess) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stop := context.AfterFunc(t.open, cancel)
	defer stop()
	message, err := json.Marshal(req)
	if err != nil {
		return nil, fmt.Errorf("tool server: %w", err)
	}
	reply := t.handle(ctx, message)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if reply == nil {
		return nil, errors.New("tool server: no answer")
	}
	v := jsonx.Of(reply)
	out := &transport.JSONRPCResponse{JSONRPC: mcp.JSONRPC_VERSION, ID: req.ID, Result: v.Get("result").Raw()}
	if e := v.Get("error"); e.Exists() {
		out.Error = &mcp.JSONRPCErrorDetails{}
		if err := json.Unmarshal(e.Raw(), out.Error); err != nil {
			return nil, fmt.Errorf("tool server: %w", err)
		}
	}
	return out, nil
}

// SendNotification hands a notification over.
func (t *inProcess) SendNotification(ctx context.Context, n mcp.JSONRPCNotification) error {
	message, err := json.Marshal(n)
	if err != nil {
		return fmt.Errorf("tool server: %w", err)
	}
	t.handle(ctx, message)
	return nil
}

// SetNotificationHandler does nothing: the server sends none.
func (t *inProcess) SetNotificationHandler(func(mcp.JSONRPCNotification)) {}

// Close ends the calls under way.
func (t *inProcess) Close() error {
	t.close()
	return nil
}

// GetSessionId returns "": there are no sessions.
func (t *inProcess) GetSessionId() string { return "" }
