package wire

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// ReadMCPResult reads content, structuredContent and isError of an MCP
// tools/call result into r.
func ReadMCPResult(r *codecs.ToolResult, v jsonx.Value) error {
	switch c := v.Get("content"); c.Kind() {
	case jsonx.Array:
		r.Content = []codecs.Raw{}
		for _, block := range c.Items() {
			r.Content = append(r.Content, block.Raw())
		}
	case jsonx.String:
		r.Content = []codecs.Raw{codecs.TextBlock(c.Str())}
	case jsonx.Absent, jsonx.Null:
	default:
		return fmt.Errorf("content: want a list of MCP content blocks, got %s", c.Kind())
	}
	if s := v.Get("structuredContent"); s.Defined() {
		r.Structured = s.Raw()
	}
	flag := v.Get("isError")
	if !flag.Exists() {
		flag = v.Get("is_error") // as anthropic spells it
	}
	if flag.Defined() && flag.Kind() != jsonx.Bool {
		return fmt.Errorf("isError: want a boolean, got %s", flag.Kind())
	}
	r.IsError = flag.Bool()
	return nil
}
