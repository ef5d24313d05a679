package anthropic

import (
	"errors"
	"fmt"
	"strings"

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

// encodeTools adds tools and tool_choice. Without tools there is no choice: the
// API refuses it. extraTools says that Extra brings tools of its own.
func encodeTools(f *jsonx.Fields, req codecs.Request, p codecs.Profile, extraTools bool) ([]codecs.Warning, error) {
	hasTools := len(req.Tools) > 0 || len(req.ServerTools) > 0 || extraTools
	choice, withhold, warnings := codecs.GateChoice(req.Choice, hasTools, p)
	if !hasTools {
		if choice.Mode == codecs.ChoiceAny || choice.Mode == codecs.ChoiceTool {
			warnings = append(warnings, codecs.Warnf(codecs.WarnChoiceDropped, "", "dropping tool_choice '%s': the request has no tools", choice.Mode))
		}
		return warnings, nil
	}
	if withhold {
		return warnings, nil
	}
	if len(req.Tools) > 0 || len(req.ServerTools) > 0 {
		list, more, err := Codec{}.Tools(req.Tools, p)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, more...)
		var entries []codecs.Raw
		for _, t := range jsonx.Of(list).Items() {
			entries = append(entries, t.Raw())
		}
		f.Set("tools", jsonx.List(append(entries, req.ServerTools...)...))
	}
	value, more := encodeChoice(req, choice, p)
	f.Set("tool_choice", value)
	return append(warnings, more...), nil
}

// turn is one wire message in the making.
type turn struct {
	role            string
	results, blocks []codecs.Raw
	native          codecs.Raw
}

// callRef is a call of the latest assistant turn, for its results to find.
type callRef struct {
	call    codecs.ToolCall
	wireID  string
	emptied bool
	taken   bool
}

// conversation encodes messages.
type conversation struct {
	profile  codecs.Profile
	writer   *resultWriter
	system   []codecs.Raw // text blocks
	blocks   bool         // system goes out as blocks, not as a string
	turns    []turn
	pending  []*callRef
	used     map[string]bool // wire ids so far
	warnings []codecs.Warning
}

func (c *conversation) warn(code, at, format string, args ...any) {
	c.warnings = append(c.warnings, codecs.Warnf(code, at, format, args...))
}

func (c *conversation) addAll(messages []codecs.Message) error {
	onlySystem := len(messages) > 0
	for _, m := range messages {
		onlySystem = onlySystem && m.Role == "system" && m.Native == nil
	}
	for i, m := range messages {
		at := fmt.Sprintf("/messages/%d", i)
		if m.Native != nil {
			c.native(m.Native)
			continue
		}
		switch m.Role {
		case "system":
			c.addSystem(m, at)
		case "assistant":
			c.add("assistant", m.Parts, at)
		case "user", "tool":
			c.add("user", m.Parts, at)
		default:
			return fmt.Errorf("anthropic: messages[%d]: role %q is none of system, user, assistant, tool", i, m.Role)
		}
	}
	if onlySystem && len(c.turns) == 0 && len(c.system) > 0 {
		c.turns, c.system = []turn{{role: "user", blocks: c.systemBlocks()}}, nil
	}
	return nil
}

// native splices wire messages in. Calls in them are answered by id, which
// their results carry already.
func (c *conversation) native(messages []codecs.Raw) {
	for _, raw := range messages {
		v := jsonx.Of(raw)
		c.turns = append(c.turns, turn{role: v.Get("role").Str(), native: raw})
		if v.Get("role").Str() != "assistant" {
			continue
		}
		c.pending = nil
		for _, b := range v.Get("content").Items() {
			if isCall(b) {
				call, _ := readCall(b, "", len(c.pending))
				c.use(call.ID)
				c.pending = append(c.pending, &callRef{call: call, wireID: call.ID})
			}
		}
	}
}

// addSystem hoists the text of a system message. One that holds blocks which
// only a message can carry (tool_addition) stays where it is.
func (c *conversation) addSystem(m codecs.Message, at string) {
	for _, p := range m.Parts {
		if p.Kind == codecs.Opaque || p.Kind == codecs.Server {
			c.add("system", m.Parts, at)
			return
		}
	}
	if len(c.turns) > 0 {
		c.warn(codecs.WarnLossy, at, "a system message inside the conversation moves to the top")
	}
	before := len(c.system)
	for i, p := range m.Parts {
		b := c.part(p, fmt.Sprintf("%s/parts/%d", at, i), nil)
		if b == nil {
			continue
		}
		v := jsonx.Of(b)
		if v.Get("type").Str() != typeText {
			c.warn(codecs.WarnLossy, at, "a system message holds text only here")
			continue
		}
		c.system = append(c.system, b)
		c.blocks = c.blocks || v.Len() != 2
	}
	c.blocks = c.blocks || len(c.system) > before+1
}

// systemBlocks joins system messages of one plain text each by a blank line.
// Where a message has several blocks, or one with keys of its own, all stay
// apart.
func (c *conversation) systemBlocks() []codecs.Raw {
	if c.blocks || len(c.system) == 0 {
		return c.system
	}
	texts := make([]string, len(c.system))
	for i, b := range c.system {
		texts[i] = jsonx.Of(b).Get("text").Str()
	}
	return []codecs.Raw{textBlock(strings.Join(texts, "\n\n"), nil)}
}

func (c *conversation) systemValue() codecs.Raw {
	switch {
	case len(c.system) == 0:
		return nil
	case c.blocks:
		return jsonx.List(c.system...)
	}
	return jsonx.Of(c.systemBlocks()[0]).Get("text").Raw()
}

// add encodes a message from parts onto the turn before it, when that has the
// same role, or as a turn of its own.
func (c *conversation) add(role string, parts []codecs.Part, at string) {
	t := turn{role: role}
	if role == "assistant" && (len(c.turns) == 0 || c.turns[len(c.turns)-1].role != role) {
		c.pending = nil
	}
	for i, p := range parts {
		here := fmt.Sprintf("%s/parts/%d", at, i)
		if b := c.part(p, here, &t); b != nil {
			t.blocks = append(t.blocks, b)
		}
	}
	t.blocks = append(t.blocks, c.writer.after...)
	c.writer.after = nil
	if len(t.blocks) == 0 && len(t.results) == 0 {
		c.warn(codecs.WarnLossy, at, "the %s message has no content that goes out here; it is left out", role)
		return
	}
	if n := len(c.turns); n > 0 && c.turns[n-1].role == role && c.turns[n-1].native == nil {
		last := &c.turns[n-1]
		last.results = append(last.results, t.results...)
		last.blocks = append(last.blocks, t.blocks...)
		return
	}
	c.turns = append(c.turns, t)
}

func (c *conversation) messages() codecs.Raw {
	out := make([]codecs.Raw, 0, len(c.turns))
	for _, t := range c.turns {
		if t.native != nil {
			out = append(out, t.native)
			continue
		}
		blocks := append(t.results, t.blocks...)
		content := jsonx.List(blocks...)
		if v := jsonx.Of(blocks[0]); len(blocks) == 1 && v.Get("type").Str() == typeText && v.Len() == 2 {
			content = v.Get("text").Raw()
		}
		out = append(out, (&jsonx.Fields{}).Str("role", t.role).Set("content", content).Raw())
	}
	return jsonx.List(out...)
}
