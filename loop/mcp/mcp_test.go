package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
	"github.com/toolconform/conform/loop/mcp"
	"github.com/toolconform/conform/suite/toolserver"
)

// lampSchema has an order of keys that no library would choose, a number that no
// float64 holds, and a character that encoding/json escapes.
const lampSchema = `{"required":["lamp"],"type":"object","x-first":1.10,"properties":{"serial":{"maximum":12345678901234567890,"type":"integer"},"lamp":{"type":"string","description":"a < b"}},"additionalProperties":false}`

var fixtureJSON = `{"name":"pier","tools":[
 {"name":"light_lamp","title":"Lamp","description":"Lights a lamp","inputSchema":` + lampSchema + `,"annotations":{"readOnlyHint":false},
  "answers":[
   {"when":{"lamp":"north"},"result":{"content":[{"type":"text","text":"north is lit <now>"}]}},
   {"when":{"lamp":"odd"},"result":{"content":[{"type":"document","source":{"type":"text","data":"chart 7"},"zone":12345678901234567890},{"type":"image","data":"","mimeType":"image/png"},{"b":2,"a":1,"type":"text","text":"x"}],"structuredContent":{"z":1.0,"a":98765432109876543210}}},
   {"when":{"lamp":"broken"},"result":{"isError":true,"content":[{"type":"text","text":"no oil"}]}},
   {"when":{"lamp":"locked"},"error":"the tower is locked"},
   {"when":{"lamp":"slow"},"hang":true}]},
 {"name":"bare"},
 {"name":"light_lamp","description":"a second offer"}]}`

func fixture(t testing.TB) *toolserver.Server {
	t.Helper()
	s := &toolserver.Server{}
	if err := json.Unmarshal([]byte(fixtureJSON), s); err != nil {
		t.Fatal(err)
	}
	return s
}

const childVar = "CONFORM_TEST_TOOLSERVER"

// TestMain turns the test binary into the fixture server when it is started as
// the child of a test. The value of the variable is a file that gets the log.
func TestMain(m *testing.M) {
	if mode := os.Getenv(hostileVar); mode != "" {
		hostileChild(mode)
		os.Exit(0)
	}
	logFile := os.Getenv(childVar)
	if logFile == "" {
		os.Exit(m.Run())
	}
	s := &toolserver.Server{}
	err := json.Unmarshal([]byte(fixtureJSON), s)
	if err == nil {
		err = s.ServeStdio(context.Background(), os.Stdin, os.Stdout)
	}
	log, _ := json.Marshal(s.Log())
	_ = os.WriteFile(logFile, log, 0o600)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// way is one way to reach the fixture. close ends the connection and returns
// what the server was asked.
type way struct {
	name    string
	connect func(t *testing.T) (s loop.ToolServer, close func() []toolserver.Call)
	exact   bool // bytes arrive as they are spelled
}

func ways() []way {
	closing := func(t *testing.T, s *mcp.Server, err error) *mcp.Server {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		return s
	}
	end := func(t *testing.T, s *mcp.Server, log func() []toolserver.Call) func() []toolserver.Call {
		return func() []toolserver.Call {
			if err := s.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
			return log()
		}
	}
	return []way{
		{"in process", func(t *testing.T) (loop.ToolServer, func() []toolserver.Call) {
			f := fixture(t)
			s, err := mcp.Connect(t.Context(), "pier", f.Transport())
			closing(t, s, err)
			return s, end(t, s, f.Log)
		}, true},
		{"stdio", func(t *testing.T) (loop.ToolServer, func() []toolserver.Call) {
			file := filepath.Join(t.TempDir(), "log.json")
			s, err := mcp.Stdio(t.Context(), "pier", os.Args[0], nil, []string{childVar + "=" + file})
			closing(t, s, err)
			return s, end(t, s, func() []toolserver.Call {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				var log []toolserver.Call
				if err := json.Unmarshal(data, &log); err != nil {
					t.Fatal(err)
				}
				return log
			})
		}, true},
		{"http", func(t *testing.T) (loop.ToolServer, func() []toolserver.Call) {
			f := fixture(t)
			url, stop, err := f.Listen()
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(stop)
			s, err := mcp.HTTP(t.Context(), "pier", url+"/mcp", nil)
			closing(t, s, err)
			return s, end(t, s, func() []toolserver.Call { stop(); return f.Log() })
		}, true},
		{"mcp-go server", func(t *testing.T) (loop.ToolServer, func() []toolserver.Call) {
			f := fixture(t)
			s, err := mcp.InProcess(t.Context(), "pier", library(f))
			closing(t, s, err)
			return s, end(t, s, f.Log)
		}, false},
	}
}

func TestListTools(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			s, _ := w.connect(t)
			if s.Name() != "pier" {
				t.Errorf("Name = %q", s.Name())
			}
			tools, err := s.ListTools(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range tools {
				names = append(names, tool.Name)
			}
			if !w.exact { // the library keeps one tool of a name and sorts
				if diff := cmp.Diff([]string{"bare", "light_lamp"}, names); diff != "" {
					t.Error(diff)
				}
				return
			}
			if diff := cmp.Diff([]string{"light_lamp", "bare", "light_lamp"}, names); diff != "" {
				t.Fatal(diff)
			}
			if got := string(tools[0].InputSchema); got != lampSchema {
				t.Errorf("schema = %s\nwant     %s", got, lampSchema)
			}
			wantRaw := `{"name":"light_lamp","title":"Lamp","description":"Lights a lamp","inputSchema":` + lampSchema + `,"annotations":{"readOnlyHint":false}}`
			if got := string(tools[0].Raw); got != wantRaw {
				t.Errorf("raw = %s\nwant  %s", got, wantRaw)
			}
			if got := string(tools[1].InputSchema); got != `{"type":"object"}` {
				t.Errorf("schema of bare = %s", got)
			}
			if tools[2].Description != "a second offer" {
				t.Errorf("description = %q", tools[2].Description)
			}
		})
	}
}

func TestCallTool(t *testing.T) {
	text := func(s string) codecs.Raw { return codecs.TextBlock(s) }
	cases := []struct {
		name, tool, arguments string
		want                  codecs.ToolResult
		wantErr               string
	}{
		{"text", "light_lamp", `{"lamp":"north"}`, codecs.ToolResult{Content: []codecs.Raw{codecs.Raw(`{"type":"text","text":"north is lit <now>"}`)}}, ""},
		{"unknown blocks, empty image, big numbers", "light_lamp", `{"lamp":"odd"}`, codecs.ToolResult{
			Content: []codecs.Raw{
				codecs.Raw(`{"type":"document","source":{"type":"text","data":"chart 7"},"zone":12345678901234567890}`),
				codecs.Raw(`{"type":"image","data":"","mimeType":"image/png"}`),
				codecs.Raw(`{"b":2,"a":1,"type":"text","text":"x"}`),
			},
			Structured: codecs.Raw(`{"z":1.0,"a":98765432109876543210}`),
		}, ""},
		{"an error result is a result", "light_lamp", `{"lamp":"broken"}`, codecs.ToolResult{Content: []codecs.Raw{text("no oil")}, IsError: true}, ""},
		{"a JSON-RPC error is an error", "light_lamp", `{"lamp":"locked"}`, codecs.ToolResult{}, "the tower is locked"},
		{"unknown tool", "sound_horn", `{}`, codecs.ToolResult{}, "sound_horn"},
		{"no answer fits", "light_lamp", `{"lamp":"west"}`, codecs.ToolResult{
			IsError: true,
			Content: []codecs.Raw{text(`tool light_lamp has no answer to the arguments {"lamp":"west"}`)},
		}, ""},
		{"no arguments", "bare", `{}`, codecs.ToolResult{IsError: true, Content: []codecs.Raw{text(`tool bare has no answer to the arguments {}`)}}, ""},
	}
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			s, end := w.connect(t)
			for _, c := range cases {
				got, err := s.CallTool(t.Context(), c.tool, codecs.Raw(c.arguments))
				if (err != nil) != (c.wantErr != "") || err != nil && !strings.Contains(err.Error(), c.wantErr) {
					t.Errorf("%s: error = %v, want one with %q", c.name, err, c.wantErr)
				}
				if w.exact {
					if diff := cmp.Diff(str(c.want), str(got)); diff != "" {
						t.Errorf("%s: %s", c.name, diff)
					}
				} else if diff := cmp.Diff(canonical(t, c.want), canonical(t, got)); diff != "" {
					t.Errorf("%s: %s", c.name, diff)
				}
			}
			log := end()
			want := len(cases)
			if !w.exact {
				want-- // the library refuses an unknown name itself
			}
			if len(log) != want {
				t.Errorf("the server saw %d calls, want %d: %v", len(log), want, log)
			}
		})
	}
}

func str(r codecs.ToolResult) []string {
	out := []string{fmt.Sprint("isError ", r.IsError), "structured " + string(r.Structured)}
	for _, c := range r.Content {
		out = append(out, string(c))
	}
	return out
}

func canonical(t *testing.T, r codecs.ToolResult) []string {
	t.Helper()
	out := str(r)
	for i, c := range r.Content {
		raw, err := jsonx.Canonical(c)
		if err != nil {
			t.Fatal(err)
		}
		out[2+i] = string(raw)
	}
	if len(r.Structured) > 0 {
		raw, err := jsonx.Canonical(r.Structured)
		if err != nil {
			t.Fatal(err)
		}
		out[1] = "structured " + string(raw)
	}
	return out
}

// Numbers and key order of arguments reach the server.
func TestArgumentsArrive(t *testing.T) {
	const arguments = `{"serial":12345678901234567890,"lamp":"north","depth":1.10}`
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			s, end := w.connect(t)
			if _, err := s.CallTool(t.Context(), "light_lamp", codecs.Raw(arguments)); err != nil {
				t.Fatal(err)
			}
			log := end()
			if len(log) != 1 || string(log[0].Arguments) != arguments {
				t.Errorf("log = %+v, want one call with %s", log, arguments)
			}
		})
	}
}

// A call that hangs ends with its context, and the server learns of it.
func TestCancel(t *testing.T) {
	for _, w := range ways() {
		t.Run(w.name, func(t *testing.T) {
			s, end := w.connect(t)
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
			defer cancel()
			_, err := s.CallTool(ctx, "light_lamp", codecs.Raw(`{"lamp":"slow"}`))
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("error = %v, want a deadline exceeded", err)
			}
			// The connection still works.
			if _, err := s.CallTool(t.Context(), "light_lamp", codecs.Raw(`{"lamp":"north"}`)); err != nil {
				t.Fatalf("call after the cancelled one: %v", err)
			}
			log := end()
			if len(log) != 2 || !log[0].Cancelled || log[1].Cancelled {
				t.Errorf("log = %+v, want the first of two calls cancelled", log)
			}
		})
	}
}

func TestConnectFails(t *testing.T) {
	if _, err := mcp.Stdio(t.Context(), "gone", filepath.Join(t.TempDir(), "no-such-command"), nil, nil); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("error = %v, want one that names the server", err)
	}
	if _, err := mcp.HTTP(t.Context(), "gone", "http://127.0.0.1:1/mcp", nil); err == nil || !strings.Contains(err.Error(), "gone") {
		t.Errorf("error = %v, want one that names the server", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	url, stop, err := fixture(t).Listen()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	if _, err := mcp.HTTP(ctx, "late", url+"/mcp", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want a cancellation", err)
	}
}

// A child that is gone already makes no trouble at Close.
func TestCloseAfterTheEnd(t *testing.T) {
	s, err := mcp.Stdio(t.Context(), "pier", os.Args[0], nil, []string{childVar + "=" + filepath.Join(t.TempDir(), "log")})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := s.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	if _, err := s.ListTools(t.Context()); err == nil {
		t.Error("ListTools after Close: no error")
	}
}
