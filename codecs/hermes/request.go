package hermes

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/wire"
)

// Request encodes a chat completions body without a tools field: the tool
// prompt is a system message in front of the conversation. Calls and results of
// the history go out as text blocks. The wire has no tool choice: none leaves
// the tool prompt out, see wire.GateChoice.
func (c Codec) Request(req codecs.Request, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	if err := wire.CheckServerTools(codecs.Hermes, req.ServerTools, false); err != nil {
		return nil, nil, err
	}
	gate := p
	gate.ToolChoice = []string{"-"} // a rule of the dialect, whatever the profile says
	_, withhold, warnings := wire.GateChoice(req.Choice, nil, len(req.Tools) > 0, gate)
	if req.Parallel != nil && len(req.Tools) > 0 {
		warnings = append(warnings, codecs.Warnf(codecs.WarnParallelDropped, "", "dropping parallel_tool_use: tools in a prompt have no such knob"))
	}
	enc := encoder{p: p, warnings: warnings}
	if len(req.Tools) > 0 && !withhold {
		text, err := prompt(req.Tools, p)
		if err != nil {
			return nil, nil, err
		}
		enc.out = append(enc.out, codecs.Message{Role: "system", Parts: []codecs.Part{{Kind: codecs.KindText, Text: text}}})
	}
	messages, more, err := c.history(p).Messages(req.Messages)
	if err != nil {
		return nil, nil, err
	}
	enc.warnings = append(enc.warnings, more...)
	for _, m := range messages {
		if err := enc.message(m); err != nil {
			return nil, nil, err
		}
	}
	out := req
	out.Messages, out.Tools, out.ServerTools, out.Choice, out.Parallel = enc.out, nil, nil, codecs.Choice{}, nil
	body, w, err := chat.Request(out, transport(p))
	return body, append(enc.warnings, w...), own(err)
}

// history pairs by name and order: the wire has no ids.
func (c Codec) history(p codecs.Profile) wire.History {
	return wire.History{
		IDs:     wire.IDs{None: true},
		ByOrder: true,
		Reader:  c, List: "messages", Profile: p,
	}
}
