package judge

import (
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

func truncationChecks() []check {
	return []check{{"truncation.not_run", atEnd, cutNotRun}}
}

// cutNotRun checks that no call that the limit cut reached a tool server.
func cutNotRun(c *scene) {
	if !c.session.Watched {
		return
	}
	for i, o := range c.session.seen {
		if len(o.cut) == 0 && o.Reply.Unfinished == 0 {
			continue
		}
		ran := false
		for _, call := range o.Reply.Calls() {
			if _, ok := c.session.answered(callKey{i, call.Pos}); ok && o.cut[call.Pos] {
				c.where = fmt.Sprintf("turn %d", i+1)
				c.fail(fmt.Sprintf("the cut call to %s (arguments %q) not run", call.Name, call.ArgumentsText), "it was run")
				ran = true
			}
		}
		if !ran {
			c.pass()
		}
	}
}

// CutCall names the way in which the client treated the first call that the
// token limit cut: run_empty, repaired_and_run, error_result, dropped, or stopped
// when no request followed; "" when nothing was cut.
func (s *Session) CutCall() string {
	for i, o := range s.seen {
		for _, call := range o.Reply.Calls() {
			if !o.cut[call.Pos] {
				continue
			}
			_, ran := s.answered(callKey{i, call.Pos})
			switch {
			case ran && s.ranEmpty(call.Name):
				return "run_empty"
			case ran:
				return "repaired_and_run"
			case i+1 == len(s.seen):
				return "stopped"
			case s.seen[i+1].answers(call.ID):
				return "error_result"
			}
			return "dropped"
		}
	}
	return ""
}

func (s *Session) ranEmpty(name string) bool {
	return slices.ContainsFunc(s.executed, func(e Executed) bool { return e.Name == name && jsonx.Equal(e.Arguments, []byte("{}")) })
}

// answers tells whether a request holds a result for the id.
func (o *observed) answers(id string) bool {
	for _, m := range o.Request.Messages {
		for _, p := range m.Parts {
			if p.Kind == codecs.KindResult && p.Result != nil && p.Result.ID == id && id != "" {
				return true
			}
		}
	}
	return false
}
