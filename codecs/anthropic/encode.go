package anthropic

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// requestKeys are the keys beside a block's own that the API takes in a
// request. Others came from another dialect, or are unknown, and are refused.
var requestKeys = []string{"cache_control", "citations", "caller", "title", "context", "source", "toolset_name", "transformations"}

// idShape is what the API takes as the id of a call.
var idShape = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// part encodes one part as a block, nil when it has none. Results go into
// t.results; t is nil in a system message, which has no results.
func (c *conversation) part(p codecs.Part, at string, t *wireMessage) codecs.Raw {
	switch p.Kind {
	case codecs.KindText:
		return textBlock(p.Text, c.extra(p.Extra, at))
	case codecs.KindReasoning:
		return c.reasoning(p, at)
	case codecs.KindMedia:
		if p.Media != nil {
			return c.media(p, at)
		}
	case codecs.KindCall:
		if p.Call != nil && t != nil && t.role == "assistant" {
			return c.call(*p.Call, at)
		}
	case codecs.KindResult:
		if p.Result != nil && t != nil && t.role == "user" {
			t.results = append(t.results, c.writer.block(p.Result.ID, *p.Result, c.extra(p.Extra, at), at))
			return nil
		}
	case codecs.KindServer, codecs.KindOpaque:
		if carries(p) {
			return p.Extra
		}
	}
	c.Warn(codecs.WarnLossy, at, "a %s part %s has no form in this dialect here; it is left out", p.Kind, p.Type)
	return nil
}

// extra keeps the keys of a part that the API takes in a request.
func (c *conversation) extra(extra codecs.Raw, at string) codecs.Raw {
	var f jsonx.Fields
	for _, m := range jsonx.Of(extra).Members() {
		if !slices.Contains(requestKeys, m.Key) {
			c.Warn(codecs.WarnLossy, at, "the key %q is left out: it is none of this dialect's requests", m.Key)
			continue
		}
		f.Set(m.Key, m.Value.Raw())
	}
	return fieldsOrNil(&f)
}

func (c *conversation) reasoning(p codecs.Part, at string) codecs.Raw {
	var f jsonx.Fields
	wanted := c.profile.ReasoningEcho
	switch {
	case wanted == codecs.EchoRefused:
		c.Warn(codecs.WarnReasoningDropped, at, "reasoning is left out: this engine refuses it")
		return nil
	case p.ID != "", p.Signature == "" && (p.Redacted || wanted == ""):
		c.Warn(codecs.WarnLossy, at, "reasoning without a signature of this dialect is left out: the API refuses it")
		return nil
	case p.Redacted:
		f.Str("type", typeRedacted).Str("data", p.Signature)
	default:
		f.Str("type", typeThinking).Str("thinking", p.Text)
		if p.Signature != "" {
			f.Str("signature", p.Signature)
		}
	}
	return f.Raw()
}

func (c *conversation) call(call codecs.ToolCall, at string) codecs.Raw {
	if call.Name == "" {
		c.Warn(codecs.WarnCallNameless, at, "left out a call without a name")
		return nil
	}
	if call.Signature != "" {
		c.Warn(codecs.WarnLossy, at, "the signature of the call %s has no place in this dialect", call.Name)
	}
	var f jsonx.Fields
	f.Str("type", typeToolUse).Str("id", call.ID).Str("name", call.Name)
	switch {
	case call.Arguments != nil:
		f.Set("input", call.Arguments)
	case !emptied(call, c.profile):
		f.Str("input", call.ArgumentsText)
	default:
		f.Set("input", codecs.Raw("{}"))
		c.Warn(codecs.WarnArgumentsEmptied, at, "undecodable arguments of %s go out as {}", call.Name)
	}
	return f.Merge(c.extra(call.Extra, at)).Raw()
}

// madeDigest is a short stable word for things that need an id and have none.
func madeDigest(prefix string, parts ...string) string {
	seed, _ := json.Marshal(parts) // strings always marshal
	return wire.MadeID(seed, 0, prefix, "")
}

// wireMessage is one wire message in the making.
type wireMessage struct {
	role            string
	results, blocks []codecs.Raw
	native          codecs.Raw
}

// conversation encodes messages.
type conversation struct {
	wire.Notes
	profile codecs.Profile
	writer  *resultWriter
	system  []codecs.Raw // text blocks
	blocks  bool         // system goes out as blocks, not as a string
	turns   []wireMessage
}

func (c *conversation) addAll(messages []wire.Message) error {
	onlySystem := len(messages) > 0
	for _, m := range messages {
		onlySystem = onlySystem && m.Role == "system" && m.Native == nil
	}
	for _, m := range messages {
		if m.Native != nil {
			c.native(m.Native)
			continue
		}
		switch m.Role {
		case "system":
			c.addSystem(m)
		case "assistant":
			c.add("assistant", m)
		case "user", "tool":
			c.add("user", m)
		default:
			return fmt.Errorf("anthropic: messages[%d]: role %q is none of system, user, assistant, tool", m.Index, m.Role)
		}
	}
	if onlySystem && len(c.turns) == 0 && len(c.system) > 0 {
		c.turns, c.system = []wireMessage{{role: "user", blocks: c.systemBlocks()}}, nil
	}
	return nil
}

// native splices wire messages in.
func (c *conversation) native(messages []codecs.Raw) {
	for _, raw := range messages {
		c.turns = append(c.turns, wireMessage{role: jsonx.Of(raw).Get("role").Str(), native: raw})
	}
}

// addSystem hoists the text of a system message. One that holds blocks which
// only a message can carry (tool_addition) stays where it is.
func (c *conversation) addSystem(m wire.Message) {
	for _, p := range m.Parts {
		if p.Kind == codecs.KindOpaque || p.Kind == codecs.KindServer {
			c.add("system", m)
			return
		}
	}
	if len(c.turns) > 0 {
		c.Warn(codecs.WarnLossy, m.At(), "a system message inside the conversation moves to the top")
	}
	before := len(c.system)
	for i, p := range m.Parts {
		b := c.part(p, m.Part(i), nil)
		if b == nil {
			continue
		}
		v := jsonx.Of(b)
		if v.Get("type").Str() != typeText {
			c.Warn(codecs.WarnLossy, m.At(), "a system message holds text only here")
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
func (c *conversation) add(role string, m wire.Message) {
	t := wireMessage{role: role}
	for i, p := range m.Parts {
		if b := c.part(p, m.Part(i), &t); b != nil {
			t.blocks = append(t.blocks, b)
		}
	}
	t.blocks = append(t.blocks, c.writer.after...)
	c.writer.after = nil
	if len(t.blocks) == 0 && len(t.results) == 0 {
		c.Warn(codecs.WarnLossy, m.At(), "the %s message has no content that goes out here; it is left out", role)
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
