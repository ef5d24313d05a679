package judge

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/suite/results"
)

// resultChecks compare the results of a history with what the tool servers
// answered, so they need watched ones.
func resultChecks() []check {
	return []check{
		{"results.content", atTurn, eachAnswer(resultsContent)},
		{"results.media", atTurn, eachAnswer(resultsMedia)},
		{"results.error", atTurn, eachAnswer(resultsError)},
		{"results.error", atTurn, eachUnrun("results.error")},
		{"unknown_tool.answered", atTurn, eachUnrun("unknown_tool.answered")},
		{"arguments.undecodable_answered", atTurn, eachUnrun("arguments.undecodable_answered")},
	}
}

// answer is one result in the history, beside what the tool server said.
type answer struct {
	call      wanted
	got, want codecs.ToolResult
	text      string // of got
	after     string // of the user, after the results
}

// answers lists the results of the turn: of the calls that ran, and of those that
// did not.
func (c *scene) answers() (ran, unrun []answer) {
	if !c.session.Watched {
		return nil, nil
	}
	var after strings.Builder
	for _, p := range c.turn.texts {
		after.WriteString(p.Text + "\n")
	}
	for _, w := range c.turn.wanted {
		got, ok := c.turn.answer(w.echo)
		if !ok {
			continue
		}
		a := answer{call: w, got: got, text: wire.ResultText(got), after: after.String()}
		if a.want, ok = c.session.answered(w.key); ok {
			ran = append(ran, a)
		} else {
			unrun = append(unrun, a)
		}
	}
	return ran, unrun
}

func eachAnswer(judge func(*scene, answer)) func(*scene) {
	return func(c *scene) {
		ran, _ := c.answers()
		for _, a := range ran {
			judge(c, a)
		}
	}
}

// eachUnrun judges the answers to calls that were not run, each by the rule that
// says why it was not.
func eachUnrun(id string) func(*scene) {
	return func(c *scene) {
		_, unrun := c.answers()
		if len(unrun) == 0 {
			return
		}
		known := map[string]bool{}
		for _, t := range c.session.tools(c.x) {
			known[t.Name] = true
		}
		for _, a := range unrun {
			why := "results.error"
			switch {
			case !known[a.call.Name]:
				why = "unknown_tool.answered"
			case a.call.Arguments == nil:
				why = "arguments.undecodable_answered"
			}
			switch {
			case why != id:
			case strings.TrimSpace(a.text) == "":
				c.fail("an error result for "+a.call.Name, "an empty one")
			default:
				c.pass()
			}
		}
	}
}

func resultsError(c *scene, a answer) {
	switch {
	case !a.want.IsError:
	case strings.TrimSpace(a.text) == "":
		c.fail("the error of the tool", "an empty result")
	case c.wire().ErrorFlag && !a.got.IsError:
		c.failAt(results.Should, "is_error on the result", "no flag")
	default:
		c.pass()
	}
}

func resultsContent(c *scene, a answer) {
	for _, it := range wire.ReadItems(a.want.Content) {
		text := strings.TrimSpace(it.Text)
		switch it.Kind {
		case wire.ItemText, wire.ItemDocument:
			switch {
			case strings.Contains(a.text, text) || strings.Contains(a.after, text):
				c.pass()
			case len(a.got.Structured) > 0 || len(a.want.Structured) > 0 && c.wire().StructuredResults:
			default:
				c.fail(fmt.Sprintf("the result text %q", it.Text), fmt.Sprintf("%q", a.text))
				return
			}
		case wire.ItemBlob, wire.ItemNative:
		default:
			if !strings.Contains(a.text, it.Text) && !a.saysMore() {
				c.fail(it.Text, "nothing")
				return
			}
		}
	}
	if len(a.want.Content) > 0 || len(a.want.Structured) == 0 {
		return
	}
	if due := wire.StructuredText(a.want); !strings.Contains(a.text, due) && !jsonx.Equal(a.got.Structured, a.want.Structured) {
		c.fail(due, a.text)
		return
	}
	c.pass()
}

func resultsMedia(c *scene, a answer) {
	native := map[string]bool{}
	for _, g := range wire.ReadItems(a.got.Content) {
		if g.Kind != wire.ItemText {
			native[wire.StripSpace(g.Data)] = true
		}
	}
	for _, it := range wire.ReadItems(a.want.Content) {
		data := wire.StripSpace(it.Data)
		if data == "" || it.Kind != wire.ItemBlob && it.Kind != wire.ItemNative {
			continue
		}
		const due = "the media in native form or a line that names them"
		switch {
		case native[data] || c.turn.media[data]:
			c.pass()
		case strings.Contains(a.text, data[:min(len(data), 24)]):
			c.fail(due, "base64 inside text")
		case !a.saysMore():
			c.fail(due, "nothing")
		default:
			c.degraded("a line of text stands for " + it.Placeholder())
		}
	}
}

// saysMore tells whether the result, or what follows the results, has any text
// that is not the tool's own: only that can stand for what is no text.
func (a answer) saysMore() bool {
	for _, text := range []string{a.text, a.after} {
		for _, it := range wire.ReadItems(a.want.Content) {
			if it.Kind == wire.ItemText || it.Kind == wire.ItemDocument {
				text = strings.Replace(text, strings.TrimSpace(it.Text), "", 1)
			}
		}
		if strings.TrimSpace(text) != "" {
			return true
		}
	}
	return false
}
