package confirm

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/paths"
)

// reply is what a reply shows, whether it came in one piece or as a stream, which
// the codecs do not read.
type reply struct {
	failed bool            // an error under a success status, or no JSON at all
	fields map[string]bool // what carries reasoning
	calls  []call
	limit  bool // the token limit ended it
	server bool // the provider ran a tool
}

type call struct {
	id, args string
	object   bool // arguments are an object, not a text
	fields   int  // of the object
}

func (t table) reply(body []byte) reply {
	r := reply{fields: map[string]bool{}}
	docs := documents(body)
	r.failed = len(docs) == 0
	at := map[any]int{} // index of a call in pieces -> its place in calls
	for _, d := range docs {
		r.failed = r.failed || paths.First(d, "error") != nil || str(d, "type") == "error" || anyFilled(d, t.Failed)
		r.limit = r.limit || anyFilled(d, t.Limit)
		r.server = r.server || anyFilled(d, t.Server)
		for word, list := range t.Fields {
			r.fields[word] = r.fields[word] || anyFilled(d, list)
		}
		for _, c := range t.Calls {
			for i, item := range paths.Find(d, c.At) {
				r.call(d, item, i, c, at)
			}
		}
	}
	return r
}

func (r *reply) call(event, item any, i int, c callPaths, at map[any]int) {
	n, known := len(r.calls), false
	if from, ok := strings.CutPrefix(c.Index, "/"); c.Index != "" {
		v := item
		if ok {
			v = event
		}
		index := paths.First(v, from)
		if index == nil {
			index = float64(i)
		}
		if n, known = at[index]; known && c.More == "" {
			id := str(item, c.ID)
			known = id == "" || r.calls[n].id == "" || r.calls[n].id == id
		}
		if !known {
			n = len(r.calls)
			if c.More == "" {
				at[index] = n
			}
		}
	}
	if c.More != "" {
		if known { // the object of the start is a stand-in for the text that follows
			if r.calls[n].object {
				r.calls[n].object, r.calls[n].args = false, ""
			}
			r.calls[n].args += str(item, c.More)
		}
		return
	}
	if !known {
		r.calls = append(r.calls, call{id: str(item, c.ID)})
	}
	switch args := paths.First(item, c.Arguments).(type) {
	case string:
		r.calls[n].args += args
	case map[string]any:
		r.calls[n].object, r.calls[n].fields = true, len(args)
	}
}

// documents splits a reply into its JSON values: the body, the elements of a
// list, the data of an SSE stream or the lines of NDJSON.
func documents(body []byte) []any {
	var v any
	if json.Unmarshal(body, &v) == nil {
		if list, ok := v.([]any); ok {
			return list
		}
		return []any{v}
	}
	var out []any
	for line := range bytes.Lines(body) {
		line = bytes.TrimSpace(bytes.TrimPrefix(bytes.TrimSpace(line), []byte("data:")))
		var v map[string]any
		if json.Unmarshal(line, &v) == nil && v != nil {
			out = append(out, v)
		}
	}
	return out
}

// lastCut says how the last call of a reply looks that the limit ended; "" when
// it looks complete or is not there.
func (r reply) lastCut() string {
	if len(r.calls) == 0 {
		return ""
	}
	c := r.calls[len(r.calls)-1]
	switch {
	case c.object && c.fields == 0:
		return engines.CutEmptyObject
	case c.object:
		return ""
	case c.args == "":
		return engines.CutEmptyText
	case !json.Valid([]byte(c.args)):
		return engines.CutPartialText
	}
	return ""
}

var nine = regexp.MustCompile(`^[A-Za-z0-9]{9}$`)

// shows tells whether the ids of the calls are of the kind.
func (r reply) shows(kind string, seen map[string]bool) bool {
	some := func(ok func(call) bool) bool { return slices.ContainsFunc(r.calls, ok) }
	switch kind {
	case "given":
		return len(r.calls) > 0 && !some(func(c call) bool { return c.id == "" })
	case "optional":
		return some(func(c call) bool { return c.id == "" })
	case "none":
		return len(r.calls) > 0 && !some(func(c call) bool { return c.id != "" })
	case "mistral9":
		return len(r.calls) > 0 && !some(func(c call) bool { return !nine.MatchString(c.id) })
	case "repeated":
		return some(func(c call) bool { return seen[c.id] })
	}
	return false
}
