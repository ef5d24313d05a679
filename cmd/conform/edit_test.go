package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// What an Edit is made on.
const (
	onRequest  = "request"  // the body that goes out
	onMessages = "messages" // the list of messages that Continue gives
	onResult   = "result"   // the list of content blocks of a tool result, before it is encoded
	onProfile  = "profile"  // what a reply is read with
	onReply    = "reply"    // the decoded reply: Op is one of replyEdits
	onBody     = "body"     // the body of an engine's reply
)

// Edit is one change. Its pointers are RFC 6901 with * for every element of a
// list, and a|b for two pointers.
type Edit struct {
	On string `json:"on"`
	// Places names places of the file; Each and If make one of their own.
	Places string         `json:"places"`
	Each   string         `json:"each"`
	If     map[string]any `json:"if"`
	Only   string         `json:"only"`  // "first" of the places, or "last" of at least two
	Op     string         `json:"op"`    // set, add (also what is not there), remove, remove_filled, insert, swap, copy, respell, flip
	At     string         `json:"at"`    // below the place
	From   string         `json:"from"`  // of swap and copy
	Value  codecs.Raw     `json:"value"` // of set, add and insert
	in     []Place
}

// Place is where an edit is made: each value at a pointer that meets conditions.
// A condition is a value, or an object with contains (a part of the text or the
// JSON), exists, or len.
type Place struct {
	Each string         `json:"each"`
	If   map[string]any `json:"if"`
}

func (e Edit) check() error {
	if e.On == onReply {
		if replyEdits[e.Op] == nil {
			return fmt.Errorf("no edit of a reply is called %q", e.Op)
		}
		return nil
	}
	if !slices.Contains([]string{onRequest, onMessages, onResult, onProfile, onBody}, e.On) {
		return fmt.Errorf("nothing is called %q", e.On)
	}
	if !slices.Contains([]string{"set", "add", "remove", "remove_filled", "insert", "swap", "copy", "respell", "flip"}, e.Op) {
		return fmt.Errorf("no edit is called %q", e.Op)
	}
	return nil
}

// apply makes the edit on a document. What does not apply leaves it alone.
func (e Edit) apply(doc codecs.Raw) (out codecs.Raw, changed bool) {
	var at []string
	for _, p := range e.in {
		for _, pointer := range expand(doc, p.Each) {
			if meets(jsonx.Of(doc).Lookup(pointer), p.If) {
				at = append(at, pointer)
			}
		}
	}
	switch {
	case e.Only == "first" && len(at) > 1:
		at = at[:1]
	case e.Only == "last" && len(at) < 2:
		return doc, false
	case e.Only == "last":
		at = at[len(at)-1:]
	}
	out = doc
	for _, pointer := range slices.Backward(at) { // so that what is removed moves nothing that is still to come
		for _, below := range strings.Split(e.At, "|") {
			targets := []string{pointer + below}
			if strings.Contains(below, "*") {
				targets = expand(out, pointer+below)
			}
			for _, t := range slices.Backward(targets) {
				if next := e.one(out, pointer, t); next != nil {
					out, changed = next, true
				}
			}
		}
	}
	return out, changed
}

// one makes the edit at one pointer; nil: there is nothing to change.
func (e Edit) one(doc codecs.Raw, place, at string) codecs.Raw {
	v := jsonx.Of(doc).Lookup(at)
	text := v.Str()
	switch {
	case e.Op == "add":
		return must(jsonx.Set(doc, at, e.Value))
	case e.Op == "copy":
		from := jsonx.Of(doc).Lookup(place + e.From)
		if !from.Exists() {
			return nil
		}
		return must(jsonx.Set(doc, at, from.Raw()))
	case !v.Exists(), e.Op == "remove_filled" && text == "" && v.Len() == 0:
		return nil
	case e.Op == "set":
		return must(jsonx.Set(doc, at, e.Value))
	case e.Op == "insert":
		return insert(doc, at, e.Value)
	case e.Op == "swap":
		other := jsonx.Of(doc).Lookup(place + e.From)
		if !other.Exists() {
			return nil
		}
		return must(jsonx.Set(must(jsonx.Set(doc, at, other.Raw())), place+e.From, v.Raw()))
	case e.Op == "respell": // a blank after the brace of an object in a text
		if !strings.HasPrefix(text, `{"`) {
			return nil
		}
		return must(jsonx.Set(doc, at, jsonx.Quote("{ "+text[1:])))
	case e.Op == "flip": // the first letter of a text
		if text == "" {
			return nil
		}
		first := "A"
		if text[0] == 'A' {
			first = "B"
		}
		return must(jsonx.Set(doc, at, jsonx.Quote(first+text[1:])))
	}
	return must(jsonx.Delete(doc, at))
}

// insert puts a value before an element of a list.
func insert(doc codecs.Raw, at string, value codecs.Raw) codecs.Raw {
	slash := strings.LastIndexByte(at, '/')
	i, err := strconv.Atoi(at[slash+1:])
	list := items(jsonx.Of(doc).Lookup(at[:slash]).Raw())
	if err != nil || i > len(list) {
		return nil
	}
	list = slices.Insert(list, i, value)
	if slash == 0 {
		return jsonx.List(list...)
	}
	return must(jsonx.Set(doc, at[:slash], jsonx.List(list...)))
}

func must(raw codecs.Raw, err error) codecs.Raw {
	if err != nil {
		panic(err) // the pointer was read off the same document
	}
	return raw
}

// expand lists the pointers that a pointer with * stands for.
func expand(doc codecs.Raw, pointer string) []string {
	before, after, found := strings.Cut(pointer, "*")
	if !found {
		return []string{pointer}
	}
	before = strings.TrimSuffix(before, "/")
	var out []string
	for i := range jsonx.Of(doc).Lookup(before).Len() {
		if jsonx.Of(doc).Lookup(before).IsArray() {
			out = append(out, expand(doc, before+"/"+strconv.Itoa(i)+after)...)
		}
	}
	return out
}

func meets(v jsonx.Value, conditions map[string]any) bool {
	for pointer, want := range conditions {
		x := v.Lookup(pointer)
		switch want := want.(type) {
		case string:
			if x.Str() != want {
				return false
			}
		case map[string]any:
			if part, ok := want["contains"].(string); ok && !strings.Contains(x.Str(), part) && !strings.Contains(string(x.Raw()), part) {
				return false
			}
			if there, ok := want["exists"].(bool); ok && x.Exists() != there {
				return false
			}
			if n, ok := want["len"].(float64); ok && x.Len() != int(n) {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// replyEdits are what a client may get wrong about a decoded reply; they tell
// whether there was anything to get wrong.
var replyEdits = map[string]func(r *codecs.Reply, err *error, value codecs.Raw) bool{
	"repair_cut":      repairCut,
	"lose_last_call":  loseLastCall,
	"lose_calls":      loseCalls,
	"other_arguments": otherArguments,
	"swallow_error":   swallowError,
}

// repairCut takes a stop at the token limit for a normal one and closes what is
// open in the arguments.
func repairCut(r *codecs.Reply, _ *error, _ codecs.Raw) bool {
	if r.Finish != codecs.FinishLength {
		return false
	}
	changed := false
	for _, p := range r.Parts {
		if p.Kind == codecs.KindCall && p.Call.ArgumentsErr != "" {
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

func loseLastCall(r *codecs.Reply, _ *error, _ codecs.Raw) bool {
	if len(r.Calls()) < 2 || r.Finish == codecs.FinishLength {
		return false
	}
	for i := len(r.Parts) - 1; ; i-- {
		if r.Parts[i].Kind == codecs.KindCall {
			r.Parts = slices.Delete(slices.Clone(r.Parts), i, i+1)
			return true
		}
	}
}

func loseCalls(r *codecs.Reply, _ *error, _ codecs.Raw) bool {
	n := len(r.Parts)
	r.Parts = slices.DeleteFunc(slices.Clone(r.Parts), func(p codecs.Part) bool { return p.Kind == codecs.KindCall })
	return len(r.Parts) < n
}

func otherArguments(r *codecs.Reply, _ *error, value codecs.Raw) bool {
	for _, p := range r.Parts {
		if p.Call != nil {
			p.Call.Arguments = value
		}
	}
	return len(r.Calls()) > 0
}

func swallowError(r *codecs.Reply, err *error, _ codecs.Raw) bool {
	if *err == nil {
		return false
	}
	*r, *err = codecs.Reply{Finish: codecs.FinishStop}, nil
	return true
}
