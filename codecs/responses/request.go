package responses

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Request encodes a request body. All system messages, wherever they stand,
// become instructions, joined by a blank line; every other message becomes
// input items. Server tools follow the functions. parallel_tool_calls is sent
// beside tools only.
func (c Codec) Request(req codecs.Request, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	var f jsonx.Fields
	if req.Model != "" {
		f.Str("model", req.Model)
	}
	w := writer{profile: p, ids: callIDs(req.Messages, p), emptied: map[callKey]codecs.ToolCall{}}
	var system []string
	for i, m := range req.Messages {
		if m.Role == "system" && m.Native == nil {
			if s := m.Text(); s != "" {
				system = append(system, s)
			}
		}
		if err := w.requestMessage(i, m); err != nil {
			return nil, nil, fmt.Errorf("messages[%d]: %w", i, err)
		}
	}
	if len(system) > 0 {
		f.Str("instructions", strings.Join(system, "\n\n"))
	}
	f.Set("input", jsonx.List(w.items...))
	warnings := w.warnings

	more, err := c.requestTools(&f, req, p)
	if err != nil {
		return nil, nil, err
	}
	warnings = append(warnings, more...)
	if key, n := "max_output_tokens", req.MaxTokens; n > 0 || p.MaxTokens > 0 {
		if n == 0 {
			n = p.MaxTokens
		}
		if p.MaxTokensKey != "" {
			key = p.MaxTokensKey
		}
		f.Int(key, int64(n))
	}
	if req.Stream {
		f.Bool("stream", true)
	}
	return f.Merge(req.Extra).Raw(), warnings, nil
}
