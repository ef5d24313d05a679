package judge

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/results"
)

// turn is one assistant turn of a history and what follows it up to the next.
type turn struct {
	assistant []codecs.Part
	results   []codecs.ToolResult
	between   int      // parts between the turn and its first result, or between two results
	media     []string // media in user messages after the results
	texts     []codecs.Part
}

// turns cuts the messages of a request into assistant turns. Only those after
// the prompt count: skip is the number of assistant turns that the prompt has.
func turns(req codecs.Request, skip int) []turn {
	var out []turn
	inTurn := false
	for _, m := range req.Messages {
		if m.Role == "assistant" {
			if !inTurn {
				out = append(out, turn{})
				inTurn = true
			}
			t := &out[len(out)-1]
			t.assistant = append(t.assistant, m.Parts...)
			continue
		}
		if len(out) == 0 {
			continue
		}
		t := &out[len(out)-1]
		for _, p := range m.Parts {
			switch p.Kind {
			case codecs.ResultKind:
				if len(t.texts) > 0 || len(t.media) > 0 {
					t.between++
				}
				t.results = append(t.results, *p.Result)
			case codecs.MediaKind:
				t.media = append(t.media, mediaKey(*p.Media))
			default:
				t.texts = append(t.texts, p)
			}
		}
		inTurn = false
	}
	if skip > len(out) {
		skip = len(out)
	}
	return out[skip:]
}

// expected is the echo that the history should hold of one or more replies that
// nothing separates (a paused turn and the one that carries it on).
type expected struct {
	first   int // exchange of the first reply
	replies []codecs.Reply
	cut     map[int]bool // calls by key exchange<<16|pos that the limit cut
	last    int
}

func expectedTurns(run Run, upTo int) []expected {
	var out []expected
	open := false
	for i := range upTo {
		x := run.Exchanges[i]
		if !x.Replied {
			continue
		}
		if !open {
			out = append(out, expected{first: i, cut: map[int]bool{}})
		}
		e := &out[len(out)-1]
		e.replies, e.last = append(e.replies, x.Reply), i
		for _, pos := range x.Cut {
			e.cut[i<<16|pos] = true
		}
		open = x.Reply.Finish == codecs.FinishPause
	}
	return out
}

func judgeHistory(f *finding, run Run, i int) {
	if i == 0 {
		return
	}
	skip := 0
	before := ""
	for _, m := range run.Prompt {
		if m.Role == "assistant" && before != "assistant" {
			skip++
		}
		before = m.Role
	}
	seen := turns(run.Exchanges[i].Request, skip)
	want := expectedTurns(run, i)
	if len(seen) < len(want) {
		f.fail("echo.calls", "", place(i), fmt.Sprintf("%d earlier turns of the model", len(want)), fmt.Sprintf("%d", len(seen)))
		return
	}
	for k, e := range want {
		judgeTurn(f, run, i, e, seen[k])
	}
	judgeEmptyReasoning(f, run, i)
}

func judgeTurn(f *finding, run Run, i int, e expected, t turn) {
	where := fmt.Sprintf("%s, turn %d", place(i), e.first+1)
	var calls []codecs.ToolCall
	var keys []string
	cutAny := false
	for n, r := range e.replies {
		for _, c := range r.Calls() {
			if e.cut[(e.first+n)<<16|c.Pos] {
				cutAny = true
			}
			calls = append(calls, c)
			keys = append(keys, AnswerKey(e.first+n, c.Pos))
		}
	}
	var seen []codecs.ToolCall
	for _, p := range t.assistant {
		if p.Kind == codecs.CallKind {
			seen = append(seen, *p.Call)
		}
	}
	match := matchCalls(calls, seen)
	for n, c := range calls {
		if match[n] < 0 {
			if e.cut[e.first<<16|c.Pos] {
				continue // dropped, as it should be
			}
			f.fail("echo.calls", "", where, fmt.Sprintf("call %d of %s", n+1, c.Name), "no such call in the history")
			continue
		}
		judgeCall(f, run, where, c, seen[match[n]])
	}
	judgePairing(f, run, where, seen, t, cutAny)
	judgeResults(f, run, where, calls, keys, match, seen, t)
	judgeReasoning(f, run, where, e, t)
	judgeItems(f, run, where, e, t)
}

// matchCalls aligns the calls of a reply with those of the echo: in order, by
// name, and by id where both have one. -1 stands for a call without an echo.
func matchCalls(want, seen []codecs.ToolCall) []int {
	out := make([]int, len(want))
	used := make([]bool, len(seen))
	for n, w := range want {
		out[n] = -1
		for k, s := range seen {
			if !used[k] && s.Name == w.Name && (w.ID == "" || s.ID == "" || s.ID == w.ID) {
				out[n], used[k] = k, true
				break
			}
		}
	}
	return out
}

func judgeCall(f *finding, run Run, where string, want, got codecs.ToolCall) {
	f.pass("echo.calls")
	switch {
	case want.Arguments == nil && run.Profile.UndecodableEcho == codecs.UndecodableEmpty:
		if !jsonx.Equal(got.Arguments, []byte("{}")) {
			f.fail("echo.arguments_verbatim", "", where, "{} for arguments that this engine refuses", got.ArgumentsText)
			return
		}
	case want.Arguments == nil && run.Dialect == codecs.Ollama:
		// The wire carries objects only; a string is refused.
	case got.ArgumentsText != want.ArgumentsText && !(emptyArguments(want) && emptyArguments(got)):
		f.fail("echo.arguments_verbatim", "", where, want.ArgumentsText, got.ArgumentsText)
		return
	}
	f.pass("echo.arguments_verbatim")
	if want.Signature != "" {
		level := signatureLevel(run)
		switch {
		case got.Signature == want.Signature:
			f.add("echo.signature", level, results.Pass, "", "")
		case got.Signature == "":
			f.fail("echo.signature", level, where, "the signature of the call to "+want.Name, "none")
		default:
			f.fail("echo.signature", results.Must, where, want.Signature, got.Signature)
		}
	}
}

func emptyArguments(c codecs.ToolCall) bool {
	return c.ArgumentsText == "" || jsonx.Equal([]byte(c.ArgumentsText), []byte("{}"))
}

// signatureLevel tells how much a lost signature matters: where the profile
// says that reasoning must be echoed, the engine refuses the request.
func signatureLevel(run Run) results.Level {
	switch run.Profile.ReasoningEcho {
	case codecs.EchoRequired, codecs.EchoRequiredEvenEmpty:
		return results.Must
	}
	return results.Should
}

func judgePairing(f *finding, run Run, where string, calls []codecs.ToolCall, t turn, cutAny bool) {
	answered := make([]int, len(calls))
	inOrder := true
	last := -1
	for n, r := range t.results {
		k := resultOf(calls, answered, r, n)
		if k < 0 {
			f.fail("results.pairing", "", where, "results for the calls of the turn only", fmt.Sprintf("a result for %q (id %q) that no call of the turn asks for", r.Name, r.ID))
			return
		}
		answered[k]++
		if k < last {
			inOrder = false
		}
		last = k
	}
	for k, n := range answered {
		if n == 1 {
			continue
		}
		rule := "results.pairing"
		if cutAny && n == 0 {
			rule = "truncation.no_dangling"
		}
		f.fail(rule, "", where, fmt.Sprintf("one result for call %d (%s)", k+1, calls[k].Name), fmt.Sprintf("%d", n))
		return
	}
	if len(calls) > 0 {
		f.pass("results.pairing")
	}
	if cutAny {
		f.pass("truncation.no_dangling")
	}
	if len(calls) > 1 {
		if orderMatters(run.Dialect, calls) && !inOrder {
			f.fail("results.order", "", where, "results in the order of the calls", "another order")
		} else if orderMatters(run.Dialect, calls) {
			f.pass("results.order")
		}
	}
	if len(t.results) > 0 {
		if t.between > 0 {
			f.fail("results.adjacent", "", where, "results directly after the calls", fmt.Sprintf("%d parts between them", t.between))
			return
		}
		f.pass("results.adjacent")
	}
}

// resultOf finds the call that a result answers: by id, by the ordinal that the
// server half read, else the next one that is open.
func resultOf(calls []codecs.ToolCall, answered []int, r codecs.ToolResult, n int) int {
	if r.ID != "" {
		for k, c := range calls {
			if c.ID == r.ID && answered[k] == 0 {
				return k
			}
		}
		for k, c := range calls {
			if c.ID == r.ID {
				return k
			}
		}
		for _, c := range calls {
			if c.ID != "" {
				return -1
			}
		}
	}
	if r.Pos >= 0 && r.Pos < len(calls) && answered[r.Pos] == 0 {
		return r.Pos
	}
	if n < len(calls) && (r.Name == "" || r.Name == calls[n].Name) {
		return n
	}
	return -1
}

// orderMatters tells whether only the order pairs results with calls.
func orderMatters(d codecs.Dialect, calls []codecs.ToolCall) bool {
	switch d {
	case codecs.Hermes:
		return true
	case codecs.Gemini, codecs.Ollama:
		for _, c := range calls {
			if c.ID == "" {
				return true
			}
		}
	}
	return false
}

func judgeResults(f *finding, run Run, where string, calls []codecs.ToolCall, keys []string, match []int, seen []codecs.ToolCall, t turn) {
	answered := make([]int, len(seen))
	byCall := map[int]codecs.ToolResult{}
	for n, r := range t.results {
		if k := resultOf(seen, answered, r, n); k >= 0 {
			answered[k]++
			byCall[k] = r
		}
	}
	for n, c := range calls {
		if match[n] < 0 {
			continue
		}
		got, ok := byCall[match[n]]
		if !ok {
			continue
		}
		text := codecs.ResultText(got)
		want, ran := run.Answers[keys[n]]
		if !ran {
			judgeSynthetic(f, run, where, c, text)
			continue
		}
		judgeAnswer(f, run, where, want, got, text, t)
	}
}

// judgeSynthetic judges the answer to a call that was not run.
func judgeSynthetic(f *finding, run Run, where string, c codecs.ToolCall, text string) {
	known := false
	for _, tool := range run.Tools {
		known = known || tool.Name == c.Name
	}
	rule := "results.error"
	switch {
	case !known:
		rule = "unknown_tool.answered"
	case c.Arguments == nil:
		rule = "arguments.undecodable_answered"
	}
	if strings.TrimSpace(text) == "" {
		f.fail(rule, "", where, "an error result for "+c.Name, "an empty one")
		return
	}
	f.pass(rule)
}

func judgeAnswer(f *finding, run Run, where string, want, got codecs.ToolResult, text string, t turn) {
	if want.IsError {
		if strings.TrimSpace(text) == "" {
			f.fail("results.error", "", where, "the error of the tool", "an empty result")
		} else if run.Dialect == codecs.Anthropic && !got.IsError {
			f.fail("results.error", results.Should, where, "is_error on the result", "no flag")
		} else {
			f.pass("results.error")
		}
	}
	for _, it := range codecs.ReadItems(want.Content) {
		switch it.Kind {
		case codecs.ItemText, codecs.ItemDocument:
			if !strings.Contains(text, strings.TrimSpace(it.Text)) && !strings.Contains(joined(t.texts), strings.TrimSpace(it.Text)) {
				if len(got.Structured) > 0 || (len(want.Structured) > 0 && run.Dialect == codecs.Gemini) {
					continue // structured content stands for the text
				}
				f.fail("results.content", "", where, fmt.Sprintf("the result text %q", it.Text), fmt.Sprintf("%q", text))
				return
			}
			f.pass("results.content")
		case codecs.ItemBlob, codecs.ItemNative:
			judgeMedia(f, where, it, want, got, text, t)
		default:
			if !strings.Contains(text, it.Text) && !besides(text, want) && !besides(joined(t.texts), want) {
				f.fail("results.content", "", where, it.Text, "nothing")
				return
			}
		}
	}
	if len(want.Content) == 0 && len(want.Structured) > 0 {
		if !strings.Contains(text, codecs.StructuredText(want)) && !jsonx.Equal(got.Structured, want.Structured) {
			f.fail("results.content", "", where, codecs.StructuredText(want), text)
		} else {
			f.pass("results.content")
		}
	}
}

func joined(parts []codecs.Part) string {
	var b strings.Builder
	for _, p := range parts {
		b.WriteString(p.Text)
		b.WriteByte('\n')
	}
	return b.String()
}

func judgeMedia(f *finding, where string, it codecs.Item, want, got codecs.ToolResult, text string, t turn) {
	data := codecs.StripSpace(it.Data)
	if data == "" {
		return
	}
	for _, g := range codecs.ReadItems(got.Content) {
		if codecs.StripSpace(g.Data) == data && g.Kind != codecs.ItemText {
			f.pass("results.media")
			return
		}
	}
	if contains(t.media, data) {
		f.pass("results.media")
		return
	}
	probe := data[:min(len(data), 24)]
	switch {
	case strings.Contains(text, probe):
		f.fail("results.media", "", where, "the media in native form or a line that names them", "base64 inside text")
	case !besides(text, want) && !besides(joined(t.texts), want):
		f.fail("results.media", "", where, "the media in native form or a line that names them", "nothing")
	default:
		f.add("results.media", "", results.Degraded, where, "a line of text stands for "+it.Placeholder())
	}
}

// besides tells whether text says anything that is not the result's own text:
// only that can stand for the media of the result.
func besides(text string, want codecs.ToolResult) bool {
	for _, it := range codecs.ReadItems(want.Content) {
		if it.Kind == codecs.ItemText || it.Kind == codecs.ItemDocument {
			text = strings.Replace(text, strings.TrimSpace(it.Text), "", 1)
		}
	}
	return strings.TrimSpace(text) != ""
}
