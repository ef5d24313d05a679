package toolserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/server"

	"github.com/toolconform/conform/internal/jsonx"
)

// maxBody bounds what a client may post.
const maxBody = 64 << 20

// Handler serves MCP over streamable HTTP at /mcp, and the plain twin: GET
// /tools answers an MCP tools/list result, POST /call {"name","arguments"} an
// MCP tools/call result. An error of the plain twin is {"error":{"code",
// "message"}} with status 404 for a tool that is not there, 400 for a request
// that cannot be read and 500 for the JSON-RPC error of an answer.
func (s *Server) Handler() http.Handler {
	library := server.NewStreamableHTTPServer(
		server.NewMCPServer(s.Name, "1", server.WithToolCapabilities(false)),
		server.WithStateLess(true), server.WithDisableStreaming(true),
		server.WithStreamableHTTPLogger(slog.New(slog.DiscardHandler)))
	mux := http.NewServeMux()
	mux.HandleFunc("/mcp", func(w http.ResponseWriter, r *http.Request) { s.serveMCP(w, r, library) })
	mux.HandleFunc("GET /tools", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.ListTools()) })
	mux.HandleFunc("POST /call", s.serveCall)
	return mux
}

// serveMCP answers tool requests itself and hands everything else to the
// library. Sessions are not kept: a client that is cut off ends its call.
func (s *Server) serveMCP(w http.ResponseWriter, r *http.Request, library http.Handler) {
	if r.Method != http.MethodPost {
		library.ServeHTTP(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		writeJSON(w, http.StatusBadRequest, rpcError(nil, &RPCError{codeRequest, err.Error()}))
		return
	}
	if reply, ok := s.toolsRPC(r.Context(), body); ok {
		if r.Context().Err() == nil {
			writeJSON(w, http.StatusOK, reply)
		}
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	library.ServeHTTP(w, r)
}

func (s *Server) serveCall(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		plainError(w, http.StatusBadRequest, &RPCError{codeRequest, err.Error()})
		return
	}
	v, err := jsonx.Parse(body)
	if err != nil {
		plainError(w, http.StatusBadRequest, &RPCError{codeParse, err.Error()})
		return
	}
	name, ok := v.Get("name").Text()
	if !ok {
		plainError(w, http.StatusBadRequest, &RPCError{codeParams, `want {"name": string, "arguments": object}`})
		return
	}
	result, err := s.CallTool(r.Context(), name, v.Get("arguments").Raw())
	var rpc *RPCError
	switch {
	case err == nil:
		writeJSON(w, http.StatusOK, result)
	case !errors.As(err, &rpc): // the client went away
	default:
		status := http.StatusInternalServerError
		if _, known := s.tool(name); !known {
			status = http.StatusNotFound
		} else if args := v.Get("arguments"); args.Defined() && !args.IsObject() {
			status = http.StatusBadRequest
		}
		plainError(w, status, rpc)
	}
}

func plainError(w http.ResponseWriter, status int, e *RPCError) {
	writeJSON(w, status, (&jsonx.Fields{}).Set("error", e.json()).Raw())
}

func writeJSON(w http.ResponseWriter, status int, body json.RawMessage) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

// Listen serves Handler on a free port of 127.0.0.1 and returns the base URL:
// URL/mcp, URL/tools, URL/call. stop ends it at once, calls under way included.
func (s *Server) Listen() (url string, stop func(), err error) { return Serve(s.Handler()) }

// Serve serves a handler on a free port of 127.0.0.1 and returns the base URL. stop
// ends it at once.
func Serve(handler http.Handler) (url string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("server on the loopback interface: %w", err)
	}
	h := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = h.Serve(l) // ends with the error that Close asks for
	}()
	return "http://" + l.Addr().String(), func() { _ = h.Close(); <-done }, nil
}
