package hermes

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Tools returns the tool prompt, as a JSON string.
func (Codec) Tools(tools []codecs.Tool, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	text, err := prompt(tools, p)
	if err != nil {
		return nil, nil, err
	}
	return jsonx.Quote(text), nil, nil
}

const (
	promptHead = "You can use tools to answer. When one of them helps, call it instead of guessing its result, and wait for the results before you go on. You may call several at once. Fill in only what you know; ask for what is missing.\n\n" +
		"The functions and the JSON Schemas of their arguments stand inside <tools></tools>:\n<tools>\n"
	promptTail = "\n</tools>\n\n" +
		"To call a function, write one JSON object with the keys \"name\" and \"arguments\" between <%[1]s> and </%[1]s>, one such block for each call:\n" +
		"<%[1]s>\n{\"name\": \"function-name\", \"arguments\": {\"argument-name\": \"value\"}}\n</%[1]s>"
)

// prompt is the system text that offers tools: an instruction, the tools as a
// compact list of {"description","inputSchema","name"} inside <tools>, and the
// form of a call. Source: spec 2.8 of the source documents.
func prompt(tools []codecs.Tool, p codecs.Profile) (string, error) {
	entries := make([]codecs.Raw, len(tools))
	for i, t := range tools {
		if t.Name == "" {
			return "", fmt.Errorf("hermes: tools[%d]: a tool needs a name", i)
		}
		schema, err := jsonx.Compact(wire.Schema(t))
		if err != nil {
			return "", fmt.Errorf("hermes: tools[%d]: schema of %s: %w", i, t.Name, err)
		}
		var f jsonx.Fields
		entries[i] = f.Str("description", t.Description).Set("inputSchema", schema).Str("name", t.Name).Raw()
	}
	return promptHead + string(jsonx.List(entries...)) + fmt.Sprintf(promptTail, callTag(p)), nil
}
