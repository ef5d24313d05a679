package wire

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
)

// place says where a part stands in a history: the indexes of its message and
// of the part in it.
type place struct{ Message, Part int }

// round is one turn of the model in a history and the results that follow it:
// neighbouring assistant messages, and what comes before the next one.
type round struct {
	Calls   []place
	Results []place
	Answers []int   // for each result the index of its call in Calls, -1 for none
	Errs    []error // why a result has none; nil when all have one
}

// rounds pairs the results of a history with its calls, turn by turn. A result
// answers a call of the turn before it; one with an id that no call there has,
// the only open call of an earlier turn with that id. Results in front of every
// turn make a round without calls. Native messages are not read.
func rounds(messages []codecs.Message) []round {
	var rounds []round
	before := "" // role of the message before
	for i, m := range messages {
		if m.Role == "assistant" && before != m.Role || len(rounds) == 0 {
			rounds = append(rounds, round{})
		}
		before = m.Role
		last := &rounds[len(rounds)-1]
		for j, p := range m.Parts {
			switch {
			case m.Native != nil:
			case p.Kind == codecs.KindCall && p.Call != nil:
				last.Calls = append(last.Calls, place{i, j})
			case p.Kind == codecs.KindResult && p.Result != nil:
				last.Results = append(last.Results, place{i, j})
			}
		}
	}
	h := history{messages: messages, rounds: rounds, open: map[string][]place{}}
	for i := range rounds {
		h.pair(i)
	}
	return rounds
}

// history pairs rounds.
type history struct {
	messages []codecs.Message
	rounds   []round
	open     map[string][]place // unanswered calls of earlier rounds by id: round, index of the call
}

func (h *history) pair(n int) {
	round := &h.rounds[n]
	calls := h.calls(*round)
	turn := codecs.NewTurn(calls)
	var here []place
	var results []codecs.ToolResult
	for _, at := range round.Results {
		r := *h.messages[at.Message].Parts[at.Part].Result
		if open := h.open[r.ID]; len(open) == 1 && r.ID != "" && !turn.Has(r.ID) {
			late := &h.rounds[open[0].Message]
			late.Results, late.Answers = append(late.Results, at), append(late.Answers, open[0].Part)
			if late.Errs != nil {
				late.Errs = append(late.Errs, nil)
			}
			delete(h.open, r.ID)
			continue
		}
		here, results = append(here, at), append(results, r)
	}
	round.Results = here
	round.Answers, round.Errs = turn.AnswerAll(results)
	for i, err := range round.Errs {
		if err != nil {
			round.Answers[i] = -1
		}
	}
	for _, c := range turn.Open() {
		if id := calls[c].ID; id != "" {
			h.open[id] = append(h.open[id], place{n, c})
		}
	}
}

func (h *history) calls(r round) []codecs.ToolCall {
	calls := make([]codecs.ToolCall, len(r.Calls))
	for i, at := range r.Calls {
		calls[i] = *h.messages[at.Message].Parts[at.Part].Call
	}
	return calls
}

// PairHistory leaves out what a history must not hold on any wire: a result
// whose call is not there, as when the front of the history was cut off, and a
// call without a result, as when a run was broken off. Each is a warning. A
// message that is empty after that, or holds nothing but reasoning, goes too.
//
// Turn says which call a result answers. A history with native messages comes
// back as it is: what they hold is the caller's.
func PairHistory(messages []codecs.Message) ([]codecs.Message, []codecs.Warning) {
	for _, m := range messages {
		if m.Native != nil {
			return messages, nil
		}
	}
	gone := map[place]codecs.Warning{}
	for _, round := range rounds(messages) {
		answered := map[int]bool{}
		for i, at := range round.Results {
			if answered[round.Answers[i]] = true; round.Answers[i] < 0 {
				gone[at] = codecs.Warnf(codecs.WarnResultOrphan, at.pointer(), "%v; the result is left out", round.Errs[i])
			}
		}
		for i, at := range round.Calls {
			if !answered[i] {
				gone[at] = codecs.Warnf(codecs.WarnCallDropped, at.pointer(), "the call of %s has no result; it is left out", messages[at.Message].Parts[at.Part].Call.Name)
			}
		}
	}
	if len(gone) == 0 {
		return messages, nil
	}
	var out []codecs.Message
	var warnings []codecs.Warning
	for i, m := range messages {
		var kept []codecs.Part
		content := false
		for j, p := range m.Parts {
			if w, left := gone[place{i, j}]; left {
				warnings = append(warnings, w)
				continue
			}
			kept = append(kept, p)
			content = content || p.Kind != codecs.KindReasoning
		}
		if len(kept) < len(m.Parts) && !content {
			continue
		}
		m.Parts = kept
		out = append(out, m)
	}
	return out, warnings
}

// pointer is the JSON pointer of the place in a neutral request.
func (p place) pointer() string { return fmt.Sprintf("/messages/%d/parts/%d", p.Message, p.Part) }
