package openai

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Request encodes a chat completions body. The limit goes out as
// max_completion_tokens unless the profile names another key; a choice and the
// parallel knob only beside tools, as OpenAI refuses them alone.
func (c Codec) Request(req codecs.Request, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	noted, err := wire.ServerTools(codecs.OpenAI, req.ServerTools, p, p.ServerTools == codecs.ServerToolsYes)
	if err != nil {
		return nil, nil, err
	}
	if len(req.Extra) > 0 {
		if v, err := jsonx.Parse(req.Extra); err != nil || !v.IsObject() {
			return nil, nil, fmt.Errorf("request: extra: want a JSON object")
		}
	}
	messages, warnings, err := c.history(p).Messages(req.Messages)
	if err != nil {
		return nil, nil, err
	}
	w := writer{profile: p, Notes: wire.Notes{Warnings: append(noted, warnings...)}}
	for _, m := range messages {
		if err := w.message(m); err != nil {
			return nil, nil, fmt.Errorf("request: messages[%d]: %w", m.Index, err)
		}
	}
	w.flush()
	var f jsonx.Fields
	f.Str("model", req.Model).Set("messages", jsonx.List(w.out...))
	hasTools := len(req.Tools)+len(req.ServerTools) > 0
	choice, withhold, warnings := wire.GateChoice(req.Choice, ownChoice, hasTools, p)
	w.Warnings = append(w.Warnings, warnings...)
	if hasTools && !withhold {
		tools, more, err := c.Tools(req.Tools, p)
		if err != nil {
			return nil, nil, fmt.Errorf("request: %w", err)
		}
		w.Warnings = append(w.Warnings, more...)
		var list []codecs.Raw
		for _, t := range jsonx.Of(tools).Items() {
			list = append(list, t.Raw())
		}
		f.Set("tools", jsonx.List(append(list, req.ServerTools...)...))
	}
	offered := f.Has("tools") || jsonx.Of(req.Extra).Get("tools").Len() > 0
	w.choice(&f, choice, offered)
	if req.Parallel != nil && offered {
		if p.NoParallel {
			w.Warn(codecs.WarnParallelDropped, "", "dropping parallel_tool_calls: this engine has no such knob")
		} else {
			f.Bool("parallel_tool_calls", *req.Parallel)
		}
	}
	limit := req.MaxTokens
	if limit == 0 {
		limit = p.MaxTokens
	}
	extra := jsonx.Of(req.Extra)
	if limit > 0 && !extra.Get("max_tokens").Exists() && !extra.Get("max_completion_tokens").Exists() { // both names are refused
		f.Int(maxTokensKey(p), int64(limit))
	}
	if req.Stream {
		f.Bool("stream", true)
		f.Set("stream_options", codecs.Raw(askUsage))
	}
	body := merged(&f, jsonx.Of(req.Extra))
	if err := jsonx.Check(body); err != nil { // a raw value of the caller's
		return nil, nil, fmt.Errorf("request: a raw value is not JSON: %w", err)
	}
	return body, w.Warnings, nil
}

// askUsage makes a stream tell its usage, without which a hidden limit stop is
// not seen.
const askUsage = `{"include_usage":true}`

// merged adds the members of extra, which win over the ones that are there.
func merged(f *jsonx.Fields, extra jsonx.Value) codecs.Raw {
	var taken []string
	for _, m := range extra.Members() {
		if f.Has(m.Key) {
			f.Set(m.Key, m.Value.Raw())
			taken = append(taken, m.Key)
		}
	}
	return joined(f.Raw(), wire.Without(extra, taken...))
}

func maxTokensKey(p codecs.Profile) string {
	if p.MaxTokensKey != "" {
		return p.MaxTokensKey
	}
	return "max_completion_tokens"
}

// callIDs are the ids of this wire. Histories from other wires have longer ones.
func callIDs(p codecs.Profile) wire.IDs {
	return wire.IDs{Adopt: true, Need: true, Prefix: "call_", Rule: p.IDRule, Fits: func(id string) bool { return sendableID(id, p) }}
}

func (c Codec) history(p codecs.Profile) wire.History {
	return wire.History{
		IDs: callIDs(p),
		Emptied: func(call codecs.ToolCall) bool {
			return p.UndecodableEcho == codecs.UndecodableEmpty && call.Arguments == nil && call.ArgumentsText != ""
		},
		Reader: c, List: "messages", Profile: p,
	}
}
