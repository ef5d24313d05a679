package judge

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/results"
)

func reasoningChecks() []check {
	return []check{
		{"echo.reasoning", atTurn, echoReasoning},
		{"echo.reasoning", atRequest, echoEmptyReasoning},
		{"echo.signature", atTurn, callSignatures},
		{"echo.signature", atTurn, reasoningSignatures},
	}
}

// echoReasoning compares the reasoning of the replies with that of the turn.
func echoReasoning(c *scene) {
	want, got := c.turn.reasoning(), reasoningOf(c.turn.assistant)
	if c.x.Profile.ReasoningEcho == codecs.EchoRefused {
		if len(got) > 0 {
			c.failAt(results.Must, "no reasoning: this engine refuses it", fmt.Sprintf("%d reasoning parts", len(got)))
		} else if len(want) > 0 {
			c.say(results.Must, results.Pass, "", "")
		}
		return
	}
	level := c.reasoningLevel()
	if len(want) == 0 || level == "" || c.thinkingIsOff() {
		return
	}
	text, echo := codecs.Reply{Parts: want}.Reasoning(), codecs.Reply{Parts: got}.Reasoning()
	switch {
	case !strings.Contains(echo, text):
		c.failAt(level, fmt.Sprintf("the reasoning %q", text), fmt.Sprintf("%q", echo))
	case len(got) == 0: // reasoning that is only a signature
		c.failAt(level, "the reasoning block of the turn", "none")
	default:
		c.say(level, results.Pass, "", "")
	}
}

// echoEmptyReasoning looks for the reasoning key itself where the engine demands
// it even when the turn had no reasoning: read as parts, an empty key and none are
// the same. The wire says where the key stands.
func echoEmptyReasoning(c *scene) {
	w, keys := c.wire(), c.x.Profile.ReasoningFields
	if len(keys) == 0 {
		keys = w.ReasoningKeys
	}
	if c.x.Profile.ReasoningEcho != codecs.EchoRequiredEvenEmpty || len(keys) == 0 || w.CallsKey == "" || c.thinkingIsOff() {
		return
	}
	for n, m := range jsonx.Of(c.x.In.Body).Get(w.Messages).Items() {
		if m.Get(w.CallsKey).Len() > 0 && !m.Get(keys[0]).Exists() {
			c.where = fmt.Sprintf("%s, message %d", c.where, n)
			c.failAt(results.Must, "the key "+keys[0]+", also when it is empty", "no such key")
			return
		}
	}
}

// reasoning is that of the replies.
func (t *turn) reasoning() []codecs.Part {
	var out []codecs.Part
	for _, r := range t.replies {
		out = append(out, reasoningOf(r.Reply.Parts)...)
	}
	return out
}

func reasoningOf(parts []codecs.Part) []codecs.Part {
	var out []codecs.Part
	for _, p := range parts {
		if p.Kind == codecs.KindReasoning {
			out = append(out, p)
		}
	}
	return out
}

// reasoningLevel tells how much lost reasoning matters at this row: must where
// the engine refuses otherwise, should where it takes it, "" where the echo is
// ignored or the dialect has no field for it.
func (c *scene) reasoningLevel() results.Level {
	switch c.x.Profile.ReasoningEcho {
	case codecs.EchoRequired, codecs.EchoRequiredEvenEmpty:
		return results.Must
	case codecs.EchoAccepted:
		return results.Should
	case codecs.EchoIgnored, codecs.EchoRefused:
		return ""
	}
	if c.wire().ReasoningEcho {
		return results.Should
	}
	return ""
}

// callSignatures looks for the signatures of the calls, on the same calls. Where
// the profile says that reasoning must be echoed, the engine refuses the request
// without them; a changed one is refused everywhere.
func callSignatures(c *scene) {
	level := results.Should
	if c.reasoningLevel() == results.Must {
		level = results.Must
	}
	for _, w := range c.turn.wanted {
		if w.echo < 0 || w.Signature == "" {
			continue
		}
		switch got := c.turn.calls[w.echo].Signature; {
		case signature(got) == signature(w.Signature):
			c.say(level, results.Pass, "", "")
		case got == "":
			c.failAt(level, "the signature of the call to "+w.Name, "none")
		default:
			c.failAt(results.Must, w.Signature, got)
		}
	}
}

// reasoningSignatures holds the signature of each reasoning part that stands in
// the echo against the one that it came with. A part is known by its signature,
// else by its text; one that is not there is for echoReasoning.
func reasoningSignatures(c *scene) {
	if c.reasoningLevel() == "" {
		return
	}
	level := results.Should // with its text there, even those that demand it take it
	if c.wire().ReasoningSigned {
		level = results.Must
	}
	bySignature, byText := map[string]codecs.Part{}, map[string][]codecs.Part{}
	for _, g := range reasoningOf(c.turn.assistant) {
		bySignature[signature(g.Signature)] = g
		byText[g.Text] = append(byText[g.Text], g)
	}
	for _, w := range c.turn.reasoning() {
		var same codecs.Part
		there := len(byText[w.Text]) > 0
		if there {
			same, byText[w.Text] = byText[w.Text][0], byText[w.Text][1:]
		}
		if w.Signature == "" {
			continue
		}
		signed, kept := bySignature[signature(w.Signature)]
		switch {
		case kept && signed.Text != w.Text:
			c.failAt(results.Must, fmt.Sprintf("the signed text %q", w.Text), fmt.Sprintf("%q", signed.Text))
		case kept:
			c.pass()
		case !there:
		case same.Signature == "":
			c.failAt(level, "the signature of the reasoning", "none")
		default:
			c.failAt(results.Must, w.Signature, fmt.Sprintf("%q", same.Signature))
		}
	}
}
