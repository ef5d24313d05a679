package gemini

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Request encodes the body of generateContent. The model and the stream flag
// travel in the path, not in the body.
//
// System messages are joined into systemInstruction. Results of one turn become
// one user content, in the order of the calls they answer; what else stood in
// their messages follows in a content of its own. Extra is merged last; inside
// generationConfig and toolConfig it is merged member by member, so that a
// temperature there does not push out the token limit.
func (c Codec) Request(req codecs.Request, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	warnings, err := wire.ServerTools(codecs.Gemini, req.ServerTools, p, true)
	if err != nil {
		return nil, nil, err
	}
	messages, more, err := c.history(p).Messages(req.Messages)
	if err != nil {
		return nil, nil, err
	}
	e := &encoder{profile: p, Notes: wire.Notes{Warnings: append(warnings, more...)}}
	if err := e.messages(messages); err != nil {
		return nil, nil, err
	}
	var body jsonx.Fields
	body.Set("contents", jsonx.List(e.contents...))
	if parts := e.systemParts(); len(parts) > 0 {
		var si jsonx.Fields
		body.Set("systemInstruction", si.Set("parts", jsonx.List(parts...)).Raw())
	}
	extra := jsonx.Of(req.Extra)
	choice, withhold, ws := wire.GateChoice(req.Choice, ownChoice, len(req.Tools)+len(req.ServerTools) > 0, p)
	e.Warnings = append(e.Warnings, ws...)
	if !withhold {
		if err := c.setTools(e, &body, req, p); err != nil {
			return nil, nil, err
		}
		e.toolConfig(&body, choice, len(req.Tools) > 0 || extra.Get("tools").Exists(), len(req.Tools) > 0 && len(req.ServerTools) > 0)
	}
	if req.Parallel != nil {
		e.Warn(codecs.WarnParallelDropped, "", "dropping parallel_tool_use: this dialect cannot say it")
	}
	if n := max(req.MaxTokens, 0); n > 0 || p.MaxTokens > 0 {
		if n == 0 {
			n = p.MaxTokens
		}
		key := p.MaxTokensKey
		if key == "" {
			key = "maxOutputTokens"
		}
		var gc jsonx.Fields
		body.Set("generationConfig", gc.Int(key, int64(n)).Raw())
	}
	for _, m := range extra.Members() {
		key := m.Key
		if k := camel(key); body.Has(k) {
			key = k
		}
		value := m.Value.Raw()
		if key == "generationConfig" || key == "toolConfig" {
			value = merged(jsonx.Of(body.Raw()).Get(key), m.Value)
		}
		body.Set(key, value)
	}
	raw, err := e.cached(body.Raw())
	return raw, e.Warnings, err
}

// cached takes out what a bound cached content already holds: the API refuses
// system instruction, tools and tool configuration beside one. Source: spec 2.8,
// row LP25.
func (e *encoder) cached(body codecs.Raw) (codecs.Raw, error) {
	if field(jsonx.Of(body), "cachedContent").Str() == "" {
		return body, nil
	}
	var left []string
	for _, m := range jsonx.Of(body).Members() {
		switch camel(m.Key) {
		case "systemInstruction", "tools", "toolConfig":
			left = append(left, m.Key)
		}
	}
	for _, key := range left {
		var err error
		if body, err = jsonx.Delete(body, "/"+key); err != nil {
			return nil, err
		}
	}
	if len(left) > 0 {
		e.Warn(codecs.WarnLossy, "/cachedContent", "%s cannot go out beside a cached content, which has its own", strings.Join(left, ", "))
	}
	return body, nil
}

// merged is b laid over a, objects member by member.
func merged(a, b jsonx.Value) codecs.Raw {
	if !a.IsObject() || !b.IsObject() {
		return b.Raw()
	}
	var f jsonx.Fields
	f.Merge(a.Raw())
	for _, m := range b.Members() {
		key := m.Key
		if k := camel(key); f.Has(k) {
			key = k
		}
		f.Set(key, merged(a.Get(key), m.Value))
	}
	return f.Raw()
}

// callIDs are the ids of this wire: one only where the call came with one.
func callIDs(p codecs.Profile) wire.IDs {
	return wire.IDs{Prefix: "call_", Rule: p.IDRule}
}

func (c Codec) history(p codecs.Profile) wire.History {
	return wire.History{
		IDs:     callIDs(p),
		ByOrder: true,
		Emptied: undecodable,
		Joins:   true,
		Reader:  c, List: "contents", Profile: p,
	}
}
