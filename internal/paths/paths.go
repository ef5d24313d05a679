// Package paths finds values in decoded JSON along paths that are data, for
// readers that must share nothing with the codecs.
//
// A path names keys from value to value with slashes: a number is an element of a
// list, * every element, "." the value itself, and of a|b the first that holds
// something. A step may end in a condition in brackets: [key=word] holds when
// that member is the word, ^ when it begins with it, ~ when it contains it; [=word]
// is about the value itself, and of a|b one word has to do. A number counts as it
// is spelled.
package paths

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Find returns the values that a path leads to, in the order of the document.
// What is absent or null is none.
func Find(v any, path string) []any {
	step, rest := cut(path)
	step, condition, conditional := strings.Cut(step, "[")
	var out []any
	for _, next := range follow(v, step) {
		if next == nil || conditional && !holds(next, strings.TrimSuffix(condition, "]")) {
			continue
		}
		if rest == "" {
			out = append(out, next)
		} else {
			out = append(out, Find(next, rest)...)
		}
	}
	return out
}

// First returns the first value that a path leads to, nil when there is none.
func First(v any, path string) any {
	if list := Find(v, path); len(list) > 0 {
		return list[0]
	}
	return nil
}

// Filled tells whether a value says something: no null, no empty text, list or
// object.
func Filled(v any) bool {
	switch v := v.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// cut takes the first step off a path; a slash inside a condition ends none.
func cut(path string) (step, rest string) {
	inside := false
	for i, c := range path {
		switch {
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		case c == '/' && !inside:
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

func follow(v any, step string) []any {
	list, isList := v.([]any)
	switch step {
	case ".", "":
		return []any{v}
	case "*":
		return list
	}
	var next any
	for _, key := range strings.Split(step, "|") {
		if i, err := strconv.Atoi(key); isList && err == nil && i >= 0 && i < len(list) {
			next = list[i]
		} else if m, ok := v.(map[string]any); ok {
			next = m[key]
		}
		if Filled(next) {
			break
		}
	}
	return []any{next}
}

func holds(v any, condition string) bool {
	i := strings.IndexAny(condition, "=^~")
	if i < 0 {
		return false
	}
	if key := condition[:i]; key != "" {
		v = First(v, key)
	}
	s, ok := v.(string)
	if n, number := v.(json.Number); number {
		s, ok = n.String(), true
	}
	if !ok {
		return false
	}
	compare := map[byte]func(s, word string) bool{
		'=': func(s, word string) bool { return s == word }, '^': strings.HasPrefix, '~': strings.Contains,
	}[condition[i]]
	for _, word := range strings.Split(condition[i+1:], "|") {
		if compare(s, word) {
			return true
		}
	}
	return false
}
