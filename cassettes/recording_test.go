package cassettes_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/cassettes"
)

// The same two exchanges in both JSON forms.
const (
	exchangesForm = `{"dialect":"gemini","provider":"quay","model":"m","tags":["tools"],"source":{"repo":"o/r","path":"p","commit":"c","licence":"MIT"},"exchanges":[
	 {"request":{"method":"POST","url":"https://quay.test/v1beta/models/m:streamGenerateContent?alt=sse","headers":{"accept":"*/*"},"body":{"n": 1.0}},
	  "response":{"status":200,"headers":{"content-type":"text/event-stream"},"raw":"data: {}\r\n\r\n"}},
	 {"request":{"method":"POST","url":"/v1beta/models/m:generateContent","headers":{},"body":{}},
	  "response":{"status":429,"headers":{"retry-after":"3"},"body":{"error": {}}}}]}`
	stepsForm = `{"engine":"quay v1.2","dialect":"gemini","scenario":"tide","stream":true,"steps":[
	 {"request":{"method":"POST","path":"/v1beta/models/m:streamGenerateContent?alt=sse","headers":{"accept":"*/*"},"body":{"n": 1.0}},
	  "response":{"status":200,"content_type":"text/event-stream","raw":"data: {}\r\n\r\n","events":[]}},
	 {"request":{"method":"POST","path":"/v1beta/models/m:generateContent","body":{"model":"m"}},
	  "response":{"status":429,"json":{"error": {}}}}]}`
)

func TestParseRecording(t *testing.T) {
	foreign, err := cassettes.ParseRecording("a/one.json", []byte(exchangesForm))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := cassettes.ParseRecording("two.json", []byte(stepsForm))
	if err != nil {
		t.Fatal(err)
	}
	if foreign.Name != "one" || foreign.Dialect != "gemini" || foreign.Provider != "quay" || foreign.Model != "m" || foreign.Source.Licence != "MIT" || !cmp.Equal(foreign.Tags, []string{"tools"}) {
		t.Errorf("%+v", foreign)
	}
	if ours.Name != "two" || ours.Engine != "quay" || ours.Version != "1.2" || ours.Scenario != "tide" || !ours.Stream {
		t.Errorf("%+v", ours)
	}
	for _, r := range []cassettes.Recording{foreign, ours} {
		first, second := r.Exchanges[0], r.Exchanges[1]
		if first.Request.Method != "POST" || !strings.HasSuffix(first.Request.URL, "?alt=sse") || first.Request.Header.Get("Accept") != "*/*" {
			t.Errorf("%s: %+v", r.Name, first.Request)
		}
		if string(first.Request.Body) != `{"n":1.0}` || string(first.Response.Body) != "data: {}\r\n\r\n" || string(second.Response.Body) != `{"error":{}}` {
			t.Errorf("%s: %q, %q, %q", r.Name, first.Request.Body, first.Response.Body, second.Response.Body)
		}
		if !first.Response.Streamed() || second.Response.Streamed() || second.Response.Status != 429 {
			t.Errorf("%s: %+v", r.Name, r.Exchanges)
		}
	}
	if foreign.Exchanges[1].Response.Header.Get("Retry-After") != "3" {
		t.Errorf("%+v", foreign.Exchanges[1].Response)
	}
}

func TestReadRecordingTellsOtherFilesApart(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		none bool // no recording at all, rather than a broken one
	}{
		"list.json":   {`[]`, true},
		"other.json":  {`{"exchanges":{}}`, true},
		"broken.json": {`{"exchanges":[`, false},
		"hollow.json": {`{"exchanges":[{}]}`, false},
		"ci.yaml":     {"on: push\n", true},
		"tape.yaml":   {"interactions: [1]\n", false},
		"t.httprr":    {"no trace", false},
	} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := cassettes.ReadRecording(file); err == nil || errors.Is(err, cassettes.ErrNoRecording) != c.none {
			t.Errorf("%s: %v", name, err)
		}
		if !cassettes.IsRecording(name) {
			t.Errorf("%s is not read", name)
		}
	}
}

func TestStreamed(t *testing.T) {
	for body, want := range map[string]bool{
		"data: {}\n\n": true, "event: x\n": true, ": ping\n": true, `[{"candidates":[]}]`: true, "{\"a\":1}\n{\"b\":2}\n": true,
		`{"a":1}` + "\n": false, `{"a":`: false, "": false, "<html>": false,
	} {
		if got := (cassettes.Response{Body: []byte(body)}).Streamed(); got != want {
			t.Errorf("%q: %v", body, got)
		}
	}
}
