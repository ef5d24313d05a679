package engines_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/loop"
)

// A provider may quote the key that it got: in the text of an error, in an error
// inside a 200, in a header. Nothing that the client gives its caller shows it.
func TestQuotedKeysStayOut(t *testing.T) {
	const key, own = "harbour-key/0123+456789", "token-of-a-proxy-9876543210"
	escaped := strings.ReplaceAll(key, "/", `\/`)
	for name, answer := range map[string]func(w http.ResponseWriter){
		"json": func(w http.ResponseWriter) {
			w.WriteHeader(401)
			fmt.Fprintf(w, `{"error":{"message":"no such key %s, %s, %s"}}`, key, escaped, own)
		},
		"text": func(w http.ResponseWriter) { http.Error(w, "no such key "+key+" "+own, http.StatusForbidden) },
		"in a 200": func(w http.ResponseWriter) {
			fmt.Fprintf(w, `{"error":{"message":"no such key %s %s","code":401}}`, key, own)
		},
		"header": func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", key)
			http.Error(w, "no such key", http.StatusUnauthorized)
		},
		"no JSON": func(w http.ResponseWriter) { fmt.Fprintf(w, "no such key %s %s", key, own) },
	} {
		for _, engine := range []string{"openai", "anthropic", "gemini", "ollama", "openai-responses", "aki"} {
			t.Run(name+" "+engine, func(t *testing.T) {
				srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w) }))
				defer srv.Close()
				c, err := engines.Config(engine, "", func(string) string { return key })
				if err != nil {
					t.Fatal(err)
				}
				cl := c.Sender.(*engines.Client)
				cl.BaseURL, cl.MaxRetries = srv.URL, -1
				cl.Headers = map[string]string{"X-Proxy-Token": own}
				c.Messages = []codecs.Message{loop.User("tide?")}
				out, err := loop.Once(t.Context(), c)
				if err == nil {
					t.Fatal("no error")
				}
				seen, _ := json.Marshal(out)
				text := err.Error() + string(seen)
				var pe *codecs.ProviderError
				if errors.As(err, &pe) {
					text += string(pe.Body) + pe.Message + pe.RetryAfter
				}
				for _, secret := range []string{key, escaped, own} {
					if strings.Contains(text, secret) {
						t.Errorf("shows %s: %s", secret, text)
					}
				}
				if !strings.Contains(text, "REDACTED") {
					t.Errorf("the key was not quoted: %s", text)
				}
			})
		}
	}
}

// A key that a stream cuts is found, and what comes before it is not held back. A
// word that a local engine takes for a key is left in what it says.
func TestQuotedKeysInStreams(t *testing.T) {
	const key = "harbour-key-0123456789"
	next := make(chan bool)
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for _, piece := range []string{"data: harbour\n\n", "data: harbour-key-", "012345", "6789 harbour", "-", "light ollama"} {
			io.WriteString(w, piece)
			w.(http.Flusher).Flush()
			<-next
		}
	}))
	defer srv.Close()
	for given, want := range map[string]string{
		key:      "data: harbour\n\ndata: REDACTED harbour-light ollama",
		"ollama": "data: harbour\n\ndata: harbour-key-0123456789 harbour-light ollama",
	} {
		cl := &engines.Client{Engine: lookup(t, "openai"), Key: given, BaseURL: srv.URL}
		resp, err := cl.Send(t.Context(), loop.Call{Body: codecs.Raw(`{}`), Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		first := make([]byte, len("data: harbour\n\n"))
		if _, err := io.ReadFull(resp.Body, first); err != nil {
			t.Fatal(err)
		}
		go func() {
			for range 6 {
				next <- true
			}
		}()
		rest, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got := string(first) + string(rest); err != nil || got != want {
			t.Errorf("%s: got %q, %v\nwant %q", given, got, err, want)
		}
	}
}
