package anthropic

import (
	"errors"
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
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
func (Codec) Request(req codecs.Request, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	if len(req.ServerTools) > 0 {
		if p.NoServerTool {
			return nil, nil, errors.New("anthropic: this engine has no server tools; remove them from the request")
		}
		if err := checkServerTools(req.ServerTools); err != nil {
			return nil, nil, fmt.Errorf("anthropic: %w", err)
		}
	}
	extra := jsonx.Of(req.Extra)
	if req.Extra != nil && !extra.IsObject() {
		return nil, nil, fmt.Errorf("anthropic: extra: want an object, got %s", extra.Kind())
	}
	c := conversation{profile: p, writer: newResultWriter(p)}
	if err := c.addAll(req.Messages); err != nil {
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
	f.Set("system", c.systemValue())
	f.Set("messages", c.messages())
	warnings := append(c.warnings, c.writer.warnings...)
	more, err := encodeTools(&f, req, p, extra.Get("tools").Len() > 0)
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
