package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	wire "github.com/mark3labs/mcp-go/mcp"

	"github.com/toolconform/conform/loop/mcp"
)

// hostileHTTP is a server over streamable HTTP; respond answers the calls.
func hostileHTTP(t *testing.T, respond func(w http.ResponseWriter, r *http.Request, id string)) *mcp.Server {
	t.Helper()
	return hostileHTTPWith(t, nil, respond)
}

func hostileHTTPWith(t *testing.T, header map[string]string, respond func(w http.ResponseWriter, r *http.Request, id string)) *mcp.Server {
	t.Helper()
	stop := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req hostileRequest
		if json.NewDecoder(r.Body).Decode(&req) != nil || req.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		if text := handshake(req); text != "" {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, text)
			return
		}
		ctx, cancel := context.WithCancel(r.Context())
		defer cancel()
		go func() {
			select {
			case <-stop:
				cancel()
			case <-ctx.Done():
			}
		}()
		respond(w, r.WithContext(ctx), string(req.ID))
	}))
	t.Cleanup(func() { close(stop); srv.CloseClientConnections(); srv.Close() })
	s, err := mcp.HTTP(t.Context(), "hostile", srv.URL, header)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// hold keeps a stream open until the client goes away.
func hold(w http.ResponseWriter, r *http.Request) {
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func TestOddAnswersOverHTTP(t *testing.T) {
	for name, c := range oddAnswers {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", stream ", stream), func(t *testing.T) {
				bounded(t, 20*time.Second, 300, func() {
					s := hostileHTTP(t, func(w http.ResponseWriter, r *http.Request, id string) {
						text := strings.ReplaceAll(c.answer, "ID", id)
						if !stream {
							w.Header().Set("Content-Type", "application/json")
							io.WriteString(w, text)
							return
						}
						w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
						io.WriteString(w, ": a comment\nevent: ping\ndata: {}\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}\n\nevent: message\ndata: "+text+"\n\n")
						hold(w, r)
					})
					if _, err := call(context.Background(), s); err == nil || !strings.Contains(err.Error(), c.want) {
						t.Errorf("error = %v, want one with %q", err, c.want)
					}
				})
			})
		}
	}
}

func TestHTTPLimits(t *testing.T) {
	write := func(w http.ResponseWriter, start, block string) {
		io.WriteString(w, start)
		for range 70 {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	}
	kind := func(w http.ResponseWriter, s string) { w.Header().Set("Content-Type", s) }
	block := strings.Repeat("x", 1<<20)
	for name, c := range map[string]struct {
		respond func(w http.ResponseWriter, r *http.Request, id string)
		want    string
	}{
		"body": {func(w http.ResponseWriter, r *http.Request, id string) {
			kind(w, "application/json")
			write(w, `{"jsonrpc":"2.0","id":`+id+`,"result":"`, block)
			hold(w, r)
		}, "it is larger than 64 MiB"},
		"line of a stream": {func(w http.ResponseWriter, r *http.Request, id string) {
			kind(w, "text/event-stream")
			write(w, "data: ", block)
			hold(w, r)
		}, "it is larger than 64 MiB"},
		"lines of an event": {func(w http.ResponseWriter, r *http.Request, id string) {
			kind(w, "text/event-stream")
			write(w, "", "data: "+block+"\n")
			hold(w, r)
		}, "it is larger than 64 MiB"},
		"error page": {func(w http.ResponseWriter, r *http.Request, id string) {
			w.WriteHeader(500)
			write(w, "out of oil ", block)
		}, "out of oil"},
		"no answer": {func(w http.ResponseWriter, r *http.Request, id string) {
			kind(w, "application/json")
			io.WriteString(w, "closed for the night")
		}, "it is no JSON-RPC answer: closed for the night"},
		"no event": {func(w http.ResponseWriter, r *http.Request, id string) {
			kind(w, "text/event-stream")
			io.WriteString(w, "data: closed for the night\n\n")
			hold(w, r)
		}, "it is no JSON-RPC message: closed for the night"},
		"another id": {func(w http.ResponseWriter, r *http.Request, id string) {
			kind(w, "application/json")
			io.WriteString(w, `{"jsonrpc":"2.0","id":9999,"result":{}}`)
		}, "/id: want"},
		"silence": {func(w http.ResponseWriter, r *http.Request, id string) {
			kind(w, "text/event-stream")
			hold(w, r)
		}, "context deadline exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			bounded(t, 60*time.Second, 900, func() {
				ctx := context.Background()
				if name == "silence" {
					short, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
					defer cancel()
					ctx = short
				}
				_, err := call(ctx, hostileHTTP(t, c.respond))
				if err == nil || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 100<<10 {
					t.Errorf("error = %.300v, want one with %q", err, c.want)
				}
			})
		})
	}
}

// What a stream may do: comments, other events, an answer in several lines, in a
// batch, behind one to somebody else.
func TestStreamsAreRead(t *testing.T) {
	for name, text := range map[string]string{
		"lines":      "event: message\ndata: {\"jsonrpc\":\"2.0\",\ndata: \"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\ndata:\"text\":\"lit\"}]}}\n\n",
		"crlf":       "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"lit\"}]}}\r\n\r\n",
		"batch":      "data: [{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},{\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"lit\"}]}}]\n\n",
		"no newline": "data: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"lit\"}]}}",
		"other ids":  "id: 1\nretry: 10\ndata: {\"jsonrpc\":\"2.0\",\"id\":9999,\"error\":5}\n\ndata: {\"jsonrpc\":\"2.0\",\"id\":ID,\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"lit\"}]}}\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			bounded(t, 20*time.Second, 300, func() {
				r, err := call(context.Background(), hostileHTTP(t, func(w http.ResponseWriter, _ *http.Request, id string) {
					w.Header().Set("Content-Type", "text/event-stream")
					io.WriteString(w, strings.ReplaceAll(text, "ID", id))
				}))
				if err != nil || len(r.Content) != 1 || !strings.Contains(string(r.Content[0]), "lit") {
					t.Errorf("%s, %v", r.Content, err)
				}
			})
		})
	}
}

// modernServer offers a tool with a header annotation that is not allowed.
func modernServer(t *testing.T) (url string, stop func()) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req hostileRequest
		if json.NewDecoder(r.Body).Decode(&req) != nil || req.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := `{"supportedVersions":["` + wire.LATEST_PROTOCOL_VERSION + `"],"capabilities":{"tools":{}},"resultType":"complete"}`
		if req.Method == "tools/list" {
			result = `{"resultType":"complete","tools":[{"name":"good","inputSchema":{"type":"object"}},{"name":"bad","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"b c:d"}}}}]}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, req.ID, result)
	}))
	t.Cleanup(srv.Close)
	return srv.URL, srv.Close
}
