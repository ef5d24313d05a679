//go:build ignore

package main // rules: docs/matching.md; lines of {"want","got"} in, {"matches","mismatch"} out

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
)

type tree = map[string]json.RawMessage // every value by its pointer
type want struct {                     // an output has the same fields
	Value, Error                       json.RawMessage
	Bytes, Contains                    []struct{ Pointer, Text string }
	Optional, Ignore, Absent, Warnings []string
	AnyOf                              []want `json:"any_of"`
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
	a, b, closest := flat("", w.Value, tree{}), flat("", g.Value, tree{}), []string{}
	report[string(w.Error) == "null" && f.Kind != "" || e.Kind != "" && f.Kind == ""]("error")
	report[e.Kind != "" && f.Kind != "" && e.Kind != f.Kind]("error/kind")
	report[e.Message != "" && f.Kind != "" && e.Message != f.Message]("error/message")
	report[w.Warnings != nil && !slices.Equal(set(w.Warnings), set(g.Warnings))]("warnings")
	if asked := w.Value != nil || len(w.Bytes)+len(w.Absent)+len(w.Contains) > 0; g.Value == nil || e.Kind != "" {
		report[asked && e.Kind == ""]("value")
		w.Value, w.Bytes, w.Absent, w.Contains = nil, nil, nil, nil
	}
	for p := range flat("", w.Value, flat("", g.Value, tree{})) {
		report[w.Value != nil && norm(a[p]) != norm(b[p]) && reached(p, w, a, b)]("value" + p)
	}
	for _, p := range w.Absent {
		report[b[p] != nil]("value" + p)
	}
	for i, p := range slices.Concat(w.Bytes, w.Contains) {
		v, isBytes := b[p.Pointer], i < len(w.Bytes)
		s, isString := strings.CutPrefix(norm(v), `"`)
		report[isBytes && (v == nil || string(v) != p.Text) || !isBytes && (!isString || !strings.Contains(s, p.Text))]("value" + p.Pointer)
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
