package codecs_test

import (
	"errors"
	"testing"

	"github.com/toolconform/conform/codecs"
)

func reply(finish string, calls ...codecs.ToolCall) codecs.Reply {
	r := codecs.Reply{Finish: finish, RawFinish: finish, Usage: &codecs.Usage{Output: 10}}
	for i := range calls {
		calls[i].Pos = i
		r.Parts = append(r.Parts, codecs.Part{Kind: codecs.KindCall, Call: &calls[i]})
	}
	return r
}

// TestTruncate: what a token limit is taken to have cut (TU rows, design section 7).
func TestTruncate(t *testing.T) {
	tools := []codecs.Tool{{Name: "tide", InputSchema: codecs.Raw(`{"required":["harbour"]}`)}, {Name: "now", InputSchema: codecs.Raw(`{}`)}}
	whole := codecs.ToolCall{Name: "tide", ArgumentsText: `{"harbour":"Husum"}`, Arguments: codecs.Raw(`{"harbour":"Husum"}`)}
	broken := codecs.ToolCall{Name: "tide", ArgumentsText: `{"harb`, ArgumentsErr: "unexpected end"}
	missing := codecs.ToolCall{Name: "tide", Arguments: codecs.Raw(`{}`)}
	none := codecs.ToolCall{Name: "now", Arguments: codecs.Raw(`{}`)}
	flagged := whole
	flagged.Cut = true
	unfinished := reply("length")
	unfinished.Unfinished = 1
	for _, c := range []struct {
		name      string
		r         codecs.Reply
		maxTokens int
		rule      codecs.Truncation
		kept      int
		dropped   int
		err       bool
	}{
		{"no limit, broken arguments stay for the error result (TU12)", reply("tool_calls", broken), 0, codecs.Safe, 1, 0, false},
		{"lone broken call (TU01)", reply("length", broken), 0, codecs.Safe, 0, 1, true},
		{"complete and broken (TU10)", reply("length", whole, broken), 0, codecs.Safe, 1, 1, false},
		{"complete under the limit runs (TU11)", reply("length", whole), 0, codecs.Safe, 1, 0, false},
		{"last call misses a required property (TU19)", reply("length", whole, missing), 0, codecs.Safe, 1, 1, false},
		{"the same under the documented rule", reply("length", whole, missing), 0, codecs.Documented, 2, 0, false},
		{"an earlier call that misses it was the model's own fault", reply("length", missing, whole), 0, codecs.Safe, 2, 0, false},
		{"a tool that requires nothing (TU18)", reply("length", none), 0, codecs.Safe, 1, 0, false},
		{"the limit shows in the token count only", reply("tool_calls", whole, broken), 10, codecs.Safe, 1, 1, false},
		{"the same under the documented rule", reply("tool_calls", whole, broken), 10, codecs.Documented, 2, 0, false},
		{"below the limit", reply("tool_calls", whole, broken), 11, codecs.Safe, 2, 0, false},
		{"the wire itself says that the call is cut", reply("tool_calls", whole, flagged), 0, codecs.Safe, 1, 1, false},
		{"a call without a readable name", unfinished, 0, codecs.Safe, 0, 1, true},
		{"no call at all", reply("length"), 0, codecs.Safe, 0, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := len(c.r.Parts)
			kept, dropped, err := codecs.Truncate(c.r, tools, c.maxTokens, c.rule)
			var te *codecs.TruncatedError
			if len(kept.Calls()) != c.kept || len(dropped) != c.dropped || errors.As(err, &te) != c.err {
				t.Errorf("kept %d, dropped %d, error %v; want %d, %d, %v", len(kept.Calls()), len(dropped), err, c.kept, c.dropped, c.err)
			}
			if len(c.r.Parts) != before {
				t.Error("the reply that was passed in changed")
			}
			warned := false
			for _, w := range kept.Warnings {
				warned = warned || w.Code == codecs.WarnTruncated
			}
			if want := c.dropped > 0 && !c.err; warned != want {
				t.Errorf("warned %v, want %v", warned, want)
			}
		})
	}
	_, _, err := codecs.Truncate(reply("length", broken), nil, 0, codecs.Safe)
	if want := "tool call arguments truncated (finish_reason length); raise response_size"; err == nil || err.Error() != want {
		t.Errorf("text %v, want %q", err, want)
	}
}
