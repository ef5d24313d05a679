package toolserver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolconform/conform/internal/jsonx"
)

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

// modern adds what protocol version 2026-07-28 demands of a result, at its end. A
// result is an object.
func modern(result json.RawMessage, method string) json.RawMessage {
	keys := map[string]bool{}
	for _, m := range jsonx.Of(result).Members() {
		keys[m.Key] = true
	}
	body, _ := bytes.CutSuffix(bytes.TrimRight(result, " \t\r\n"), []byte("}"))
	out := append(json.RawMessage(nil), body...)
	add := [][2]string{{"resultType", `"complete"`}, {"ttlMs", "0"}, {"cacheScope", `"private"`}}
	if method != string(mcp.MethodToolsList) {
		add = add[:1]
	}
	for _, m := range add {
		if keys[m[0]] {
			continue
		}
		if len(keys) > 0 {
			out = append(out, ',')
		}
		keys[m[0]] = true
		out = append(out, `"`+m[0]+`":`+m[1]...)
	}
	return append(out, '}')
}

func rpcError(id json.RawMessage, err error) json.RawMessage {
	var e *RPCError
	if !errors.As(err, &e) {
		e = &RPCError{codeAborted, err.Error()}
	}
	if id == nil {
		id = json.RawMessage("null")
	}
	var f jsonx.Fields
	return f.Str("jsonrpc", "2.0").Set("id", id).Set("error", e.json()).Raw()
}
