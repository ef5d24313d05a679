package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/mark3labs/mcp-go/client/transport"
	wire "github.com/mark3labs/mcp-go/mcp"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/loop/mcp"
)

// scripted answers the handshake of an older server, then from a list.
type scripted struct {
	answers []string // result, or an error when it starts with !
	sent    []string // params of the tool requests
}

func (s *scripted) Start(context.Context) error { return nil }
func (s *scripted) SendRequest(_ context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	out := &transport.JSONRPCResponse{JSONRPC: "2.0", ID: req.ID}
	switch req.Method {
	case "initialize":
		out.Result = json.RawMessage(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}`)
		return out, nil
	case "tools/list", "tools/call":
	default:
		out.Error = &wire.JSONRPCErrorDetails{Code: -32601, Message: "no such method"}
		return out, nil
	}
	params, _ := json.Marshal(req.Params)
	s.sent = append(s.sent, string(params))
	if len(s.answers) == 0 {
		return nil, errors.New("the script is at its end")
	}
	next := s.answers[0]
	s.answers = s.answers[1:]
	if text, failed := strings.CutPrefix(next, "!"); failed {
		out.Error = &wire.JSONRPCErrorDetails{Code: -32000, Message: text}
	} else {
		out.Result = json.RawMessage(next)
	}
	return out, nil
}
func (s *scripted) SendNotification(context.Context, wire.JSONRPCNotification) error { return nil }
func (s *scripted) SetNotificationHandler(func(wire.JSONRPCNotification))            {}
func (s *scripted) Close() error                                                     { return nil }
func (s *scripted) GetSessionId() string                                             { return "" }

func script(t *testing.T, answers ...string) (*mcp.Server, *scripted) {
	t.Helper()
	tr := &scripted{answers: answers}
	s, err := mcp.Connect(t.Context(), "scripted", tr)
	if err != nil {
		t.Fatal(err)
	}
	return s, tr
}

// Pages are appended, an empty last page included; a page that the library
// cannot read (a schema whose type is a list, a title that is a number) does not
// end the listing; an entry that is only a name gets the empty schema.
func TestListPages(t *testing.T) {
	s, tr := script(t,
		`{"tools":[{"name":"a","inputSchema":{"type":["object"],"required":"all"}},{"name":"b","title":7}],"nextCursor":"p2"}`,
		`{"tools":[{"name":"c","inputSchema":{"type":"object","$defs":{"z":1,"a":2}}}],"nextCursor":"p3"}`,
		`{"tools":[]}`)
	tools, err := s.ListTools(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, tool := range tools {
		got = append(got, tool.Name+" "+string(tool.InputSchema))
	}
	want := []string{
		`a {"type":["object"],"required":"all"}`,
		`b {"type":"object","properties":{}}`,
		`c {"type":"object","$defs":{"z":1,"a":2}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{`{}`, `{"cursor":"p2"}`, `{"cursor":"p3"}`}, tr.sent); diff != "" {
		t.Error(diff)
	}
}

func TestListFails(t *testing.T) {
	for _, c := range []struct{ answer, want string }{
		{`!closed for the night`, "closed for the night"},
		{`{"tools":{"a":1}}`, "/tools: want a list"},
		{`{"tools":[7]}`, "/tools/0: want an object"},
	} {
		s, _ := script(t, c.answer)
		if _, err := s.ListTools(t.Context()); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error = %v, want one with %q", c.answer, err, c.want)
		}
	}
}

func TestOddResults(t *testing.T) {
	for _, c := range []struct {
		name, answer string
		want         []string
		wantErr      string
	}{
		{"content as text", `{"content":"plain"}`, []string{"isError false", "structured ", `{"type":"text","text":"plain"}`}, ""},
		{"structured only", `{"structuredContent":{"m":12345678901234567890}}`, []string{"isError false", `structured {"m":12345678901234567890}`}, ""},
		{"a block without a type", `{"content":[{"say":"hm"}],"isError":true}`, []string{"isError true", "structured ", `{"say":"hm"}`}, ""},
		{"a null block", `{"content":[null]}`, []string{"isError false", "structured ", `null`}, ""},
		{"content of a wrong type", `{"content":5}`, nil, "want a list of MCP content blocks"},
		{"a list", `[]`, nil, "want an object"},
		{"input required", `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{}}}}`, nil, "input"},
		{"an error", `!out of oil`, nil, "out of oil"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := script(t, c.answer)
			got, err := s.CallTool(t.Context(), "a", codecs.Raw(`{}`))
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Errorf("error = %v, want one with %q", err, c.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, str(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
