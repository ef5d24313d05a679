package laws

import (
	"testing"
	"unicode/utf8"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
)

// seeds visits every body of a case, those of requests that it wants included.
func (s Dialect) seeds(f *testing.F, add func(body []byte)) {
	s.cases(f, func(c fixtures.Case, _ codecs.Profile) {
		if body, ok := jsonx.Of(c.Input).Get("body_text").Text(); ok {
			add([]byte(body))
		}
		if c.Op == "request" && c.Whole() != nil {
			add(c.Whole())
		}
	})
}

// FuzzReply is law 1 for Reply and what follows it: nothing panics, and what
// decodes also echoes with the same calls, and renders to a body that decodes.
func FuzzReply(f *testing.F, s Dialect) {
	s.seeds(f, func(body []byte) { f.Add(body) })
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, p := range s.profiles(codecs.Profile{}) {
			r, ok := s.decode(t, body, p)
			if !ok {
				continue
			}
			msgs, _, err := s.Codec.Continue(r, Answers(r), p)
			if err != nil {
				t.Fatal(err)
			}
			h := s.parse(t, msgs, p)
			got := codecs.Reply{Parts: h.parts}.Calls()
			if names(got) != names(r.Calls()) && !s.open(r) && utf8.Valid(body) {
				t.Fatalf("the echo has the calls %s, want %s\n%s", names(got), names(r.Calls()), msgs)
			}
			if s.Whole && utf8.Valid(body) && r.Finish != codecs.FinishMalformedCall { // bad bytes come back as U+FFFD
				Echo(t, s, r, p)
				loose := s
				loose.Lossy = true // any key may stand there, and a loss with a warning is none
				RoundTrip(t, loose, r, p)
			}
			out, _, err := s.Codec.RenderReply(r, p, codecs.Likeness{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Codec.Reply(out, p); err != nil {
				typed(t, s.Codec.Dialect(), err)
				if r.Finish != codecs.FinishError {
					t.Fatalf("%v in %s", err, out)
				}
			}
		}
	})
}

// FuzzError: every body of an error status gives a typed error with words and a
// kind, and so does its rendering.
func FuzzError(f *testing.F, s Dialect) {
	s.seeds(f, func(body []byte) { f.Add(429, body) })
	f.Add(500, []byte(`{"base_resp":{"status_code":2013,"status_msg":"no"}}`))
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		e := s.Codec.Error(status, nil, body)
		if e.Message == "" || e.Kind == "" || e.Status != status || e.Dialect != s.Codec.Dialect() {
			t.Fatalf("error %+v", e)
		}
		answer := s.Codec.RenderError(e, codecs.Profile{}, codecs.Likeness{})
		rendered, out := answer.Status, answer.Body
		if rendered < 400 || status >= 400 && status < 600 && rendered != status {
			t.Fatalf("status %d became %d", status, rendered)
		}
		if err := jsonx.Check(out); err != nil {
			t.Fatal(err)
		}
		if again := s.Codec.Error(rendered, nil, out); again.Message == "" || again.Kind == "" {
			t.Fatalf("the rendered error reads as %+v", again)
		}
	})
}

// FuzzParseRequest is law 1 and law 9 for requests: what parses encodes again,
// or is an error with words, and then parses with the same calls.
func FuzzParseRequest(f *testing.F, s Dialect) {
	s.seeds(f, func(body []byte) { f.Add(s.Path, body) })
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		s.Codec.Match(codecs.Post(path, body))
		req, said, err := s.Codec.ParseRequest(codecs.Post(path, body), codecs.Profile{})
		if err != nil {
			typed(t, s.Codec.Dialect(), err)
			return
		}
		if err := jsonx.Check(neutral.ViewRequest(req)); err != nil {
			t.Fatalf("view: %v", err)
		}
		out, _, err := s.Codec.Request(req, codecs.Profile{})
		if err != nil && s.TakesMessages {
			req.ServerTools, req.Extra = nil, nil
			out, _, err = s.Codec.Request(req, codecs.Profile{})
		}
		if unpaired(err) && warned(said, codecs.WarnResultOrphan) {
			return
		}
		if err != nil {
			if s.TakesAll || s.TakesMessages || err.Error() == "" {
				t.Fatal(err)
			}
			return
		}
		if err := jsonx.Check(out); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		again, _, err := s.Codec.ParseRequest(codecs.Post(path, out), codecs.Profile{})
		if err != nil {
			if len(req.Extra) == 0 {
				t.Fatalf("our own request does not parse: %v\n%s", err, out)
			}
			return
		}
		if a, b := names(assistantCalls(req)), names(assistantCalls(again)); a != b && utf8.Valid(body) && len(req.Extra) == 0 {
			t.Fatalf("the calls %s became %s\n%s", a, b, out)
		}
	})
}

func assistantCalls(req codecs.Request) (calls []codecs.ToolCall) {
	for _, m := range req.Messages {
		if m.Role == "assistant" {
			calls = append(calls, codecs.Reply{Parts: m.Parts}.Calls()...)
		}
	}
	return calls
}
