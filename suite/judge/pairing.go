package judge

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/results"
)

// pairingChecks judge which result answers which call, in every turn of a
// history: they need no reply.
func pairingChecks() []check {
	return []check{
		{"results.pairing", atRequest, strayResults},
		{"results.pairing", atTurn, resultsPairing},
		{"results.order", atTurn, resultsOrder},
		{"results.adjacent", atTurn, resultsAdjacent},
		{"truncation.no_dangling", atTurn, noDangling},
	}
}

// strayResults looks for results that no turn stands before.
func strayResults(c *scene) {
	if len(c.x.stray) > 0 && !c.storedHistory() {
		c.fail("a call before each result", foreign(c.x.stray[0]))
	}
}

func foreign(r codecs.ToolResult) string {
	return fmt.Sprintf("a result for %q (id %q) that no call of the turn asks for", r.Name, r.ID)
}

// counts tells how many results each call of the turn has, and the first result
// that answers none, nor any other block of the turn that has its id.
func (t *turn) counts() (of []int, orphan *codecs.ToolResult) {
	of = make([]int, len(t.calls))
	for n, k := range t.calledBy {
		if k < 0 {
			if orphan == nil && !t.asks(t.results[n].ID) {
				orphan = &t.results[n]
			}
			continue
		}
		of[k]++
	}
	return of, orphan
}

// asks tells whether a block that is no tool call has the id: a client answers
// some of those too.
func (t *turn) asks(id string) bool {
	for _, p := range t.assistant {
		if p.Kind != codecs.KindClient && p.Kind != codecs.KindServer && p.Kind != codecs.KindOpaque || id == "" {
			continue
		}
		for _, m := range jsonx.Of(p.Extra).Members() {
			if m.Value.Str() == id {
				return true
			}
		}
	}
	return false
}

func resultsPairing(c *scene) {
	counts, orphan := c.turn.counts()
	if orphan != nil && !c.storedHistory() {
		c.fail("results for the calls of the turn only", foreign(*orphan))
		return
	}
	ok := true
	for k, n := range counts {
		if n == 1 || n == 0 && c.turn.cutAny() { // noDangling
			continue
		}
		level := results.Must
		if n == 0 && !c.ran(k) {
			level = mustIf(!c.wire().OpenCalls)
		}
		c.failAt(level, fmt.Sprintf("one result for call %d (%s)", k+1, c.turn.calls[k].Name), fmt.Sprintf("%d", n))
		ok = false
	}
	if ok && len(counts) > 0 {
		c.pass()
	}
}

// ran tells whether the call that stands at k in the history reached a tool
// server: its result is lost then, whatever the engine takes.
func (c *scene) ran(k int) bool {
	for _, w := range c.turn.wanted {
		if w.echo == k {
			_, ok := c.session.answered(w.key)
			return ok
		}
	}
	return false
}

func noDangling(c *scene) {
	if !c.turn.cutAny() {
		return
	}
	counts, _ := c.turn.counts()
	for k, n := range counts {
		if n == 0 {
			c.fail(fmt.Sprintf("one result for call %d (%s)", k+1, c.turn.calls[k].Name), "0")
			return
		}
	}
	c.pass()
}

// resultsOrder judges the order where only that pairs. Results that have names
// are told apart by them, so another order is only odd there.
func resultsOrder(c *scene) {
	order, names := c.orderPairs(c.turn.calls)
	if len(c.turn.calls) < 2 || !order {
		return
	}
	last := -1
	for _, k := range c.turn.calledBy {
		if k >= 0 && k < last {
			c.failAt(mustIf(!names), "results in the order of the calls", "another order")
			return
		}
		last = k
	}
	c.pass()
}

func resultsAdjacent(c *scene) {
	switch {
	case c.turn.between > 0:
		c.fail("results directly after the calls", fmt.Sprintf("%d parts between them", c.turn.between))
	case len(c.turn.results) > 0:
		c.pass()
	}
}
