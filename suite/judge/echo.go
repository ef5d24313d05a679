package judge

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/results"
)

// echoChecks hold the turns of a history against the replies that they are the
// echo of.
func echoChecks() []check {
	return []check{
		{"echo.calls", atTurn, echoCalls},
		{"echo.arguments_verbatim", atTurn, echoArguments},
		{"echo.text", atTurn, echoText},
		{"echo.items", atTurn, echoItems},
	}
}

func echoCalls(c *scene) {
	for n, w := range c.turn.wanted {
		switch {
		case w.echo < 0 && w.cut: // dropped, as it should be
		case w.echo < 0:
			c.fail(fmt.Sprintf("call %d of %s", n+1, w.Name), "no such call in the history")
		case w.renamed: // accepted as long as the result has the same
			c.failAt(results.Should, fmt.Sprintf("call %d of %s with the id %q", n+1, w.Name, w.ID), fmt.Sprintf("the id %q", c.turn.calls[w.echo].ID))
		default:
			c.pass()
		}
	}
}

func echoArguments(c *scene) {
	for _, w := range c.turn.wanted {
		if w.echo < 0 {
			continue
		}
		got := c.turn.calls[w.echo]
		switch {
		case w.Arguments == nil && c.x.Profile.UndecodableEcho == codecs.UndecodableEmpty:
			if !jsonx.Equal(got.Arguments, []byte("{}")) {
				c.fail("{} for arguments that this engine refuses", got.ArgumentsText)
				continue
			}
		case w.Arguments == nil && c.facts().objectArgs:
		case got.ArgumentsText != w.ArgumentsText && !(emptyArguments(w.ToolCall) && emptyArguments(got)):
			c.fail(w.ArgumentsText, got.ArgumentsText)
			continue
		}
		c.pass()
	}
}

func echoText(c *scene) {
	var text strings.Builder
	for _, r := range c.turn.replies {
		text.WriteString(r.Reply.Text())
	}
	want := strings.TrimSpace(text.String())
	if want == "" {
		return
	}
	if got := strings.TrimSpace(codecs.Message{Parts: c.turn.assistant}.Text()); !strings.Contains(got, want) {
		c.fail(fmt.Sprintf("the text %q", want), fmt.Sprintf("%q", got))
		return
	}
	c.pass()
}

// echoItems looks for the server items and unknown blocks of the replies.
func echoItems(c *scene) {
	if !c.facts().whole || c.x.Profile.EchoItems != nil {
		return
	}
	have := map[string]bool{}
	for _, g := range c.turn.assistant {
		if g.Kind == codecs.Server || g.Kind == codecs.Opaque || g.Kind == codecs.Client {
			have[g.Type+" "+canonical(g.Extra)] = true
		}
	}
	for _, r := range c.turn.replies {
		for _, p := range r.Reply.Parts {
			if p.Kind != codecs.Server && p.Kind != codecs.Opaque {
				continue
			}
			if !have[p.Type+" "+canonical(p.Extra)] {
				c.fail("the "+p.Type+" block", "no such block in the echo")
				return
			}
			c.pass()
		}
	}
}
