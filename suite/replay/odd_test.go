package replay_test

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/suite/replay"
)

// TestOddTurns: a status that no answer has is told as a fault of the script, and
// a recorded header about the way of a body does not spoil the one that goes out.
func TestOddTurns(t *testing.T) {
	for _, name := range []string{"in process", "handler"} {
		c := texts(t)
		for _, status := range []int{99, 101, 100000, -1} {
			c.Script.Turns = append(c.Script.Turns, replay.Turn{Status: status, Body: []byte(`{}`)})
		}
		c.Script.Turns = append(c.Script.Turns, replay.Turn{Body: []byte(`{"n":5}`), Header: http.Header{
			"Content-Length": {"3"}, "Transfer-Encoding": {"chunked"}, "Content-Encoding": {"gzip"}, "Connection": {"close"}, "Retry-After": {"7"},
		}})
		ask := ways(t, c)[name]
		for i, turn := range c.Script.Turns {
			got := ask("POST", "/chat/completions", `{}`)
			if odd := turn.Status != 0; odd && (got.status != 500 || !strings.Contains(got.body, "an answer has one of 200 to 599")) {
				t.Errorf("%s, turn %d: %+v", name, i, got)
			} else if !odd && (got.body != `{"n":5}` || got.header.Get("Retry-After") != "7") {
				t.Errorf("%s, turn %d: %+v", name, i, got)
			}
		}
		if got := ask("HEAD", "/v1/models", ""); got.status != 200 || got.body != "" {
			t.Errorf("%s, HEAD: %+v", name, got)
		}
	}
}

// TestHostileRequests: what is too large is answered in the form of the dialect
// and noted, what breaks off is not; neither uses up a turn or leaves a handler
// behind.
func TestHostileRequests(t *testing.T) {
	c := texts(t, `{"n":1}`)
	var handled chan struct{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		c.ServeHTTP(w, req)
		handled <- struct{}{}
	}))
	defer server.Close()
	handled = make(chan struct{}, 1)
	resp, err := http.Post(server.URL+"/chat/completions", "application/json", io.LimitReader(endless{}, codecs.MaxBody+1))
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	<-handled
	if err != nil || resp.StatusCode != 413 || !strings.HasPrefix(string(body), `{"error":{"message":`) {
		t.Errorf("too large: %d %s %v", resp.StatusCode, body, err)
	}
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST /chat/completions HTTP/1.1\r\nHost: engine\r\nContent-Length: 100\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
	<-handled
	tr := c.Transcript()
	if len(tr.Exchanges) != 0 || len(tr.Side) != 1 || tr.Side[0].Out.Status != 413 || len(tr.Side[0].In.Body) != 0 {
		t.Errorf("%d exchanges, side requests %+v", len(tr.Exchanges), tr.Side)
	}
}
