package gemini

import (
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// media encodes a prompt's media as inlineData or fileData, or as a placeholder
// where the model or the provider does not take it.
func (e *encoder) media(p codecs.Part, pointer string) codecs.Raw {
	m := p.Media
	native := takesPrompt(m.MIME)
	switch {
	case mediaType(m.MIME) == "image" && e.profile.PromptImages == codecs.MediaPlaceholder,
		m.MIME == wire.PDFMIME && e.profile.PromptPDF == codecs.MediaPlaceholder:
		native = false
	case m.Data == "":
		native = fetchable(m.URI) && (native || m.MIME == "")
	}
	var out jsonx.Fields
	switch {
	case !native:
		line := wire.MediaLine(*m)
		e.Warn(codecs.WarnMediaPlaceholder, pointer, "%s", line)
		out.Str("text", line)
	case m.Data != "":
		return e.signed(out.Merge(inlinePart(m.MIME, m.Data, e.displayName(m.Name, pointer))), p, pointer)
	default:
		return e.signed(out.Merge(filePartOf(m.MIME, m.URI, e.displayName(m.Name, pointer))), p, pointer)
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
	return mime == wire.PDFMIME || mime == "application/json"
}

// fetchable tells whether the provider can reach a URI.
func fetchable(uri string) bool {
	scheme, _, found := strings.Cut(uri, "://")
	return found && (scheme == "https" || scheme == "http" || scheme == "gs")
}

// addResults writes a message of results as one content.
func (e *encoder) addResults(m wire.Message) {
	e.flushModel()
	var parts, followUp []codecs.Raw
	for j, p := range m.Parts {
		var id codecs.Raw
		if p.Result.ID != "" {
			id = jsonx.Quote(p.Result.ID)
		}
		part, more := encodeResult(*p.Result, id, e.profile, &e.Notes, m.Part(j))
		parts, followUp = append(parts, part), append(followUp, more...)
	}
	e.contents = append(e.contents, content("user", parts))
	if len(followUp) > 0 {
		e.contents = append(e.contents, content("user", followUp))
	}
}

// resultImages are the image types that a function response takes. GIF is not
// among them. Source: multimodal function responses, Gemini 3.
var resultImages = []string{"image/png", "image/jpeg", "image/webp"}

// promptImages are the image types that a prompt takes.
var promptImages = []string{"image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"}

// mediaMode tells how one item of a result travels: native, placeholder or
// follow_up; "" for items that are no payload.
func mediaMode(it wire.Item, p codecs.Profile) string {
	if it.Kind != wire.ItemBlob {
		return ""
	}
	if it.MIME != wire.PDFMIME && !slices.Contains(resultImages, it.MIME) {
		return codecs.MediaPlaceholder
	}
	return wire.Place(it, p, codecs.MediaNative)
}

// encodeResult builds one functionResponse part. followUp holds the parts of
// the user content that comes after all responses, for models that take no media
// inside a response. id is the wire spelling of the call's id, nil for none.
//
// response is the structured content when that is an object, else
// {"result": text}. Native media leave the text; every other payload is a
// placeholder line in it. Beside structured content, which has no room for
// lines, what is not text stands under a key of its own.
func encodeResult(r codecs.ToolResult, id codecs.Raw, p codecs.Profile, notes *wire.Notes, pointer string) (part codecs.Raw, followUp []codecs.Raw) {
	items := wire.ResultItems(r)
	structured := jsonx.Of(r.Structured)
	var lines, beside []string
	var native []codecs.Raw
	for _, it := range items {
		if part := filePart(it, p); part != nil {
			native = append(native, part)
			continue
		}
		mode := mediaMode(it, p)
		switch mode {
		case codecs.MediaNative:
			native = append(native, inlinePart(it.MIME, it.Data, ""))
			continue
		case codecs.MediaFollowUp:
			var label jsonx.Fields
			followUp = append(followUp, label.Str("text", it.Placeholder()+" from "+r.Name+":").Raw(), inlinePart(it.MIME, it.Data, ""))
		}
		notes.Placed(it, mode, pointer)
		lines = append(lines, it.String())
		if it.Kind != wire.ItemText {
			beside = append(beside, it.String())
		} else if structured.IsObject() && !covers(structured, it.Text) {
			notes.Warn(codecs.WarnLossy, pointer, "text of the result differs from its structured content, which is sent in its place")
		}
	}
	var response jsonx.Fields
	var raw codecs.Raw
	switch {
	case structured.IsObject() && len(beside) == 0:
		raw = structured.Raw()
	case structured.IsObject():
		raw = response.Merge(structured.Raw()).Str(freeKey(structured), strings.Join(beside, "\n")).Raw()
	case len(items) == 0:
		raw = response.Str(textKey(r, p), wire.StructuredText(r)).Raw()
	default:
		raw = response.Str(textKey(r, p), strings.Join(lines, "\n")).Raw()
	}
	var fr, out jsonx.Fields
	fr.Set("id", id).Str("name", r.Name).Set("response", raw)
	if len(native) > 0 {
		fr.Set("parts", jsonx.List(native...))
	}
	return out.Set("functionResponse", fr.Raw()).Raw(), followUp
}

// textKey names the member of response that holds the text.
func textKey(r codecs.ToolResult, p codecs.Profile) string {
	if r.IsError && p.ErrorKey != "" {
		return p.ErrorKey
	}
	return "result"
}

// covers tells whether structured content says what a text block says: the text
// is its JSON, or the value of one of its members.
func covers(structured jsonx.Value, text string) bool {
	if text == "" || jsonx.Equal(structured.Raw(), []byte(text)) {
		return true
	}
	for _, m := range structured.Members() {
		if s, ok := m.Value.Text(); ok && s == text {
			return true
		}
	}
	return false
}

// freeKey names a member that an object does not have yet.
func freeKey(v jsonx.Value) string {
	key := "result"
	for v.Get(key).Exists() {
		key += "_content"
	}
	return key
}

// filePart is the fileData part of a link that was one before, nil for others
// and for a model that takes no media inside a response.
func filePart(it wire.Item, p codecs.Profile) codecs.Raw {
	v := jsonx.Of(it.Raw)
	if it.Type != "resource_link" || !v.Get("_meta").Get(fileDataMark).Bool() {
		return nil
	}
	mode := p.ResultImages
	if it.MIME == wire.PDFMIME {
		mode = p.ResultPDF
	}
	if mode != "" && mode != codecs.MediaNative {
		return nil
	}
	name := v.Get("name").Str()
	if !p.DisplayName {
		name = ""
	}
	return filePartOf(it.MIME, it.URI, name)
}

// displayName is the name of media as it goes out: the Gemini API refuses the
// member, Vertex takes it.
func (e *encoder) displayName(name, pointer string) string {
	if name != "" && !e.profile.DisplayName {
		e.Warn(codecs.WarnLossy, pointer, "the name %q of the media stays here: this API takes no displayName", name)
		return ""
	}
	return name
}

// filePartOf builds {"fileData":{...}}.
func filePartOf(mime, uri, name string) codecs.Raw {
	var d, out jsonx.Fields
	if mime != "" {
		d.Str("mimeType", mime)
	}
	d.Str("fileUri", uri)
	if name != "" {
		d.Str("displayName", name)
	}
	return out.Set("fileData", d.Raw()).Raw()
}

// inlinePart builds {"inlineData":{...}}.
func inlinePart(mime, data, name string) codecs.Raw {
	var d, out jsonx.Fields
	d.Str("mimeType", mime).Str("data", wire.StripSpace(data))
	if name != "" {
		d.Str("displayName", name)
	}
	return out.Set("inlineData", d.Raw()).Raw()
}

// mediaType is the part of a MIME type before the slash.
func mediaType(mime string) string {
	typ, _, _ := strings.Cut(mime, "/")
	return typ
}
