package openai

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// assistantFields encodes the parts of an assistant message, for a history
// that is sent and for a reply that is rendered.
type assistantFields struct {
	profile codecs.Profile
	at      string     // pointer of the parts, for warnings
	seed    codecs.Raw // what made ids depend on
	reply   bool       // rendered as a provider, which may attach media
	cut     bool       // a reply that the limit ended: empty arguments stay empty

	texts     []chunk // of the content
	rich      bool    // content has a chunk that a string cannot carry
	reasoning []string
	details   []codecs.Raw
	calls     []codecs.Raw
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
		case codecs.KindText:
			a.texts = append(a.texts, chunk{text: p.Text})
			if cached(p) {
				a.texts[len(a.texts)-1].raw = cachedText(p)
			}
			a.left(i, p.Extra, "cache_control")
			a.rich = a.rich || cached(p)
		case codecs.KindReasoning:
			a.think(i, p)
		case codecs.KindCall:
			if p.Call == nil {
				return fmt.Errorf("parts[%d]: a call part without a call", i)
			}
			a.call(i, *p.Call)
		case codecs.KindClient:
			if p.Type == "custom" && isCustom(jsonx.Of(p.Extra)) {
				a.calls = append(a.calls, p.Extra)
			} else {
				a.warn(codecs.WarnLossy, i, "chat completions has no call of type %q; it is left out", p.Type)
			}
		case codecs.KindMedia:
			if p.Media == nil {
				return fmt.Errorf("parts[%d]: a media part without media", i)
			}
			a.media(i, p)
		case codecs.KindServer:
			if e := jsonx.Of(p.Extra); a.reply && e.Get("arguments").Exists() && e.Get("output").Exists() {
				a.executed = append(a.executed, p.Extra)
			} else {
				a.warn(codecs.WarnLossy, i, "chat completions has no item of type %q; it is left out", p.Type)
			}
		case codecs.KindOpaque:
			if p.Type == typeRefusal && a.reply {
				continue // the finish message has its words
			}
			if chatPart(p) {
				a.texts, a.rich = append(a.texts, chunk{raw: p.Extra}), true
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
	case p.Type == summarized && jsonx.Of(p.Extra).Get("summary").IsArray():
		a.texts, a.rich = append(a.texts, chunk{raw: (&jsonx.Fields{}).Str("type", summarized).Merge(p.Extra).Raw()}), true
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
	if rest := wire.Without(jsonx.Of(extra), known...); rest != nil {
		a.warn(codecs.WarnLossy, i, "chat completions has no place for %s", brief(rest))
	}
}

func (a *assistantFields) call(i int, c codecs.ToolCall) {
	if c.ID == "" {
		seed := append(append(codecs.Raw(nil), a.seed...), c.Name+c.ArgumentsText+string(c.Arguments)...)
		c.ID = wire.MadeID(seed, len(a.calls), "call_", a.profile.IDRule)
		a.warn(codecs.WarnIDMade, i, "call %d came without an id; %s was made", len(a.calls), c.ID)
	}
	a.left(i, c.Extra, "extra_content")
	args := c.ArgumentsText
	switch {
	case !a.reply && a.profile.UndecodableEcho == codecs.UndecodableEmpty && (c.Arguments == nil && args != "" || string(c.Arguments) == "{}"):
		if c.Arguments == nil {
			a.warn(codecs.WarnArgumentsEmptied, i, "the arguments of call %d do not decode (%s); they go out as {}", len(a.calls), c.ArgumentsErr)
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
		a.warn(codecs.WarnLossy, i, "the signature of call %d has no place in chat completions; it is left out", len(a.calls))
	}
	a.calls = append(a.calls, item.Raw())
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
		u = wire.DataURI(m.MIME, m.Data)
	}
	switch {
	case a.reply && strings.HasPrefix(m.MIME, "image/") && u != "":
		a.images = append(a.images, imageURL(u, p.Extra))
	case !a.reply && strings.HasPrefix(m.MIME, "audio/") && p.ID != "" && a.audio == nil: // OpenAI keeps its own sound under this id
		a.audio = (&jsonx.Fields{}).Str("id", p.ID).Raw()
	case a.reply && strings.HasPrefix(m.MIME, "audio/") && m.Data != "" && a.audio == nil:
		id := p.ID
		if id == "" {
			id = wire.MadeID(codecs.Raw(m.Data), i, "audio_", "")
		}
		var f jsonx.Fields
		f.Str("id", id).Str("data", wire.StripSpace(m.Data)).Int("expires_at", madeCreated)
		if e := jsonx.Of(p.Extra).Get("expires_at"); e.Exists() {
			f.Set("expires_at", e.Raw())
		}
		a.audio = f.Str("transcript", p.Text).Raw()
	default:
		line := wire.MediaLine(*m)
		a.texts = append(a.texts, chunk{text: line})
		a.warn(codecs.WarnMediaPlaceholder, i, "%s", line)
	}
}

// fields builds the message. A provider writes its text as one string; in a
// history several texts stay apart.
func (a *assistantFields) fields(joined bool) *jsonx.Fields {
	f := (&jsonx.Fields{}).Str("role", "assistant")
	key := reasoningKey(a.profile)
	if len(a.reasoning) > 0 && key == contentKey {
		a.texts, a.rich = append([]chunk{{raw: thinkingChunk(a.reasoning)}}, a.texts...), true
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
			b.WriteString(t.text)
		}
		return jsonx.Quote(b.String())
	}
	list := make([]codecs.Raw, len(a.texts))
	for i, t := range a.texts {
		if list[i] = t.raw; t.raw == nil {
			list[i] = textPart(t.text)
		}
	}
	return jsonx.List(list...)
}

// chunk is a piece of the content: a text, or what raw has.
type chunk struct {
	raw  codecs.Raw
	text string
}

// filled is wire.Without, and null members left out too.
func filled(v jsonx.Value, keys ...string) codecs.Raw {
	for _, m := range v.Members() {
		if !m.Value.Defined() {
			keys = append(keys, m.Key)
		}
	}
	return wire.Without(v, keys...)
}

// joined appends the members of the object rest, whose keys are not in object.
func joined(object, rest codecs.Raw) codecs.Raw {
	if len(rest) <= len("{}") {
		return object
	}
	return append(append(object[:len(object)-1:len(object)-1], ','), rest[1:]...)
}

// replaced returns the object v with one member set; every other value keeps
// its bytes.
func replaced(v jsonx.Value, key string, value codecs.Raw) codecs.Raw {
	members := v.Members()
	for i, m := range members {
		if m.Key == key {
			members[i].Value = jsonx.Of(value)
			return wire.Object(members)
		}
	}
	return wire.Object(append(members, jsonx.Member{Key: key, Value: jsonx.Of(value)}))
}

// writer encodes the messages of a request.
type writer struct {
	wire.Notes
	profile codecs.Profile
	out     []codecs.Raw
	follow  followUps // media of the results written last, not sent yet
}

// flush sends pending media: after the last result of a turn.
func (w *writer) flush() {
	if m := w.follow.message(); m != nil {
		w.out = append(w.out, m)
	}
}

func (w *writer) message(m wire.Message) error {
	if m.Native != nil {
		for j, n := range m.Native {
			if err := jsonx.Check(n); err != nil {
				return fmt.Errorf("native[%d]: %w", j, err)
			}
			switch jsonx.Of(n).Get("role").Str() {
			case "tool", "function":
			default:
				w.flush()
			}
			w.out = append(w.out, n)
		}
		return nil
	}
	if m.Role == "assistant" {
		w.flush()
		return w.assistant(m)
	}
	if m.Role != "system" && m.Role != "user" && m.Role != "tool" {
		return fmt.Errorf("role %q is none of system, user, assistant, tool", m.Role)
	}
	if m.Results() {
		for j, part := range m.Parts {
			w.result(*part.Result, m.Part(j))
		}
		return nil
	}
	w.flush()
	role := m.Role
	if role == "tool" { // a tool message holds results only
		role = "user"
		w.Warn(codecs.WarnLossy, m.At(), "what is no result of a tool message goes out in a user message")
	}
	content, err := w.content(m, role)
	if err != nil {
		return err
	}
	var f jsonx.Fields
	w.out = append(w.out, f.Str("role", role).Set("content", content).Raw())
	return nil
}

// content encodes the parts of a system or user message: one text as a string,
// anything else as a list.
func (w *writer) content(m wire.Message, role string) (codecs.Raw, error) {
	if len(m.Parts) == 0 {
		return codecs.Raw(`""`), nil
	}
	if p := m.Parts[0]; len(m.Parts) == 1 && p.Kind == codecs.KindText && len(p.Extra) == 0 {
		return jsonx.Quote(p.Text), nil
	}
	var list []codecs.Raw
	plain := true
	for j, part := range m.Parts {
		ptr := m.Part(j)
		switch part.Kind {
		case codecs.KindText:
			list = append(list, cachedText(part))
			if rest := wire.Without(jsonx.Of(part.Extra), "cache_control"); rest != nil {
				w.Warn(codecs.WarnLossy, ptr, "chat completions has no place for %s", brief(rest))
			}
			plain = plain && !cached(part)
		case codecs.KindMedia:
			if part.Media == nil {
				return nil, fmt.Errorf("parts[%d]: a media part without media", j)
			}
			raw, ok := promptMedia(part, w.profile)
			if ok && role == "user" {
				plain = false
				list = append(list, raw)
				continue
			}
			line := wire.MediaLine(*part.Media)
			w.Warn(codecs.WarnMediaPlaceholder, ptr, "%s", line)
			list = append(list, textPart(line))
		case codecs.KindOpaque:
			if !chatPart(part) {
				w.Warn(codecs.WarnLossy, ptr, "chat completions has no part of type %q; it is left out", part.Type)
				continue
			}
			plain = false
			list = append(list, part.Extra)
		default:
			w.Warn(codecs.WarnLossy, ptr, "a %s message cannot carry a %s part; it is left out", role, part.Kind)
		}
	}
	if len(list) == 0 {
		return codecs.Raw(`""`), nil
	}
	if len(list) == 1 && plain {
		return jsonx.Quote(jsonx.Of(list[0]).Get("text").Str()), nil
	}
	return jsonx.List(list...), nil
}

// brief names the keys of an object, for warnings.
func brief(object codecs.Raw) string {
	var keys []string
	for _, m := range jsonx.Of(object).Members() {
		if keys = append(keys, m.Key); len(keys) == 8 {
			break
		}
	}
	return strings.Join(keys, ", ")
}

// cached tells whether a text part carries a cache mark (Anthropic and Gemini
// behind OpenRouter), the one further key of a text part that hosts take.
func cached(p codecs.Part) bool { return jsonx.Of(p.Extra).Get("cache_control").Defined() }

func cachedText(p codecs.Part) codecs.Raw {
	var f jsonx.Fields
	f.Str("type", "text").Str("text", p.Text)
	if cached(p) {
		f.Set("cache_control", jsonx.Of(p.Extra).Get("cache_control").Raw())
	}
	return f.Raw()
}

// chatPart tells whether an opaque part is a content part of this dialect, and
// not a block that a history brought from another one.
func chatPart(p codecs.Part) bool {
	if jsonx.Of(p.Extra).Get("type").Str() != p.Type {
		return false
	}
	switch p.Type {
	case "file", "input_audio", "input_video", "reference", "video":
		return true
	}
	return strings.HasSuffix(p.Type, "_url")
}

// assistant encodes an assistant message from its parts.
func (w *writer) assistant(m wire.Message) error {
	a := assistantFields{profile: w.profile, at: m.At() + "/parts"}
	if err := a.read(m.Parts); err != nil {
		return err
	}
	w.Warnings = append(w.Warnings, a.warnings...)
	f := a.fields(false)
	if w.profile.ReasoningEcho == codecs.EchoRequiredEvenEmpty && len(a.calls) > 0 {
		if key := reasoningKey(w.profile); !f.Has(key) {
			f.Str(key, "")
		}
	}
	w.out = append(w.out, f.Raw())
	return nil
}

// digest stands for a long seed where an id is made for each of many calls.
func digest(seed string) codecs.Raw {
	h := fnv.New64a()
	h.Write([]byte(seed))
	return codecs.Raw(strconv.FormatUint(h.Sum64(), 36))
}
