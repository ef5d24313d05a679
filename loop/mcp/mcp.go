// Package mcp makes tool servers of the loop out of MCP servers: in process,
// as child processes over stdio, over streamable HTTP.
//
// The MCP client is that of mcp-go. Its typed structs reorder and round schemas
// and refuse content that they do not know, so the package reads tool lists and
// results off the raw bytes, which it taps between the client and the wire:
// schemas and content blocks reach the codecs as the server spelled them.
package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/secrets"
	"github.com/toolconform/conform/internal/wait"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/loop"
)

// Server is a connected MCP server. It is a loop.ToolServer and safe for
// concurrent use.
type Server struct {
	name   string
	client *client.Client
	keys   []string // that no error may show
}

var _ loop.ToolServer = (*Server)(nil)

// InProcess connects to a server of mcp-go in the same process.
func InProcess(ctx context.Context, name string, s *server.MCPServer) (*Server, error) {
	return connect(ctx, name, &tapInProcess{transport.NewInProcessTransport(s)}, nil)
}

// Stdio starts a command and connects to it over its standard input and output.
// The child gets env (KEY=value) and, of the environment of this process, only
// what programs need to run at all (HOME, PATH, LANG, TERM, TMPDIR, ...): keys do
// not reach it unless env has them. It ends with Close, together with all that it
// started, and not with ctx, which only bounds the handshake. The end of its standard error stands in the error when it
// fails. A line of more than MaxAnswer bytes ends connection and child.
func Stdio(ctx context.Context, name, command string, args, env []string) (*Server, error) {
	var keys []string
	for _, e := range env {
		if name, value, _ := strings.Cut(e, "="); len(value) > 3 && secrets.KeyName(name) {
			keys = append(keys, value)
		}
	}
	return connect(ctx, name, &tapStdio{newStdio(command, args, env)}, keys)
}

// HTTP connects to a server over streamable HTTP. header is sent with every
// request and may be nil. A redirect to another origin is an error: header,
// session and arguments are for the server alone. Errors show no key of header or
// url.
func HTTP(ctx context.Context, name, url string, header map[string]string) (*Server, error) {
	values := map[string][]string{}
	for k, v := range header {
		values[k] = []string{v}
	}
	keys := secrets.Carried(url, values)
	t, err := transport.NewStreamableHTTP(url, transport.WithHTTPHeaders(header),
		transport.WithHTTPBasicClient(&http.Client{Transport: guard{http.DefaultTransport}, CheckRedirect: sameOrigin}),
		transport.WithHTTPLogger(slog.New(slog.DiscardHandler))) // a library writes no log
	if err != nil {
		return nil, (&Server{keys: keys}).hide(fmt.Errorf("MCP server %s: %w", name, err))
	}
	return connect(ctx, name, &tapHTTP{t}, keys)
}

// sameOrigin refuses redirects that would carry a key elsewhere.
func sameOrigin(req *http.Request, via []*http.Request) error {
	if from := via[0].URL; req.URL.Scheme != from.Scheme || req.URL.Host != from.Host {
		return fmt.Errorf("the server redirects to %s://%s, which gets neither headers nor arguments; connect to it if it is the server", req.URL.Scheme, req.URL.Host)
	}
	if len(via) > mostRedirects {
		return fmt.Errorf("the server redirects more than %d times", mostRedirects)
	}
	return nil
}

const mostRedirects = 5

// Connect connects over any transport of mcp-go. The transports that the other
// functions make have abilities beyond the interface, so use those where they
// fit.
func Connect(ctx context.Context, name string, t transport.Interface) (*Server, error) {
	return connect(ctx, name, &tapAny{t}, nil)
}

// connect shakes hands as every server of today does. Only a server that answers
// that with an error is asked in the way of the newest protocol: mcp-go would ask
// so first, and wait for the many that leave a method which they do not know
// without an answer.
func connect(ctx context.Context, name string, t transport.Interface, keys []string) (*Server, error) {
	s := &Server{name: name, client: client.NewClient(t, client.WithProtocolVersion(mcp.LATEST_LEGACY_PROTOCOL_VERSION)), keys: keys}
	step := "start"
	_, err := wait.For(ctx, settle, func() (struct{}, error) {
		// A child process must not die with a context that bounds the handshake.
		if err := s.client.Start(context.WithoutCancel(ctx)); err != nil {
			return struct{}{}, &startError{err}
		}
		var hello mcp.InitializeRequest
		hello.Params.ClientInfo = mcp.Implementation{Name: "conform", Version: "1"}
		_, err := s.client.Initialize(ctx, hello)
		if err == nil || ctx.Err() != nil {
			return struct{}{}, err
		}
		modern := client.NewClient(t)
		if modern.Start(context.WithoutCancel(ctx)) != nil {
			return struct{}{}, err
		}
		if _, again := modern.Initialize(ctx, hello); again != nil {
			return struct{}{}, err
		}
		s.client = modern
		return struct{}{}, nil
	})
	if err == nil {
		return s, nil
	}
	var failed *startError
	if !errors.As(err, &failed) {
		step = "initialize"
		if child, ok := t.(*tapStdio); ok {
			_ = child.abort() // who gave up does not wait for it to end by itself
			if ctx.Err() != nil {
				err = child.explained(err)
			}
		} else {
			go s.Close() // which may ask the server
		}
	}
	return nil, s.hide(fmt.Errorf("MCP server %s: %s: %w", name, step, err))
}

// hide takes the keys of the connection out of an error: a server may quote them.
func (s *Server) hide(err error) error {
	if err == nil {
		return nil
	}
	text := secrets.Hide(err.Error(), s.keys...)
	if text == err.Error() {
		return err
	}
	var rpc *RPCError
	if errors.As(err, &rpc) {
		return &RPCError{rpc.Code, text}
	}
	return &secrets.HiddenError{Text: text, Cause: err}
}

// startError is that of a transport that does not start.
type startError struct{ err error }

func (e *startError) Error() string { return e.err.Error() }

func (e *startError) Unwrap() error { return e.err }

// Name returns the name that the server was connected under.
func (s *Server) Name() string { return s.name }

// ListTools returns the tools of all pages. Each tool's Raw and InputSchema are
// the bytes of the server. An entry without a name stays in the list, for the
// loop to warn about.
func (s *Server) ListTools(ctx context.Context) ([]codecs.Tool, error) {
	ctx, tap := withTap(ctx)
	tools, err := wait.For(ctx, settle, func() ([]codecs.Tool, error) {
		if _, err := s.client.ListTools(ctx, mcp.ListToolsRequest{}); err != nil {
			return nil, ending(ctx, tap, err)
		}
		var out []codecs.Tool
		for i, page := range tap.results() {
			tools, err := readList(page)
			if err != nil {
				return nil, fmt.Errorf("page %d: %w", i+1, err)
			}
			out = append(out, tools...)
		}
		return out, nil
	})
	if err != nil {
		return nil, s.hide(fmt.Errorf("tools/list: %w", err))
	}
	return tools, nil
}

// CallTool runs a tool. A JSON-RPC error of the server is an *RPCError, an answer
// that cannot be read an *AnswerError. It returns when ctx ends, whatever the
// server does. The
// arguments go out as they are spelled, apart from white space and the escapes
// of strings.
func (s *Server) CallTool(ctx context.Context, name string, arguments codecs.Raw) (codecs.ToolResult, error) {
	var req mcp.CallToolRequest
	req.Params.Name = name
	if len(arguments) > 0 {
		req.Params.Arguments = json.RawMessage(arguments)
	}
	ctx, tap := withTap(ctx)
	result, err := wait.For(ctx, settle, func() (codecs.ToolResult, error) {
		_, err := s.client.CallTool(ctx, req)
		// The client also fails on a result that its types do not know. What came
		// counts, unless it asks for more input, which this client cannot give.
		if raws := tap.results(); len(raws) > 0 {
			last := raws[len(raws)-1]
			if complete(jsonx.Of(last).Get("resultType")) {
				return readResult(last)
			}
			if err == nil {
				err = errors.New("the server asks for input that this client cannot give")
			}
		}
		if err == nil {
			err = errors.New("the answer holds no result")
		}
		return codecs.ToolResult{}, ending(ctx, tap, err)
	})
	return result, s.hide(err)
}

// ending makes an error of the client plain: what the server answered is told in
// the server's words, an answer that cannot be read is an *AnswerError, and the end of the context is visible, which some
// transports only spell.
func ending(ctx context.Context, t *tap, err error) error {
	if fault := t.failure(); fault != nil && ctx.Err() == nil {
		return fault
	}
	var unread *AnswerError
	if errors.As(err, &unread) && ctx.Err() == nil {
		return unread
	}
	if ctx.Err() == nil || errors.Is(err, ctx.Err()) {
		return err
	}
	return fmt.Errorf("%w: %w", ctx.Err(), err)
}

// Close ends the connection, and the child process of Stdio. A server that is
// gone already is no error.
func (s *Server) Close() error {
	err := s.client.Close()
	var exit *exec.ExitError // of a transport that came from outside
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, os.ErrClosed) || errors.Is(err, io.ErrClosedPipe) || errors.As(err, &exit) {
		return nil
	}
	return err
}

// readList reads one MCP tools/list result.
func readList(raw []byte) ([]codecs.Tool, error) {
	v, err := jsonx.Parse(raw)
	if err != nil {
		return nil, err
	}
	list := v.Get("tools")
	if list.Defined() && !list.IsArray() {
		return nil, fmt.Errorf("/tools: want a list, got %s", list.Kind())
	}
	var out []codecs.Tool
	for i, t := range list.Items() {
		if !t.IsObject() {
			return nil, fmt.Errorf("/tools/%d: want an object, got %s", i, t.Kind())
		}
		tool := codecs.Tool{
			Name: t.Get("name").Str(), Description: t.Get("description").Str(),
			InputSchema: t.Get("inputSchema").Raw(), Raw: t.Raw(),
		}
		if s := t.Get("inputSchema"); !s.Defined() {
			tool.InputSchema = wire.Schema(codecs.Tool{})
		}
		out = append(out, tool)
	}
	return out, nil
}

// readResult reads one MCP tools/call result.
func readResult(raw []byte) (codecs.ToolResult, error) {
	v, err := jsonx.Parse(raw)
	if err != nil {
		return codecs.ToolResult{}, fmt.Errorf("tools/call result: %w", err)
	}
	if !v.IsObject() {
		return codecs.ToolResult{}, fmt.Errorf("tools/call result: want an object, got %s", v.Kind())
	}
	var out codecs.ToolResult
	if err := wire.ReadMCPResult(&out, v); err != nil {
		return codecs.ToolResult{}, fmt.Errorf("tools/call result: %w", err)
	}
	return out, nil
}
