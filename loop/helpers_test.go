package loop_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
)

// engine is a Sender that answers from a list.
type engine struct {
	answers []answer
	bodies  []string
	streams bool        // the loop has to ask for streams
	onSend  func(n int) // before answer n, 1 is the first
}

type answer struct {
	status int // 0 is 200
	header map[string][]string
	body   string
	reader io.ReadCloser // in place of body
	sent   codecs.Raw
	err    error
}

func (e *engine) Send(_ context.Context, call loop.Call) (*loop.Response, error) {
	if call.Stream != e.streams {
		return nil, fmt.Errorf("the loop asked for a stream: %t", call.Stream)
	}
	e.bodies = append(e.bodies, string(call.Body))
	if e.onSend != nil {
		e.onSend(len(e.bodies))
	}
	if len(e.answers) == 0 {
		return nil, errors.New("the script is at its end")
	}
	a := e.answers[0]
	e.answers = e.answers[1:]
	if a.status == 0 {
		a.status = 200
	}
	if a.err != nil {
		return nil, a.err
	}
	if a.reader == nil {
		a.reader = io.NopCloser(strings.NewReader(a.body))
	}
	return &loop.Response{Status: a.status, Header: a.header, Body: a.reader, Sent: a.sent}, nil
}

// says scripts replies with status 200.
func says(bodies ...string) *engine {
	e := &engine{}
	for _, b := range bodies {
		e.answers = append(e.answers, answer{body: b})
	}
	return e
}

// harbour is a tool server with the tools of its map.
type harbour struct {
	name    string
	tools   []string
	run     func(ctx context.Context, name string, args codecs.Raw) (codecs.ToolResult, error)
	listErr error
	listed  int
	mu      sync.Mutex
	ran     []string
}

func (h *harbour) Name() string { return h.name }

func (h *harbour) ListTools(context.Context) ([]codecs.Tool, error) {
	h.listed++
	var out []codecs.Tool
	for _, n := range h.tools {
		name, required, _ := strings.Cut(n, "!") // tide!harbour: the property harbour is required
		schema := codecs.Raw(`{"type":"object","properties":{}}`)
		if required != "" {
			schema = codecs.Raw(`{"type":"object","properties":{"` + required + `":{"type":"string"}},"required":["` + required + `"]}`)
		}
		out = append(out, codecs.Tool{Name: name, Description: "from " + h.name, InputSchema: schema})
	}
	return out, h.listErr
}

func (h *harbour) CallTool(ctx context.Context, name string, args codecs.Raw) (codecs.ToolResult, error) {
	h.mu.Lock()
	h.ran = append(h.ran, name+string(args))
	h.mu.Unlock()
	if h.run != nil {
		return h.run(ctx, name, args)
	}
	return said(name + " done"), nil
}

func said(text string) codecs.ToolResult {
	return codecs.ToolResult{Content: []codecs.Raw{codecs.TextBlock(text)}}
}

func tides(tools ...string) *harbour { return &harbour{name: "alpha", tools: tools} }

func ask(text string) []codecs.Message {
	return []codecs.Message{{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: text}}}}
}

func config(c codecs.Codec, e *engine, servers ...loop.ToolServer) loop.Config {
	return loop.Config{Codec: c, Model: "m-1", Sender: e, Servers: servers, Messages: ask("When is high tide?")}
}

// chat is an openai reply; calls are "id name arguments".
func chat(finish, text string, calls ...string) string {
	var list []string
	for _, c := range calls {
		f := strings.SplitN(c, " ", 3)
		list = append(list, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":%s}}`, f[0], f[1], jsonx.Quote(f[2])))
	}
	content := "null"
	if text != "" {
		content = string(jsonx.Quote(text))
	}
	msg := `{"role":"assistant","content":` + content
	if list != nil {
		msg += `,"tool_calls":[` + strings.Join(list, ",") + `]`
	}
	return `{"id":"r","choices":[{"index":0,"message":` + msg + `},"finish_reason":"` + finish + `"}],"usage":{"prompt_tokens":3,"completion_tokens":5}}`
}

// message is an anthropic reply made of content blocks.
func message(stop string, blocks ...string) string {
	return `{"id":"msg","type":"message","role":"assistant","model":"m-1","content":[` + strings.Join(blocks, ",") +
		`],"stop_reason":"` + stop + `","usage":{"input_tokens":3,"output_tokens":5}}`
}

func block(text string) string { return string(codecs.TextBlock(text)) }

func use(id, name, input string) string {
	return fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":%s}`, id, name, input)
}

// result is what the tool message of a call says in an openai request body.
func results(t *testing.T, body string) []string {
	t.Helper()
	var out []string
	for _, m := range jsonx.Of([]byte(body)).Get("messages").Items() {
		if m.Get("role").Str() == "tool" {
			out = append(out, m.Get("tool_call_id").Str()+": "+m.Get("content").Str())
		}
	}
	return out
}

func codes(ws []codecs.Warning) []string {
	out := []string{}
	for _, w := range ws {
		out = append(out, w.Code)
	}
	return out
}

func same(t *testing.T, what string, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func mustRun(t *testing.T, c loop.Config) loop.Outcome {
	t.Helper()
	out, err := loop.Run(t.Context(), c)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	return out
}
