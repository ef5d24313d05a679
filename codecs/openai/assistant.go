package openai

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// assistantFields encodes the parts of an assistant message, for a history
// that is sent and for a reply that is rendered.
type assistantFields struct {
	profile codecs.Profile
	at      string     // pointer of the parts, for warnings
	seed    codecs.Raw // what made ids depend on
	reply   bool       // rendered as a provider, which may attach media
	cut     bool       // a reply that the limit ended: empty arguments stay empty

	texts     []codecs.Raw // content chunks
	rich      bool         // content has a chunk that a string cannot carry
	reasoning []string
	details   []codecs.Raw
	calls     []codecs.Raw
	sent      []sentCall
	images    []codecs.Raw
	executed  []codecs.Raw
	audio     codecs.Raw
	warnings  []codecs.Warning
}

func (a *assistantFields) warn(code string, i int, format string, args ...any) {
	a.warnings = append(a.warnings, codecs.Warnf(code, fmt.Sprintf("%s/%d", a.at, i), format, args...))
}

func (a *assistantFields) read(parts []codecs.Part) error {
	for i, p := range parts {
		switch p.Kind {
		case codecs.Text:
			a.texts = append(a.texts, cachedText(p))
			a.left(i, p.Extra, "cache_control")
			a.rich = a.rich || cached(p)
		case codecs.Reasoning:
			a.think(i, p)
		case codecs.CallKind:
			if p.Call == nil {
				return fmt.Errorf("parts[%d]: a call part without a call", i)
			}
			a.call(i, *p.Call)
		case codecs.Client:
			if p.Type == "custom" && isCustom(jsonx.Of(p.Extra)) {
				a.calls = append(a.calls, p.Extra)
			} else {
				a.warn(codecs.WarnLossy, i, "chat completions has no call of type %q; it is left out", p.Type)
			}
		case codecs.MediaKind:
			if p.Media == nil {
				return fmt.Errorf("parts[%d]: a media part without media", i)
			}
			a.media(i, p)
		case codecs.Server:
			if e := jsonx.Of(p.Extra); a.reply && e.Get("arguments").Exists() && e.Get("output").Exists() {
				a.executed = append(a.executed, p.Extra)
			} else {
				a.warn(codecs.WarnLossy, i, "chat completions has no item of type %q; it is left out", p.Type)
			}
		case codecs.Opaque:
			if chatPart(p) {
				a.texts, a.rich = append(a.texts, p.Extra), true
			} else {
				a.warn(codecs.WarnLossy, i, "chat completions has no part of type %q; it is left out", p.Type)
			}
		default:
			a.warn(codecs.WarnLossy, i, "an assistant message cannot carry a %s part; it is left out", p.Kind)
		}
	}
	return nil
}

// think writes reasoning. Its text has a place; a signature or redacted data
// only inside reasoning_details of this dialect, which Extra keeps whole.
func (a *assistantFields) think(i int, p codecs.Part) {
	details := jsonx.Of(p.Extra).Get(detailsKey)
	switch {
	case !a.reply && a.profile.ReasoningEcho == codecs.EchoRefused:
		a.warn(codecs.WarnReasoningDropped, i, "the engine refuses reasoning in the history; it is left out")
		return
	case details.IsArray():
		for _, d := range details.Items() {
			a.details = append(a.details, d.Raw())
		}
	case p.Text == "":
		a.warn(codecs.WarnLossy, i, "redacted reasoning has no place in chat completions; it is left out")
	case p.Signature != "":
		a.warn(codecs.WarnLossy, i, "the signature of the reasoning has no place in chat completions; only its text goes out")
	}
	a.left(i, p.Extra, detailsKey)
	if p.Text != "" {
		a.reasoning = append(a.reasoning, p.Text)
	}
}

// left warns about keys that another dialect put beside a part.
func (a *assistantFields) left(i int, extra codecs.Raw, known ...string) {
	if rest := codecs.Without(jsonx.Of(extra), known...); rest != nil {
		a.warn(codecs.WarnLossy, i, "chat completions has no place for %s", brief(rest))
	}
}

func (a *assistantFields) call(i int, c codecs.ToolCall) {
	came := c.ID
	if c.ID == "" || (!a.reply && !sendableID(c.ID, a.profile)) {
		seed := append(append(codecs.Raw(nil), a.seed...), c.ID+c.Name+c.ArgumentsText+string(c.Arguments)...)
		c.ID = codecs.MadeID(seed, len(a.sent), "call_", a.profile.IDRule)
		a.warn(codecs.WarnIDMade, i, "call %d has the id %q, which cannot go out; %s was made", len(a.sent), came, c.ID)
	}
	a.left(i, c.Extra, "extra_content")
	args, emptied := c.ArgumentsText, false
	switch {
	case !a.reply && a.profile.UndecodableEcho == codecs.UndecodableEmpty && (c.Arguments == nil && args != "" || string(c.Arguments) == "{}"):
		if emptied = c.Arguments == nil; emptied {
			a.warn(codecs.WarnArgumentsEmptied, i, "the arguments of call %d do not decode (%s); they go out as {}", len(a.sent), c.ArgumentsErr)
		}
		args = "{}"
	case args == "" && !(a.reply && a.cut):
		if args = string(c.Arguments); args == "" {
			args = "{}"
		}
	}
	var fn, item jsonx.Fields
	fn.Str("name", c.Name).Str("arguments", args)
	item.Str("id", c.ID).Str("type", "function").Set("function", fn.Raw())
	extra := jsonx.Of(c.Extra).Get("extra_content")
	item.Set("extra_content", extra.Raw())
	if c.Signature != "" && extra.Path("google", "thought_signature").Str() != c.Signature {
		a.warn(codecs.WarnLossy, i, "the signature of call %d has no place in chat completions; it is left out", len(a.sent))
	}
	a.calls = append(a.calls, item.Raw())
	a.sent = append(a.sent, sentCall{ToolCall: c, came: came, emptied: emptied})
}

// maxID is the length of a call id that OpenAI still takes. Histories from other
// wires have longer ones.
const maxID = 40

// sendableID tells whether the engine takes an id in a history.
func sendableID(id string, p codecs.Profile) bool {
	if p.IDRule == "mistral9" {
		return mistralID(id)
	}
	return len(id) <= maxID
}

// mistralID tells whether Mistral takes an id: nine letters and digits.
func mistralID(id string) bool {
	for _, r := range id {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') {
			return false
		}
	}
	return len(id) == 9
}

func (a *assistantFields) media(i int, p codecs.Part) {
	m := p.Media
	u := m.URI
	if m.Data != "" {
		u = codecs.DataURI(m.MIME, m.Data)
	}
	switch {
	case a.reply && strings.HasPrefix(m.MIME, "image/") && u != "":
		a.images = append(a.images, imageURL(u, p.Extra))
	case !a.reply && strings.HasPrefix(m.MIME, "audio/") && p.ID != "" && a.audio == nil: // OpenAI keeps its own sound under this id
		a.audio = (&jsonx.Fields{}).Str("id", p.ID).Raw()
	case a.reply && strings.HasPrefix(m.MIME, "audio/") && m.Data != "" && a.audio == nil:
		id := p.ID
		if id == "" {
			id = codecs.MadeID(codecs.Raw(m.Data), i, "audio_", "")
		}
		var f jsonx.Fields
		f.Str("id", id).Str("data", codecs.StripSpace(m.Data)).Int("expires_at", madeCreated)
		if e := jsonx.Of(p.Extra).Get("expires_at"); e.Exists() {
			f.Set("expires_at", e.Raw())
		}
		a.audio = f.Str("transcript", p.Text).Raw()
	default:
		line := mediaLine(m)
		a.texts = append(a.texts, textPart(line))
		a.warn(codecs.WarnMediaPlaceholder, i, "%s", line)
	}
}

// fields builds the message. A provider writes its text as one string; in a
// history several texts stay apart.
func (a *assistantFields) fields(joined bool) *jsonx.Fields {
	f := (&jsonx.Fields{}).Str("role", "assistant")
	key := reasoningKey(a.profile)
	if len(a.reasoning) > 0 && key == contentKey {
		a.texts, a.rich = append([]codecs.Raw{thinkingChunk(a.reasoning)}, a.texts...), true
	}
	f.Set("content", a.content(joined))
	if len(a.reasoning) > 0 && key != contentKey {
		f.Str(key, strings.Join(a.reasoning, "\n"))
	}
	if len(a.details) > 0 {
		f.Set(detailsKey, jsonx.List(a.details...))
	}
	if len(a.calls) > 0 {
		f.Set("tool_calls", jsonx.List(a.calls...))
	}
	if len(a.images) > 0 {
		f.Set("images", jsonx.List(a.images...))
	}
	if len(a.executed) > 0 {
		f.Set("executed_tools", jsonx.List(a.executed...))
	}
	f.Set("audio", a.audio)
	return f
}

// thinkingChunk is reasoning as Mistral has it: a chunk of the content list.
func thinkingChunk(reasoning []string) codecs.Raw {
	var f jsonx.Fields
	return f.Str("type", "thinking").Set("thinking", jsonx.List(textPart(strings.Join(reasoning, "\n")))).Raw()
}

func (a *assistantFields) content(joined bool) codecs.Raw {
	switch {
	case len(a.texts) == 0 && len(a.calls) == 0:
		return codecs.Raw(`""`)
	case len(a.texts) == 0:
		if a.reply {
			return codecs.Raw("null")
		}
		return nullContent(a.profile)
	case !a.rich && (joined || len(a.texts) == 1):
		var b strings.Builder
		for _, t := range a.texts {
			b.WriteString(jsonx.Of(t).Get("text").Str())
		}
		return jsonx.Quote(b.String())
	}
	return jsonx.List(a.texts...)
}
