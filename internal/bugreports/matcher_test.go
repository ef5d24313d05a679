package bugreports

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
)

// match compares an outcome with what a report expects and returns the
// differences. Both are JSON as encoding/json decodes it with UseNumber.
//
//   - Objects match as subsets: the keys that are named must match; {} matches
//     only {}. The keys not (must not match), note and invariant are no keys of
//     the outcome.
//   - Lists must be equally long; under a key that ends in _tail the last
//     elements of the list without that ending are compared.
//   - Texts are compared without the white space at their ends. A list of one
//     text block equals the same text as a string.
//   - An object whose keys begin with $ is a matcher: $any, $absent, $type,
//     $ci, $str, $same_as, $contains_text, $no_key, $one_of.
func match(expected, got any) []string {
	m := matcher{captured: map[string]string{}}
	m.value("", expected, got, true)
	return m.diffs
}

type matcher struct {
	captured map[string]string
	diffs    []string
}

func (m *matcher) fail(path, format string, args ...any) {
	if path == "" {
		path = "/"
	}
	m.diffs = append(m.diffs, path+": "+fmt.Sprintf(format, args...))
}

// try tells whether a value matches, without keeping the differences.
func (m *matcher) try(expected, got any, there bool) bool {
	t := matcher{captured: maps.Clone(m.captured)}
	t.value("", expected, got, there)
	if len(t.diffs) == 0 {
		maps.Copy(m.captured, t.captured)
	}
	return len(t.diffs) == 0
}

// value compares one value; there is false for a key that the outcome lacks.
func (m *matcher) value(path string, expected, got any, there bool) {
	if o, ok := expected.(map[string]any); ok && isMatcher(o) {
		m.apply(path, o, got, there)
		return
	}
	if !there {
		m.fail(path, "missing, want %s", show(expected))
		return
	}
	switch want := expected.(type) {
	case map[string]any:
		o, ok := got.(map[string]any)
		if !ok {
			m.fail(path, "got %s, want an object", show(got))
			return
		}
		if len(want) == 0 && len(o) > 0 {
			m.fail(path, "got %s, want {}", show(got))
		}
		m.object(path, want, o)
	case []any:
		list, ok := got.([]any)
		if s, isText := textOf(want); isText && !ok {
			m.value(path, s, got, true)
			return
		}
		if !ok || len(list) != len(want) {
			m.fail(path, "got %s, want a list of %d", show(got), len(want))
			return
		}
		for i := range want {
			m.value(fmt.Sprintf("%s/%d", path, i), want[i], list[i], true)
		}
	case string:
		s, ok := got.(string)
		if !ok {
			s, ok = textOf(got)
		}
		if !ok || strings.TrimSpace(s) != strings.TrimSpace(want) {
			m.fail(path, "got %s, want %s", show(got), show(want))
		}
	default:
		if !reflect.DeepEqual(expected, got) {
			m.fail(path, "got %s, want %s", show(got), show(expected))
		}
	}
}

func (m *matcher) object(path string, want, got map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(want)) {
		switch {
		case key == "note" || key == "invariant":
		case key == "not":
			if m.try(want[key], any(got), true) {
				m.fail(path, "matches what it must not: %s", show(want[key]))
			}
		case strings.HasSuffix(key, "_tail"):
			name := strings.TrimSuffix(key, "_tail")
			list, _ := got[name].([]any)
			tail, ok := want[key].([]any)
			if !ok || len(list) < len(tail) {
				m.fail(path+"/"+name, "got %s, want a list that ends in %s", show(got[name]), show(want[key]))
				continue
			}
			m.value(path+"/"+key, tail, list[len(list)-len(tail):], true)
		default:
			v, there := got[key]
			m.value(path+"/"+key, want[key], v, there)
		}
	}
}

// isMatcher tells matchers from keys such as $schema and $defs.
func isMatcher(o map[string]any) bool {
	for _, name := range []string{"$any", "$absent", "$type", "$ci", "$str", "$same_as", "$contains_text", "$no_key", "$one_of"} {
		if _, ok := o[name]; ok {
			return true
		}
	}
	return false
}

func (m *matcher) apply(path string, matchers map[string]any, got any, there bool) {
	for _, name := range slices.Sorted(maps.Keys(matchers)) {
		arg := matchers[name]
		if name == "$absent" {
			if there {
				m.fail(path, "got %s, want no such key", show(got))
			}
			continue
		}
		if name == "$one_of" {
			forms, _ := arg.([]any)
			if !slices.ContainsFunc(forms, func(f any) bool { return m.try(f, got, there) }) {
				m.fail(path, "got %s, want one of %s", show(got), show(arg))
			}
			continue
		}
		if !strings.HasPrefix(name, "$") { // such as not, beside $one_of
			if o, ok := got.(map[string]any); ok {
				m.object(path, map[string]any{name: arg}, o)
			}
			continue
		}
		if !there {
			m.fail(path, "missing, want %s %s", name, show(arg))
			continue
		}
		m.one(path, name, arg, got)
	}
}

func (m *matcher) one(path, name string, arg, got any) {
	s, isText := got.(string)
	word, _ := arg.(string)
	ok := false
	switch name {
	case "$any":
		ok = true
	case "$type":
		ok = kindOf(got) == word
	case "$ci":
		ok = isText && strings.EqualFold(s, word)
	case "$same_as":
		ok = isText && s == m.captured[word]
	case "$contains_text":
		ok = containsText(got, word)
	case "$no_key":
		ok = !hasKey(got, word)
	case "$str":
		if rules, _ := arg.(map[string]any); isText && rules != nil {
			m.text(path, rules, s)
			return
		}
	default:
		m.fail(path, "unknown matcher %s", name)
		return
	}
	if !ok {
		m.fail(path, "got %s, want %s %s", show(got), name, show(arg))
	}
}

func (m *matcher) text(path string, rules map[string]any, s string) {
	for _, rule := range slices.Sorted(maps.Keys(rules)) {
		arg := rules[rule]
		ok := false
		switch rule {
		case "nonempty":
			ok = s != ""
		case "nonblank":
			ok = strings.TrimSpace(s) != ""
		case "contains", "not_contains":
			list, isList := arg.([]any)
			ok = isList
			for _, part := range list {
				ok = ok && strings.Contains(s, fmt.Sprint(part)) == (rule == "contains")
			}
		case "regex":
			re, err := regexp.Compile(fmt.Sprint(arg))
			ok = err == nil && re.MatchString(s)
		case "maxlen":
			most, _ := arg.(json.Number)
			n, err := most.Int64()
			ok = err == nil && int64(len(s)) <= n
		case "capture":
			m.captured[fmt.Sprint(arg)] = s
			ok = true
		case "differs_from":
			ok = s != m.captured[fmt.Sprint(arg)]
		case "json_equals":
			v, err := decodeJSON([]byte(s))
			ok = err == nil && reflect.DeepEqual(v, arg)
		}
		if !ok {
			m.fail(path, "%q does not meet %s %s", s, rule, show(arg))
		}
	}
}

// textOf is the text of a list of one text block.
func textOf(v any) (string, bool) {
	list, ok := v.([]any)
	if !ok || len(list) != 1 {
		return "", false
	}
	block, ok := list[0].(map[string]any)
	if !ok || block["type"] != "text" || len(block) != 2 {
		return "", false
	}
	s, ok := block["text"].(string)
	return s, ok
}

func containsText(v any, part string) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, part)
	case json.Number:
		return strings.Contains(v.String(), part)
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return containsText(x, part) })
	case map[string]any:
		for _, x := range v {
			if containsText(x, part) {
				return true
			}
		}
	}
	return false
}

// hasKey tells whether an object anywhere inside v has the key.
func hasKey(v any, key string) bool {
	switch v := v.(type) {
	case []any:
		return slices.ContainsFunc(v, func(x any) bool { return hasKey(x, key) })
	case map[string]any:
		if _, ok := v[key]; ok {
			return true
		}
		for _, x := range v {
			if hasKey(x, key) {
				return true
			}
		}
	}
	return false
}

func kindOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	}
	return "object"
}

// decodeJSON reads one JSON value in the form that match compares.
func decodeJSON(raw []byte) (any, error) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

func show(v any) string {
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	if len(raw) > 400 {
		raw = append(raw[:400:400], "..."...)
	}
	return string(raw)
}
