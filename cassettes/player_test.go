package cassettes_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
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

func TestPlayerAnswersInOrder(t *testing.T) {
	p := cassettes.NewPlayer(twoSteps())
	if got := p.Unused(); len(got) != 2 {
		t.Errorf("unused %v", got)
	}
	// Another host, another key, other spelling of the same JSON.
	resp, err := p.RoundTrip(request(t, "POST", "http://127.0.0.1:1/v1/chat?key=other&alt=sse", `{"b": [1.0, "\u0078"], "a": 1}`))
	if err != nil {
		t.Fatal(err)
	}
	body, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 200 || string(body) != `{"n":1}` || resp.ContentLength != 7 {
		t.Errorf("%+v %s", resp, body)
	}
	resp.Header.Set("X-N", "changed")
	err = p.Done()
	if err == nil || !strings.Contains(err.Error(), "1 of 2 exchanges were not played, the first is exchange 1: POST https://engine.example/v1/chat") {
		t.Errorf("Done = %v", err)
	}
	if _, err := p.RoundTrip(request(t, "POST", "http://h/v1/chat", "plain")); err != nil {
		t.Fatal(err)
	}
	if err := p.Done(); err != nil {
		t.Error(err)
	}
	_, err = p.RoundTrip(request(t, "POST", "http://h/v1/chat", "plain"))
	if err == nil || !strings.Contains(err.Error(), "exchange 2: request: want none: the tape ends after 2 exchanges, got POST /v1/chat") {
		t.Errorf("past the end: %v", err)
	}
	if p.Done() == nil {
		t.Error("Done forgets a refused request")
	}
}

func TestPlayerHandsOutFreshHeaders(t *testing.T) {
	tape := twoSteps()
	for range 2 {
		resp, err := cassettes.NewPlayer(tape).RoundTrip(request(t, "POST", "http://h/v1/chat?alt=sse", `{"a":1,"b":[1.0,"x"]}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Header.Get("X-N"); got != "1" {
			t.Errorf("header %q", got)
		}
		resp.Header.Set("X-N", "changed")
	}
}

func TestPlayerNamesTheDifference(t *testing.T) {
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
			p := cassettes.NewPlayer(twoSteps())
			_, err := p.RoundTrip(request(t, c.method, c.url, c.body))
			var pe *cassettes.PlayError
			if !errors.As(err, &pe) {
				t.Fatalf("error is %v", err)
			}
			want := cassettes.PlayError{Tape: "harbour/two", Exchange: 0, Place: c.place, Want: c.want, Got: c.got}
			if *pe != want {
				t.Errorf("got  %+v\nwant %+v", *pe, want)
			}
			if len(p.Unused()) != 2 {
				t.Error("the refused request used an exchange up")
			}
			if !errors.Is(p.Done(), err) {
				t.Errorf("Done = %v", p.Done())
			}
		})
	}
}

func TestPlayerMindsTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := cassettes.NewPlayer(twoSteps())
	_, err := p.RoundTrip(request(t, "POST", "http://h/v1/chat?alt=sse", `{"a":1,"b":[1.0,"x"]}`).WithContext(ctx))
	if !errors.Is(err, context.Canceled) || len(p.Unused()) != 2 {
		t.Errorf("%v, unused %v", err, p.Unused())
	}
}

func TestPlayerIsSafeForConcurrentUse(t *testing.T) {
	var tape cassettes.Tape
	for range 50 {
		tape.Exchanges = append(tape.Exchanges, step("POST", "http://h/x", `{}`, "same"))
	}
	p := cassettes.NewPlayer(tape)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			resp, err := p.RoundTrip(request(t, "POST", "http://h/x", `{}`))
			if err != nil {
				t.Error(err)
				return
			}
			resp.Header.Set("X-N", "mine")
		})
	}
	wg.Wait()
	if err := p.Done(); err != nil {
		t.Error(err)
	}
}
