package toolserver_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/toolserver"
)

const data = `{"name":"quay","tools":[
 {"name":"weigh","inputSchema":{"type":"object","b":1,"a":12345678901234567890},
  "answers":[
   {"when":{"crate":7,"opts":{"x":[1,2]}},"result":{"content":[{"type":"chart","n":1.50,
     "s":"<"}]}},
   {"when":{"crate":8},"result":{}},
   {"when":{"crate":9},"error":"the scale is broken"},
   {"when":{"crate":10},"hang":true},
   {"when":{"crate":11}}]}]}`

func quay(t testing.TB) *toolserver.Server {
	t.Helper()
	return served(t, data)
}

func served(t testing.TB, data string) *toolserver.Server {
	t.Helper()
	s := &toolserver.Server{}
	if err := json.Unmarshal([]byte(data), s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestWhen(t *testing.T) {
	s := quay(t)
	for _, c := range []struct{ arguments, want string }{
		{`{"opts":{"x":[1,2]},"crate":7,"more":true}`, `{"content":[{"type":"chart","n":1.50,
     "s":"<"}]}`},
		{`{"opts":{"x":[2,1]},"crate":7}`, ""}, // lists are ordered
		{`{"opts":{"x":[1,2]},"crate":7.0}`, ""},
		{`{"crate":8}`, `{}`},
		{`{"crate":11}`, `{"content":[]}`},
	} {
		got, err := s.CallTool(t.Context(), "weigh", []byte(c.arguments))
		if err != nil {
			t.Fatal(err)
		}
		if c.want == "" {
			if !jsonx.Of(got).Get("isError").Bool() || !strings.Contains(string(got), "no answer") {
				t.Errorf("%s: got %s, want an error result", c.arguments, got)
			}
		} else if string(got) != c.want {
			t.Errorf("%s: got %s, want %s", c.arguments, got, c.want)
		}
	}
	if n := len(s.Log()); n != 5 {
		t.Errorf("log has %d calls, want 5", n)
	}
}

func listen(t *testing.T, s *toolserver.Server) string {
	t.Helper()
	url, stop, err := s.Listen()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	if !strings.HasPrefix(url, "http://127.0.0.1:") {
		t.Errorf("url = %s, want one on 127.0.0.1", url)
	}
	return url
}

func do(t *testing.T, method, url, body string, header ...string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(out)
}

const listResult = `{"tools":[{"name":"weigh","inputSchema":{"type":"object","b":1,"a":12345678901234567890}}]}`

func TestPlainTwin(t *testing.T) {
	url := listen(t, quay(t))
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"GET", "/tools", "", 200, listResult},
		{"POST", "/call", `{"name":"weigh","arguments":{"crate":8}}`, 200, `{}`},
		{"POST", "/call", `{"name":"weigh"}`, 200, `{"content":[{"type":"text","text":"tool weigh has no answer to the arguments {}"}],"isError":true}`},
		{"POST", "/call", `{"name":"weigh","arguments":{"crate":9}}`, 500, `{"error":{"code":-32603,"message":"the scale is broken"}}`},
		{"POST", "/call", `{"name":"lift","arguments":{}}`, 404, `{"error":{"code":-32602,"message":"tool 'lift' not found"}}`},
		{"POST", "/call", `{"name":"weigh","arguments":"{}"}`, 400, `{"error":{"code":-32602,"message":"arguments must be a JSON object"}}`},
		{"POST", "/call", `{}`, 400, `{"error":{"code":-32602,"message":"want {\"name\": string, \"arguments\": object}"}}`},
	} {
		status, got := do(t, c.method, url+c.path, c.body)
		if status != c.status || got != c.want {
			t.Errorf("%s %s %s: %d %s\nwant %d %s", c.method, c.path, c.body, status, got, c.status, c.want)
		}
	}
	if status, _ := do(t, "POST", url+"/call", `{"name"`); status != 400 {
		t.Errorf("status = %d for a body that is no JSON, want 400", status)
	}
	if status, _ := do(t, "GET", url+"/call", ``); status != 405 {
		t.Errorf("status = %d for GET /call, want 405", status)
	}
}

// What clients of other makers send, by hand: the handshake of older protocol
// versions and the requests of the newest.
func TestMCPOverHTTP(t *testing.T) {
	s := quay(t)
	url := listen(t, s) + "/mcp"
	status, body := do(t, "POST", url, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	if status != 200 || jsonx.Of([]byte(body)).Path("result", "protocolVersion").Str() != "2025-03-26" {
		t.Errorf("initialize: %d %s", status, body)
	}
	if !jsonx.Of([]byte(body)).Path("result", "capabilities", "tools").IsObject() {
		t.Errorf("initialize does not name tools: %s", body)
	}
	if status, body = do(t, "POST", url, `{"jsonrpc":"2.0","method":"notifications/initialized"}`); status != 202 {
		t.Errorf("initialized: %d %s", status, body)
	}
	status, body = do(t, "POST", url, `{"jsonrpc":"2.0","id":"l-1","method":"tools/list"}`)
	if want := `{"jsonrpc":"2.0","id":"l-1","result":` + listResult + `}`; status != 200 || body != want {
		t.Errorf("list: %d %s\nwant %s", status, body, want)
	}
	status, body = do(t, "POST", url, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"weigh","arguments":{"crate":9}}}`)
	if want := `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"the scale is broken"}}`; status != 200 || body != want {
		t.Errorf("call: %d %s\nwant %s", status, body, want)
	}
	_, body = do(t, "POST", url, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"weigh","arguments":{"crate":8},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if want := `{"jsonrpc":"2.0","id":3,"result":{"resultType":"complete"}}`; body != want {
		t.Errorf("call of the newest version: %s\nwant %s", body, want)
	}
	if status, _ := do(t, "GET", url, ""); status != 405 {
		t.Errorf("GET = %d, want 405: there is no stream to listen to", status)
	}
}

// conn is a stdio connection driven by hand.
type conn struct {
	in   io.WriteCloser
	out  *bufio.Scanner
	done chan error
}

func stdio(t *testing.T, s *toolserver.Server) *conn {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	c := &conn{in: inW, out: bufio.NewScanner(outR), done: make(chan error, 1)}
	go func() {
		err := s.ServeStdio(t.Context(), inR, outW)
		_ = outW.Close()
		c.done <- err
	}()
	return c
}

func (c *conn) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (c *conn) line(t *testing.T) string {
	t.Helper()
	if !c.out.Scan() {
		t.Fatalf("no more output: %v", c.out.Err())
	}
	return c.out.Text()
}

func TestStdio(t *testing.T) {
	s := quay(t)
	c := stdio(t, s)
	c.send(t, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	if v := jsonx.Of([]byte(c.line(t))); v.Path("result", "serverInfo", "name").Str() != "quay" {
		t.Errorf("initialize: %s", v.Raw())
	}
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n") // and an empty line
	c.send(t, `{"jsonrpc":"2.0","id":1,"method":"ping"}`)
	if got := c.line(t); !strings.Contains(got, `"id":1,"result":{}`) {
		t.Errorf("ping: %s", got)
	}
	c.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`)
	if got, want := c.line(t), `{"jsonrpc":"2.0","id":2,"result":`+listResult+`}`; got != want {
		t.Errorf("list: %s\nwant  %s", got, want)
	}
	// A result laid out over lines goes out as one line, its tokens unchanged.
	c.send(t, `{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"weigh","arguments":{"crate":7,"opts":{"x":[1,2]}}}}`)
	if got, want := c.line(t), `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"chart","n":1.50,"s":"<"}]}}`; got != want {
		t.Errorf("call: %s\nwant  %s", got, want)
	}
	c.send(t, `no json`)
	if got := c.line(t); !strings.Contains(got, `"id":null,"error":{"code":-32700`) {
		t.Errorf("no json: %s", got)
	}
	c.send(t, `{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{}}`)
	if got := c.line(t); !strings.Contains(got, `"id":4,"error":{"code":-32602`) {
		t.Errorf("call without a name: %s", got)
	}
	c.send(t, `{"jsonrpc":"2.0","id":5,"method":"no/such"}`)
	if got := c.line(t); !strings.Contains(got, `"id":5,"error":{"code":-32601`) {
		t.Errorf("unknown method: %s", got)
	}
	_ = c.in.Close()
	if err := <-c.done; err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
}

// A call that hangs holds up no other, and notifications/cancelled ends it while
// the connection stays open. Nothing answers it.
func TestStdioCancel(t *testing.T) {
	s := quay(t)
	c := stdio(t, s)
	c.send(t, `{"jsonrpc":"2.0","id":"h","method":"tools/call","params":{"name":"weigh","arguments":{"crate":10}}}`)
	for len(s.Log()) == 0 {
		runtime.Gosched()
	}
	c.send(t, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"weigh","arguments":{"crate":8}}}`)
	if got := c.line(t); got != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("call beside: %s", got)
	}
	c.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"h"}}`)
	for !s.Log()[0].Cancelled {
		runtime.Gosched()
	}
	c.send(t, `{"jsonrpc":"2.0","id":3,"method":"ping"}`)
	if got := c.line(t); !strings.Contains(got, `"id":3`) {
		t.Errorf("after the cancelled call: %s", got)
	}
	_ = c.in.Close()
	if err := <-c.done; err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
}

// The end of the context ends ServeStdio although the input stays open.
func TestStdioContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	defer func() { _ = w.Close() }()
	cancel()
	if err := quay(t).ServeStdio(ctx, r, io.Discard); err != nil {
		t.Errorf("ServeStdio: %v", err)
	}
}

// A client that goes away ends its call: the server sees the cancellation while
// it stays up.
func TestHTTPCancel(t *testing.T) {
	for path, body := range map[string]string{
		"/call": `{"name":"weigh","arguments":{"crate":10}}`,
		"/mcp":  `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"weigh","arguments":{"crate":10}}}`,
	} {
		s := quay(t)
		url := listen(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		req, err := http.NewRequestWithContext(ctx, "POST", url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			resp, err := http.DefaultClient.Do(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			done <- err
		}()
		for len(s.Log()) == 0 {
			runtime.Gosched()
		}
		cancel()
		if err := <-done; err == nil {
			t.Errorf("%s: an answer to a cancelled call", path)
		}
		for !s.Log()[0].Cancelled {
			runtime.Gosched()
		}
	}
}

func TestLogKeepsArguments(t *testing.T) {
	s := quay(t)
	args := []byte(`{"crate":8,"id":12345678901234567890}`)
	if _, err := s.CallTool(t.Context(), "weigh", args); err != nil {
		t.Fatal(err)
	}
	args[2] = 'X' // the caller may use its buffer again
	want := []toolserver.Call{{Server: "quay", Name: "weigh", Arguments: []byte(`{"crate":8,"id":12345678901234567890}`), Result: []byte(`{}`)}}
	if diff := cmp.Diff(want, s.Log()); diff != "" {
		t.Error(diff)
	}
}

// A protocol error keeps its code on every way, and the log tells it.
func TestErrorKeepsItsCode(t *testing.T) {
	s := served(t, `{"name":"pier","tools":[
		{"name":"own","answers":[{"error":{"code":-32050,"message":"closed"}}]},
		{"name":"plain","answers":[{"error":"broken"}]}]}`)
	url := listen(t, s)
	for name, want := range map[string]string{"own": `{"code":-32050,"message":"closed"}`, "plain": `{"code":-32603,"message":"broken"}`} {
		_, rpc := do(t, "POST", url+"/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{}}}`)
		if got := jsonx.Of([]byte(rpc)).Get("error").Raw(); !jsonx.Equal(got, []byte(want)) {
			t.Errorf("%s over MCP: %s", name, rpc)
		}
		status, plain := do(t, "POST", url+"/call", `{"name":"`+name+`"}`)
		if got := jsonx.Of([]byte(plain)).Get("error").Raw(); status != 500 || !jsonx.Equal(got, []byte(want)) {
			t.Errorf("%s over the plain twin: %d %s", name, status, plain)
		}
	}
	for _, c := range s.Log() {
		if c.Err == nil || c.Server != "pier" || c.Result != nil || (c.Err.Code == -32050) != (c.Name == "own") {
			t.Errorf("log %+v", c)
		}
	}
}

// Runs that share a connection have a log each.
func TestLogOfARun(t *testing.T) {
	s := quay(t)
	var first, second toolserver.Log
	for _, l := range []*toolserver.Log{&first, &second, &second} {
		if _, err := s.CallTool(toolserver.WithLog(t.Context(), l), "weigh", []byte(`{"crate":8}`)); err != nil {
			t.Fatal(err)
		}
	}
	if len(first.Calls()) != 1 || len(second.Calls()) != 2 || len(s.Log()) != 0 {
		t.Errorf("%d, %d and %d calls", len(first.Calls()), len(second.Calls()), len(s.Log()))
	}
}
