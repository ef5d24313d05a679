package responses

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// entry is one item of the echo on its way out.
type entry struct {
	raw  codecs.Raw
	typ  string
	pos  int  // ordinal of a call, -1 for every other item
	gone bool // left out; stays in the list to see what stood before it
}

// Continue echoes every output item as it came, in order, then one
// function_call_output a call, in call order. The exceptions:
//
//   - a call nested in a message moves behind it; a message left empty goes;
//   - a call without a result goes, and with it a reasoning item before it that
//     would be left without a following item of its own (OpenAI refuses that:
//     "was provided without its required following item");
//   - a call without a name goes, and where there are results so does a call that
//     the client answers in another way;
//   - Profile.EchoItems, FlattenText and ReasoningEcho drop or reduce what the
//     engine refuses;
//   - a call without call_id gets one, the same in echo and output.
func (Codec) Continue(r codecs.Reply, results []codecs.ToolResult, p codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	root, err := wire.ParseBody(codecs.Responses, r.Body)
	if err != nil {
		return nil, nil, err
	}
	var calls []codecs.ToolCall
	eachCall(root.Get("output"), func(v jsonx.Value) {
		c, _ := readCall(v, len(calls), "")
		calls = append(calls, c)
	})
	known := r.Calls()
	for _, c := range known {
		if c.Pos < 0 || c.Pos >= len(calls) || calls[c.Pos].Name != c.Name {
			return nil, nil, fmt.Errorf("reply: call %d (%s) is not in its body; pass Body as Reply returned it", c.Pos, c.Name)
		}
	}
	byPos, warnings, err := callIDs(p).Answers(known, results, r.Body)
	if err != nil {
		return nil, nil, err
	}
	e := echo{calls: calls, results: byPos, all: len(results) == 0, profile: p, shellDone: shellOutputs(root.Get("output").Items()), Notes: wire.Notes{Warnings: warnings}}
	next := 0
	for i, item := range root.Get("output").Items() {
		e.item(item, fmt.Sprintf("/output/%d", i), &next)
	}
	e.dropLoneReasoning()
	return e.finish()
}

type echo struct {
	wire.Notes
	calls   []codecs.ToolCall
	results map[int]codecs.ToolResult
	all     bool // no results: nothing is unanswered
	profile codecs.Profile
	entries []entry

	shellDone map[string]bool
}

func (e *echo) item(v jsonx.Value, pointer string, next *int) {
	typ := itemType(v)
	switch typ {
	case typeCall:
		e.call(v, pointer, next)
		return
	case typeMessage:
		e.message(v, pointer, next)
		return
	}
	n := entry{raw: v.Raw(), typ: typ, pos: -1, gone: !sendable(typ, e.profile)}
	if !e.all && !n.gone && typ != typeApproval && itemKind(v, e.shellDone, e.profile) == codecs.KindClient {
		n.gone = true
		e.Warn(codecs.WarnCallDropped, pointer, "a %s has no tool result and left the echo", typ)
	} else if n.gone && typ == typeReasoning {
		e.Warn(codecs.WarnReasoningDropped, pointer, "this engine refuses reasoning items: one left the echo")
	} else if n.gone {
		e.Warn(codecs.WarnItemDropped, pointer, "this engine refuses %s items: one left the echo", typ)
	}
	e.entries = append(e.entries, n)
}

// sendable tells whether the engine takes items of a type.
func sendable(typ string, p codecs.Profile) bool {
	if typ == typeReasoning && p.ReasoningEcho == codecs.EchoRefused {
		return false
	}
	if p.EchoItems == nil {
		return true
	}
	for _, t := range p.EchoItems {
		if t == typ {
			return true
		}
	}
	return false
}

func (e *echo) call(v jsonx.Value, pointer string, next *int) {
	n := entry{raw: v.Raw(), typ: typeCall, pos: -1}
	if v.Get("name").Str() == "" {
		n.gone = true // Reply has warned
		e.entries = append(e.entries, n)
		return
	}
	n.pos = *next
	*next++
	if _, ok := e.results[n.pos]; !ok && !e.all {
		n.gone = true
		e.Warn(codecs.WarnCallDropped, pointer, "call %d (%s) has no result and left the echo", n.pos, v.Get("name").Str())
	}
	e.entries = append(e.entries, n)
}

// message echoes a message, its nested calls moved behind it.
func (e *echo) message(v jsonx.Value, pointer string, next *int) {
	n := entry{raw: v.Raw(), typ: typeMessage, pos: -1}
	at := len(e.entries)
	e.entries = append(e.entries, n)
	var kept []codecs.Raw
	blocks := v.Get("content").Items()
	for i, block := range blocks {
		if block.Get("type").Str() == typeCall {
			e.call(block, fmt.Sprintf("%s/content/%d", pointer, i), next)
			continue
		}
		kept = append(kept, block.Raw())
	}
	switch {
	case !sendable(typeMessage, e.profile):
		n.gone = true
		e.Warn(codecs.WarnItemDropped, pointer, "this engine refuses message items: one left the echo")
	case len(kept) < len(blocks) && len(kept) == 0:
		n.gone = true
	case len(kept) < len(blocks):
		n.raw, _ = jsonx.Set(n.raw, "/content", jsonx.List(kept...))
	}
	if e.profile.FlattenText && !n.gone {
		text := messageText(v)
		n.raw = assistantText(text)
		n.gone = text == ""
	}
	e.entries[at] = n
}

// messageText joins the visible text of a message, tags and all.
func messageText(v jsonx.Value) string {
	rd := reader{profile: asText}
	rd.messageItem(v, "")
	return codecs.Reply{Parts: rd.parts}.Text()
}

// assistantText is an assistant message with a string as its content, the one
// form that every server takes.
func assistantText(text string) codecs.Raw {
	var f jsonx.Fields
	return f.Str("type", typeMessage).Str("role", "assistant").Str("content", text).Raw()
}

// dropLoneReasoning leaves out reasoning items whose following item is gone,
// unless another item of the turn follows that is no reasoning of its own.
func (e *echo) dropLoneReasoning() {
	follower, gap := "", false
	for i := len(e.entries) - 1; i >= 0; i-- {
		n := &e.entries[i]
		switch {
		case n.gone:
			gap = true
		case n.typ == typeReasoning && gap && (follower == "" || follower == typeReasoning):
			n.gone = true
			e.Warn(codecs.WarnReasoningDropped, "", "a reasoning item left the echo with the item that followed it")
		default:
			follower, gap = n.typ, false
		}
	}
}

// finish writes the kept items and the outputs.
func (e *echo) finish() ([]codecs.Raw, []codecs.Warning, error) {
	var out, outputs, later []codecs.Raw
	for _, n := range e.entries {
		if n.gone {
			continue
		}
		if n.pos < 0 || e.all {
			out = append(out, n.raw)
			continue
		}
		c, r := e.calls[n.pos], e.results[n.pos]
		at := fmt.Sprintf("call %d (%s)", n.pos, c.Name)
		id, err := e.setID(&n, c, r)
		if err != nil {
			return nil, nil, err
		}
		if c.ArgumentsErr != "" && e.profile.UndecodableEcho == codecs.UndecodableEmpty {
			if n.raw, err = jsonx.Set(n.raw, "/arguments", codecs.Raw(`"{}"`)); err != nil {
				return nil, nil, err
			}
			r = wire.RefusedArguments(c, r)
			e.Warn(codecs.WarnArgumentsEmptied, "", "%s goes back with {} in place of undecodable arguments", at)
		}
		out = append(out, n.raw)
		res := encodeResult(r, e.profile, &e.Notes, at)
		later = append(later, res.later...)
		outputs = append(outputs, outputItem(id, res.output))
	}
	out = append(out, outputs...)
	if len(later) > 0 {
		out = append(out, laterMessage(later))
	}
	return out, e.Warnings, nil
}

// setID returns the id that call and output share, as JSON, and writes it into
// a call that has another one or none.
func (e *echo) setID(n *entry, c codecs.ToolCall, r codecs.ToolResult) (codecs.Raw, error) {
	own := jsonx.Of(n.raw).Get("call_id")
	if wire.Scalar(own) == r.ID {
		return own.Raw(), nil
	}
	if r.ID == c.ID { // the item's id
		e.Warn(codecs.WarnIDMade, "", "call %d (%s) came without call_id and goes back with %s", n.pos, c.Name, r.ID)
	}
	var err error
	n.raw, err = jsonx.Set(n.raw, "/call_id", jsonx.Quote(r.ID))
	return jsonx.Quote(r.ID), err
}
