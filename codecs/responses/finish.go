package responses

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// statuses and reasons are the raw finishes that this dialect spells itself. A
// raw finish of another dialect is replaced by that of Finish.
var (
	statuses = map[string]bool{"completed": true, "incomplete": true, "failed": true, "cancelled": true, "in_progress": true, "queued": true, "requires_action": true}
	reasons  = map[string]bool{"max_output_tokens": true, "content_filter": true, "max_messages": true, "steered": true}
)

// renderFinish picks status and incomplete reason.
func renderFinish(r codecs.Reply, w *writer) (status, reason string) {
	if r.Unfinished > 0 {
		w.warn(codecs.WarnLossy, "%d calls that were cut before their name have no form in this dialect", r.Unfinished)
	}
	switch {
	case r.RawFinish == "incomplete" && r.Finish == codecs.FinishLength:
		return "incomplete", "max_output_tokens"
	case statuses[r.RawFinish]:
		return r.RawFinish, ""
	case reasons[r.RawFinish]:
		return "incomplete", r.RawFinish
	}
	switch r.Finish {
	case codecs.FinishLength:
		return "incomplete", "max_output_tokens"
	case codecs.FinishContentFilter, codecs.FinishBlocked: // the nearest word for a refused prompt
		return "incomplete", "content_filter"
	case codecs.FinishError:
		return "failed", ""
	}
	return "completed", ""
}

// finishes maps what ends a response to the normalised reason. A reason of
// incomplete_details and a status share the table; they have no word in common.
// failed never gets here.
var finishes = map[string]string{
	"completed":         codecs.FinishStop,
	"requires_action":   codecs.FinishToolCalls,
	"cancelled":         codecs.FinishError,
	"max_output_tokens": codecs.FinishLength,
	"max_tokens":        codecs.FinishLength,
	"content_filter":    codecs.FinishContentFilter,
}

// finish sets Finish and RawFinish, and Cut of calls that the envelope shows to
// be cut. Source: spec 2.4 with rows TC22, TU04 to TU08 and TU20; where no call
// is there the envelope's token limit wins over a completed message, since the
// turn was cut behind it.
func finish(r *codecs.Reply, root jsonx.Value, rd reader) {
	status := root.Get("status").Str()
	reason := root.Path("incomplete_details", "reason").Str()
	calls := len(r.Calls()) > 0
	raw := status
	if status == "incomplete" && reason != "" {
		raw = reason
	}
	r.RawFinish = raw
	limit := finishes[raw] == codecs.FinishLength
	warn := func(code, format string, args ...any) {
		r.Warnings = append(r.Warnings, codecs.Warnf(code, "/status", format, args...))
	}
	if limit {
		cutUndecodable(r.Parts)
	}
	switch {
	case limit && calls && rd.message == "completed": // TU20
		r.Finish = codecs.FinishStop
		warn(codecs.WarnLimitHidden, "the response stopped at %s although its message is completed", reason)
	case limit:
		r.Finish = codecs.FinishLength
	case raw == "content_filter":
		r.Finish = codecs.FinishContentFilter
	case rd.message == "incomplete" && reason == "" && (status == "" || status == "completed" || status == "incomplete"):
		r.Finish, r.RawFinish = codecs.FinishLength, "incomplete"
	case status == "":
		if rd.message == "completed" {
			r.Finish, r.RawFinish = codecs.FinishStop, "completed"
		}
	case status == "completed" && len(r.Parts) == 0 && root.Get("output").Len() == 0: // TU08
		warn(codecs.WarnFinishOdd, "the response is completed and has no output")
	default:
		var known bool
		if r.Finish, known = finishes[raw]; !known {
			warn(codecs.WarnUnknownFinish, "no normal reason for status %q, reason %q", status, reason)
		}
	}
	if calls && r.Finish == "" { // spec 2.4
		r.Finish = codecs.FinishStop
	}
	wire.SettleFinish(r, r.Finish, "/status") // TC22, TU06
	switch r.Finish {
	case "", codecs.FinishStop, codecs.FinishToolCalls:
		if rd.refusals != nil {
			r.Finish = codecs.FinishRefusal
		}
	}
}
