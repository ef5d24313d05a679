package codecs

import (
	"fmt"
)

// Turn holds the calls of one turn of the model while the results that answer
// them are found. It is the only place that decides which call a result
// answers:
//
//   - the ordinal that the result says, which has to agree with its id and its
//     name where call and result both have one;
//   - else an id that exactly one unanswered call has; of calls that share it,
//     the name tells, in order;
//   - else, for a result without an id or with one that no call has, the name
//     among the unanswered calls without an id, in order; for a result without
//     any id also among the others;
//   - else, for a result without a name, the order.
//
// A result with an id that no call has, in a turn whose calls all have one, is
// an error, as is a second result for a call: nothing is guessed.
type Turn struct {
	calls    []ToolCall
	rising   bool // the ordinals of the calls rise
	answered []bool
	index    *turnIndex // where there are many calls
	steps    int        // over its queues, for the test that they are few
}

// fewCalls are looked through each time; for more of them there is an index.
const fewCalls = 8

type turnIndex struct {
	place  map[int]int         // ordinal -> index
	ids    map[string]int      // how many calls have an id; "" stands for none
	known  map[string]int      // the last call with an id
	queues map[callGroup][]int // indexes; what stands before a head is answered
}

// callGroup names calls that have something in common.
type callGroup struct {
	id, name       string
	anyID, anyName bool
}

func (g callGroup) has(c ToolCall) bool {
	return (g.anyID || g.id == c.ID) && (g.anyName || g.name == c.Name)
}

// NewTurn begins a turn. The ordinal of a call is its Pos; where these do not
// rise, as in literals that leave them out or where two messages make one turn, it
// is the place in the list, and says nothing beside an id of its own.
func NewTurn(calls []ToolCall) *Turn {
	t := &Turn{calls: calls, rising: true, answered: make([]bool, len(calls))}
	for i := range calls {
		t.rising = t.rising && (i == 0 || calls[i].Pos > calls[i-1].Pos)
	}
	if len(calls) <= fewCalls {
		return t
	}
	x := &turnIndex{place: map[int]int{}, ids: map[string]int{}, known: map[string]int{}, queues: map[callGroup][]int{}}
	for i, c := range calls {
		x.place[t.ordinalOf(i)] = i
		x.ids[c.ID]++
		x.known[c.ID] = i
		for _, g := range []callGroup{{id: c.ID, name: c.Name}, {id: c.ID, anyName: true}, {anyID: true, name: c.Name}, {anyID: true, anyName: true}} {
			x.queues[g] = append(x.queues[g], i)
		}
	}
	t.index = x
	return t
}

func (t *Turn) ordinalOf(i int) int {
	if t.rising {
		return t.calls[i].Pos
	}
	return i
}

// sharing returns how many calls have the id and the last of them.
func (t *Turn) sharing(id string) (n, last int) {
	if t.index != nil {
		return t.index.ids[id], t.index.known[id]
	}
	for i := range t.calls {
		if t.calls[i].ID == id {
			n, last = n+1, i
		}
	}
	return n, last
}

// at returns the call with the ordinal.
func (t *Turn) at(pos int) (int, bool) {
	if t.index != nil {
		i, ok := t.index.place[pos]
		return i, ok
	}
	for i := range t.calls {
		if t.ordinalOf(i) == pos {
			return i, true
		}
	}
	return 0, false
}

// Answer finds the call that a result answers, marks it as answered and returns
// its index in the list of the turn; -1 with an error, but for ErrTwoResults,
// which comes with the call that has one. Where several results are at hand, use
// AnswerAll: it does not depend on their order.
func (t *Turn) Answer(r ToolResult) (call int, err error) {
	i, err := t.find(r)
	if err != nil {
		return i, err
	}
	t.answered[i] = true
	return i, nil
}

// AnswerAll answers for several results of the turn: first those that say most,
// so that one without an id does not take the call of one with an id. calls and
// errs have what Answer says of each; errs is nil when every result has its call.
func (t *Turn) AnswerAll(results []ToolResult) (calls []int, errs []error) {
	calls = make([]int, len(results))
	for rank := range ranks {
		for i, r := range results {
			if t.rank(r) != rank {
				continue
			}
			var err error
			if calls[i], err = t.Answer(r); err != nil {
				if errs == nil {
					errs = make([]error, len(results))
				}
				errs[i] = err
			}
		}
	}
	return calls, errs
}

// Open returns the indexes of the calls without a result.
func (t *Turn) Open() []int {
	var out []int
	for i, done := range t.answered {
		if !done {
			out = append(out, i)
		}
	}
	return out
}

// Has tells whether a call of the turn has the id.
func (t *Turn) Has(id string) bool {
	n, _ := t.sharing(id)
	return n > 0
}

// ranks is how many steps rank knows.
const ranks = 5

// rank orders results by how much they say of their call.
func (t *Turn) rank(r ToolResult) int {
	known := r.ID != "" && t.Has(r.ID)
	switch {
	case r.Pos != nil:
		return 0
	case known && r.Name != "":
		return 1
	case known:
		return 2
	case r.Name != "":
		return 3
	}
	return 4
}

func (t *Turn) find(r ToolResult) (int, error) {
	same, last := t.sharing(r.ID)
	if r.Pos != nil && (t.rising || same != 1 || r.ID == "") {
		return t.ordinal(r)
	}
	named := r.Name != ""
	if r.ID != "" && same > 0 {
		if i := t.first(callGroup{id: r.ID, name: r.Name, anyName: !named}); i >= 0 {
			return i, nil
		}
		switch i := t.first(callGroup{id: r.ID, anyName: true}); {
		case i < 0:
			return last, fmt.Errorf("%w: the id %q stands in more results than calls", ErrTwoResults, r.ID)
		case same == 1: // the name says nothing beside an id of its own
			return i, nil
		}
		return -1, fmt.Errorf("%w: no call of %q with the id %q is left", ErrNoCall, r.Name, r.ID)
	}
	if without, _ := t.sharing(""); r.ID != "" && without == 0 {
		return -1, fmt.Errorf("%w: no call has the id %q", ErrNoCall, r.ID)
	}
	groups := []callGroup{{name: r.Name}, {name: r.Name, anyID: true}}
	switch {
	case r.ID != "":
		groups = []callGroup{{name: r.Name, anyName: !named}}
	case !named:
		groups = []callGroup{{anyID: true, anyName: true}}
	}
	for _, g := range groups {
		if i := t.first(g); i >= 0 {
			return i, nil
		}
	}
	if named {
		return -1, fmt.Errorf("%w: no call of %q is left", ErrNoCall, r.Name)
	}
	return -1, fmt.Errorf("%w: no call is left", ErrNoCall)
}

// ordinal finds the call of a result that says its ordinal.
func (t *Turn) ordinal(r ToolResult) (int, error) {
	i, ok := t.at(*r.Pos)
	if !ok {
		return -1, fmt.Errorf("%w: the turn has no call %d", ErrNoCall, *r.Pos)
	}
	switch c := t.calls[i]; {
	case r.ID != "" && c.ID != "" && r.ID != c.ID:
		return -1, fmt.Errorf("%w: call %d has the id %q, the result %q", ErrNoCall, *r.Pos, c.ID, r.ID)
	case r.Name != "" && c.Name != "" && r.Name != c.Name:
		return -1, fmt.Errorf("%w: call %d is one of %q, the result one of %q", ErrNoCall, *r.Pos, c.Name, r.Name)
	case t.answered[i]:
		return i, fmt.Errorf("%w: call %d has two results", ErrTwoResults, *r.Pos)
	}
	return i, nil
}

// first returns the first call of a group without a result, -1 when none is
// left. Each queue only moves forward, so that all results of a turn together
// cost no more than its calls.
func (t *Turn) first(g callGroup) int {
	if t.index == nil {
		for i, c := range t.calls {
			if !t.answered[i] && g.has(c) {
				return i
			}
		}
		return -1
	}
	queue := t.index.queues[g]
	for len(queue) > 0 && t.answered[queue[0]] {
		queue = queue[1:]
		t.steps++
	}
	t.index.queues[g] = queue
	if len(queue) == 0 {
		return -1
	}
	return queue[0]
}

// Result begins the result of the call: ordinal, id and name as the call has
// them, and content blocks in MCP form.
func (c ToolCall) Result(content ...Raw) ToolResult {
	pos := c.Pos
	return ToolResult{Pos: &pos, ID: c.ID, Name: c.Name, Content: content}
}
