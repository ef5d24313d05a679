package gemini

import (
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// part encodes one part of a message built from parts; nil when the dialect has
// no form for it, which is a warning.
func (e *encoder) part(p codecs.Part, model bool, pointer string) codecs.Raw {
	switch p.Kind {
	case codecs.Text:
		return e.signed(textFields(p.Text), p, pointer)
	case codecs.Reasoning:
		// An item id or hidden text belong to another provider, and so does the
		// signature beside them.
		if p.Redacted || p.ID != "" || !model {
			e.warn(codecs.WarnLossy, pointer, "reasoning of another provider is left out")
			return nil
		}
		if e.profile.ReasoningEcho == codecs.EchoRefused {
			e.warn(codecs.WarnReasoningDropped, pointer, "this engine refuses thoughts in the history: one is left out")
			return nil
		}
		return e.signed(textFields(p.Text).Bool("thought", true), p, pointer)
	case codecs.MediaKind:
		if p.Media == nil {
			return nil
		}
		return e.media(p, pointer)
	case codecs.CallKind:
		if p.Call == nil || !model {
			e.warn(codecs.WarnLossy, pointer, "a call belongs into an assistant message; it is left out")
			return nil
		}
		return e.call(p, pointer)
	case codecs.Server, codecs.Client, codecs.Opaque:
		if ownBlock(p.Extra) {
			return p.Extra
		}
		e.warn(codecs.WarnLossy, pointer, "a %s part of type %q has no form in this dialect", p.Kind, p.Type)
		return nil
	default:
		e.warn(codecs.WarnLossy, pointer, "a %s part has no place here; it is left out", p.Kind)
		return nil
	}
}

func textFields(s string) *jsonx.Fields { return (&jsonx.Fields{}).Str("text", s) }

// signed finishes a part: the signature, then the siblings that the dialect
// knows.
func (e *encoder) signed(f *jsonx.Fields, p codecs.Part, pointer string) codecs.Raw {
	if p.Signature != "" {
		f.Str("thoughtSignature", p.Signature)
	}
	e.siblings(f, p.Extra, siblingKeys, pointer)
	return f.Raw()
}

// siblings adds the members of extra that this dialect knows. Others come from
// another one, and the provider refuses names that it does not know.
func (e *encoder) siblings(f *jsonx.Fields, extra codecs.Raw, known []string, pointer string) {
	for _, m := range jsonx.Of(extra).Members() {
		if slices.Contains(known, camel(m.Key)) {
			f.Set(camel(m.Key), m.Value.Raw())
		} else {
			e.warn(codecs.WarnLossy, pointer, "%s has no form in this dialect", m.Key)
		}
	}
}

// callKeys are members of a functionCall beside id, name and args.
var callKeys = []string{"partialArgs", "willContinue"}

// call encodes a functionCall. args is an object on this wire: arguments that do
// not decode cannot be said and become {}; args that were absent stay absent.
func (e *encoder) call(p codecs.Part, pointer string) codecs.Raw {
	c := *p.Call
	var fc, out jsonx.Fields
	if c.ID != "" {
		fc.Str("id", c.ID)
	}
	fc.Str("name", c.Name)
	switch {
	case undecodable(c):
		fc.Set("args", codecs.Raw("{}"))
		e.warn(codecs.WarnArgumentsEmptied, pointer, "arguments of %s do not decode; args is {}", c.Name)
	case c.ArgumentsText != "":
		fc.Set("args", c.Arguments)
	}
	signature := signatureOf(c)
	extra := c.Extra
	if signature != c.Signature { // it came in the compatibility layer's own envelope
		extra = withoutKey(jsonx.Of(extra), "extra_content")
	}
	e.siblings(&fc, extra, callKeys, pointer)
	out.Set("functionCall", fc.Raw())
	if signature != "" {
		out.Str("thoughtSignature", signature)
	}
	e.siblings(&out, p.Extra, siblingKeys, pointer)
	return out.Raw()
}

// undecodable tells whether a call has arguments that are no object.
func undecodable(c codecs.ToolCall) bool {
	return c.ArgumentsErr != "" || c.Arguments == nil && c.ArgumentsText != ""
}

// signatureOf is the signature of a call, also where Gemini's own chat
// completions layer put it.
func signatureOf(c codecs.ToolCall) string {
	if c.Signature != "" {
		return c.Signature
	}
	return jsonx.Of(c.Extra).Path("extra_content", "google", "thought_signature").Str()
}

// ownBlock tells whether a raw block is a part of this dialect: every other
// dialect names the type of a block in a member called type.
func ownBlock(raw codecs.Raw) bool {
	v := jsonx.Of(raw)
	return v.IsObject() && v.Len() > 0 && !v.Get("type").Exists() && !v.Get("role").Exists()
}

// mediaItem is a prompt's media as an item, for its placeholder.
func mediaItem(m *codecs.Media) codecs.Item {
	typ := mediaType(m.MIME)
	if typ != "image" && typ != "audio" && typ != "video" {
		typ = "resource"
	}
	return codecs.Item{Kind: codecs.ItemBlob, Type: typ, MIME: m.MIME, URI: m.URI, Data: m.Data}
}

// media encodes a prompt's media as inlineData or fileData, or as a placeholder
// where the model or the provider does not take it.
func (e *encoder) media(p codecs.Part, pointer string) codecs.Raw {
	m := p.Media
	native := takesPrompt(m.MIME)
	switch {
	case mediaType(m.MIME) == "image" && e.profile.PromptImages == codecs.MediaPlaceholder,
		m.MIME == codecs.PDFMIME && e.profile.PromptPDF == codecs.MediaPlaceholder:
		native = false
	case m.Data == "":
		native = fetchable(m.URI) && (native || m.MIME == "")
	}
	var out jsonx.Fields
	switch {
	case !native:
		line := mediaItem(m).Placeholder()
		e.warn(codecs.WarnMediaPlaceholder, pointer, "%s", line)
		out.Str("text", line)
	case m.Data != "":
		return e.signed(out.Merge(inlinePart(m.MIME, m.Data, m.Name)), p, pointer)
	default:
		return e.signed(out.Merge(filePartOf(m.MIME, m.URI, m.Name)), p, pointer)
	}
	return out.Raw()
}

// takesPrompt tells whether a prompt takes this type. Types are compared
// exactly: the provider refuses image/jpg and image/gif.
func takesPrompt(mime string) bool {
	switch mediaType(mime) {
	case "image":
		return slices.Contains(promptImages, mime)
	case "audio", "video", "text":
		return true
	}
	return mime == codecs.PDFMIME || mime == "application/json"
}

// fetchable tells whether the provider can reach a URI.
func fetchable(uri string) bool {
	scheme, _, found := strings.Cut(uri, "://")
	return found && (scheme == "https" || scheme == "http" || scheme == "gs")
}
