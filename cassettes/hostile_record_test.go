package cassettes_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"unicode/utf16"

	"github.com/toolconform/conform/cassettes"
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func answer(body io.ReadCloser, header http.Header) transport {
	return func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Header: header, Body: body}, nil
	}
}

func recorder(t *testing.T, config cassettes.RecordConfig) *cassettes.Recorder {
	t.Helper()
	rec, err := cassettes.NewRecorder(config)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// closing tells whether a body was closed.
type closing struct {
	io.Reader
	closed *bool
}

func (c closing) Close() error { *c.closed = true; return nil }

type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

func TestRecordOddTransports(t *testing.T) {
	broken := errors.New("the cable broke")
	for _, c := range []struct {
		name    string
		answers transport
		want    string // of the error; "" is none
	}{
		{"no body", answer(nil, http.Header{}), ""},
		{"no header", answer(io.NopCloser(strings.NewReader("x")), nil), ""},
		{"nothing", func(*http.Request) (*http.Response, error) { return nil, nil }, "neither a response nor an error"},
		{"endless body", answer(io.NopCloser(endless{}), nil), "the response to POST is larger than 16 MiB"},
		{"body breaks", answer(io.NopCloser(io.MultiReader(strings.NewReader("x"), iotest.ErrReader(broken))), nil), "the cable broke"},
		{"error", func(*http.Request) (*http.Response, error) { return nil, broken }, "the cable broke"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := recorder(t, cassettes.RecordConfig{Transport: c.answers})
			resp, err := rec.RoundTrip(request(t, "POST", "http://h/x", "{}"))
			if c.want != "" {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Errorf("error = %v, want one with %q", err, c.want)
				}
				if tape, err := rec.Stop(); err == nil || len(tape.Exchanges) != 0 {
					t.Errorf("a failed exchange was recorded: %+v, %v", tape, err)
				}
				return
			}
			if err != nil || resp.Body == nil || resp.Header == nil {
				t.Fatalf("%+v, %v", resp, err)
			}
			if tape, err := rec.Stop(); err != nil || len(tape.Exchanges) != 1 {
				t.Errorf("%+v, %v", tape, err)
			}
		})
	}
}

// A body that breaks is not sent in part, is closed, and is no exchange.
func TestRecordBodiesThatBreak(t *testing.T) {
	sent := 0
	rec := recorder(t, cassettes.RecordConfig{Transport: transport(func(*http.Request) (*http.Response, error) { sent++; return nil, io.EOF })})
	for name, rt := range map[string]http.RoundTripper{"recorder": rec} {
		for what, body := range map[string]io.Reader{
			"breaks": io.MultiReader(strings.NewReader(`{"a":`), iotest.ErrReader(errors.New("the cable broke"))),
			"huge":   endless{},
		} {
			closed := false
			req := request(t, "POST", "http://h/v1/chat?alt=sse", "")
			req.Body, req.ContentLength = closing{body, &closed}, -1
			_, err := rt.RoundTrip(req)
			if err == nil || !strings.Contains(err.Error(), "the request's body: ") || !closed {
				t.Errorf("%s, %s: error %v, closed %v", name, what, err, closed)
			}
		}
		if _, err := rt.RoundTrip(&http.Request{Method: "POST"}); err == nil || !strings.Contains(err.Error(), "without a URL") {
			t.Errorf("%s: no URL: %v", name, err)
		}
	}
	if sent != 0 {
		t.Errorf("%d requests were sent", sent)
	}
}

// A stream without a length, and a chunked request body, are recorded whole.
func TestRecordLargeBodies(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		w.Write(body)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "large.yaml")
	rec := recorder(t, cassettes.RecordConfig{File: file})
	body := `"` + strings.Repeat("tide ", 20_000) + `"`
	req := request(t, "POST", server.URL, "")
	req.Body, req.ContentLength, req.GetBody = io.NopCloser(strings.NewReader(body)), -1, nil
	resp, err := rec.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(resp.Body); err != nil || string(got) != body {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if err := errors.Join(resp.Body.Close(), resp.Body.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	tape, err := rec.Stop()
	if err != nil || string(tape.Exchanges[0].Request.Body) != body || string(tape.Exchanges[0].Response.Body) != body {
		t.Fatal("the tape does not hold the bodies", err)
	}
	read, err := cassettes.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	same(t, read, tape)
	// What could not be read again is not written.
	file = filepath.Join(t.TempDir(), "larger.yaml")
	rec = recorder(t, cassettes.RecordConfig{File: file})
	for range 2 {
		if _, err := rec.RoundTrip(request(t, "POST", server.URL, strings.Repeat(",", 260_000))); err != nil {
			t.Fatal(err)
		}
	}
	_, err = rec.Stop()
	if _, there := os.Stat(file); err == nil || !strings.Contains(err.Error(), "could not be read again") || there == nil {
		t.Errorf("error = %v, file %v", err, there)
	}
}

func TestStopTwice(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "two.yaml")
	config := cassettes.RecordConfig{File: file, Transport: answer(nil, nil)}
	rec, late := recorder(t, config), recorder(t, config)
	for _, r := range []*cassettes.Recorder{rec, late} {
		if _, err := r.RoundTrip(request(t, "POST", "http://h/x", "{}")); err != nil {
			t.Fatal(err)
		}
	}
	first, err := rec.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("edited"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := rec.Stop()
	if err != nil {
		t.Errorf("stopping twice: %v", err)
	}
	same(t, again, first)
	if _, err := late.Stop(); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("a second recorder of one file: %v", err)
	}
	if text, err := os.ReadFile(file); err != nil || string(text) != "edited" {
		t.Errorf("the file became %q (%v)", text, err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".tape-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// An exchange that ends after Stop is not in the tape, so it fails: a client that
// got an answer finds it on the tape.
func TestStopWhileRequestsAreOnTheirWay(t *testing.T) {
	entered, leave := make(chan bool), make(chan bool)
	first := true
	var mu sync.Mutex
	rec := recorder(t, cassettes.RecordConfig{Transport: transport(func(*http.Request) (*http.Response, error) {
		mu.Lock()
		wait := !first
		first = false
		mu.Unlock()
		if wait {
			entered <- true
			<-leave
		}
		return &http.Response{StatusCode: 200}, nil
	})})
	if _, err := rec.RoundTrip(request(t, "POST", "http://h/x", "{}")); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		_, err := rec.RoundTrip(request(t, "POST", "http://h/x", "{}"))
		done <- err
	}()
	<-entered
	tape, err := rec.Stop()
	leave <- true
	if late := <-done; err != nil || len(tape.Exchanges) != 1 || late == nil || !strings.Contains(late.Error(), "stopped") {
		t.Errorf("%d exchanges, %v; the late request: %v", len(tape.Exchanges), err, late)
	}
}

func TestConcurrentStops(t *testing.T) {
	rec := recorder(t, cassettes.RecordConfig{File: filepath.Join(t.TempDir(), "x.yaml"), Transport: transport(func(*http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("{}"))}, nil
	})})
	if _, err := rec.RoundTrip(request(t, "POST", "http://h/x", "{}")); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if resp, err := rec.RoundTrip(request(t, "POST", "http://h/x", "{}")); err == nil {
				resp.Body.Close()
			}
		})
		wg.Go(func() {
			if _, err := rec.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// Header values that no HTTP message can hold do not break the tape.
func TestHeadersWithNewlines(t *testing.T) {
	header := http.Header{"Content-Type": {"text/plain\r\nX-Evil: 1", "a\n- b: [\"\x00\xff"}, "Retry-After": {""}}
	file := filepath.Join(t.TempDir(), "x.yaml")
	rec := recorder(t, cassettes.RecordConfig{File: file, KeepHeaders: []string{"X-Odd\nName"}, Transport: answer(nil, header)})
	if _, err := rec.RoundTrip(request(t, "POST", "http://h/x", "{}")); err != nil {
		t.Fatal(err)
	}
	tape, err := rec.Stop()
	if err != nil {
		t.Fatal(err)
	}
	read, err := cassettes.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	same(t, read, tape)
	if got := read.Exchanges[0].Response.Header["Content-Type"]; len(got) != 2 || got[0] != header["Content-Type"][0] || got[1] != header["Content-Type"][1] {
		t.Errorf("header %q", got)
	}
	req := request(t, "POST", "http://h/x", "{}")
	req.Header["Accept"] = []string{"a\r\nX-Evil: 1"}
	if _, err := recorder(t, cassettes.RecordConfig{Transport: answer(nil, nil)}).RoundTrip(req); err == nil {
		t.Error("a request header with a newline is sent")
	}
}

// However JSON spells a secret, in part or whole, it does not reach the tape.
func TestSecretsInJSONEscapes(t *testing.T) {
	const secret = `harbour-"pass"/w\o<rd é🌊🌊`
	nest := func(s string, times int) string {
		for range times {
			quoted, err := json.Marshal(s)
			if err != nil {
				t.Fatal(err)
			}
			s = string(quoted)
		}
		return s
	}
	mixed := ""
	for i, r := range []rune(secret) {
		switch high, low := utf16.EncodeRune(r); {
		case r > 0xffff:
			mixed += fmt.Sprintf(`\u%04x\u%04X`, high, low)
		case i%2 == 0 || r == '"' || r == '\\':
			mixed += fmt.Sprintf(`\u%04x`, r)
		default:
			mixed += string(r)
		}
	}
	for name, body := range map[string]string{
		"once": nest(secret, 1), "twice": nest(secret, 2), "four times": nest(secret, 4), "mixed": `{"k":"` + mixed + `"}`,
		"mixed, nested": nest(`{"k":"`+mixed+`"}`, 2), "slashes": `{"k":"` + strings.ReplaceAll(strings.Trim(nest(secret, 1), `"`), "/", `\/`) + `"}`,
	} {
		rec := recorder(t, cassettes.RecordConfig{Secrets: []string{secret}, Transport: answer(io.NopCloser(strings.NewReader(body)), nil)})
		if _, err := rec.RoundTrip(request(t, "POST", "http://h/x", body)); err != nil {
			t.Fatal(err)
		}
		tape, err := rec.Stop()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, got := range [][]byte{tape.Exchanges[0].Request.Body, tape.Exchanges[0].Response.Body} {
			if bytes.Contains(bytes.ToLower(got), []byte("d83c")) || bytes.Contains(got, []byte("arbour")) || bytes.Contains(got, []byte("pass")) || !bytes.Contains(got, []byte("REDACTED")) {
				t.Errorf("%s: the tape holds %s", name, got)
			}
			if !json.Valid(got) {
				t.Errorf("%s: %s is no JSON", name, got)
			}
		}
	}
}

// What was recorded with a secret in it is what is sent by the client that has the
// secret, and for one that has another; nothing else is forgiven.
func TestRecordedSecretsCompare(t *testing.T) {
	const secret = "key/of the harbour"
	rec := recorder(t, cassettes.RecordConfig{Secrets: []string{secret}, Transport: answer(nil, nil)})
	body := func(key, more string) string { return `{"a":{"key":"x ` + key + ` y"},"more":` + more + `}` }
	if _, err := rec.RoundTrip(request(t, "POST", "http://h/bot-"+"key%2Fof%20the%20harbour"+"/x?q=1", body(secret, "1"))); err != nil {
		t.Fatal(err)
	}
	tape, err := rec.Stop()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, url, body, want string }{
		{"the same", "http://h/bot-key%2Fof%20the%20harbour/x?q=1", body(secret, "1"), ""},
		{"another key", "http://h/bot-other/x?q=1", body("other", "1"), ""},
		{"another value", "http://h/bot-other/x?q=1", body("other", "2"), "body /more: want 1, got 2"},
		{"another text", "http://h/bot-other/x?q=1", strings.Replace(body("other", "1"), "x other", "z other", 1), "body /a/key: "},
		{"no text", "http://h/bot-other/x?q=1", `{"a":{"key":7},"more":1}`, "body /a/key: "},
		{"another path", "http://h/bot-other/y?q=1", body(secret, "1"), "path: "},
	} {
		err := tape.Differs(0, sent("POST", c.url, c.body))
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error = %v, want %q", c.name, err, c.want)
		}
	}
	// More redacted places than an error tells do not hide another difference.
	many := func(key, last string) []byte {
		return []byte(`[` + strings.Repeat(`"`+key+`",`, 50) + last + `]`)
	}
	list := cassettes.Tape{Exchanges: []cassettes.Exchange{{Request: cassettes.Request{Method: "POST", URL: "http://h/x", Body: many("REDACTED", "1")}}}}
	if err := list.Differs(0, sent("POST", "http://h/x", string(many("k", "2")))); err == nil || !strings.Contains(err.Error(), "body /50: want 1, got 2") {
		t.Errorf("error = %v", err)
	}
	if err := list.Differs(0, sent("POST", "http://h/x", string(many("k", "1")))); err != nil {
		t.Error(err)
	}
}
