//go:build ignore

package main // rules: docs/matching.md; lines of {"want","got"} in, {"matches","mismatch"} out

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

type tree = map[string]json.RawMessage // every value by its pointer
type want struct {                     // an output has the same fields
	Value, Has, Error                           json.RawMessage
	Bytes, Contains, Lacks                      []struct{ Pointer, Text string }
	Optional, Ignore, Absent, Present, Warnings []string
	Same                                        [][]string
	AnyOf                                       []want `json:"any_of"`
	Message                                     string
}

func read[T any](r json.RawMessage) (v T) { json.Unmarshal(r, &v); return v }
func set(l []string) []string             { return slices.Compact(slices.Sorted(slices.Values(l))) }
func flat(at string, r json.RawMessage, all tree) tree {
	all[at] = r
	for k, v := range read[tree](r) {
		flat(at+"/"+strings.NewReplacer("~", "~0", "/", "~1").Replace(k), v, all)
	}
	for i, v := range read[[]json.RawMessage](r) {
		flat(fmt.Sprint(at, "/", i), v, all)
	}
	return all
}
func norm(r json.RawMessage) string { // what is compared: a string decoded, of {} and [] the bracket
	if len(r) > 0 && r[0] == '"' {
		return `"` + read[string](r)
	}
	return string(r[:map[bool]int{true: 1, false: len(r)}[len(r) > 0 && strings.ContainsRune("{[", rune(r[0]))]])
}
func reached(p string, w want, a, b tree) bool { // p is compared, and all above it is there on both sides
	up, skip := p[:max(0, strings.LastIndex(p, "/"))], slices.Contains(w.Ignore, p) || b[p] == nil && slices.Contains(w.Optional, p)
	return !skip && (p == "" || norm(a[up]) == norm(b[up]) && reached(up, w, a, b))
}
func match(w, g want) (bad []string) {
	report := map[bool]func(string){false: func(string) {}, true: func(p string) { bad = append(bad, "/"+p) }}
	e, f := read[struct{ Kind, Message string }](w.Error), read[struct{ Kind, Message string }](g.Error)
	b, closest := flat("", g.Value, tree{}), []string{}
	report[string(w.Error) == "null" && f.Kind != "" || e.Kind != "" && f.Kind == ""]("error")
	report[e.Kind != "" && f.Kind != "" && e.Kind != f.Kind]("error/kind")
	report[w.Message != "" && w.Message != f.Message]("error/message")
	report[w.Warnings != nil && !slices.Equal(set(w.Warnings), set(g.Warnings))]("warnings")
	if g.Value == nil || e.Kind != "" {
		lists := len(w.Bytes) + len(w.Absent) + len(w.Present) + len(w.Same) + len(w.Contains) + len(w.Lacks)
		report[e.Kind == "" && (w.Value != nil || w.Has != nil || lists > 0)]("value")
		w = want{Optional: w.Optional, Ignore: w.Ignore, AnyOf: w.AnyOf}
	}
	for i, root := range []json.RawMessage{w.Value, w.Has} {
		a := flat("", root, tree{})
		for p := range flat("", root, flat("", g.Value, tree{})) {
			asked := i == 0 || a[p] != nil || norm(a[p[:max(0, strings.LastIndex(p, "/"))]]) == "[" // has lets an object have more keys
			report[root != nil && asked && norm(a[p]) != norm(b[p]) && reached(p, w, a, b)]("value" + p)
		}
	}
	for _, p := range w.Absent {
		report[b[p] != nil]("value" + p)
	}
	for _, p := range w.Present {
		n := norm(b[p])
		report[n == "" || n == "null" || n == `"` || (n == "{" || n == "[") && len(bytes.Trim(b[p][1:len(b[p])-1], " \t\r\n")) == 0]("value" + p)
	}
	for _, places := range w.Same {
		for _, p := range places {
			first := b[places[0]]
			report[b[p] == nil || first != nil && len(match(want{Value: first}, want{Value: b[p]})) > 0]("value" + p)
		}
	}
	for _, p := range w.Bytes {
		report[b[p.Pointer] == nil || string(b[p.Pointer]) != p.Text]("value" + p.Pointer)
	}
	strs := func(p struct{ Pointer, Text string }) (found []string) { // where a string at or below the place has the text
		for at := range b {
			if strings.HasPrefix(at+"/", p.Pointer+"/") && strings.HasPrefix(norm(b[at]), `"`) && strings.Contains(norm(b[at])[1:], p.Text) {
				found = append(found, at)
			}
		}
		return found
	}
	for _, p := range w.Contains {
		report[len(strs(p)) == 0]("value" + p.Pointer)
	}
	for _, p := range w.Lacks {
		for _, at := range strs(p) {
			report[true]("value" + at)
		}
	}
	for i, alt := range w.AnyOf {
		alt.Optional, alt.Ignore = append(alt.Optional, w.Optional...), append(alt.Ignore, w.Ignore...)
		if found := match(alt, g); i == 0 || len(found) < len(closest) {
			closest = found
		}
	}
	return append(bad, closest...)
}
func main() {
	for in, p := json.NewDecoder(os.Stdin), map[string]want{}; in.Decode(&p) == nil; p = map[string]want{} {
		bad := match(p["want"], p["got"])
		json.NewEncoder(os.Stdout).Encode(map[string]any{"matches": len(bad) == 0, "mismatch": append([]string{}, bad...)})
	}
}
