package ollama_test

import (
	"encoding/json"
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/ollama"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
)

const path = "/api/chat"

var codec ollama.Codec

// eachCase visits the cases of this dialect.
func eachCase(t testing.TB, visit func(c fixtures.Case, p codecs.Profile)) {
	t.Helper()
	cases, err := fixtures.LoadCases(os.DirFS("../../fixtures"), "ollama")
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

// eachReply visits the bodies of the cases that decode.
func eachReply(t *testing.T, visit func(t *testing.T, r codecs.Reply, p codecs.Profile)) {
	n := 0
	eachCase(t, func(c fixtures.Case, p codecs.Profile) {
		body, ok := jsonx.Of(c.Input).Get("body_text").Text()
		if !ok || c.Op == "parse_request" || c.Op == "error" {
			return
		}
		r, err := codec.Reply([]byte(body), p)
		if err != nil {
			return
		}
		n++
		t.Run(c.ID, func(t *testing.T) { visit(t, r, p) })
	})
	if n < 30 {
		t.Fatalf("only %d bodies decode", n)
	}
}

// answers makes a result for every call.
func answers(r codecs.Reply) []codecs.ToolResult {
	var out []codecs.ToolResult
	for _, c := range r.Calls() {
		out = append(out, codecs.ToolResult{Pos: c.Pos, Content: []codecs.Raw{codecs.TextBlock("done")}})
	}
	return out
}

// said is what an assistant's turn says, in a form that compares: kinds and
// texts in order, calls by id, name and arguments.
func said(parts []codecs.Part) []string {
	var out []string
	for _, p := range parts {
		s := string(p.Kind) + " " + p.Text
		if p.Call != nil {
			args, err := jsonx.Canonical(p.Call.Arguments)
			if err != nil {
				args = codecs.Raw("undecodable: " + p.Call.ArgumentsText)
			}
			s += p.Call.ID + " " + p.Call.Name + " " + string(args)
		}
		out = append(out, s)
	}
	return out
}

// turn parses messages as a request and returns the assistant's parts and the
// ordinals that its results answer.
func turn(t *testing.T, msgs []codecs.Raw, p codecs.Profile) (parts []codecs.Part, answered []int) {
	t.Helper()
	var body jsonx.Fields
	req, _, err := codec.ParseRequest(path, body.Str("model", "m").Set("messages", jsonx.List(msgs...)).Raw(), p)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range req.Messages {
		for _, part := range m.Parts {
			switch {
			case m.Role == "assistant":
				parts = append(parts, part)
			case part.Kind == codecs.ResultKind:
				answered = append(answered, part.Result.Pos)
			}
		}
	}
	return parts, answered
}

// undecodable tells whether the echo has to change arguments of the turn.
func undecodable(r codecs.Reply) bool {
	for _, c := range r.Calls() {
		if c.ArgumentsErr != "" {
			return true
		}
	}
	return false
}

// Law 3: parsing the echo gives the parts of the reply, and each call has its
// result.
func TestEchoParsesBack(t *testing.T) {
	eachReply(t, func(t *testing.T, r codecs.Reply, p codecs.Profile) {
		if undecodable(r) || r.Finish == codecs.FinishLength {
			t.Skip("the echo differs from the turn on purpose")
		}
		msgs, _, err := codec.Continue(r, answers(r), p)
		if err != nil {
			t.Fatal(err)
		}
		parts, answered := turn(t, msgs, p)
		if diff := cmp.Diff(said(r.Parts), said(parts)); diff != "" {
			t.Errorf("echo differs (-reply +echo):\n%s", diff)
		}
		if len(answered) != len(r.Calls()) {
			t.Fatalf("%d results for %d calls", len(answered), len(r.Calls()))
		}
		for i, pos := range answered {
			if pos != i {
				t.Errorf("result %d answers call %d", i, pos)
			}
		}
	})
}

// Laws 4 and 5: whichever calls have results, exactly these stay in the echo.
func TestEchoOfAnySubset(t *testing.T) {
	eachReply(t, func(t *testing.T, r codecs.Reply, p codecs.Profile) {
		all := answers(r)
		for mask := 1; mask < 1<<len(all); mask++ {
			var some []codecs.ToolResult
			var want []string
			for i, c := range r.Calls() {
				if mask&(1<<i) != 0 {
					some = append(some, all[i])
					want = append(want, c.Name)
				}
			}
			msgs, _, err := codec.Continue(r, some, p)
			if err != nil {
				t.Fatal(err)
			}
			parts, answered := turn(t, msgs, p)
			var got []string
			for _, c := range (codecs.Reply{Parts: parts}).Calls() {
				got = append(got, c.Name)
			}
			if r.Finish == codecs.FinishLength && undecodable(r) {
				continue // an answered cut call does not parse as one
			}
			if diff := cmp.Diff(want, got); diff != "" || len(answered) != len(want) {
				t.Errorf("subset %b: %d results; calls (-want +got):\n%s", mask, len(answered), diff)
			}
		}
	})
}

// Laws 6 and 9: a rendered reply reads back, and renders to the same bytes.
func TestRenderedReplyReadsBack(t *testing.T) {
	eachReply(t, func(t *testing.T, r codecs.Reply, p codecs.Profile) {
		body, warnings, err := codec.RenderReply(r, p)
		if err != nil {
			t.Fatal(err)
		}
		if again, _, _ := codec.RenderReply(r, p); string(again) != string(body) {
			t.Error("two renderings of one reply differ")
		}
		for _, w := range warnings {
			if w.Code == codecs.WarnLossy {
				t.Skip(w.Text)
			}
		}
		got, err := codec.Reply(body, p)
		if err != nil {
			t.Fatal(err)
		}
		if got.Finish != r.Finish && r.Finish != "" {
			t.Errorf("finish %q, want %q", got.Finish, r.Finish)
		}
		if r.Usage == nil {
			r.Usage = &codecs.Usage{} // a provider always counts
		}
		if diff := cmp.Diff(r.Usage, got.Usage); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(said(r.Parts), said(got.Parts)); diff != "" {
			t.Errorf("parts differ (-before +after):\n%s", diff)
		}
	})
}

// Laws 6 and 9: a request that is encoded, parsed and encoded again is the same.
func TestRequestReadsBack(t *testing.T) {
	n := 0
	eachCase(t, func(c fixtures.Case, p codecs.Profile) {
		if c.Op != "request" {
			return
		}
		req, _, err := codecs.ParseNeutralRequest(jsonx.Of(c.Input).Get("request").Raw())
		if err != nil {
			t.Fatal(err)
		}
		body, _, err := codec.Request(req, p)
		if err != nil {
			return
		}
		n++
		if twice, _, _ := codec.Request(req, p); string(twice) != string(body) {
			t.Errorf("%s: the same request gave two encodings", c.ID)
		}
		back, _, err := codec.ParseRequest(path, body, p)
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		again, _, err := codec.Request(back, p)
		if err != nil || !jsonx.Equal(body, again) {
			t.Errorf("%s: %v\nfirst %s\nagain %s", c.ID, err, body, again)
		}
	})
	if n < 5 {
		t.Fatalf("only %d requests", n)
	}
}

// Law 7: every block of a result arrives, and no payload stands in a text.
func TestResultMedia(t *testing.T) {
	body := []byte(`{"message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"get_chart","arguments":{}}}]},"done":true,"done_reason":"stop"}`)
	const payload = "aGFyYm91ci1saWdodC0wMDEh"
	for _, mode := range []string{"", codecs.MediaPlaceholder, codecs.MediaNative, codecs.MediaFollowUp} {
		for _, block := range []string{
			`{"type":"text","text":"lamp 7"}`, `{"type":"image","mimeType":"image/png","data":"` + payload + `"}`,
			`{"type":"image","mimeType":"image/tiff","data":"` + payload + `"}`, `{"type":"audio","mimeType":"audio/wav","data":"` + payload + `"}`,
			`{"type":"resource","resource":{"uri":"file:///a.pdf","mimeType":"application/pdf","blob":"` + payload + `"}}`,
			`{"type":"resource","resource":{"uri":"file:///a.txt","text":"low"}}`, `{"type":"resource_link","uri":"file:///b","name":"b"}`,
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + payload + `"}}`, `{"type":"oyster"}`, `7`,
		} {
			p := codecs.Profile{ResultImages: mode, ResultPDF: mode}
			r, err := codec.Reply(body, p)
			if err != nil {
				t.Fatal(err)
			}
			msgs, _, err := codec.Continue(r, []codecs.ToolResult{{Pos: 0, Content: []codecs.Raw{codecs.Raw(block)}}}, p)
			if err != nil {
				t.Fatal(err)
			}
			arrived := false
			for _, m := range msgs[1:] {
				v := jsonx.Of(m)
				text, plain := v.Get("content").Text()
				arrived = arrived || text != "" || v.Get("images").Len() > 0 || !plain
				if plain && len(text) > 0 && jsonx.Check(m) == nil && containsPayload(text, payload) {
					t.Errorf("%s, images %q: payload in text: %s", block, mode, m)
				}
			}
			if !arrived {
				t.Errorf("%s, images %q: nothing arrived: %s", block, mode, jsonx.List(msgs...))
			}
		}
	}
}

func containsPayload(text, payload string) bool {
	for i := 0; i+len(payload) <= len(text); i++ {
		if text[i:i+len(payload)] == payload {
			return true
		}
	}
	return false
}

func seed(f *testing.F) {
	eachCase(f, func(c fixtures.Case, _ codecs.Profile) {
		if body, ok := jsonx.Of(c.Input).Get("body_text").Text(); ok {
			f.Add([]byte(body))
		}
	})
}

// FuzzReply: law 1 for Reply and what follows it.
func FuzzReply(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		codec.TextContent(body, codecs.Profile{})
		raw := codec.RawCalls(body, codecs.Profile{})
		r, err := codec.Reply(body, codecs.Profile{})
		if err != nil {
			var pe *codecs.ProviderError
			var de *codecs.DecodeError
			if !errors.As(err, &pe) && !errors.As(err, &de) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if len(raw) != len(r.Calls()) {
			t.Fatalf("%d raw calls, %d calls", len(raw), len(r.Calls()))
		}
		msgs, _, err := codec.Continue(r, answers(r), codecs.Profile{})
		var de *codecs.DecodeError
		if err != nil && (len(r.Calls()) > 0 || !errors.As(err, &de)) { // a body without a message has no echo
			t.Fatal(err)
		}
		if err := jsonx.Check(jsonx.List(msgs...)); err != nil {
			t.Fatal(err)
		}
		out, _, err := codec.RenderReply(r, codecs.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		if err := jsonx.Check(out); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzError: every body gives a message and a kind.
func FuzzError(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		if e := codec.Error(500, nil, body); e.Message == "" || e.Kind == "" || e.Dialect != codec.Dialect() {
			t.Fatalf("%+v", e)
		}
	})
}

// FuzzParseRequest: what parses encodes again.
func FuzzParseRequest(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		req, _, err := codec.ParseRequest(path, body, codecs.Profile{})
		if err != nil {
			return
		}
		again, _, err := codec.Request(req, codecs.Profile{})
		if err != nil {
			return
		}
		if err := jsonx.Check(again); err != nil {
			t.Fatal(err)
		}
	})
}
