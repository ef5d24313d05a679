package suite_test

import (
	"context"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/client"
	"github.com/toolconform/conform/suite/judge"
	"github.com/toolconform/conform/suite/results"
)

// faulty is a codec with one fault.
type faulty struct {
	codecs.Full
	fault fault
}

type fault struct {
	request  func(codecs.Request) codecs.Request
	body     func(codecs.Raw) codecs.Raw
	profile  func(codecs.Profile) codecs.Profile
	reply    func(codecs.Reply, error) (codecs.Reply, error)
	messages func([]codecs.Raw) []codecs.Raw
}

func (f faulty) Request(r codecs.Request, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	if f.fault.request != nil {
		r = f.fault.request(r)
	}
	body, w, err := f.Full.Request(r, p)
	if f.fault.body != nil && err == nil {
		body = f.fault.body(body)
	}
	return body, w, err
}

func (f faulty) Reply(body []byte, p codecs.Profile) (codecs.Reply, error) {
	if f.fault.profile != nil {
		p = f.fault.profile(p)
	}
	r, err := f.Full.Reply(body, p)
	if f.fault.reply != nil {
		r, err = f.fault.reply(r, err)
	}
	return r, err
}

func (f faulty) Continue(r codecs.Reply, results []codecs.ToolResult, p codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	msgs, w, err := f.Full.Continue(r, results, p)
	if f.fault.messages != nil && err == nil {
		msgs = f.fault.messages(msgs)
	}
	return msgs, w, err
}

// set and cut edit a message; a pointer that is not there leaves it alone.
func set(raw codecs.Raw, pointer, value string) codecs.Raw {
	if !jsonx.Of(raw).Lookup(pointer).Exists() {
		return raw
	}
	out, err := jsonx.Set(raw, pointer, []byte(value))
	if err != nil {
		panic(err)
	}
	return out
}

func cut(raw codecs.Raw, pointer string) codecs.Raw {
	if !jsonx.Of(raw).Lookup(pointer).Exists() {
		return raw
	}
	out, err := jsonx.Delete(raw, pointer)
	if err != nil {
		panic(err)
	}
	return out
}

// each edits every message.
func each(edit func(codecs.Raw) codecs.Raw) func([]codecs.Raw) []codecs.Raw {
	return func(in []codecs.Raw) []codecs.Raw {
		out := make([]codecs.Raw, len(in))
		for i, m := range in {
			out[i] = edit(m)
		}
		return out
	}
}

// toolText replaces the text of tool messages (openai).
func toolText(value string) func([]codecs.Raw) []codecs.Raw {
	return each(func(m codecs.Raw) codecs.Raw {
		if jsonx.Of(m).Get("role").Str() != "tool" {
			return m
		}
		return set(m, "/content", value)
	})
}

func withoutLast(msgs []codecs.Raw) []codecs.Raw { return msgs[:len(msgs)-1] }

// faults lists one fault for each check that a client or a loop can fail, the
// cell where it shows, and a cell that must stay as it is.
var faults = []struct {
	check, name         string
	engine, scenario    string
	unharmed, elsewhere string // engine and scenario that the fault must not touch
	fault               fault
}{
	{"request.reads", "messages that are no list", "openai", "basic/one-call", "", "", fault{body: func(b codecs.Raw) codecs.Raw { return set(b, "/messages", `"Hi."`) }}},
	{"request.as_recorded", "a key that the tape does not have", "llama-server", "basic/one-call", "openai", "basic/one-call", fault{body: func(b codecs.Raw) codecs.Raw {
		out, _ := jsonx.Set(b, "/seed", []byte("1"))
		return out
	}}},
	{"prompt.kept", "the first message is lost", "openai", "basic/messages-with-image", "openai", "basic/plain-text", fault{request: func(r codecs.Request) codecs.Request {
		if len(r.Messages) > 2 && r.Messages[0].Role == "system" {
			r.Messages = r.Messages[1:]
		}
		return r
	}}},
	{"request.parameters", "the token limit is forgotten", "openai", "truncation/second-of-two-cut", "openai", "basic/one-call", fault{request: func(r codecs.Request) codecs.Request {
		r.MaxTokens = 0
		return r
	}}},
	{"request.parameters", "another model is asked", "deepseek", "basic/one-call", "", "", fault{request: func(r codecs.Request) codecs.Request {
		r.Model = "another"
		return r
	}}},
	{"tools.declared", "the tools go out on the first request only", "openai", "basic/one-call", "openai", "basic/plain-text", fault{request: func(r codecs.Request) codecs.Request {
		if len(r.Messages) > 1 {
			r.Tools = nil
		}
		return r
	}}},
	{"server_tools.sent", "server tools are forgotten", "openai-responses", "server-tools/beside-functions", "openai-responses", "basic/one-call", fault{request: func(r codecs.Request) codecs.Request {
		r.ServerTools = nil
		return r
	}}},
	{"echo.calls", "the echo loses its calls", "openai", "basic/one-call", "openai", "basic/plain-text", fault{messages: each(func(m codecs.Raw) codecs.Raw { return cut(m, "/tool_calls") })}},
	{"echo.arguments_verbatim", "arguments are spelled anew", "openai", "values/unicode-and-numbers", "openai", "basic/plain-text", fault{messages: each(func(m codecs.Raw) codecs.Raw {
		return set(m, "/tool_calls/0/function/arguments", `"{\"label\": \"x\", \"id\": 12345678901234567000, \"height\": 3.4}"`)
	})}},
	{"echo.reasoning", "reasoning_content is lost", "deepseek", "reasoning/echo", "openai", "basic/one-call", fault{messages: each(func(m codecs.Raw) codecs.Raw { return cut(m, "/reasoning_content") })}},
	{"echo.reasoning", "the empty key is lost", "deepseek", "basic/one-call", "openai", "basic/one-call", fault{messages: each(func(m codecs.Raw) codecs.Raw { return cut(m, "/reasoning_content") })}},
	{"results.content", "a link is dropped beside text", "openai", "media/resources", "openai", "basic/one-call", fault{messages: each(func(m codecs.Raw) codecs.Raw {
		if strings.Contains(jsonx.Of(m).Get("content").Str(), "[resource_link]") {
			return set(m, "/content", `"two notes\n{\"quay\":4,\"open\":true}"`)
		}
		return m
	})}},
	{"echo.signature", "one letter of a signature changes", "anthropic", "truncation/second-of-two-cut", "anthropic", "basic/one-call", fault{messages: each(func(m codecs.Raw) codecs.Raw {
		return set(m, "/content/0/signature", `"c2lnbmVkIGJ5IG5vYm9keQ=="`)
	})}},
	{"echo.text", "text beside calls is lost", "openai", "basic/text-before-call", "openai", "basic/one-call", fault{messages: each(func(m codecs.Raw) codecs.Raw {
		if jsonx.Of(m).Get("tool_calls").Exists() {
			return set(m, "/content", "null")
		}
		return m
	})}},
	{"echo.items", "a server item is lost", "anthropic", "server-tools/beside-functions", "anthropic", "basic/one-call", fault{messages: each(func(m codecs.Raw) codecs.Raw {
		if jsonx.Of(m).Lookup("/content/0/type").Str() == "server_tool_use" {
			return cut(m, "/content/0")
		}
		return m
	})}},
	{"results.pairing", "the last result is lost", "openai", "basic/parallel-calls", "openai", "basic/plain-text", fault{messages: withoutLast}},
	{"results.order", "results are swapped", "nousresearch", "tools/duplicate-name", "nousresearch", "basic/one-call", fault{messages: func(m []codecs.Raw) []codecs.Raw {
		if len(m) == 3 {
			m[1], m[2] = m[2], m[1]
		}
		return m
	}}},
	{"results.adjacent", "a message stands between call and result", "openai", "basic/one-call", "openai", "basic/plain-text", fault{messages: func(m []codecs.Raw) []codecs.Raw {
		return slices.Insert(m, 1, codecs.Raw(`{"role":"user","content":"one moment"}`))
	}}},
	{"results.content", "the text of a result is replaced", "openai", "basic/one-call", "openai", "basic/plain-text", fault{messages: toolText(`"done"`)}},
	{"results.media", "base64 goes out as text", "openai", "media/image-in-result", "openai", "basic/one-call", fault{messages: each(func(m codecs.Raw) codecs.Raw {
		if strings.Contains(jsonx.Of(m).Get("content").Str(), "[image]") {
			return set(m, "/content", `"camera 4\niVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="`)
		}
		return m
	})}},
	{"results.error", "the error of a tool is swallowed", "openai", "errors/tool-error", "openai", "basic/plain-text", fault{messages: toolText(`""`)}},
	{"unknown_tool.answered", "an unknown tool is answered with nothing", "openai", "errors/unknown-tool", "openai", "basic/plain-text", fault{messages: toolText(`""`)}},
	{"arguments.undecodable_answered", "undecodable arguments are answered with nothing", "openai", "errors/undecodable-arguments", "openai", "basic/plain-text", fault{messages: toolText(`""`)}},
	{"truncation.no_dangling", "the cut call stays in the echo", "openai", "truncation/second-of-two-cut", "openai", "basic/parallel-calls", fault{messages: each(func(m codecs.Raw) codecs.Raw {
		calls := jsonx.Of(m).Get("tool_calls")
		if calls.Len() != 1 || !strings.Contains(string(calls.Raw()), "Husum") {
			return m
		}
		out, _ := jsonx.Set(m, "/tool_calls/-", []byte(`{"id":"c9","type":"function","function":{"name":"get_tide","arguments":"{\"harbour\":\"Bue"}}`))
		return out
	})}},
	{"truncation.not_run", "cut JSON is repaired and run", "openai", "truncation/second-of-two-cut", "openai", "basic/parallel-calls", fault{reply: func(r codecs.Reply, err error) (codecs.Reply, error) {
		for _, p := range r.Parts {
			if p.Call != nil && p.Call.Arguments == nil {
				p.Call.Arguments, p.Call.ArgumentsErr, p.Call.Cut = codecs.Raw(p.Call.ArgumentsText+`"}`), "", false
			}
		}
		return r, err
	}}},
	{"calls.run", "a call is run with other arguments", "openai", "basic/one-call", "openai", "basic/plain-text", fault{reply: func(r codecs.Reply, err error) (codecs.Reply, error) {
		for _, p := range r.Parts {
			if p.Call != nil {
				p.Call.Arguments = codecs.Raw(`{"city":"Rome"}`)
			}
		}
		return r, err
	}}},
	{"calls.thinking_not_run", "calls inside thinking are run", "nousresearch", "thinking/call-inside-thinking", "nousresearch", "basic/one-call", fault{profile: func(p codecs.Profile) codecs.Profile {
		p.ThinkTag = "none"
		return p
	}}},
	{"requests.count", "calls are overlooked", "openai", "basic/one-call", "openai", "basic/plain-text", fault{reply: func(r codecs.Reply, err error) (codecs.Reply, error) {
		r.Parts = slices.DeleteFunc(slices.Clone(r.Parts), func(p codecs.Part) bool { return p.Kind == codecs.CallKind })
		return r, err
	}}},
	{"end.accepted", "an error inside a 200 reads as an empty answer", "openai", "errors/error-in-200", "openai", "basic/plain-text", fault{reply: func(r codecs.Reply, err error) (codecs.Reply, error) {
		if err != nil {
			return codecs.Reply{Finish: codecs.FinishStop}, nil
		}
		return r, nil
	}}},
}

// TestFaultsAreFound plants each fault, and finds its check failed in the cell
// where it must show and the other cell as good as without it.
func TestFaultsAreFound(t *testing.T) {
	for _, f := range faults {
		t.Run(f.check+" "+f.name, func(t *testing.T) {
			t.Parallel()
			r := newRunner(t)
			r.Client = client.Reference{Catalog: r.Catalog, Wrap: func(c codecs.Full) codecs.Codec { return faulty{c, f.fault} }}
			cell := runCell(t, r, f.engine, f.scenario)
			k := checkOf(cell, f.check)
			if k.Verdict != results.Fail {
				t.Errorf("%s: %s is %q; the checks are %+v", f.name, f.check, k.Verdict, cell.All)
			}
			if !strings.Contains(k.Evidence, "expected") && f.check != "request.as_recorded" && f.check != "prompt.kept" {
				t.Errorf("evidence %q does not say what was expected and seen", k.Evidence)
			}
			if f.unharmed == "" {
				return
			}
			if other := runCell(t, r, f.unharmed, f.elsewhere); other.Verdict != results.Pass {
				t.Errorf("%s %s is %s: %s", f.unharmed, f.elsewhere, other.Verdict, other.Reason)
			}
		})
	}
}

// TestEveryCheckCanFail makes sure that no check of the client's duty or of the
// end is without a fault that fails it.
func TestEveryCheckCanFail(t *testing.T) {
	elsewhere := map[string]string{"warnings.given": "TestMissingWarningFails"}
	for _, rule := range judge.Rules() {
		if rule.Side == fixtures.SideReply {
			continue // TestRepliesAreJudged
		}
		found := elsewhere[rule.ID] != ""
		for _, f := range faults {
			found = found || f.check == rule.ID
		}
		if !found {
			t.Errorf("no fault fails %s", rule.ID)
		}
	}
}

func runCell(t testing.TB, r suite.Runner, engine, scenario string) results.Cell {
	t.Helper()
	doc, err := r.Run(context.Background(), suite.Selection{Engines: []string{engine}, Scenarios: []string{scenario}})
	if err != nil {
		t.Fatal(err)
	}
	return doc.Rows[0].Cells[0]
}

func checkOf(c results.Cell, id string) results.Check {
	for _, k := range c.All {
		if k.ID == id {
			return k
		}
	}
	return results.Check{}
}

func TestMissingWarningFails(t *testing.T) {
	r := newRunner(t)
	r.Scenarios = variant(t, "basic/one-call", "basic/wants-a-warning", func(s string) string {
		return strings.Replace(s, `"expect": {`, `"expect": {"warnings": ["tool.duplicate"],`, 1)
	})
	k := checkOf(runCell(t, r, "openai", "basic/wants-a-warning"), "warnings.given")
	if k.Verdict != results.Fail || k.Level != results.Should || !strings.Contains(k.Evidence, codecs.WarnToolDuplicate) {
		t.Errorf("got %+v", k)
	}
}

// variant loads a suite of one scenario: the named one under another id, with
// its text edited.
func variant(t testing.TB, id, as string, edit func(string) string) []fixtures.Scenario {
	t.Helper()
	data, err := fs.ReadFile(fixtures.FS(), "scenarios/"+id+".json")
	if err != nil {
		t.Fatal(err)
	}
	text := edit(strings.Replace(string(data), `"id": "`+id+`"`, `"id": "`+as+`"`, 1))
	list, err := fixtures.LoadScenarios(fstest.MapFS{"scenarios/" + as + ".json": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return list
}
