package judge

import (
	"github.com/toolconform/conform/codecs"
)

// Echo is a turn of the last request whose calls it answers, beside the replies
// that the turn is the echo of. It judges nothing: whoever asks holds both, or a
// continuation of their own, against the replies.
type Echo struct {
	Replies  []Exchange    // more than one where a paused reply was carried on
	Ordinals []int         // of their exchanges
	Parts    []codecs.Part // of the turn, as the request has them
	Calls    []EchoedCall  // of the replies, in their order
	Results  []codecs.ToolResult

	// ByReference says that the engine keeps the turn and the request only names
	// it: Parts are empty, and a result is found by the id of its call.
	ByReference bool
	// ReasoningDue says that the engine of the profile reads reasoning that is
	// sent back to it.
	ReasoningDue bool
}

// EchoedCall is a call of a reply.
type EchoedCall struct {
	codecs.ToolCall
	Reply  int // which of the replies
	Echo   int // its place among the calls of the turn; -1 where it has none
	Result int // its place among the results; -1 where it has none
}

// Echoes returns the turns of the last request that answer a call of a reply
// which no earlier request answered.
func (s *Session) Echoes() []Echo {
	if len(s.seen) == 0 || s.seen[len(s.seen)-1].RequestErr != nil {
		return nil
	}
	now := s.seen[len(s.seen)-1]
	c := scene{session: s, x: now}
	due := c.reasoningLevel() != "" && !c.thinkingIsOff()
	var out []Echo
	for _, t := range now.turns {
		e := Echo{Parts: t.assistant, Results: t.results, ReasoningDue: due}
		for i, r := range t.replies {
			e.Replies, e.Ordinals = append(e.Replies, r.Exchange), append(e.Ordinals, r.ordinal)
			for _, w := range t.wanted {
				if w.key.exchange == r.ordinal {
					call := EchoedCall{ToolCall: w.ToolCall, Reply: i, Echo: w.echo, Result: -1}
					if n, ok := t.answers[w.echo]; ok && w.echo >= 0 {
						call.Result = n
					}
					e.Calls = append(e.Calls, call)
				}
			}
		}
		out = s.told(out, e)
	}
	if len(now.stray) > 0 && c.storedHistory() {
		for i, o := range s.seen[:len(s.seen)-1] {
			if e, ok := byReference(o, i, now.stray); ok {
				e.ReasoningDue = due
				out = s.told(out, e)
			}
		}
	}
	return out
}

// byReference finds the calls of a reply that results without a turn answer.
func byReference(o *observed, ordinal int, stray []codecs.ToolResult) (Echo, bool) {
	e := Echo{Replies: []Exchange{o.Exchange}, Ordinals: []int{ordinal}, Results: stray, ByReference: true}
	found := false
	for _, call := range o.Reply.Calls() {
		at := -1
		for n, r := range stray {
			if r.ID != "" && r.ID == call.ID {
				at, found = n, true
			}
		}
		e.Calls = append(e.Calls, EchoedCall{ToolCall: call, Echo: -1, Result: at})
	}
	return e, found && o.Replied
}

// told adds an echo that answers a call, unless an earlier request did so.
func (s *Session) told(out []Echo, e Echo) []Echo {
	answered := false
	for _, call := range e.Calls {
		answered = answered || call.Result >= 0
	}
	if !answered || s.seen[e.Ordinals[len(e.Ordinals)-1]].echoed {
		return out
	}
	for _, i := range e.Ordinals {
		s.seen[i].echoed = true
	}
	return append(out, e)
}
