package responses_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/responses"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
)

// eachCase visits the cases of this dialect.
func eachCase(t testing.TB, visit func(c fixtures.Case, p codecs.Profile)) {
	t.Helper()
	cases, err := fixtures.LoadCases(os.DirFS("../../fixtures"), "responses")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		var p codecs.Profile
		if len(c.Profile) > 0 {
			if err := json.Unmarshal(c.Profile, &p); err != nil {
				t.Fatalf("%s: profile: %v", c.ID, err)
			}
		}
		visit(c, p)
	}
}

// eachReply visits the bodies of the cases that decode, think tags left alone.
func eachReply(t *testing.T, visit func(t *testing.T, r codecs.Reply)) {
	n := 0
	eachCase(t, func(c fixtures.Case, _ codecs.Profile) {
		body, ok := jsonx.Of(c.Input).Get("body_text").Text()
		if !ok || c.Op == "parse_request" {
			return
		}
		r, err := responses.Codec{}.Reply([]byte(body), codecs.Profile{ThinkTag: "none"})
		if err != nil {
			return
		}
		n++
		t.Run(c.ID, func(t *testing.T) { visit(t, r) })
	})
	if n < 40 {
		t.Fatalf("only %d bodies decode", n)
	}
}

// answerAll makes a result for every call.
func answerAll(r codecs.Reply) []codecs.ToolResult {
	var out []codecs.ToolResult
	for _, c := range r.Calls() {
		out = append(out, codecs.ToolResult{Pos: c.Pos, Content: []codecs.Raw{codecs.TextBlock("done")}})
	}
	return out
}

// Law 3: parsing the echo gives the parts of the reply, each call has one
// output, and every item that is not edited keeps its bytes.
func TestEchoParsesBack(t *testing.T) {
	eachReply(t, func(t *testing.T, r codecs.Reply) {
		items, _, err := responses.Codec{}.Continue(r, answerAll(r), codecs.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		var body jsonx.Fields
		body.Str("model", "m").Set("input", jsonx.List(items...))
		req, _, err := responses.Codec{}.ParseRequest("/v1/responses", body.Raw(), codecs.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		var parts []codecs.Part
		answered := 0
		for _, m := range req.Messages {
			if m.Role == "assistant" {
				parts = append(parts, m.Parts...)
				continue
			}
			for _, p := range m.Parts {
				if p.Kind == codecs.ResultKind && p.Result.Pos >= 0 {
					answered++
				}
			}
		}
		if diff := cmp.Diff(r.Parts, parts); diff != "" {
			t.Errorf("parts of the echo differ (-reply +echo):\n%s", diff)
		}
		if answered != len(r.Calls()) {
			t.Errorf("%d of %d calls are answered", answered, len(r.Calls()))
		}
	})
}

// Law 4: whichever calls have results, no call of the echo is without an output
// and no output without its call, and no reasoning item that lost its follower
// stands before nothing.
func TestEchoOfAnySubset(t *testing.T) {
	eachReply(t, func(t *testing.T, r codecs.Reply) {
		all := answerAll(r)
		for mask := 1; mask < 1<<len(all); mask++ {
			var some []codecs.ToolResult
			for i := range all {
				if mask&(1<<i) != 0 {
					some = append(some, all[i])
				}
			}
			items, _, err := responses.Codec{}.Continue(r, some, codecs.Profile{})
			if err != nil {
				t.Fatal(err)
			}
			calls, outputs := map[string]int{}, map[string]int{}
			for i, item := range items {
				v := jsonx.Of(item)
				switch v.Get("type").Str() {
				case "function_call":
					calls[v.Get("call_id").Str()]++
				case "function_call_output":
					outputs[v.Get("call_id").Str()]++
					if i > 0 && jsonx.Of(items[i-1]).Get("type").Str() == "reasoning" {
						t.Errorf("subset %b: a reasoning item without its following item", mask)
					}
				}
			}
			if diff := cmp.Diff(calls, outputs); diff != "" {
				t.Errorf("subset %b: calls and outputs differ:\n%s", mask, diff)
			}
		}
	})
}

// Law 9, replies: RenderReply then Reply gives the same reply.
func TestRenderedReplyReadsBack(t *testing.T) {
	eachReply(t, func(t *testing.T, r codecs.Reply) {
		c := responses.Codec{}
		body, _, err := c.RenderReply(r, codecs.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		if again, _, _ := c.RenderReply(r, codecs.Profile{}); string(again) != string(body) {
			t.Error("two renderings of one reply differ")
		}
		got, err := c.Reply(body, codecs.Profile{ThinkTag: "none"})
		if err != nil {
			t.Fatal(err)
		}
		if got.Finish != r.Finish || got.RawFinish != r.RawFinish || got.FinishMessage != r.FinishMessage {
			t.Errorf("finish %q %q %q, want %q %q %q", got.Finish, got.RawFinish, got.FinishMessage, r.Finish, r.RawFinish, r.FinishMessage)
		}
		if r.Usage == nil {
			r.Usage = &codecs.Usage{} // a provider always counts
		}
		if diff := cmp.Diff(r.Usage, got.Usage); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(r.Citations, got.Citations); diff != "" {
			t.Error(diff)
		}
		if n := len(r.Parts) - 1; n >= 0 && r.Finish == codecs.FinishLength && r.Parts[n].Kind == codecs.Text {
			r.Parts[n].Extra = codecs.Raw(`{"status":"incomplete"}`) // the provider itself marks the message that it cut
		}
		if diff := cmp.Diff(withoutMadeIDs(r.Parts, r.Parts), withoutMadeIDs(got.Parts, r.Parts)); diff != "" {
			t.Errorf("parts differ (-before +after):\n%s", diff)
		}
	})
}

// withoutMadeIDs blanks the ids that the original parts lack.
func withoutMadeIDs(parts, original []codecs.Part) []codecs.Part {
	out := append([]codecs.Part(nil), parts...)
	for i := range out {
		if i >= len(original) {
			break
		}
		if original[i].ID == "" {
			out[i].ID = ""
		}
		if c := out[i].Call; c != nil && original[i].Call != nil && original[i].Call.ItemID == "" {
			copied := *c
			copied.ItemID = ""
			out[i].Call = &copied
		}
	}
	return out
}

// Law 9, requests: a request body that is parsed and encoded again is the same
// JSON, and law 6: the same request gives the same bytes.
func TestRequestReadsBack(t *testing.T) {
	n := 0
	eachCase(t, func(fc fixtures.Case, p codecs.Profile) {
		if fc.Op != "request" {
			return
		}
		req, _, err := codecs.ParseNeutralRequest(jsonx.Of(fc.Input).Get("request").Raw())
		if err != nil {
			t.Fatalf("%s: %v", fc.ID, err)
		}
		c := responses.Codec{}
		first, _, err := c.Request(req, p)
		if err != nil {
			return
		}
		n++
		if again, _, _ := c.Request(req, p); string(again) != string(first) {
			t.Errorf("%s: the same request gives other bytes", fc.ID)
		}
		parsed, warnings, err := c.ParseRequest("/responses", first, p)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%s: %v %v", fc.ID, err, warnings)
		}
		second, _, err := c.Request(parsed, p)
		if err != nil {
			t.Fatalf("%s: %v", fc.ID, err)
		}
		if !jsonx.Equal(first, second) {
			t.Errorf("%s:\n%s\nreads back as\n%s", fc.ID, first, second)
		}
	})
	if n < 12 {
		t.Fatalf("only %d request cases encode", n)
	}
}

// Law 7: every block of a result arrives natively or as words, never as base64
// inside text.
func TestResultsArrive(t *testing.T) {
	const data = "aGFyYm91cmxhbXBoYXJib3VybGFtcA=="
	blocks := []string{
		`{"type":"text","text":"lamp"}`,
		`{"type":"image","mimeType":"image/png","data":"` + data + `"}`,
		`{"type":"image","mimeType":"image/tiff","data":"` + data + `"}`,
		`{"type":"image","data":"` + data + `"}`,
		`{"type":"audio","mimeType":"audio/wav","data":"` + data + `"}`,
		`{"type":"resource","resource":{"uri":"file:///t.pdf","mimeType":"application/pdf","blob":"` + data + `"}}`,
		`{"type":"resource","resource":{"uri":"file:///t.bin","blob":"` + data + `"}}`,
		`{"type":"resource_link","uri":"file:///t.txt","name":"t.txt"}`,
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}`,
		`{"type":"mystery","data":"` + data + `"}`,
		`7`,
	}
	profiles := []codecs.Profile{{}, {ResultImages: "placeholder", ResultPDF: "placeholder"}, {ResultImages: "follow_up", ResultPDF: "follow_up"}, {ResultPDF: "placeholder"}}
	body := []byte(`{"status":"completed","output":[{"type":"function_call","call_id":"c","name":"look","arguments":"{}"}]}`)
	c := responses.Codec{}
	r, err := c.Reply(body, codecs.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range profiles {
		for _, block := range blocks {
			items, _, err := c.Continue(r, []codecs.ToolResult{{Content: []codecs.Raw{codecs.Raw(block)}}}, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, item := range items[1:] {
				for _, text := range visibleTexts(jsonx.Of(item)) {
					if text == "" || strings.Contains(text, data) {
						t.Errorf("%+v, %s: text %q", p, block, text)
					}
				}
			}
		}
	}
}

func visibleTexts(item jsonx.Value) []string {
	out := item.Get("output")
	if !out.Exists() {
		out = item.Get("content")
	}
	if s, ok := out.Text(); ok {
		return []string{s}
	}
	var texts []string
	for _, part := range out.Items() {
		if s, ok := part.Get("text").Text(); ok {
			texts = append(texts, s)
		}
	}
	return texts
}

// Every kind of error survives RenderError and Error, save blocked: refused
// prompts are told as a content filter.
func TestErrorReadsBack(t *testing.T) {
	c := responses.Codec{}
	for _, kind := range []string{codecs.ErrAuth, codecs.ErrQuota, codecs.ErrRate, codecs.ErrShape, codecs.ErrModeration, codecs.ErrOverload, codecs.ErrServer} {
		status, body := c.RenderError(&codecs.ProviderError{Kind: kind, Message: "the sluice is shut"}, codecs.Profile{})
		got := c.Error(status, nil, body)
		if got.Kind != kind || got.Message != "the sluice is shut" {
			t.Errorf("%s: read back as %s, %q", kind, got.Kind, got.Message)
		}
	}
	if status, _ := c.RenderError(&codecs.ProviderError{Kind: codecs.ErrShape, Status: 422}, codecs.Profile{}); status != 422 {
		t.Errorf("status %d, want the error's own 422", status)
	}
}
