package judge

import (
	"errors"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/suite/results"
)

func requestRows(t *testing.T) []row {
	t.Helper()
	unread := newChat(t, "openai").done()
	unread.Exchanges[0].RequestErr = errors.New("messages: want a list")
	stream := newChat(t, "openai").done()
	stream.Exchanges[0].Request.Stream = true
	limited := newChat(t, "openai")
	limited.limit = 100
	forced := newChat(t, "openai").done()
	forced.Exchanges[0].Request.Choice = codecs.Choice{Mode: codecs.ChoiceAny}
	plain := newChat(t, "openai").done()
	yes, no := true, false
	single := newChat(t, "openai").done()
	single.Exchanges[0].Request.Parallel = &no
	withoutNone := newChat(t, "openai")
	withoutNone.profile.ToolChoice = []string{codecs.ChoiceAuto}
	differs := func(n int) *Expectation {
		return &Expectation{Recorded: &Recorded{Requests: n, Differs: func(i int, in codecs.In) error {
			if string(in.Body) != "{}" {
				return errors.New("/seed: expected nothing, seen 1")
			}
			return nil
		}}}
	}
	taped := newChat(t, "openai")
	taped.body = "{}"
	other := newChat(t, "openai")
	other.body = `{"seed":1}`
	ended := newChat(t, "openai")
	ended.body, ended.seen.End = "{}", &End{Text: "Ebb."}
	odd := newChat(t, "openai").done()
	odd.Exchanges[0].Forgiven = []codecs.Warning{{Code: codecs.WarnRequestForm, Pointer: "/messages/1", Text: "the result has no id"}}
	told := newChat(t, "openai").done()
	told.Exchanges[0].Forgiven = []codecs.Warning{{Code: codecs.WarnUnknownKey}}
	const id = "request.parameters"
	return []row{
		{rule: "request.form", name: "as it has to be", seen: told, verdict: results.Pass},
		{rule: "request.form", name: "read all the same", seen: odd, verdict: results.Fail},
		{rule: "request.reads", name: "read", seen: plain, verdict: results.Pass},
		{rule: "request.reads", name: "not read", seen: unread, verdict: results.Fail},
		{rule: id, name: "nothing known", seen: stream},
		{rule: id, name: "all as asked for", seen: limited.done(), want: &Expectation{Model: "m", MaxTokens: 100, Stream: &no}, verdict: results.Pass},
		{rule: id, name: "another model", seen: plain, want: &Expectation{Model: "n"}, verdict: results.Fail},
		{rule: id, name: "no limit", seen: plain, want: &Expectation{MaxTokens: 100}, verdict: results.Fail},
		{rule: id, name: "a stream", seen: stream, want: &Expectation{Stream: &no}, verdict: results.Fail},
		{rule: id, name: "no stream", seen: plain, want: &Expectation{Stream: &yes}, verdict: results.Fail},
		{rule: id, name: "a stream as asked for", seen: stream, want: &Expectation{Stream: &yes}, verdict: results.Pass},
		{rule: id, name: "forced", seen: forced, want: &Expectation{Choice: codecs.Choice{Mode: codecs.ChoiceAny}}, verdict: results.Pass},
		{rule: id, name: "not forced", seen: plain, want: &Expectation{Choice: codecs.Choice{Mode: codecs.ChoiceAny}}, verdict: results.Fail},
		{rule: id, name: "an engine that cannot be forced", seen: withoutNone.done(), want: &Expectation{Choice: codecs.Choice{Mode: codecs.ChoiceAny}}, verdict: results.Pass},
		{rule: id, name: "one at a time", seen: single, want: &Expectation{Parallel: &no}, verdict: results.Pass},
		{rule: id, name: "parallel all the same", seen: plain, want: &Expectation{Parallel: &no}, verdict: results.Fail},
		{rule: id, name: "a wire without the knob", seen: newChat(t, "gemini").done(), want: &Expectation{Parallel: &no}, verdict: results.Pass},
		{rule: "request.as_recorded", name: "no tape", seen: other.seen},
		{rule: "request.as_recorded", name: "the tape's", seen: taped.done(), want: differs(1), verdict: results.Pass},
		{rule: "request.as_recorded", name: "another", seen: other.done(), want: differs(1), verdict: results.Fail},
		{rule: "request.as_recorded", name: "one of two", seen: ended.done(), want: differs(2), verdict: results.Fail},
	}
}

func promptRows(t *testing.T) []row {
	t.Helper()
	system := codecs.Message{Role: "system", Parts: []codecs.Part{text("Be brief.")}}
	image := codecs.Part{Kind: codecs.KindMedia, Media: &codecs.Media{MIME: "image/png", Data: "iVBO Rw0K"}}
	sight := codecs.Message{Role: "user", Parts: []codecs.Part{text("What is it?"), image}}
	spaced := codecs.Message{Role: "user", Parts: []codecs.Part{text("What is it?"), {Kind: codecs.KindMedia, Media: &codecs.Media{Data: "iVBORw0K"}}}}
	with := func(dialect string, m ...codecs.Message) Observed {
		c := newChat(t, dialect)
		c.past = m
		return c.done()
	}
	blind := newChat(t, "openai")
	blind.past, blind.profile.PromptImages = []codecs.Message{user("What is it?\n[image]")}, codecs.MediaPlaceholder
	const id = "prompt.kept"
	want := &Expectation{Prompt: []codecs.Message{user("Hi."), system}}
	media := &Expectation{Prompt: []codecs.Message{sight}}
	return []row{
		{rule: id, name: "nothing known", seen: with("openai")},
		{rule: id, name: "whole", seen: with("openai", user("Hi."), system), want: want, verdict: results.Pass},
		{rule: id, name: "another order", seen: with("openai", system, user("Hi.")), want: want, verdict: results.Fail},
		{rule: id, name: "the system in front, as the wire has it", seen: with("anthropic", system, user("Hi.")), want: want, verdict: results.Pass},
		{rule: id, name: "a text is lost", seen: with("anthropic", user("Hi.")), want: want, verdict: results.Fail},
		{rule: id, name: "the same image", seen: with("openai", spaced), want: media, verdict: results.Pass},
		{rule: id, name: "no image", seen: with("openai", user("What is it?")), want: media, verdict: results.Fail},
		{rule: id, name: "an engine that sees none", seen: blind.done(), want: media, verdict: results.Degraded},
	}
}

func toolRows(t *testing.T) []row {
	t.Helper()
	c := newChat(t, "openai")
	want := &Expectation{Tools: c.tools}
	with := func(tools ...codecs.Tool) Observed {
		c := newChat(t, "openai")
		c.tools = tools
		return c.done()
	}
	tide := c.tools[0]
	bare := codecs.Tool{Name: "tide", InputSchema: codecs.Raw(`{"type":"object","properties":{"port":{"type":"string"}}}`)}
	search := newChat(t, "responses").done()
	search.Exchanges[0].Request.ServerTools = []codecs.Raw{codecs.Raw(`{"type": "web_search"}`)}
	const id = "tools.declared"
	return []row{
		{rule: id, name: "unknown and none", seen: with()},
		{rule: id, name: "unknown", seen: with(tide), verdict: results.Pass},
		{rule: id, name: "unknown, one twice", seen: with(tide, tide), verdict: results.Fail},
		{rule: id, name: "the one", seen: with(tide), want: want, verdict: results.Pass},
		{rule: id, name: "none", seen: with(), want: want, verdict: results.Fail},
		{rule: id, name: "one too many", seen: with(tide, codecs.Tool{Name: "wind"}), want: want, verdict: results.Fail},
		{rule: id, name: "none expected", seen: with(tide), want: &Expectation{Tools: []codecs.Tool{}}, verdict: results.Fail},
		{rule: id, name: "a property is no longer required", seen: with(bare), want: want, verdict: results.Fail},
		{rule: "server_tools.sent", name: "there", seen: search, want: &Expectation{ServerTools: []codecs.Raw{codecs.Raw(`{"type":"web_search"}`)}}, verdict: results.Pass},
		{rule: "server_tools.sent", name: "not there", seen: with(tide), want: &Expectation{ServerTools: []codecs.Raw{codecs.Raw(`{"type":"web_search"}`)}}, verdict: results.Fail},
		{rule: "server_tools.sent", name: "not known", seen: search},
	}
}
