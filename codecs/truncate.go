package codecs

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/internal/jsonx"
)

// Truncation says which calls of a reply a token limit is taken to have cut.
type Truncation int

const (
	// Safe drops undecodable calls, and the last call when it misses a
	// property that its schema requires; and it sees the limit in the token
	// count too. It is the default.
	Safe Truncation = iota
	// Documented is the rule of the source documents alone: on a token-limit
	// stop, calls whose arguments do not decode are dropped.
	Documented
)

// Truncate drops the calls of r that a token limit cut, so that nothing partial
// runs. It is pure and knows no dialect. maxTokens is what the request allowed,
// 0 when it named no limit.
//
// The kept reply has the same Body: Continue leaves a call out of the echo when
// it has no result. When every call was cut, err is a *TruncatedError.
// A cut that still decodes, misses no required property and shows no sign of the
// limit cannot be seen.
func Truncate(r Reply, tools []Tool, maxTokens int, rule Truncation) (kept Reply, dropped []ToolCall, err error) {
	reason, limit := LimitHit(r, maxTokens, rule)
	calls := r.Calls()
	cut := map[int]bool{}
	for i, c := range calls {
		switch {
		case limit && c.ArgumentsErr != "":
			cut[c.Pos] = true
		case rule == Documented:
		case c.Cut:
			cut[c.Pos] = true
		case limit && i == len(calls)-1 && missesRequired(c, tools):
			cut[c.Pos] = true
		}
	}
	unfinished := rule == Safe && r.Unfinished > 0
	if len(cut) == 0 && !unfinished {
		return r, nil, nil
	}
	if reason == "" {
		reason = r.RawFinish
	}
	kept = r
	kept.Parts = nil
	for _, p := range r.Parts {
		if p.Kind == KindCall && p.Call != nil && cut[p.Call.Pos] {
			dropped = append(dropped, *p.Call)
			continue
		}
		kept.Parts = append(kept.Parts, p)
	}
	if len(dropped) == len(calls) {
		if len(dropped) == 0 { // only a call too short to have a name
			dropped = []ToolCall{{ArgumentsErr: "cut before the name could be read"}}
		}
		return kept, dropped, &TruncatedError{Reason: reason, Calls: dropped}
	}
	names := make([]string, 0, len(dropped)+r.Unfinished)
	for _, c := range dropped {
		names = append(names, c.Name)
	}
	for range r.Unfinished {
		names = append(names, "(cut before its name)")
	}
	kept.Warnings = append(append([]Warning(nil), r.Warnings...), Warnf(WarnTruncated, "",
		"dropped %d tool call(s) with truncated arguments (finish_reason %s): %s; raise response_size",
		len(names), reason, strings.Join(names, ", ")))
	return kept, dropped, nil
}

// LimitHit tells whether a token limit ended r, and what shows it: the finish
// reason, or under Safe the token count.
func LimitHit(r Reply, maxTokens int, rule Truncation) (reason string, hit bool) {
	if r.Finish == FinishLength {
		switch r.RawFinish {
		case "", "max_output_tokens", "incomplete": // the source documents name the limit of Responses length
			return FinishLength, true
		}
		return r.RawFinish, true
	}
	if rule == Safe && maxTokens > 0 && r.Usage != nil && usedUp(*r.Usage, int64(maxTokens)) {
		return fmt.Sprintf("%s, %d of %d tokens used", r.RawFinish, r.Usage.Output, maxTokens), true
	}
	return "", false
}

// usedUp tells whether the count shows that the limit was reached. Some hosts
// (xAI, Doubleword) do not count reasoning against it: there an output above the
// limit proves nothing, only one that reaches it without the reasoning does.
func usedUp(u Usage, limit int64) bool {
	return u.Output == limit || u.Output-u.Reasoning >= limit
}

// missesRequired tells whether decodable arguments lack a property that the
// schema of the tool requires at its top level.
func missesRequired(c ToolCall, tools []Tool) bool {
	if c.Arguments == nil {
		return false
	}
	for _, t := range tools {
		if t.Name != c.Name {
			continue
		}
		given := map[string]bool{}
		for _, m := range jsonx.Of(c.Arguments).Members() {
			given[m.Key] = true
		}
		for _, name := range jsonx.Of(t.InputSchema).Get("required").Items() {
			if key, ok := name.Text(); ok && !given[key] {
				return true
			}
		}
		return false
	}
	return false
}
