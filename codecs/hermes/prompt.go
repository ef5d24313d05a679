package hermes

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/tags"
)

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
		schema, err := jsonx.Compact(orSchema(t.InputSchema))
		if err != nil {
			return "", fmt.Errorf("hermes: tools[%d]: schema of %s: %w", i, t.Name, err)
		}
		var f jsonx.Fields
		entries[i] = f.Str("description", t.Description).Set("inputSchema", schema).Str("name", t.Name).Raw()
	}
	return promptHead + string(jsonx.List(entries...)) + fmt.Sprintf(promptTail, callTag(p)), nil
}

func orSchema(schema codecs.Raw) codecs.Raw {
	if len(schema) == 0 {
		return codecs.Raw(`{"type":"object","properties":{}}`)
	}
	return schema
}

// liftTools takes the tools out of a system text. A prompt of this package goes
// whole; of one in other words only the block itself goes, and the words around
// it stay. Tools are read as a list or as one object per line or after another.
// ok is false when there is no readable block.
func liftTools(text string, p codecs.Profile) (tools []codecs.Tool, rest string, warnings []codecs.Warning, ok bool) {
	// Prose may name the tags before the block stands: take the first one that reads.
	for from := 0; ; {
		open := strings.Index(text[from:], "<tools>")
		if open < 0 {
			return nil, text, nil, false
		}
		start := from + open
		body := text[start+len("<tools>"):]
		list, size, found := toolList(body)
		end := strings.TrimLeft(body[size:], " \t\r\n")
		if !found || !strings.HasPrefix(end, "</tools>") {
			from = start + len("<tools>")
			continue
		}
		tools, warnings, err := codecs.ParseTools(list)
		if err != nil || len(tools) == 0 {
			from = start + len("<tools>")
			continue
		}
		if own, err := prompt(tools, p); err == nil && strings.Contains(text, own) {
			rest = strings.Replace(text, own, "", 1)
		} else {
			rest = text[:start] + end[len("</tools>"):]
		}
		return tools, strings.TrimSpace(rest), warnings, true
	}
}

// toolList reads the JSON values at the start of text as one list.
func toolList(text string) (list codecs.Raw, size int, ok bool) {
	var items []codecs.Raw
	for {
		n, whole := tags.JSONValue(text[size:])
		if !whole {
			return jsonx.List(items...), size, len(items) > 0
		}
		v := jsonx.Of([]byte(strings.TrimSpace(text[size : size+n])))
		size += n
		if v.IsArray() {
			for _, item := range v.Items() {
				items = append(items, item.Raw())
			}
			continue
		}
		items = append(items, v.Raw())
	}
}
