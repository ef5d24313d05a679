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
	"fmt"
	"sync"

	"github.com/toolconform/conform/internal/jsonx"
)

// Server is one fixture server. Name and Tools are not to be changed while it
// serves; the methods are safe for concurrent use.
type Server struct {
	Name  string `json:"name"`
	Tools []Tool `json:"tools"`

	mu  sync.Mutex
	log []*Call
}

// Tool is one tool on offer. Two tools may have the same name; the first
// answers.
type Tool struct {
	Name         string          `json:"name"`
	Title        string          `json:"title,omitempty"`
	Description  string          `json:"description,omitempty"`
	InputSchema  json.RawMessage `json:"inputSchema,omitempty"` // absent: an object without properties
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  json.RawMessage `json:"annotations,omitempty"`
	Answers      []Answer        `json:"answers,omitempty"`
}

// Answer is what a tool answers to arguments that When matches. The first
// match counts; a tool without a matching answer gives an error result that
// shows the arguments.
type Answer struct {
	When   json.RawMessage `json:"when,omitempty"`   // an object: each of its members must equal the argument of that name; absent: always
	Result json.RawMessage `json:"result,omitempty"` // an MCP tools/call result; absent: empty content
	Error  string          `json:"error,omitempty"`  // message of a JSON-RPC error instead of a result
	Hang   bool            `json:"hang,omitempty"`   // no answer until the call is cancelled
}

// Call is one tools/call that the server got.
type Call struct {
	Name      string
	Arguments json.RawMessage // as they came; {} when the call had none
	Cancelled bool            // it hung until it was cancelled
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
	Code    int
	Message string
}

func (e *RPCError) Error() string { return e.Message }

// Parse reads a server from its JSON form and checks it.
func Parse(data []byte) (*Server, error) {
	if err := jsonx.Check(data); err != nil {
		return nil, fmt.Errorf("tool server: %w", err)
	}
	s := &Server{}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, fmt.Errorf("tool server: %w", err)
	}
	return s, s.Check()
}

// Check tells what is wrong with the data of the server, and where.
func (s *Server) Check() error {
	object := func(raw json.RawMessage) bool {
		v, err := jsonx.Parse(raw)
		return err == nil && v.IsObject()
	}
	for i, t := range s.Tools {
		at := fmt.Sprintf("tool server %q: /tools/%d", s.Name, i)
		switch {
		case t.Name == "":
			return fmt.Errorf("%s/name: a tool needs a name", at)
		case len(t.InputSchema) > 0 && !object(t.InputSchema):
			return fmt.Errorf("%s/inputSchema: want a JSON object", at)
		case len(t.OutputSchema) > 0 && !object(t.OutputSchema):
			return fmt.Errorf("%s/outputSchema: want a JSON object", at)
		case len(t.Annotations) > 0 && !object(t.Annotations):
			return fmt.Errorf("%s/annotations: want a JSON object", at)
		}
		for k, a := range t.Answers {
			at := fmt.Sprintf("%s/answers/%d", at, k)
			ways := 0
			for _, set := range []bool{len(a.Result) > 0, a.Error != "", a.Hang} {
				if set {
					ways++
				}
			}
			switch {
			case ways > 1:
				return fmt.Errorf("%s: want one of result, error and hang", at)
			case len(a.When) > 0 && !object(a.When):
				return fmt.Errorf("%s/when: want a JSON object", at)
			case len(a.Result) > 0 && !object(a.Result):
				return fmt.Errorf("%s/result: want an MCP tools/call result, a JSON object", at)
			}
		}
	}
	return nil
}

// ListTools returns the MCP tools/list result.
func (s *Server) ListTools() json.RawMessage {
	tools := make([]jsonx.Raw, len(s.Tools))
	for i, t := range s.Tools {
		tools[i] = t.definition()
	}
	return (&jsonx.Fields{}).Set("tools", jsonx.List(tools...)).Raw()
}

func (t Tool) definition() json.RawMessage {
	var f jsonx.Fields
	f.Str("name", t.Name)
	if t.Title != "" {
		f.Str("title", t.Title)
	}
	if t.Description != "" {
		f.Str("description", t.Description)
	}
	f.Set("inputSchema", t.schema())
	if len(t.OutputSchema) > 0 {
		f.Set("outputSchema", t.OutputSchema)
	}
	if len(t.Annotations) > 0 {
		f.Set("annotations", t.Annotations)
	}
	return f.Raw()
}

func (t Tool) schema() json.RawMessage {
	if len(t.InputSchema) == 0 {
		return json.RawMessage(`{"type":"object"}`)
	}
	return t.InputSchema
}

// CallTool answers one call with an MCP tools/call result, or with an
// *RPCError. A tool that hangs returns when ctx ends.
func (s *Server) CallTool(ctx context.Context, name string, arguments json.RawMessage) (json.RawMessage, error) {
	if v := jsonx.Of(arguments); !v.Defined() {
		arguments = json.RawMessage("{}")
	}
	call := &Call{Name: name, Arguments: append(json.RawMessage(nil), arguments...)}
	s.mu.Lock()
	s.log = append(s.log, call)
	s.mu.Unlock()

	tool, ok := s.tool(name)
	if !ok {
		return nil, &RPCError{codeParams, fmt.Sprintf("tool '%s' not found", name)}
	}
	args, err := jsonx.Parse(arguments)
	if err != nil || !args.IsObject() {
		return nil, &RPCError{codeParams, "arguments must be a JSON object"}
	}
	for _, a := range tool.Answers {
		if !a.matches(args) {
			continue
		}
		switch {
		case a.Hang:
			<-ctx.Done()
			s.mu.Lock()
			call.Cancelled = true
			s.mu.Unlock()
			return nil, ctx.Err()
		case a.Error != "":
			return nil, &RPCError{codeInternal, a.Error}
		case len(a.Result) == 0:
			return json.RawMessage(`{"content":[]}`), nil
		}
		return a.Result, nil
	}
	text := fmt.Sprintf("tool %s has no answer to the arguments %s", name, arguments)
	block := (&jsonx.Fields{}).Str("type", "text").Str("text", text).Raw()
	return (&jsonx.Fields{}).Set("content", jsonx.List(block)).Bool("isError", true).Raw(), nil
}

func (s *Server) tool(name string) (Tool, bool) {
	for _, t := range s.Tools {
		if t.Name == name {
			return t, true
		}
	}
	return Tool{}, false
}

func (a Answer) matches(args jsonx.Value) bool {
	for _, m := range jsonx.Of(a.When).Members() {
		got := args.Get(m.Key)
		if !got.Exists() || !jsonx.Equal(got.Raw(), m.Value.Raw()) {
			return false
		}
	}
	return true
}

// Log returns the calls so far, in the order in which they came.
func (s *Server) Log() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]Call, len(s.log))
	for i, c := range s.log {
		out[i] = *c
	}
	return out
}

// ResetLog forgets the calls so far.
func (s *Server) ResetLog() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log = nil
}
