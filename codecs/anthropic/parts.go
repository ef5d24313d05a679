package anthropic

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// requestKeys are the keys beside a block's own that the API takes in a
// request. Others came from another dialect, or are unknown, and are refused.
var requestKeys = []string{"cache_control", "citations", "caller", "title", "context", "source", "toolset_name", "transformations"}

// idShape is what the API takes as the id of a call.
var idShape = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)

// part encodes one part as a block, nil when it has none. Results go into
// t.results; t is nil in a system message, which has no results.
func (c *conversation) part(p codecs.Part, at string, t *turn) codecs.Raw {
	switch p.Kind {
	case codecs.Text:
		return textBlock(p.Text, c.extra(p.Extra, at))
	case codecs.Reasoning:
		return c.reasoning(p, at)
	case codecs.MediaKind:
		if p.Media != nil {
			return c.media(p, at)
		}
	case codecs.CallKind:
		if p.Call != nil && t != nil && t.role == "assistant" {
			return c.call(*p.Call, at)
		}
	case codecs.ResultKind:
		if p.Result != nil && t != nil && t.role == "user" {
			t.results = append(t.results, c.result(*p.Result, c.extra(p.Extra, at), at))
			return nil
		}
	case codecs.Server, codecs.Opaque:
		if carries(p) {
			return p.Extra
		}
	}
	c.warn(codecs.WarnLossy, at, "a %s part %s has no form in this dialect here; it is left out", p.Kind, p.Type)
	return nil
}

// extra keeps the keys of a part that the API takes in a request.
func (c *conversation) extra(extra codecs.Raw, at string) codecs.Raw {
	var f jsonx.Fields
	for _, m := range jsonx.Of(extra).Members() {
		if !slices.Contains(requestKeys, m.Key) {
			c.warn(codecs.WarnLossy, at, "the key %q is left out: it is none of this dialect's requests", m.Key)
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
		c.warn(codecs.WarnReasoningDropped, at, "reasoning is left out: this engine refuses it")
		return nil
	case p.ID != "", p.Signature == "" && (p.Redacted || wanted == ""):
		c.warn(codecs.WarnLossy, at, "reasoning without a signature of this dialect is left out: the API refuses it")
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

func (c *conversation) use(id string) {
	if c.used == nil {
		c.used = map[string]bool{}
	}
	c.used[id] = true
}

func (c *conversation) call(call codecs.ToolCall, at string) codecs.Raw {
	if call.Name == "" {
		c.warn(codecs.WarnCallNameless, at, "left out a call without a name")
		return nil
	}
	ref := &callRef{call: call, wireID: call.ID}
	if !idShape.MatchString(call.ID) || c.used[call.ID] {
		seed := codecs.Raw(at + " " + call.ID + " " + call.Name + " " + call.ArgumentsText)
		ref.wireID = codecs.MadeID(seed, call.Pos, "toolu_", c.profile.IDRule)
		c.warn(codecs.WarnIDMade, at, "the id %q of %s is empty, used before, or of a shape that the API refuses; %s stands in call and result", call.ID, call.Name, ref.wireID)
	}
	c.use(ref.wireID)
	if call.Signature != "" {
		c.warn(codecs.WarnLossy, at, "the signature of the call %s has no place in this dialect", call.Name)
	}
	var f jsonx.Fields
	f.Str("type", typeToolUse).Str("id", ref.wireID).Str("name", call.Name)
	switch {
	case call.Arguments != nil:
		f.Set("input", call.Arguments)
	case c.profile.UndecodableEcho == codecs.UndecodableVerbatim:
		f.Str("input", call.ArgumentsText)
	default:
		f.Set("input", codecs.Raw("{}"))
		ref.emptied = true
		c.warn(codecs.WarnArgumentsEmptied, at, "undecodable arguments of %s go out as {}", call.Name)
	}
	c.pending = append(c.pending, ref)
	return f.Merge(c.extra(call.Extra, at)).Raw()
}

// result encodes a result under the wire id of its call: the call of the latest
// assistant turn at its Pos, else the first unanswered one with its id.
func (c *conversation) result(r codecs.ToolResult, extra codecs.Raw, at string) codecs.Raw {
	var found *callRef
	for _, ref := range c.pending {
		if !ref.taken && ref.call.Pos == r.Pos && (r.ID == "" || ref.call.ID == "" || ref.call.ID == r.ID) {
			found = ref
			break
		}
	}
	for _, ref := range c.pending {
		if found == nil && !ref.taken && r.ID != "" && ref.call.ID == r.ID {
			found = ref
		}
	}
	if found == nil && r.ID == "" { // chat dialects without ids: by name, in order
		for _, ref := range c.pending {
			if found == nil && !ref.taken && (r.Name == "" || r.Name == ref.call.Name) {
				found = ref
			}
		}
	}
	id := r.ID
	if found != nil {
		found.taken, id = true, found.wireID
		if found.emptied {
			r = codecs.RefusedArguments(found.call, r)
		}
	}
	return c.writer.block(id, r, extra, at)
}

// media encodes an image or a document of a prompt; what the dialect or the
// model has no form for becomes a line of text.
func (c *conversation) media(p codecs.Part, at string) codecs.Raw {
	m, extra := *p.Media, c.extra(p.Extra, at)
	if mime, data, ok := codecs.SplitDataURI(m.URI); ok && m.Data == "" {
		m.MIME, m.Data, m.URI = mime, data, ""
	}
	mime := m.MIME
	if mime == "" {
		mime = codecs.LinkMIME(m.URI)
	}
	typ := p.Type
	if typ != typeImage && typ != typeDocument {
		typ = typeDocument
		if strings.HasPrefix(mime, "image/") {
			typ = typeImage
		}
	}
	var source codecs.Raw
	web := strings.HasPrefix(m.URI, "https://") || strings.HasPrefix(m.URI, "http://")
	switch {
	case jsonx.Of(extra).Get("source").Exists():
		source = jsonx.Of(extra).Get("source").Raw()
	case m.Data != "" && (codecs.ImageMIME(m.MIME) || m.MIME == codecs.PDFMIME):
		source = base64Source(m.MIME, m.Data)
	case m.Data != "" && strings.HasPrefix(m.MIME, "text/"):
		if text, ok := decodeText(m.Data); ok && text != "" {
			source = textSource(text)
		}
	case m.Data == "" && web && (p.Type == typ || codecs.ImageMIME(mime) || mime == codecs.PDFMIME):
		source = (&jsonx.Fields{}).Str("type", "url").Str("url", m.URI).Raw()
	}
	off := c.profile.PromptImages == codecs.MediaPlaceholder
	if typ == typeDocument {
		off = c.profile.PromptPDF == codecs.MediaPlaceholder && jsonx.Of(source).Get("type").Str() != "text"
	}
	if source == nil || off {
		line := placeholder(m)
		c.warn(codecs.WarnMediaPlaceholder, at, "%s goes out as a line of text", line)
		return textBlock(line, nil)
	}
	var f jsonx.Fields
	f.Str("type", typ).Set("source", source)
	if typ == typeDocument && m.Name != "" {
		f.Str("title", m.Name)
	}
	return f.Merge(extra).Raw()
}

// placeholder is the line that stands for media of a prompt.
func placeholder(m codecs.Media) string {
	it := codecs.Item{Kind: codecs.ItemBlob, Type: "resource", MIME: m.MIME, URI: m.URI, Data: m.Data}
	major, _, _ := strings.Cut(m.MIME, "/")
	switch {
	case m.Data == "" && m.Name != "":
		it.Type, it.MIME = "resource_link", m.Name
	case major == "image", major == "audio":
		it.Type = major
	}
	return it.Placeholder()
}

// madeDigest is a short stable word for things that need an id and have none.
func madeDigest(prefix string, parts ...string) string {
	seed, _ := json.Marshal(parts) // strings always marshal
	return codecs.MadeID(seed, 0, prefix, "")
}
