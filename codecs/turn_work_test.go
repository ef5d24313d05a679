package codecs

import (
	"testing"
)

// TestTurnWork: the steps over the queues of a turn, all results together, grow
// with the calls, not with their square, whatever calls and results share.
func TestTurnWork(t *testing.T) {
	const n = 2000
	calls, results := make([]ToolCall, n), make([]ToolResult, n)
	for _, id := range []string{"", "x"} {
		for _, name := range []string{"", "tide"} {
			for i := range calls {
				calls[i] = ToolCall{Pos: i, ID: id, Name: "tide"}
				results[i] = ToolResult{ID: id, Name: name}
			}
			turn := NewTurn(calls)
			if _, errs := turn.AnswerAll(results); errs != nil {
				t.Fatal(errs[0])
			}
			if turn.steps > 8*n {
				t.Errorf("id %q, name %q: %d steps for %d calls", id, name, turn.steps, n)
			}
		}
	}
}
