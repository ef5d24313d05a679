package toolserver

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolconform/conform/internal/jsonx"
)

// MCP returns the fixture as a server of mcp-go. It is for callers who want
// that type. Its tools/list is in the order of names, offers a repeated name
// once and with the last definition, and the library spells strings its own way
// (< becomes an escape); numbers, key order inside a schema and unknown content
// types stay. Transport, ServeStdio and Handler give the exact bytes.
func (s *Server) MCP() *server.MCPServer {
	m := server.NewMCPServer(s.Name, "1", server.WithToolCapabilities(false))
	for _, t := range s.Tools {
		tool := mcp.Tool{Name: t.Name, Title: t.Title, Description: t.Description, RawInputSchema: t.schema()}
		if len(t.Annotations) > 0 {
			_ = json.Unmarshal(t.Annotations, &tool.Annotations) // what the library does not know, it cannot carry
		}
		m.AddTool(tool, func(ctx context.Context, req mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			result, err := s.CallTool(ctx, req.Params.Name, req.Params.RawArguments)
			if err != nil {
				return nil, err
			}
			return typedResult(result), nil
		})
	}
	return m
}

// rawBlock is a content block that goes out as it is spelled. The embedded
// block only makes it a mcp.Content.
type rawBlock struct {
	mcp.TextContent
	raw json.RawMessage
}

// MarshalJSON returns the block.
func (b rawBlock) MarshalJSON() ([]byte, error) { return b.raw, nil }

func typedResult(raw json.RawMessage) *mcp.CallToolResult {
	v := jsonx.Of(raw)
	out := &mcp.CallToolResult{IsError: v.Get("isError").Bool(), RawStructuredContent: v.Get("structuredContent").Raw()}
	for _, block := range v.Get("content").Items() {
		out.Content = append(out.Content, rawBlock{raw: block.Raw()})
	}
	return out
}

// session answers the messages of one connection.
type session struct {
	s       *Server
	library *server.MCPServer // every method but tools/list and tools/call
	client  *server.InProcessSession
}

func (s *Server) newSession() *session {
	m := server.NewMCPServer(s.Name, "1", server.WithToolCapabilities(false))
	return &session{s: s, library: m, client: server.NewInProcessSession(server.GenerateInProcessSessionID(), nil)}
}

// handle answers one JSON-RPC message; nil for a notification.
func (c *session) handle(ctx context.Context, message []byte) json.RawMessage {
	if reply, ok := c.s.toolsRPC(ctx, message); ok {
		return reply
	}
	answer := c.library.HandleMessage(c.library.WithContext(ctx, c.client), message)
	if answer == nil {
		return nil
	}
	out, err := json.Marshal(answer)
	if err != nil {
		return rpcError(jsonx.Of(message).Get("id").Raw(), &RPCError{codeInternal, err.Error()})
	}
	return out
}

// toolsRPC answers tools/list and tools/call requests; ok is false for every
// other message.
func (s *Server) toolsRPC(ctx context.Context, message []byte) (reply json.RawMessage, ok bool) {
	v, err := jsonx.Parse(message)
	if err != nil || !v.IsObject() {
		return nil, false
	}
	id, params := v.Get("id").Raw(), v.Get("params")
	if id == nil {
		return nil, false
	}
	var result json.RawMessage
	switch v.Get("method").Str() {
	case string(mcp.MethodToolsList):
		result = s.ListTools()
	case string(mcp.MethodToolsCall):
		name, named := params.Get("name").Text()
		if !named {
			return rpcError(id, &RPCError{codeParams, "params.name is missing"}), true
		}
		if result, err = s.CallTool(ctx, name, params.Get("arguments").Raw()); err != nil {
			return rpcError(id, err), true
		}
	default:
		return nil, false
	}
	if mcp.IsModernProtocol(params.Path("_meta", mcp.MetaKeyProtocolVersion).Str()) {
		result = modern(result, v.Get("method").Str())
	}
	var f jsonx.Fields
	return f.Str("jsonrpc", "2.0").Set("id", id).Set("result", result).Raw(), true
}

// modern adds what protocol version 2026-07-28 demands of a result, at its end.
func modern(result json.RawMessage, method string) json.RawMessage {
	add := []struct{ key, raw string }{{"resultType", `"complete"`}}
	if method == string(mcp.MethodToolsList) {
		add = append(add, struct{ key, raw string }{"ttlMs", "0"}, struct{ key, raw string }{"cacheScope", `"private"`})
	}
	for _, m := range add {
		if jsonx.Of(result).Get(m.key).Exists() {
			continue
		}
		if out, err := jsonx.Set(result, "/"+m.key, []byte(m.raw)); err == nil {
			result = out
		}
	}
	return result
}

func rpcError(id json.RawMessage, err error) json.RawMessage {
	var e *RPCError
	if !errors.As(err, &e) {
		e = &RPCError{codeAborted, err.Error()}
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	var inner, f jsonx.Fields
	inner.Int("code", int64(e.Code)).Str("message", e.Message)
	return f.Str("jsonrpc", "2.0").Set("id", id).Set("error", inner.Raw()).Raw()
}
