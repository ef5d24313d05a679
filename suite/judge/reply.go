package judge

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

func replyChecks() []check {
	return []check{
		{"reply.decodes", atReply, replyDecodes},
		{"reply.limit_visible", atReply, replyLimitVisible},
		{"reply.content", atReply, replyContent},
	}
}

func replyDecodes(c *scene) {
	switch {
	case c.x.ReplyErr != nil:
		c.fail("a reply of the dialect", c.x.ReplyErr.Error())
	case c.x.Replied:
		c.pass()
	}
}

func replyLimitVisible(c *scene) {
	switch {
	case !c.x.Replied:
	case c.x.hiddenLimit:
		c.fail("a finish reason that names the token limit", fmt.Sprintf("%q with the whole limit used", c.x.Reply.RawFinish))
	case c.x.Reply.Finish == codecs.FinishLength:
		c.pass()
	}
}

func replyContent(c *scene) {
	n := len(c.session.seen) - 1
	if turns := c.expect().Turns; c.x.Replied && n < len(turns) && turns[n] != nil {
		if d := replyDifference(*turns[n], c.x.Reply); d != "" {
			c.fail("the turn of the scenario", d)
			return
		}
		c.pass()
	}
}

// replyDifference names the first thing of an expected reply that the engine's
// lacks, "" when nothing is lost.
func replyDifference(want, got codecs.Reply) string {
	// Text dialects trim the text around calls.
	if w, g := strings.TrimSpace(want.Text()), strings.TrimSpace(got.Text()); w != g {
		return fmt.Sprintf("text %q instead of %q", g, w)
	}
	w, g := want.Calls(), got.Calls()
	if len(w) != len(g) {
		return fmt.Sprintf("%d calls instead of %d", len(g), len(w))
	}
	for i := range w {
		if w[i].Name != g[i].Name {
			return fmt.Sprintf("call %d is %q instead of %q", i, g[i].Name, w[i].Name)
		}
		if w[i].Arguments != nil && !jsonx.Equal(w[i].Arguments, g[i].Arguments) {
			return fmt.Sprintf("arguments of call %d are %s instead of %s", i, g[i].ArgumentsText, w[i].Arguments)
		}
	}
	if w, g := strings.TrimSpace(want.Reasoning()), strings.TrimSpace(got.Reasoning()); w != g {
		return fmt.Sprintf("reasoning %q instead of %q", g, w)
	}
	return ""
}
