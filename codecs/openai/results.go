package openai

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// answer keeps one call and writes its result, or leaves both out.
func (e *echo) answer(item jsonx.Value, pos, index int) {
	ptr := fmt.Sprintf("/tool_calls/%d", index)
	result, ok := e.results[pos]
	if !ok {
		e.changed = true
		e.Warn(codecs.WarnCallDropped, ptr, "call %d of %s has no result and leaves the echo", pos, item.Path("function", "name").Str())
		return
	}
	wireID := item.Get("id").Raw()
	if callID(item) != result.ID {
		wireID = jsonx.Quote(result.ID)
		item = jsonx.Of(replaced(item, "id", wireID))
		e.changed = true
	}
	if fn, emptied := e.emptied(item.Get("function"), pos, ptr); emptied {
		item = jsonx.Of(replaced(item, "function", fn))
		e.changed = true
		if call := e.calls[pos]; call.ArgumentsErr != "" {
			result = wire.RefusedArguments(call, result)
		}
	}
	e.kept = append(e.kept, item.Raw())
	content, follow := resultContent(result, e.profile, &e.Notes, fmt.Sprintf("/results/%d", pos))
	e.follow.add(result, result.ID, follow)
	var m jsonx.Fields
	e.answers = append(e.answers, m.Str("role", "tool").Set("tool_call_id", wireID).Set("content", content).Raw())
}

// answerLegacy answers a function_call, which has no id, in its own form.
func (e *echo) answerLegacy(fn jsonx.Value, result codecs.ToolResult) {
	if raw, emptied := e.emptied(fn, 0, "/function_call"); emptied {
		e.legacy = raw
		if call := e.calls[0]; call.ArgumentsErr != "" {
			result = wire.RefusedArguments(call, result)
		}
	}
	content, follow := resultContent(result, e.profile, &e.Notes, "/results/0")
	e.follow.add(result, "", follow)
	var m jsonx.Fields
	e.answers = append(e.answers, m.Str("role", "function").Str("name", fn.Get("name").Str()).Set("content", content).Raw())
}

// audioFormats are the input_audio formats, by MIME type.
var audioFormats = map[string]string{"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}

func textPart(s string) codecs.Raw { return codecs.TextBlock(s) }

func imageURL(u string, extra codecs.Raw) codecs.Raw {
	var in, f jsonx.Fields
	in.Str("url", u)
	if d := jsonx.Of(extra).Get("detail"); d.Exists() {
		in.Set("detail", d.Raw())
	}
	return f.Str("type", "image_url").Set("image_url", in.Raw()).Raw()
}

func filePart(name, mime, data string) codecs.Raw {
	var in, f jsonx.Fields
	in.Str("filename", name).Str("file_data", wire.DataURI(mime, data))
	return f.Str("type", "file").Set("file", in.Raw()).Raw()
}

// attachment returns the native part of an item of a tool result and how the
// profile wants it sent; part is nil when the item has no native form here.
func attachment(it wire.Item, p codecs.Profile) (part codecs.Raw, mode string) {
	payload := it.Kind == wire.ItemBlob || it.Kind == wire.ItemNative
	switch {
	case payload && it.Data != "" && wire.ImageMIME(it.MIME):
		return imageURL(wire.DataURI(it.MIME, it.Data), nil), p.ResultImages
	case it.Kind == wire.ItemNative && it.Type == "image" && it.URI != "":
		return imageURL(it.URI, nil), p.ResultImages
	case payload && it.Data != "" && it.MIME == wire.PDFMIME:
		return filePart(wire.PDFName(it.URI), it.MIME, it.Data), p.ResultPDF
	}
	return nil, codecs.MediaPlaceholder
}

// resultContent encodes the content of a tool message. follow holds the parts
// that a user message after the results carries. Without media the content is
// the text of spec 1.4. pointer is the place of the result, for warnings.
func resultContent(r codecs.ToolResult, p codecs.Profile, notes *wire.Notes, pointer string) (content codecs.Raw, follow []codecs.Raw) {
	items := wire.ResultItems(r)
	if len(items) == 0 {
		return jsonx.Quote(wire.StructuredText(r)), nil
	}
	lines := make([]string, len(items))
	parts := make([]codecs.Raw, len(items))
	native := false
	for i, it := range items {
		lines[i] = it.Placeholder()
		part, mode := attachment(it, p)
		notes.Placed(it, mode, pointer)
		switch {
		case part != nil && mode == codecs.MediaNative:
			native, parts[i] = true, part
			continue
		case part != nil && mode == codecs.MediaFollowUp:
			lines[i] += ", in the user message after the tool results"
			follow = append(follow, part)
		}
	}
	if native {
		for i := range parts {
			if parts[i] == nil {
				parts[i] = textPart(lines[i])
			}
		}
		return jsonx.List(parts...), follow
	}
	return jsonx.Quote(strings.Join(lines, "\n")), follow
}

// followUps collects the media of results that go out in one user message
// after all of them.
type followUps struct{ parts []codecs.Raw }

func (f *followUps) add(r codecs.ToolResult, id string, parts []codecs.Raw) {
	if len(parts) == 0 {
		return
	}
	what := "Returned by the tool " + r.Name
	if id != "" {
		what += " (call " + id + ")"
	}
	f.parts = append(f.parts, textPart(what+":"))
	f.parts = append(f.parts, parts...)
}

// message returns the user message, nil when there is nothing to send.
func (f *followUps) message() codecs.Raw {
	if len(f.parts) == 0 {
		return nil
	}
	var m jsonx.Fields
	m.Str("role", "user").Set("content", jsonx.List(f.parts...))
	f.parts = nil
	return m.Raw()
}

// promptMedia encodes media of a prompt: image_url, file or input_audio. ok is
// false when the dialect or the profile has no place for it.
func promptMedia(part codecs.Part, p codecs.Profile) (raw codecs.Raw, ok bool) {
	m := part.Media
	image := strings.HasPrefix(m.MIME, "image/")
	switch {
	case image && m.Data != "" && p.PromptImages != codecs.MediaPlaceholder:
		return imageURL(wire.DataURI(m.MIME, m.Data), part.Extra), true
	case image && m.URI != "" && p.PromptImages != codecs.MediaPlaceholder:
		return imageURL(m.URI, part.Extra), true
	case m.MIME == wire.PDFMIME && m.Data != "" && p.PromptPDF != codecs.MediaPlaceholder:
		name := m.Name
		if name == "" {
			name = wire.PDFName(m.URI)
		}
		return filePart(name, m.MIME, m.Data), true
	case audioFormats[m.MIME] != "" && m.Data != "":
		var in, f jsonx.Fields
		in.Str("data", wire.StripSpace(m.Data)).Str("format", audioFormats[m.MIME])
		return f.Str("type", "input_audio").Set("input_audio", in.Raw()).Raw(), true
	}
	return nil, false
}

// result encodes one tool message.
func (w *writer) result(r codecs.ToolResult, ptr string) {
	content, follow := resultContent(r, w.profile, &w.Notes, ptr)
	w.follow.add(r, r.ID, follow)
	var f jsonx.Fields
	w.out = append(w.out, f.Str("role", "tool").Str("tool_call_id", r.ID).Set("content", content).Raw())
}
