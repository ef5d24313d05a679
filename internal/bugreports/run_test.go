package bugreports

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/loop"
)

// obj is a JSON object as match compares it.
type obj = map[string]any

func (k *kase) run() []string {
	var got obj
	switch k.report.Operation {
	case "decode":
		got = k.decode()
	case "echo":
		got = k.echo()
	case "encode":
		got = k.encode()
	case "schema":
		return k.schema()
	case "loop":
		return k.loop()
	case "stream":
		return k.stream()
	default:
		k.t.Fatalf("unknown operation %q", k.report.Operation)
	}
	return match(k.report.Expected, got)
}

// raw is a member of the input as JSON, nil when it has none.
func (k *kase) raw(key string) codecs.Raw {
	v, ok := k.report.Input[key]
	if !ok {
		return nil
	}
	return encode(k.t, v)
}

func (k *kase) body() []byte {
	if s, ok := k.report.Input["body_text"].(string); ok {
		return []byte(s)
	}
	return k.raw("body")
}

// decode reads the one reply body; with results also what follows it.
func (k *kase) decode() obj {
	reply, err := k.codec.Reply(k.body(), k.profile)
	if err != nil {
		return obj{"error": err.Error()}
	}
	got := k.reply(reply)
	if rs := k.raw("results"); rs != nil {
		got[listKey(k.codec.Dialect())] = k.following(reply, rs)
	}
	return got
}

// reply is a decoded reply in the words of the reports.
func (k *kase) reply(r codecs.Reply) obj {
	calls := []any{}
	for _, c := range r.Calls() {
		o := obj{"id": c.ID, "name": c.Name}
		if c.Arguments == nil {
			o["arguments_undecodable"] = true
		} else {
			o["arguments"] = decoded(k.t, c.Arguments)
			var compact bytes.Buffer
			if err := json.Compact(&compact, c.Arguments); err != nil {
				k.t.Fatal(err)
			}
			o["arguments_text"] = compact.String()
		}
		calls = append(calls, o)
	}
	// What the loop makes of the reply tells whether it failed.
	_, err := loop.Once(k.t.Context(), loop.Config{Codec: k.codec, Profile: k.profile, Model: k.model, Sender: one(r.Body), Messages: prompt()})
	return obj{
		"calls": calls, "text": r.Text(), "finish": r.RawFinish, "failed": err != nil,
		"complete": r.Finish != codecs.FinishPause && r.Finish != codecs.FinishLength,
	}
}

// following are the messages that Continue gives.
func (k *kase) following(reply codecs.Reply, rawResults codecs.Raw) any {
	results := k.results(reply, rawResults)
	msgs, _, err := k.codec.Continue(reply, results, k.profile)
	if err != nil {
		k.t.Fatalf("continue: %v", err)
	}
	return decoded(k.t, jsonx.List(msgs...))
}

// results reads neutral results; "@0" is the first call of the reply.
func (k *kase) results(reply codecs.Reply, raw codecs.Raw) []codecs.ToolResult {
	if raw == nil {
		return nil
	}
	results, err := neutral.Results(raw)
	if err != nil {
		k.t.Fatal(err)
	}
	for i, r := range results {
		var pos int
		if n, _ := fmt.Sscanf(r.ID, "@%d", &pos); n == 1 && pos < len(reply.Calls()) {
			results[i].Pos, results[i].ID = &pos, ""
		}
	}
	return results
}

// listKey names the conversation in a dialect's request.
func listKey(d codecs.Dialect) string {
	switch d {
	case codecs.Gemini:
		return "contents"
	case codecs.Responses:
		return "input"
	}
	return "messages"
}

func (k *kase) echo() obj {
	key := listKey(k.codec.Dialect())
	switch {
	case k.report.Input["history_calls"] != nil:
		return k.request(codecs.Request{Messages: k.neutralHistory()})
	case k.report.Input["history"] != nil:
		return k.request(codecs.Request{Messages: k.foreign()})
	case k.report.Input["history_bodies"] != nil:
		return k.turns()
	}
	reply, err := k.codec.Reply(k.body(), k.profile)
	if err != nil {
		k.t.Fatal(err)
	}
	got := k.reply(reply)
	results := k.results(reply, k.raw("results"))
	msgs, _, err := k.codec.Continue(reply, results, k.profile)
	if err != nil {
		k.t.Fatalf("continue: %v", err)
	}
	got[key] = decoded(k.t, jsonx.List(msgs...))
	if n, ok := k.report.Input["repeat"].(json.Number); ok {
		times, _ := n.Int64()
		same := true
		for range times {
			again, _, err := k.codec.Continue(reply, results, k.profile)
			same = same && err == nil && bytes.Equal(jsonx.List(again...), jsonx.List(msgs...))
		}
		got["byte_identical_over_repeats"] = same
	}
	return got
}

// turns plays several replies with their results, then the next prompt.
func (k *kase) turns() obj {
	results, _ := k.report.Input["results"].([]any)
	var native []codecs.Raw
	for i, b := range k.report.Input["history_bodies"].([]any) {
		reply, err := k.codec.Reply(encode(k.t, b), k.profile)
		if err != nil {
			k.t.Fatal(err)
		}
		var rs codecs.Raw
		if i < len(results) {
			rs = encode(k.t, results[i])
		}
		msgs, _, err := k.codec.Continue(reply, k.results(reply, rs), k.profile)
		if err != nil {
			k.t.Fatal(err)
		}
		native = append(native, msgs...)
	}
	req := codecs.Request{Messages: append(prompt(), codecs.Message{Role: "assistant", Native: native})}
	if next, ok := k.report.Input["next_user"].(string); ok {
		req.Messages = append(req.Messages, user(next))
	}
	got := k.request(req)
	key := listKey(k.codec.Dialect())
	list := got[key].([]any)
	roles := []any{}
	for _, m := range list {
		roles = append(roles, m.(obj)["role"])
	}
	got["roles"], got[key] = roles, list[1:] // the prompt is ours
	return got
}

// neutralHistory is an assistant turn with the given calls, and their results.
func (k *kase) neutralHistory() []codecs.Message {
	turn := codecs.Message{Role: "assistant"}
	for i, c := range k.report.Input["history_calls"].([]any) {
		o := c.(obj)
		call := codecs.ToolCall{Pos: i, Name: o["name"].(string)}
		call.ID, _ = o["id"].(string)
		if text, ok := o["arguments_raw"].(string); ok {
			wire.ReadArgumentsText(&call, text, "")
		} else {
			wire.ReadArguments(&call, jsonx.Of(encode(k.t, o["arguments"])), "")
		}
		turn.Parts = append(turn.Parts, codecs.Part{Kind: codecs.KindCall, Call: &call})
	}
	out := []codecs.Message{turn}
	if rs := k.raw("results"); rs != nil {
		out = append(out, k.resultMessage(k.results(codecs.Reply{Parts: turn.Parts}, rs)))
	}
	return out
}

func (k *kase) resultMessage(results []codecs.ToolResult) codecs.Message {
	m := codecs.Message{Role: "tool"}
	for _, r := range results {
		m.Parts = append(m.Parts, codecs.Part{Kind: codecs.KindResult, Result: &r})
	}
	return m
}

// foreign reads a history in the form of chat completions.
func (k *kase) foreign() []codecs.Message {
	history, _ := k.report.Input["history"].([]any)
	if n, ok := k.report.Input["keep_last"].(json.Number); ok {
		keep, _ := n.Int64()
		history = history[len(history)-int(keep):]
	}
	var f jsonx.Fields
	body := f.Str("model", k.model).Set("messages", encode(k.t, history)).Raw()
	req, _, err := openai.Codec{}.ParseRequest(codecs.Post("/v1/chat/completions", body), codecs.Profile{})
	if err != nil {
		k.t.Fatal(err)
	}
	return req.Messages
}

// request encodes a request and gives its body, the conversation apart.
func (k *kase) request(req codecs.Request) obj {
	req.Model = k.model
	body, warnings, err := k.codec.Request(req, k.profile)
	if err != nil {
		return obj{"error": err.Error(), "outcome": "error_or_left_out"}
	}
	v := decoded(k.t, body).(obj)
	key := listKey(k.codec.Dialect())
	got := obj{"body": v, key: v[key], "warnings": json.Number(fmt.Sprint(len(warnings)))}
	for _, w := range warnings {
		if w.Code == codecs.WarnCallDropped {
			got["outcome"] = "error_or_left_out"
		}
	}
	return got
}

func (k *kase) encode() obj {
	switch {
	case k.report.Input["history_calls"] != nil:
		return k.request(codecs.Request{Messages: append(prompt(), k.neutralHistory()...)})
	case k.report.Input["history"] != nil:
		return k.request(codecs.Request{Messages: k.foreign()})
	case k.report.Input["results"] != nil:
		return k.encodeResults()
	}
	req := codecs.Request{Messages: prompt()}
	tools, _, err := wire.ParseTools(k.raw("tools"))
	if err != nil {
		k.t.Fatal(err)
	}
	req.Tools = tools
	if c := k.raw("tool_choice"); c != nil {
		req.Choice = wire.ParseChoice(c)
	}
	for _, s := range jsonx.Of(k.raw("server_tools")).Items() {
		req.ServerTools = append(req.ServerTools, s.Raw())
	}
	return k.request(req)
}

// encodeResults encodes the results to an invented turn, in both ways that a
// client has: after a reply, and from a neutral history.
func (k *kase) encodeResults() obj {
	results := k.results(codecs.Reply{}, k.raw("results"))
	turn := codecs.Message{Role: "assistant"}
	for i := range results {
		results[i].Pos = &i
		call := codecs.ToolCall{Pos: i, ID: results[i].ID, Name: results[i].Name, Arguments: codecs.Raw("{}"), ArgumentsText: "{}"}
		turn.Parts = append(turn.Parts, codecs.Part{Kind: codecs.KindCall, Call: &call})
	}
	key := listKey(k.codec.Dialect())
	history := append(prompt(), turn, k.resultMessage(results))
	before := k.request(codecs.Request{Messages: append(prompt(), turn)})[key].([]any)
	extra, more := k.report.Input["extra_user_text"].(string)
	if more {
		history = append(history, user(extra))
	}
	got := k.request(codecs.Request{Messages: history})
	list := got[key].([]any)
	got[key] = list[len(before):]
	k.counts(got, key)
	if more {
		return got
	}
	body, _, err := k.codec.RenderReply(codecs.Reply{Parts: turn.Parts, Model: k.model, Finish: codecs.FinishToolCalls}, k.profile, codecs.Likeness{})
	if err != nil {
		k.t.Fatal(err)
	}
	reply, err := k.codec.Reply(body, k.profile)
	if err != nil {
		k.t.Fatal(err)
	}
	alone, _, err := k.codec.Continue(reply, nil, k.profile)
	if err != nil {
		k.t.Fatal(err)
	}
	msgs, _, err := k.codec.Continue(reply, results, k.profile)
	if err != nil {
		k.t.Fatal(err)
	}
	continued := obj{key: decoded(k.t, jsonx.List(msgs[len(alone):]...))}
	k.counts(continued, key)
	for _, d := range match(k.report.Expected, continued) {
		k.t.Log("after a reply: " + d)
		got = continued // the one that does not match is the one to show
	}
	return got
}

// counts adds what some reports say about the list as a whole.
func (k *kase) counts(got obj, key string) {
	list, _ := got[key].([]any)
	if len(list) > 0 {
		parts, _ := list[0].(obj)["parts"].([]any)
		got["parts_count"] = json.Number(fmt.Sprint(len(parts)))
	}
	want, _ := k.report.Expected.(obj)
	absent, _ := want["not_contains"].([]any)
	left := []any{}
	text := string(encode(k.t, got[key]))
	for _, a := range absent {
		if !strings.Contains(text, fmt.Sprint(a)) {
			left = append(left, a)
		}
	}
	got["not_contains"] = left
}

// wireName is what the APIs of the chat dialects take as the name of a tool.
var wireName = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func one(body []byte) loop.Sender { return &sender{bodies: [][]byte{body}} }

// sender answers with its bodies in turn.
type sender struct{ bodies [][]byte }

func (s *sender) Send(context.Context, loop.Call) (*loop.Response, error) {
	if len(s.bodies) == 0 {
		return nil, fmt.Errorf("no further reply")
	}
	b := s.bodies[0]
	s.bodies = s.bodies[1:]
	return &loop.Response{Status: 200, Body: io.NopCloser(bytes.NewReader(b))}, nil
}

func user(text string) codecs.Message {
	return codecs.Message{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: text}}}
}

func prompt() []codecs.Message { return []codecs.Message{user("Go on.")} }

type fataler interface {
	Helper()
	Fatal(...any)
}

func encode(t fataler, v any) codecs.Raw {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

func decoded(t fataler, raw []byte) any {
	t.Helper()
	v, err := decodeJSON(raw)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
