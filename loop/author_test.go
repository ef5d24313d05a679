package loop_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/loop"
)

func tide(run func(context.Context, codecs.Raw) (string, error)) loop.Functions {
	return loop.Functions{{
		Name: "tide", Description: "When the tide is high", Run: run,
		Schema: codecs.Raw(`{"type":"object","properties":{"harbour":{"type":"string"}}}`),
	}}
}

// A second Run goes on from the first: prompt, call, result and final text stand in
// its request, in every dialect.
func TestRunAgain(t *testing.T) {
	for _, d := range codecs.Dialects() {
		t.Run(string(d), func(t *testing.T) {
			c, err := all.For(d)
			if err != nil {
				t.Fatal(err)
			}
			render := func(finish string, parts ...codecs.Part) string {
				body, _, err := c.RenderReply(codecs.Reply{ID: "r1", Model: "m-1", Parts: parts, Finish: finish}, codecs.Profile{}, codecs.Likeness{})
				if err != nil {
					t.Fatal(err)
				}
				return string(body)
			}
			text := func(s string) codecs.Part { return codecs.Part{Kind: codecs.KindText, Text: s} }
			args := codecs.Raw(`{"harbour":"Husum"}`)
			engine := says(
				render(codecs.FinishToolCalls, codecs.Part{Kind: codecs.KindCall, Call: &codecs.ToolCall{ID: "call-1", Name: "tide", Arguments: args, ArgumentsText: string(args)}}),
				render(codecs.FinishStop, text("At noon.")), render(codecs.FinishStop, text("At midnight.")))
			config := loop.Config{
				Codec: c, Model: "m-1", Sender: engine, Messages: []codecs.Message{loop.User("When is high tide?")},
				Servers: []loop.ToolServer{tide(func(context.Context, codecs.Raw) (string, error) { return "12:00", nil })},
			}
			first, err := loop.Run(t.Context(), config)
			if err != nil {
				t.Fatal(err)
			}
			config.Messages = append(first.Messages, loop.User("And the next one?"))
			again, err := loop.Run(t.Context(), config)
			if err != nil || again.Text != "At midnight." {
				t.Fatal(again.Text, err)
			}
			for _, w := range again.Warnings {
				t.Errorf("warning: %v", w)
			}
			var seen []string
			req, _, err := c.ParseRequest(codecs.Post(c.Endpoint("m-1", false), again.Requests[0]), codecs.Profile{})
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range req.Messages {
				for _, p := range m.Parts {
					switch {
					case p.Call != nil:
						seen = append(seen, "call "+p.Call.Name+string(p.Call.Arguments))
					case p.Result != nil:
						seen = append(seen, "result "+string(p.Result.Content[0]))
					case m.Role != "system":
						seen = append(seen, m.Role+" "+p.Text)
					}
				}
			}
			want := []string{"user When is high tide?", `call tide{"harbour":"Husum"}`, `result {"type":"text","text":"12:00"}`, "assistant At noon.", "user And the next one?"}
			if !slices.Equal(seen, want) {
				t.Errorf("the request says\n%s\nwant\n%s\n%s", strings.Join(seen, "\n"), strings.Join(want, "\n"), again.Requests[0])
			}
		})
	}
}

// Calls of a turn run together and go back in wire order; hooks see them in it;
// replies and usage of the whole run are there.
func TestConcurrentCallsAndHooks(t *testing.T) {
	const calls = 5
	var list []string
	for i := range calls {
		list = append(list, fmt.Sprintf(`{"id":"c%d","type":"function","function":{"name":"tide","arguments":"{\"n\":%d}"}}`, i, i))
	}
	usage := `"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13}`
	engine := says(
		`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[`+strings.Join(list, ",")+`]},"finish_reason":"tool_calls"}],`+usage+`}`,
		`{"choices":[{"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}],`+usage+`}`)
	// Each waits for the one behind it, which only works when all are under way.
	var gates [calls + 1]chan struct{}
	for i := range gates {
		gates[i] = make(chan struct{})
	}
	close(gates[calls])
	server := tide(func(_ context.Context, args codecs.Raw) (string, error) {
		var n int
		fmt.Sscanf(string(args), `{"n":%d}`, &n)
		<-gates[n+1]
		close(gates[n])
		if n == 2 {
			return "", errors.New("no tide")
		}
		return fmt.Sprint("tide ", n), nil
	})
	var hooks []string
	out, err := loop.Run(t.Context(), loop.Config{
		Codec: openai.Codec{}, Model: "m-1", Sender: engine, Messages: []codecs.Message{loop.User("tides?")},
		Servers: []loop.ToolServer{server}, Concurrent: calls,
		AfterCall:  func(e loop.Executed) { hooks = append(hooks, string(e.Arguments), string(e.Result.Content[0])) },
		AfterReply: func(r codecs.Reply) error { hooks = append(hooks, "reply "+r.Finish); return nil },
	})
	if err != nil || out.Text != "done" {
		t.Fatal(out.Text, err)
	}
	same(t, "hooks", []string{
		"reply tool_calls", `{"n":0}`, `{"type":"text","text":"tide 0"}`, `{"n":1}`, `{"type":"text","text":"tide 1"}`, `{"n":2}`, `{"type":"text","text":"no tide"}`,
		`{"n":3}`, `{"type":"text","text":"tide 3"}`, `{"n":4}`, `{"type":"text","text":"tide 4"}`, "reply stop",
	}, hooks)
	same(t, "failed", true, out.Ran[2].Result.IsError)
	same(t, "usage", codecs.Usage{Input: 20, Output: 6}, out.Usage)
	same(t, "replies", []int{calls, 0}, []int{len(out.Replies[0].Calls()), len(out.Replies[1].Calls())})
	for i := range calls {
		if !strings.Contains(string(out.Native[i+1]), fmt.Sprintf(`"tool_call_id":"c%d"`, i)) {
			t.Errorf("result %d is %s", i, out.Native[i+1])
		}
	}
}

func TestAfterReplyEndsTheRun(t *testing.T) {
	stop := errors.New("too dear")
	server := tides("tide")
	c := config(openai.Codec{}, says(`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"tide","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`), server)
	c.AfterReply = func(codecs.Reply) error { return stop }
	out, err := loop.Run(t.Context(), c)
	if !errors.Is(err, stop) || len(server.ran) != 0 || len(out.Replies) != 1 {
		t.Errorf("error = %v, %q ran, %d replies", err, server.ran, len(out.Replies))
	}
}

// The kinds of a provider's error are found by errors.Is.
func TestErrorKindsAreSentinels(t *testing.T) {
	e := &engine{answers: []answer{{status: 429, body: `{"error":{"message":"slow down","code":"rate_limit_exceeded"}}`}}}
	_, err := loop.Run(t.Context(), config(openai.Codec{}, e, tides("tide")))
	if !errors.Is(err, codecs.ErrRate) || errors.Is(err, codecs.ErrAuth) {
		t.Errorf("error = %v", err)
	}
}

// The requests of a long run with media do not fill the memory.
func TestRequestsGiveWay(t *testing.T) {
	for _, c := range []struct{ keep, want int }{{0, 3}, {-1, 20}, {1, 1}} {
		var bodies []string
		for i := range 19 {
			bodies = append(bodies, fmt.Sprintf(`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":"tide","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, i))
		}
		cfg := config(openai.Codec{}, says(append(bodies, `{"choices":[{"message":{"role":"assistant","content":"done"},"finish_reason":"stop"}]}`)...), tides("tide"))
		cfg.Messages = []codecs.Message{loop.User(strings.Repeat("x", 5<<20))}
		cfg.MaxIterations, cfg.KeepRequests = 20, c.keep
		out, err := loop.Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		kept := len(slices.DeleteFunc(slices.Clone(out.Requests), func(b codecs.Raw) bool { return b == nil }))
		if len(out.Requests) != 20 || kept != c.want || out.Requests[19] == nil {
			t.Errorf("KeepRequests %d: %d of %d kept, want %d", c.keep, kept, len(out.Requests), c.want)
		}
	}
}
