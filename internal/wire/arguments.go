package wire

import (
	"errors"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

const notAnObject = "not a JSON object"

// ReadArguments decodes the arguments of a call, whatever form they came in,
// into call (ArgumentsText, Arguments, ArgumentsErr). The rules are the same
// for all dialects:
//
//	absent, null, "", {} and the text null    {}
//	an object                                 itself
//	text of an object                         that object
//	text of a JSON string that holds one      unwrapped once, with a warning
//	anything else                             undecodable
//
// JSON is never repaired: text that does not parse whole is undecodable.
// Source: spec 1.2.1 of the source documents, and decision "Double-encoded
// arguments" of the design; the text null is what Groq sends for tools without
// parameters.
func ReadArguments(call *codecs.ToolCall, v jsonx.Value, pointer string) []codecs.Warning {
	switch v.Kind() {
	case jsonx.Absent, jsonx.Null:
		call.Arguments = codecs.Raw("{}")
		return nil
	case jsonx.Object:
		call.ArgumentsText, call.Arguments = string(v.Raw()), v.Raw()
		return nil
	case jsonx.String:
		return readArgumentsText(call, v.Str(), pointer)
	}
	call.ArgumentsText, call.ArgumentsErr = string(v.Raw()), notAnObject
	return nil
}

// ReadArgumentsText is ReadArguments for a text.
func ReadArgumentsText(call *codecs.ToolCall, text, pointer string) []codecs.Warning {
	return readArgumentsText(call, text, pointer)
}

func readArgumentsText(call *codecs.ToolCall, text, pointer string) []codecs.Warning {
	call.ArgumentsText = text
	if text == "" {
		call.Arguments = codecs.Raw("{}")
		return nil
	}
	if jsonx.IsObjectText(text) {
		call.Arguments = codecs.Raw(strings.TrimSpace(text))
		return nil
	}
	v, err := jsonx.ParseText(text)
	if err != nil {
		call.ArgumentsErr = reason(err)
		return nil
	}
	switch v.Kind() {
	case jsonx.Null:
		call.Arguments = codecs.Raw("{}")
	case jsonx.String:
		if !jsonx.IsObjectText(v.Str()) {
			call.ArgumentsErr = notAnObject
			return nil
		}
		call.Arguments = codecs.Raw(strings.TrimSpace(v.Str()))
		return []codecs.Warning{codecs.Warnf(codecs.WarnDoubleEncoded, pointer, "arguments of %s were encoded twice; unwrapped once", call.Name)}
	default:
		call.ArgumentsErr = notAnObject
	}
	return nil
}

func reason(err error) string {
	var se *jsonx.SyntaxError
	if errors.As(err, &se) {
		se = &jsonx.SyntaxError{Offset: se.Offset, Reason: se.Reason}
		return se.Error()
	}
	return err.Error()
}

// RefusedArguments prepares the answer to a call whose undecodable arguments
// the engine refuses in the history: the result's text also shows them, since
// the echo carries {} in their place.
func RefusedArguments(call codecs.ToolCall, result codecs.ToolResult) codecs.ToolResult {
	text := "Received: " + call.ArgumentsText
	block := (&jsonx.Fields{}).Str("type", "text").Str("text", text).Raw()
	result.Content = append(append([]codecs.Raw(nil), result.Content...), block)
	return result
}
