package openai

import (
	"errors"
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// echoKeys are the message keys of an echo when the profile names none. Every
// other key (refusal, annotations, audio) stays behind. Source: spec 2.5, rows
// EN02 to EN08; extra_content carries the signature of Gemini's chat face.
var echoKeys = []string{"role", "content", "reasoning_content", "reasoning", "reasoning_text", detailsKey, "tool_calls", "extra_content"}

// Continue returns the assistant message, spliced from r.Body, and one tool
// message for each result in the order of the calls, then a user message with
// the media that the profile sends apart.
func (c Codec) Continue(r codecs.Reply, results []codecs.ToolResult, p codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	if len(r.Body) == 0 {
		return nil, nil, errors.New("continue: the reply has no Body to echo; pass a Reply that came from Reply or Close")
	}
	root, err := wire.ParseBody(c.Dialect(), r.Body)
	if err != nil {
		return nil, nil, err
	}
	choice := root.Get("choices").At(0)
	if !choice.IsObject() {
		return nil, nil, &codecs.DecodeError{Dialect: c.Dialect(), Pointer: "/choices", Offset: -1, Err: errNoChoices}
	}
	msg, _ := messageOf(choice) // a choice that only says why it ended echoes as an empty turn
	ids := callIDs(p)
	ids.Need = msg.Get("tool_calls").Len() > 0 // a function_call has none
	byPos, warnings, err := ids.Answers(r.Calls(), results, r.Body)
	if err != nil {
		return nil, nil, err
	}
	e := echo{msg: msg, profile: p, results: byPos, calls: map[int]codecs.ToolCall{}, Notes: wire.Notes{Warnings: warnings}}
	for _, call := range r.Calls() {
		e.calls[call.Pos] = call
	}
	e.readCalls()
	out := []codecs.Raw{e.message()}
	out = append(out, e.answers...)
	if follow := e.follow.message(); follow != nil {
		out = append(out, follow)
	}
	return out, e.Warnings, nil
}

// echo is one turn on its way back.
type echo struct {
	wire.Notes
	msg     jsonx.Value
	profile codecs.Profile
	results map[int]codecs.ToolResult
	calls   map[int]codecs.ToolCall

	kept    []codecs.Raw // entries of tool_calls
	changed bool         // kept is not tool_calls as it came
	legacy  codecs.Raw   // function_call
	answers []codecs.Raw // tool messages
	follow  followUps
}

// readCalls walks tool_calls as Reply did, keeps the entries that stay in the
// echo and writes their results. Without results every entry stays.
func (e *echo) readCalls() {
	all := len(e.results) == 0
	pos := 0
	for i, item := range e.msg.Get("tool_calls").Items() {
		if all {
			e.kept = append(e.kept, item.Raw())
		}
		if isCustom(item) && !all {
			e.changed = true
			e.Warn(codecs.WarnCallDropped, fmt.Sprintf("/tool_calls/%d", i), "a custom call has no tool result and leaves the echo")
		}
		if !named(item) {
			e.changed = e.changed || !all
			continue
		}
		if !all {
			e.answer(item, pos, i)
		}
		pos++
	}
	fn := e.msg.Get("function_call")
	if fn.Get("name").Str() == "" || pos > 0 {
		return
	}
	e.legacy = fn.Raw()
	if result, ok := e.results[0]; ok {
		e.answerLegacy(fn, result)
	}
}

// emptied puts {} in the place of arguments that the engine refuses in the
// history: undecodable ones, with a warning, and empty ones, which mean {}.
func (e *echo) emptied(fn jsonx.Value, pos int, ptr string) (codecs.Raw, bool) {
	if e.profile.UndecodableEcho != codecs.UndecodableEmpty {
		return nil, false
	}
	call := e.calls[pos]
	args := fn.Get("arguments")
	blank := string(call.Arguments) == "{}" && (!args.Defined() || args.Kind() == jsonx.String && args.Str() != "{}")
	switch {
	case call.ArgumentsErr != "":
		e.Warn(codecs.WarnArgumentsEmptied, ptr+"/function/arguments", "the arguments of call %d do not decode (%s); they go back as {}", pos, call.ArgumentsErr)
	case !blank:
		return nil, false
	}
	return replaced(fn, "arguments", codecs.Raw(`"{}"`)), true
}

// message builds the assistant message from the keys that the profile lists.
func (e *echo) message() codecs.Raw {
	keys := e.profile.EchoKeys
	if keys == nil {
		keys = append(append([]string(nil), echoKeys...), e.profile.ReasoningFields...)
	}
	reasoning := append(append([]string{detailsKey}, reasoningKeys...), e.profile.ReasoningFields...)
	var f jsonx.Fields
	f.Str("role", "assistant") // whatever the host wrote: no other role is the model's turn
	for _, key := range keys {
		v := e.msg.Get(key)
		switch {
		case key == "role":
		case key == "content":
			f.Set(key, e.content(v))
		case key == "tool_calls":
			if !e.changed && v.Len() > 0 {
				f.Set(key, v.Raw())
			} else if len(e.kept) > 0 {
				f.Set(key, jsonx.List(e.kept...))
			}
		case e.profile.ReasoningEcho == codecs.EchoRefused && slices.Contains(reasoning, key):
			if v.Defined() && string(v.Raw()) != `""` && !(v.IsArray() && v.Len() == 0) {
				e.Warn(codecs.WarnReasoningDropped, "/"+jsonx.Token(key), "the engine refuses %s; it leaves the echo", key)
			}
		case v.Exists(): // null is a value of its own
			f.Set(key, v.Raw())
		}
	}
	e.leftBehind(keys)
	if e.legacy != nil {
		f.Set("function_call", e.legacy)
	}
	if e.profile.ReasoningEcho == codecs.EchoRequiredEvenEmpty && (len(e.kept) > 0 || e.legacy != nil) {
		if key := reasoningKey(e.profile); !f.Has(key) {
			f.Str(key, "")
		}
	}
	return f.Raw()
}

// leftBehind warns of what the echo does not carry: reasoning in whatever key a
// host has for it, unless an echoed key says the same, and what the model said
// outside its content.
func (e *echo) leftBehind(keys []string) {
	for _, m := range e.msg.Members() {
		v := m.Value
		if slices.Contains(keys, m.Key) || wire.Hollow(v) {
			continue
		}
		switch {
		case wire.ReasoningKey(m.Key):
			same := func(key string) bool { return jsonx.Equal(e.msg.Get(key).Raw(), v.Raw()) }
			if !slices.ContainsFunc(keys, same) {
				e.Warn(codecs.WarnReasoningDropped, "/"+jsonx.Token(m.Key), "%s stays behind: the profile does not list it among the keys of an echo", m.Key)
			}
		case m.Key == "refusal", m.Key == "images", m.Key == "audio" && v.Get("id").Str() != "":
			e.Warn(codecs.WarnItemDropped, "/"+m.Key, "%s of the reply has no place in the echo", m.Key)
		}
	}
}

// content echoes the content as it came: absent beside calls stays absent. A turn
// that says nothing else needs one.
func (e *echo) content(v jsonx.Value) codecs.Raw {
	if v.Defined() {
		return v.Raw()
	}
	if !v.Exists() && (len(e.kept) > 0 || e.legacy != nil) {
		return nil
	}
	return nullContent(e.profile)
}

func nullContent(p codecs.Profile) codecs.Raw {
	if p.ContentNull == "empty_string" {
		return codecs.Raw(`""`)
	}
	return codecs.Raw("null")
}

// contentKey among Profile.ReasoningFields says that reasoning is a chunk of the
// content list, not a key beside it.
const contentKey = "content"

// reasoningKey is the key under which reasoning text is written.
func reasoningKey(p codecs.Profile) string {
	if len(p.ReasoningFields) > 0 {
		return p.ReasoningFields[0]
	}
	return reasoningKeys[0]
}
