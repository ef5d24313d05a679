package judge

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/results"
)

// judgeReasoning compares the reasoning of the turn with its echo.
func judgeReasoning(f *finding, run Run, where string, e expected, t turn) {
	var want, got []codecs.Part
	hasCalls := false
	for _, r := range e.replies {
		want = append(want, reasoningOf(r.Parts)...)
		hasCalls = hasCalls || len(r.Calls()) > 0
	}
	got = reasoningOf(t.assistant)
	level := reasoningLevel(run)
	if run.Profile.ReasoningEcho == codecs.EchoRefused {
		if len(got) > 0 {
			f.fail("echo.reasoning", results.Must, where, "no reasoning: this engine refuses it", fmt.Sprintf("%d reasoning parts", len(got)))
		} else if len(want) > 0 {
			f.add("echo.reasoning", results.Must, results.Pass, "", "")
		}
		return
	}
	if len(want) == 0 || level == "" {
		return
	}
	if text := reasoningText(want); !strings.Contains(reasoningText(got), text) {
		f.fail("echo.reasoning", level, where, fmt.Sprintf("the reasoning %q", text), fmt.Sprintf("%q", reasoningText(got)))
	} else if len(got) == 0 { // reasoning that is only a signature
		f.fail("echo.reasoning", level, where, "the reasoning block of the turn", "none")
	} else {
		f.add("echo.reasoning", level, results.Pass, "", "")
	}
	judgeSignatures(f, where, want, got)
}

// judgeEmptyReasoning looks for the reasoning key itself where the engine demands
// it even when the turn had no reasoning. Read as parts, an empty key and none
// are the same, so this looks at the body.
func judgeEmptyReasoning(f *finding, run Run, i int) {
	if run.Profile.ReasoningEcho != codecs.EchoRequiredEvenEmpty {
		return
	}
	key := "reasoning_content"
	if len(run.Profile.ReasoningFields) > 0 {
		key = run.Profile.ReasoningFields[0]
	}
	for n, m := range jsonx.Of(run.Exchanges[i].Body).Get("messages").Items() {
		if m.Get("role").Str() == "assistant" && m.Get("tool_calls").Len() > 0 && !m.Get(key).Exists() {
			f.fail("echo.reasoning", results.Must, fmt.Sprintf("%s, message %d", place(i), n), "the key "+key+", also when it is empty", "no such key")
			return
		}
	}
}

func reasoningOf(parts []codecs.Part) []codecs.Part {
	var out []codecs.Part
	for _, p := range parts {
		if p.Kind == codecs.Reasoning {
			out = append(out, p)
		}
	}
	return out
}

func reasoningText(parts []codecs.Part) string {
	return codecs.Reply{Parts: parts}.Reasoning()
}

// judgeSignatures holds each signature that stands in the echo against the one
// that the same reasoning came with: a changed one is refused everywhere.
func judgeSignatures(f *finding, where string, want, got []codecs.Part) {
	for n, w := range want {
		if w.Signature == "" || n >= len(got) {
			continue
		}
		if got[n].Signature != w.Signature {
			f.fail("echo.signature", results.Must, where, w.Signature, fmt.Sprintf("%q", got[n].Signature))
			continue
		}
		if got[n].Text != w.Text {
			f.fail("echo.signature", results.Must, where, fmt.Sprintf("the signed text %q", w.Text), fmt.Sprintf("%q", got[n].Text))
			continue
		}
		f.pass("echo.signature")
	}
}

// reasoningLevel tells how much lost reasoning matters at this row: must where
// the engine refuses otherwise, should where it takes it, "" where the echo is
// ignored or the dialect has no field for it.
func reasoningLevel(run Run) results.Level {
	switch run.Profile.ReasoningEcho {
	case codecs.EchoRequired, codecs.EchoRequiredEvenEmpty:
		return results.Must
	case codecs.EchoAccepted:
		return results.Should
	case codecs.EchoIgnored, codecs.EchoRefused:
		return ""
	}
	switch run.Dialect {
	case codecs.OpenAI: // OpenAI itself has no reasoning field on chat
		return ""
	case codecs.Hermes:
		return results.Should
	}
	return results.Should
}

// judgeItems checks that server items and unknown blocks survive the echo.
func judgeItems(f *finding, run Run, where string, e expected, t turn) {
	var want []codecs.Part
	var text strings.Builder
	for _, r := range e.replies {
		for _, p := range r.Parts {
			switch p.Kind {
			case codecs.Server, codecs.Opaque:
				want = append(want, p)
			case codecs.Text:
				text.WriteString(p.Text)
			}
		}
	}
	for _, w := range want {
		if !echoesWhole(run.Dialect) || run.Profile.EchoItems != nil {
			continue
		}
		found := false
		for _, g := range t.assistant {
			found = found || (g.Type == w.Type && jsonx.Equal(g.Extra, w.Extra))
		}
		if !found {
			f.fail("echo.items", "", where, "the "+w.Type+" block", "no such block in the echo")
			return
		}
		f.pass("echo.items")
	}
	if want := strings.TrimSpace(text.String()); want != "" {
		got := strings.TrimSpace(codecs.Message{Parts: t.assistant}.Text())
		if !strings.Contains(got, want) {
			f.fail("echo.text", "", where, fmt.Sprintf("the text %q", want), fmt.Sprintf("%q", got))
			return
		}
		f.pass("echo.text")
	}
}

// echoesWhole tells whether the dialect's echo carries every block.
func echoesWhole(d codecs.Dialect) bool {
	return d == codecs.Anthropic || d == codecs.Gemini || d == codecs.Responses
}

// judgeTruncation checks that no call that the limit cut reached a tool server.
func judgeTruncation(f *finding, run Run) {
	for i, x := range run.Exchanges {
		if len(x.Cut) == 0 && x.Reply.Unfinished == 0 {
			continue
		}
		cut := map[int]bool{}
		for _, pos := range x.Cut {
			cut[pos] = true
		}
		ran := 0
		for _, c := range x.Reply.Calls() {
			if !cut[c.Pos] {
				continue
			}
			if _, ok := run.Answers[AnswerKey(i, c.Pos)]; ok {
				f.fail("truncation.not_run", "", fmt.Sprintf("turn %d", i+1), fmt.Sprintf("the cut call to %s (arguments %q) not run", c.Name, c.ArgumentsText), "it was run")
				ran++
			}
		}
		if ran == 0 {
			f.pass("truncation.not_run")
		}
	}
}

// judgeThinking checks that no call written inside thinking was run: every
// execution belongs to a call of a reply.
func judgeThinking(f *finding, run Run) {
	inThinking := false
	for _, x := range run.Exchanges {
		if strings.Contains(x.Reply.Reasoning(), "<tool_call>") {
			inThinking = true
		}
	}
	if !inThinking {
		return
	}
	allowed := 0
	for _, x := range run.Exchanges {
		allowed += len(x.Reply.Calls())
	}
	if len(run.Executed) > allowed {
		f.fail("calls.thinking_not_run", "", "executions", fmt.Sprintf("at most %d", allowed), fmt.Sprintf("%d", len(run.Executed)))
		return
	}
	f.pass("calls.thinking_not_run")
}
