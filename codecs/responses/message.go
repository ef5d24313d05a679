package responses

import (
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
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
	return codecs.Without(jsonx.Of(extra), textKeys...)
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
