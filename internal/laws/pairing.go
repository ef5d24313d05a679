package laws

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// turns are calls of one turn, as name and id: what a wire may have sent.
var turns = map[string][][2]string{
	"own ids":        {{"sound", "c1"}, {"ring", "c2"}, {"sound", "c3"}},
	"own names":      {{"sound", "c1"}, {"ring", "c2"}, {"dim", "c3"}},
	"no ids":         {{"sound", ""}, {"ring", ""}, {"sound", ""}},
	"repeated ids":   {{"sound", "x"}, {"ring", "x"}, {"sound", "x"}},
	"some ids":       {{"sound", "c1"}, {"ring", ""}, {"sound", ""}},
	"one name, none": {{"sound", ""}, {"sound", ""}, {"sound", ""}},
}

// tellings are what a result may say of its call.
var tellings = map[string]func(codecs.ToolResult) codecs.ToolResult{
	"all":     func(r codecs.ToolResult) codecs.ToolResult { return r },
	"ordinal": func(r codecs.ToolResult) codecs.ToolResult { r.ID, r.Name = "", ""; return r },
	"id":      func(r codecs.ToolResult) codecs.ToolResult { r.Pos, r.Name = nil, ""; return r },
	"name":    func(r codecs.ToolResult) codecs.ToolResult { r.Pos, r.ID = nil, ""; return r },
	"id and name": func(r codecs.ToolResult) codecs.ToolResult {
		r.Pos = nil
		return r
	},
	"a made id and the name": func(r codecs.ToolResult) codecs.ToolResult {
		r.ID, r.Pos = fmt.Sprintf("made%d", *r.Pos), nil
		return r
	},
	"nothing": func(r codecs.ToolResult) codecs.ToolResult { r.Pos, r.ID, r.Name = nil, "", ""; return r },
	"a name of no call": func(r codecs.ToolResult) codecs.ToolResult {
		r.Pos, r.ID, r.Name = nil, "", "blow"
		return r
	},
	"an id of no call": func(r codecs.ToolResult) codecs.ToolResult { r.Pos, r.ID, r.Name = nil, "zz", ""; return r },
}

// orders are the permutations of three results, and two that leave some out or
// say one twice.
var orders = [][]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}, {2, 0}, {1, 1, 2}}

// Pairing is the law of pairs: whatever the order of the results, and whatever
// ids, names and ordinals they and the calls have, codecs.Turn says which call
// each answers, and that is what stands on the wire: through Request, through
// Continue, and read back. What it cannot pair is an error in both. On the wire
// no two calls have one id, and a result has that of its call.
func Pairing(t *testing.T, s Dialect) {
	for called, calls := range turns {
		for told, tell := range tellings {
			for _, order := range orders {
				name := fmt.Sprintf("%s, %s told, %v", called, told, order)
				s.pairedRequest(t, name, parts(calls), tell, order)
				s.pairedContinue(t, name, calls, tell, order)
			}
		}
	}
}

// parts builds the calls of a turn; the argument n is the ordinal.
func parts(calls [][2]string) []codecs.Part {
	var out []codecs.Part
	for i, c := range calls {
		args := fmt.Sprintf(`{"n":%d}`, i)
		out = append(out, codecs.Part{Kind: codecs.KindCall, Call: &codecs.ToolCall{Pos: i, Name: c[0], ID: c[1], ArgumentsText: args, Arguments: codecs.Raw(args)}})
	}
	return out
}

// told returns the results of calls in an order, each with the text "answer N",
// and what has to stand on the wire: the answers that the calls get, those
// without one left out, or an error.
func told(calls []codecs.ToolCall, tell func(codecs.ToolResult) codecs.ToolResult, order []int) (results []codecs.ToolResult, want []string, err error) {
	for _, i := range order {
		results = append(results, tell(calls[i].Result(codecs.TextBlock(fmt.Sprintf("answer %d", i)))))
	}
	each := make([]string, len(calls))
	answers, errs := codecs.NewTurn(calls).AnswerAll(results)
	for n, at := range answers {
		if errs != nil && errs[n] != nil {
			return results, nil, errs[n]
		}
		each[at] = fmt.Sprintf("answer %d", order[n])
	}
	for _, answer := range each {
		if answer != "" {
			want = append(want, answer)
		}
	}
	return results, want, nil
}

func (s Dialect) pairedRequest(t *testing.T, name string, turn []codecs.Part, tell func(codecs.ToolResult) codecs.ToolResult, order []int) {
	t.Helper()
	text := func(role, words string) codecs.Message {
		return codecs.Message{Role: role, Parts: []codecs.Part{{Kind: codecs.KindText, Text: words}}}
	}
	results, want, bad := told(codecs.Reply{Parts: turn}.Calls(), tell, order)
	together, apart := codecs.Message{Role: "tool"}, []codecs.Message{text("user", "Go."), {Role: "assistant", Parts: turn}}
	for i := range results {
		part := codecs.Part{Kind: codecs.KindResult, Result: &results[i]}
		together.Parts = append(together.Parts, part)
		apart = append(apart, text("user", "well?"), codecs.Message{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: "look:"}, part}})
	}
	for way, messages := range map[string][]codecs.Message{
		"in one message": {apart[0], apart[1], together},
		"apart":          apart,
	} {
		body, _, err := s.Codec.Request(codecs.Request{Model: "m", Messages: messages, MaxTokens: 9}, codecs.Profile{})
		if bad != nil {
			if !unpaired(err) || !strings.Contains(err.Error(), "messages[") {
				t.Errorf("%s, %s: %v, want an error that names the message: %v", name, way, err, bad)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s, %s: %v", name, way, err)
			continue
		}
		req, warnings, err := s.Codec.ParseRequest(codecs.Post(s.Path, body), codecs.Profile{})
		if err != nil || warned(warnings, codecs.WarnRequestForm) || warned(warnings, codecs.WarnResultOrphan) {
			t.Errorf("%s, %s: read back: %v, %v", name, way, err, warnings)
			continue
		}
		s.onWire(t, name+", "+way, req.Messages, want, body)
	}
}

func (s Dialect) pairedContinue(t *testing.T, name string, turn [][2]string, tell func(codecs.ToolResult) codecs.ToolResult, order []int) {
	t.Helper()
	// Every call is rendered with an id of its own, which then becomes the one
	// that it shall have: on some wires "" is how none comes.
	ids := make([][2]string, len(turn))
	for i, c := range turn {
		ids[i] = [2]string{c[0], fmt.Sprintf("id-%d-of-call", i)}
	}
	body, _, err := s.Codec.RenderReply(codecs.Reply{ID: "r", Model: "m", Finish: codecs.FinishToolCalls, Parts: parts(ids)}, codecs.Profile{}, codecs.Likeness{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range turn {
		body = codecs.Raw(strings.ReplaceAll(string(body), ids[i][1], turn[i][1]))
	}
	if s.List == "input" { // an item has an id of its own beside call_id
		body = codecs.Raw(strings.ReplaceAll(string(body), `"id":"fc_`, `"x":"fc_`))
	}
	reply, err := s.Codec.Reply(body, codecs.Profile{})
	if err != nil || len(reply.Calls()) != len(turn) {
		t.Fatalf("%v: %s", err, body)
	}
	results, want, bad := told(reply.Calls(), tell, order)
	msgs, _, err := s.Codec.Continue(reply, results, codecs.Profile{})
	switch {
	case bad != nil && !unpaired(err):
		t.Errorf("%s, continue: %v, want an error: %v", name, err, bad)
	case bad == nil && err != nil:
		t.Errorf("%s, continue: %v", name, err)
	case bad == nil:
		list := (&jsonx.Fields{}).Str("model", "m").Set(s.List, jsonx.List(msgs...)).Raw()
		req, _, err := s.Codec.ParseRequest(codecs.Post(s.Path, list), codecs.Profile{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.onWire(t, name+", continue", req.Messages, want, jsonx.List(msgs...))
	}
}

// onWire compares what a history says with the answers that its calls should
// have, by what the wire itself has: ids, or names and order.
func (s Dialect) onWire(t *testing.T, name string, messages []codecs.Message, want []string, body codecs.Raw) {
	t.Helper()
	var calls []codecs.ToolCall
	var results []codecs.ToolResult
	for _, m := range messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				calls = append(calls, *p.Call)
			case p.Result != nil:
				results = append(results, *p.Result)
			}
		}
	}
	got := make([]string, len(calls))
	seen := map[string]bool{"": true}
	for i, c := range calls {
		if c.ID != "" && seen[c.ID] || c.ID == "" && !s.NoIDs {
			t.Errorf("%s: call %d goes out with the id %q\n%s", name, i, c.ID, body)
		}
		seen[c.ID] = true
	}
	for n, r := range results {
		at := -1
		for i, c := range calls {
			if at < 0 && got[i] == "" && r.ID == c.ID && (c.ID != "" || r.Name == c.Name) {
				at = i
			}
		}
		if at < 0 {
			t.Errorf("%s: the result %d (id %q, name %q) has no call\n%s", name, n, r.ID, r.Name, body)
			return
		}
		got[at] = wire.ResultText(r)
		if r.Pos == nil || *r.Pos != at {
			t.Errorf("%s: the result %d reads back as the answer to %v, it is that to %d\n%s", name, n, r.Pos, at, body)
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: the calls get %q, want %q\n%s", name, got, want, body)
	}
}
