package wire

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// ItemKind tells what an Item of a tool result is.
type ItemKind int

// The kinds of an Item.
const (
	ItemText     ItemKind = iota // text of its own
	ItemDocument                 // text of an embedded resource
	ItemBlob                     // payload with a MIME type: image, audio, embedded blob
	ItemNative                   // a block in anthropic's own form
	ItemNote                     // a placeholder stands for it on every wire
)

// Item is one content block of a tool result, read for the mapping to a wire.
type Item struct {
	Kind ItemKind
	Type string // block type: text, image, audio, resource, resource_link, document, search_result, ...
	Text string // ItemText, ItemDocument; for ItemNative the text that stands for it; for ItemNote its placeholder
	MIME string
	URI  string
	Data string // base64 as it came
	Raw  codecs.Raw

	forUser bool // its audience is the user and nobody else
}

// ReadItems reads MCP content blocks. It accepts every block: one that it does
// not know becomes a note, never silence. Source: spec 1.4 of the source
// documents.
func ReadItems(content []codecs.Raw) []Item {
	out := make([]Item, 0, len(content))
	for _, block := range content {
		out = append(out, readItem(block))
	}
	return out
}

// ResultItems reads the blocks of a result as they go out. A block that is for
// the user alone is a line that says so, unless it is all that there is; a failed
// result that says nothing says that, since an empty one reads as a success on
// wires without a flag and is refused on the others.
func ResultItems(r codecs.ToolResult) []Item {
	items := ReadItems(r.Content)
	shown := 0
	for _, it := range items {
		if it.forUser {
			shown++
		}
	}
	for i, it := range items {
		if shown < len(items) && it.forUser {
			items[i] = Item{Kind: ItemNote, Type: it.Type, Text: "[" + it.Type + "] shown to the user", Raw: it.Raw}
		}
	}
	silent := r.IsError && len(r.Structured) == 0
	for _, it := range items {
		silent = silent && it.Kind == ItemText && strings.TrimSpace(it.Text) == ""
	}
	if silent {
		return []Item{{Kind: ItemText, Type: "text", Text: "the tool failed and gave no reason", Raw: codecs.TextBlock("the tool failed and gave no reason")}}
	}
	return items
}

// forUser tells whether the audience of a block is the user and nobody else.
func forUser(block jsonx.Value) bool {
	list := block.Path("annotations", "audience").Items()
	return len(list) == 1 && list[0].Str() == "user"
}

// payload reads the data of a media block. A tool server may have put a data URL
// where base64 belongs. ok is false for what is no base64 after that.
func payload(mime, data string) (outMIME, out string, ok bool) {
	if m, inner, found := SplitDataURI(data); found {
		data = inner
		if mime == "" {
			mime = m
		}
	}
	for i := range len(data) {
		switch c := data[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '+', c == '/', c == '=':
		case c == ' ', c == '\t', c == '\r', c == '\n':
		default:
			return mime, "", false
		}
	}
	return mime, data, true
}

func readItem(block codecs.Raw) Item {
	v := jsonx.Of(block)
	it := readBlock(v, block)
	it.forUser = forUser(v)
	if it.Data == "" || it.Kind == ItemNative && v.Path("source", "type").Str() != "base64" {
		return it
	}
	mime, data, ok := payload(it.MIME, it.Data)
	switch {
	case !ok:
		return Item{Kind: ItemNote, Type: it.Type, MIME: mime, URI: it.URI, Text: placeholder(it.Type, mime, it.URI, ""), Raw: block, forUser: it.forUser}
	case it.Kind == ItemNative && data != it.Data:
		if raw, err := jsonx.Set(block, "/source/data", jsonx.Quote(data)); err == nil {
			it.Raw = raw
		}
	}
	it.MIME, it.Data = mime, data
	return it
}

func readBlock(v jsonx.Value, block codecs.Raw) Item {
	if !v.IsObject() {
		return Item{Kind: ItemNote, Type: "unsupported", Text: "[unsupported]", Raw: block}
	}
	it := Item{Type: v.Get("type").Str(), Raw: block}
	switch {
	case it.Type == "text":
		it.Kind, it.Text = ItemText, v.Get("text").Str()
		return it
	case nativeBlock(v):
		it.Kind = ItemNative
		src := v.Get("source")
		it.MIME, it.URI, it.Data = src.Get("media_type").Str(), src.Get("url").Str(), src.Get("data").Str()
		it.Text = nativeText(v)
		return it
	case it.Type == "image", it.Type == "audio":
		it.Kind, it.MIME, it.Data = ItemBlob, v.Get("mimeType").Str(), v.Get("data").Str()
		return it
	case it.Type == "resource":
		return readResource(it, v.Get("resource"))
	case it.Type == "resource_link":
		it.Kind, it.URI, it.MIME = ItemNote, v.Get("uri").Str(), v.Get("mimeType").Str()
		it.Text = placeholder("resource_link", v.Get("name").Str(), it.URI, "")
		return it
	}
	name := it.Type
	if name == "" {
		name = "unsupported"
	}
	it.Kind, it.MIME, it.URI, it.Data = ItemNote, v.Get("mimeType").Str(), v.Get("uri").Str(), v.Get("data").Str()
	it.Text = placeholder(name, it.MIME, it.URI, it.Data)
	return it
}

func readResource(it Item, res jsonx.Value) Item {
	it.MIME, it.URI = res.Get("mimeType").Str(), res.Get("uri").Str()
	if text, ok := res.Get("text").Text(); ok {
		it.Kind, it.Text = ItemDocument, text
		return it
	}
	blob, ok := res.Get("blob").Text()
	if !ok {
		it.Kind, it.Text = ItemNote, placeholder("resource", it.MIME, it.URI, "")
		return it
	}
	it.Data = blob
	if strings.HasPrefix(it.MIME, "text/") {
		_, data, _ := payload("", blob)
		if raw, err := base64.StdEncoding.DecodeString(padded(data)); err == nil && data != "" {
			it.Kind, it.Text = ItemDocument, strings.ToValidUTF8(string(raw), "\uFFFD")
			return it
		}
	}
	it.Kind = ItemBlob
	return it
}

// nativeBlock tells whether a block is in anthropic's own form, which the
// source documents allow in a tool's output.
func nativeBlock(v jsonx.Value) bool {
	switch v.Get("type").Str() {
	case "image", "document":
		return v.Get("source").IsObject()
	case "search_result":
		return true
	}
	return false
}

// nativeText is what stands for a native block on wires that do not take it.
func nativeText(v jsonx.Value) string {
	typ, src := v.Get("type").Str(), v.Get("source")
	if typ == "search_result" {
		lines := []string{placeholder("search_result", v.Get("title").Str(), src.Str(), "")}
		return strings.Join(append(lines, innerTexts(v.Get("content"))...), "\n")
	}
	if typ == "document" {
		switch src.Get("type").Str() {
		case "text":
			return src.Get("data").Str()
		case "content":
			if s, ok := src.Get("content").Text(); ok {
				return s
			}
			if lines := innerTexts(src.Get("content")); len(lines) > 0 {
				return strings.Join(lines, "\n")
			}
			return "[document]"
		}
	}
	return placeholder(typ, src.Get("media_type").Str(), src.Get("url").Str(), "")
}

func innerTexts(list jsonx.Value) []string {
	var out []string
	for _, inner := range list.Items() {
		if inner.Get("type").Str() == "text" {
			out = append(out, inner.Get("text").Str())
		} else {
			out = append(out, readItem(inner.Raw()).Placeholder())
		}
	}
	return out
}

// Placeholder is the line of text that stands for the item where its payload
// cannot go: `[type] mime <uri> (N bytes)`, absent parts left out. It never
// holds the payload.
func (it Item) Placeholder() string {
	if it.Kind == ItemBlob {
		return placeholder(it.Type, it.MIME, it.URI, it.Data)
	}
	return it.Text
}

// String is the item's form inside a plain text result.
func (it Item) String() string { return it.Placeholder() }

func placeholder(typ, mime, uri, data string) string {
	parts := []string{"[" + typ + "]"}
	if mime != "" {
		parts = append(parts, mime)
	}
	if uri != "" {
		parts = append(parts, "<"+uri+">")
	}
	if data != "" {
		parts = append(parts, fmt.Sprintf("(%d bytes)", DecodedSize(data)))
	}
	return strings.Join(parts, " ")
}

// Place tells how an image or a PDF of a tool result travels: as the profile says,
// or else in the dialect's own way. Whatever else is payload, and what has no data,
// is a line of text.
func Place(it Item, p codecs.Profile, own string) (mode string) {
	switch {
	case it.Data != "" && ImageMIME(it.MIME):
		return cmp.Or(p.ResultImages, own)
	case it.Data != "" && it.MIME == PDFMIME:
		return cmp.Or(p.ResultPDF, own)
	}
	return codecs.MediaPlaceholder
}

// Placed warns of media that do not travel inside the result. at is the place of
// the result.
func (n *Notes) Placed(it Item, mode, at string) {
	switch {
	case mode == codecs.MediaNative:
	case mode == codecs.MediaFollowUp:
		n.Warn(codecs.WarnMediaFollowUp, at, "%s goes out in a user message after the results", it.Placeholder())
	case it.Kind == ItemNative && it.Type != "image" && it.MIME != PDFMIME:
		n.once(codecs.WarnDocumentAsText, at, "native documents and search results go out as their text: this endpoint takes none in a tool result")
	case it.Kind != ItemText && it.Kind != ItemDocument:
		n.Warn(codecs.WarnMediaPlaceholder, at, "%s goes out as a line of text", it.Placeholder())
	}
}

// MediaLine is the line of text that stands for media of a prompt or a reply where
// they have no native form, as Placeholder is for those of a result.
func MediaLine(m codecs.Media) string {
	kind, _, _ := strings.Cut(m.MIME, "/")
	switch {
	case m.Data == "" && m.Name != "":
		return placeholder("resource_link", m.Name, m.URI, "")
	case kind != "image" && kind != "audio": // the kinds that MCP has blocks for
		kind = "resource"
	}
	return placeholder(kind, m.MIME, m.URI, m.Data)
}

// DecodedSize returns how many bytes base64 text stands for, without decoding
// it: white space does not count, three bytes for four characters, less the
// padding.
func DecodedSize(data string) int {
	n, pad := 0, 0
	for _, c := range data {
		switch c {
		case ' ', '\t', '\r', '\n':
		case '=':
			n++
			pad++
		default:
			n++
		}
	}
	return max(n*3/4-pad, 0)
}

// StripSpace removes the white space inside base64 text.
func StripSpace(data string) string {
	if strings.IndexByte(data, '\n') < 0 && strings.IndexByte(data, ' ') < 0 && strings.IndexByte(data, '\t') < 0 && strings.IndexByte(data, '\r') < 0 {
		return data // four searches for a byte are faster than one for any of four
	}
	return strings.Map(func(r rune) rune {
		if r == ' ' || r == '\t' || r == '\r' || r == '\n' {
			return -1
		}
		return r
	}, data)
}

func padded(data string) string {
	data = strings.TrimRight(StripSpace(data), "=")
	return data + strings.Repeat("=", (4-len(data)%4)%4)
}

// ImageMIME and PDFMIME test a MIME type exactly: case and parameters count.
func ImageMIME(mime string) bool {
	switch mime {
	case "image/png", "image/jpeg", "image/gif", "image/webp":
		return true
	}
	return false
}

// PDFMIME is the MIME type of a PDF.
const PDFMIME = "application/pdf"

// ResultText is the form of a whole result on wires that take only text: items
// joined by one newline, in order. Without items it is the JSON text of the
// structured content, keys sorted, or "".
func ResultText(r codecs.ToolResult) string {
	items := ResultItems(r)
	if len(items) == 0 {
		return StructuredText(r)
	}
	return ItemsText(items)
}

// ItemsText joins the text forms of items by newlines.
func ItemsText(items []Item) string {
	lines := make([]string, len(items))
	for i, it := range items {
		lines[i] = it.String()
	}
	return strings.Join(lines, "\n")
}

// StructuredText is the JSON text of the structured content, keys sorted, or ""
// when there is none.
func StructuredText(r codecs.ToolResult) string {
	if len(r.Structured) == 0 {
		return ""
	}
	out, err := jsonx.Canonical(r.Structured)
	if err != nil {
		return string(r.Structured)
	}
	return string(out)
}
