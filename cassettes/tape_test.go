package cassettes_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	vcr "github.com/dnaeon/go-vcr/v2/cassette"

	"github.com/toolconform/conform/cassettes"
)

// bodies are those that YAML readers are known to alter.
var bodies = []string{
	"", "x", "x\n", "x\n\n", "\n", "\n\n", "\nx", " x", "\tx", "x ", "a\n b\n  c", "a\n\nb", "a\n   \nb", "a\n\t\nb", "  \n",
	`{"a":"b: c # d"}`, "{\"a\":\n  [1,\n\t2]}\n", "data: {\"x\":1}\n\ndata: [DONE]\n\n", "a\r\nb\r\n", "null", "~", "true", "12", "1.0", "- a", "---", "---\na", "...", "%x", "!x", "&a", "*a", "|", "a: b",
	"\u00e9\u4e16\U0001f30a", "a\u0085b", "a\u2028b\u2029c", "\ufeffx", "x\ufffdy", "\x00\x01\x7f", "\xff\xfe\x00", "\\n \"q\" 'q'", strings.Repeat("long ", 2000),
}

func exchange(request, response []byte) cassettes.Exchange {
	return cassettes.Exchange{
		Request: cassettes.Request{
			Method: "POST", URL: "https://engine.example/v1/chat?x=1%20y&z=a:b#f",
			Header: http.Header{"Content-Type": {"application/json"}, "X-Two": {"a: b", "# c"}}, Body: request,
		},
		Response: cassettes.Response{Status: 200, Header: http.Header{"Content-Type": {"text/event-stream; charset=utf-8"}, "X-Odd": {"caf\xe9", "", "null"}}, Body: response},
	}
}

func write(t *testing.T, tape cassettes.Tape) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := cassettes.Write(&b, tape); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func same(t *testing.T, got, want cassettes.Tape) {
	t.Helper()
	if len(got.Exchanges) != len(want.Exchanges) {
		t.Fatalf("%d exchanges, want %d", len(got.Exchanges), len(want.Exchanges))
	}
	for i, w := range want.Exchanges {
		g := got.Exchanges[i]
		if g.Request.Method != w.Request.Method || g.Request.URL != w.Request.URL || g.Response.Status != w.Response.Status {
			t.Errorf("exchange %d: %s %s %d", i, g.Request.Method, g.Request.URL, g.Response.Status)
		}
		if !bytes.Equal(g.Request.Body, w.Request.Body) || !bytes.Equal(g.Response.Body, w.Response.Body) {
			t.Errorf("exchange %d: bodies %q %q\nwant %q %q", i, g.Request.Body, g.Response.Body, w.Request.Body, w.Response.Body)
		}
		if !reflect.DeepEqual(g.Request.Header, w.Request.Header) || !reflect.DeepEqual(g.Response.Header, w.Response.Header) {
			t.Errorf("exchange %d: headers %v %v\nwant %v %v", i, g.Request.Header, g.Response.Header, w.Request.Header, w.Response.Header)
		}
	}
}

func roundTrip(t *testing.T, tape cassettes.Tape) {
	t.Helper()
	text := write(t, tape)
	got, err := cassettes.Parse("x.yaml", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	same(t, got, tape)
	if again := write(t, got); !bytes.Equal(again, text) {
		t.Errorf("written again it differs:\n%s", again)
	}
}

// loadVCR reads a tape with go-vcr v2 itself.
func loadVCR(t *testing.T, text []byte) cassettes.Tape {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x")
	if err := os.WriteFile(name+".yaml", text, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := vcr.Load(name)
	if err != nil {
		t.Fatalf("go-vcr refuses it: %v\n%s", err, text)
	}
	var tape cassettes.Tape
	for _, i := range c.Interactions {
		tape.Exchanges = append(tape.Exchanges, cassettes.Exchange{
			Request:  cassettes.Request{Method: i.Method, URL: i.URL, Header: i.Request.Headers, Body: []byte(i.Request.Body)},
			Response: cassettes.Response{Status: i.Code, Header: i.Response.Headers, Body: []byte(i.Response.Body)},
		})
	}
	return tape
}

func TestWriteAndReadKeepEveryByte(t *testing.T) {
	var tape cassettes.Tape
	for i, body := range bodies {
		tape.Exchanges = append(tape.Exchanges, exchange([]byte(body), []byte(bodies[len(bodies)-1-i])))
	}
	roundTrip(t, tape)
	same(t, loadVCR(t, write(t, tape)), tape)
	roundTrip(t, cassettes.Tape{})
}

func TestRandomBodiesKeepEveryByte(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"a", "b", " ", " ", "\n", "\n", "\t", ":", "#", "-", "\"", "{", "}", "\\", "\r", "\u0085", "\u2028", "\ufeff", "\x00", "\xff", "é", "0"}
	random := func() []byte {
		var b strings.Builder
		limit := 3 + r.IntN(len(alphabet)-3)
		for range r.IntN(12) {
			b.WriteString(alphabet[r.IntN(limit)])
		}
		return []byte(b.String())
	}
	var tape cassettes.Tape
	for range 1500 {
		tape.Exchanges = append(tape.Exchanges, exchange(random(), random()))
	}
	roundTrip(t, tape)
	same(t, loadVCR(t, write(t, tape)), tape)
}

// What go-vcr v2 saves is version 1 in another layout.
func TestReadWhatGoVCRSaves(t *testing.T) {
	c := vcr.New(filepath.Join(t.TempDir(), "saved"))
	var want cassettes.Tape
	for _, body := range bodies {
		x := exchange([]byte(body), []byte(body))
		want.Exchanges = append(want.Exchanges, x)
		c.AddInteraction(&vcr.Interaction{
			Request:  vcr.Request{Method: x.Request.Method, URL: x.Request.URL, Headers: x.Request.Header, Body: body},
			Response: vcr.Response{Code: 200, Status: "200 OK", Headers: x.Response.Header, Body: body},
		})
	}
	if err := c.Save(); err != nil {
		t.Fatal(err)
	}
	got, err := cassettes.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "saved" {
		t.Errorf("name %q", got.Name)
	}
	same(t, got, want)
}

func TestWrittenTapeIsReadable(t *testing.T) {
	tape := cassettes.Tape{Exchanges: []cassettes.Exchange{{
		Request:  cassettes.Request{Method: "POST", URL: "http://127.0.0.1/api/chat", Header: http.Header{"Accept": {"*/*"}}, Body: []byte(`{"model":"m"}`)},
		Response: cassettes.Response{Status: 503, Body: []byte("a\n\n  b\n")},
	}}}
	want := `---
version: 2
interactions:
  - id: 0
    request:
      proto: HTTP/1.1
      proto_major: 1
      proto_minor: 1
      transfer_encoding: []
      trailer: {}
      content_length: 13
      host: "127.0.0.1"
      remote_addr: ""
      request_uri: ""
      form: {}
      headers:
        "Accept": ["*/*"]
      method: "POST"
      url: "http://127.0.0.1/api/chat"
      body: |-
        {"model":"m"}
    response:
      proto: HTTP/1.1
      proto_major: 1
      proto_minor: 1
      transfer_encoding: []
      trailer: {}
      content_length: 7
      uncompressed: false
      headers: {}
      status: "503 Service Unavailable"
      code: 503
      duration: 0s
      body: |
        a

          b
`
	if got := string(write(t, tape)); got != want {
		t.Errorf("got\n%s", got)
	}
}

// The layout that go-vcr v4 writes.
const v4Tape = `---
version: 2
interactions:
    - id: 0
      request:
        proto: HTTP/1.1
        proto_major: 1
        proto_minor: 1
        content_length: 12
        transfer_encoding: []
        trailer: {}
        host: engine.example
        remote_addr: ""
        request_uri: ""
        body: '{"tide":"w"}'
        form: {}
        headers:
            Accept:
                - application/json
        url: https://engine.example/v1/messages
        method: POST
      response:
        proto: HTTP/2.0
        proto_major: 2
        proto_minor: 0
        transfer_encoding: []
        trailer: {}
        content_length: -1
        uncompressed: true
        body: !!binary |
          /wA=
        headers:
            Content-Type:
                - application/json
        status: 200 OK
        code: 200
        duration: 1.5s
`

func TestReadVersion4(t *testing.T) {
	got, err := cassettes.Read(fstest.MapFS{"tapes/harbour/tide.yaml": {Data: []byte(v4Tape)}}, "harbour/tide")
	if err != nil {
		t.Fatal(err)
	}
	if got.Name != "harbour/tide" {
		t.Errorf("name %q", got.Name)
	}
	same(t, got, cassettes.Tape{Exchanges: []cassettes.Exchange{{
		Request:  cassettes.Request{Method: "POST", URL: "https://engine.example/v1/messages", Header: http.Header{"Accept": {"application/json"}}, Body: []byte(`{"tide":"w"}`)},
		Response: cassettes.Response{Status: 200, Header: http.Header{"Content-Type": {"application/json"}}, Body: []byte("\xff\x00")},
	}}})
}

func httprr(pairs ...string) string {
	text := "httprr trace v1\n"
	for i := 0; i < len(pairs); i += 2 {
		text += fmt.Sprintf("%d %d\n%s%s", len(pairs[i]), len(pairs[i+1]), pairs[i], pairs[i+1])
	}
	return text
}

const (
	rrRequest  = "POST https://engine.example/v1/chat HTTP/1.1\r\nHost: engine.example\r\nContent-Length: 2\r\nContent-Type: application/json\r\n\r\n{}"
	rrResponse = "HTTP/2.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"a\":1}"
	rrChunked  = "HTTP/1.1 429 Too Many Requests\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
)

func TestReadHTTPRR(t *testing.T) {
	origin := strings.Replace(rrRequest, "https://engine.example/v1", "/v1", 1)
	got, err := cassettes.Parse("a/trace.httprr", []byte(httprr(rrRequest, rrResponse, origin, rrChunked)))
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Exchanges) != 2 || got.Name != "trace" {
		t.Fatalf("%+v", got)
	}
	for i, want := range []struct {
		status int
		body   string
	}{{200, `{"a":1}`}, {429, "abc"}} {
		x := got.Exchanges[i]
		if x.Request.URL != "https://engine.example/v1/chat" || string(x.Request.Body) != "{}" {
			t.Errorf("request %d: %+v", i, x.Request)
		}
		if x.Response.Status != want.status || string(x.Response.Body) != want.body {
			t.Errorf("response %d: %+v", i, x.Response)
		}
	}
}

func TestBrokenTapesNameLineAndRemedy(t *testing.T) {
	for _, c := range []struct {
		name, data string
		line       int
		text       string
	}{
		{"empty", "", 0, "is empty"},
		{"no yaml", "a: [", 0, "no YAML"},
		{"two documents", v4Tape + "\n---\nversion: 2\ninteractions: []\n", 0, "goes on behind the end of its document"},
		{"a broken second document", v4Tape + "\n---\na: [", 0, "goes on behind the end of its document"},
		{"a text", "hello", 1, "no tape"},
		{"another mapping", "a: 1\n", 1, "no list of interactions"},
		{"version 3", "version: 3\ninteractions: []\n", 1, "version"},
		{"no response", "version: 1\ninteractions:\n- request:\n    url: u\n", 3, "interaction 0: has no request or no response"},
		{"vcrpy", "version: 1\ninteractions:\n- request:\n    uri: u\n  response:\n    status: {code: 200}\n", 4, "vcrpy"},
		{"ruby", "http_interactions: []\nrecorded_with: VCR 6\n", 1, "Ruby"},
		{"status", strings.Replace(v4Tape, "code: 200", "code: many", 1), 36, "code"},
		{"binary", strings.Replace(v4Tape, "/wA=", "/w*=", 1), 30, "base64"},
		{"body of lists", strings.Replace(v4Tape, `'{"tide":"w"}'`, "[1]", 1), 15, "want a text"},
		{"compressed", "\x1f\x8b\x08", 0, "compressed"},
		{"counts", "httprr trace v1\n3 x\nabc", 2, "byte counts"},
		{"short", "httprr trace v1\n300 5\nabc", 2, "announced"},
		{"negative", "httprr trace v1\n-1 5\nabc", 2, "byte counts"},
		{"no http", httprr(rrRequest, rrResponse) + "\n", 11, "byte counts"},
		{"no request", httprr("hello", rrResponse), 2, "cannot be read"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := cassettes.Read(fstest.MapFS{"tapes/e/s.yaml": {Data: []byte(c.data)}}, "e/s")
			var te *cassettes.TapeError
			if !errors.As(err, &te) {
				t.Fatalf("error is %v", err)
			}
			if te.File != "tapes/e/s.yaml" || te.Remedy == "" || !strings.Contains(te.Text, c.text) || (c.line != 0 && te.Line != c.line) {
				t.Errorf("got %v\nwant line %d, text with %q", err, c.line, c.text)
			}
		})
	}
	_, err := cassettes.Read(fstest.MapFS{}, "e/none")
	if err == nil || !strings.Contains(err.Error(), "tapes/e/none.yaml") || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing tape gave %v", err)
	}
	if _, err := cassettes.ReadFile(filepath.Join(t.TempDir(), "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file gave %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(v4Tape))
	f.Add([]byte(httprr(rrRequest, rrResponse, rrRequest, rrChunked)))
	f.Add([]byte("version: 1\ninteractions:\n- &a {request: *a}\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		tape, err := cassettes.Parse("x.yaml", data)
		if err != nil {
			return
		}
		var b bytes.Buffer
		if err := cassettes.Write(&b, tape); err != nil {
			t.Fatal(err)
		}
		again, err := cassettes.Parse("x.yaml", b.Bytes())
		if err != nil || len(again.Exchanges) != len(tape.Exchanges) {
			t.Fatalf("what was read cannot be written and read: %v\n%s", err, b.Bytes())
		}
		for i := range tape.Exchanges {
			if !bytes.Equal(again.Exchanges[i].Response.Body, tape.Exchanges[i].Response.Body) {
				t.Fatalf("body %d: %q became %q", i, tape.Exchanges[i].Response.Body, again.Exchanges[i].Response.Body)
			}
		}
	})
}

// pack is gzip of a text.
func pack(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestReadFileUnpacks(t *testing.T) {
	packed := pack(t, httprr(rrRequest, rrResponse))
	file := filepath.Join(t.TempDir(), "quay.httprr.gz")
	if err := os.WriteFile(file, packed, 0o600); err != nil {
		t.Fatal(err)
	}
	tape, err := cassettes.ReadFile(file)
	if err != nil || len(tape.Exchanges) != 1 || tape.Name != "quay" || len(tape.Exchanges[0].Response.Body) == 0 {
		t.Errorf("got %+v (%v)", tape, err)
	}
	if err := os.WriteFile(file, packed[:40], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := cassettes.ReadFile(file); err == nil || !strings.Contains(err.Error(), "gunzip -t") {
		t.Errorf("a cut file gives %v", err)
	}
}
