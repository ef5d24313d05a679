package openai_test

import (
	"bytes"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/internal/jsonx"
)

// inputs returns the body texts of this dialect's cases of one operation.
func inputs(t testing.TB, ops ...string) map[string][]byte {
	t.Helper()
	out := map[string][]byte{}
	root := os.DirFS("../../fixtures/cases/openai")
	for _, op := range ops {
		err := fs.WalkDir(root, op, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			data, err := fs.ReadFile(root, name)
			if err != nil {
				return err
			}
			if text, ok := jsonx.Of(data).Path("input", "body_text").Text(); ok {
				out[name] = []byte(text)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// profiles are the ones that change what an echo holds.
var profiles = map[string]codecs.Profile{
	"default":   {},
	"empty":     {ReasoningEcho: codecs.EchoRequiredEvenEmpty, ContentNull: "empty_string"},
	"emptied":   {UndecodableEcho: codecs.UndecodableEmpty},
	"follow up": {ResultImages: codecs.MediaFollowUp, ResultPDF: codecs.MediaFollowUp},
	"mistral":   {IDRule: "mistral9"},
}

func answers(r codecs.Reply) []codecs.ToolResult {
	var out []codecs.ToolResult
	for _, c := range r.Calls() {
		out = append(out, codecs.ToolResult{Pos: c.Pos, Content: []codecs.Raw{codecs.TextBlock("ebb")}})
	}
	slices.Reverse(out) // the order of results is free
	return out
}

// Law 3: parsing the echo gives the same calls, ids, arguments and reasoning in
// the same order, and each result answers its call.
func TestEchoParsesBack(t *testing.T) {
	c := openai.Codec{}
	for name, body := range inputs(t, "reply", "continue", "truncate") {
		for label, p := range profiles {
			r, err := c.Reply(body, p)
			if err != nil {
				continue
			}
			msgs, _, err := c.Continue(r, answers(r), p)
			if err != nil {
				t.Errorf("%s (%s): %v", name, label, err)
				continue
			}
			if len(msgs) != 1+len(r.Calls()) {
				t.Errorf("%s (%s): %d messages for %d calls", name, label, len(msgs), len(r.Calls()))
			}
			var f jsonx.Fields
			req, _, err := c.ParseRequest("", f.Set("messages", jsonx.List(msgs...)).Raw(), p)
			if err != nil {
				t.Errorf("%s (%s): %v", name, label, err)
				continue
			}
			back := codecs.Reply{Parts: req.Messages[0].Parts}
			if back.Reasoning() != r.Reasoning() || back.Text() != r.Text() {
				t.Errorf("%s (%s): reasoning %q text %q, want %q and %q", name, label, back.Reasoning(), back.Text(), r.Reasoning(), r.Text())
			}
			want, got := r.Calls(), back.Calls()
			if len(got) != len(want) {
				t.Errorf("%s (%s): %d calls came back of %d", name, label, len(got), len(want))
				continue
			}
			for i := range want {
				emptied := p.UndecodableEcho != "" && (want[i].ArgumentsErr != "" || got[i].ArgumentsText == "{}")
				if want[i].ID != "" && got[i].ID != want[i].ID || got[i].Name != want[i].Name ||
					!emptied && got[i].ArgumentsText != want[i].ArgumentsText {
					t.Errorf("%s (%s): call %d came back as %+v, want %+v", name, label, i, got[i], want[i])
				}
				if res := req.Messages[1+i].Parts[0].Result; res.Pos != i && want[i].ID == "" {
					t.Errorf("%s (%s): result %d answers call %d", name, label, i, res.Pos)
				}
			}
		}
	}
}

// Law 5: with only some results no call dangles and no result is alone.
func TestPartialResultsLeaveNoCallBehind(t *testing.T) {
	c := openai.Codec{}
	for name, body := range inputs(t, "reply", "continue", "truncate") {
		r, err := c.Reply(body, codecs.Profile{})
		if err != nil || len(r.Calls()) < 2 {
			continue
		}
		for keep := range r.Calls() {
			msgs, _, err := c.Continue(r, []codecs.ToolResult{{Pos: keep, Content: []codecs.Raw{codecs.TextBlock("x")}}}, codecs.Profile{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			echo := jsonx.Of(msgs[0]).Get("tool_calls").Items()
			if len(msgs) != 2 || len(echo) != 1 || echo[0].Get("id").Str() != jsonx.Of(msgs[1]).Get("tool_call_id").Str() {
				t.Errorf("%s: result %d gives %s", name, keep, msgs)
			}
		}
	}
}

// Law 6: the same input gives the same bytes, and the argument text keeps its
// spelling.
func TestEncodingIsDeterministic(t *testing.T) {
	c := openai.Codec{}
	for name, body := range inputs(t, "reply", "continue", "parse_request") {
		if r, err := c.Reply(body, codecs.Profile{}); err == nil {
			a, _, errA := c.Continue(r, answers(r), codecs.Profile{})
			b, _, errB := c.Continue(r, answers(r), codecs.Profile{})
			x, _, _ := c.RenderReply(r, codecs.Profile{})
			y, _, _ := c.RenderReply(r, codecs.Profile{})
			if errA != nil || errB != nil || !bytes.Equal(jsonx.List(a...), jsonx.List(b...)) || !bytes.Equal(x, y) {
				t.Errorf("%s: two runs differ (%v, %v)", name, errA, errB)
			}
		}
		req, _, err := c.ParseRequest("", body, codecs.Profile{})
		if err != nil {
			continue
		}
		a, _, errA := c.Request(req, codecs.Profile{})
		b, _, errB := c.Request(req, codecs.Profile{})
		if errA != nil || errB != nil || !bytes.Equal(a, b) {
			t.Errorf("%s: two requests differ (%v, %v)", name, errA, errB)
		}
	}
}

// Law 7: each block of a result arrives in native form or as a placeholder that
// is not empty; its payload never stands inside a text.
func TestEveryResultBlockArrives(t *testing.T) {
	const payload = "aGFyYm91ciBsYW1wIHBpZXIu"
	blocks := map[string]string{
		"text":     `{"type":"text","text":"flood"}`,
		"png":      `{"type":"image","mimeType":"image/png","data":"` + payload + `"}`,
		"bmp":      `{"type":"image","mimeType":"image/bmp","data":"` + payload + `"}`,
		"no mime":  `{"type":"image","data":"` + payload + `"}`,
		"audio":    `{"type":"audio","mimeType":"audio/wav","data":"` + payload + `"}`,
		"pdf":      `{"type":"resource","resource":{"uri":"file:///a.pdf","mimeType":"application/pdf","blob":"` + payload + `"}}`,
		"zip":      `{"type":"resource","resource":{"uri":"file:///a.zip","mimeType":"application/zip","blob":"` + payload + `"}}`,
		"link":     `{"type":"resource_link","uri":"file:///r.txt"}`,
		"native":   `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + payload + `"}}`,
		"document": `{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + payload + `"}}`,
		"search":   `{"type":"search_result","title":"Tides","source":"https://tides.example","content":[]}`,
		"unknown":  `{"type":"mystery"}`,
		"string":   `"loose"`,
	}
	body := []byte(`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"lamp","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`)
	c := openai.Codec{}
	r, err := c.Reply(body, codecs.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range blocks {
		for _, mode := range []string{"", codecs.MediaNative, codecs.MediaPlaceholder, codecs.MediaFollowUp} {
			msgs, _, err := c.Continue(r, []codecs.ToolResult{{Content: []codecs.Raw{codecs.Raw(block)}}}, codecs.Profile{ResultImages: mode, ResultPDF: mode})
			if err != nil {
				t.Fatal(err)
			}
			content := jsonx.Of(msgs[1]).Get("content")
			if content.Str() == "" && content.Len() == 0 {
				t.Errorf("%s (%s): silence: %s", name, mode, msgs)
			}
			for _, m := range msgs[1:] {
				for _, text := range textsOf(jsonx.Of(m).Get("content")) {
					if strings.Contains(text, payload) {
						t.Errorf("%s (%s): base64 inside text: %s", name, mode, m)
					}
				}
			}
		}
	}
}

func textsOf(content jsonx.Value) []string {
	if s, ok := content.Text(); ok {
		return []string{s}
	}
	var out []string
	for _, part := range content.Items() {
		out = append(out, part.Get("text").Str())
	}
	return out
}

// Law 9: RenderReply then Reply, Request then ParseRequest, lose nothing
// without a warning.
func TestRoundTrips(t *testing.T) {
	c := openai.Codec{}
	for name, body := range inputs(t, "reply", "continue", "truncate") {
		r, err := c.Reply(body, codecs.Profile{})
		if err != nil {
			continue
		}
		out, warnings, err := c.RenderReply(r, codecs.Profile{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		back, err := c.Reply(out, codecs.Profile{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(warnings) > 0 {
			continue
		}
		if back.Text() != r.Text() || back.Reasoning() != r.Reasoning() || back.Finish != r.Finish || back.RawFinish != r.RawFinish ||
			back.FinishMessage != r.FinishMessage || len(back.Media()) != len(r.Media()) ||
			!cmp.Equal(back.ServerCalls(), r.ServerCalls()) || !cmp.Equal(back.ClientCalls(), r.ClientCalls()) ||
			!cmp.Equal(back.Citations, r.Citations) || r.Usage != nil && !cmp.Equal(back.Usage, r.Usage) {
			t.Errorf("%s: rendered as %s", name, out)
		}
		for i, call := range r.Calls() {
			if got := back.Calls()[i]; got.ID != call.ID || got.Name != call.Name || !jsonx.Equal(got.Arguments, call.Arguments) && call.Arguments != nil || got.ArgumentsText != call.ArgumentsText && call.ArgumentsText != "" {
				t.Errorf("%s: call %d came back as %+v", name, i, got)
			}
		}
	}
	for name, body := range inputs(t, "parse_request") {
		req, _, err := c.ParseRequest("", body, codecs.Profile{})
		if err != nil {
			continue
		}
		out, warnings, err := c.Request(req, codecs.Profile{ResultImages: codecs.MediaNative, ResultPDF: codecs.MediaNative})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil || len(warnings) > 0 {
			continue
		}
		back, _, err := c.ParseRequest("", out, codecs.Profile{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff, _ := jsonx.Diff(codecs.RequestView(req), codecs.RequestView(back)); len(diff) > 0 {
			t.Errorf("%s: %v", name, diff)
		}
	}
}

// An error that the codec renders is read back with its kind and words.
func TestErrorsRoundTrip(t *testing.T) {
	c := openai.Codec{}
	for _, kind := range []string{codecs.ErrAuth, codecs.ErrQuota, codecs.ErrRate, codecs.ErrShape, codecs.ErrModeration, codecs.ErrOverload, codecs.ErrServer} {
		status, body := c.RenderError(&codecs.ProviderError{Kind: kind, Message: "the pier is closed"}, codecs.Profile{})
		if e := c.Error(status, nil, body); e.Kind != kind || e.Message != "the pier is closed" || e.Status != status {
			t.Errorf("%s: came back as %+v", kind, e)
		}
	}
}
