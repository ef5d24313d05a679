package cassettes

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/secrets"
)

// Fixed values that stand in an imported tape for times of the recording.
const (
	fixedSecond = 1767225600 // 2026-01-01T00:00:00Z
	fixedTime   = "2026-01-01T00:00:00Z"
)

// Import turns a recording of a local engine into one that is the same for every
// recording of the same exchanges: ids keep their prefix and length (a number
// gets six digits) and are numbered in order of appearance, the same id getting
// the same number in every exchange; times are fixed, durations and rates are 0;
// headers of no use are dropped. Every other byte of a response stays, and so
// does the spelling of every value of a request. Streams are refused.
func Import(data []byte) (Recording, error) {
	r, err := ParseRecording("", data)
	if err != nil {
		return r, err
	}
	if r.Stream {
		return r, fmt.Errorf("recording: /stream: the exchanges are streams; import one without")
	}
	if len(r.Exchanges) == 0 {
		return r, fmt.Errorf("recording: want a list of exchanges with at least one")
	}
	r.Name = r.Scenario
	for i := range r.Exchanges {
		if err := importable(&r.Exchanges[i]); err != nil {
			return r, fmt.Errorf("recording: exchange %d: %w", i, err)
		}
	}
	if err := normalise(&r.Tape); err != nil {
		return r, fmt.Errorf("recording: %w", err)
	}
	return r, nil
}

// importable gives an exchange the form that tapes have.
func importable(x *Exchange) error {
	if x.Request.Method == "" || !strings.HasPrefix(x.Request.URL, "/") {
		return fmt.Errorf("want a method, and a path that starts with a slash")
	}
	x.Request.URL = "http://127.0.0.1" + x.Request.URL
	for name := range x.Request.Header {
		if !slices.Contains(keptRequest, name) {
			x.Request.Header.Del(name)
		}
	}
	return nil
}

var versionForm = regexp.MustCompile(`\bv?(\d+(?:\.\d+)+\S*)`)

// engineVersion splits "llama.cpp server v0.4.0 (80fb11a)".
func engineVersion(s string) (engine, version string) {
	at := versionForm.FindStringSubmatchIndex(s)
	if at == nil {
		return strings.TrimSpace(s), ""
	}
	return strings.TrimSpace(s[:at[0]]), s[at[2]:at[3]]
}

// normalise rewrites ids, times and durations in all bodies.
func normalise(t *Tape) error {
	var bodies []*[]byte
	for i := range t.Exchanges {
		x := &t.Exchanges[i]
		bodies = append(bodies, &x.Request.Body, &x.Response.Body)
	}
	ids := &renaming{to: map[string]string{}, count: map[string]int{}}
	for _, b := range bodies {
		if jsonx.Check(*b) == nil {
			walk("", "", jsonx.Of(*b), func(_, key string, v jsonx.Value) {
				if idKeys[key] && v.Kind() == jsonx.String {
					ids.found(v.Str())
				}
			})
		}
	}
	ids.finish()
	for _, b := range bodies {
		if jsonx.Check(*b) != nil {
			continue // a text: an error page, or an empty body
		}
		out := *b
		var err error
		walk("", "", jsonx.Of(*b), func(pointer, key string, v jsonx.Value) {
			to := fixed(key, v)
			if idKeys[key] && v.Kind() == jsonx.String {
				if id, ok := ids.to[v.Str()]; ok {
					to = jsonx.Quote(id)
				}
			}
			if to != nil && err == nil {
				out, err = jsonx.Set(out, pointer, to)
			}
		})
		if err != nil {
			return err
		}
		// An id may be quoted in a text, as in "no call has the id ...".
		*b = secrets.RedactShapes(ids.inText(out))
	}
	return nil
}

// idKeys are the keys whose string is an id of the engine.
var idKeys = map[string]bool{
	"id": true, "call_id": true, "tool_call_id": true, "tool_use_id": true, "item_id": true,
	"response_id": true, "previous_response_id": true, "request_id": true,
}

// fixed is the value in place of a time or a duration, nil for anything else.
func fixed(key string, v jsonx.Value) jsonx.Raw {
	number, text := v.Kind() == jsonx.Number, v.Kind() == jsonx.String
	switch {
	case key == "created" || strings.HasSuffix(key, "_at"):
		if number {
			return jsonx.Raw(strconv.Itoa(fixedSecond))
		}
		if text {
			return jsonx.Quote(fixedTime)
		}
	case number && (strings.HasSuffix(key, "_duration") || strings.HasSuffix(key, "_ms") || strings.HasSuffix(key, "_per_second")):
		return jsonx.Raw("0")
	}
	return nil
}

// walk visits every member below v in document order, except what a model or a
// user wrote: the arguments of a call and the definitions of tools.
func walk(pointer, key string, v jsonx.Value, visit func(pointer, key string, v jsonx.Value)) {
	switch {
	case key == "arguments" || key == "tools" || key == "input_schema" || key == "parameters":
		return
	case v.IsObject() && key == "input": // of an anthropic call; a list is the input of a Responses request
		return
	case v.IsObject():
		for _, m := range v.Members() {
			at := pointer + "/" + jsonx.Token(m.Key)
			visit(at, m.Key, m.Value)
			walk(at, m.Key, m.Value, visit)
		}
	case v.IsArray():
		for i, item := range v.Items() {
			walk(pointer+"/"+strconv.Itoa(i), "", item, visit)
		}
	}
}

// renaming maps ids to numbered ones.
type renaming struct {
	order []string
	to    map[string]string
	count map[string]int // of each prefix
}

// An id that ends in a plain number has another length in each recording.
const digitsWidth = 6

var digits = regexp.MustCompile(`^\d+$`)

var idForm = regexp.MustCompile(`^((?:[A-Za-z]{1,12}[-_])*)(.*)$`)

// found notes an id. One of a character or two without a prefix, such as c1,
// was written by hand and stays.
func (r *renaming) found(id string) {
	m := idForm.FindStringSubmatch(id)
	if m == nil || m[2] == "" || len(id) < 3 || r.to[id] != "" {
		return
	}
	r.to[id] = id
	r.order = append(r.order, id)
}

// finish gives the new ids. One that holds another id, as fc_resp_717_0 holds
// resp_717, follows it.
func (r *renaming) finish() {
	for _, id := range r.order {
		m := idForm.FindStringSubmatch(id)
		if inner := r.innerOf(id); inner != "" {
			continue
		}
		r.count[m[1]]++
		number := strconv.Itoa(r.count[m[1]])
		width := len(m[2])
		if digits.MatchString(m[2]) {
			width = digitsWidth
		}
		r.to[id] = m[1] + strings.Repeat("0", max(0, width-len(number))) + number
	}
	for _, id := range r.order {
		if inner := r.innerOf(id); inner != "" {
			r.to[id] = strings.Replace(id, inner, r.to[inner], 1)
		}
	}
}

// innerOf is the longest other id inside an id that itself holds none.
func (r *renaming) innerOf(id string) string {
	best := ""
	for _, other := range r.order {
		if other != id && len(other) > len(best) && len(other) >= 6 && strings.Contains(id, other) && !r.holds(other) {
			best = other
		}
	}
	return best
}

func (r *renaming) holds(id string) bool {
	return slices.ContainsFunc(r.order, func(other string) bool {
		return other != id && len(other) >= 6 && strings.Contains(id, other)
	})
}

// inText replaces what is left of long ids in texts.
func (r *renaming) inText(body []byte) []byte {
	text := string(body)
	ids := slices.Clone(r.order)
	sort.SliceStable(ids, func(i, j int) bool { return len(ids[i]) > len(ids[j]) })
	var pairs []string
	for _, id := range ids {
		if len(id) >= 12 {
			pairs = append(pairs, id, r.to[id])
		}
	}
	return []byte(strings.NewReplacer(pairs...).Replace(text))
}
