package ollama

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// imagePrefixes tell the type of an image from the start of its base64 text,
// since this wire carries none.
var imagePrefixes = []struct{ prefix, mime string }{
	{"iVBORw0KGgo", "image/png"},
	{"/9j/", "image/jpeg"},
	{"R0lGOD", "image/gif"},
	{"UklGR", "image/webp"},
}

func imageMIME(data string) string {
	for _, p := range imagePrefixes {
		if strings.HasPrefix(data, p.prefix) {
			return p.mime
		}
	}
	return anyImage
}

// anyImage stands for the type of an image that its bytes do not tell.
const anyImage = "image/*"

// resultMessages encodes results, one message each, and the message with their
// images after all of them where the profile wants that.
func resultMessages(results []codecs.ToolResult, p codecs.Profile, at string) ([]codecs.Raw, []codecs.Warning) {
	var out, followUp []codecs.Raw
	var names []string
	var notes wire.Notes
	for _, r := range results {
		content, imgs, moved := resultContent(r, p)
		var f jsonx.Fields
		f.Str("role", "tool").Str("tool_name", r.Name)
		if r.ID != "" {
			f.Str("tool_call_id", r.ID)
		}
		f.Str("content", content)
		if len(imgs) > 0 && !moved {
			f.Set("images", jsonx.List(imgs...))
		}
		out = append(out, f.Raw())
		if moved && len(imgs) > 0 {
			followUp = append(followUp, imgs...)
			names = append(names, r.Name)
		}
		for _, it := range wire.ResultItems(r) {
			mode := codecs.MediaPlaceholder
			if _, ok := resultImage(it); ok {
				mode = p.ResultImages
			}
			notes.Placed(it, mode, at)
		}
	}
	if len(followUp) > 0 {
		var f jsonx.Fields
		text := "Images from the tool results above, in order: " + strings.Join(names, ", ")
		out = append(out, f.Str("role", "user").Str("content", text).Set("images", jsonx.List(followUp...)).Raw())
	}
	return out, notes.Warnings
}

// resultContent is the text of a result and the images that travel beside it,
// in the tool message itself or, when moved, in a user message after all
// results. A moved image leaves its placeholder in the text.
func resultContent(r codecs.ToolResult, p codecs.Profile) (content string, imgs []codecs.Raw, moved bool) {
	moved = p.ResultImages == codecs.MediaFollowUp
	if len(r.Content) == 0 || (p.ResultImages != codecs.MediaNative && !moved) {
		return wire.ResultText(r), nil, false
	}
	var rest []wire.Item
	for _, it := range wire.ResultItems(r) {
		data, ok := resultImage(it)
		if ok {
			imgs = append(imgs, jsonx.Quote(data))
		}
		if !ok || moved {
			rest = append(rest, it)
		}
	}
	return wire.ItemsText(rest), imgs, moved
}

// resultImage returns the raw base64 of an item that is an image.
func resultImage(it wire.Item) (string, bool) {
	data := wire.StripSpace(it.Data)
	ok := data != "" && (wire.ImageMIME(it.MIME) || it.MIME == anyImage) && (it.Kind == wire.ItemBlob || it.Kind == wire.ItemNative && it.Type == "image")
	return data, ok
}

// imageData returns the raw base64 of an image, also out of a data URI, which
// the server refuses as such.
func imageData(m codecs.Media) (string, bool) {
	mime, data := m.MIME, m.Data
	if t, payload, ok := wire.SplitDataURI(m.URI); ok && data == "" {
		mime, data = t, payload
	}
	data = wire.StripSpace(data)
	if mime == "" {
		mime = strings.TrimSuffix(imageMIME(data), anyImage)
	}
	return data, data != "" && (wire.ImageMIME(mime) || mime == anyImage)
}
