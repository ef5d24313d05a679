package responses

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

func outputItem(id, output codecs.Raw) codecs.Raw {
	var f jsonx.Fields
	return f.Str("type", typeOutput).Set("call_id", id).Set("output", output).Raw()
}

// laterMessage is the user message that carries media of results where the
// engine takes none inside them.
func laterMessage(parts []codecs.Raw) codecs.Raw {
	var f jsonx.Fields
	list := append([]codecs.Raw{inputText("Media of the tool results above, in their order:")}, parts...)
	return f.Str("type", typeMessage).Str("role", "user").Set("content", jsonx.List(list...)).Raw()
}

// result is what one tool result becomes on the wire.
type result struct {
	output codecs.Raw   // string, or list of content parts
	later  []codecs.Raw // parts for a user message after all results (follow_up)
}

// encodeResult maps a tool result: a string while everything is text, else one
// content part an item, in order. Source: spec 1.4, rows RN01 to RN11.
func encodeResult(r codecs.ToolResult, p codecs.Profile, notes *wire.Notes, at string) result {
	items := wire.ResultItems(r)
	if len(items) == 0 {
		return result{output: jsonx.Quote(wire.StructuredText(r))}
	}
	var out result
	parts := make([]codecs.Raw, len(items))
	native := false
	for i, it := range items {
		part, mode := nativePart(it, p)
		notes.Placed(it, mode, at)
		switch mode {
		case codecs.MediaNative:
			parts[i], native = part, true
			continue
		case codecs.MediaFollowUp:
			out.later = append(out.later, part)
		}
		parts[i] = inputText(it.String())
	}
	if native {
		out.output = jsonx.List(parts...)
	} else {
		out.output = jsonx.Quote(wire.ItemsText(items))
	}
	return out
}

// nativePart is the content part of an image or PDF, and where the profile
// wants it. Everything else is a placeholder.
func nativePart(it wire.Item, p codecs.Profile) (part codecs.Raw, mode string) {
	mode = wire.Place(it, p, codecs.MediaNative)
	switch {
	case it.Kind != wire.ItemBlob || mode == codecs.MediaPlaceholder:
	case wire.ImageMIME(it.MIME) && it.Type != "audio":
		return inputImage(wire.DataURI(it.MIME, it.Data)), mode
	case it.MIME == wire.PDFMIME && it.Type == "resource":
		return inputFile(wire.PDFName(it.URI), it.Data), mode
	}
	return nil, codecs.MediaPlaceholder
}

func inputText(s string) codecs.Raw {
	var f jsonx.Fields
	return f.Str("type", "input_text").Str("text", s).Raw()
}

func inputImage(url string) codecs.Raw {
	var f jsonx.Fields
	return f.Str("type", "input_image").Str("image_url", url).Raw()
}

func inputFile(name, data string) codecs.Raw {
	var f jsonx.Fields
	return f.Str("type", "input_file").Str("filename", name).Str("file_data", wire.DataURI(wire.PDFMIME, data)).Raw()
}

// promptPart is the native part of prompt media: an image by data or URL, a PDF
// by data, any other file by URL. ok is false where only a placeholder can go.
func promptPart(m codecs.Media, p codecs.Profile) (part codecs.Raw, ok bool) {
	mime := m.MIME
	if mime == "" {
		mime = wire.LinkMIME(m.URI)
	}
	web := m.Data == "" && (strings.HasPrefix(m.URI, "https://") || strings.HasPrefix(m.URI, "http://"))
	switch {
	case strings.HasPrefix(mime, "image/"):
		if p.PromptImages == codecs.MediaPlaceholder {
			return nil, false
		}
		if web {
			return inputImage(m.URI), true
		}
		return inputImage(wire.DataURI(mime, m.Data)), m.Data != "" && wire.ImageMIME(mime)
	case strings.HasPrefix(mime, "audio/"), strings.HasPrefix(mime, "video/"), p.PromptPDF == codecs.MediaPlaceholder:
		return nil, false
	case web:
		var f jsonx.Fields
		return f.Str("type", "input_file").Str("file_url", m.URI).Raw(), true
	case mime == wire.PDFMIME && m.Data != "":
		name := m.Name
		if name == "" {
			name = wire.PDFName(m.URI)
		}
		return inputFile(name, m.Data), true
	}
	return nil, false
}

// result writes a function_call_output.
func (w *writer) result(r codecs.ToolResult) {
	res := encodeResult(r, w.profile, &w.Notes, "")
	w.later = append(w.later, res.later...)
	w.items = append(w.items, outputItem(jsonx.Quote(r.ID), res.output))
}
