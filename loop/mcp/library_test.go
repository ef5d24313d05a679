package mcp_test

import (
	"context"
	"encoding/json"

	mcpgo "github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/toolserver"
)

// library is the fixture as a server of mcp-go. Its tools/list is in the order of names, offers a repeated name
// once and with the last definition, and the library spells strings its own way
// (< becomes an escape); numbers, key order inside a schema and unknown content
// types stay.
func library(s *toolserver.Server) *server.MCPServer {
	m := server.NewMCPServer(s.Name, "1", server.WithToolCapabilities(false))
	for _, t := range s.Tools {
		schema := t.InputSchema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object"}`)
		}
		tool := mcpgo.Tool{Name: t.Name, Title: t.Title, Description: t.Description, RawInputSchema: schema}
		if len(t.Annotations) > 0 {
			_ = json.Unmarshal(t.Annotations, &tool.Annotations) // what the library does not know, it cannot carry
		}
		m.AddTool(tool, func(ctx context.Context, req mcpgo.CallToolRequest) (*mcpgo.CallToolResult, error) {
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
// block only makes it a mcpgo.Content.
type rawBlock struct {
	mcpgo.TextContent
	raw json.RawMessage
}

// MarshalJSON returns the block.
func (b rawBlock) MarshalJSON() ([]byte, error) { return b.raw, nil }

func typedResult(raw json.RawMessage) *mcpgo.CallToolResult {
	v := jsonx.Of(raw)
	out := &mcpgo.CallToolResult{IsError: v.Get("isError").Bool(), RawStructuredContent: v.Get("structuredContent").Raw()}
	for _, block := range v.Get("content").Items() {
		out.Content = append(out.Content, rawBlock{raw: block.Raw()})
	}
	return out
}
