package cassettes_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/toolconform/conform/cassettes"
)

func step(method, url, request, response string) cassettes.Exchange {
	return cassettes.Exchange{
		Request:  cassettes.Request{Method: method, URL: url, Body: []byte(request)},
		Response: cassettes.Response{Status: 200, Header: http.Header{"X-N": {"1"}}, Body: []byte(response)},
	}
}

func request(t *testing.T, method, url, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequest(method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

func twoSteps() cassettes.Tape {
	return cassettes.Tape{Name: "harbour/two", Exchanges: []cassettes.Exchange{
		step("POST", "https://engine.example/v1/chat?alt=sse&key=REDACTED", `{"a":1,"b":[1.0,"x"]}`, `{"n":1}`),
		step("POST", "https://engine.example/v1/chat", "plain", "two"),
	}}
}

func sent(method, url, body string) cassettes.Request {
	return cassettes.Request{Method: method, URL: url, Body: []byte(body)}
}

// Another host, another key and another spelling of the same JSON are the same
// request; one past the end is none.
func TestSameRequest(t *testing.T) {
	tape := twoSteps()
	first := sent("POST", "http://127.0.0.1:1/v1/chat?key=other&alt=sse", `{"b": [1.0, "\u0078"], "a": 1}`)
	if err := tape.Differs(0, first); err != nil {
		t.Error(err)
	}
	second := sent("POST", "http://h/v1/chat", "plain")
	if err := tape.Differs(1, second); err != nil {
		t.Error(err)
	}
	err := tape.Differs(2, second)
	if err == nil || !strings.HasSuffix(err.Error(), "exchange 2: request: want none: the tape ends after 2 exchanges, got POST /v1/chat") {
		t.Errorf("past the end: %v", err)
	}
}

func TestDiffersNamesTheDifference(t *testing.T) {
	const path, body = "http://h/v1/chat?alt=sse", `{"a":1,"b":[1.0,"x"]}`
	for _, c := range []struct{ name, method, url, body, place, want, got string }{
		{"method", "GET", path, body, "method", "POST", "GET"},
		{"path", "POST", "http://h/v2/chat?alt=sse", body, "path", "/v1/chat", "/v2/chat"},
		{"query", "POST", "http://h/v1/chat", body, "query", "alt=sse", "none"},
		{"value", "POST", path, `{"a":2,"b":[1.0,"x"]}`, "body /a", "1", "2"},
		{"number spelling", "POST", path, `{"a":1,"b":[1,"x"]}`, "body /b/0", "1.0", "1"},
		{"missing", "POST", path, `{"b":[1.0,"x"]}`, "body /a", "1", "nothing"},
		{"order of a list", "POST", path, `{"a":1,"b":["x",1.0]}`, "body /b/0", "1.0", `"x"` + "\n  also /b/1: want \"x\", got 1.0"},
		{"no json", "POST", path, `{"a"`, "body", "JSON", `{"a" (unexpected end of JSON at byte 4 (in /a))`},
		{"no body", "POST", path, ``, "body", "JSON", "no body (empty input at byte 0)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := twoSteps().Differs(0, sent(c.method, c.url, c.body))
			var me *cassettes.MismatchError
			if !errors.As(err, &me) {
				t.Fatalf("error is %v", err)
			}
			want := cassettes.MismatchError{Tape: "harbour/two", Exchange: 0, Place: c.place, Want: c.want, Got: c.got}
			if *me != want {
				t.Errorf("got  %+v\nwant %+v", *me, want)
			}
		})
	}
}
