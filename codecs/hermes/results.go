package hermes

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// response writes the text of one result. Source: spec 1.4: compact JSON, keys
// sorted.
func response(r codecs.ToolResult, p codecs.Profile) string {
	var f jsonx.Fields
	tag := responseTag(p)
	return "<" + tag + ">\n" + string(f.Str("content", wire.ResultText(r)).Str("name", r.Name).Raw()) + "\n</" + tag + ">"
}

// resultMessages writes one message for each result and, where the profile
// wants images to follow, a user message with them after all results.
func resultMessages(results []codecs.ToolResult, p codecs.Profile, at string) ([]codecs.Raw, []codecs.Warning, error) {
	var out []codecs.Raw
	var notes wire.Notes
	var media []codecs.Part
	for _, r := range results {
		var f jsonx.Fields
		out = append(out, f.Str("role", resultRole(p)).Str("content", response(r, p)).Raw())
		for _, it := range wire.ResultItems(r) {
			follows := it.Kind == wire.ItemBlob && it.Data != "" && (wire.ImageMIME(it.MIME) && p.ResultImages == codecs.MediaFollowUp ||
				it.MIME == wire.PDFMIME && p.ResultPDF == codecs.MediaFollowUp)
			mode := codecs.MediaPlaceholder
			if follows {
				mode = codecs.MediaFollowUp
				media = append(media, codecs.Part{Kind: codecs.KindText, Text: fmt.Sprintf("From the result of %s: %s", r.Name, it.Placeholder())},
					codecs.Part{Kind: codecs.KindMedia, Media: &codecs.Media{MIME: it.MIME, URI: it.URI, Data: it.Data}})
			}
			notes.Placed(it, mode, at)
		}
	}
	if len(media) == 0 {
		return out, notes.Warnings, nil
	}
	body, w, err := chat.Request(codecs.Request{Messages: []codecs.Message{{Role: "user", Parts: media}}}, transport(p))
	if err != nil {
		return nil, nil, own(err)
	}
	for _, m := range jsonx.Of(body).Get("messages").Items() {
		out = append(out, m.Raw())
	}
	return out, append(notes.Warnings, w...), nil
}
