package judge

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/suite/results"
)

type some = []codecs.Part

func echoRows(t *testing.T) []row {
	t.Helper()
	one := some{text("Let me see."), call("c1", "tide", oban)}
	at := func(said, echo some) Observed { return oneCall(t, "openai", said, echo, block("2 m")) }
	in := func(dialect string, said, echo some) Observed { return oneCall(t, dialect, said, echo, block("2 m")) }
	repair := newChat(t, "openai")
	repair.profile.UndecodableEcho = codecs.UndecodableEmpty
	emptied := repair.reply(call("c1", "tide", "Oban")).say(parts(call("c1", "tide", "{}")), answers(result("c1", "tide", block("no JSON")))).done()
	forgets := newChat(t, "openai").reply(one...).done()
	known := &Expectation{Prompt: []codecs.Message{user("What is the tide?")}}
	search := item("web_search_call", `{"type":"web_search_call","id":"w1","status":null}`)
	same := item("web_search_call", `{"id":"w1","type":"web_search_call"}`)
	changed := item("web_search_call", `{"type":"web_search_call","id":"w1","status":"failed"}`)
	picky := newChat(t, "responses")
	picky.profile.EchoItems = []string{"message"}
	c := call("c1", "tide", oban)
	asText := in("anthropic", some{c}, some{c})
	asText.Exchanges[1].Forgiven = []codecs.Warning{{Code: codecs.WarnArgumentsString}}
	own := in("anthropic", some{c}, some{c})
	own.Exchanges[1].Forgiven, own.Exchanges[1].Profile.UndecodableEcho = asText.Exchanges[1].Forgiven, codecs.UndecodableVerbatim
	return []row{
		{rule: "echo.undecodable", name: "an object", seen: in("gemini", some{c}, some{c}), verdict: results.Pass},
		{rule: "echo.undecodable", name: "a text", seen: asText, verdict: results.Fail},
		{rule: "echo.undecodable", name: "a text, where the engine sends it", seen: own},
		{rule: "echo.undecodable", name: "a wire with texts", seen: in("openai", some{c}, some{c})},
		{rule: "echo.calls", name: "there", seen: at(one, one), verdict: results.Pass},
		{rule: "echo.calls", name: "another id", seen: in("openai", some{call("c0", "tide", oban)}, some{c}), verdict: results.Pass},
		{rule: "echo.calls", name: "one of two lost", seen: at(some{c, call("c2", "wind", oban)}, some{c}), verdict: results.Fail},
		{rule: "echo.calls", name: "the turn lost, in a known conversation", seen: forgets, want: known, verdict: results.Fail},
		{rule: "echo.calls", name: "another branch of an unknown one", seen: forgets},
		{rule: "echo.arguments_verbatim", name: "as they came", seen: at(one, one), verdict: results.Pass},
		{rule: "echo.arguments_verbatim", name: "none in two spellings", seen: at(some{call("c1", "tide", "")}, some{call("c1", "tide", "{}")}), verdict: results.Pass},
		{rule: "echo.arguments_verbatim", name: "spelled anew", seen: at(one, some{text("Let me see."), call("c1", "tide", `{"port": "Oban"}`)}), verdict: results.Fail, level: results.Should},
		{rule: "echo.arguments_verbatim", name: "another number", seen: at(some{call("c1", "tide", `{"n":12345678901234567}`)}, some{call("c1", "tide", `{"n":12345678901234568}`)}), verdict: results.Fail},
		{rule: "echo.arguments_verbatim", name: "emptied, as the engine wants it", seen: emptied, verdict: results.Pass},
		{rule: "echo.text", name: "kept", seen: at(one, one), verdict: results.Pass},
		{rule: "echo.text", name: "lost", seen: at(one, some{c}), verdict: results.Fail},
		{rule: "echo.items", name: "kept, written anew", seen: in("responses", some{search, c}, some{same, c}), verdict: results.Pass},
		{rule: "echo.items", name: "changed", seen: in("responses", some{search, c}, some{changed, c}), verdict: results.Fail, level: results.Should},
		{rule: "echo.items", name: "lost", seen: in("responses", some{search, c}, some{c}), verdict: results.Fail, level: results.Should},
		{rule: "echo.items", name: "lost behind its reasoning", seen: in("responses", some{thought("hm"), search, c}, some{thought("hm"), c}), verdict: results.Fail},
		{rule: "echo.items", name: "lost where the engine wants it", seen: in("anthropic", some{search, c}, some{c}), verdict: results.Fail},
		{rule: "echo.items", name: "a wire that has none", seen: at(some{search, c}, some{c})},
		{rule: "echo.items", name: "an engine that takes none", seen: picky.reply(search, c).say(parts(c), answers(result("c1", "tide", block("2 m")))).done()},
	}
}

func reasoningRows(t *testing.T) []row {
	t.Helper()
	c := call("c1", "tide", oban)
	with := func(echo, body string, said, back some) Observed {
		chat := newChat(t, "openai")
		chat.profile.ReasoningEcho, chat.body = echo, body
		return chat.reply(said...).say(parts(back...), answers(result("c1", "tide", block("2 m")))).done()
	}
	in := func(dialect string, said, back some) Observed { return oneCall(t, dialect, said, back, block("2 m")) }
	carried := func(sig string) some {
		p := call("c1", "tide", oban)
		p.Call.Signature = sig
		return some{p}
	}
	const id, sig = "echo.reasoning", "echo.signature"
	lost := some{c}
	kept := some{thought("Low."), c}
	const empty = `{"messages":[{"role":"assistant","tool_calls":[{"id":"c1"}]}]}`
	const there = `{"messages":[{"role":"assistant","tool_calls":[{"id":"c1"}],"reasoning_content":""}]}`
	const off = `{"thinking":{"type":"disabled"},"messages":[{"role":"assistant","tool_calls":[{"id":"c1"}]}]}`
	return []row{
		{rule: id, name: "kept", seen: with(codecs.EchoRequired, "", kept, kept), verdict: results.Pass, level: results.Must},
		{rule: id, name: "lost where it is required", seen: with(codecs.EchoRequired, "", kept, lost), verdict: results.Fail, level: results.Must},
		{rule: id, name: "lost where it is required, thinking off in the request", seen: with(codecs.EchoRequired, off, kept, lost)},
		{rule: id, name: "lost where it is taken", seen: with(codecs.EchoAccepted, "", kept, lost), verdict: results.Fail},
		{rule: id, name: "lost where it is ignored", seen: with(codecs.EchoIgnored, "", kept, lost)},
		{rule: id, name: "sent where it is refused", seen: with(codecs.EchoRefused, "", kept, kept), verdict: results.Fail, level: results.Must},
		{rule: id, name: "not sent where it is refused", seen: with(codecs.EchoRefused, "", kept, lost), verdict: results.Pass},
		{rule: id, name: "no key where even an empty one is required", seen: with(codecs.EchoRequiredEvenEmpty, empty, lost, lost), verdict: results.Fail, level: results.Must},
		{rule: id, name: "an empty key", seen: with(codecs.EchoRequiredEvenEmpty, there, lost, lost)},
		{rule: id, name: "no key, thinking off", seen: with(codecs.EchoRequiredEvenEmpty, off, lost, lost)},
		{rule: id, name: "a wire without a field", seen: with("", "", kept, lost)},
		{rule: id, name: "redacted and lost", seen: in("anthropic", some{signed("", "AAAA"), c}, lost), verdict: results.Fail},
		{rule: sig, name: "kept", seen: in("anthropic", some{signed("Low.", "AAAA"), c}, some{signed("Low.", "AAAA"), c}), verdict: results.Pass},
		{rule: sig, name: "in another alphabet", seen: in("gemini", carried("AAAA+AAAA/AAAAAAAA=="), carried("AAAA-AAAA_AAAAAAAA")), verdict: results.Pass},
		{rule: sig, name: "one letter changed", seen: in("anthropic", some{signed("Low.", "AAAA"), c}, some{signed("Low.", "AAAB"), c}), verdict: results.Fail},
		{rule: sig, name: "the signed text changed", seen: in("anthropic", some{signed("Low.", "AAAA"), c}, some{signed("High.", "AAAA"), c}), verdict: results.Fail},
		{rule: sig, name: "gone where it is demanded", seen: in("anthropic", some{signed("Low.", "AAAA"), c}, some{thought("Low."), c}), verdict: results.Fail},
		{rule: sig, name: "gone where it is not", seen: in("responses", some{signed("Low.", "AAAA"), c}, some{thought("Low."), c}), verdict: results.Fail, level: results.Should},
		{rule: sig, name: "the first of two parts lost", seen: in("anthropic", some{signed("One.", "AAAA"), signed("Two.", "BBBB"), c}, some{signed("Two.", "BBBB"), c}), verdict: results.Pass},
		{rule: sig, name: "of a call, lost", seen: in("gemini", carried("AAAA"), carried("")), verdict: results.Fail, level: results.Should},
		{rule: sig, name: "of a call, changed", seen: in("gemini", carried("AAAA"), carried("BBBB")), verdict: results.Fail},
	}
}
