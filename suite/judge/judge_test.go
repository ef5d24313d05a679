package judge

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite/results"
)

// row is one observation, and what a check says of it.
type row struct {
	rule, name string
	seen       Observed
	want       *Expectation
	verdict    results.Verdict // "" has nothing to judge
	level      results.Level   // where it is not the rule's
}

// rows are the tables of the areas.
func rows(t *testing.T) []row {
	t.Helper()
	return slices.Concat(requestRows(t), promptRows(t), toolRows(t), echoRows(t), reasoningRows(t), pairingRows(t), resultRows(t), truncationRows(t), replyRows(t), endRows(t))
}

func TestChecks(t *testing.T) {
	for _, r := range rows(t) {
		t.Run(r.rule+" "+r.name, func(t *testing.T) {
			all := Judge(r.seen, r.want)
			at := slices.IndexFunc(all, func(k results.Check) bool { return k.ID == r.rule })
			if at < 0 {
				if r.verdict != "" {
					t.Fatalf("nothing judged; seen %+v", all)
				}
				return
			}
			rule, _ := RuleByID(r.rule)
			level := r.level
			if level == "" {
				level = results.Level(rule.Level)
			}
			if k := all[at]; k.Verdict != r.verdict || k.Verdict == results.Fail && (k.Level != level || k.Evidence == "") {
				t.Errorf("got %+v, want %q at %s", k, r.verdict, level)
			}
		})
	}
}

// TestEveryCheckPassesAndFails holds each rule to one table entry of each kind,
// and each check to a rule of the list.
func TestEveryCheckPassesAndFails(t *testing.T) {
	have := map[string]bool{}
	for _, r := range rows(t) {
		have[r.rule+" "+string(r.verdict)] = true
	}
	for _, k := range checks() {
		if _, ok := fixtures.RuleByID(k.rule); !ok {
			t.Errorf("%s is no rule", k.rule)
		}
		for _, v := range []results.Verdict{results.Pass, results.Fail} {
			if !have[k.rule+" "+string(v)] {
				t.Errorf("no table has %s with %s", k.rule, v)
			}
		}
	}
}

// codec finds a codec, so that the tables name dialects as data does.
func codec(t *testing.T, name string) codecs.Full {
	t.Helper()
	c, err := all.For(codecs.Dialect(name))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// chat is a conversation in neutral form.
type chat struct {
	codec   codecs.Full
	profile codecs.Profile
	body    string // of each request, for the checks that read it
	tools   []codecs.Tool
	limit   int
	past    []codecs.Message
	seen    Observed
}

func newChat(t *testing.T, dialect string) *chat {
	t.Helper()
	return &chat{
		codec: codec(t, dialect), past: []codecs.Message{user("What is the tide?")},
		tools: []codecs.Tool{{Name: "tide", InputSchema: codecs.Raw(`{"type":"object","properties":{"port":{"type":"string"}},"required":["port"]}`)}},
	}
}

// reply adds an exchange: what was said so far, and what the model says to it.
func (c *chat) reply(parts ...codecs.Part) *chat { return c.replyAs(codecs.Reply{Parts: parts}) }

func (c *chat) replyAs(r codecs.Reply) *chat {
	x := c.exchange()
	x.Answered, x.Replied, x.Reply = true, true, r
	for i, n := 0, 0; i < len(r.Parts); i++ {
		if call := r.Parts[i].Call; call != nil {
			one := *call
			one.Pos = n
			r.Parts[i].Call = &one
			n++
		}
	}
	c.seen.Exchanges = append(c.seen.Exchanges, x)
	return c
}

func (c *chat) exchange() Exchange {
	return Exchange{
		Codec: c.codec, Profile: c.profile, In: codecs.In{Body: []byte(c.body)},
		Request: codecs.Request{Model: "m", MaxTokens: c.limit, Messages: slices.Clone(c.past), Tools: c.tools},
	}
}

// say adds messages to what the next request holds.
func (c *chat) say(messages ...codecs.Message) *chat { c.past = append(c.past, messages...); return c }

// ran notes a call that reached the tool server, and what that said.
func (c *chat) ran(name, arguments string, content ...codecs.Raw) *chat {
	c.seen.Watched = true
	c.seen.Executed = append(c.seen.Executed, Executed{Server: "s", Name: name, Arguments: codecs.Raw(arguments), Result: codecs.ToolResult{Content: content}})
	return c
}

// watched says that nothing else ran.
func (c *chat) watched() *chat { c.seen.Watched = true; return c }

// done adds a last request, answered with a text.
func (c *chat) done() Observed { return c.reply(text("Ebb.")).seen }

func text(s string) codecs.Part    { return codecs.Part{Kind: codecs.KindText, Text: s} }
func thought(s string) codecs.Part { return codecs.Part{Kind: codecs.KindReasoning, Text: s} }
func user(s string) codecs.Message {
	return codecs.Message{Role: "user", Parts: []codecs.Part{text(s)}}
}
func block(s string) codecs.Raw             { return codecs.TextBlock(s) }
func parts(p ...codecs.Part) codecs.Message { return codecs.Message{Role: "assistant", Parts: p} }

func signed(s, signature string) codecs.Part {
	return codecs.Part{Kind: codecs.KindReasoning, Text: s, Signature: signature}
}

func item(typ, extra string) codecs.Part {
	return codecs.Part{Kind: codecs.KindServer, Type: typ, Extra: codecs.Raw(extra)}
}

// call is a call of a tool; arguments that are no object do not decode.
func call(id, name, arguments string) codecs.Part {
	c := codecs.ToolCall{ID: id, Name: name, ArgumentsText: arguments}
	if strings.HasPrefix(arguments, "{") && strings.HasSuffix(arguments, "}") {
		c.Arguments = codecs.Raw(arguments)
	} else {
		c.ArgumentsErr = "no JSON"
	}
	return codecs.Part{Kind: codecs.KindCall, Call: &c}
}

func answers(results ...codecs.ToolResult) codecs.Message {
	m := codecs.Message{Role: "tool"}
	for _, r := range results {
		m.Parts = append(m.Parts, codecs.Part{Kind: codecs.KindResult, Result: &r})
	}
	return m
}

func result(id, name string, content ...codecs.Raw) codecs.ToolResult {
	return codecs.ToolResult{ID: id, Name: name, Content: content}
}

const oban = `{"port":"Oban"}`

// oneCall is a conversation with a call of tide, echoed as the parts say and
// answered as content says.
func oneCall(t *testing.T, dialect string, said, echo []codecs.Part, content ...codecs.Raw) Observed {
	t.Helper()
	return newChat(t, dialect).reply(said...).say(parts(echo...), answers(result("c1", "tide", content...))).done()
}

// TestAnotherDialect: a rule that hangs on the dialect asks the codec.
func TestLevelsByDialect(t *testing.T) {
	lost := map[string]results.Level{}
	for _, c := range all.Codecs() {
		seen := newChat(t, string(c.Dialect())).reply(thought("Low."), call("c1", "tide", oban)).
			say(parts(call("c1", "tide", oban)), answers(result("c1", "tide", block("2 m")))).done()
		for _, k := range Judge(seen, nil) {
			if k.ID == "echo.reasoning" && k.Verdict == results.Fail {
				lost[string(c.Dialect())] = k.Level
			}
		}
		if _, judged := lost[string(c.Dialect())]; judged != c.Wire().ReasoningEcho {
			t.Errorf("%s: lost reasoning judged: %v, though its wire says %v", c.Dialect(), judged, c.Wire().ReasoningEcho)
		}
	}
	if len(lost) == 0 {
		t.Error(slices.Collect(maps.Keys(lost)))
	}
}
