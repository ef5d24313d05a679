package judge

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/suite/results"
)

func pairingRows(t *testing.T) []row {
	t.Helper()
	a, b := call("c1", "tide", oban), call("c2", "wind", oban)
	ra, rb := result("c1", "tide", block("2 m")), result("c2", "wind", block("calm"))
	two := func(dialect string, calls some, messages ...codecs.Message) Observed {
		return newChat(t, dialect).reply(calls...).say(parts(calls...)).say(messages...).done()
	}
	bare := func(name string) codecs.Part { return call("", name, oban) }
	history := newChat(t, "openai")
	history.past = []codecs.Message{user("Hi."), parts(a), answers(rb), user("Go on.")}
	stray := newChat(t, "openai")
	stray.past = []codecs.Message{answers(ra), user("Go on.")}
	kept := newChat(t, "responses")
	kept.past, kept.body = []codecs.Message{answers(ra)}, `{"previous_response_id":"r1"}`
	client := newChat(t, "responses")
	client.past = []codecs.Message{user("Hi."), parts(codecs.Part{Kind: codecs.KindClient, Type: "tool_search_call", Extra: codecs.Raw(`{"call_id":"s1"}`)}), answers(result("s1", ""))}
	lost := newChat(t, "gemini").reply(bare("tide")).say(parts(bare("tide")), user("And?")).ran("tide", oban, block("2 m")).done()
	cut := func(echo some, messages ...codecs.Message) Observed {
		return newChat(t, "openai").replyAs(codecs.Reply{Finish: codecs.FinishLength, Parts: some{a, call("c2", "wind", `{"port":"Ob`)}}).
			say(parts(echo...)).say(messages...).done()
	}
	const id = "results.pairing"
	return []row{
		{rule: id, name: "each its own", seen: two("openai", some{a, b}, answers(rb, ra)), verdict: results.Pass},
		{rule: id, name: "one is missing", seen: two("openai", some{a, b}, answers(ra)), verdict: results.Fail},
		{rule: id, name: "one is missing and nobody minds", seen: two("gemini", some{bare("tide")}, user("And?")), verdict: results.Fail, level: results.Should},
		{rule: id, name: "one is missing that ran", seen: lost, verdict: results.Fail},
		{rule: id, name: "one twice", seen: two("openai", some{a}, answers(ra, ra)), verdict: results.Fail},
		{rule: id, name: "one of nobody, in a history that was there before", seen: history.done(), verdict: results.Fail},
		{rule: id, name: "a result before any turn", seen: stray.done(), verdict: results.Fail},
		{rule: id, name: "a result of a turn that the engine keeps", seen: kept.done()},
		{rule: id, name: "a result of a client call", seen: client.done()},
		{rule: "results.order", name: "in order", seen: two("hermes", some{bare("tide"), bare("wind")}, answers(result("", "tide"), result("", "wind"))), verdict: results.Pass},
		{rule: "results.order", name: "turned round where names tell", seen: two("gemini", some{bare("tide"), bare("wind")}, answers(result("", "wind"), result("", "tide"))), verdict: results.Fail, level: results.Should},
		{rule: "results.order", name: "turned round", seen: two("hermes", some{bare("tide"), bare("wind")}, answers(result("", "wind"), result("", "tide"))), verdict: results.Fail},
		{rule: "results.order", name: "ids tell", seen: two("openai", some{a, b}, answers(rb, ra))},
		{rule: "results.adjacent", name: "directly", seen: two("openai", some{a}, answers(ra)), verdict: results.Pass},
		{rule: "results.adjacent", name: "a message between", seen: two("openai", some{a}, user("One moment."), answers(ra)), verdict: results.Fail},
		{rule: "truncation.no_dangling", name: "dropped", seen: cut(some{a}, answers(ra)), verdict: results.Pass},
		{rule: "truncation.no_dangling", name: "answered", seen: cut(some{a, call("c2", "wind", `{"port":"Ob`)}, answers(ra, rb)), verdict: results.Pass},
		{rule: "truncation.no_dangling", name: "left open", seen: cut(some{a, call("c2", "wind", `{"port":"Ob`)}, answers(ra)), verdict: results.Fail},
	}
}

func resultRows(t *testing.T) []row {
	t.Helper()
	const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
	image := codecs.Raw(`{"type":"image","mimeType":"image/png","data":"` + pixel + `"}`)
	link := codecs.Raw(`{"type":"resource_link","uri":"file:///a","name":"a"}`)
	one := func(dialect string, said codecs.ToolResult, after []codecs.Message, got ...codecs.Raw) Observed {
		c := newChat(t, dialect).reply(call("c1", "tide", oban)).say(parts(call("c1", "tide", oban)), answers(result("c1", "tide", got...))).say(after...).watched()
		c.seen.Executed = []Executed{{Server: "s", Name: "tide", Arguments: codecs.Raw(oban), Result: said}}
		return c.done()
	}
	unrun := func(name, arguments string, got ...codecs.Raw) Observed {
		c := call("c1", name, arguments)
		return newChat(t, "openai").reply(c).say(parts(c), answers(result("c1", name, got...))).watched().done()
	}
	says := func(content ...codecs.Raw) codecs.ToolResult { return codecs.ToolResult{Content: content} }
	failed := codecs.ToolResult{Content: []codecs.Raw{block("no such port")}, IsError: true}
	structured := codecs.ToolResult{Structured: codecs.Raw(`{"m":2}`)}
	picture := []codecs.Message{{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindMedia, Media: &codecs.Media{MIME: "image/png", Data: pixel}}}}}
	unseen := one("openai", says(block("2 m")), nil, block("done"))
	unseen.Watched, unseen.Executed = false, nil
	return []row{
		{rule: "results.content", name: "arrives", seen: one("openai", says(block("2 m")), nil, block("2 m")), verdict: results.Pass},
		{rule: "results.content", name: "replaced", seen: one("openai", says(block("2 m")), nil, block("done")), verdict: results.Fail},
		{rule: "results.content", name: "nobody watched", seen: unseen},
		{rule: "results.content", name: "structured", seen: one("openai", structured, nil, block(`{"m":2}`)), verdict: results.Pass},
		{rule: "results.content", name: "structured and lost", seen: one("openai", structured, nil, block(`ok`)), verdict: results.Fail},
		{rule: "results.content", name: "a link is lost", seen: one("openai", says(block("see"), link), nil, block("see")), verdict: results.Fail},
		{rule: "results.media", name: "native", seen: one("anthropic", says(image), nil, image), verdict: results.Pass},
		{rule: "results.media", name: "in a message after the results", seen: one("openai", says(image), picture, block("see below")), verdict: results.Pass},
		{rule: "results.media", name: "a line", seen: one("openai", says(image), nil, block("[image] image/png (33 bytes)")), verdict: results.Degraded},
		{rule: "results.media", name: "nothing", seen: one("openai", says(block("see"), image), nil, block("see")), verdict: results.Fail},
		{rule: "results.media", name: "base64", seen: one("openai", says(image), nil, block(pixel)), verdict: results.Fail},
		{rule: "results.error", name: "said", seen: one("openai", failed, nil, block("no such port")), verdict: results.Pass},
		{rule: "results.error", name: "swallowed", seen: one("openai", failed, nil, block(" ")), verdict: results.Fail},
		{rule: "results.error", name: "without the flag of the wire", seen: one("anthropic", failed, nil, block("no such port")), verdict: results.Fail, level: results.Should},
		{rule: "results.error", name: "not run, answered with nothing", seen: unrun("tide", oban), verdict: results.Fail},
		{rule: "unknown_tool.answered", name: "said", seen: unrun("ebb", oban, block("no such tool")), verdict: results.Pass},
		{rule: "unknown_tool.answered", name: "nothing said", seen: unrun("ebb", oban), verdict: results.Fail},
		{rule: "arguments.undecodable_answered", name: "said", seen: unrun("tide", "Oban", block("no JSON")), verdict: results.Pass},
		{rule: "arguments.undecodable_answered", name: "nothing said", seen: unrun("tide", "Oban"), verdict: results.Fail},
	}
}
