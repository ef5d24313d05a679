package mcp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/mark3labs/mcp-go/client/transport"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/loop/mcp"
)

const hostileVar = "CONFORM_TEST_HOSTILE"

// hostileRequest is what the hostile servers read of a request.
type hostileRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
}

// handshake answers what comes before the calls, "" for a call or nothing.
func handshake(r hostileRequest) string {
	switch r.Method {
	case "initialize":
		return `{"jsonrpc":"2.0","id":` + string(r.ID) + `,"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}`
	case "tools/call", "tools/list":
	default:
		if r.ID != nil {
			return `{"jsonrpc":"2.0","id":` + string(r.ID) + `,"error":{"code":-32601,"message":"no such method"}}`
		}
	}
	return ""
}

// oddAnswers are answers that no client can use, by name; ID stands for the id.
var oddAnswers = map[string]struct{ answer, want string }{
	"error is a number":    {`{"jsonrpc":"2.0","id":ID,"error":5}`, "/error: want an object with code and message, got a number 5"},
	"error is a text":      {`{"jsonrpc":"2.0","id":ID,"error":"no oil"}`, `/error: want an object with code and message, got a string "no oil"`},
	"error code is a text": {`{"jsonrpc":"2.0","id":ID,"error":{"code":"E7","message":"no oil"}}`, "no oil"},
	"empty error":          {`{"jsonrpc":"2.0","id":ID,"error":{}}`, "an error without a message: {}"},
	"error without an id":  {`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"your request is no JSON"}}`, "your request is no JSON"},
	"nothing in it":        {`{"jsonrpc":"2.0","id":ID}`, "it holds neither result nor error"},
	"deep":                 {`{"jsonrpc":"2.0","id":ID,"result":` + strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000) + `}`, "nested deeper than 5000 levels"},
	"deep, id behind":      {`{"result":` + strings.Repeat(`{"id":`, 100_000) + `1` + strings.Repeat("}", 100_000) + `, "id" : ID,"jsonrpc":"2.0"}`, "nested deeper than 5000 levels"},
	"cut":                  {`{"jsonrpc":"2.0","id":ID,"result":{"content":[`, "unexpected end of JSON"},
	"cut before the id":    {`{"jsonrpc":"2.0","result":{"content":[`, "unexpected end of JSON"},
	"no object":            {`{"jsonrpc":"2.0","id":ID,"result":[]}`, "want an object"},
	"a result of null":     {`{"jsonrpc":"2.0","id":ID,"result":null}`, "want an object"},
	"version is a number":  {`{"jsonrpc":2.0,"id":ID,"result":{"content":7}}`, "want a list of MCP content blocks"},
	"id as a text":         {`{"jsonrpc":"2.0","id":"ID","error":{"code":1,"message":"read me"}}`, "read me"},
}

// hostileChild is a server over stdio that goes wrong at the first call.
func hostileChild(mode string) {
	in, out := bufio.NewReader(os.Stdin), os.Stdout
	if at := os.Getenv("WATCH"); at != "" { // whoever listens there sees the end of the process
		conn, err := net.Dial("tcp", at)
		if err != nil {
			return
		}
		defer conn.Close()
	}
	block := bytes.Repeat([]byte("x"), 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			if mode == "holds on" {
				time.Sleep(time.Hour)
			}
			return
		}
		var r hostileRequest
		if json.Unmarshal(line, &r) != nil {
			continue
		}
		if mode == "mute from the start" {
			fmt.Fprintln(os.Stderr, "waiting for a lamp")
			_ = os.WriteFile(os.Getenv("LAMP_FILE"), nil, 0o600)
			time.Sleep(time.Hour)
		}
		if mode == "only what it knows" && r.Method != "initialize" {
			continue
		}
		if text := handshake(r); text != "" {
			fmt.Fprintln(out, "a line of a log", "\n{also a log}\n[INFO] and so on\n"+`{"level":"info"}`+"\n"+`{"jsonrpc":"2.0","method":"notifications/message"}`)
			fmt.Fprintln(out, text)
			continue
		}
		if r.Method != "tools/call" {
			continue
		}
		switch mode {
		case "endless line":
			for {
				if _, err := out.Write(block); err != nil {
					return
				}
			}
		case "slow line":
			for range 30 {
				out.Write(block)
			}
			time.Sleep(time.Hour)
		case "deaf":
			time.Sleep(time.Hour)
		case "ends":
			fmt.Fprintf(os.Stderr, "%sTraceback:\n  no oil in %s, key %s\n\xff", strings.Repeat("much talk before\n", 10_000), os.Getenv("LAMP"), os.Getenv("LAMP_API_KEY"))
			os.Exit(3)
		case "environment":
			text, _ := json.Marshal(strings.Join(os.Environ(), "\n"))
			fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}`+"\n", r.ID, text)
		case "asks":
			fmt.Fprintln(out, `{"jsonrpc":"2.0","id":"p1","method":"ping"}`)
			pong, _ := in.ReadBytes('\n')
			fmt.Fprintln(out, `{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}`)
			no, _ := in.ReadBytes('\n')
			text, _ := json.Marshal(string(pong) + string(no))
			fmt.Fprintf(out, `[{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":%s}]}}]`+"\n", r.ID, text)
		case "asks without an end":
			for {
				if _, err := fmt.Fprintln(out, `{"jsonrpc":"2.0","id":"p1","method":"ping"}`); err != nil {
					return
				}
			}
		case "chatty":
			for {
				if _, err := os.Stderr.Write(block); err != nil {
					return
				}
				fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}`+"\n", r.ID)
				break
			}
		default:
			fmt.Fprintln(out, strings.ReplaceAll(oddAnswers[mode].answer, "ID", string(r.ID)))
		}
	}
}

func hostile(t *testing.T, mode string) *mcp.Server {
	t.Helper()
	s, err := mcp.Stdio(t.Context(), "hostile", os.Args[0], nil, []string{hostileVar + "=" + mode, "GORACE=atexit_sleep_ms=0", "LAMP=north", "LAMP_API_KEY=s3cr3t"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func call(ctx context.Context, s interface {
	CallTool(context.Context, string, codecs.Raw) (codecs.ToolResult, error)
},
) (codecs.ToolResult, error) {
	return s.CallTool(ctx, "a", codecs.Raw(`{}`))
}

// bounded runs f and fails the test when it takes too long or the process too much memory,
// whatever f allocates and frees.
func bounded(t *testing.T, most time.Duration, mib uint64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	done := make(chan struct{})
	go func() { defer close(done); f() }()
	select {
	case <-done:
	case <-time.After(most):
		t.Fatalf("not done after %v", most)
	}
	runtime.ReadMemStats(&after)
	if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > mib {
		t.Errorf("%d MiB allocated, want at most %d", used, mib)
	}
}

// An answer that cannot be decoded ends its call, also without any timeout.
func TestOddAnswersOverStdio(t *testing.T) {
	for name, c := range oddAnswers {
		t.Run(name, func(t *testing.T) {
			bounded(t, 20*time.Second, 300, func() {
				s := hostile(t, name)
				for range 2 { // the connection outlives it
					if _, err := call(context.Background(), s); err == nil || !strings.Contains(err.Error(), c.want) {
						t.Errorf("error = %v, want one with %q", err, c.want)
					}
				}
			})
		})
	}
}

func TestStdioLimits(t *testing.T) {
	t.Run("endless line", func(t *testing.T) {
		bounded(t, 60*time.Second, 600, func() {
			s := hostile(t, "endless line")
			for range 2 { // and the next call says the same
				_, err := call(context.Background(), s)
				var unread *mcp.AnswerError
				if !errors.As(err, &unread) || !strings.Contains(err.Error(), "it wrote more than 64 MiB without the end of a line") {
					t.Errorf("error = %v", err)
				}
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	})
	for mode, want := range map[string]string{
		"slow line":           "context deadline exceeded",
		"deaf":                "context deadline exceeded",
		"ends":                "the server ended: exit status 3",
		"asks without an end": "", // however it ends, it ends
	} {
		t.Run(mode, func(t *testing.T) {
			bounded(t, 20*time.Second, 300, func() {
				s := hostile(t, mode)
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				if _, err := call(ctx, s); err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("error = %v, want one with %q", err, want)
				}
			})
		})
	}
	t.Run("a child that does not read", func(t *testing.T) {
		bounded(t, 20*time.Second, 300, func() {
			s := hostile(t, "deaf")
			arguments := codecs.Raw(`{"a":"` + strings.Repeat("x", 8<<20) + `"}`)
			for range 3 {
				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				if _, err := s.CallTool(ctx, "a", arguments); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("error = %v", err)
				}
				cancel()
			}
		})
	})
	t.Run("handshake", func(t *testing.T) {
		bounded(t, 10*time.Second, 300, func() {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			file := filepath.Join(t.TempDir(), "asked")
			go func() { // gives up once the child has been asked
				for ctx.Err() == nil {
					if _, err := os.Stat(file); err == nil {
						cancel()
					}
					runtime.Gosched()
				}
			}()
			_, err := mcp.Stdio(ctx, "mute", os.Args[0], nil, []string{hostileVar + "=mute from the start", "LAMP_FILE=" + file})
			if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "mute") || !strings.Contains(err.Error(), "waiting for a lamp") {
				t.Errorf("error = %v", err)
			}
		})
	})
	t.Run("requests of the server", func(t *testing.T) {
		bounded(t, 20*time.Second, 300, func() {
			r, err := call(t.Context(), hostile(t, "asks"))
			if err != nil || len(r.Content) != 1 {
				t.Fatal(r, err)
			}
			for _, want := range []string{`\"id\":\"p1\",\"result\":{}`, `\"id\":7,\"error\":{\"code\":-32601`} {
				if !strings.Contains(string(r.Content[0]), want) {
					t.Errorf("the server read %s, want %s", r.Content[0], want)
				}
			}
		})
	})
	t.Run("last words", func(t *testing.T) {
		_, err := call(t.Context(), hostile(t, "ends"))
		if err == nil || !strings.HasSuffix(err.Error(), "much talk before\nTraceback:\n  no oil in north, key REDACTED\n\uFFFD") || len(err.Error()) > 3000 {
			t.Errorf("error = %v", err)
		}
	})
	t.Run("environment", func(t *testing.T) {
		t.Setenv("HARBOUR_API_KEY", "s3cr3t-of-the-parent")
		r, err := call(t.Context(), hostile(t, "environment"))
		if err != nil || len(r.Content) != 1 {
			t.Fatal(r, err)
		}
		got := string(r.Content[0])
		if strings.Contains(got, "HARBOUR") || strings.Contains(got, "of-the-parent") || !strings.Contains(got, "LAMP_API_KEY=s3cr3t") || !strings.Contains(got, "PATH=") {
			t.Errorf("the child has %s", got)
		}
	})
	t.Run("standard error", func(t *testing.T) {
		bounded(t, 20*time.Second, 300, func() {
			if _, err := call(t.Context(), hostile(t, "chatty")); err != nil {
				t.Error(err)
			}
		})
	})
}

// deafTransport answers the handshake and then never returns, whatever its
// context says.
type deafTransport struct {
	scripted
	leave chan struct{}
}

func (d *deafTransport) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	if strings.HasPrefix(req.Method, "tools/") {
		<-d.leave
		if req.Method == "tools/list" {
			panic("out of oil")
		}
	}
	return d.scripted.SendRequest(ctx, req)
}

// The end of the context ends a call also where the other side does not mind it.
func TestCancelHoldsForEveryTransport(t *testing.T) {
	tr := &deafTransport{leave: make(chan struct{})}
	s, err := mcp.Connect(t.Context(), "deaf", tr)
	if err != nil {
		t.Fatal(err)
	}
	bounded(t, 10*time.Second, 300, func() {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		_, err := call(ctx, s)
		_, listErr := s.ListTools(ctx)
		for _, err := range []error{err, listErr} {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error = %v", err)
			}
		}
		close(tr.leave)
		if _, err := s.ListTools(t.Context()); err == nil || !strings.Contains(err.Error(), "out of oil") {
			t.Errorf("a panic: %v", err)
		}
	})
}

// pages gives a page more, for ever.
type pages struct {
	scripted
	n int
}

func (p *pages) SendRequest(ctx context.Context, req transport.JSONRPCRequest) (*transport.JSONRPCResponse, error) {
	if req.Method != "tools/list" {
		return p.scripted.SendRequest(ctx, req)
	}
	p.n++
	return &transport.JSONRPCResponse{JSONRPC: "2.0", ID: req.ID, Result: json.RawMessage(fmt.Sprintf(`{"tools":[],"nextCursor":"p%d"}`, p.n))}, nil
}

func TestListWithoutAnEnd(t *testing.T) {
	s, err := mcp.Connect(t.Context(), "pages", &pages{})
	if err != nil {
		t.Fatal(err)
	}
	bounded(t, 20*time.Second, 300, func() {
		var unread *mcp.AnswerError
		if _, err := s.ListTools(t.Context()); !errors.As(err, &unread) || !strings.Contains(err.Error(), "more than 1000 pages") {
			t.Errorf("error = %v", err)
		}
	})
}

// The library writes to no log: nothing that a server does gets to the default
// logger, and with it to standard error.
func TestNoLog(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(before)
	s := hostileHTTP(t, func(w http.ResponseWriter, _ *http.Request, id string) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, "data: {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"sampling/createMessage\"}\n\ndata: no JSON\n\ndata: {\"jsonrpc\":\"2.0\",\"method\":7}\n\n")
	})
	if _, err := call(t.Context(), s); err == nil {
		t.Error("no error")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, mode := range []string{"ends", "cut"} {
		s := hostile(t, mode)
		_, _ = call(t.Context(), s)
		_ = s.Close()
	}
	// A tool that the client leaves out, under the newest protocol.
	url, stop := modernServer(t)
	defer stop()
	if s, err := mcp.HTTP(t.Context(), "modern", url, nil); err != nil {
		t.Error(err)
	} else if tools, err := s.ListTools(t.Context()); err != nil || len(tools) != 2 {
		t.Errorf("%d tools, %v", len(tools), err)
	}
	if log.Len() > 0 {
		t.Errorf("the log holds\n%s", log.String())
	}
}
