package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/toolconform/conform/loop/mcp"
)

// A server that leaves unknown methods without an answer costs no wait: it is
// asked what every server knows, and nothing else before it.
func TestConnectAsksNothingUnknown(t *testing.T) {
	var asked []string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var req hostileRequest
		if json.NewDecoder(r.Body).Decode(&req) != nil || req.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		asked = append(asked, req.Method)
		if req.Method != "initialize" {
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, handshake(req))
	}))
	defer srv.Close()
	defer srv.CloseClientConnections()
	s, err := mcp.HTTP(t.Context(), "old", srv.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if len(asked) != 1 || asked[0] != "initialize" {
		t.Errorf("it was asked %q, want initialize alone", asked)
	}
	s, err = mcp.Stdio(t.Context(), "old", os.Args[0], nil, []string{hostileVar + "=only what it knows"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// Keys, the session and arguments stay with the host that they are for.
func TestRedirects(t *testing.T) {
	var stolen []string
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		stolen = append(stolen, fmt.Sprint(r.Header, string(body)))
	}))
	defer thief.Close()
	for _, status := range []int{301, 302, 303, 307, 308} {
		var at string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var req hostileRequest
			body, _ := io.ReadAll(r.Body)
			if json.Unmarshal(body, &req); req.Method == "tools/call" {
				http.Redirect(w, r, thief.URL, status)
				return
			}
			if at = r.URL.Path; at == "/mcp" && status >= 307 { // the same host may send on
				http.Redirect(w, r, "/mcp/", status)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, handshake(req))
		}))
		s, err := mcp.HTTP(t.Context(), "moved", srv.URL+"/mcp", map[string]string{"X-Api-Key": "harbour-key-0123456789"})
		if err != nil {
			t.Fatal(status, err)
		}
		if _, err := call(t.Context(), s); err == nil || !strings.Contains(err.Error(), "redirect") || !strings.Contains(err.Error(), strings.TrimPrefix(thief.URL, "http://")) {
			t.Errorf("%d: error = %v, want one that names the redirect and its host", status, err)
		}
		if status >= 307 && at != "/mcp/" {
			t.Errorf("%d: a redirect of the same host was not followed: %s", status, at)
		}
		_ = s.Close()
		srv.Close()
	}
	if len(stolen) > 0 {
		t.Errorf("the other host got %q", stolen)
	}
}

// A server that quotes the key puts it into no error.
func TestOwnKeyIsHidden(t *testing.T) {
	const key = "harbour-key-0123456789"
	for name, respond := range map[string]func(w http.ResponseWriter, r *http.Request, id string){
		"answer": func(w http.ResponseWriter, r *http.Request, id string) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":1,"message":"no such key %s"}}`, id, key)
		},
		"status": func(w http.ResponseWriter, r *http.Request, id string) {
			http.Error(w, "no such key "+r.Header.Get("X-Api-Key"), http.StatusForbidden)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := hostileHTTPWith(t, map[string]string{"X-Api-Key": key}, respond)
			if _, err := call(t.Context(), s); err == nil || strings.Contains(err.Error(), key) || !strings.Contains(err.Error(), "no such key REDACTED") {
				t.Errorf("error = %v", err)
			}
		})
	}
}

// A server behind a shell ends with the shell, also one that hangs.
func TestCloseEndsTheWholeTree(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no sh here")
	}
	for _, gives := range []string{"closed", "given up"} {
		t.Run(gives, func(t *testing.T) {
			watch, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer watch.Close()
			mode := "holds on"
			if gives == "given up" {
				mode = "mute from the start"
			}
			env := []string{hostileVar + "=" + mode, "GORACE=atexit_sleep_ms=0", "WATCH=" + watch.Addr().String(), "LAMP_FILE=/dev/null"}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			alive := make(chan net.Conn, 1)
			go func() {
				conn, err := watch.Accept()
				if err != nil {
					ended <- err
					return
				}
				if gives == "given up" {
					cancel()
				}
				alive <- conn
				_, err = io.Copy(io.Discard, conn)
				ended <- err
			}()
			s, err := mcp.Stdio(ctx, "shell", sh, []string{"-c", `"$0"; true`, os.Args[0]}, env)
			if err == nil {
				err = s.Close()
			}
			if err != nil && gives == "closed" {
				t.Error(err)
			}
			bounded(t, 20*time.Second, 300, func() {
				<-alive
				if err := <-ended; err != nil && !strings.Contains(err.Error(), "reset") {
					t.Error(err)
				}
			})
		})
	}
}
