package wire

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Spelled is how the wire spells a call of a reply, and where it stands.
type Spelled struct {
	At            string // JSON pointer of the id's object
	ID, Arguments jsonx.Value
}

// Form is what Tolerated has to know of a wire: the same as in its codecs.Wire,
// which is too much to be made for each reply.
type Form struct {
	ObjectArguments bool
	IDs             string
	Finishes        map[string]string
}

// Tolerated warns of what a decoder took of a reply although the wire has another
// form for it. calls are those of the reply, in the same order. finishAt is where
// the finish reason stands, "" on a wire whose reason says nothing of calls.
func Tolerated(r *codecs.Reply, w Form, calls []Spelled, finishAt string) {
	var n Notes
	list := r.Calls()
	var seen map[string]bool
	if len(list) > 1 {
		seen = make(map[string]bool, len(list))
	}
	for i, call := range list {
		if i >= len(calls) {
			break
		}
		s := calls[i]
		switch kind := s.Arguments.Kind(); {
		case w.ObjectArguments && kind == jsonx.String:
			n.Warn(codecs.WarnArgumentsForm, s.At, "arguments of %s are a text where this wire has an object", call.Name)
		case !w.ObjectArguments && kind == jsonx.Object:
			n.Warn(codecs.WarnArgumentsForm, s.At, "arguments of %s are an object where this wire has a text", call.Name)
		}
		switch {
		case w.IDs == codecs.IDsNever:
		case s.ID.Kind() == jsonx.Number:
			n.Warn(codecs.WarnIDForm, s.At, "the id of %s is a number", call.Name)
		case call.ID == "" && w.IDs == codecs.IDsAlways:
			n.Warn(codecs.WarnIDMissing, s.At, "%s has no id", call.Name)
		}
		if call.ID != "" && seen[call.ID] {
			n.Warn(codecs.WarnIDRepeated, s.At, "the id of %s is that of another call of the turn", call.Name)
		}
		if seen != nil {
			seen[call.ID] = true
		}
	}
	if finishAt != "" && len(calls) > 0 && (r.RawFinish == "" || w.Finishes[r.RawFinish] == codecs.FinishStop) {
		n.Warn(codecs.WarnFinishOdd, finishAt, "finish reason %q beside a call", r.RawFinish)
	}
	r.Warnings = append(r.Warnings, n.Warnings...)
	unread(r, list, calls)
}

// Unread warns of calls whose arguments do not decode although nothing says that
// they were cut. calls may be nil where a call has no place of its own.
func Unread(r *codecs.Reply, calls []Spelled) { unread(r, r.Calls(), calls) }

func unread(r *codecs.Reply, list []codecs.ToolCall, calls []Spelled) {
	for i, call := range list {
		at := ""
		if i < len(calls) {
			at = calls[i].At
		}
		if call.ArgumentsErr != "" && !call.Cut && r.Finish != codecs.FinishLength {
			r.Warnings = append(r.Warnings, codecs.Warnf(codecs.WarnArgumentsUnread, at, "arguments of %s do not decode, and no limit cut them: %s", call.Name, call.ArgumentsErr))
		}
	}
}
