package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// eachMessage is a fault in one message after the other.
func eachMessage(change func(codecs.Dialect, codecs.Reply, *codecs.Raw) bool) func(codecs.Dialect, codecs.Reply, []codecs.Raw) ([]codecs.Raw, bool) {
	return func(d codecs.Dialect, r codecs.Reply, out []codecs.Raw) ([]codecs.Raw, bool) {
		changed := false
		for i := range out {
			changed = change(d, r, &out[i]) || changed
		}
		return out, changed
	}
}

// remove takes members out of an assistant message, empty ones left alone.
func remove(msg *codecs.Raw, names ...string) bool {
	v := jsonx.Of(*msg)
	if v.Get("role").Str() != "assistant" {
		return false
	}
	changed := false
	for _, name := range names {
		if v.Get(name).Str() == "" && v.Get(name).Len() == 0 {
			continue
		}
		*msg, changed = edited(jsonx.Delete(*msg, "/"+name)), true
	}
	return changed
}

// respell puts a blank into the arguments of every call of a chat message.
func respell(msg *codecs.Raw) bool {
	changed := false
	for i, call := range jsonx.Of(*msg).Get("tool_calls").Items() {
		args, ok := call.Path("function", "arguments").Text()
		if ok && strings.HasPrefix(args, `{"`) {
			*msg, changed = edited(jsonx.Set(*msg, fmt.Sprintf("/tool_calls/%d/function/arguments", i), jsonx.Quote("{ "+args[1:]))), true
		}
	}
	return changed
}

func edited(raw codecs.Raw, err error) codecs.Raw {
	if err != nil {
		panic(err) // the pointer was read off the same document
	}
	return raw
}

// place is where one result stands in what Continue returned.
type place struct {
	message int
	pointer string // "" is the whole message
	id      string // pointer of the id inside the message, "" when the dialect has none
}

func resultPlaces(out []codecs.Raw) []place {
	var places []place
	for i, raw := range out {
		v := jsonx.Of(raw)
		switch {
		case v.Get("role").Str() == "tool": // openai, ollama, hermes
			p := place{message: i}
			if v.Get("tool_call_id").Exists() {
				p.id = "/tool_call_id"
			}
			places = append(places, p)
		case v.Get("type").Str() == "function_call_output":
			places = append(places, place{message: i, id: "/call_id"})
		default:
			for k, b := range v.Get("content").Items() {
				if b.Get("type").Str() == "tool_result" {
					at := fmt.Sprintf("/content/%d", k)
					places = append(places, place{message: i, pointer: at, id: at + "/tool_use_id"})
				}
			}
			for k, part := range v.Get("parts").Items() {
				if r := part.Get("functionResponse"); r.Exists() {
					p := place{message: i, pointer: fmt.Sprintf("/parts/%d", k)}
					if r.Get("id").Exists() {
						p.id = p.pointer + "/functionResponse/id"
					}
					places = append(places, p)
				}
			}
		}
	}
	return places
}

// dropLastResult leaves out the last of several results, and only it.
func dropLastResult(_ codecs.Dialect, _ codecs.Reply, out []codecs.Raw) ([]codecs.Raw, bool) {
	places := resultPlaces(out)
	if len(places) < 2 {
		return out, false
	}
	last := places[len(places)-1]
	if last.pointer == "" {
		return slices.Delete(out, last.message, last.message+1), true
	}
	out[last.message] = edited(jsonx.Delete(out[last.message], last.pointer))
	return out, true
}

// otherID answers the first call under an id that no call has.
func otherID(_ codecs.Dialect, _ codecs.Reply, out []codecs.Raw) ([]codecs.Raw, bool) {
	places := resultPlaces(out)
	if len(places) == 0 || places[0].id == "" {
		return out, false
	}
	p := places[0]
	out[p.message] = edited(jsonx.Set(out[p.message], p.id, jsonx.Quote("call_of_nobody")))
	return out, true
}

// changeSignature changes the first letter of every signature of the turn.
func changeSignature(_ codecs.Dialect, r codecs.Reply, out []codecs.Raw) ([]codecs.Raw, bool) {
	changed := false
	for _, p := range r.Parts {
		s := p.Signature
		if p.Call != nil {
			s = p.Call.Signature
		}
		if s == "" {
			continue
		}
		other := "A" + s[1:]
		if s[0] == 'A' {
			other = "B" + s[1:]
		}
		for i := range out {
			for _, key := range []string{`"signature":`, `"data":`, `"thoughtSignature":`, `"encrypted_content":`, `"encrypted_content": `} {
				next := bytes.ReplaceAll(out[i], append([]byte(key), jsonx.Quote(s)...), append([]byte(key), jsonx.Quote(other)...))
				changed = changed || !bytes.Equal(next, out[i])
				out[i] = next
			}
		}
	}
	return out, changed
}

// repairCut takes a stop at the token limit for a normal one and closes what is
// open in the arguments.
func repairCut(r *codecs.Reply) bool {
	if r.Finish != codecs.FinishLength {
		return false
	}
	changed := false
	for _, p := range r.Parts {
		if p.Kind == codecs.CallKind && p.Call.ArgumentsErr != "" {
			p.Call.Arguments, p.Call.ArgumentsErr, p.Call.Cut = codecs.Raw(closed(p.Call.ArgumentsText)), "", false
			changed = true
		}
	}
	if changed {
		r.Finish, r.Unfinished = codecs.FinishToolCalls, 0
	}
	return changed
}

// closed closes the object that a cut text opened.
func closed(text string) string {
	for _, end := range []string{"}", "null}", `"}`, `":null}`} {
		if v, err := jsonx.Parse([]byte(text + end)); err == nil && v.IsObject() {
			return text + end
		}
	}
	return "{}"
}

// loseCall drops the last of several calls.
func loseCall(r *codecs.Reply) bool {
	if len(r.Calls()) < 2 || r.Finish == codecs.FinishLength {
		return false
	}
	for i := len(r.Parts) - 1; ; i-- {
		if r.Parts[i].Kind == codecs.CallKind {
			r.Parts = slices.Delete(slices.Clone(r.Parts), i, i+1)
			return true
		}
	}
}

// images puts other blocks in the place of each image of a result.
func images(instead func(data string) []codecs.Raw) func([]codecs.ToolResult) ([]codecs.ToolResult, bool) {
	return func(in []codecs.ToolResult) ([]codecs.ToolResult, bool) {
		changed := false
		out := slices.Clone(in)
		for i, r := range out {
			var blocks []codecs.Raw
			for _, b := range r.Content {
				if v := jsonx.Of(b); v.Get("type").Str() == "image" {
					blocks, changed = append(blocks, instead(v.Get("data").Str())...), true
					continue
				}
				blocks = append(blocks, b)
			}
			out[i].Content = blocks
		}
		return out, changed
	}
}
