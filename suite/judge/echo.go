package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/results"
)

// echoChecks hold the turns of a history against the replies that they are the
// echo of.
func echoChecks() []check {
	return []check{
		{"echo.calls", atRequest, echoTurns},
		{"echo.calls", atTurn, echoCalls},
		{"echo.arguments_verbatim", atTurn, echoArguments},
		{"echo.undecodable", atRequest, argumentObjects},
		{"echo.text", atTurn, echoText},
		{"echo.items", atTurn, echoItems},
	}
}

func echoTurns(c *scene) {
	if c.x.there < c.x.due {
		c.fail(fmt.Sprintf("%d earlier turns of the model", c.x.due), fmt.Sprintf("%d", max(c.x.there, 0)))
	}
}

func echoCalls(c *scene) {
	for n, w := range c.turn.wanted {
		switch {
		case w.echo < 0 && w.cut: // dropped, as it should be
		case w.echo < 0:
			c.fail(fmt.Sprintf("call %d of %s", n+1, w.Name), "no such call in the history")
		default: // another id is as good, as long as the result has the same
			c.pass()
		}
	}
}

// argumentObjects: where the wire has an object for arguments, a text in its
// place is refused, but by the engines that send one themselves.
func argumentObjects(c *scene) {
	if !c.wire().ObjectArguments || c.x.Profile.UndecodableEcho == codecs.UndecodableVerbatim {
		return
	}
	for _, w := range c.x.Forgiven {
		if w.Code == codecs.WarnArgumentsString {
			c.fail("an object for the arguments of each call", w.Text)
			return
		}
	}
	for _, m := range c.x.Request.Messages {
		if slices.ContainsFunc(m.Parts, func(p codecs.Part) bool { return p.Kind == codecs.KindCall }) {
			c.pass()
			return
		}
	}
}

// echoArguments: another spelling of the same value is taken everywhere, but is
// another prompt to a cache; another value is another call.
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
		case w.Arguments == nil && c.wire().ObjectArguments:
		case got.ArgumentsText != w.ArgumentsText && !(emptyArguments(w.ToolCall) && emptyArguments(got)):
			level := results.Must
			if jsonx.Equal([]byte(w.ArgumentsText), []byte(got.ArgumentsText)) {
				level = results.Should
			}
			c.failAt(level, w.ArgumentsText, got.ArgumentsText)
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

// echoItems looks for the server items and unknown blocks of the replies: for the
// same ones, then among those that are left for one of the type whose content was
// changed.
func echoItems(c *scene) {
	if !c.wire().EchoesWhole || c.x.Profile.EchoItems != nil {
		return
	}
	same, left := map[string]int{}, map[string]int{}
	for _, g := range c.turn.assistant {
		if g.Kind == codecs.KindServer || g.Kind == codecs.KindOpaque || g.Kind == codecs.KindClient {
			same[g.Type+" "+Alike(g.Extra)]++
			left[g.Type]++
		}
	}
	type part struct {
		codecs.Part
		level results.Level
	}
	var lost []part
	for _, r := range c.turn.replies {
		level := mustIf(c.wire().ItemsDue)
		for i, p := range r.Reply.Parts {
			if i > 0 && r.Reply.Parts[i-1].Kind == codecs.KindReasoning && c.wire().ItemAfterReasoning {
				level = results.Must
			}
			key := p.Type + " " + Alike(p.Extra)
			switch {
			case p.Kind != codecs.KindServer && p.Kind != codecs.KindOpaque:
			case same[key] > 0:
				same[key]--
				left[p.Type]--
				c.pass()
			default:
				lost = append(lost, part{p, level})
			}
			level = mustIf(c.wire().ItemsDue)
		}
	}
	for _, p := range lost {
		if left[p.Type] > 0 {
			left[p.Type]--
			c.failAt(results.Should, "the "+p.Type+" block as it came", "a changed one")
			continue
		}
		c.failAt(p.level, "the "+p.Type+" block", "no such block in the echo")
	}
}
