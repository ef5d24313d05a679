package laws

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// payload is what no text may hold.
const payload = "aGFyYm91ciBsYW1wIHBpZXIgYnVveSBxdWF5"

// blocks are the kinds of blocks that a tool result may hold.
var blocks = []string{
	`{"type":"text","text":"flood"}`,
	`{"type":"image","mimeType":"image/png","data":"` + payload + `"}`,
	`{"type":"image","mimeType":"image/gif","data":"` + payload + `"}`,
	`{"type":"image","mimeType":"image/tiff","data":"` + payload + `"}`,
	`{"type":"image","data":"` + payload + `"}`,
	`{"type":"audio","mimeType":"audio/wav","data":"` + payload + `"}`,
	`{"type":"mystery","mimeType":"x/y","data":"` + payload + `"}`,
	`{"type":"mystery"}`,
	`{"type":"resource","resource":{"uri":"file:///l.pdf","mimeType":"application/pdf","blob":"` + payload + `"}}`,
	`{"type":"resource","resource":{"uri":"file:///l.webp","mimeType":"image/webp","blob":"` + payload + `"}}`,
	`{"type":"resource","resource":{"uri":"file:///l.zip","mimeType":"application/zip","blob":"` + payload + `"}}`,
	`{"type":"resource","resource":{"uri":"file:///l","blob":"` + payload + `"}}`,
	`{"type":"resource","resource":{"uri":"file:///l.txt","mimeType":"text/plain","blob":"bG93IHdhdGVy"}}`,
	`{"type":"resource","resource":{"uri":"file:///a.txt","text":"low"}}`,
	`{"type":"resource","resource":{"uri":"file:///empty"}}`,
	`{"type":"resource_link","uri":"file:///chart","name":"chart"}`,
	`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + payload + `"}}`,
	`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + payload + `"}}`,
	`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"ebb"}}`,
	`{"type":"search_result","title":"Tides","source":"https://tides.example","content":[{"type":"text","text":"low"}]}`,
	`{"type":"search_result","title":"Tides","source":"https://tides.example","content":[]}`,
	`{}`, `7`, `"loose"`,
}

// Media is law 7: each block of a result arrives in native form or as a line
// that is not empty, alone and beside others, and its payload never stands
// inside a text.
func Media(t *testing.T, s Dialect) {
	r := called(t, s)
	modes := []string{"", codecs.MediaNative, codecs.MediaPlaceholder, codecs.MediaFollowUp}
	for _, images := range modes {
		for _, pdf := range modes {
			for _, documents := range []string{"", codecs.MediaPlaceholder} {
				p := codecs.Profile{ResultImages: images, ResultPDF: pdf, ResultDocuments: documents}
				for i, block := range blocks {
					s.result(t, r, []codecs.Raw{codecs.Raw(block)}, p)
					next := blocks[(i+5)%len(blocks)]
					s.result(t, r, []codecs.Raw{codecs.Raw(block), codecs.TextBlock("tide"), codecs.Raw(next)}, p)
				}
			}
		}
	}
}

// called is a reply with one call, as the dialect has it.
func called(t *testing.T, s Dialect) codecs.Reply {
	t.Helper()
	call := codecs.ToolCall{ID: "c1", Name: "survey", ArgumentsText: "{}", Arguments: codecs.Raw("{}")}
	body, _, err := s.Codec.RenderReply(codecs.Reply{
		ID: "r", Model: "m", Finish: codecs.FinishToolCalls,
		Parts: []codecs.Part{{Kind: codecs.KindCall, Call: &call}},
	}, codecs.Profile{}, codecs.Likeness{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Codec.Reply(body, codecs.Profile{})
	if err != nil || len(r.Calls()) != 1 {
		t.Fatalf("%v: %s", err, body)
	}
	return r
}

func (s Dialect) result(t *testing.T, r codecs.Reply, content []codecs.Raw, p codecs.Profile) {
	t.Helper()
	msgs, warnings, err := s.Codec.Continue(r, []codecs.ToolResult{{Content: content}}, p)
	if err != nil {
		t.Fatal(err)
	}
	var texts, payloads []string
	for _, m := range msgs[1:] {
		collect(jsonx.Of(m), "", &texts, &payloads)
	}
	for _, text := range texts {
		if strings.Contains(text, payload) {
			t.Errorf("%s under %s: base64 inside a text: %s", content, brief(p), text)
		}
	}
	said := strings.Join(texts, "\n")
	for _, it := range wire.ReadItems(content) {
		native := it.Data != "" && slices.ContainsFunc(payloads, func(have string) bool { return strings.Contains(have, it.Data) })
		lines := strings.Split(it.String(), "\n")
		inText := it.String() != "" && !slices.ContainsFunc(lines, func(l string) bool { return !strings.Contains(said, l) })
		own := it.Kind == wire.ItemNative && slices.ContainsFunc(msgs[1:], func(m codecs.Raw) bool { return strings.Contains(string(m), string(it.Raw)) })
		if warned(warnings, codecs.WarnMediaFollowUp) && it.Kind == wire.ItemBlob && len(content) == 1 {
			native = native && inText // the result says that its media follow
		}
		if !native && !inText && !own {
			t.Errorf("%s under %s: nothing arrived of it: %s", it.Raw, brief(p), msgs[1:])
		}
		if it.Kind == wire.ItemBlob && it.Data != "" && !native && !warned(warnings, codecs.WarnMediaPlaceholder) {
			t.Errorf("%s under %s: a placeholder without a warning", it.Raw, brief(p))
		}
	}
}

// collect gathers the strings of a document. Those under the keys that hold
// payloads on the wires are apart.
func collect(v jsonx.Value, key string, texts, payloads *[]string) {
	for _, item := range v.Items() {
		collect(item, key, texts, payloads)
	}
	for _, m := range v.Members() {
		collect(m.Value, m.Key, texts, payloads)
	}
	s, ok := v.Text()
	switch {
	case !ok:
	case key == "text" && s == "":
		*texts = append(*texts, payload) // an empty text is as bad
	case slices.Contains([]string{"data", "url", "image_url", "file_data", "images"}, key):
		*payloads = append(*payloads, s)
		if !strings.Contains(s, payload) { // text documents have the key data too
			*texts = append(*texts, s)
		}
	default:
		*texts = append(*texts, s)
	}
}

// Finishes: a rendered reply reads back with its finish, or RenderReply warns at
// /finish; with a call and without.
func Finishes(t *testing.T, s Dialect) {
	for _, finish := range []string{
		"", codecs.FinishStop, codecs.FinishToolCalls, codecs.FinishLength, codecs.FinishContentFilter, codecs.FinishRefusal,
		codecs.FinishPause, codecs.FinishBlocked, codecs.FinishMalformedCall, codecs.FinishError,
	} {
		for _, raw := range []string{"", "tidal", "stop", "end_turn", "STOP", "completed", "pause_turn", "max_tokens"} {
			for _, call := range []bool{false, true} {
				r := codecs.Reply{ID: "r", Model: "m", Finish: finish, RawFinish: raw, Parts: []codecs.Part{{Kind: codecs.KindText, Text: "ebb"}}}
				if call {
					r.Parts = append(r.Parts, codecs.Part{Kind: codecs.KindCall, Call: &codecs.ToolCall{ID: "c1", Name: "tide", ArgumentsText: "{}", Arguments: codecs.Raw("{}")}})
				}
				body, warnings, err := s.Codec.RenderReply(r, codecs.Profile{}, codecs.Likeness{})
				if err != nil {
					t.Fatal(err)
				}
				back, err := s.Codec.Reply(body, codecs.Profile{})
				if pe := (*codecs.ProviderError)(nil); errors.As(err, &pe) {
					back.Finish, err = codecs.FinishError, nil
				}
				if err != nil {
					t.Fatalf("%v\n%s", err, body)
				}
				told := slices.ContainsFunc(warnings, func(w codecs.Warning) bool { return w.Code == codecs.WarnLossy && w.Pointer == "/finish" })
				same := back.Finish == finish || end(back.Finish) && end(finish)
				if finish != "" && same == told {
					t.Errorf("finish %q (%q, call %v) reads back as %q, warned %v\n%s", finish, raw, call, back.Finish, told, body)
				}
			}
		}
	}
}

// end tells whether a finish is a normal end; the calls tell the two apart.
func end(finish string) bool { return finish == codecs.FinishStop || finish == codecs.FinishToolCalls }

// Errors: an error that the codec renders is read back with its kind, its
// words and a status of its own.
func Errors(t *testing.T, s Dialect) {
	for _, kind := range []codecs.ErrorKind{codecs.ErrAuth, codecs.ErrQuota, codecs.ErrRate, codecs.ErrShape, codecs.ErrModeration, codecs.ErrBlocked, codecs.ErrOverload, codecs.ErrServer} {
		for _, own := range []int{0, 418} {
			answer := s.Codec.RenderError(&codecs.ProviderError{Kind: kind, Message: "the pier is closed", Status: own, RetryAfter: "7"}, codecs.Profile{}, codecs.Likeness{})
			status := answer.Status
			e := s.Codec.Error(status, answer.Header, answer.Body)
			if strings.TrimSuffix(e.RetryAfter, "s") != "7" {
				t.Errorf("%s (%d): Retry-After 7 came back as %q", kind, own, e.RetryAfter)
			}
			if own == 0 && e.Kind != kind && !slices.Contains(s.Errors, kind) || e.Message != "the pier is closed" || e.Status != status || own > 0 && status != own {
				t.Errorf("%s (%d): came back as %+v", kind, own, e)
			}
			if e.Dialect != s.Codec.Dialect() {
				t.Errorf("%s: an error of %s", kind, e.Dialect)
			}
		}
	}
}

// Streams: a body that is a stream is named as one, whatever reads it.
func Streams(t *testing.T, s Dialect) {
	body := string(called(t, s).Body)
	for name, stream := range map[string]string{
		"data":    "data: " + body + "\n\ndata: [DONE]\n\n",
		"event":   "event: message\r\ndata: " + body + "\r\n\r\n",
		"comment": ": waiting\n\ndata: " + body + "\n\n",
		"id":      "\n\nid: 7\nretry: 10\ndata: " + body + "\n\n",
		"mark":    "\xEF\xBB\xBFdata: {}\n\n",
		"lines":   body + "\n" + body + "\n",
		"cut":     body + "\n" + body[:len(body)/2],
	} {
		_, err := s.Codec.Reply([]byte(stream), codecs.Profile{})
		var de *codecs.DecodeError
		if !errors.Is(err, codecs.ErrStream) || !errors.As(err, &de) || de.Dialect != s.Codec.Dialect() {
			t.Errorf("%s: %v", name, err)
		}
		if _, _, err := s.Codec.Continue(codecs.Reply{Body: codecs.Raw(stream)}, nil, codecs.Profile{}); !errors.Is(err, codecs.ErrStream) {
			t.Errorf("%s: continue: %v", name, err)
		}
	}
	for _, broken := range []string{"", "{", body[:len(body)-1], "<html>", "id: 7", ":", "database: down", "{} x", fmt.Sprintf("%s]", body)} {
		if _, err := s.Codec.Reply([]byte(broken), codecs.Profile{}); !errors.Is(err, codecs.ErrNotJSON) || errors.Is(err, codecs.ErrStream) {
			t.Errorf("%q: %v", broken, err)
		}
	}
}
