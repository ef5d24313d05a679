package codecs

import "errors"

// SetFinish normalises r.RawFinish by the table of a dialect. Where the turn
// has a call, a normal end is tool_calls; tool_calls without one is a normal
// end, with a warning. A reason that the table lacks gives "", with a warning,
// and a missing one "": the finish never decides whether there are calls.
// pointer is the place of the reason.
func SetFinish(r *Reply, table map[string]string, pointer string) {
	finish, known := table[r.RawFinish]
	if !known && r.RawFinish != "" {
		r.Warnings = append(r.Warnings, Warnf(WarnUnknownFinish, pointer, "unknown finish reason %q", r.RawFinish))
	}
	SettleFinish(r, finish, pointer)
}

// SettleFinish is SetFinish for a reason that is normalised already.
func SettleFinish(r *Reply, finish, pointer string) {
	acts := len(r.Calls()) > 0 || len(r.ClientCalls()) > 0
	switch {
	case finish == FinishStop && acts:
		finish = FinishToolCalls
	case finish == FinishToolCalls && !acts:
		finish = FinishStop
		r.Warnings = append(r.Warnings, Warnf(WarnFinishOdd, pointer, "finish reason %q without a call", r.RawFinish))
	}
	r.Finish = finish
}

// LostFinish warns, for RenderReply, that body does not say the finish of r:
// what a reader of the dialect makes of it decides. stop and tool_calls are one
// normal end here, which the calls tell apart.
func LostFinish(c Codec, r Reply, body Raw, p Profile) []Warning {
	normal := func(finish string) string {
		if finish == FinishToolCalls {
			return FinishStop
		}
		return finish
	}
	if r.Finish == "" {
		return nil
	}
	back, err := c.Reply(body, p)
	if pe := (*ProviderError)(nil); errors.As(err, &pe) {
		back.Finish = FinishError
	}
	if normal(back.Finish) == normal(r.Finish) {
		return nil
	}
	return []Warning{Warnf(WarnLossy, "/finish", "%s has no form for the finish %q; it reads as %q", c.Dialect(), r.Finish, back.Finish)}
}
