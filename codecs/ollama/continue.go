package ollama

import (
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// echoKeys are what goes back of a turn. images are there for models that make
// some.
var echoKeys = []string{"role", "content", "thinking", "images", "tool_calls", "extra_content"}

// Continue echoes the message of the turn, then one
// {"role":"tool","tool_name","tool_call_id"?,"content","images"?} for each
// result. Arguments that came as an object go back byte for byte; those that
// came as anything else go back as the object they hold, or as {}, since the
// server refuses a string. Ids are optional: none is made, but an id that the
// caller gave to the result of a call without one goes into both.
func (Codec) Continue(r codecs.Reply, results []codecs.ToolResult, p codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	root, err := wire.ParseBody(codecs.Ollama, r.Body)
	if err != nil {
		return nil, nil, err
	}
	msg := root.Get("message")
	if !msg.IsObject() {
		return nil, nil, &codecs.DecodeError{Dialect: codecs.Ollama, Pointer: "/message", Offset: -1, Err: errNoMessage}
	}
	byPos, warnings, err := callIDs(p).Answers(r.Calls(), results, r.Body)
	if err != nil {
		return nil, nil, err
	}
	e := echo{byPos: byPos, Notes: wire.Notes{Warnings: warnings}}
	calls := e.calls(msg.Get("tool_calls"))
	keys := p.EchoKeys
	if keys == nil {
		keys = append(append([]string(nil), echoKeys...), p.ReasoningFields...)
	}
	var f jsonx.Fields
	f.Str("role", "assistant") // whatever the host wrote: no other role is the model's turn
	for _, m := range msg.Members() {
		switch {
		case m.Key == "role":
		case !slices.Contains(keys, m.Key):
			if wire.ReasoningKey(m.Key) && !wire.Hollow(m.Value) {
				e.Warn(codecs.WarnReasoningDropped, "/message/"+jsonx.Token(m.Key), "%s stays behind: the profile does not list it among the keys of an echo", m.Key)
			}
		case p.ReasoningEcho == codecs.EchoRefused && slices.Contains(reasoningFields(p), m.Key):
			e.Warn(codecs.WarnReasoningDropped, "/message/"+jsonx.Token(m.Key), "this engine refuses reasoning in the history")
		case m.Key == "tool_calls" && m.Value.IsArray():
			if len(calls) > 0 {
				f.Set(m.Key, jsonx.List(calls...))
			}
		default:
			f.Set(m.Key, m.Value.Raw())
		}
	}
	out := []codecs.Raw{f.Raw()}
	msgs, more := resultMessages(e.answers, p, "/message/tool_calls")
	return append(out, msgs...), append(e.Warnings, more...), nil
}

// echo picks the calls that go back and the results that answer them.
type echo struct {
	wire.Notes
	byPos   map[int]codecs.ToolResult
	answers []codecs.ToolResult
}

func (e *echo) calls(list jsonx.Value) []codecs.Raw {
	var out []codecs.Raw
	pos := -1
	for i, v := range list.Items() {
		at := fmt.Sprintf("/message/tool_calls/%d", i)
		call, _ := readCall(v, at)
		if call == nil {
			continue
		}
		pos++
		result, answered := e.byPos[pos]
		if !answered && len(e.byPos) > 0 {
			e.Warn(codecs.WarnCallDropped, at, "call %d of %s has no result and leaves the echo", pos, call.Name)
			continue
		}
		var f jsonx.Fields
		if answered && result.ID != call.ID {
			f.Str("id", result.ID)
		}
		args := v.Path("function", "arguments")
		keep := args.IsObject() || !args.Defined()
		raw := v.Raw()
		if members := v.Members(); !keep || f.Has("id") {
			for i, m := range members {
				if m.Key == "function" && !keep {
					members[i].Value = jsonx.Of(withArguments(m.Value, call.Arguments))
				}
			}
			if f.Has("id") {
				kept := slices.DeleteFunc(members, func(m jsonx.Member) bool { return m.Key == "id" })
				members = append(jsonx.Of(f.Raw()).Members(), kept...)
			}
			raw = wire.Object(members)
		}
		if call.Arguments == nil {
			e.Warnings = append(e.Warnings, emptied(*call, at))
			result = wire.RefusedArguments(*call, result)
		}
		out = append(out, raw)
		if answered {
			e.answers = append(e.answers, result)
		}
	}
	return out
}

// withArguments is the function object with other arguments.
func withArguments(fn jsonx.Value, args codecs.Raw) codecs.Raw {
	if args == nil {
		args = codecs.Raw("{}")
	}
	members := fn.Members()
	for i, m := range members {
		if m.Key == "arguments" {
			members[i].Value = jsonx.Of(args)
		}
	}
	return wire.Object(members)
}
