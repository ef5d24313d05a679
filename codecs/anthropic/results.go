package anthropic

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// resultWriter encodes tool results under a profile. Media that the engine
// takes only outside a result collect in after.
type resultWriter struct {
	wire.Notes
	p         codecs.Profile
	documents bool // document and search_result blocks inside a result
	after     []codecs.Raw
}

func newResultWriter(p codecs.Profile) *resultWriter {
	w := &resultWriter{p: p, documents: p.ResultDocuments != codecs.MediaPlaceholder}
	// A PDF travels as a document block, whatever the engine does with images.
	if w.p.ResultPDF == "" && !w.documents {
		w.p.ResultPDF = codecs.MediaPlaceholder
	}
	return w
}

// block encodes one tool_result block. id is the wire id of its call. is_error
// is sent only when it is true. extra holds keys of the block itself, such as
// cache_control.
func (w *resultWriter) block(id string, r codecs.ToolResult, extra codecs.Raw, at string) codecs.Raw {
	var f jsonx.Fields
	f.Str("type", typeToolResult).Str("tool_use_id", id).Set("content", w.content(r, at))
	if r.IsError {
		f.Bool("is_error", true)
	}
	return f.Merge(extra).Raw()
}

// content encodes the content of a result: a list of blocks in order. The API
// refuses empty text blocks, so they are left out; when nothing remains, the
// content is the JSON text of the structured content, or "".
func (w *resultWriter) content(r codecs.ToolResult, at string) codecs.Raw {
	var blocks []codecs.Raw
	for i, it := range wire.ResultItems(r) {
		if b := w.item(it, r, fmt.Sprintf("%s/content/%d", at, i)); b != nil {
			blocks = append(blocks, b)
		}
	}
	if len(blocks) == 0 {
		return jsonx.Quote(wire.StructuredText(r))
	}
	return jsonx.List(blocks...)
}

// item encodes one block of a result, nil for an empty text.
func (w *resultWriter) item(it wire.Item, r codecs.ToolResult, at string) codecs.Raw {
	switch it.Kind {
	case wire.ItemText:
		return textBlock(it.Text, cacheControl(it.Raw))
	case wire.ItemDocument:
		if !w.documents {
			return textBlock(it.Text, nil)
		}
		if it.Text == "" {
			return nil
		}
		return documentText(it.Text)
	case wire.ItemBlob:
		return w.blob(it, r, at)
	case wire.ItemNative:
		return w.native(it, at)
	}
	if it.Type == "tool_reference" && jsonx.Of(it.Raw).Get("tool_name").Str() != "" {
		return it.Raw // the answer of a tool search that the client runs
	}
	w.Placed(it, codecs.MediaPlaceholder, at)
	return textBlock(it.Text, nil)
}

func (w *resultWriter) blob(it wire.Item, r codecs.ToolResult, at string) codecs.Raw {
	block := sourceBlock(typeImage, base64Source(it.MIME, it.Data))
	if it.MIME == wire.PDFMIME {
		block = sourceBlock(typeDocument, base64Source(it.MIME, it.Data))
	}
	mode := wire.Place(it, w.p, codecs.MediaNative)
	w.Placed(it, mode, at)
	switch mode {
	case codecs.MediaNative:
		return block
	case codecs.MediaFollowUp:
		name := cmp.Or(r.Name, "a call")
		w.after = append(w.after, textBlock("From the result of "+name+": "+it.Placeholder(), nil), block)
	}
	return textBlock(it.Placeholder(), nil)
}

// native passes on a block that is in this dialect's own form already. An image
// block always goes; documents and search results only where the engine takes
// them.
func (w *resultWriter) native(it wire.Item, at string) codecs.Raw {
	keep := w.documents
	switch {
	case it.Type == typeImage:
		keep = true
	case it.Type == typeDocument && it.MIME == wire.PDFMIME:
		keep = cmp.Or(w.p.ResultPDF, codecs.MediaNative) == codecs.MediaNative
	}
	if keep {
		return it.Raw
	}
	w.Placed(it, codecs.MediaPlaceholder, at)
	return textBlock(it.Text, nil)
}

// textBlock builds a text block, nil for a text of nothing but white space, which
// the API refuses.
func textBlock(text string, extra codecs.Raw) codecs.Raw {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	return (&jsonx.Fields{}).Str("type", typeText).Str("text", text).Merge(extra).Raw()
}

// cacheControl returns {"cache_control":...} of a block that has one. Other
// keys of an MCP block (annotations, _meta) are no keys of this dialect.
func cacheControl(block codecs.Raw) codecs.Raw {
	cc := jsonx.Of(block).Get("cache_control").Raw()
	if cc == nil {
		return nil
	}
	return (&jsonx.Fields{}).Set("cache_control", cc).Raw()
}

func sourceBlock(typ string, source codecs.Raw) codecs.Raw {
	return (&jsonx.Fields{}).Str("type", typ).Set("source", source).Raw()
}

func base64Source(mime, data string) codecs.Raw {
	return (&jsonx.Fields{}).Str("type", "base64").Str("media_type", mime).Str("data", wire.StripSpace(data)).Raw()
}

func textSource(text string) codecs.Raw {
	return (&jsonx.Fields{}).Str("type", "text").Str("media_type", "text/plain").Str("data", text).Raw()
}

func documentText(text string) codecs.Raw { return sourceBlock(typeDocument, textSource(text)) }

// decodeText returns the text of base64 data, bad UTF-8 replaced.
func decodeText(data string) (string, bool) {
	data = strings.TrimRight(wire.StripSpace(data), "=")
	raw, err := base64.RawStdEncoding.DecodeString(data)
	if err != nil {
		return "", false
	}
	return strings.ToValidUTF8(string(raw), "\uFFFD"), true
}

// media encodes an image or a document of a prompt; what the dialect or the
// model has no form for becomes a line of text.
func (c *conversation) media(p codecs.Part, at string) codecs.Raw {
	m, extra := *p.Media, c.extra(p.Extra, at)
	if mime, data, ok := wire.SplitDataURI(m.URI); ok && m.Data == "" {
		m.MIME, m.Data, m.URI = mime, data, ""
	}
	mime := m.MIME
	if mime == "" {
		mime = wire.LinkMIME(m.URI)
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
	case m.Data != "" && (wire.ImageMIME(m.MIME) || m.MIME == wire.PDFMIME):
		source = base64Source(m.MIME, m.Data)
	case m.Data != "" && strings.HasPrefix(m.MIME, "text/"):
		if text, ok := decodeText(m.Data); ok && text != "" {
			source = textSource(text)
		}
	case m.Data == "" && web && (p.Type == typ || wire.ImageMIME(mime) || mime == wire.PDFMIME):
		source = (&jsonx.Fields{}).Str("type", "url").Str("url", m.URI).Raw()
	}
	off := c.profile.PromptImages == codecs.MediaPlaceholder
	if typ == typeDocument {
		off = c.profile.PromptPDF == codecs.MediaPlaceholder && jsonx.Of(source).Get("type").Str() != "text"
	}
	if source == nil || off {
		line := wire.MediaLine(m)
		c.Warn(codecs.WarnMediaPlaceholder, at, "%s goes out as a line of text", line)
		return textBlock(line, nil)
	}
	var f jsonx.Fields
	f.Str("type", typ).Set("source", source)
	if typ == typeDocument && m.Name != "" {
		f.Str("title", m.Name)
	}
	return f.Merge(extra).Raw()
}
