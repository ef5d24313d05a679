package codecs

import (
	"fmt"
	"hash/fnv"
	"strconv"
)

// PairResults sets the Pos of results that came without one (Pos < 0): first by
// an id that stands for exactly one call, then in order among the calls that
// are left. It fails on a result that answers no call, and on two results for
// one call.
func PairResults(calls []ToolCall, results []ToolResult) ([]ToolResult, error) {
	taken := map[int]bool{}
	known := map[int]ToolCall{}
	byID := map[string][]int{}
	for _, c := range calls {
		known[c.Pos] = c
		if c.ID != "" {
			byID[c.ID] = append(byID[c.ID], c.Pos)
		}
	}
	out := append([]ToolResult(nil), results...)
	for i, r := range out {
		if r.Pos < 0 {
			if at := byID[r.ID]; r.ID != "" && len(at) == 1 {
				out[i].Pos = at[0]
			} else if r.ID != "" && len(at) == 0 && len(byID) == len(calls) {
				return nil, fmt.Errorf("results[%d]: %w: no call has the id %q", i, ErrNoCall, r.ID)
			} else {
				continue
			}
		} else if c, ok := known[r.Pos]; !ok {
			return nil, fmt.Errorf("results[%d]: %w: the turn has no call %d", i, ErrNoCall, r.Pos)
		} else if r.ID != "" && c.ID != "" && r.ID != c.ID {
			return nil, fmt.Errorf("results[%d]: %w: call %d has the id %q, the result %q", i, ErrNoCall, r.Pos, c.ID, r.ID)
		}
		if taken[out[i].Pos] {
			return nil, fmt.Errorf("results[%d]: call %d has two results", i, out[i].Pos)
		}
		taken[out[i].Pos] = true
	}
	// Each queue only moves forward: what stands before its head is taken.
	byName := map[string][]int{}
	var all []int
	for _, c := range calls {
		byName[c.Name] = append(byName[c.Name], c.Pos)
		all = append(all, c.Pos)
	}
	for i, r := range out {
		if r.Pos >= 0 {
			continue
		}
		queue := all
		if r.Name != "" {
			queue = byName[r.Name]
		}
		for len(queue) > 0 && taken[queue[0]] {
			queue = queue[1:]
		}
		if len(queue) == 0 {
			return nil, fmt.Errorf("results[%d]: %w: no call of %q is left", i, ErrNoCall, r.Name)
		}
		out[i].Pos, taken[queue[0]] = queue[0], true
		if r.Name != "" {
			byName[r.Name] = queue
		} else {
			all = queue
		}
	}
	for i, r := range out {
		c := known[r.Pos]
		if r.ID == "" {
			out[i].ID = c.ID
		}
		if r.Name == "" {
			out[i].Name = c.Name
		}
	}
	return out, nil
}

// ResultsByPos checks results against the calls of a turn and returns them by
// the ordinal of their call.
func ResultsByPos(calls []ToolCall, results []ToolResult) (map[int]ToolResult, error) {
	paired, err := PairResults(calls, results)
	if err != nil {
		return nil, err
	}
	out := make(map[int]ToolResult, len(paired))
	for _, r := range paired {
		out[r.Pos] = r
	}
	return out, nil
}

// MadeID makes the id of a call that came without one, for the echo and the
// result together. It depends on the body of the turn and the ordinal of the
// call only, so the same turn always gets the same ids and two turns do not
// share them. rule mistral9 gives nine letters and digits, every other rule
// prefix and nine characters.
func MadeID(body Raw, pos int, prefix, rule string) string {
	// A bounded sample, so that a turn of many calls does not hash its body once
	// for each of them.
	const sample = 4 << 10
	h := fnv.New64a()
	h.Write(body[:min(len(body), sample)])
	h.Write(body[max(len(body)-sample, 0):])
	h.Write([]byte(strconv.Itoa(len(body)) + "/" + strconv.Itoa(pos)))
	s := strconv.FormatUint(h.Sum64(), 36) + "000000000"
	if rule == "mistral9" {
		return s[:9]
	}
	return prefix + s[:9]
}
