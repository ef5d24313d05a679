package hermes

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/tags"
)

// readCall reads the body of a block. A whole JSON object with a name is a
// call; so is a broken one whose name can be read, with undecodable arguments,
// so that the model hears of it. Everything else is no call: a list, a nameless
// object, another form of call in the same tag, a nested opening tag.
func readCall(s tags.Span, at string) (*codecs.ToolCall, []codecs.Warning) {
	body := strings.TrimSpace(s.Body)
	if s.Value {
		return wholeCall(body, at)
	}
	if s.Nested {
		return nil, nil
	}
	name, args, ok := looseCall(body, s.Kind == tags.Unclosed)
	if !ok {
		return nil, nil
	}
	call := &codecs.ToolCall{Name: name, ArgumentsText: args}
	codecs.ReadArgumentsText(call, args, at)
	if call.Arguments != nil { // the fault is elsewhere in the block
		call.Arguments = nil
		call.ArgumentsErr = "the call is no JSON object"
		if err := jsonx.Check([]byte(body)); err != nil {
			call.ArgumentsErr = err.Error()
		}
	}
	return call, nil
}

func wholeCall(body, at string) (*codecs.ToolCall, []codecs.Warning) {
	v, err := jsonx.Parse([]byte(body))
	if err != nil || v.Get("name").Str() == "" {
		return nil, nil
	}
	call := &codecs.ToolCall{Name: v.Get("name").Str()}
	key := "arguments"
	var warnings []codecs.Warning
	if !v.Get(key).Exists() && v.Get("parameters").Exists() {
		key = "parameters"
		warnings = append(warnings, codecs.Warnf(codecs.WarnParametersKey, at, "call of %s: the key parameters is read as arguments", call.Name))
	}
	warnings = append(warnings, codecs.ReadArguments(call, v.Get(key), at)...)
	call.Extra = codecs.Without(v, "name", key)
	return call, warnings
}

// looseCall reads name and arguments off an object that is broken or cut, by
// quotes and brackets alone. ok is false when it has no complete name. The
// arguments text is as it stands, never repaired.
func looseCall(body string, cut bool) (name, args string, ok bool) {
	if !strings.HasPrefix(body, "{") {
		return "", "", false
	}
	depth, start, end := 0, -1, -1
	key := true // a key may follow
	for i := 0; i < len(body); i++ {
		switch c := body[i]; c {
		case '"':
			text, size, whole := quoted(body[i:])
			if !whole {
				i = len(body)
				continue
			}
			i += size - 1
			if depth != 1 || !key {
				continue
			}
			key = false
			rest := strings.TrimLeft(body[i+1:], " \t\r\n")
			if !strings.HasPrefix(rest, ":") {
				continue
			}
			value := strings.TrimLeft(rest[1:], " \t\r\n")
			switch {
			case text == "name" && name == "":
				if n, _, whole := quoted(value); whole {
					name = n
				}
			case text == "arguments" || text == "parameters" && start < 0:
				start, end = len(body)-len(value), -1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 && start >= 0 && end < 0 {
				end = i
			}
			if depth <= 0 {
				i = len(body)
			}
		case ',':
			if depth == 1 && strings.HasPrefix(strings.TrimLeft(body[i+1:], " \t\r\n"), `"`) {
				key = true
				if start >= 0 && end < 0 {
					end = i
				}
			}
		}
	}
	switch {
	case start < 0:
	case end >= start:
		args = body[start:end]
	case cut:
		args = body[start:]
	default:
		args = strings.TrimSuffix(body[start:], "}")
	}
	return name, strings.TrimSpace(args), name != ""
}

// quoted reads the JSON string at the start of text.
func quoted(text string) (content string, size int, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", 0, false
	}
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			v, err := jsonx.Parse([]byte(text[:i+1]))
			if err != nil { // such as a raw newline
				return text[1:i], i + 1, true
			}
			return v.Str(), i + 1, true
		}
	}
	return "", 0, false
}

// block writes a call as the model does. Arguments that did not decode go in as
// they came.
func block(c codecs.ToolCall, p codecs.Profile) string {
	args := string(c.Arguments)
	if c.Arguments == nil {
		args = c.ArgumentsText
		if copied := c; args != "" {
			codecs.ReadArgumentsText(&copied, args, "")
			if copied.Arguments != nil { // it was the block that did not decode
				args += "}"
			}
		}
	}
	tag := callTag(p)
	return "<" + tag + ">\n{\"name\": " + string(jsonx.Quote(c.Name)) + ", \"arguments\": " + args + "}\n</" + tag + ">"
}
