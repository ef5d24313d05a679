package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/codecs/gemini"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/codecs/responses"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
)

// LP01
func TestNoServers(t *testing.T) {
	e := says()
	_, err := loop.Run(t.Context(), config(openai.Codec{}, e))
	if !errors.Is(err, loop.ErrNoServers) || err.Error() != "No MCP servers configured" || loop.ErrorKind(err) != "no_servers" {
		t.Errorf("error = %v (%s)", err, loop.ErrorKind(err))
	}
	if len(e.bodies) != 0 {
		t.Errorf("%d requests were sent", len(e.bodies))
	}
}

// LP02
func TestTextAtOnce(t *testing.T) {
	e := says(chat("stop", "At noon."))
	out := mustRun(t, config(openai.Codec{}, e, tides("tide")))
	same(t, "text", "At noon.", out.Text)
	same(t, "iterations", 1, out.Iterations)
	same(t, "requests", 1, len(e.bodies))
	same(t, "native", 0, len(out.Native))
}

// LP03, LP17, LP19, LP20: the tool runs once, its result is paired by id, the
// text beside the call is echoed but not returned, and the second request has
// the same tools.
func TestToolTurn(t *testing.T) {
	e := says(chat("tool_calls", "I look it up.", `c1 tide {"harbour":"Husum","n":12345678901234567890}`, `c2 moon {}`), chat("stop", "done"))
	h := tides("tide", "moon")
	out := mustRun(t, config(openai.Codec{}, e, h))
	same(t, "text", "done", out.Text)
	same(t, "ran", []string{`tide{"harbour":"Husum","n":12345678901234567890}`, `moon{}`}, h.ran)
	same(t, "results", []string{"c1: tide done", "c2: moon done"}, results(t, e.bodies[1]))
	same(t, "iterations", 2, out.Iterations)
	same(t, "listed", 1, h.listed)
	first, second := jsonx.Of([]byte(e.bodies[0])), jsonx.Of([]byte(e.bodies[1]))
	same(t, "tools", string(first.Get("tools").Raw()), string(second.Get("tools").Raw()))
	same(t, "echoed text", "I look it up.", second.Get("messages").At(1).Get("content").Str())
	same(t, "native", 3, len(out.Native))
	same(t, "executed", "alpha tide", out.Ran[0].Server+" "+out.Ran[0].Name)
	for i, body := range out.Requests {
		same(t, "request kept", e.bodies[i], string(body))
	}
}

// LP04: an unknown name in the middle of a batch; LP18: unknown wins over
// undecodable; TU12: undecodable arguments are an error result.
func TestErrorResults(t *testing.T) {
	e := says(chat("tool_calls", "", `c1 tide {}`, `c2 web_search {"q"`, `c3 moon [1,2]`, `c4 moon {"day":`, `c5 tide {}`), chat("stop", "ok"))
	h := tides("tide", "moon")
	out := mustRun(t, config(openai.Codec{}, e, h))
	same(t, "ran", []string{"tide{}", "tide{}"}, h.ran)
	same(t, "Ran", 2, len(out.Ran))
	got := results(t, e.bodies[1])
	same(t, "results", 5, len(got))
	same(t, "unknown", "c2: unknown tool web_search", got[1])
	same(t, "no object", "c3: arguments are not valid JSON: not a JSON object", got[2])
	if !strings.HasPrefix(got[3], "c4: arguments are not valid JSON: ") {
		t.Errorf("undecodable: %s", got[3])
	}
}

// LP05, LP08, TU13: the error flag is on the results that are errors only.
func TestAnthropicFlags(t *testing.T) {
	e := says(message("tool_use", use("t1", "tide", `{}`), use("t2", "web_search", `{}`), use("t3", "moon", `{"day":1}`), use("t4", "tide", `"{\"harb"`)), message("end_turn", block("ok")))
	h := tides("tide", "moon")
	h.run = func(_ context.Context, name string, _ codecs.Raw) (codecs.ToolResult, error) {
		r := said(name + " says")
		r.IsError = name == "moon"
		return r, nil
	}
	mustRun(t, config(anthropic.Codec{}, e, h))
	msgs := jsonx.Of([]byte(e.bodies[1])).Get("messages").Items()
	var got []string
	for _, b := range msgs[len(msgs)-1].Get("content").Items() {
		got = append(got, b.Get("tool_use_id").Str()+" "+fmt.Sprint(b.Get("is_error").Bool()))
	}
	same(t, "flags", []string{"t1 false", "t2 true", "t3 true", "t4 true"}, got)
	unknown := msgs[len(msgs)-1].Get("content").At(1).Get("content")
	if !jsonx.Equal(unknown.Raw(), []byte(`[{"type":"text","text":"unknown tool web_search"}]`)) {
		t.Errorf("unknown tool result = %s", unknown.Raw())
	}
}

// LP06: the first offer of a name wins, each later one is one warning, also when
// one server lists it twice.
func TestDuplicateTools(t *testing.T) {
	a, b := tides("tide", "tide"), tides("moon", "tide")
	b.name = "beta"
	e := says(chat("tool_calls", "", `c1 tide {}`, `c2 moon {}`), chat("stop", "ok"))
	out := mustRun(t, config(openai.Codec{}, e, a, b))
	same(t, "first server", []string{"tide{}"}, a.ran)
	same(t, "second server", []string{"moon{}"}, b.ran)
	var texts []string
	for _, w := range out.Warnings {
		if w.Code == codecs.WarnToolDuplicate {
			texts = append(texts, w.Text)
		}
	}
	same(t, "warnings", []string{
		"tool 'tide' is offered by MCP server 1 (alpha) and MCP server 1 (alpha); using the first",
		"tool 'tide' is offered by MCP server 1 (alpha) and MCP server 2 (beta); using the first",
	}, texts)
	same(t, "declared", 2, jsonx.Of([]byte(e.bodies[0])).Get("tools").Len())
}

// LP07: a call that fails is an error result and the loop goes on; so is one
// that panics, one that returns what no codec can send, and one whose time ran
// out although it pays no heed to its context.
func TestFailingCalls(t *testing.T) {
	stuck := make(chan struct{})
	defer close(stuck)
	for _, c := range []struct {
		name string
		run  func(context.Context, string, codecs.Raw) (codecs.ToolResult, error)
		want string
	}{
		{"error", func(context.Context, string, codecs.Raw) (codecs.ToolResult, error) {
			return said("half a result"), errors.New("the line is cut")
		}, "c1: Error calling tool 'tide': the line is cut"},
		{
			"panic", func(context.Context, string, codecs.Raw) (codecs.ToolResult, error) { panic("overboard") },
			"c1: Error calling tool 'tide': panic: overboard",
		},
		{"no JSON", func(context.Context, string, codecs.Raw) (codecs.ToolResult, error) {
			return codecs.ToolResult{Content: []codecs.Raw{codecs.Raw(`{"type"`)}}, nil
		}, "c1: Error calling tool 'tide': content block 0 of the result is not JSON: unexpected end of JSON at byte 7 (in /type)"},
		{"timeout", func(ctx context.Context, _ string, _ codecs.Raw) (codecs.ToolResult, error) {
			<-ctx.Done()
			return codecs.ToolResult{}, fmt.Errorf("gave up: %w", ctx.Err())
		}, ""},
		{"stuck", func(context.Context, string, codecs.Raw) (codecs.ToolResult, error) {
			<-stuck
			return codecs.ToolResult{}, nil
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := says(chat("tool_calls", "", `c1 tide {}`, `c2 moon {}`), chat("stop", "ok"))
			h := tides("tide", "moon")
			h.run = func(ctx context.Context, name string, args codecs.Raw) (codecs.ToolResult, error) {
				if name == "moon" {
					return said("full"), nil
				}
				return c.run(ctx, name, args)
			}
			conf := config(openai.Codec{}, e, h)
			conf.CallTimeout = 20e6
			out := mustRun(t, conf)
			got := results(t, e.bodies[1])
			if c.want != "" && got[0] != c.want || !strings.HasPrefix(got[0], "c1: Error calling tool 'tide': ") {
				t.Errorf("result = %s, want %s", got[0], c.want)
			}
			same(t, "next call", "c2: full", got[1])
			if out.Ran[0].Err == nil || out.Ran[1].Err != nil || !out.Ran[0].Result.IsError {
				t.Errorf("Ran = %+v", out.Ran)
			}
		})
	}
}

// LP09, LP10: exactly N requests, 10 by default; the calls of the last reply are
// run only on demand.
func TestIterations(t *testing.T) {
	for _, c := range []struct {
		set, want int
		last      loop.LastTurn
		ran       int
	}{{0, 10, loop.Stop, 9}, {3, 3, loop.Stop, 2}, {3, 3, loop.RunCalls, 3}, {1, 1, loop.Stop, 0}, {1, 1, loop.RunCalls, 1}} {
		e := &engine{}
		for i := range 20 {
			e.answers = append(e.answers, answer{body: chat("tool_calls", "", fmt.Sprintf(`c%d tide {}`, i))})
		}
		h := tides("tide")
		conf := config(openai.Codec{}, e, h)
		conf.MaxIterations, conf.LastTurn = c.set, c.last
		out, err := loop.Run(t.Context(), conf)
		var it *loop.IterationsError
		if !errors.As(err, &it) || it.Limit != c.want || err.Error() != fmt.Sprintf("Tool calling loop exceeded %d iterations", c.want) || loop.ErrorKind(err) != "iterations" {
			t.Errorf("%+v: error = %v", c, err)
		}
		same(t, "requests", c.want, len(e.bodies))
		same(t, "ran", c.ran, len(h.ran))
		same(t, "iterations", c.want, out.Iterations)
		same(t, "last reply", 1, len(out.Reply.Calls()))
		same(t, "whole turns", 2*c.ran, len(out.Native))
	}
}

// LP11
func TestErrorStatus(t *testing.T) {
	e := &engine{answers: []answer{{status: 503, header: map[string][]string{"retry-after": {"7"}}, body: `{"error":{"message":"tide tables are away","type":"server_error"}}`}}}
	out, err := loop.Run(t.Context(), config(openai.Codec{}, e, tides("tide")))
	want := `tool chat request failed: 503 Service Unavailable - {"error":{"message":"tide tables are away","type":"server_error"}} (retry-after: 7)`
	if err == nil || err.Error() != want {
		t.Errorf("error = %v\nwant    %s", err, want)
	}
	var pe *codecs.ProviderError
	if !errors.As(err, &pe) || pe.Message != "tide tables are away" || pe.Status != 503 || loop.ErrorKind(err) != "provider" {
		t.Errorf("ProviderError = %+v (%s)", pe, loop.ErrorKind(err))
	}
	same(t, "requests kept", 1, len(out.Requests))

	for _, c := range []struct {
		status int
		body   string
		want   string
	}{
		{429, "slow down", "tool chat request failed: 429 Too Many Requests - slow down"},
		{204, "", "tool chat request failed"}, // a 2xx without a body is no error status
		{302, "moved", "tool chat request failed: 302 Found - moved"},
		{599, "odd", "tool chat request failed: 599 - odd"},
	} {
		e := &engine{answers: []answer{{status: c.status, body: c.body}}}
		_, err := loop.Run(t.Context(), config(openai.Codec{}, e, tides("tide")))
		if c.status == 204 {
			if loop.ErrorKind(err) != "decode" {
				t.Errorf("%d: error = %v (%s), want a decode error", c.status, err, loop.ErrorKind(err))
			}
		} else if err == nil || err.Error() != c.want {
			t.Errorf("%d: error = %v, want %s", c.status, err, c.want)
		}
	}
}

// LP12: a blocked prompt.
func TestBlocked(t *testing.T) {
	e := says(`{"promptFeedback":{"blockReason":"SAFETY"}}`)
	_, err := loop.Run(t.Context(), config(gemini.Codec{}, e, tides("tide")))
	if err == nil || err.Error() != "prompt blocked: SAFETY" || loop.ErrorKind(err) != "blocked" {
		t.Errorf("error = %v (%s)", err, loop.ErrorKind(err))
	}
	out, err := loop.Once(t.Context(), config(gemini.Codec{}, says(`{"promptFeedback":{"blockReason":"SAFETY"}}`)))
	if err != nil || out.Reply.Finish != codecs.FinishBlocked || out.Reply.RawFinish != "SAFETY" {
		t.Errorf("Once: finish %q (%q), error %v; want the reply", out.Reply.Finish, out.Reply.RawFinish, err)
	}
}

// A filter, an error and a call that the provider could not read end the turn:
// the whole calls beside them do not run, and no error speaks of the limit.
func TestNothingRunsBesideAnEnd(t *testing.T) {
	call := `"tool_calls":[{"id":"c","type":"function","function":{"name":"tide","arguments":"{}"}}]`
	for _, c := range []struct {
		codec      codecs.Codec
		body, kind string
	}{
		{openai.Codec{}, `{"choices":[{"message":{"role":"assistant","content":null,` + call + `},"finish_reason":"stop"}],"error":{"message":"malformed call","code":502}}`, "provider"},
		{openai.Codec{}, `{"choices":[{"message":{"role":"assistant","content":null,` + call + `},"finish_reason":"stop","native_finish_reason":"MALFORMED_FUNCTION_CALL"}]}`, "malformed_call"},
		{responses.Codec{}, `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[{"type":"function_call","call_id":"c","name":"tide","arguments":"{}","status":"completed"}]}`, "content_filter"},
		{responses.Codec{}, `{"status":"incomplete","incomplete_details":{"reason":"content_filter"},"output":[{"type":"function_call","call_id":"c","name":"tide","arguments":"{","status":"incomplete"}]}`, "content_filter"},
	} {
		out, err := loop.Run(t.Context(), config(c.codec, says(c.body), tides("tide")))
		if loop.ErrorKind(err) != c.kind || len(out.Ran) > 0 || strings.Contains(err.Error(), "raise") {
			t.Errorf("%s: ran %d, error %v (%s), want kind %s", c.body, len(out.Ran), err, loop.ErrorKind(err), c.kind)
		}
	}
	// A message item that says itself that it was cut is the limit, under its documented name.
	cfg := config(responses.Codec{}, says(`{"status":"incomplete","output":[{"type":"message","role":"assistant","status":"incomplete","content":[]}]}`), tides("tide"))
	cfg.Truncation = codecs.Documented
	if _, err := loop.Run(t.Context(), cfg); err == nil || err.Error() != "reply truncated (finish_reason length); raise response_size" {
		t.Errorf("error = %v", err)
	}
}

// A model that ends after results without a word ends the run with an empty text
// and a warning; one that says nothing at all was asked nothing yet.
func TestEmptyAnswer(t *testing.T) {
	call := `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"tide","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	out := mustRun(t, config(openai.Codec{}, says(call, chat("stop", "")), tides("tide")))
	same(t, "warnings", []string{codecs.WarnAnswerEmpty}, codes(out.Warnings))
	out = mustRun(t, config(openai.Codec{}, says(chat("stop", "")), tides("tide")))
	same(t, "warnings", []string{}, codes(out.Warnings))
}

// LP13 to LP16: the final text is text only.
func TestFinalText(t *testing.T) {
	for _, c := range []struct {
		name       string
		codec      codecs.Codec
		body, want string
	}{
		{"LP13", gemini.Codec{}, `{"candidates":[{"content":{"role":"model","parts":[{"text":"hm","thought":true},{"text":"Noon."}]},"finishReason":"STOP"}]}`, "Noon."},
		{"LP14", openai.Codec{}, `{"choices":[{"message":{"role":"assistant","content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"No"},{"type":"text","text":"on."}]},"finish_reason":"stop"}]}`, "Noon."},
		{"LP15", anthropic.Codec{}, message("end_turn", `{"type":"thinking","thinking":"hm","signature":"s"}`, block("Noon.")), "Noon."},
		{"LP16", openai.Codec{}, chat("stop", "<think>hm</think>Noon."), "Noon."},
		{"LP22", responses.Codec{}, `{"id":"r","status":"completed","output":[{"type":"web_search_call","id":"w","status":"completed"},{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Noon.","annotations":[]}]}]}`, "Noon."},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := tides("tide")
			out := mustRun(t, config(c.codec, says(c.body), h))
			same(t, "text", c.want, out.Text)
			same(t, "ran", 0, len(h.ran))
		})
	}
}

// LP24: the hook renames, changes, skips; a name that is unknown after it is.
func TestBeforeCall(t *testing.T) {
	e := says(chat("tool_calls", "", `c1 old {"a":1}`, `c2 tide {}`, `c3 moon {}`, `c4 tide {"cut`, `c5 tide {}`), chat("stop", "ok"))
	h := tides("tide", "moon")
	conf := config(openai.Codec{}, e, h)
	conf.BeforeCall = func(c codecs.ToolCall) (codecs.ToolCall, bool) {
		switch c.ID {
		case "c1":
			c.Name = "tide"
		case "c2":
			c.Name = "gone"
		case "c3":
			return c, true
		case "c4":
			c.Arguments, c.ArgumentsErr = codecs.Raw(`{"mended":true}`), ""
		case "c5":
			c.Arguments = codecs.Raw(`[]`)
		}
		return c, false
	}
	out := mustRun(t, conf)
	same(t, "ran", []string{`tide{"a":1}`, `tide{"mended":true}`}, h.ran)
	same(t, "results", []string{
		"c1: tide done", "c2: unknown tool gone", "c3: Tool call 'moon' was skipped by plugin.",
		"c4: tide done", "c5: arguments are not valid JSON: not a JSON object",
	}, results(t, e.bodies[1]))
	same(t, "name that ran", "tide", out.Ran[0].Name)
	same(t, "echo", "old", jsonx.Of([]byte(e.bodies[1])).Get("messages").At(1).Get("tool_calls").At(0).Path("function", "name").Str())
}

// A server that cannot list its tools ends the run and is named.
func TestListFails(t *testing.T) {
	a, b := tides("tide"), tides()
	b.name, b.listErr = "beta", errors.New("fog")
	e := says()
	_, err := loop.Run(t.Context(), config(openai.Codec{}, e, a, b))
	var ts *loop.ToolServerError
	if !errors.As(err, &ts) || ts.Number != 2 || err.Error() != "listing the tools of MCP server 2 (beta): fog" || loop.ErrorKind(err) != "tool_server" {
		t.Errorf("error = %v (%s)", err, loop.ErrorKind(err))
	}
	if _, err := loop.Run(t.Context(), config(openai.Codec{}, e, nil)); loop.ErrorKind(err) != "tool_server" {
		t.Errorf("nil server: error = %v", err)
	}
	same(t, "requests", 0, len(e.bodies))
}

func TestConfigChecked(t *testing.T) {
	for _, c := range []loop.Config{{}, {Codec: openai.Codec{}}} {
		if _, err := loop.Run(t.Context(), c); loop.ErrorKind(err) != "internal" {
			t.Errorf("error = %v", err)
		}
	}
}

// Warnings that every request repeats are told once.
func TestRepeatedWarnings(t *testing.T) {
	e := says(chat("tool_calls", "", `c1 tide {}`), chat("tool_calls", "", `c2 tide {}`), chat("stop", "ok"))
	conf := config(openai.Codec{}, e, tides("tide"))
	conf.Profile.ToolChoice = []string{"auto"}
	conf.Choice = codecs.Choice{Mode: codecs.ChoiceAny}
	out := mustRun(t, conf)
	same(t, "warnings", []string{codecs.WarnChoiceDropped}, codes(out.Warnings))
}

// Once needs no server, leaves calls to the caller and reads errors as Run does.
func TestOnce(t *testing.T) {
	out, err := loop.Once(t.Context(), config(openai.Codec{}, says(chat("stop", "Noon."))))
	if err != nil || out.Text != "Noon." || out.Iterations != 1 {
		t.Errorf("Once = %+v, %v", out, err)
	}
	h := tides("tide")
	e := says(chat("tool_calls", "I look.", `c1 tide {}`))
	out, err = loop.Once(t.Context(), config(openai.Codec{}, e, h))
	if err != nil || len(out.Reply.Calls()) != 1 || len(h.ran) != 0 || out.Text != "I look." {
		t.Errorf("Once = %+v, %v, ran %v", out, err, h.ran)
	}
	same(t, "tools offered", 1, jsonx.Of([]byte(e.bodies[0])).Get("tools").Len())
	e = &engine{answers: []answer{{status: 401, body: "no key"}}}
	if _, err = loop.Once(t.Context(), config(openai.Codec{}, e)); err == nil || err.Error() != "chat request failed: 401 Unauthorized - no key" {
		t.Errorf("error = %v", err)
	}
	for _, body := range []string{
		`{"error":{"message":"upstream overloaded","code":502}}`,
		chat("length", "", `c1 tide {"harb`),
		chat("content_filter", ""),
		`{"choices":[]}`,
		`no json`,
	} { // ER09
		_, once := loop.Once(t.Context(), config(openai.Codec{}, says(body), h))
		_, run := loop.Run(t.Context(), config(openai.Codec{}, says(body), h))
		if once == nil || run == nil || once.Error() != run.Error() {
			t.Errorf("%s: Once says %v, Run says %v", body, once, run)
		}
	}
}
