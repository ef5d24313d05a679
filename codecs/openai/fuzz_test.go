package openai_test

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/internal/jsonx"
)

// Law 1: nothing panics, and what decodes also echoes, renders and encodes to
// valid JSON.
func FuzzReply(f *testing.F) {
	for _, body := range inputs(f, "reply", "continue", "truncate", "raw_calls") {
		f.Add(body)
	}
	c := openai.Codec{}
	f.Fuzz(func(t *testing.T, body []byte) {
		c.RawCalls(body, codecs.Profile{})
		c.TextContent(body, codecs.Profile{})
		for label, p := range profiles {
			r, err := c.Reply(body, p)
			if err != nil {
				if err.Error() == "" {
					t.Errorf("%s: an error without words", label)
				}
				continue
			}
			codecs.View(r)
			msgs, _, err := c.Continue(r, answers(r), p)
			if err != nil {
				t.Errorf("%s: continue: %v", label, err)
			}
			for _, m := range msgs {
				if err := jsonx.Check(m); err != nil {
					t.Errorf("%s: echo %s: %v", label, m, err)
				}
			}
			out, _, err := c.RenderReply(r, p)
			if err != nil {
				t.Errorf("%s: render: %v", label, err)
			}
			if err := jsonx.Check(out); err != nil {
				t.Errorf("%s: rendered %s: %v", label, out, err)
			}
		}
	})
}

// Every body of an error status gives a typed error with words.
func FuzzError(f *testing.F) {
	for _, body := range inputs(f, "error") {
		f.Add(400, body)
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if e := (openai.Codec{}).Error(status, nil, body); e.Message == "" || e.Kind == "" {
			t.Errorf("error %+v", e)
		}
	})
}

// What parses as a request can be sent again, and then reads the same.
func FuzzParseRequest(f *testing.F) {
	for _, body := range inputs(f, "parse_request") {
		f.Add("/v1/chat/completions", body)
	}
	c := openai.Codec{}
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		c.Match(path)
		req, _, err := c.ParseRequest(path, body, codecs.Profile{})
		if err != nil {
			return
		}
		codecs.RequestView(req)
		out, _, err := c.Request(req, codecs.Profile{})
		if err != nil {
			t.Fatalf("%v", err)
		}
		if err := jsonx.Check(out); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		if _, _, err := c.ParseRequest(path, out, codecs.Profile{}); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
	})
}
