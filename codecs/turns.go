package codecs

// MergeResults joins neighbouring messages that hold nothing but tool results,
// so that what has to follow all results of a turn, such as a user message with
// their images, does not come between two of them. Other messages stay.
func MergeResults(messages []Message) []Message {
	out := make([]Message, 0, len(messages))
	run := false // the last message of out is a run of results, its parts our own
	for _, m := range messages {
		if !onlyResults(m) {
			out, run = append(out, m), false
			continue
		}
		if run {
			out[len(out)-1].Parts = append(out[len(out)-1].Parts, m.Parts...)
			continue
		}
		m.Parts = append([]Part(nil), m.Parts...)
		out, run = append(out, m), true
	}
	return out
}

func onlyResults(m Message) bool {
	for _, p := range m.Parts {
		if p.Kind != ResultKind || p.Result == nil {
			return false
		}
	}
	return len(m.Parts) > 0 && m.Native == nil
}

// TurnResults takes the results out of the parts of a message, for wires whose
// results have to name their tool. A result that only its id or its ordinal
// links to one of calls, those of the turn before, gets the name of that call.
// rest are the other parts.
func TurnResults(parts []Part, calls []ToolCall) (results []ToolResult, rest []Part) {
	for _, p := range parts {
		if p.Kind != ResultKind || p.Result == nil {
			rest = append(rest, p)
			continue
		}
		r := *p.Result
		for _, c := range calls {
			if r.Name == "" && ((r.ID != "" && r.ID == c.ID) || (r.ID == "" && r.Pos == c.Pos)) {
				r.Name = c.Name
			}
		}
		results = append(results, r)
	}
	return results, rest
}
