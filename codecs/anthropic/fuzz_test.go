package anthropic_test

import (
	"errors"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
)

func seed(f *testing.F) {
	eachCase(f, func(c fixtures.Case, _ codecs.Profile) {
		if body, ok := jsonx.Of(c.Input).Get("body_text").Text(); ok {
			f.Add([]byte(body))
		}
		if c.Op == "request" && c.Want.Value != nil {
			f.Add([]byte(c.Want.Value))
		}
	})
}

// FuzzReply: law 1 for Reply and what follows it.
func FuzzReply(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		c := anthropic.Codec{}
		raw := c.RawCalls(body, codecs.Profile{})
		c.TextContent(body, codecs.Profile{})
		r, err := c.Reply(body, codecs.Profile{})
		if err != nil {
			typed(t, err)
			return
		}
		if len(raw) != len(r.Calls()) {
			t.Fatal("RawCalls and Reply see other calls")
		}
		for _, call := range raw {
			if _, _, ok := c.ExtractCall(call); !ok {
				t.Fatalf("no call: %s", call)
			}
		}
		for _, p := range []codecs.Profile{{}, {ReasoningEcho: codecs.EchoRefused, UndecodableEcho: codecs.UndecodableEmpty}} {
			msgs, _, err := c.Continue(r, answerAll(r), p)
			if err != nil {
				t.Fatal(err)
			}
			if err := jsonx.Check(jsonx.List(msgs...)); err != nil {
				t.Fatal(err)
			}
			if len(msgs) == 0 {
				continue
			}
			again, err := c.Reply(msgs[0], codecs.Profile{})
			if err != nil {
				t.Fatalf("%v in the echo %s", err, msgs[0])
			}
			if len(again.Calls()) != len(r.Calls()) {
				t.Fatalf("%d calls came, %d are in the echo", len(r.Calls()), len(again.Calls()))
			}
		}
		out, _, err := c.RenderReply(r, codecs.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Reply(out, codecs.Profile{}); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
	})
}

func typed(t *testing.T, err error) {
	var pe *codecs.ProviderError
	var de *codecs.DecodeError
	if !errors.As(err, &pe) && !errors.As(err, &de) {
		t.Fatalf("untyped error %v", err)
	}
}

// FuzzError: every body gives a message and a kind, and so does its rendering.
func FuzzError(f *testing.F) {
	seed(f)
	f.Add([]byte(`{"base_resp":{"status_code":2013,"status_msg":"no"}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		e := anthropic.Codec{}.Error(500, nil, body)
		if e.Message == "" || e.Kind == "" {
			t.Fatalf("%+v", e)
		}
		status, out := anthropic.Codec{}.RenderError(e, codecs.Profile{})
		if status != 500 {
			t.Fatal(status)
		}
		if err := jsonx.Check(out); err != nil {
			t.Fatal(err)
		}
	})
}

// FuzzParseRequest: a request that reads can be written, and reads again.
func FuzzParseRequest(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		c := anthropic.Codec{}
		req, _, err := c.ParseRequest("/v1/messages", body, codecs.Profile{})
		if err != nil {
			typed(t, err)
			return
		}
		codecs.RequestView(req)
		req.ServerTools, req.Extra = nil, nil // may hold anything
		out, _, err := c.Request(req, codecs.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := c.ParseRequest("/v1/messages", out, codecs.Profile{}); err != nil {
			t.Fatalf("%v in %s", err, out)
		}
	})
}
