package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/wire"
)

// requestChecks judge the request as a whole. A check that reads the bytes, the
// path or the header has them in scene.x.In.
func requestChecks() []check {
	return []check{
		{"request.reads", atRequest, requestReads},
		{"request.form", atRequest, requestForm},
		{"request.parameters", atRequest, requestParameters},
		{"request.as_recorded", atRequest, requestAsRecorded},
		{"request.as_recorded", atEnd, requestsAsRecorded},
	}
}

func requestReads(c *scene) {
	if c.x.RequestErr != nil {
		c.fail("a request of the dialect", c.x.RequestErr.Error())
		return
	}
	c.pass()
}

// requestForm passes on what the reading says that the provider refuses. Looking
// at the bytes, it belongs to the codec; a stricter reader adds to it.
func requestForm(c *scene) {
	ok := c.x.RequestErr == nil
	for _, w := range c.x.Forgiven {
		if w.Code == codecs.WarnRequestForm {
			c.fail("a form that the provider takes", w.Pointer+": "+w.Text)
			ok = false
		}
	}
	if ok {
		c.pass()
	}
}

// requestParameters compares what the request asks for besides its content. A
// model that does not stand in the request cannot be compared.
func requestParameters(c *scene) {
	want, req := c.expect(), c.x.Request
	if c.x.RequestErr != nil || want.Model == "" && want.MaxTokens == 0 && want.Stream == nil && want.Parallel == nil && want.Choice.Mode == "" {
		return
	}
	choice, _, _ := wire.GateChoice(want.Choice, nil, len(req.Tools) > 0, c.x.Profile)
	switch {
	case want.Model != "" && req.Model != "" && req.Model != want.Model:
		c.fail(fmt.Sprintf("the model %q", want.Model), fmt.Sprintf("%q", req.Model))
	case want.MaxTokens > 0 && req.MaxTokens != want.MaxTokens:
		c.fail(fmt.Sprintf("a limit of %d tokens", want.MaxTokens), fmt.Sprintf("%d", req.MaxTokens))
	case want.Stream != nil && !*want.Stream && req.Stream:
		c.fail("no stream", "stream: true")
	case want.Stream != nil && *want.Stream && !req.Stream:
		c.fail("a stream", "none asked for")
	case !c.wire().TextCalls && slices.Contains(c.wire().Choices, choice.Mode) && (req.Choice.Mode != choice.Mode || req.Choice.Name != choice.Name):
		c.fail("the choice "+shownChoice(choice), shownChoice(req.Choice))
	case want.Parallel != nil && c.wire().Parallel && !c.x.Profile.NoParallel && (req.Parallel == nil || *req.Parallel != *want.Parallel):
		c.fail(fmt.Sprintf("parallel calls %v", *want.Parallel), "nothing said of it, or the opposite")
	default:
		c.pass()
	}
}

func shownChoice(c codecs.Choice) string {
	if c.Mode == "" {
		return "none sent"
	}
	return strings.TrimSpace(c.Mode + " " + c.Name)
}

func requestAsRecorded(c *scene) {
	tape := c.expect().Recorded
	if tape == nil || tape.Differs == nil {
		return
	}
	if err := tape.Differs(len(c.session.seen)-1, c.x.In); err != nil {
		c.say("", "fail", "", err.Error())
		return
	}
	c.pass()
}

func requestsAsRecorded(c *scene) {
	if tape := c.expect().Recorded; tape != nil && len(c.session.seen) < tape.Requests {
		c.say("", "fail", "", fmt.Sprintf("the tape has %d requests, %d were sent", tape.Requests, len(c.session.seen)))
	}
}
