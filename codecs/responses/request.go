package responses

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
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
	messages, warnings, err := c.history(req, p).Messages(req.Messages)
	if err != nil {
		return nil, nil, err
	}
	w := writer{profile: p, Notes: wire.Notes{Warnings: warnings}}
	var system []string
	for _, m := range messages {
		if m.Role == "system" && m.Native == nil {
			if s := m.Text(); s != "" {
				system = append(system, s)
			}
		}
		if err := w.requestMessage(m); err != nil {
			return nil, nil, fmt.Errorf("messages[%d]: %w", m.Index, err)
		}
	}
	if len(system) > 0 {
		f.Str("instructions", strings.Join(system, "\n\n"))
	}
	f.Set("input", jsonx.List(w.items...))
	warnings = w.Warnings

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

// maxID is the length of a call_id that OpenAI still takes.
const maxID = 64

// callIDs are the ids of this wire, which pairs by them over the whole input.
func callIDs(p codecs.Profile) wire.IDs {
	return wire.IDs{Adopt: true, Need: true, Whole: true, Prefix: "call_", Rule: p.IDRule, Fits: func(id string) bool { return len(id) <= maxID }}
}

// emptied tells whether {} goes out for the arguments of a call of the history.
func emptied(c codecs.ToolCall, p codecs.Profile) bool {
	return c.ArgumentsErr != "" && p.UndecodableEcho == codecs.UndecodableEmpty
}

// history reads a request whose results may answer calls of a response that the
// provider keeps.
func (c Codec) history(req codecs.Request, p codecs.Profile) wire.History {
	extra := jsonx.Of(req.Extra)
	return wire.History{
		IDs:     callIDs(p),
		Emptied: func(call codecs.ToolCall) bool { return emptied(call, p) },
		Loose:   extra.Get("previous_response_id").Defined() || extra.Get("conversation").Defined(),
		Reader:  c, List: "input", Profile: p,
	}
}
