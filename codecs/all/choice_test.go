package all_test

import (
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// TC30: a dialect that does not exist is an error that names it.
func TestUnknownDialect(t *testing.T) {
	for _, name := range []string{"telex", "OpenAI", ""} {
		if _, err := all.For(codecs.Dialect(name)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%q: error %v", name, err)
		}
	}
}

// CH05, CH06: every form of a tool choice gives the same names value, whichever
// dialect it comes from.
func TestChoiceForms(t *testing.T) {
	names := map[codecs.Dialect]map[string]string{ // the table of spec 1.3
		codecs.OpenAI:    {"auto": `"auto"`, "any": `"required"`, "none": `"none"`, "tool": `{"type":"function","function":{"name":"ring"}}`},
		codecs.Anthropic: {"auto": `{"type":"auto"}`, "any": `{"type":"any"}`, "none": `{"type":"none"}`, "tool": `{"type":"tool","name":"ring"}`},
		codecs.Gemini: {
			"auto": `{"functionCallingConfig":{"mode":"AUTO"}}`, "any": `{"functionCallingConfig":{"mode":"ANY"}}`,
			"none": `{"functionCallingConfig":{"mode":"NONE"}}`, "tool": `{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["ring"]}}`,
		},
		codecs.Responses: {"auto": `"auto"`, "any": `"required"`, "none": `"none"`, "tool": `{"type":"function","name":"ring"}`},
	}
	forms := map[string][]string{
		"auto": {`"auto"`, `{"type":"auto"}`, `{"mode":"auto"}`, `{"type":"tool","name":""}`, `{"type":"function","function":{"name":""}}`, `{"functionCallingConfig":{"mode":"AUTO"}}`},
		"any":  {`"required"`, `"any"`, `{"type":"any"}`, `{"type":"required"}`, `{"mode":"any"}`, `{"functionCallingConfig":{"mode":"ANY"}}`},
		"none": {`"none"`, `{"type":"none"}`, `{"mode":"none"}`, `{"functionCallingConfig":{"mode":"NONE"}}`},
		"tool": {
			`{"type":"tool","name":"ring"}`, `{"type":"function","name":"ring"}`, `{"type":"function","function":{"name":"ring"}}`, `{"mode":"tool","name":"ring"}`,
			`{"functionCallingConfig":{"mode":"ANY","allowed_function_names":["ring"]}}`,
		},
	}
	req := codecs.Request{
		Model:    "m",
		Messages: []codecs.Message{{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: "Ring."}}}},
		Tools:    []codecs.Tool{{Name: "ring", InputSchema: codecs.Raw(`{"type":"object","properties":{}}`)}},
	}
	for d, want := range names {
		c, err := all.For(d)
		if err != nil {
			t.Fatal(err)
		}
		for mode, list := range forms {
			for _, form := range list {
				req.Choice = wire.ParseChoice(codecs.Raw(form))
				body, warnings, err := c.Request(req, codecs.Profile{})
				key := "tool_choice"
				if d == codecs.Gemini {
					key = "toolConfig"
				}
				got := jsonx.Of(body).Get(key).Raw()
				if err != nil || len(warnings) > 0 || !jsonx.Equal(got, []byte(want[mode])) {
					t.Errorf("%s %s: %s (%v, %v), want %s", d, form, got, warnings, err, want[mode])
				}
			}
		}
	}
}

// EN22: results that name their call by its place, by its id, or by nothing but
// their name and order give the same messages, on every names. EN21: they are
// messages that can be appended, as Continue's type says.
func TestResultsPairedAnyWay(t *testing.T) {
	bodies := map[codecs.Dialect]string{
		codecs.OpenAI:    `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"ring","arguments":"{}"}},{"id":"c2","type":"function","function":{"name":"dim","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`,
		codecs.Anthropic: `{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"ring","input":{}},{"type":"tool_use","id":"c2","name":"dim","input":{}}],"stop_reason":"tool_use"}`,
		codecs.Gemini:    `{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"c1","name":"ring","args":{}}},{"functionCall":{"id":"c2","name":"dim","args":{}}}]},"finishReason":"STOP"}]}`,
		codecs.Ollama:    `{"message":{"role":"assistant","content":"","tool_calls":[{"id":"c1","function":{"name":"ring","arguments":{}}},{"id":"c2","function":{"name":"dim","arguments":{}}}]},"done":true,"done_reason":"stop"}`,
		codecs.Responses: `{"status":"completed","output":[{"type":"function_call","call_id":"c1","name":"ring","arguments":"{}"},{"type":"function_call","call_id":"c2","name":"dim","arguments":"{}"}]}`,
		codecs.Hermes:    `{"choices":[{"index":0,"message":{"role":"assistant","content":"<tool_call>{\"name\":\"ring\",\"arguments\":{}}</tool_call><tool_call>{\"name\":\"dim\",\"arguments\":{}}</tool_call>"},"finish_reason":"stop"}]}`,
	}
	ways := map[string]func(pos int, id, name string) codecs.ToolResult{
		"by place": func(pos int, _, _ string) codecs.ToolResult { return codecs.ToolResult{Pos: &pos} },
		"by id":    func(_ int, id, _ string) codecs.ToolResult { return codecs.ToolResult{ID: id} },
		"by name":  func(_ int, _, name string) codecs.ToolResult { return codecs.ToolResult{Name: name} },
		"in order": func(int, string, string) codecs.ToolResult { return codecs.ToolResult{} },
	}
	for _, d := range codecs.Dialects() {
		c, err := all.For(d)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := c.Reply([]byte(bodies[d]), codecs.Profile{})
		if err != nil {
			t.Fatalf("%s: %v", d, err)
		}
		want := ""
		for _, way := range []string{"by place", "by id", "by name", "in order"} {
			var results []codecs.ToolResult
			for _, call := range reply.Calls() {
				r := ways[way](call.Pos, call.ID, call.Name)
				r.Content = []codecs.Raw{codecs.TextBlock(call.Name + " done")}
				results = append(results, r)
			}
			msgs, _, err := c.Continue(reply, results, codecs.Profile{})
			if err != nil {
				t.Errorf("%s %s: %v", d, way, err)
				continue
			}
			got := string(jsonx.List(msgs...))
			if want == "" {
				want = got
			}
			if got != want || !strings.Contains(got, "ring done") || !strings.Contains(got, "dim done") {
				t.Errorf("%s %s:\n%s\nwant %s", d, way, got, want)
			}
		}
	}
}
