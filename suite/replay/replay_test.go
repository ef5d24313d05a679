package replay_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/replay"
)

func codec(t *testing.T, d codecs.Dialect) codecs.Full {
	t.Helper()
	c, err := all.For(d)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// texts is a conversation whose turns are the given bodies.
func texts(t *testing.T, bodies ...string) *replay.Conversation {
	c := &replay.Conversation{Codec: codec(t, codecs.OpenAI), Model: "m-1"}
	for _, b := range bodies {
		c.Script.Turns = append(c.Script.Turns, replay.Turn{Body: []byte(b)})
	}
	return c
}

type answered struct {
	status int
	header http.Header
	body   string
}

// ways are the two ways to reach a conversation: in process and over a socket.
func ways(t *testing.T, c *replay.Conversation) map[string]func(method, target, body string) answered {
	server := httptest.NewServer(c)
	t.Cleanup(server.Close)
	way := func(base string, client *http.Client) func(method, target, body string) answered {
		return func(method, target, body string) answered {
			req, err := http.NewRequest(method, base+target, strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("X-Asked", "yes")
			resp, err := client.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			defer resp.Body.Close()
			b, err := io.ReadAll(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			return answered{resp.StatusCode, resp.Header, string(b)}
		}
	}
	return map[string]func(method, target, body string) answered{
		"in process": way("http://engine.invalid", &http.Client{Transport: c}),
		"handler":    way(server.URL, server.Client()),
	}
}

func TestTurnsInOrder(t *testing.T) {
	for _, name := range []string{"in process", "handler"} {
		t.Run(name, func(t *testing.T) {
			c := texts(t, `{"n":1}`, `{"n":2}`)
			c.Script.Turns[0] = replay.Turn{Status: 429, Header: http.Header{"Retry-After": {"7"}}, Body: []byte(`{"n":1}`)}
			ask := ways(t, c)[name]
			first := ask("POST", "/v1/chat/completions?trace=on", `{"model":"m-1"}`)
			if first.status != 429 || first.body != `{"n":1}` || first.header.Get("Retry-After") != "7" || first.header.Get("Content-Type") != "application/json" {
				t.Errorf("first answer %+v", first)
			}
			if second := ask("POST", "/chat/completions", `{"model":"m-2"}`); second.status != 200 || second.body != `{"n":2}` {
				t.Errorf("second answer %+v", second)
			}
			past := ask("POST", "/chat/completions", `{}`)
			if past.status != 400 || !strings.Contains(past.body, "the conversation has 2 turns; this is request 3") {
				t.Errorf("past the last turn: %+v", past)
			}
			tr := c.Transcript()
			if len(tr.Exchanges) != 3 || len(tr.Side) != 0 {
				t.Fatalf("transcript of %d exchanges, %d side requests", len(tr.Exchanges), len(tr.Side))
			}
			x := tr.Exchanges[0]
			if x.In.Method != "POST" || x.In.Path != "/v1/chat/completions" || x.In.Query.Get("trace") != "on" ||
				x.In.Header["X-Asked"][0] != "yes" || string(x.In.Body) != `{"model":"m-1"}` {
				t.Errorf("request as written down: %+v", x.In)
			}
			if x.Out.Status != 429 || x.Out.Header["Retry-After"][0] != "7" || string(x.Out.Body) != `{"n":1}` || x.Turn != 0 {
				t.Errorf("answer as written down: %+v", x)
			}
			if tr.Exchanges[2].Turn != 2 || tr.Exchanges[2].Out.Status != 400 {
				t.Errorf("past the last turn: %+v", tr.Exchanges[2])
			}
		})
	}
}

// TestSideRequests asks for what clients ask for beside the conversation: it is
// answered in the form of its provider, and the next chat request gets turn one.
func TestSideRequests(t *testing.T) {
	for _, c := range []struct{ method, target, pointer, want string }{
		{"GET", "/v1/models", "/data/0/id", "m-1"},
		{"GET", "/models/", "/data/0/id", "m-1"},
		{"GET", "/v1/models/m-1", "/id", "m-1"},
		{"GET", "/v1beta/models", "/models/0/name", "models/m-1"},
		{"GET", "/v1beta/models/m-1", "/name", "models/m-1"},
		{"POST", "/v1beta/models/m-1:countTokens", "/totalTokens", ""},
		{"POST", "/v1/messages/count_tokens", "/input_tokens", ""},
		{"GET", "/api/tags", "/models/0/model", "m-1"},
		{"POST", "/api/show", "/capabilities/1", "tools"},
		{"GET", "/api/version", "/version", "0.0.0"},
	} {
		t.Run(c.method+" "+c.target, func(t *testing.T) {
			conversation := texts(t, `{"n":1}`)
			got := ways(t, conversation)["handler"](c.method, c.target, `{}`)
			v, err := jsonx.Parse([]byte(got.body))
			if err != nil {
				t.Fatal(err)
			}
			if at := v.Lookup(c.pointer); got.status != 200 || !at.Defined() || c.want != "" && at.Str() != c.want {
				t.Errorf("%d %s, want %q at %s", got.status, got.body, c.want, c.pointer)
			}
			if chat := ways(t, conversation)["in process"]("POST", "/v1/chat/completions", `{}`); chat.body != `{"n":1}` {
				t.Errorf("the chat request after it got %+v", chat)
			}
			tr := conversation.Transcript()
			if len(tr.Exchanges) != 1 || len(tr.Side) != 1 || tr.Side[0].Turn != -1 || string(tr.Side[0].Out.Body) != got.body {
				t.Errorf("transcript %+v", tr)
			}
		})
	}
}

// TestUnknownPathsAreNoted: a path that nothing answers is 404 and uses up no
// turn; neither does a chat path without POST.
func TestUnknownPathsAreNoted(t *testing.T) {
	c := texts(t, `{"n":1}`)
	ask := ways(t, c)["handler"]
	for _, target := range []string{"/v1/completions", "/", "/v1/messages", "/api/chat"} {
		if got := ask("POST", target, `{}`); got.status != 404 || !strings.Contains(got.body, "no route takes POST "+target) {
			t.Errorf("%s: %+v", target, got)
		}
	}
	if got := ask("GET", "/v1/chat/completions", ""); got.status != 404 {
		t.Errorf("GET: %+v", got)
	}
	if got := ask("POST", "/v1/chat/completions", `{}`); got.body != `{"n":1}` {
		t.Errorf("the chat request got %+v", got)
	}
	if tr := c.Transcript(); len(tr.Side) != 5 || tr.Side[0].In.Path != "/v1/completions" || tr.Side[0].Out.Status != 404 {
		t.Errorf("side requests %+v", tr.Side)
	}
}

// TestPathsOfTheEngine takes chat requests on the paths of an engine's own.
func TestPathsOfTheEngine(t *testing.T) {
	for _, c := range []struct {
		template, path string
		want           bool
	}{
		{"/api/call/{model}", "/api/call/vendor/m-1", true},
		{"/api/call/{model}", "/proxy/api/call/m-1", true},
		{"/api/call/{model}", "/api/call/", false},
		{"/v1/projects/{project}/models/{model}:raw", "/v1/projects/p/models/m%2F1:raw", true},
		{"/v1/projects/{project}/models/{model}:raw", "/v1/projects/p/models/m:cooked", false},
		{"/v1/projects/{project}/models/{model}:raw", "/v1/projects//models/m:raw", false},
		{"/v1/projects/{project}/models/{model}:raw", "/v1/projects/p/models/:raw", false},
		{"/model/{model}/invoke", "/model/m/invoke", true},
		{"/model/{model}/invoke", "/model/m/invoke/more", false},
		{"/v1/agent/own", "/base/v1/agent/own", true},
	} {
		conversation := texts(t, `{"n":1}`)
		conversation.Paths = []string{"/elsewhere", c.template}
		got := ways(t, conversation)["in process"]("POST", c.path, `{}`)
		if (got.status == 200) != c.want {
			t.Errorf("%s for %s: status %d", c.path, c.template, got.status)
		}
		if got := ways(t, conversation)["in process"]("PUT", c.path, `{}`); got.status != 404 {
			t.Errorf("PUT %s for %s: status %d", c.path, c.template, got.status)
		}
	}
}

// TestConcurrentRequests: requests that come together get a turn each.
func TestConcurrentRequests(t *testing.T) {
	const n = 40
	var bodies []string
	for i := range n {
		bodies = append(bodies, fmt.Sprint(i))
	}
	c := texts(t, bodies...)
	ask := ways(t, c)
	var mu sync.Mutex
	got := map[string]bool{}
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			a := ask[[]string{"in process", "handler"}[i%2]]("POST", "/v1/chat/completions", `{}`)
			ask["handler"]("GET", "/v1/models", "")
			mu.Lock()
			defer mu.Unlock()
			got[a.body] = true
		})
	}
	wg.Wait()
	tr := c.Transcript()
	if len(got) != n || len(tr.Exchanges) != n || len(tr.Side) != n {
		t.Errorf("%d turns for %d requests, %d and %d written down", len(got), n, len(tr.Exchanges), len(tr.Side))
	}
	for i, x := range tr.Exchanges {
		if x.Turn != i || string(x.Out.Body) != fmt.Sprint(i) {
			t.Errorf("exchange %d: turn %d, body %s", i, x.Turn, x.Out.Body)
		}
	}
}

// TestNothingIsUsedUp: a request that was given up, or that breaks, leaves the
// turn for the next one.
func TestNothingIsUsedUp(t *testing.T) {
	c := texts(t, `{"n":1}`)
	post := func(ctx context.Context, body io.Reader) error {
		req, err := http.NewRequestWithContext(ctx, "POST", "http://engine.invalid/chat/completions", body)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := c.RoundTrip(req)
		if err == nil {
			_ = resp.Body.Close()
		}
		return err
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := post(gone, strings.NewReader(`{}`)); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err := post(t.Context(), io.MultiReader(strings.NewReader(`{`), broken{})); err == nil || !strings.Contains(err.Error(), "the cable broke") {
		t.Errorf("broken: %v", err)
	}
	if err := post(t.Context(), endless{}); err == nil || !strings.Contains(err.Error(), "larger than the limit") {
		t.Errorf("endless: %v", err)
	}
	if n := len(c.Transcript().Exchanges); n != 0 {
		t.Errorf("%d exchanges are written down", n)
	}
	if err := post(t.Context(), strings.NewReader(`{}`)); err != nil {
		t.Error(err)
	}
}

type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, errors.New("the cable broke") }

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

// TestFrames sends a stream piece by piece to who asks for one, and the body to
// who does not.
func TestFrames(t *testing.T) {
	frames := [][]byte{[]byte("data: 1\n\n"), nil, []byte("data: 2\n\n")}
	turn := replay.Turn{Body: []byte(`{"n":1}`), Frames: map[string][][]byte{"sse": frames}}
	c := &replay.Conversation{Codec: codec(t, codecs.OpenAI), Script: replay.Script{Turns: []replay.Turn{turn, turn, turn}}}
	req, err := http.NewRequest("POST", "http://engine.invalid/chat/completions", strings.NewReader(`{"model":"m","stream":true,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	if resp.ContentLength != -1 || !slices.Contains(resp.TransferEncoding, "chunked") || resp.Header.Get("Content-Type") != "text/event-stream" {
		t.Errorf("%d %v %v", resp.ContentLength, resp.TransferEncoding, resp.Header)
	}
	var pieces []string
	for buf := make([]byte, 100); ; {
		n, err := resp.Body.Read(buf)
		if n > 0 {
			pieces = append(pieces, string(buf[:n]))
		}
		if err != nil {
			break
		}
	}
	if !slices.Equal(pieces, []string{"data: 1\n\n", "data: 2\n\n"}) {
		t.Errorf("pieces %q", pieces)
	}
	ask := ways(t, c)["handler"]
	if got := ask("POST", "/chat/completions", `{"model":"m","stream":true,"messages":[]}`); got.body != "data: 1\n\ndata: 2\n\n" {
		t.Errorf("over a socket: %+v", got)
	}
	if got := ask("POST", "/chat/completions", `{"model":"m","messages":[]}`); got.body != `{"n":1}` {
		t.Errorf("without a stream: %+v", got)
	}
	tr := c.Transcript()
	if string(tr.Exchanges[0].Out.Body) != "data: 1\n\ndata: 2\n\n" || string(tr.Exchanges[2].Out.Body) != `{"n":1}` {
		t.Errorf("written down: %s; %s", tr.Exchanges[0].Out.Body, tr.Exchanges[2].Out.Body)
	}
	if len(frames[0]) == 0 {
		t.Error("the frames of the script were used up")
	}
}

func scenario(t *testing.T, id string) fixtures.Scenario {
	t.Helper()
	list, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list, func(s fixtures.Scenario) bool { return s.ID == id })
	if i < 0 {
		t.Fatalf("no scenario %s", id)
	}
	return list[i].Bind(1)
}

// TestFromScenario: each turn says what the scenario says, in every dialect.
func TestFromScenario(t *testing.T) {
	s := scenario(t, "basic/one-call")
	for _, d := range codecs.Dialects() {
		c := codec(t, d)
		script, err := replay.FromScenario(s, c, codecs.Profile{}, codecs.Likeness{}, "m-1", false)
		if err != nil || len(script.Turns) != len(s.Turns) {
			t.Errorf("%s: %d turns, %v", d, len(script.Turns), err)
			continue
		}
		reply, err := c.Reply(script.Turns[0].Body, codecs.Profile{})
		if err != nil || len(reply.Calls()) != 1 || reply.Calls()[0].Name != script.Turns[0].Says.Calls()[0].Name {
			t.Errorf("%s: the first turn reads as %+v, %v", d, reply, err)
		}
	}
}

// TestWhatAScriptCannotSay: a wire without a word for a turn, and a codec without
// streams, are errors of their own.
func TestWhatAScriptCannotSay(t *testing.T) {
	s := scenario(t, "basic/one-call")
	plain := struct{ codecs.Full }{codec(t, codecs.OpenAI)} // without extensions
	if _, err := replay.FromScenario(s, plain, codecs.Profile{}, codecs.Likeness{}, "m", true); err == nil || !strings.Contains(err.Error(), "writes no streams") {
		t.Errorf("streams: %v", err)
	}
	s.Turns = slices.Clone(s.Turns)
	s.Turns[1].Finish = codecs.FinishPause
	reason := replay.CannotSay("")
	if _, err := replay.FromScenario(s, codec(t, codecs.Ollama), codecs.Profile{}, codecs.Likeness{}, "m", false); !errors.As(err, &reason) || reason == "" {
		t.Errorf("a pause: %v", err)
	}
	if _, err := replay.FromScenario(s, codec(t, codecs.Anthropic), codecs.Profile{}, codecs.Likeness{}, "m", false); err != nil {
		t.Errorf("a pause where there is a word for it: %v", err)
	}
}

// TestErrorsAndPatches: status, header and body of an error; a patched body is
// nobody's rendering.
func TestErrorsAndPatches(t *testing.T) {
	s := scenario(t, "basic/one-call")
	s.Turns = []fixtures.Turn{
		{Error: &fixtures.TurnError{Kind: string(codecs.ErrRate), Status: 429, Message: "slow down", Headers: map[string]string{"retry-after": "7"}}},
		{Error: &fixtures.TurnError{Kind: string(codecs.ErrServer), Status: 200, Message: "broken"}},
		s.Turns[1],
	}
	s.Turns[2].Wire = []fixtures.Wire{{Dialect: "openai", Patch: []fixtures.Patch{{Path: "/added", Set: fixtures.Raw(`1.0`)}, {Path: "/id", Remove: true}}}}
	script, err := replay.FromScenario(s, codec(t, codecs.OpenAI), codecs.Profile{}, codecs.Likeness{}, "m", false)
	if err != nil {
		t.Fatal(err)
	}
	if x := script.Turns[0]; x.Status != 429 || x.Header.Get("Retry-After") != "7" || !strings.Contains(string(x.Body), "slow down") {
		t.Errorf("%+v", x)
	}
	if x := script.Turns[1]; x.Status != 200 || !strings.Contains(string(x.Body), "broken") {
		t.Errorf("%+v", x)
	}
	if v := jsonx.Of(script.Turns[2].Body); string(v.Get("added").Raw()) != "1.0" || v.Get("id").Exists() || script.Turns[2].Says != nil {
		t.Errorf("%s", script.Turns[2].Body)
	}
	s.Turns[2].Wire[0].Patch[1].Path = "/nowhere/at/all"
	if _, err := replay.FromScenario(s, codec(t, codecs.OpenAI), codecs.Profile{}, codecs.Likeness{}, "m", false); err == nil || !strings.Contains(err.Error(), "turns[2]: wire patch") {
		t.Errorf("a patch that does not fit: %v", err)
	}
}

// TestFromTape: the replies of a tape answer any client, whatever it sends.
func TestFromTape(t *testing.T) {
	tape := cassettes.Tape{Exchanges: []cassettes.Exchange{{
		Request:  cassettes.Request{Method: "POST", URL: "https://h/v1/chat/completions", Body: []byte(`{"model":"m"}`)},
		Response: cassettes.Response{Status: 503, Header: http.Header{"X-N": {"1"}}, Body: []byte("busy")},
	}}}
	c := &replay.Conversation{Codec: codec(t, codecs.OpenAI), Script: replay.FromTape(tape)}
	got := ways(t, c)["handler"]("POST", "/chat/completions", `{"quite":"another"}`)
	if got.status != 503 || got.body != "busy" || got.header.Get("X-N") != "1" {
		t.Errorf("%+v", got)
	}
	got.header.Set("X-N", "changed")
	if tape.Exchanges[0].Response.Header.Get("X-N") != "1" {
		t.Error("the tape was changed")
	}
}
