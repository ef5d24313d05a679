package suite_test

import (
	"strings"
	"testing"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite"
)

// TestTranscriptsHoldNoKey runs a scenario at every engine: the key was sent, in a
// header, the query or the body, and stands nowhere in the transcript.
func TestTranscriptsHoldNoKey(t *testing.T) {
	r := newRunner(t)
	kinds := map[string]bool{}
	r.Keep = func(p suite.Played) (string, error) {
		text, err := p.JSON()
		if err != nil {
			t.Errorf("%s: %v", p.Engine, err)
			return "", nil
		}
		if p.Key == "" || strings.Contains(string(text), p.Key) {
			t.Errorf("%s: the key %q stands in %s", p.Engine, p.Key, text)
		}
		e, err := r.Catalog.Lookup(p.Engine)
		if err != nil {
			t.Fatal(err)
		}
		kind, _, _ := strings.Cut(e.Auth, ":")
		in := p.Transcript.Exchanges[0].In
		sent := strings.Contains(string(in.Body)+in.Query.Encode(), p.Key)
		for _, values := range in.Header {
			sent = sent || strings.Contains(strings.Join(values, " "), p.Key)
		}
		if sent {
			kinds[kind] = true
		}
		return "", nil
	}
	for _, e := range r.Catalog.All() { // one by one: none stands for another
		if _, err := r.Run(t.Context(), suite.Selection{Engines: []string{e.Name}, Scenarios: []string{"basic/one-call"}}); err != nil {
			t.Fatal(err)
		}
	}
	if !kinds["bearer"] || !kinds["header"] || !kinds["body"] {
		t.Errorf("a key was sent in these ways only: %v", kinds)
	}
}

// TestTranscriptTellsAll reads back what happened in a cell.
func TestTranscriptTellsAll(t *testing.T) {
	r := newRunner(t)
	var got jsonx.Value
	r.Keep = func(p suite.Played) (string, error) {
		text, err := p.JSON()
		got = jsonx.Of(text)
		return "", err
	}
	runCell(t, r, "anthropic", "errors/tool-error")
	for pointer, want := range map[string]string{
		"/engine":                     "anthropic",
		"/scenario":                   "errors/tool-error",
		"/client/name":                "reference",
		"/exchanges/0/request/method": "POST",
		"/exchanges/0/request/url":    "/v1/messages",
		"/exchanges/0/request/headers/Anthropic-Version/0": "2023-06-01",
		"/exchanges/1/request/body/messages/1/role":        "assistant",
		"/exchanges/0/reply/body/stop_reason":              "tool_use",
		"/exchanges/0/reply/headers/Content-Type/0":        "application/json",
		"/verdict": "pass",
	} {
		if v := got.Lookup(pointer).Str(); v != want {
			t.Errorf("%s is %q, want %q", pointer, v, want)
		}
	}
	if got.Get("exchanges").Len() != 2 || got.Path("end", "text").Str() == "" || got.Get("checks").Len() < 5 {
		t.Errorf("%s", got.Raw())
	}
	failed, refused := false, false
	for _, c := range got.Get("tool_calls").Items() {
		failed = failed || c.Path("result", "isError").Bool() && c.Get("arguments").IsObject()
		refused = refused || c.Get("error").Str() == "gauge offline" && !c.Get("result").Exists()
	}
	if !failed || !refused {
		t.Errorf("tool calls %s", got.Get("tool_calls").Raw())
	}
}
