package responses

import (
	"errors"
	"fmt"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// The finish table. Langertha 0.503 facts 2.4 and the rows named.
func TestFinish(t *testing.T) {
	const (
		text   = `{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Lit."}]}`
		cutMsg = `{"type":"message","role":"assistant","status":"incomplete","content":[{"type":"output_text","text":"Li"}]}`
		call   = `{"type":"function_call","call_id":"c","name":"ring","arguments":"{}","status":"completed"}`
		cut    = `{"type":"function_call","call_id":"c","name":"ring","arguments":"{\"a","status":"completed"}`
		think  = `{"type":"reasoning","id":"rs","summary":[]}`
	)
	for _, tc := range []struct{ status, reason, output, finish, raw string }{
		{"completed", "", text, codecs.FinishStop, "completed"},
		{"completed", "", text + "," + call, codecs.FinishToolCalls, "completed"},         // TC22
		{"completed", "", call, codecs.FinishToolCalls, "completed"},                      // TU06
		{"completed", "", "", "", "completed"},                                            // TU08
		{"incomplete", "max_output_tokens", "", codecs.FinishLength, "max_output_tokens"}, // TU07
		{"incomplete", "max_tokens", think, codecs.FinishLength, "max_tokens"},
		{"incomplete", "max_output_tokens", cut, codecs.FinishLength, "max_output_tokens"},                 // TU04
		{"incomplete", "max_output_tokens", text + "," + cut, codecs.FinishToolCalls, "max_output_tokens"}, // TU20
		{"incomplete", "max_output_tokens", cutMsg + "," + cut, codecs.FinishLength, "max_output_tokens"},
		{"incomplete", "content_filter", call, codecs.FinishContentFilter, "content_filter"}, // against TU05
		{"incomplete", "content_filter", cutMsg, codecs.FinishContentFilter, "content_filter"},
		{"incomplete", "", cutMsg, codecs.FinishLength, "incomplete"},
		{"incomplete", "steered", text, "", "steered"},
		{"", "", text, codecs.FinishStop, "completed"},
		{"", "", call, codecs.FinishToolCalls, ""},
		{"queued", "", "", "", "queued"},
		{"cancelled", "", text, codecs.FinishError, "cancelled"},
		{"requires_action", "", call, codecs.FinishToolCalls, "requires_action"},
	} {
		body := fmt.Sprintf(`{"status":%q,"incomplete_details":{"reason":%q},"output":[%s]}`, tc.status, tc.reason, tc.output)
		r, err := Codec{}.Reply([]byte(body), codecs.Profile{})
		if err != nil {
			t.Errorf("%s: %v", body, err)
			continue
		}
		if r.Finish != tc.finish || r.RawFinish != tc.raw {
			t.Errorf("%s: finish %q raw %q, want %q %q", body, r.Finish, r.RawFinish, tc.finish, tc.raw)
		}
		for _, c := range r.Calls() {
			if c.Cut != (c.ArgumentsErr != "") {
				t.Errorf("%s: Cut is %v", body, c.Cut)
			}
		}
	}
}

// Who answers an item. Langertha 0.503 facts 1.6, TC23 to TC25, and deviation 34.
func TestItemKinds(t *testing.T) {
	for item, want := range map[string]codecs.Kind{
		`{"type":"x_search_call"}`:                                              codecs.KindServer,
		`{"type":"tool_search_call"}`:                                           codecs.KindServer,
		`{"type":"tool_search_call","execution":"client"}`:                      codecs.KindClient,
		`{"type":"shell_call","environment":{"type":"container_reference"}}`:    codecs.KindServer,
		`{"type":"shell_call","environment":{"type":"local"},"call_id":"done"}`: codecs.KindClient,
		`{"type":"shell_call","call_id":"done"}`:                                codecs.KindServer,
		`{"type":"shell_call","call_id":"open"}`:                                codecs.KindClient,
		`{"type":"custom_tool_call","name":"sum"}`:                              codecs.KindClient,
		`{"type":"custom_tool_call","name":"x_semantic_search"}`:                codecs.KindServer,
		`{"type":"custom_tool_call","name":"view_image"}`:                       codecs.KindClient,
		`{"type":"custom_tool_call","call_id":"xs_call_0","name":"sum"}`:        codecs.KindServer,
		`{"type":"computer_call"}`:                                              codecs.KindClient,
		`{"type":"local_shell_call"}`:                                           codecs.KindClient,
		`{"type":"apply_patch_call"}`:                                           codecs.KindClient,
		`{"type":"mcp_approval_request"}`:                                       codecs.KindClient,
		`{"type":"compaction","id":"c"}`:                                        codecs.KindOpaque,
		`{"type":"harbour:receipt"}`:                                            codecs.KindOpaque,
	} {
		if got := itemKind(jsonx.Of([]byte(item)), map[string]bool{"done": true}, codecs.Profile{ServerCalls: []string{"x_semantic_search"}}); got != want {
			t.Errorf("%s: %s, want %s", item, got, want)
		}
	}
}

// Thinking between tags takes the place of native reasoning text; the item
// keeps it. Langertha 0.503 facts 2.7.
func TestTagsOverrideNative(t *testing.T) {
	body := `{"status":"completed","output":[{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"native"}]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"<think>tagged</think>Lit."}]}]}`
	r, err := Codec{}.Reply([]byte(body), codecs.Profile{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Reasoning() != "tagged" || r.Text() != "Lit." {
		t.Errorf("reasoning %q, text %q", r.Reasoning(), r.Text())
	}
	if got := jsonx.Of(r.Parts[0].Extra).Get("summary").At(0).Get("text").Str(); got != "native" {
		t.Errorf("the reasoning item lost its summary: %s", r.Parts[0].Extra)
	}
}

// Results of a history find their calls by ordinal, id or order.
func TestRequestPairsResults(t *testing.T) {
	call := func(pos int, id string) codecs.Part {
		return codecs.Part{Kind: codecs.KindCall, Call: &codecs.ToolCall{Pos: pos, ID: id, Name: "ring", ArgumentsText: "{}", Arguments: codecs.Raw("{}")}}
	}
	result := func(pos int, id string) codecs.Part {
		r := codecs.ToolResult{ID: id, Name: "ring"}
		if pos >= 0 {
			r.Pos = &pos
		}
		return codecs.Part{Kind: codecs.KindResult, Result: &r}
	}
	ids := func(parts ...codecs.Part) (calls, results []string, err error) {
		var turn, answers []codecs.Part
		for _, p := range parts {
			if p.Kind == codecs.KindCall {
				turn = append(turn, p)
			} else {
				answers = append(answers, p)
			}
		}
		body, _, err := Codec{}.Request(codecs.Request{Messages: []codecs.Message{{Role: "assistant", Parts: turn}, {Role: "tool", Parts: answers}}}, codecs.Profile{})
		for _, item := range jsonx.Of(body).Get("input").Items() {
			if item.Get("type").Str() == "function_call" {
				calls = append(calls, item.Get("call_id").Str())
			} else {
				results = append(results, item.Get("call_id").Str())
			}
		}
		return calls, results, err
	}
	for name, tc := range map[string]struct {
		parts []codecs.Part
		want  [2]int // which call each result answers
	}{
		"by ordinal":           {[]codecs.Part{call(0, ""), call(1, ""), result(1, ""), result(0, "")}, [2]int{1, 0}},
		"by ordinal with gaps": {[]codecs.Part{call(2, ""), call(5, ""), result(5, ""), result(2, "")}, [2]int{1, 0}},
		"by id":                {[]codecs.Part{call(0, "a"), call(1, "b"), result(-1, "b"), result(-1, "a")}, [2]int{1, 0}},
		"in order":             {[]codecs.Part{call(0, ""), call(1, ""), result(-1, ""), result(-1, "")}, [2]int{0, 1}},
		"the result's own id":  {[]codecs.Part{call(0, ""), call(1, "b"), result(0, "x"), result(1, "b")}, [2]int{0, 1}},
	} {
		calls, results, err := ids(tc.parts...)
		if err != nil || len(calls) != 2 || len(results) != 2 || calls[0] == calls[1] {
			t.Errorf("%s: calls %v, results %v, %v", name, calls, results, err)
			continue
		}
		for i, at := range tc.want {
			if results[i] != calls[at] || results[i] == "" {
				t.Errorf("%s: result %d has id %q, its call %q", name, i, results[i], calls[at])
			}
		}
	}
	if _, _, err := ids(result(0, "")); !errors.Is(err, codecs.ErrNoCall) {
		t.Errorf("a lone result without an id: %v", err)
	}
}

// Broken values built by hand are errors, not panics.
func TestBrokenParts(t *testing.T) {
	for _, kind := range []codecs.Kind{codecs.KindCall, codecs.KindResult, codecs.KindMedia, ""} {
		for _, role := range []string{"user", "assistant", "tool", "system", ""} {
			part := codecs.Part{Kind: kind}
			_, warnings, err := Codec{}.Request(codecs.Request{Messages: []codecs.Message{{Role: role, Parts: []codecs.Part{part}}}}, codecs.Profile{})
			if err == nil && len(warnings) == 0 {
				t.Errorf("%q part of role %q: neither error nor warning", kind, role)
			}
			if _, warnings, err = (Codec{}).RenderReply(codecs.Reply{Parts: []codecs.Part{part}}, codecs.Profile{}, codecs.Likeness{}); err == nil && len(warnings) == 0 {
				t.Errorf("%q part in a reply: neither error nor warning", kind)
			}
		}
	}
	if _, _, err := (Codec{}).Continue(codecs.Reply{Body: codecs.Raw("{")}, nil, codecs.Profile{}); err == nil {
		t.Error("a body that is no JSON: no error")
	}
}
