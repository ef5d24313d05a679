package openai

import (
	"hash/fnv"
	"strconv"

	"github.com/toolconform/conform/codecs"
)

// digest stands for a long seed where an id is made for each of many calls.
func digest(seed string) codecs.Raw {
	h := fnv.New64a()
	h.Write([]byte(seed))
	return codecs.Raw(strconv.FormatUint(h.Sum64(), 36))
}

// sentCall is a call of an assistant message and the id that it goes out
// under; came is the id that the history has.
type sentCall struct {
	codecs.ToolCall
	came     string
	emptied  bool // {} goes out in place of its arguments
	answered bool
}

// sentTurn holds the calls of the last assistant message while the results
// that follow are matched to them. Looking up does not scan the turn again for
// every result.
type sentTurn struct {
	calls  []sentCall
	byID   map[string][]int // ordinals that are not answered yet
	byName map[string][]int
	next   int // where to look for a call of any name
}

func newTurn(parts []codecs.Part) sentTurn {
	var calls []sentCall
	for _, p := range parts {
		if p.Kind == codecs.CallKind && p.Call != nil {
			calls = append(calls, sentCall{ToolCall: *p.Call, came: p.Call.ID})
		}
	}
	return turnOf(calls)
}

func turnOf(calls []sentCall) sentTurn {
	t := sentTurn{calls: calls, byID: map[string][]int{}, byName: map[string][]int{}}
	for i, c := range calls {
		t.byID[c.came] = append(t.byID[c.came], i)
		t.byName[c.Name] = append(t.byName[c.Name], i)
	}
	return t
}

// answered finds the call that a result answers and marks it: by its id; else,
// for calls without an id, by its ordinal; else, for a result without an id,
// the next one of its name. It returns nil when there is none.
func (t *sentTurn) answered(r codecs.ToolResult) *sentCall {
	if r.ID != "" {
		if c := t.take(t.byID, r.ID); c != nil {
			return c
		}
	}
	if r.Pos >= 0 && r.Pos < len(t.calls) {
		if c := &t.calls[r.Pos]; !c.answered && (r.ID == "" || c.came == "") {
			c.answered = true
			return c
		}
	}
	switch {
	case r.ID != "":
		return nil
	case r.Name != "":
		return t.take(t.byName, r.Name)
	}
	for ; t.next < len(t.calls); t.next++ {
		if c := &t.calls[t.next]; !c.answered {
			c.answered = true
			return c
		}
	}
	return nil
}

// take returns the first open call of a list and shortens the list.
func (t *sentTurn) take(lists map[string][]int, key string) *sentCall {
	for len(lists[key]) > 0 {
		c := &t.calls[lists[key][0]]
		lists[key] = lists[key][1:]
		if !c.answered {
			c.answered = true
			return c
		}
	}
	return nil
}
