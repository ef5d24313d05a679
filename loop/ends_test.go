package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/codecs/gemini"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/codecs/responses"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
)

// A lone cut call ends the run with a typed error and is not run.
func TestLoneCutCall(t *testing.T) {
	for _, c := range []struct {
		name   string
		codec  codecs.Codec
		body   string
		reason string
	}{
		{"TU01", openai.Codec{}, chat("length", "", `c1 tide {"harb`), "length"},
		{"TU02", anthropic.Codec{}, message("max_tokens", use("t1", "tide", `"{\"harb"`)), "max_tokens"},
		{"TU03", gemini.Codec{}, `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"tide","args":"{\"harb"}}]},"finishReason":"MAX_TOKENS"}]}`, "MAX_TOKENS"},
		{"TU04", responses.Codec{}, `{"id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","id":"f","call_id":"c1","name":"tide","arguments":"{\"harb","status":"incomplete"}]}`, ""},
		{"TU20", responses.Codec{}, `{"id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"I look.","annotations":[]}]},{"type":"function_call","id":"f","call_id":"c1","name":"tide","arguments":"{\"harb","status":"incomplete"}]}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := tides("tide")
			out, err := loop.Run(t.Context(), config(c.codec, says(c.body), h))
			var te *codecs.TruncatedError
			if !errors.As(err, &te) || len(te.Calls) != 1 || loop.ErrorKind(err) != "truncated" {
				t.Fatalf("error = %v (%s)", err, loop.ErrorKind(err))
			}
			if c.reason != "" {
				same(t, "text", "tool call arguments truncated (finish_reason "+c.reason+"); raise response_size", err.Error())
			}
			same(t, "ran", 0, len(h.ran))
			same(t, "dropped", 1, len(out.Dropped))
		})
	}
}

// TU10: the complete call runs, the cut one leaves the echo, one warning.
func TestSecondCallCut(t *testing.T) {
	e := says(chat("length", "", `call_1 tide {"harbour":"Husum"}`, `call_2 tide {"harb`), chat("stop", "ok"))
	h := tides("tide")
	out := mustRun(t, config(openai.Codec{}, e, h))
	same(t, "ran", []string{`tide{"harbour":"Husum"}`}, h.ran)
	same(t, "results", []string{"call_1: tide done"}, results(t, e.bodies[1]))
	echo := jsonx.Of([]byte(e.bodies[1])).Get("messages").At(1).Get("tool_calls")
	same(t, "echo", 1, echo.Len())
	same(t, "echoed id", "call_1", echo.At(0).Get("id").Str())
	same(t, "dropped", "call_2", out.Dropped[0].ID)
	n := 0
	for _, code := range codes(out.Warnings) {
		if code == codecs.WarnTruncated {
			n++
		}
	}
	same(t, "truncation warnings", 1, n)
}

// TU11, TU18, TU19 and what Safe adds to them: on a limit stop the last call is
// also cut when it misses a required property.
func TestCompleteUnderLimit(t *testing.T) {
	for _, c := range []struct {
		name  string
		codec codecs.Codec
		body  string
		tool  string
		rule  codecs.Truncation
		ran   int
	}{
		{"TU11", openai.Codec{}, chat("length", "", `c1 tide {"harbour":"Husum"}`), "tide!harbour", codecs.Safe, 1},
		{"TU18 nothing required", openai.Codec{}, chat("length", "", `c1 tide `), "tide", codecs.Safe, 1},
		{"TU18 something required", openai.Codec{}, chat("length", "", `c1 tide `), "tide!harbour", codecs.Safe, 0},
		{"TU18 documented", openai.Codec{}, chat("length", "", `c1 tide `), "tide!harbour", codecs.Documented, 1},
		{"TU19 documented", anthropic.Codec{}, message("max_tokens", use("t1", "tide", `{}`)), "tide!harbour", codecs.Documented, 1},
		{"TU19 safe", anthropic.Codec{}, message("max_tokens", use("t1", "tide", `{}`)), "tide!harbour", codecs.Safe, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			final := chat("stop", "ok")
			if c.codec.Dialect() == codecs.Anthropic {
				final = message("end_turn", block("ok"))
			}
			h := tides(c.tool)
			conf := config(c.codec, says(c.body, final), h)
			conf.Truncation = c.rule
			out, err := loop.Run(t.Context(), conf)
			same(t, "ran", c.ran, len(h.ran))
			if c.ran == 0 {
				same(t, "kind", "truncated", loop.ErrorKind(err))
			} else {
				same(t, "text", "ok", out.Text)
				same(t, "warnings", []string{}, codes(out.Warnings))
			}
		})
	}
}

// A reply without calls that the limit ended: nothing visible is an error, text
// is a success that says so.
func TestLimitWithoutCalls(t *testing.T) {
	_, err := loop.Run(t.Context(), config(openai.Codec{}, says(chat("length", "")), tides("tide")))
	var te *codecs.TruncatedError
	if !errors.As(err, &te) || len(te.Calls) != 0 || te.Reason != "length" {
		t.Errorf("error = %v", err)
	}
	out := mustRun(t, config(openai.Codec{}, says(chat("length", "High tide is")), tides("tide")))
	same(t, "text", "High tide is", out.Text)
	same(t, "warnings", []string{codecs.WarnTruncatedText}, codes(out.Warnings))
	// Thinking alone is nothing visible.
	_, err = loop.Run(t.Context(), config(anthropic.Codec{}, says(message("max_tokens", `{"type":"thinking","thinking":"hm","signature":"s"}`)), tides("tide")))
	same(t, "kind", "truncated", loop.ErrorKind(err))
}

// The limit shows only in the token count. The fixture replies use 5 tokens.
func TestHiddenLimit(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*loop.Config)
	}{
		{"MaxTokens", func(c *loop.Config) { c.MaxTokens = 5 }},
		{"Extra", func(c *loop.Config) { c.Extra = codecs.Raw(`{"max_tokens":5}`) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			conf := config(openai.Codec{}, says(chat("tool_calls", "", `c1 tide {}`)), tides("tide!harbour"))
			c.set(&conf)
			out, err := loop.Run(t.Context(), conf)
			same(t, "kind", "truncated", loop.ErrorKind(err))
			same(t, "warnings", []string{codecs.WarnLimitHidden}, codes(out.Warnings))

			conf.Sender = says(chat("tool_calls", "", `c1 tide {"harbour":"Husum"}`), strings.Replace(chat("stop", "ok"), `"completion_tokens":5`, `"completion_tokens":1`, 1))
			out = mustRun(t, conf)
			same(t, "warnings", []string{codecs.WarnLimitHidden}, codes(out.Warnings))
			same(t, "text", "ok", out.Text)

			conf.Truncation, conf.Sender = codecs.Documented, says(chat("tool_calls", "", `c1 tide {}`), chat("stop", "ok"))
			out = mustRun(t, conf)
			same(t, "warnings", []string{}, codes(out.Warnings))
		})
	}
}

// Endings that leave no answer are typed errors; nothing of the reply is run.
func TestEndings(t *testing.T) {
	for _, c := range []struct {
		name  string
		codec codecs.Codec
		body  string
		kind  string
	}{
		{"refusal", anthropic.Codec{}, message("refusal", use("t1", "tide", `{}`)), "refused"},
		{"content filter", openai.Codec{}, chat("content_filter", "half"), "content_filter"},
		{"malformed call", gemini.Codec{}, `{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"MALFORMED_FUNCTION_CALL","finishMessage":"no such function"}]}`, "malformed_call"},
		{"ER01", openai.Codec{}, `{"error":{"message":"upstream overloaded","code":502}}`, "provider"},
		{"ER07", anthropic.Codec{}, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, "provider"},
		{"no JSON", openai.Codec{}, `<html>`, "decode"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := tides("tide")
			out, err := loop.Run(t.Context(), config(c.codec, says(c.body), h))
			same(t, "kind", c.kind, loop.ErrorKind(err))
			same(t, "ran", 0, len(h.ran))
			same(t, "text", "", out.Text)
			if c.name == "malformed call" && !strings.Contains(err.Error(), "no such function") {
				t.Errorf("error = %v, want the provider's words", err)
			}
		})
	}
}

// A reply that the client must answer in another way ends the run by name, even
// beside a function call that could run.
func TestClientCalls(t *testing.T) {
	for _, item := range []string{
		`{"type":"custom_tool_call","id":"x","call_id":"c9","name":"sh","input":"ls"}`,
		`{"type":"local_shell_call","id":"x","call_id":"c9","action":{"type":"exec"}}`,
		`{"type":"mcp_approval_request","id":"x","name":"n","server_label":"l","arguments":"{}"}`,
	} {
		typ := jsonx.Of([]byte(item)).Get("type").Str()
		h := tides("tide")
		body := `{"id":"r","status":"completed","output":[{"type":"function_call","id":"f","call_id":"c1","name":"tide","arguments":"{}"},` + item + `]}`
		_, err := loop.Run(t.Context(), config(responses.Codec{}, says(body), h))
		var ce *loop.ClientCallError
		if !errors.As(err, &ce) || !strings.Contains(err.Error(), typ) || !strings.Contains(err.Error(), "client must answer") || loop.ErrorKind(err) != "client_call" {
			t.Errorf("%s: error = %v (%s)", typ, err, loop.ErrorKind(err))
		}
		same(t, "ran", 0, len(h.ran))
		if strings.Contains(typ, "approval") != strings.Contains(fmt.Sprint(err), "require_approval") {
			t.Errorf("%s: error = %v", typ, err)
		}
	}
}

// A paused turn goes back as it is, counts, and runs nothing.
func TestPause(t *testing.T) {
	search := `{"type":"server_tool_use","id":"srv1","name":"web_search","input":{"query":"tides"}}`
	e := says(message("pause_turn", block("Searching."), search), message("end_turn", block("Noon.")))
	out := mustRun(t, config(anthropic.Codec{}, e, tides("tide")))
	same(t, "text", "Noon.", out.Text)
	same(t, "iterations", 2, out.Iterations)
	msgs := jsonx.Of([]byte(e.bodies[1])).Get("messages")
	same(t, "messages", 2, msgs.Len())
	if got := msgs.At(1).Get("content").Raw(); !jsonx.Equal(got, []byte(`[`+block("Searching.")+`,`+search+`]`)) {
		t.Errorf("echo = %s", got)
	}

	e = &engine{}
	for range 5 {
		e.answers = append(e.answers, answer{body: message("pause_turn", search)})
	}
	conf := config(anthropic.Codec{}, e, tides("tide"))
	conf.MaxIterations, conf.LastTurn = 3, loop.RunCalls
	_, err := loop.Run(t.Context(), conf)
	same(t, "kind", "iterations", loop.ErrorKind(err))
	same(t, "requests", 3, len(e.bodies))

	// A call in a paused turn is not run, but no request may leave it open.
	h := tides("tide")
	e = says(message("pause_turn", use("t1", "tide", `{}`)), message("end_turn", block("Noon.")))
	mustRun(t, config(anthropic.Codec{}, e, h))
	same(t, "ran", 0, len(h.ran))
	got := jsonx.Of([]byte(e.bodies[1])).Get("messages").At(2).Get("content").At(0)
	same(t, "answered", "t1 true", got.Get("tool_use_id").Str()+" "+fmt.Sprint(got.Get("is_error").Bool()))
}

// The end of the context ends the run with the context's error, wherever it
// comes, and what was done until then is told.
func TestCancelled(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		e := says(chat("stop", "never"))
		_, err := loop.Run(ctx, config(openai.Codec{}, e, tides("tide")))
		if !errors.Is(err, context.Canceled) || loop.ErrorKind(err) != "cancelled" || len(e.bodies) != 0 {
			t.Errorf("error = %v, %d requests", err, len(e.bodies))
		}
	})
	t.Run("in a call", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		h := tides("tide", "moon")
		h.run = func(ctx context.Context, name string, _ codecs.Raw) (codecs.ToolResult, error) {
			if name == "moon" {
				cancel()
				<-ctx.Done()
				return codecs.ToolResult{}, ctx.Err()
			}
			return said("ok"), nil
		}
		e := says(chat("tool_calls", "", `c1 tide {}`, `c2 moon {}`, `c3 tide {}`))
		out, err := loop.Run(ctx, config(openai.Codec{}, e, h))
		if !errors.Is(err, context.Canceled) || loop.ErrorKind(err) != "cancelled" {
			t.Errorf("error = %v", err)
		}
		same(t, "asked of the server", 2, len(h.ran))
		same(t, "told", 2, len(out.Ran))
		same(t, "whole turns", 0, len(out.Native))
	})
	t.Run("in a request", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		e := &engine{answers: []answer{{err: context.Canceled}}, onSend: func(int) { cancel() }}
		_, err := loop.Run(ctx, config(openai.Codec{}, e, tides("tide")))
		if !errors.Is(err, context.Canceled) || loop.ErrorKind(err) != "cancelled" {
			t.Errorf("error = %v (%s)", err, loop.ErrorKind(err))
		}
	})
}

// slow is a Sender that answers only when its context ends.
type slow struct{}

func (slow) Send(ctx context.Context, _ loop.Call) (*loop.Response, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// No answer at all is an error of the provider's side, its own timeout included.
func TestNoAnswer(t *testing.T) {
	e := &engine{answers: []answer{{err: errors.New("connection refused")}}}
	_, err := loop.Run(t.Context(), config(openai.Codec{}, e, tides("tide")))
	if err == nil || err.Error() != "tool chat request failed: connection refused" || loop.ErrorKind(err) != "provider" {
		t.Errorf("error = %v (%s)", err, loop.ErrorKind(err))
	}
	conf := config(openai.Codec{}, nil, tides("tide"))
	conf.Sender, conf.RequestTimeout = slow{}, 10*time.Millisecond
	_, err = loop.Run(t.Context(), conf)
	if !errors.Is(err, context.DeadlineExceeded) || loop.ErrorKind(err) != "provider" {
		t.Errorf("error = %v (%s)", err, loop.ErrorKind(err))
	}
}

// A body over the limit is an error, also under an error status.
func TestBodyLimit(t *testing.T) {
	big := strings.Repeat(" ", codecs.MaxBody+1)
	_, err := loop.Run(t.Context(), config(openai.Codec{}, says(big), tides("tide")))
	same(t, "kind", "decode", loop.ErrorKind(err))
	e := &engine{answers: []answer{{status: 500, body: big}}}
	_, err = loop.Run(t.Context(), config(openai.Codec{}, e, tides("tide")))
	same(t, "kind", "provider", loop.ErrorKind(err))
	if len(err.Error()) > 4000 {
		t.Errorf("the error is %d bytes long", len(err.Error()))
	}
}

func TestErrorKindOther(t *testing.T) {
	same(t, "nil", "", loop.ErrorKind(nil))
	same(t, "other", "internal", loop.ErrorKind(errors.New("x")))
	same(t, "wrapped", "iterations", loop.ErrorKind(fmt.Errorf("run: %w", &loop.IterationsError{Limit: 2})))
}

// Calls without ids and with repeated ids are still answered one by one; a call
// that the limit cut before its name is neither echoed nor run.
func TestOddIDs(t *testing.T) {
	e := says(chat("tool_calls", "", ` tide {"a":1}`, ` moon {}`), chat("tool_calls", "", `x tide {}`, `x moon {}`), chat("stop", "ok"))
	h := tides("tide", "moon")
	mustRun(t, config(openai.Codec{}, e, h))
	same(t, "ran", []string{`tide{"a":1}`, `moon{}`, `tide{}`, `moon{}`}, h.ran)
	msgs := jsonx.Of([]byte(e.bodies[1])).Get("messages")
	for i := range 2 {
		made := msgs.At(1).Get("tool_calls").At(i).Get("id").Str()
		if made == "" || made != msgs.At(2+i).Get("tool_call_id").Str() {
			t.Errorf("call %d: id %q, its result %q", i, made, msgs.At(2+i).Get("tool_call_id").Str())
		}
	}
	msgs = jsonx.Of([]byte(e.bodies[2])).Get("messages")
	ids := []string{msgs.At(4).Get("tool_calls").At(0).Get("id").Str(), msgs.At(4).Get("tool_calls").At(1).Get("id").Str()}
	same(t, "repeated", []string{ids[0] + ": tide done", ids[1] + ": moon done"}, results(t, e.bodies[2])[2:])
	if ids[0] != "x" || ids[1] == "x" || ids[1] == "" {
		t.Errorf("repeated ids go out as %q", ids)
	}

	e = says(chat("length", "", `c1 tide {}`, `c2  `), chat("stop", "ok"))
	h = tides("tide")
	out := mustRun(t, config(openai.Codec{}, e, h))
	same(t, "ran", []string{`tide{}`}, h.ran)
	same(t, "echo", 1, jsonx.Of([]byte(e.bodies[1])).Get("messages").At(1).Get("tool_calls").Len())
	if !strings.Contains(strings.Join(codes(out.Warnings), " "), codecs.WarnTruncated) {
		t.Errorf("warnings = %v", out.Warnings)
	}
}

// stuck is a body whose Read ends only when it is closed.
type stuck struct {
	once   sync.Once
	closed chan struct{}
}

func (s *stuck) Read([]byte) (int, error) {
	<-s.closed
	return 0, errors.New("read after close")
}

func (s *stuck) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// The end of the context closes a body that is still read; no goroutine stays.
func TestContextClosesBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		body := &stuck{closed: make(chan struct{})}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		_, err := loop.Run(ctx, config(openai.Codec{}, &engine{answers: []answer{{reader: body}}}, tides("tide")))
		if loop.ErrorKind(err) != "cancelled" || time.Since(began) != time.Minute {
			t.Errorf("%v (%s) after %s", err, loop.ErrorKind(err), time.Since(began))
		}
		<-body.closed
	})
	synctest.Test(t, func(t *testing.T) {
		body := &stuck{closed: make(chan struct{})}
		conf := config(openai.Codec{}, &engine{answers: []answer{{reader: body}}}, tides("tide"))
		conf.RequestTimeout = time.Second
		if _, err := loop.Run(t.Context(), conf); loop.ErrorKind(err) != "provider" || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v (%s)", err, loop.ErrorKind(err))
		}
		<-body.closed
	})
}

// endless is a body that never ends.
type endless struct{ read, closed int }

func (e *endless) Read(p []byte) (int, error) {
	e.read += len(p)
	return len(p), nil
}

func (e *endless) Close() error {
	e.closed++
	return nil
}

// Of a body no more is read than the limit and a byte; it is closed once.
func TestEndlessBody(t *testing.T) {
	body := &endless{}
	_, err := loop.Run(t.Context(), config(openai.Codec{}, &engine{answers: []answer{{reader: body}}}, tides("tide")))
	same(t, "kind", "decode", loop.ErrorKind(err))
	if body.read != codecs.MaxBody+1 || body.closed != 1 {
		t.Errorf("%d bytes read, closed %d times", body.read, body.closed)
	}
}

// A sender that gives nothing, or no body, is no panic.
func TestNoResponse(t *testing.T) {
	conf := config(openai.Codec{}, nil, tides("tide"))
	for _, c := range []struct {
		resp       *loop.Response
		kind, text string
	}{{nil, "provider", "neither an answer nor an error"}, {&loop.Response{Status: 200}, "decode", ""}, {&loop.Response{Status: 500}, "provider", "500"}} {
		conf.Sender = gives{c.resp}
		if _, err := loop.Run(t.Context(), conf); loop.ErrorKind(err) != c.kind || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%+v: %v (%s)", c.resp, err, loop.ErrorKind(err))
		}
	}
}

type gives struct{ resp *loop.Response }

func (g gives) Send(context.Context, loop.Call) (*loop.Response, error) { return g.resp, nil }

// Requests are the bodies as the sender sent them, where it changes them.
func TestRequestsAsSent(t *testing.T) {
	e := says(chat("tool_calls", "", `c1 tide {}`), chat("stop", "ok"))
	e.answers[0].sent = codecs.Raw(`{"edited":true}`)
	out := mustRun(t, config(openai.Codec{}, e, tides("tide")))
	same(t, "requests", []string{`{"edited":true}`, e.bodies[1]}, []string{string(out.Requests[0]), string(out.Requests[1])})
}
