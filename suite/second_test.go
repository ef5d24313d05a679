package suite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/client"
	"github.com/toolconform/conform/suite/results"
)

// plain is a client as one writes it in an afternoon: encoding/json and net/http,
// chat completions, tools over plain HTTP. It knows nothing of this project.
type plain struct{ stream string }

func (p plain) Info() client.Info {
	return client.Info{Name: "plain", Stream: p.stream, Dialects: []codecs.Dialect{codecs.OpenAI}, Addresses: true, Features: client.Features{MaxIterations: true, MultiServer: true}}
}

func (plain) Run(ctx context.Context, t client.Task) client.Outcome {
	text, err := talk(ctx, t)
	switch {
	case errors.Is(err, errTurns):
		return client.Outcome{Error: &client.Error{Kind: "iterations", Message: err.Error()}}
	case err != nil:
		return client.Outcome{Error: &client.Error{Kind: "provider", Message: err.Error()}}
	}
	return client.Outcome{Text: text}
}

var errTurns = errors.New("too many turns")

type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"`
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
}

type toolCall struct {
	ID       string `json:"id"`
	Type     string `json:"type"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

func talk(ctx context.Context, t client.Task) (string, error) {
	var messages []message
	if t.System != "" {
		messages = append(messages, message{Role: "system", Content: t.System})
	}
	for _, raw := range t.Messages {
		var m message
		if err := json.Unmarshal(raw, &m); err != nil {
			return "", err
		}
		messages = append(messages, m)
	}
	servers, tools := map[string]string{}, []any{}
	for _, s := range t.ToolServers {
		var list struct {
			Tools []struct {
				Name, Description string
				InputSchema       json.RawMessage
			}
		}
		if err := call(ctx, "GET", s.HTTPURL+"/tools", nil, &list); err != nil {
			return "", err
		}
		for _, tool := range list.Tools {
			servers[tool.Name] = s.HTTPURL
			tools = append(tools, map[string]any{"type": "function", "function": map[string]any{"name": tool.Name, "description": tool.Description, "parameters": tool.InputSchema}})
		}
	}
	most := t.MaxIterations
	if most == 0 {
		most = 10
	}
	for range most {
		request := map[string]any{"model": t.Model, "messages": messages}
		if len(tools) > 0 {
			request["tools"] = tools
		}
		if t.MaxTokens > 0 {
			request["max_tokens"] = t.MaxTokens
		}
		if t.Stream {
			request["stream"] = true
		}
		var reply struct{ Choices []struct{ Message message } }
		if err := call(ctx, "POST", t.BaseURL+"/chat/completions", request, &reply); err != nil {
			return "", err
		}
		if len(reply.Choices) == 0 {
			return "", errors.New("no choices")
		}
		turn := reply.Choices[0].Message
		if messages = append(messages, turn); len(turn.ToolCalls) == 0 {
			text, _ := turn.Content.(string)
			return text, nil
		}
		for _, c := range turn.ToolCalls {
			arguments := map[string]any{}
			_ = json.Unmarshal([]byte(c.Function.Arguments), &arguments) // what does not decode is run on {}
			var result struct{ Content []struct{ Text string } }
			text := ""
			if err := call(ctx, "POST", servers[c.Function.Name]+"/call", map[string]any{"name": c.Function.Name, "arguments": arguments}, &result); err != nil {
				text = err.Error()
			}
			for _, block := range result.Content {
				text += block.Text
			}
			messages = append(messages, message{Role: "tool", ToolCallID: c.ID, Content: text})
		}
	}
	return "", errTurns
}

func call(ctx context.Context, method, url string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, answer)
	}
	if err != nil {
		return err
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		answer = joined(answer)
	}
	return json.Unmarshal(answer, out)
}

// TestSecondClient plays every scenario with a client that is not the reference,
// over real connections. Its faults, written down here by reading it, are found,
// and nothing else is: what it does well is green.
func TestSecondClient(t *testing.T) {
	// It lets images go, wherever they stand, and everything else in a result that
	// is no text; runs what does not decode on {}, cut or not, and does not look at
	// the finish reason; offers a name twice and asks the last server; and reads
	// numbers as floats.
	everywhere := map[string][]string{
		"basic/messages-with-image":    {"prompt.kept"},
		"errors/undecodable-arguments": {"calls.run"},
		"media/image-in-result":        {"results.media"},
		"media/pdf-in-result":          {"results.media"},
		"media/resources":              {"results.content", "results.media"},
		"media/structured-content":     {"results.content"},
		"tools/duplicate-name":         {"tools.declared", "calls.run"},
		"truncation/lone-cut":          {"truncation.not_run", "calls.run", "end.accepted"},
		"truncation/nothing-left":      {"end.accepted"},
		"truncation/second-of-two-cut": {"truncation.not_run", "calls.run"},
		"values/unicode-and-numbers":   {"calls.run"},
	}
	besides := map[string]func(results.Cell) []string{
		// Of the three this engine alone refuses in a field of its own.
		"openai": func(c results.Cell) []string {
			return map[string][]string{"errors/refusal": {"end.accepted"}}[c.Scenario]
		},
		// It drops reasoning_content, which this engine wants back with every turn
		// of calls, also when it is empty.
		"deepseek": func(c results.Cell) []string {
			if c.Exchanges < 2 {
				return nil
			}
			return []string{"echo.reasoning"}
		},
		// Here the engine makes good use of reasoning, and refuses arguments in the
		// history that are no JSON.
		"llama-server": func(c results.Cell) []string {
			return map[string][]string{
				"reasoning/echo":                {"echo.reasoning"},
				"thinking/call-inside-thinking": {"echo.reasoning"},
				"truncation/second-of-two-cut":  {"echo.reasoning", "echo.arguments_verbatim"},
				"truncation/lone-cut":           {"echo.arguments_verbatim"},
				"errors/undecodable-arguments":  {"echo.arguments_verbatim"},
			}[c.Scenario]
		},
	}
	r := newRunner(t)
	r.Client = plain{}
	doc, err := r.Run(t.Context(), suite.Selection{Engines: []string{"openai", "deepseek", "llama-server", "anthropic"}})
	if err != nil {
		t.Fatal(err)
	}
	green, taped := 0, 0
	for _, row := range doc.Rows {
		for _, c := range row.Cells {
			if besides[row.Name] == nil {
				if c.Verdict != results.NA || c.Exchanges != 0 {
					t.Errorf("%s %s: %s, for a client that does not speak the dialect", row.Name, c.Scenario, c.Verdict)
				}
				continue
			}
			var failed []string
			for _, k := range c.Checks {
				if k.Verdict == results.Fail {
					failed = append(failed, k.ID)
				}
			}
			want := slices.Concat(everywhere[c.Scenario], besides[row.Name](c))
			slices.Sort(failed)
			slices.Sort(want)
			if !slices.Equal(failed, want) {
				t.Errorf("%s %s: %v fail, want %v; %s", row.Name, c.Scenario, failed, want, c.Reason)
			}
			if c.Verdict == results.Pass {
				green++
				if c.Tape != "" {
					taped++
				}
			}
		}
	}
	if green < 20 || taped < 4 {
		t.Errorf("%d cells are green, %d of them played from a tape", green, taped)
	}
}

// TestReferenceOverTheNetwork: the reference has no privileges. Over sockets, with
// MCP over HTTP, it comes to the verdicts that it comes to in process.
func TestReferenceOverTheNetwork(t *testing.T) {
	r := newRunner(t)
	sel := suite.Selection{Engines: []string{"openai", "anthropic", "gemini", "llama-server"}}
	inside, err := r.Run(t.Context(), sel)
	if err != nil {
		t.Fatal(err)
	}
	r.Client = client.Reference{Catalog: r.Catalog, Addresses: true}
	outside, err := r.Run(t.Context(), sel)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range outside.Rows {
		for k, c := range row.Cells {
			want := inside.Rows[i].Cells[k]
			if !reflect.DeepEqual(c, want) {
				t.Errorf("%s %s: %s %s (%d exchanges), in process %s %s (%d)", row.Name, c.Scenario, c.Verdict, c.Reason, c.Exchanges, want.Verdict, want.Reason, want.Exchanges)
			}
		}
	}
}

// odd is a client with habits of its own.
type odd struct {
	info client.Info
	run  func(context.Context, client.Task) client.Outcome
}

func (o odd) Info() client.Info                                     { return o.info }
func (o odd) Run(ctx context.Context, t client.Task) client.Outcome { return o.run(ctx, t) }

// TestOddClients: a client that hangs, panics, cannot or asks elsewhere costs its
// own cell and nothing else, and the cell says what happened.
func TestOddClients(t *testing.T) {
	stop := make(chan struct{})
	defer close(stop)
	for _, c := range []struct {
		name    string
		run     func(context.Context, client.Task) client.Outcome
		verdict results.Verdict
		reason  string
	}{
		{"hangs", func(context.Context, client.Task) client.Outcome { <-stop; return client.Outcome{} }, results.Fail, ""},
		{"ends with its context", func(ctx context.Context, _ client.Task) client.Outcome {
			<-ctx.Done()
			return client.Outcome{Error: &client.Error{Kind: "cancelled", Message: ctx.Err().Error()}}
		}, results.Fail, ""},
		{"panics", func(context.Context, client.Task) client.Outcome { panic("no idea") }, results.Error, "panic: no idea"},
		{"cannot", func(context.Context, client.Task) client.Outcome { return client.Outcome{Unsupported: "no tools here"} }, results.NA, "the client: no tools here"},
		{"asks elsewhere", func(ctx context.Context, task client.Task) client.Outcome {
			req, _ := http.NewRequestWithContext(ctx, "POST", "http://engine.invalid/v1/completions", strings.NewReader("{}"))
			resp, err := task.Transport.RoundTrip(req)
			if err == nil {
				_ = resp.Body.Close()
			}
			return client.Outcome{Text: "It is 21 degrees and sunny in Paris."}
		}, results.Fail, "seen 0; POST /v1/completions is no path of this engine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRunner(t)
			r.Client = odd{run: c.run}
			if strings.Contains(c.name, "hangs") || strings.Contains(c.name, "context") {
				r.Timeout = time.Millisecond
			}
			doc, err := r.Run(t.Context(), suite.Selection{Engines: []string{"openai"}, Scenarios: []string{"basic/one-call"}})
			if err != nil {
				t.Fatal(err)
			}
			cell := doc.Rows[0].Cells[0]
			said := cell.Reason
			for _, k := range cell.Checks {
				said += "\n" + k.Evidence
			}
			if cell.Verdict != c.verdict || !strings.Contains(said, c.reason) {
				t.Errorf("%s: %s", cell.Verdict, said)
			}
		})
	}
}

// TestAbilities: what a client does not claim is not asked of it.
func TestAbilities(t *testing.T) {
	for _, c := range []struct{ engine, scenario, reason string }{
		{"openai", "limits/iterations", "the client takes no limit of iterations"},
		{"openai", "tools/duplicate-name", "the client takes one tool server only"},
		{"anthropic", "server-tools/beside-functions", "the client sends no server tools"},
	} {
		r := newRunner(t)
		r.Client = odd{run: func(context.Context, client.Task) client.Outcome {
			t.Errorf("%s was run", c.scenario)
			return client.Outcome{}
		}}
		if cell := runCell(t, r, c.engine, c.scenario); cell.Verdict != results.NA || cell.Reason != c.reason {
			t.Errorf("%s: %s %q, want %q", c.scenario, cell.Verdict, cell.Reason, c.reason)
		}
	}
}
