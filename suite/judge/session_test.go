package judge

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/suite/results"
)

// TestCutAfterPause: a turn that the engine paused is carried on; of the calls
// behind it one is cut and rightly dropped. An error status between them is no
// turn.
func TestCutAfterPause(t *testing.T) {
	for _, broken := range []bool{false, true} {
		for _, want := range []*Expectation{nil, {Prompt: []codecs.Message{user("What is the tide?")}}} {
			whole, cut := call("c1", "tide", oban), call("c2", "wind", `{"port":"Ob`)
			c := newChat(t, "anthropic").replyAs(codecs.Reply{Finish: codecs.FinishPause, Parts: some{text("I look.")}}).say(parts(text("I look.")))
			if broken {
				x := c.exchange()
				x.Answered, x.Failure = true, &codecs.ProviderError{Status: 529, Kind: codecs.ErrOverload}
				c.seen.Exchanges = append(c.seen.Exchanges, x)
			}
			c.replyAs(codecs.Reply{Finish: codecs.FinishLength, Parts: some{whole, cut}})
			c.past = c.past[:len(c.past)-1]
			seen := c.say(parts(text("I look."), whole), answers(result("c1", "tide", block("2 m")))).ran("tide", oban, block("2 m")).done()
			seen.End = &End{Text: "Ebb."}
			judged := map[string]results.Verdict{}
			for _, k := range Judge(seen, want) {
				judged[k.ID] = k.Verdict
				if k.Verdict != results.Pass {
					t.Errorf("status between %v, expectation %v: %+v", broken, want != nil, k)
				}
			}
			for _, id := range []string{"echo.calls", "echo.text", "truncation.no_dangling", "truncation.not_run", "results.content"} {
				if judged[id] != results.Pass {
					t.Errorf("status between %v, expectation %v: %s was not judged", broken, want != nil, id)
				}
			}
		}
	}
}

// TestPausedTextLost: what a paused reply said belongs to the turn that its
// continuation ends with calls.
func TestPausedTextLost(t *testing.T) {
	for _, want := range []*Expectation{nil, {Prompt: []codecs.Message{user("What is the tide?")}}} {
		c := newChat(t, "anthropic").replyAs(codecs.Reply{Finish: codecs.FinishPause, Parts: some{text("I look.")}}).say(parts(text("I look.")))
		c.reply(text("There."), call("c1", "tide", oban))
		c.past = c.past[:1]
		seen := c.say(parts(text("I look."), call("c1", "tide", oban)), answers(result("c1", "tide", block("2 m")))).done()
		found := false
		for _, k := range Judge(seen, want) {
			found = found || k.ID == "echo.text" && k.Verdict == results.Fail && strings.Contains(k.Evidence, "I look.There.")
		}
		if !found {
			t.Errorf("expectation %v: the lost text is not found", want != nil)
		}
	}
}

// live is an ordinary conversation on the wire: the first request holds an
// earlier turn, the first answer is a call, the second a text.
func live(t *testing.T, c codecs.Full, stream bool) (requests []codecs.In, replies []codecs.Answer) {
	t.Helper()
	p := codecs.Profile{}
	past := []codecs.Message{user("Hi."), parts(call("toolu_000000001", "tide", oban)), answers(result("toolu_000000001", "tide", block("2 m"))), parts(text("Ebb.")), user("And now?")}
	tools := newChat(t, string(c.Dialect())).tools
	send := func(native ...codecs.Raw) {
		messages := past
		if len(native) > 0 {
			messages = append(append([]codecs.Message(nil), past...), codecs.Message{Native: native})
		}
		body, _, err := c.Request(codecs.Request{Model: "m", Messages: messages, Tools: tools, Stream: stream, MaxTokens: 100}, p)
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, codecs.Post(c.Endpoint("m", stream), body))
	}
	send()
	body, _, err := c.RenderReply(codecs.Reply{ID: "r1", Model: "m", Finish: codecs.FinishToolCalls, Parts: some{text("I look."), call("toolu_000000002", "tide", oban)}}, p, codecs.Likeness{})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := c.Reply(body, p)
	if err != nil {
		t.Fatal(err)
	}
	next, _, err := c.Continue(reply, []codecs.ToolResult{result(reply.Calls()[0].ID, "tide", block("3 m"))}, p)
	if err != nil {
		t.Fatal(err)
	}
	send(next...)
	last, _, err := c.RenderReply(codecs.Reply{ID: "r2", Model: "m", Finish: codecs.FinishStop, Parts: some{text("Flood.")}}, p, codecs.Likeness{})
	if err != nil {
		t.Fatal(err)
	}
	header := map[string][]string{"Content-Type": {"application/json"}}
	if stream {
		header["Content-Type"] = []string{"text/event-stream"}
		// The least that each wire takes for a whole stream.
		form := map[codecs.Dialect]string{
			codecs.Ollama:    "%s\n",
			codecs.Anthropic: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":%s}\n\nevent: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
			codecs.Responses: "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":%s}\n\n",
		}[c.Dialect()]
		if form == "" {
			form = "data: %s\n\n"
		}
		body, last = fmt.Appendf(nil, form, body), fmt.Appendf(nil, form, last)
	}
	return requests, []codecs.Answer{{Status: 200, Header: header, Body: body}, {Status: 200, Header: header, Body: last}}
}

// TestLiveConversation: an ordinary conversation of which nothing is expected
// raises nothing, streamed or not; and the judge has looked.
func TestLiveConversation(t *testing.T) {
	for _, c := range all.Codecs() {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream %v", c.Dialect(), stream), func(t *testing.T) {
				requests, replies := live(t, c, stream)
				s := Session{Codec: c}
				for i := range requests {
					for _, k := range append(s.Request(requests[i]), s.Reply(replies[i])...) {
						t.Errorf("%+v", k)
					}
				}
				for _, k := range s.End(End{Text: "Flood."}) {
					t.Errorf("%+v", k)
				}
				have := map[string]bool{}
				for _, k := range s.Findings() {
					have[k.ID] = k.Verdict == results.Pass
				}
				must := []string{"request.reads", "tools.declared", "results.pairing", "results.adjacent"}
				must = append(must, "echo.calls", "echo.arguments_verbatim", "echo.text", "reply.decodes")
				for _, id := range must {
					if !have[id] {
						t.Errorf("%s was not judged", id)
					}
				}
				s.Request(requests[0]) // asked again: another branch
				if s.Reply(replies[0]); !s.Exchange().Accepted() {
					t.Error("the answer was taken for a refusal")
				}
			})
		}
	}
}

// TestLiveFaults: the judge says before the answer what is wrong with a request,
// also where nothing is expected.
func TestLiveFaults(t *testing.T) {
	c := codec(t, "openai")
	requests, replies := live(t, c, false)
	for _, f := range []struct{ rule, old, into string }{ // the last one of old
		{"results.pairing", `"tool_call_id":"toolu_000000002"`, `"tool_call_id":"nobody"`},
		{"echo.arguments_verbatim", `Oban`, `Oben`},
		{"echo.text", `I look.`, `I see.`},
		{"results.adjacent", `{"role":"tool",`, `{"role":"user","content":"Wait."},{"role":"tool",`},
		{"request.reads", `"messages":[`, `"messages":1,"more":[`},
	} {
		s := Session{Codec: c}
		s.Request(requests[0])
		s.Reply(replies[0])
		in := requests[1]
		body := string(in.Body)
		at := strings.LastIndex(body, f.old)
		if at < 0 {
			t.Fatalf("%s: no %s in %s", f.rule, f.old, body)
		}
		body = body[:at] + f.into + body[at+len(f.old):]
		in.Body = []byte(body)
		found := false
		for _, k := range s.Request(in) {
			found = found || k.ID == f.rule
		}
		if !found {
			t.Errorf("%s is not found in %s", f.rule, body)
		}
	}
}

// TestWatchedSession: calls that are told one by one, as a server sees them, come
// to what the whole conversation comes to.
func TestWatchedSession(t *testing.T) {
	c := codec(t, "openai")
	requests, replies := live(t, c, false)
	for _, ran := range []Executed{
		{Server: "s", Name: "tide", Arguments: codecs.Raw(oban), Result: codecs.ToolResult{Content: []codecs.Raw{block("3 m")}}},
		{Server: "s", Name: "tide", Arguments: codecs.Raw(oban), Result: codecs.ToolResult{Content: []codecs.Raw{block("4 m")}}},
	} {
		s := Session{Codec: c, Watched: true}
		whole := Observed{Watched: true, Executed: []Executed{ran}, End: &End{Text: "Flood."}}
		for i := range requests {
			s.Request(requests[i])
			s.Reply(replies[i])
			if i == 0 {
				s.Executed(ran)
			}
			whole.Exchanges = append(whole.Exchanges, Read(c, codecs.Profile{}, requests[i], &replies[i]))
		}
		s.End(*whole.End)
		want := Judge(whole, nil)
		if d := cmp.Diff(want, s.Findings()); d != "" {
			t.Error(d)
		}
		at := slices.IndexFunc(want, func(k results.Check) bool { return k.ID == "results.content" })
		if kept := strings.Contains(string(ran.Result.Content[0]), "3 m"); at < 0 || (want[at].Verdict == results.Pass) != kept {
			t.Errorf("results.content: %+v", want)
		}
	}
}

// TestOtherBranches: what a request carries on from is held against it, and
// nothing else: neither another answer to the same request, nor a conversation
// that is not its own, nor a history that was cut or rewritten.
func TestOtherBranches(t *testing.T) {
	a, b := call("c1", "tide", oban), call("c2", "tide", `{"port":"Mull"}`)
	next := func(c *chat, p codecs.Part, id string) Observed {
		return c.say(parts(p), answers(result(id, "tide", block("2 m")))).done()
	}
	rewritten := newChat(t, "openai").reply(a, text("I look."))
	rewritten.past = []codecs.Message{user("Something else."), parts(b), answers(result("c2", "tide", block("2 m"))), user("Go on.")}
	for name, seen := range map[string]Observed{
		"asked twice, the first answer": next(newChat(t, "openai").reply(a).reply(b), a, "c1"),
		"asked twice, the second":       next(newChat(t, "openai").reply(a).reply(b), b, "c2"),
		"another conversation":          rewritten.done(),
	} {
		for _, k := range Judge(seen, nil) {
			if k.Verdict == results.Fail {
				t.Errorf("%s: %+v", name, k)
			}
		}
	}
}

// TestRecordedConversation judges a foreign conversation, as it was recorded, by
// the code that judges a cell.
func TestRecordedConversation(t *testing.T) {
	const dir = "../../../shared/recordings/"
	for _, name := range []string{
		"openai/deepseek/rig__agent_tool_sessions__parallel_tool_calls_single_turn_nonstreaming.json",
		"gemini/gemini/rig__agent_run_stepping__hand_driven_parallel_tool_calls_arrive_in_one_step.json",
	} {
		data, err := os.ReadFile(dir + name)
		if err != nil {
			t.Skip("no recordings here")
		}
		var doc struct {
			Dialect   string
			Exchanges []struct {
				Request struct {
					Method, URL string
					Body        json.RawMessage
				}
				Response struct {
					Status int
					Body   json.RawMessage
				}
			}
		}
		if err := json.Unmarshal(data, &doc); err != nil {
			t.Fatal(err)
		}
		var seen Observed
		for _, x := range doc.Exchanges {
			in := codecs.Post(x.Request.URL, x.Request.Body)
			seen.Exchanges = append(seen.Exchanges, Read(codec(t, doc.Dialect), codecs.Profile{}, in, &codecs.Answer{Status: x.Response.Status, Body: x.Response.Body}))
		}
		judged := 0
		for _, k := range Judge(seen, nil) {
			if k.ID == "echo.calls" || k.ID == "results.pairing" {
				judged++
			}
			if k.Verdict == results.Fail && k.Level == results.Must {
				t.Errorf("%s: %+v", name, k)
			}
		}
		if judged != 2 {
			t.Errorf("%s: its calls and results were not judged", name)
		}
	}
}

// FuzzSession reads and judges what anybody sends and answers: no input brings
// the judge down.
func FuzzSession(f *testing.F) {
	for i, c := range all.Codecs() {
		f.Add(byte(i), []byte(`{"model":"m","messages":[{"role":"assistant","tool_calls":[{}]},{"role":"tool"}],"contents":[{"role":"model","parts":[{"functionCall":{}}]}],"input":[{"type":"function_call_output"}]}`), []byte(`{"choices":[{"message":{"tool_calls":[{"function":{"name":"a"}}]}}]}`), []byte(`{}`))
		t := &testing.T{}
		requests, replies := live(t, c, false)
		f.Add(byte(i), requests[0].Body, replies[0].Body, requests[1].Body)
	}
	f.Fuzz(func(t *testing.T, which byte, first, answer, second []byte) {
		c := all.Codecs()[int(which)%len(all.Codecs())]
		p := codecs.Profile{ReasoningEcho: []string{"", codecs.EchoRequiredEvenEmpty, codecs.EchoRefused}[int(which)%3]}
		in := func(body []byte) codecs.In { return codecs.Post(c.Endpoint("m", false), body) }
		out := &codecs.Answer{Status: 200, Body: answer}
		seen := Observed{Watched: which&1 == 0, End: &End{}, Exchanges: []Exchange{
			Read(c, p, in(first), out), Read(c, p, in(second), out), Read(c, p, in(first), nil),
		}}
		for _, call := range seen.Exchanges[0].Reply.Calls() {
			seen.Executed = append(seen.Executed, Executed{Name: call.Name, Arguments: call.Arguments, Result: codecs.ToolResult{Content: []codecs.Raw{first}}})
		}
		want := &Expectation{Prompt: seen.Exchanges[0].Request.Messages, Tools: seen.Exchanges[0].Request.Tools, Choice: codecs.Choice{Mode: codecs.ChoiceAny}}
		for _, e := range []*Expectation{nil, want, {}} {
			s := Over(seen, e)
			s.CutCall()
			for _, k := range s.Findings() {
				if k.Verdict == "" || k.Level == "" || k.Side == "" {
					t.Errorf("half a finding: %+v", k)
				}
			}
		}
	})
}
