package wire

import (
	"errors"

	"github.com/toolconform/conform/codecs"
)

// SetFinish normalises r.RawFinish by the table of a dialect. Where the turn
// has a call, a normal end is tool_calls; tool_calls without one is a normal
// end, with a warning. A reason that the table lacks gives "", with a warning,
// and a missing one "": the finish never decides whether there are calls.
// pointer is the place of the reason.
func SetFinish(r *codecs.Reply, table map[string]string, pointer string) {
	finish, known := table[r.RawFinish]
	if !known && r.RawFinish != "" {
		r.Warnings = append(r.Warnings, codecs.Warnf(codecs.WarnUnknownFinish, pointer, "unknown finish reason %q", r.RawFinish))
	}
	SettleFinish(r, finish, pointer)
}

// SettleFinish is SetFinish for a reason that is normalised already.
func SettleFinish(r *codecs.Reply, finish, pointer string) {
	acts := len(r.Calls()) > 0 || len(r.ClientCalls()) > 0
	switch {
	case finish == codecs.FinishStop && acts:
		finish = codecs.FinishToolCalls
	case finish == codecs.FinishToolCalls && !acts:
		finish = codecs.FinishStop
		r.Warnings = append(r.Warnings, codecs.Warnf(codecs.WarnFinishOdd, pointer, "finish reason %q without a call", r.RawFinish))
	}
	r.Finish = finish
}

// LostFinish warns, for RenderReply, that body does not say the finish of r:
// what a reader of the dialect makes of it decides. stop and tool_calls are one
// normal end here, which the calls tell apart.
func LostFinish(c codecs.Codec, r codecs.Reply, body codecs.Raw, p codecs.Profile) []codecs.Warning {
	normal := func(finish string) string {
		if finish == codecs.FinishToolCalls {
			return codecs.FinishStop
		}
		return finish
	}
	if r.Finish == "" {
		return nil
	}
	back, err := c.Reply(body, p)
	if pe := (*codecs.ProviderError)(nil); errors.As(err, &pe) {
		back.Finish = codecs.FinishError
	}
	if normal(back.Finish) == normal(r.Finish) {
		return nil
	}
	return []codecs.Warning{codecs.Warnf(codecs.WarnLossy, "/finish", "%s has no form for the finish %q; it reads as %q", c.Dialect(), r.Finish, back.Finish)}
}

// EndedInError is the error of a chat completion whose finish reason is error and
// which says no more. Source: row ER03 of docs/facts/langertha.md.
func EndedInError(d codecs.Dialect, body []byte) *codecs.ProviderError {
	const message = "response ended with finish_reason error"
	return &codecs.ProviderError{Dialect: d, Status: 200, Kind: ErrorKind(200, "", message), Message: message, Body: body}
}
