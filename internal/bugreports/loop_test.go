package bugreports

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/loop"
	"github.com/toolconform/conform/suite"
)

// results notes what the loop hands to Continue.
type results struct {
	codecs.Full
	seen [][]codecs.ToolResult
}

func (r *results) Continue(reply codecs.Reply, rs []codecs.ToolResult, p codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	r.seen = append(r.seen, rs)
	return r.Full.Continue(reply, rs, p)
}

// play runs bodies through the reference loop.
func (k *kase) play(input obj) (played obj, seen [][]codecs.ToolResult) {
	c := &results{Full: k.codec}
	raw, err := suite.PlayBodies(k.t.Context(), c, k.profile, k.model, encode(k.t, input))
	if err != nil {
		k.t.Fatal(err)
	}
	return decoded(k.t, raw).(obj), c.seen
}

func (k *kase) loop() []string {
	if k.report.Input["history"] != nil {
		return k.history()
	}
	in := obj{"bodies": []any{}, "tools": []any{}}
	for _, key := range []string{"bodies", "tools", "max_iterations"} {
		if v, ok := k.report.Input[key]; ok {
			in[key] = v
		}
	}
	if v, ok := k.report.Input["mcp"]; ok {
		in["results"] = v
	}
	if servers, ok := k.report.Input["servers"].([]any); ok {
		if len(servers) != 1 {
			k.t.Fatalf("%d servers", len(servers))
		}
		in["tools"] = servers[0].(obj)["tools"]
	}
	played, seen := k.play(in)
	got := k.outcome(played, seen)
	diffs := match(k.report.Expected, got)
	want := k.report.Expected.(obj)
	if _, ok := want["invariant"]; ok {
		diffs = append(diffs, k.paired(played["requests"].([]any))...)
	}
	return diffs
}

// outcome is a run in the words of the reports.
func (k *kase) outcome(played obj, seen [][]codecs.ToolResult) obj {
	run := []any{}
	for _, c := range played["run"].([]any) {
		run = append(run, []any{c.(obj)["name"], c.(obj)["arguments"]})
	}
	requests := played["requests"].([]any)
	got := obj{"run": run, "final": played["final"], "requests": json.Number(fmt.Sprint(len(requests)))}
	if len(requests) > 1 {
		got["next_request"] = requests[1]
	}
	if e, ok := played["error"].(obj); ok {
		got["error"], got["outcome"] = e["message"], fmt.Sprintf("error:%s", e["kind"])
	}
	flat := []any{}
	for _, turn := range seen {
		for _, r := range turn {
			if r.IsError {
				got["outcome"] = "error_result:" + r.ID
			}
			flat = append(flat, obj{"call_id": r.ID, "isError": r.IsError, "text": wire.ResultText(r)})
		}
	}
	got["results"] = flat
	names := []any{}
	if len(requests) > 0 {
		for _, t := range k.sentTools(requests[0]) {
			names = append(names, t)
		}
	}
	got["tools_sent"] = names
	warned := 0
	for _, w := range played["warnings"].([]any) {
		if w.(obj)["code"] == codecs.WarnToolDuplicate {
			warned++
		}
	}
	got["warnings"] = json.Number(fmt.Sprint(warned))
	return got
}

// sentTools are the names of the tools in a request body.
func (k *kase) sentTools(body any) []string {
	req, _, err := k.codec.ParseRequest(codecs.Post(k.codec.Endpoint(k.model, false), encode(k.t, body)), k.profile)
	if err != nil {
		k.t.Fatal(err)
	}
	var names []string
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	return names
}

// paired finds a turn whose calls have not exactly one result each right after
// it, in any of the requests.
func (k *kase) paired(requests []any) []string {
	var diffs []string
	for i, body := range requests {
		req, _, err := k.codec.ParseRequest(codecs.Post(k.codec.Endpoint(k.model, false), encode(k.t, body)), k.profile)
		if err != nil {
			k.t.Fatal(err)
		}
		open := map[string]int{}
		for j, m := range append(req.Messages, user("end")) {
			var calls []codecs.ToolCall
			for _, p := range m.Parts {
				switch p.Kind {
				case codecs.KindCall:
					calls = append(calls, *p.Call)
				case codecs.KindResult:
					if open[p.Result.ID]--; open[p.Result.ID] < 0 {
						diffs = append(diffs, fmt.Sprintf("request %d, message %d: a result without a call", i, j))
					}
				}
			}
			if m.Role != "tool" {
				for id, n := range open {
					if n > 0 {
						diffs = append(diffs, fmt.Sprintf("request %d, message %d: the call %s has no result", i, j, id))
					}
				}
				open = map[string]int{}
			}
			for _, c := range calls {
				open[c.ID]++
			}
		}
	}
	return diffs
}

// history asks with a prompt that holds a history, and looks at what is sent.
func (k *kase) history() []string {
	out, _ := loop.Once(k.t.Context(), loop.Config{Codec: k.codec, Profile: k.profile, Model: k.model, Sender: one(nil), Messages: k.foreign()})
	if len(out.Requests) != 1 {
		k.t.Fatalf("%d requests", len(out.Requests))
	}
	body := decoded(k.t, out.Requests[0]).(obj)
	key := listKey(k.codec.Dialect())
	got := obj{"body": body, key: body[key]}
	diffs := match(k.report.Expected, got)
	want := k.report.Expected.(obj)
	if _, ok := want["invariant"]; ok {
		diffs = append(diffs, k.paired([]any{got["body"]})...)
	}
	return diffs
}

// schema encodes tools. Where a report names the field of Gemini's own schema
// subset, the profile for hosts that know only that field is used.
func (k *kase) schema() []string {
	want := k.report.Expected.(obj)
	invariant, isInvariant := want["invariant"].(string)
	if strings.Contains(invariant, "names") {
		return k.names(want)
	}
	if _, ok := k.report.Input["body"]; ok {
		return k.names(want)
	}
	tools, _, err := wire.ParseTools(k.raw("tools"))
	if err != nil {
		k.t.Fatal(err)
	}
	p := k.profile
	if k.codec.Dialect() == codecs.Gemini {
		p.SchemaKey = "parameters"
	}
	raw, _, err := k.codec.Tools(tools, p)
	if err != nil {
		k.t.Fatal(err)
	}
	list := decoded(k.t, raw).([]any)
	got := obj{"tools": list}
	first, _ := list[0].(obj)
	if k.codec.Dialect() == codecs.Gemini {
		first, _ = first["functionDeclarations"].([]any)[0].(obj)
	}
	for _, key := range []string{"parameters", "input_schema"} {
		if v, ok := first[key]; ok {
			got[key] = v
		}
	}
	diffs := match(want, got)
	if isInvariant { // no $ref; the items are an object schema
		items := jsonx.Of(encode(k.t, got["parameters"])).Path("properties", "a", "items")
		if hasKey(got, "$ref") || !strings.EqualFold(items.Get("type").Str(), "object") {
			diffs = append(diffs, fmt.Sprintf("got %s, want %s", raw, invariant))
		}
	}
	return diffs
}

// names lets the loop offer tools whose names the wire does not take, and lets
// the model call each by the name that was sent.
func (k *kase) names(want obj) []string {
	tools := k.report.Input["tools"].([]any)
	done := decoded(k.t, []byte(`{"choices":[{"index":0,"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}]}`))
	first, _ := k.play(obj{"bodies": []any{done}, "tools": tools})
	sent := k.sentTools(first["requests"].([]any)[0])
	var diffs []string
	seen := map[string]bool{}
	for _, n := range sent {
		if !wireName.MatchString(n) || seen[n] {
			diffs = append(diffs, fmt.Sprintf("the name %q goes out", n))
		}
		seen[n] = true
	}
	if len(sent) != len(tools) {
		return append(diffs, fmt.Sprintf("%d tools went out of %d", len(sent), len(tools)))
	}
	for i, n := range sent {
		var fn, call, msg, choice jsonx.Fields
		call.Str("id", "c1").Str("type", "function").Set("function", fn.Str("name", n).Str("arguments", "{}").Raw())
		msg.Str("role", "assistant").Set("content", codecs.Raw("null")).Set("tool_calls", jsonx.List(call.Raw()))
		choice.Int("index", 0).Set("message", msg.Raw()).Str("finish_reason", "tool_calls")
		var body jsonx.Fields
		turn := decoded(k.t, body.Set("choices", jsonx.List(choice.Raw())).Raw())
		played, seen := k.play(obj{"bodies": []any{turn, done}, "tools": tools})
		run := k.outcome(played, seen)["run"]
		name := tools[i].(obj)["name"]
		diffs = append(diffs, match(obj{"run": []any{[]any{name, obj{}}}}, obj{"run": run})...)
		if _, ok := want["tools"]; ok {
			diffs = append(diffs, match(want, obj{"tools": played["requests"].([]any)[0].(obj)["tools"], "run": run})...)
		}
	}
	return diffs
}
