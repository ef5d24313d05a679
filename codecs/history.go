package codecs

import "fmt"

// PairHistory leaves out what a history must not hold on any wire: a result
// whose call is not there, as when the front of the history was cut off, and a
// call without a result, as when a run was broken off. Each is a warning. A
// message that is empty after that, or holds nothing but reasoning, goes too.
//
// Results are paired by id, those without one by name and order. A history with
// native messages comes back as it is: what they hold is the caller's.
func PairHistory(messages []Message) ([]Message, []Warning) {
	var calls []*openCall
	byID, byName := map[string][]*openCall{}, map[string][]*openCall{}
	anyName := map[string][]*openCall{} // all calls, under one key
	orphan := map[[2]int]bool{}
	for i, m := range messages {
		if m.Native != nil {
			return messages, nil
		}
		for j, p := range m.Parts {
			switch {
			case p.Kind == CallKind && p.Call != nil:
				c := &openCall{at: [2]int{i, j}, call: p.Call}
				calls = append(calls, c)
				byID[c.call.ID] = append(byID[c.call.ID], c)
				byName[c.call.Name] = append(byName[c.call.Name], c)
				anyName[""] = append(anyName[""], c)
			case p.Kind == ResultKind && p.Result != nil:
				if !answer(byID, byName, anyName, *p.Result) {
					orphan[[2]int{i, j}] = true
				}
			}
		}
	}
	open := map[[2]int]bool{}
	for _, c := range calls {
		if !c.answered {
			open[c.at] = true
		}
	}
	if len(orphan)+len(open) == 0 {
		return messages, nil
	}
	return withoutParts(messages, open, orphan)
}

type openCall struct {
	at       [2]int
	call     *ToolCall
	answered bool
}

// answer marks the call that a result answers; false when there is none.
func answer(byID, byName, anyName map[string][]*openCall, r ToolResult) bool {
	take := func(lists map[string][]*openCall, key string) bool {
		for len(lists[key]) > 0 {
			c := lists[key][0]
			lists[key] = lists[key][1:]
			if !c.answered {
				c.answered = true
				return true
			}
		}
		return false
	}
	if r.ID != "" && take(byID, r.ID) {
		return true
	}
	if r.ID != "" { // the id of a result may be made although its call has none
		return take(byID, "")
	}
	if r.Name != "" {
		return take(byName, r.Name)
	}
	return take(anyName, "")
}

func withoutParts(messages []Message, open, orphan map[[2]int]bool) ([]Message, []Warning) {
	var out []Message
	var warnings []Warning
	for i, m := range messages {
		var kept []Part
		content := false
		for j, p := range m.Parts {
			at := fmt.Sprintf("/messages/%d/parts/%d", i, j)
			switch {
			case open[[2]int{i, j}]:
				warnings = append(warnings, Warnf(WarnCallDropped, at, "the call of %s has no result; it is left out", p.Call.Name))
			case orphan[[2]int{i, j}]:
				warnings = append(warnings, Warnf(WarnResultOrphan, at, "the result %q answers no call of the history; it is left out", p.Result.ID))
			default:
				kept = append(kept, p)
				content = content || p.Kind != Reasoning
			}
		}
		if len(kept) == len(m.Parts) {
			out = append(out, m)
			continue
		}
		if content {
			m.Parts = kept
			out = append(out, m)
		}
	}
	return out, warnings
}
