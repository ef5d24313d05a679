package responses_test

import (
	"errors"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/responses"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
)

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
		c := responses.Codec{}
		c.RawCalls(body, codecs.Profile{})
		c.TextContent(body, codecs.Profile{})
		r, err := c.Reply(body, codecs.Profile{})
		if err != nil {
			var pe *codecs.ProviderError
			var de *codecs.DecodeError
			if !errors.As(err, &pe) && !errors.As(err, &de) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if len(c.RawCalls(body, codecs.Profile{})) != len(r.Calls()) {
			t.Fatal("RawCalls and Reply see other calls")
		}
		for _, p := range []codecs.Profile{{}, {EchoItems: []string{"message", "function_call"}, FlattenText: true, UndecodableEcho: "empty_object"}} {
			items, _, err := c.Continue(r, answerAll(r), p)
			if err != nil {
				t.Fatal(err)
			}
			if err := jsonx.Check(jsonx.List(items...)); err != nil {
				t.Fatal(err)
			}
		}
		out, _, err := c.RenderReply(r, codecs.Profile{})
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
		if e := (responses.Codec{}).Error(500, nil, body); e.Message == "" || e.Kind == "" {
			t.Fatalf("message %q, kind %q", e.Message, e.Kind)
		}
	})
}

// FuzzParseRequest: what parses encodes again or says why not.
func FuzzParseRequest(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		c := responses.Codec{}
		req, _, err := c.ParseRequest("/v1/responses", body, codecs.Profile{})
		if err != nil {
			return
		}
		again, _, err := c.Request(req, codecs.Profile{})
		if err != nil {
			return
		}
		if err := jsonx.Check(again); err != nil {
			t.Fatal(err)
		}
	})
}
