package anthropic

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// defaultMaxTokens is sent when neither the request nor the profile names a
// limit: the API demands one.
const defaultMaxTokens = 4096

// Request encodes a request body.
//
//   - System messages join, a blank line between them, as the top-level system;
//     a list of blocks when one carries cache_control. A conversation of
//     nothing else becomes one user message.
//   - Neighbouring messages of one role that are built from parts become one,
//     tool results first. Native messages go in verbatim.
//   - Ids that the API does not take, that are empty, or that an earlier turn
//     used, are replaced in call and result together.
//   - Undecodable arguments become {}, and their text goes into the result:
//     the API takes no string there. UndecodableEcho verbatim sends the string.
//   - Reasoning goes out when it has a signature, or when the profile's
//     ReasoningEcho says that the engine wants it. An item id marks reasoning of
//     the Responses dialect, which has no valid form here.
//
// What has no form here is left out with the warning render.lossy.
func (c Codec) Request(req codecs.Request, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	warnings, err := wire.ServerTools(codecs.Anthropic, req.ServerTools, p, true)
	if err != nil {
		return nil, nil, fmt.Errorf("anthropic: %w", err)
	}
	extra := jsonx.Of(req.Extra)
	if req.Extra != nil && !extra.IsObject() {
		return nil, nil, fmt.Errorf("anthropic: extra: want an object, got %s", extra.Kind())
	}
	messages, more, err := c.history(p).Messages(req.Messages)
	if err != nil {
		return nil, nil, err
	}
	conv := conversation{profile: p, writer: newResultWriter(p), Notes: wire.Notes{Warnings: append(warnings, more...)}}
	if err := conv.addAll(messages); err != nil {
		return nil, nil, err
	}
	var f jsonx.Fields
	if req.Model != "" {
		f.Str("model", req.Model)
	}
	key := p.MaxTokensKey
	if key == "" {
		key = "max_tokens"
	}
	f.Int(key, int64(maxTokens(req, p)))
	f.Set("system", conv.systemValue())
	f.Set("messages", conv.messages())
	warnings = append(conv.Warnings, conv.writer.Warnings...)
	more, err = encodeTools(&f, req, p, extra.Get("tools").Len() > 0)
	if err != nil {
		return nil, nil, err
	}
	if req.Stream {
		f.Bool("stream", true)
	}
	return join(&f, req.Extra), append(warnings, more...), nil
}

func maxTokens(req codecs.Request, p codecs.Profile) int {
	switch {
	case req.MaxTokens > 0:
		return req.MaxTokens
	case p.MaxTokens > 0:
		return p.MaxTokens
	}
	return defaultMaxTokens
}

// callIDs are the ids of this wire.
func callIDs(p codecs.Profile) wire.IDs {
	return wire.IDs{Adopt: true, Need: true, Whole: true, Prefix: "toolu_", Rule: p.IDRule, Fits: idShape.MatchString}
}

// emptied tells whether {} goes out for the arguments of a call of the history.
func emptied(call codecs.ToolCall, p codecs.Profile) bool {
	return call.Arguments == nil && p.UndecodableEcho != codecs.UndecodableVerbatim
}

func (c Codec) history(p codecs.Profile) wire.History {
	return wire.History{
		IDs:     callIDs(p),
		Joins:   true,
		Emptied: func(call codecs.ToolCall) bool { return emptied(call, p) },
		Reader:  c, List: "messages", Profile: p,
	}
}
