package cassettes_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/toolconform/conform/cassettes"
)

// The planted secrets: one of each way in which a client sends a key, one that
// only the configuration knows.
const (
	headerKey  = "bearer-Key/of+the=lamp-room"
	apiKey     = "x-api-key-of-the-pilot-house"
	queryKey   = "query key&of the quay"
	configured = `pass"word é of the harbour`
)

var shapedKey = "sk-" + strings.Repeat("q7", 14)

// leaky repeats every secret in header and body, as bad error texts do.
func leaky(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Set-Cookie", "session="+headerKey)
	w.Header().Set("X-Request-Id", "req-of-an-account")
	w.Header().Set("Retry-After", "7")
	w.WriteHeader(401)
	nested, _ := json.Marshal(map[string]string{"said": headerKey + configured})
	reply, _ := json.Marshal(map[string]any{
		"error": "wrong key " + r.Header.Get("X-Api-Key") + " or " + r.URL.Query().Get("key"), "nested": string(nested),
		"shape": shapedKey, "basic": base64.StdEncoding.EncodeToString([]byte("user:" + configured)), "echo": string(body),
	})
	w.Write(reply)
	w.Write([]byte("\ndata: \\u0070ass\\\"word \\u00E9 of the harbour"))
}

func TestRecordLeaksNothing(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(leaky))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "engine", "leaky.yaml")
	rec, err := cassettes.NewRecorder(cassettes.RecordConfig{File: file, Secrets: []string{configured}, KeepHeaders: []string{"x-kept"}})
	if err != nil {
		t.Fatal(err)
	}
	sent, _ := json.Marshal(map[string]string{"password": configured, "tide": "high", "key": shapedKey})
	u, _ := url.Parse(server.URL)
	u.User = url.UserPassword("pilot", "userinfo-of-the-pilot")
	u.Path, u.RawQuery = "/v1/chat", "alt=sse&key="+url.QueryEscape(queryKey)
	req := request(t, "POST", u.String(), string(sent))
	req.Header.Set("Authorization", "Bearer "+headerKey)
	req.Header.Set("X-Api-Key", apiKey)
	req.Header.Set("User-Agent", "client of an account")
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("X-Kept", "yes, "+configured)
	resp, err := (&http.Client{Transport: rec}).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	got, _ := io.ReadAll(resp.Body)
	if !bytes.Contains(got, []byte(apiKey)) || resp.Header.Get("X-Request-Id") == "" || resp.StatusCode != 401 {
		t.Errorf("the client does not get what the engine sent: %d %v %s", resp.StatusCode, resp.Header, got)
	}
	if req.Header.Get("Accept-Encoding") == "" || req.Header.Get("X-Api-Key") != apiKey {
		t.Error("the caller's request was changed")
	}
	tape, err := rec.Stop()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, leak := range []string{
		headerKey, apiKey, queryKey, url.QueryEscape(queryKey), configured, "of the harbour", "of+the=lamp", shapedKey,
		"userinfo-of", "pilot:", "req-of-an-account", "client of an account", "session=", base64.StdEncoding.EncodeToString([]byte("user:" + configured))[8:24],
	} {
		if bytes.Contains(text, []byte(leak)) {
			t.Errorf("the tape holds %q:\n%s", leak, text)
		}
	}
	x := tape.Exchanges[0]
	if x.Response.Status != 401 || x.Response.Header.Get("Retry-After") != "7" || x.Request.Header.Get("X-Kept") != "yes, REDACTED" {
		t.Errorf("%+v", x)
	}
	if string(x.Request.Body) != `{"key":"REDACTED","password":"REDACTED","tide":"high"}` {
		t.Errorf("request body %s", x.Request.Body)
	}
	if want := "/v1/chat?alt=sse&key=REDACTED"; !strings.HasSuffix(x.Request.URL, want) {
		t.Errorf("url %s", x.Request.URL)
	}
	read, err := cassettes.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	same(t, read, tape)
}

func TestRecordKeepsStreams(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range 3 {
			fmt.Fprintf(w, "data: {\"i\":%d,\"of\":%s}\n\n", i, body)
			w.(http.Flusher).Flush()
		}
	}))
	defer server.Close()
	rec, err := cassettes.NewRecorder(cassettes.RecordConfig{})
	if err != nil {
		t.Fatal(err)
	}
	talk := func(transport http.RoundTripper, base string) (replies []string) {
		for i := range 3 {
			resp, err := transport.RoundTrip(request(t, "POST", base+"/chat", fmt.Sprintf(`{"n":%d}`, i)))
			if err != nil {
				t.Fatal(err)
			}
			body, _ := io.ReadAll(resp.Body)
			replies = append(replies, string(body))
		}
		return replies
	}
	live := talk(rec, server.URL)
	tape, err := rec.Stop()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rec.RoundTrip(request(t, "POST", server.URL, "")); err == nil {
		t.Error("a stopped recorder goes on")
	}
	var kept []string
	for _, x := range tape.Exchanges {
		kept = append(kept, string(x.Response.Body))
	}
	if strings.Join(live, "|") != strings.Join(kept, "|") {
		t.Errorf("live %q, kept %q", live, kept)
	}
}

func TestRecordIsSafeForConcurrentUse(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	defer server.Close()
	rec, err := cassettes.NewRecorder(cassettes.RecordConfig{Secrets: []string{configured}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			resp, err := rec.RoundTrip(request(t, "POST", server.URL, `{}`))
			if err != nil {
				t.Error(err)
				return
			}
			resp.Header.Set("Content-Type", "mine")
			resp.Body.Close()
		})
	}
	wg.Wait()
	if tape, err := rec.Stop(); err != nil || len(tape.Exchanges) != 8 {
		t.Errorf("%d exchanges, %v", len(tape.Exchanges), err)
	}
}

func TestRecordRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "there.yaml")
	if err := os.WriteFile(file, []byte("precious"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cassettes.NewRecorder(cassettes.RecordConfig{File: file}); err == nil || !strings.Contains(err.Error(), "exists") {
		t.Errorf("an existing tape: %v", err)
	}
	// go-vcr would replay from a file that exists; asked to overwrite, it must record.
	rec, err := cassettes.NewRecorder(cassettes.RecordConfig{File: file, Overwrite: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := rec.Stop(); err == nil || !strings.Contains(err.Error(), "no exchange") {
		t.Errorf("an empty recording: %v", err)
	}
	if data, _ := os.ReadFile(file); string(data) != "precious" {
		t.Errorf("the file became %q", data)
	}
	if _, err := cassettes.NewRecorder(cassettes.RecordConfig{Secrets: []string{"abc"}}); err == nil || !strings.Contains(err.Error(), "secret 0") {
		t.Errorf("a short secret: %v", err)
	}
	if _, err := cassettes.NewRecorder(cassettes.RecordConfig{KeepHeaders: []string{"authorization"}}); err == nil {
		t.Error("a secret header may be kept")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		w.Write([]byte("x"))
	}))
	defer server.Close()
	if rec, err = cassettes.NewRecorder(cassettes.RecordConfig{}); err != nil {
		t.Fatal(err)
	}
	if _, err := rec.RoundTrip(request(t, "POST", server.URL, "")); err == nil || !strings.Contains(err.Error(), "coded as br") {
		t.Errorf("a coded body: %v", err)
	}
}

// A key in the body, where some engines want it, is in no tape, also when nobody
// said that there is one. What is taken out because of its shape is told, and
// prose that only begins like a key stays.
func TestRecordFindsKeysByItself(t *testing.T) {
	const prose = `the bearer responsibilities-of-the-pilot, sk-learn-pipelines-and-more, `
	for name, c := range map[string]struct{ kind, body, key string }{
		"aki":    {"application/json", `{"key":"harbour-key-of-aki","chat_context":"the harbour-key-of-aki"}`, "harbour-key-of-aki"},
		"short":  {"application/json", `{"api_key":"ab","a":{"key":"ab"}}`, `_key":"ab"`},
		"nested": {"application/json", `{"auth":{"token":"harbour-key-of-auth"}}`, "harbour-key-of-auth"},
		"form":   {"application/x-www-form-urlencoded", `grant_type=x&client_secret=harbour%2Bkey%2Bof+a+form`, "harbour%2Bkey"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				w.Write(append(body, prose+shapedKey...))
			}))
			defer server.Close()
			rec := recorder(t, cassettes.RecordConfig{})
			req := request(t, "POST", server.URL, c.body)
			req.Header.Set("Content-Type", c.kind)
			resp, err := (&http.Client{Transport: rec}).Do(req)
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
			tape, err := rec.Stop()
			if err != nil {
				t.Fatal(err)
			}
			x := tape.Exchanges[0]
			if got := string(x.Request.Body); strings.Contains(got, c.key) || !strings.Contains(got, "REDACTED") {
				t.Errorf("request: %s", got)
			}
			if got := string(x.Response.Body); name != "short" && strings.Contains(got, c.key) || !strings.Contains(got, prose+"REDACTED") {
				t.Errorf("response: %s", got)
			}
			if got := rec.Redacted(); len(got) != 1 || got[0] != "exchange 0, response body: an API key (sk-...)" {
				t.Errorf("told: %q", got)
			}
		})
	}
}
