package anthropic_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
)

// eachCase visits the cases of this dialect.
func eachCase(t testing.TB, visit func(c fixtures.Case, p codecs.Profile)) {
	t.Helper()
	cases, err := fixtures.LoadCases(os.DirFS("../../fixtures"), "anthropic")
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

// noTags leaves the text alone: a split text is two parts, on purpose.
var noTags = codecs.Profile{ThinkTag: "none"}

// eachReply visits the bodies of the cases that decode.
func eachReply(t *testing.T, visit func(t *testing.T, r codecs.Reply)) {
	n := 0
	eachCase(t, func(c fixtures.Case, _ codecs.Profile) {
		body, ok := jsonx.Of(c.Input).Get("body_text").Text()
		if !ok || c.Op == "parse_request" || c.Op == "error" {
			return
		}
		r, err := anthropic.Codec{}.Reply([]byte(body), noTags)
		if err != nil {
			return
		}
		n++
		t.Run(c.ID, func(t *testing.T) { visit(t, r) })
	})
	if n < 60 {
		t.Fatalf("only %d bodies decode", n)
	}
}

// answerAll makes a result for every call.
func answerAll(r codecs.Reply) []codecs.ToolResult {
	var out []codecs.ToolResult
	for _, c := range r.Calls() {
		out = append(out, codecs.ToolResult{Pos: c.Pos, Content: []codecs.Raw{codecs.TextBlock(fmt.Sprintf("answer %d", c.Pos))}})
	}
	return out
}

// Law 3: parsing the echo gives the same calls, arguments text, reasoning and
// foreign blocks in the same order; each call has its result.
func TestEchoParsesBack(t *testing.T) {
	eachReply(t, func(t *testing.T, r codecs.Reply) {
		c := anthropic.Codec{}
		msgs, _, err := c.Continue(r, answerAll(r), noTags)
		if err != nil {
			t.Fatal(err)
		}
		if len(msgs) == 0 {
			if len(r.Calls()) > 0 || r.Text() != "" {
				t.Fatal("a turn with content has no echo")
			}
			return
		}
		again, err := c.Reply(msgs[0], noTags)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(parts(r, true), parts(again, true)); diff != "" {
			t.Error(diff)
		}
		if len(r.Calls()) == 0 {
			return
		}
		results := jsonx.Of(msgs[1]).Get("content").Items()
		for i, call := range again.Calls() {
			if results[i].Get("tool_use_id").Str() != call.ID || call.ID == "" {
				t.Errorf("result %d answers %s, the call is %q", i, results[i].Get("tool_use_id").Raw(), call.ID)
			}
		}
		if len(results) != len(again.Calls()) {
			t.Errorf("%d results for %d calls", len(results), len(again.Calls()))
		}
	})
}

// parts is what has to survive, without ids that are made and empty texts, which
// the API refuses.
func parts(r codecs.Reply, echo bool) []codecs.Part {
	var out []codecs.Part
	for _, p := range r.Parts {
		if echo && p.Kind == codecs.Text && p.Text == "" {
			continue
		}
		if p.Call != nil {
			call := *p.Call
			call.ID = ""
			if !echo && call.ArgumentsErr == "" {
				call.ArgumentsText = "" // its value is compared as Arguments
			}
			p.Call = &call
		}
		out = append(out, p)
	}
	return out
}

// Law 9 for replies: RenderReply then Reply loses nothing.
func TestRenderedReplyReadsBack(t *testing.T) {
	eachReply(t, func(t *testing.T, r codecs.Reply) {
		c := anthropic.Codec{}
		body, warnings, err := c.RenderReply(r, noTags)
		if err != nil {
			t.Fatal(err)
		}
		again, err := c.Reply(body, noTags)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Parts { // undecodable input that was no string reads back as its text
			if call := r.Parts[i].Call; call != nil && call.ArgumentsErr != "" && again.Parts[i].Call.ArgumentsText == call.ArgumentsText {
				again.Parts[i].Call.ArgumentsErr = call.ArgumentsErr
			}
		}
		if diff := cmp.Diff(parts(r, false), parts(again, false)); diff != "" {
			t.Error(diff, warnings)
		}
		if r.Finish != again.Finish || (r.RawFinish != again.RawFinish && r.RawFinish != "") {
			t.Errorf("finish %s (%s) reads back as %s (%s)", r.Finish, r.RawFinish, again.Finish, again.RawFinish)
		}
		if r.Usage != nil && *r.Usage != *again.Usage {
			t.Errorf("usage %+v reads back as %+v", *r.Usage, *again.Usage)
		}
		if diff := cmp.Diff(r.Citations, again.Citations); diff != "" {
			t.Error(diff)
		}
	})
}

// Laws 6 and 9 for requests: the same request gives the same bytes, and reads
// back as it was.
func TestRequestReadsBack(t *testing.T) {
	n := 0
	eachCase(t, func(c fixtures.Case, _ codecs.Profile) {
		body := jsonx.Of(c.Input).Get("body_text").Str()
		if c.Op == "request" && c.Want.Value != nil {
			body = string(c.Want.Value)
		} else if c.Op != "parse_request" || c.Want.Value == nil {
			return
		}
		n++
		t.Run(c.ID, func(t *testing.T) {
			codec := anthropic.Codec{}
			req, _, err := codec.ParseRequest("/v1/messages", []byte(body), codecs.Profile{})
			if err != nil {
				t.Fatal(err)
			}
			p := codecs.Profile{ReasoningEcho: codecs.EchoAccepted}
			first, _, err := codec.Request(req, p)
			if err != nil {
				t.Fatal(err)
			}
			second, _, _ := codec.Request(req, p)
			if string(first) != string(second) {
				t.Error("two encodings differ")
			}
			if req.MaxTokens == 0 {
				if n, ok := jsonx.Of(first).Get("max_tokens").Int(); !ok || n != 4096 {
					t.Error("no default max_tokens")
				}
				req.MaxTokens = 4096
			}
			again, _, err := codec.ParseRequest("/v1/messages", first, codecs.Profile{})
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(c.ID, "results-late") { // Request puts results first
				return
			}
			if diffs, err := jsonx.Diff(codecs.RequestView(req), codecs.RequestView(again)); err != nil || len(diffs) > 0 {
				t.Error(diffs, err)
			}
		})
	})
	if n < 30 {
		t.Fatalf("only %d requests", n)
	}
}

// Law 7: every block of a result arrives in native form or as a non-empty line,
// never as base64 inside a text.
func TestEveryResultBlockArrives(t *testing.T) {
	payload := strings.Repeat("QUJD", 40)
	blob := func(mime string) codecs.Raw {
		return codecs.Raw(fmt.Sprintf(`{"type":"resource","resource":{"uri":"file:///x","mimeType":%q,"blob":%q}}`, mime, payload))
	}
	plain := func(typ, mime string) codecs.Raw {
		return codecs.Raw(fmt.Sprintf(`{"type":%q,"mimeType":%q,"data":%q}`, typ, mime, payload))
	}
	blocks := []codecs.Raw{
		codecs.TextBlock("calm"), plain("image", "image/png"), plain("image", "image/bmp"), plain("image", ""),
		plain("audio", "audio/wav"), plain("mystery", "x/y"), blob("application/pdf"), blob("image/webp"), blob("application/zip"), blob(""),
		blob("text/plain"), codecs.Raw(`{"type":"resource","resource":{"uri":"file:///e"}}`), codecs.Raw(`{"type":"resource_link","uri":"file:///l"}`),
		codecs.Raw(`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"` + payload + `"}}`),
		codecs.Raw(`{"type":"search_result","source":"s","title":"t","content":[]}`), codecs.Raw(`7`), codecs.Raw(`{}`),
	}
	body := []byte(`{"content":[{"type":"tool_use","id":"t","name":"n","input":{}}]}`)
	modes := []string{"", codecs.MediaNative, codecs.MediaPlaceholder, codecs.MediaFollowUp}
	for _, images := range modes {
		for _, pdf := range modes {
			for _, documents := range []string{"", codecs.MediaPlaceholder} {
				p := codecs.Profile{ResultImages: images, ResultPDF: pdf, ResultDocuments: documents}
				r, err := anthropic.Codec{}.Reply(body, p)
				if err != nil {
					t.Fatal(err)
				}
				for i, block := range blocks {
					msgs, _, err := anthropic.Codec{}.Continue(r, []codecs.ToolResult{{Content: []codecs.Raw{block}}}, p)
					if err != nil {
						t.Fatal(err)
					}
					user := jsonx.Of(msgs[1]).Get("content")
					out := append(user.At(0).Get("content").Items(), user.Items()[1:]...)
					if len(out) == 0 {
						t.Errorf("block %d vanished under %+v", i, p)
					}
					for _, b := range out {
						text, isText := b.Get("text").Text()
						if isText && (text == "" || strings.Contains(text, payload)) {
							t.Errorf("block %d became the text %q", i, text)
						}
						if !isText && b.Get("type").Str() == "text" {
							t.Errorf("block %d became %s", i, b.Raw())
						}
					}
				}
			}
		}
	}
}
