package responses

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// openMessage gathers the content of one message.
type openMessage struct {
	role   string
	id     string
	extra  codecs.Raw // message-level keys
	blocks []codecs.Raw
	texts  []string
	plain  bool // every block is text with nothing beside it
}

func (m *openMessage) started() bool { return len(m.blocks) > 0 }

// add appends a text. full gives it the empty lists that a provider sends.
func (m *openMessage) add(id string, p codecs.Part, typ string, full bool) {
	var f jsonx.Fields
	f.Str("type", typ).Str("text", p.Text)
	if full {
		f.Set("annotations", codecs.Raw("[]")).Set("logprobs", codecs.Raw("[]"))
	}
	extra := blockKeys(p.Extra)
	plain := !m.started() || m.plain
	m.extra = mergeRaw(m.extra, messageExtra(p.Extra))
	m.block(id, f.Merge(extra).Raw())
	m.texts = append(m.texts, p.Text)
	m.plain = plain && extra == nil
}

// block appends a block that is no text.
func (m *openMessage) block(id string, raw codecs.Raw) {
	m.plain = false
	if id != "" {
		m.id = id
	}
	m.blocks = append(m.blocks, raw)
}

func mergeRaw(a, b codecs.Raw) codecs.Raw {
	if b == nil {
		return a
	}
	var f jsonx.Fields
	return f.Merge(a).Merge(b).Raw()
}

// blockKeys and messageExtra split the Extra of a text part into what belongs
// to the content block and what belongs to the message around it.
func blockKeys(extra codecs.Raw) codecs.Raw {
	var f jsonx.Fields
	n := 0
	for _, m := range jsonx.Of(extra).Members() {
		if slices.Contains(textKeys, m.Key) {
			f.Set(m.Key, m.Value.Raw())
			n++
		}
	}
	if n == 0 {
		return nil
	}
	return f.Raw()
}

func messageExtra(extra codecs.Raw) codecs.Raw {
	return wire.Without(jsonx.Of(extra), textKeys...)
}

// flush writes the message that is open, if there is one.
func (w *writer) flush() {
	m := w.open
	w.open = openMessage{}
	if !m.started() {
		return
	}
	if m.role == "" {
		m.role = "user"
	}
	single := m.plain && len(m.blocks) == 1
	list := jsonx.List(m.blocks...)
	switch {
	case m.role != "assistant" && single && m.extra == nil:
		w.items = append(w.items, w.inputMessage(m.role, jsonx.Quote(m.texts[0])))
	case m.role != "assistant":
		raw := w.inputMessage(m.role, list)
		w.items = append(w.items, mergeRaw(raw, m.extra))
	case w.reply:
		if m.id == "" {
			m.id = w.makeID("msg_")
		}
		var f jsonx.Fields
		f.Str("type", typeMessage).Str("id", m.id).Str("status", "completed").Str("role", "assistant")
		w.items = append(w.items, f.Set("content", list).Merge(m.extra).Raw())
	case !sendable(typeMessage, w.profile):
		w.warn(codecs.WarnItemDropped, "this engine refuses message items: one is left out")
	case w.profile.FlattenText:
		if text := strings.Join(m.texts, ""); text != "" {
			w.items = append(w.items, assistantText(text))
		}
	case m.id == "" && m.extra == nil && single:
		w.items = append(w.items, w.inputMessage("assistant", jsonx.Quote(m.texts[0])))
	default:
		var f jsonx.Fields
		f.Str("type", typeMessage)
		if m.id != "" {
			f.Str("id", m.id).Str("status", "completed")
		}
		w.items = append(w.items, f.Str("role", "assistant").Set("content", list).Merge(m.extra).Raw())
	}
}

// writer turns parts into items.
type writer struct {
	profile codecs.Profile
	reply   bool // items of a response, complete with ids and status; else of a request
	seed    codecs.Raw

	items []codecs.Raw
	open  openMessage
	later []codecs.Raw
	made  int
	wire.Notes
}

func (w *writer) warn(code, format string, args ...any) {
	w.Warn(code, "", format, args...)
}

func (w *writer) requestMessage(m wire.Message) error {
	if m.Native != nil {
		w.items = append(w.items, m.Native...)
		return nil
	}
	for j, part := range m.Parts {
		if part.Kind == codecs.KindCall && part.Call != nil {
			w.flush()
			w.call(*part.Call)
			continue
		}
		if err := w.requestPart(m.Role, part, m.Parts[:j]); err != nil {
			return fmt.Errorf("parts[%d]: %w", j, err)
		}
	}
	if m.Role == "user" && len(m.Parts) == 0 {
		w.items = append(w.items, w.inputMessage("user", jsonx.Quote("")))
	}
	w.flush()
	if len(w.later) > 0 {
		w.items = append(w.items, laterMessage(w.later))
		w.later = nil
	}
	return nil
}

func (w *writer) requestPart(role string, part codecs.Part, before []codecs.Part) error {
	switch {
	case part.Kind == codecs.KindResult && part.Result != nil:
		w.flush()
		w.result(*part.Result)
		return nil
	case part.Kind == codecs.KindCall, part.Kind == codecs.KindResult, part.Kind == codecs.KindMedia && part.Media == nil:
		return fmt.Errorf("a %s part without its %s", part.Kind, part.Kind)
	}
	if role == "assistant" {
		w.assistantPart(part, before)
		return nil
	}
	switch part.Kind {
	case codecs.KindText:
		if role != "system" {
			w.open.add("", part, "input_text", false)
		}
	case codecs.KindMedia:
		block, ok := promptPart(*part.Media, w.profile)
		if !ok {
			note := wire.MediaLine(*part.Media)
			w.warn(codecs.WarnMediaPlaceholder, "%s", note)
			block = inputText(note)
		} else if part.Extra != nil {
			var f jsonx.Fields
			block = f.Merge(block).Merge(part.Extra).Raw()
		}
		w.open.block("", block)
	case codecs.KindOpaque:
		if strings.HasPrefix(part.Type, "input_") {
			w.open.block("", part.Extra)
			return nil
		}
		w.flush()
		w.splice(part)
	default:
		w.warn(codecs.WarnLossy, "a %s part of a %s message has no form in this dialect and is left out", part.Kind, role)
	}
	w.open.role = "user"
	return nil
}

// assistantPart writes a part of the model's turn other than a call.
func (w *writer) assistantPart(part codecs.Part, before []codecs.Part) {
	switch part.Kind {
	case codecs.KindText:
		if w.open.started() && (w.open.id != part.ID || messageExtra(part.Extra) != nil) {
			w.flush()
		}
		w.open.role = "assistant"
		w.open.add(part.ID, part, "output_text", w.reply)
	case codecs.KindReasoning:
		w.flush()
		w.reasoning(part)
	case codecs.KindMedia:
		w.modelMedia(*part.Media, before)
	case codecs.KindServer, codecs.KindClient, codecs.KindOpaque:
		if part.Type == typeRefusal || strings.HasPrefix(part.Type, "output_") {
			w.open.role = "assistant"
			w.open.block(part.ID, part.Extra)
			return
		}
		w.flush()
		w.splice(part)
	default:
		w.warn(codecs.WarnLossy, "a %s part has no form in the model's turn and is left out", part.Kind)
	}
}

// modelMedia writes an image that the model made. One that its
// image_generation_call already holds is not written twice.
func (w *writer) modelMedia(m codecs.Media, before []codecs.Part) {
	if len(before) > 0 {
		last := before[len(before)-1]
		if last.Type == typeImageGen && jsonx.Of(last.Extra).Get("result").Str() == m.Data {
			return
		}
	}
	format, isImage := strings.CutPrefix(m.MIME, "image/")
	switch {
	case w.reply && isImage && m.Data != "":
		w.flush()
		var f jsonx.Fields
		f.Str("id", w.makeID("ig_")).Str("type", typeImageGen).Str("status", "completed")
		w.items = append(w.items, f.Str("output_format", format).Str("result", m.Data).Raw())
	case w.reply:
		w.warn(codecs.WarnLossy, "%s has no form in this dialect and is left out", wire.MediaLine(m))
	default:
		note := wire.MediaLine(m)
		w.warn(codecs.WarnMediaPlaceholder, "%s", note)
		w.open.role = "assistant"
		w.open.add("", codecs.Part{Text: note}, "output_text", false)
	}
}

// nativeReasoning tells whether a reasoning part came from an item of this
// dialect: it has the item's id, or kept the item's own lists. A signature alone
// does not tell, since other dialects have signatures of their own.
func nativeReasoning(p codecs.Part) bool {
	extra := jsonx.Of(p.Extra)
	return p.ID != "" || extra.Get("summary").Exists() || extra.Get("content").Exists()
}

func (w *writer) reasoning(p codecs.Part) {
	switch {
	case w.reply:
		if p.Redacted {
			w.warn(codecs.WarnLossy, "redacted reasoning goes out as encrypted_content")
		}
	case !nativeReasoning(p):
		w.warn(codecs.WarnLossy, "reasoning that came from another dialect is left out")
		return
	case !sendable(typeReasoning, w.profile):
		w.warn(codecs.WarnReasoningDropped, "this engine refuses reasoning items: one is left out")
		return
	}
	extra := jsonx.Of(p.Extra)
	var f jsonx.Fields
	f.Str("type", typeReasoning)
	if id := p.ID; id != "" {
		f.Str("id", id)
	} else if w.reply {
		f.Str("id", w.makeID("rs_"))
	}
	if p.Text == "" || extra.Get("content").Exists() {
		f.Set("summary", codecs.Raw("[]"))
	} else {
		f.Set("summary", summaryOf(p.Text))
	}
	if p.Signature != "" {
		f.Str("encrypted_content", p.Signature)
	}
	w.items = append(w.items, f.Merge(p.Extra).Raw())
}

func summaryOf(text string) codecs.Raw {
	var f jsonx.Fields
	return jsonx.List(f.Str("type", "summary_text").Str("text", text).Raw())
}

// foreignTypes start the names of blocks that belong to other dialects.
var foreignTypes = []string{"server_tool_use", "mcp_tool_", "tool_use", "tool_result", "redacted_thinking", "thinking", "container_upload", "document", "image"}

// splice writes a server, client or opaque item as it came, when it is one of
// this dialect.
func (w *writer) splice(p codecs.Part) {
	v := jsonx.Of(p.Extra)
	native := v.IsObject() && v.Get("type").Str() != "" && !strings.HasSuffix(p.Type, "_tool_result")
	for _, t := range foreignTypes {
		if p.Type == t || (strings.HasPrefix(p.Type, t) && strings.HasSuffix(t, "_")) {
			native = false
		}
	}
	switch {
	case !native:
		w.warn(codecs.WarnLossy, "a %s part (%s) of another dialect is left out", p.Kind, p.Type)
	case !w.reply && !sendable(p.Type, w.profile):
		w.warn(codecs.WarnItemDropped, "this engine refuses %s items: one is left out", p.Type)
	default:
		w.items = append(w.items, p.Extra)
	}
}

// call writes a function_call.
func (w *writer) call(c codecs.ToolCall) {
	arguments := c.ArgumentsText
	switch {
	case arguments == "" && !c.Cut && !w.reply: // some servers send "", none is known to need it back
		arguments = "{}"
	case w.empties(c):
		arguments = "{}"
		w.warn(codecs.WarnArgumentsEmptied, "call of %s goes out with {} in place of undecodable arguments", c.Name)
	}
	if c.Signature != "" {
		w.warn(codecs.WarnLossy, "the signature of the call of %s has no place in this dialect", c.Name)
	}
	var f jsonx.Fields
	f.Str("type", typeCall)
	if c.ItemID != "" {
		f.Str("id", c.ItemID)
	} else if w.reply {
		f.Str("id", w.makeID("fc_"))
	}
	f.Str("call_id", c.ID).Str("name", c.Name).Str("arguments", arguments)
	if c.Cut {
		f.Str("status", "incomplete")
	} else if w.reply {
		f.Str("status", "completed")
	}
	w.items = append(w.items, f.Merge(c.Extra).Raw())
}

// empties tells whether {} goes out in place of the arguments of a call.
func (w *writer) empties(c codecs.ToolCall) bool {
	return !w.reply && emptied(c, w.profile)
}

func (w *writer) makeID(prefix string) string {
	w.made++
	return wire.MadeID(w.seed, w.made, prefix, "")
}

// inputMessage is a message of a role other than assistant.
func (w *writer) inputMessage(role string, content codecs.Raw) codecs.Raw {
	var f jsonx.Fields
	if w.profile.TypedItems {
		f.Str("type", typeMessage)
	}
	return f.Str("role", role).Set("content", content).Raw()
}
