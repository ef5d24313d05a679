// Package toolserver is the fixture MCP server: tools and their answers as
// data, served in process, over stdio and over HTTP, together with a plain HTTP
// twin for programs that speak no MCP.
//
// Everything that the data spells goes out as it is spelled: key order of a
// schema, number tokens, content blocks of any type. That is why tools/list and
// tools/call are answered here and not by the typed structs of an MCP library,
// which reorder and round; every other method is the library's.
package toolserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
)

// Server is one fixture server. Its name and tools are not to be changed while it
// serves; the methods are safe for concurrent use. Two tools may have the same
// name; the first answers, and one without a matching answer gives an error result
// that shows the arguments.
type Server struct {
	fixtures.Server

	// Into takes the calls, when it is set; several servers may have one.
	Into *Log `json:"-"`

	log  Log
	once sync.Once
	list json.RawMessage // of ListTools
}

// Call is one tools/call that a server got, and its answer.
type Call struct {
	Server    string // its name
	Name      string
	Arguments json.RawMessage // as they came; {} when the call had none
	Result    json.RawMessage // MCP tools/call result; nil while it runs, and when it failed
	Err       *RPCError       // in place of a result
	Cancelled bool            // it hung until it was cancelled
}

// Log keeps calls in the order in which they came. The zero value is ready; it is
// safe for concurrent use.
type Log struct {
	mu    sync.Mutex
	calls []*Call
}

// Calls returns the calls so far.
func (l *Log) Calls() []Call {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]Call, len(l.calls))
	for i, c := range l.calls {
		out[i] = *c
	}
	return out
}

func (l *Log) add(c *Call) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, c)
}

// end writes down how a call ended.
func (l *Log) end(c *Call, result json.RawMessage, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !errors.As(err, &c.Err) {
		c.Result, c.Cancelled = result, err != nil
	}
}

type logKey struct{}

// WithLog makes in-process calls under the context, to any server, go into a log
// of their own, so that runs that share a connection do not mix.
func WithLog(ctx context.Context, into *Log) context.Context {
	return context.WithValue(ctx, logKey{}, into)
}

func (s *Server) logOf(ctx context.Context) *Log {
	if l, ok := ctx.Value(logKey{}).(*Log); ok {
		return l
	}
	if s.Into != nil {
		return s.Into
	}
	return &s.log
}

// Codes of the JSON-RPC errors.
const (
	codeParse    = -32700
	codeRequest  = -32600
	codeParams   = -32602
	codeInternal = -32603
	codeAborted  = -32800 // answer to a call that was cancelled; nobody waits for it
)

// RPCError is the JSON-RPC error that a call ended with.
type RPCError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *RPCError) Error() string { return e.Message }

func (e *RPCError) json() json.RawMessage {
	return (&jsonx.Fields{}).Int("code", int64(e.Code)).Str("message", e.Message).Raw()
}

// failure reads the error of an answer: {"code","message"}, or a message alone.
func failure(raw json.RawMessage) *RPCError {
	v := jsonx.Of(raw)
	e := &RPCError{codeInternal, v.Str()}
	if v.IsObject() {
		e.Message = v.Get("message").Str()
		if code, ok := v.Get("code").Int(); ok && code != 0 {
			e.Code = int(code)
		}
	}
	return e
}

// ListTools returns the MCP tools/list result. It is not to be changed.
func (s *Server) ListTools() json.RawMessage {
	s.once.Do(func() {
		tools := make([]jsonx.Raw, len(s.Tools))
		for i, t := range s.Tools {
			tools[i] = definition(t)
		}
		s.list = (&jsonx.Fields{}).Set("tools", jsonx.List(tools...)).Raw()
	})
	return s.list
}

func definition(t fixtures.Tool) json.RawMessage {
	var f jsonx.Fields
	f.Str("name", t.Name)
	if t.Title != "" {
		f.Str("title", t.Title)
	}
	if t.Description != "" {
		f.Str("description", t.Description)
	}
	if len(t.InputSchema) == 0 {
		t.InputSchema = json.RawMessage(`{"type":"object"}`)
	}
	f.Set("inputSchema", t.InputSchema)
	if len(t.OutputSchema) > 0 {
		f.Set("outputSchema", t.OutputSchema)
	}
	if len(t.Annotations) > 0 {
		f.Set("annotations", t.Annotations)
	}
	return f.Raw()
}

// CallTool answers one call with an MCP tools/call result, or with an
// *RPCError. A tool that hangs returns when ctx ends.
func (s *Server) CallTool(ctx context.Context, name string, arguments json.RawMessage) (json.RawMessage, error) {
	if v := jsonx.Of(arguments); !v.Defined() {
		arguments = json.RawMessage("{}")
	}
	call, log := &Call{Server: s.Name, Name: name, Arguments: append(json.RawMessage(nil), arguments...)}, s.logOf(ctx)
	log.add(call)
	result, err := s.answer(ctx, name, arguments)
	log.end(call, result, err)
	return result, err
}

func (s *Server) answer(ctx context.Context, name string, arguments json.RawMessage) (json.RawMessage, error) {
	tool, ok := s.tool(name)
	if !ok {
		return nil, &RPCError{codeParams, fmt.Sprintf("tool '%s' not found", name)}
	}
	args, err := jsonx.Parse(arguments)
	if err != nil || !args.IsObject() {
		return nil, &RPCError{codeParams, "arguments must be a JSON object"}
	}
	for _, a := range tool.Answers {
		if !matches(a.When, args) {
			continue
		}
		switch {
		case a.Hang:
			<-ctx.Done()
			return nil, ctx.Err()
		case len(a.Error) > 0:
			return nil, failure(a.Error)
		case len(a.Result) == 0:
			return json.RawMessage(`{"content":[]}`), nil
		}
		return a.Result, nil
	}
	text := fmt.Sprintf("tool %s has no answer to the arguments %s", name, arguments)
	block := (&jsonx.Fields{}).Str("type", "text").Str("text", text).Raw()
	return (&jsonx.Fields{}).Set("content", jsonx.List(block)).Bool("isError", true).Raw(), nil
}

func (s *Server) tool(name string) (fixtures.Tool, bool) {
	for _, t := range s.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return fixtures.Tool{}, false
}

func matches(when json.RawMessage, args jsonx.Value) bool {
	for _, m := range jsonx.Of(when).Members() {
		got := args.Get(m.Key)
		if !got.Exists() || !jsonx.Equal(got.Raw(), m.Value.Raw()) {
			return false
		}
	}
	return true
}

// Log returns the calls so far that went into no other log, in the order in which
// they came.
func (s *Server) Log() []Call { return s.log.Calls() }
