package verify

import (
	"encoding/json"
	"regexp"
	"strings"
	"unicode"

	"github.com/toolconform/conform/codecs"
)

// counts is what a body holds, counted in two independent ways: by a plain walk
// over the JSON, and by the codec. Text is counted in bytes that are no white
// space, since text dialects trim around markup.
type counts struct {
	calls, text, reasoning int
}

// obj and list read untyped JSON without failing.
func obj(v any, keys ...string) any {
	for _, k := range keys {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[k]
	}
	return v
}

func list(v any) []any { l, _ := v.([]any); return l }

func str(v any) string { s, _ := v.(string); return s }

func visible(s string) int {
	n := 0
	for _, r := range s {
		if !unicode.IsSpace(r) {
			n += len(string(r))
		}
	}
	return n
}

const (
	thinkOpen  = "<think>"
	thinkClose = "</think>"
)

// withoutTags takes think tags out of a text; tagged tells whether there were any.
func withoutTags(s string) (rest string, tagged bool) {
	rest = strings.ReplaceAll(strings.ReplaceAll(s, thinkOpen, ""), thinkClose, "")
	return rest, rest != s
}

// scan counts a reply body without using a codec. text is what the model wrote,
// tags taken out; tagged tells that there were some, so that thinking stands in
// the text.
func scan(d codecs.Dialect, body []byte) (c counts, text string, tagged, ok bool) {
	var v any
	if json.Unmarshal(body, &v) != nil {
		return c, "", false, false
	}
	switch d {
	case codecs.OpenAI, codecs.Hermes:
		text = scanChat(v, &c)
		if text == "" {
			text = objectContent(body)
		}
	case codecs.Anthropic:
		text = scanAnthropic(v, &c)
	case codecs.Gemini:
		text = scanGemini(v, &c)
	case codecs.Ollama:
		text = scanOllama(v, &c)
	case codecs.Responses:
		text = scanResponses(v, &c)
	}
	text, tagged = withoutTags(text)
	if d == codecs.Hermes && c.calls == 0 {
		text = scanHermes(text, &c)
	}
	c.text = visible(text)
	if tagged { // tag thinking may stand for the native kind
		c.reasoning = 0
	}
	return c, text, tagged, true
}

func scanChat(v any, c *counts) (text string) {
	choices := list(obj(v, "choices"))
	if len(choices) == 0 {
		return ""
	}
	msg := obj(choices[0], "message")
	for _, call := range list(obj(msg, "tool_calls")) {
		if str(obj(call, "function", "name")) != "" {
			c.calls++
		}
	}
	if c.calls == 0 && str(obj(msg, "function_call", "name")) != "" {
		c.calls++
	}
	chunked := false
	switch content := obj(msg, "content").(type) {
	case string:
		text = content
	case []any:
		for _, chunk := range content {
			switch str(obj(chunk, "type")) {
			case "text":
				text += str(obj(chunk, "text"))
			case "thinking":
				chunked = true
			case "":
				text += str(chunk)
			}
		}
	}
	for _, key := range []string{"reasoning_content", "reasoning", "reasoning_text"} {
		if str(obj(msg, key)) != "" {
			chunked = true
		}
	}
	if len(list(obj(msg, "reasoning_details"))) > 0 { // encrypted ones have no text
		chunked = true
	}
	if chunked {
		c.reasoning = 1
	}
	return text
}

// objectContent is the spelling of a content that is an object: structured output
// that a host did not encode as a string.
func objectContent(body []byte) string {
	var doc struct {
		Choices []struct {
			Message struct {
				Content json.RawMessage `json:"content"`
			} `json:"message"`
		} `json:"choices"`
	}
	if json.Unmarshal(body, &doc) != nil || len(doc.Choices) == 0 {
		return ""
	}
	if c := doc.Choices[0].Message.Content; len(c) > 0 && c[0] == '{' {
		return string(c)
	}
	return ""
}

var hermesBlock = regexp.MustCompile(`(?s)<tool_call>\s*(.*?)\s*</tool_call>`)

// scanHermes counts the blocks that are calls and takes them out of the text.
func scanHermes(text string, c *counts) string {
	return hermesBlock.ReplaceAllStringFunc(text, func(block string) string {
		var v any
		inner := hermesBlock.FindStringSubmatch(block)[1]
		if json.Unmarshal([]byte(inner), &v) != nil || str(obj(v, "name")) == "" {
			return block
		}
		c.calls++
		return ""
	})
}

func scanAnthropic(v any, c *counts) (text string) {
	for _, b := range list(obj(v, "content")) {
		switch str(obj(b, "type")) {
		case "text":
			text += str(obj(b, "text"))
		case "tool_use":
			if str(obj(b, "name")) != "" {
				c.calls++
			}
		case "thinking", "redacted_thinking":
			c.reasoning++
		}
	}
	return text
}

func scanGemini(v any, c *counts) (text string) {
	candidates := list(obj(v, "candidates"))
	if len(candidates) == 0 {
		return ""
	}
	// Calls that come with MALFORMED_FUNCTION_CALL are reported as unreadable,
	// not as calls.
	malformed := str(obj(candidates[0], "finishReason")) == "MALFORMED_FUNCTION_CALL"
	for _, p := range list(obj(candidates[0], "content", "parts")) {
		thought, _ := obj(p, "thought").(bool)
		if s := str(obj(p, "text")); s != "" || hasKey(p, "text") {
			if thought {
				if s != "" {
					c.reasoning++
				}
			} else {
				text += s
			}
		}
		call := obj(p, "functionCall")
		if call == nil {
			call = obj(p, "function_call")
		}
		if str(obj(call, "name")) != "" && !malformed {
			c.calls++
		}
	}
	return text
}

func hasKey(v any, key string) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	_, ok = m[key]
	return ok
}

func scanOllama(v any, c *counts) (text string) {
	msg := obj(v, "message")
	for _, call := range list(obj(msg, "tool_calls")) {
		if str(obj(call, "function", "name")) != "" {
			c.calls++
		}
	}
	if str(obj(msg, "thinking")) != "" {
		c.reasoning = 1
	}
	return str(obj(msg, "content"))
}

func scanResponses(v any, c *counts) (text string) {
	for _, item := range list(obj(v, "output")) {
		switch str(obj(item, "type")) {
		case "function_call":
			if str(obj(item, "name")) != "" {
				c.calls++
			}
		case "reasoning":
			c.reasoning++
		case "message":
			for _, part := range list(obj(item, "content")) {
				switch str(obj(part, "type")) {
				case "output_text":
					text += str(obj(part, "text"))
				case "function_call":
					if str(obj(part, "name")) != "" {
						c.calls++
					}
				}
			}
		}
	}
	return text
}

// count counts a decoded reply. With tags, the thinking that was taken out of the
// text belongs to the text that the raw scan saw, and thinking is not compared.
func count(d codecs.Dialect, r codecs.Reply, text string, tagged bool) counts {
	c := counts{calls: len(r.Calls()), text: visible(r.Text())}
	whole := squeezed(text)
	for _, p := range r.Parts {
		if p.Kind != codecs.Reasoning {
			continue
		}
		c.reasoning++
		if tagged && strings.Contains(whole, squeezed(p.Text)) {
			c.text += visible(p.Text)
		}
	}
	if tagged {
		c.reasoning = 0
	}
	if (d == codecs.OpenAI || d == codecs.Hermes || d == codecs.Ollama) && c.reasoning > 1 {
		c.reasoning = 1
	}
	return c
}

// squeezed takes the white space out of a text.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}
