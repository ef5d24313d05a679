package gemini

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// seed adds the bodies of the dialect's cases.
func seed(f *testing.F) {
	f.Helper()
	err := fs.WalkDir(os.DirFS("../../fixtures/cases/gemini"), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".json") {
			return err
		}
		raw, err := os.ReadFile("../../fixtures/cases/gemini/" + path)
		if err != nil {
			return err
		}
		var c struct {
			Input struct {
				BodyText string `json:"body_text"`
			} `json:"input"`
		}
		if err := json.Unmarshal(raw, &c); err != nil {
			return err
		}
		if c.Input.BodyText != "" {
			f.Add([]byte(c.Input.BodyText))
		}
		return nil
	})
	if err != nil {
		f.Fatal(err)
	}
}

// FuzzReply holds every body to laws 1, 3 and 9: no panic, a reply or a typed
// error, and an echo that has the same calls.
func FuzzReply(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		c := Codec{}
		c.RawCalls(body, codecs.Profile{})
		c.TextContent(body, codecs.Profile{})
		r, err := c.Reply(body, codecs.Profile{})
		if err != nil {
			var pe *codecs.ProviderError
			var de *codecs.DecodeError
			if !errors.As(err, &pe) && !errors.As(err, &de) {
				t.Fatalf("error of type %T: %v", err, err)
			}
			return
		}
		if !utf8.Valid(body) { // bad bytes come back as U+FFFD
			return
		}
		checkEcho(t, r)
		checkRender(t, r)
	})
}

// FuzzError holds every error body to a typed error with a message.
func FuzzError(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		e := Codec{}.Error(429, nil, body)
		if e.Message == "" || e.Kind == "" {
			t.Fatalf("no message or kind: %+v", e)
		}
		status, out := Codec{}.RenderError(e, codecs.Profile{})
		if again := (Codec{}).Error(status, nil, out); again.Message == "" || again.Status != 429 {
			t.Fatalf("rendered error reads as %+v", again)
		}
	})
}

// FuzzParseRequest holds every request that parses to law 9: what Request makes
// of it parses again, and from then on nothing changes.
func FuzzParseRequest(f *testing.F) {
	seed(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		const path = "/models/m:generateContent"
		req, _, err := Codec{}.ParseRequest(path, body, codecs.Profile{})
		if err != nil {
			return
		}
		out, _, err := Codec{}.Request(req, codecs.Profile{})
		if err != nil {
			return
		}
		if err := jsonx.Check(out); err != nil {
			t.Fatalf("request is no JSON: %v\n%s", err, out)
		}
		again, _, err := Codec{}.ParseRequest(path, out, codecs.Profile{})
		if err != nil && len(req.Extra) == 0 {
			t.Fatalf("our own request does not parse: %v\n%s", err, out)
		}
		if err != nil {
			return
		}
		if a, b := len(callsOf(req)), len(callsOf(again)); a != b {
			t.Fatalf("%d calls became %d\n%s", a, b, out)
		}
	})
}

func callsOf(req codecs.Request) (calls []codecs.ToolCall) {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if p.Kind == codecs.CallKind && m.Role == "assistant" {
				calls = append(calls, *p.Call)
			}
		}
	}
	return calls
}
