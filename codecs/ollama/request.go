package ollama

import (
	"errors"
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Request encodes {"model","messages","tools"?,"stream","options"?}. stream is
// always there, because the server's default is true. A token limit is
// options.num_predict; the options of Extra are merged into it key by key.
// A tool choice cannot be sent: see wire.GateChoice for what happens to it.
func (c Codec) Request(req codecs.Request, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	if err := wire.CheckServerTools(codecs.Ollama, req.ServerTools, false); err != nil {
		return nil, nil, err
	}
	if len(req.Extra) > 0 {
		if v, err := jsonx.Parse(req.Extra); err != nil || !v.IsObject() {
			return nil, nil, errors.New("ollama: request: extra: want a JSON object")
		}
	}
	p.ToolChoice = []string{"-"} // a rule of the wire, whatever the profile says
	_, withhold, warnings := wire.GateChoice(req.Choice, nil, len(req.Tools) > 0, p)
	if req.Parallel != nil && len(req.Tools) > 0 {
		warnings = append(warnings, codecs.Warnf(codecs.WarnParallelDropped, "", "dropping parallel_tool_use: this wire has no such knob"))
	}
	messages, more, err := c.history(p).Messages(req.Messages)
	if err != nil {
		return nil, nil, err
	}
	enc := encoder{p: p, Notes: wire.Notes{Warnings: append(warnings, more...)}}
	for _, m := range messages {
		enc.message(m)
	}
	var f jsonx.Fields
	f.Str("model", req.Model).Set("messages", jsonx.List(enc.out...))
	if len(req.Tools) > 0 && !withhold {
		tools, warnings, err := c.Tools(req.Tools, p)
		if err != nil {
			return nil, nil, err
		}
		enc.Warnings = append(enc.Warnings, warnings...)
		f.Set("tools", tools)
	}
	f.Bool("stream", req.Stream)
	var options jsonx.Fields
	limit := req.MaxTokens
	if limit == 0 {
		limit = p.MaxTokens
	}
	if limit > 0 {
		key := p.MaxTokensKey
		if key == "" {
			key = "num_predict"
		}
		options.Int(key, int64(limit))
		f.Set("options", options.Raw())
	}
	for _, m := range jsonx.Of(req.Extra).Members() {
		if m.Key == "options" && m.Value.IsObject() {
			f.Set(m.Key, options.Merge(m.Value.Raw()).Raw())
			continue
		}
		f.Set(m.Key, m.Value.Raw())
	}
	body := f.Raw()
	if err := jsonx.Check(body); err != nil { // a raw value of the caller's: a native message, a schema, arguments
		return nil, nil, fmt.Errorf("ollama: request: a raw value is not JSON: %w", err)
	}
	return body, enc.Warnings, nil
}

const (
	history     purpose = iota // a turn inside a request
	renderReply                // the message of a reply
)

// callIDs are the ids of this wire: they are optional, and no server makes
// anything of them but the template that a model has.
func callIDs(p codecs.Profile) wire.IDs {
	return wire.IDs{Adopt: true, Prefix: "call_", Rule: p.IDRule}
}

func (c Codec) history(p codecs.Profile) wire.History {
	return wire.History{
		IDs:     callIDs(p),
		ByOrder: true,
		Emptied: func(call codecs.ToolCall) bool { return call.Arguments == nil && call.ArgumentsText != "" },
		Reader:  c, List: "messages", Profile: p,
	}
}
