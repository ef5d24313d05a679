package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
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
	signatures, others     int // signatures of reasoning and calls; blocks and items of other kinds (where the dialect has blocks)
}

// scanned is what the raw scan found.
type scanned struct {
	counts
	content      string    // what the model wrote, think tags taken out
	tagged       bool      // there were think tags: thinking stands in the text
	found        []rawCall // the calls, in wire order
	carriesError bool
}

// rawCall is one call as the wire has it; arguments is a string, an object or nil.
type rawCall struct {
	name, id  string
	arguments any
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

// scan counts a reply body without using a codec.
func scan(d codecs.Dialect, body []byte) (c scanned, ok bool) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber() // numbers are compared as tokens
	if dec.Decode(&v) != nil {
		return c, false
	}
	c.carriesError = carriesError(v)
	var text string
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
	text, c.tagged = withoutTags(text)
	if d == codecs.Hermes && len(c.found) == 0 {
		text = scanHermes(text, &c)
	} else {
		c.calls = len(c.found)
	}
	c.content, c.text = text, visible(text)
	if c.tagged { // tag thinking may stand for the native kind
		c.reasoning = 0
	}
	return c, true
}

// carriesError tells whether a body says that something went wrong, in any of
// the places where providers say it.
func carriesError(v any) bool {
	if obj(v, "error") != nil || str(obj(v, "type")) == "error" || str(obj(v, "status")) == "failed" || obj(v, "success") == false {
		return true
	}
	for _, c := range list(obj(v, "choices")) {
		if obj(c, "error") != nil || str(obj(c, "finish_reason")) == "error" {
			return true
		}
	}
	return false
}

// call notes a call that has a name.
func (c *scanned) call(name, id, arguments any) {
	if n := str(name); n != "" {
		c.found = append(c.found, rawCall{n, str(id), arguments})
	}
}

func scanChat(v any, c *scanned) (text string) {
	choices := list(obj(v, "choices"))
	if len(choices) == 0 {
		return ""
	}
	msg := obj(choices[0], "message")
	for _, call := range list(obj(msg, "tool_calls")) {
		c.call(obj(call, "function", "name"), obj(call, "id"), obj(call, "function", "arguments"))
	}
	if len(c.found) == 0 {
		c.call(obj(msg, "function_call", "name"), nil, obj(msg, "function_call", "arguments"))
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
func scanHermes(text string, c *scanned) string {
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

func scanAnthropic(v any, c *scanned) (text string) {
	for _, b := range list(obj(v, "content")) {
		switch str(obj(b, "type")) {
		case "text":
			text += str(obj(b, "text"))
		case "tool_use":
			c.call(obj(b, "name"), obj(b, "id"), obj(b, "input"))
		case "thinking", "redacted_thinking":
			c.reasoning++
			if str(obj(b, "signature"))+str(obj(b, "data")) != "" {
				c.signatures++
			}
		default:
			c.others++
		}
	}
	return text
}

func scanGemini(v any, c *scanned) (text string) {
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
		if !malformed {
			c.call(obj(call, "name"), obj(call, "id"), obj(call, "args"))
		}
		if str(obj(p, "thoughtSignature"))+str(obj(p, "thought_signature")) != "" && !malformed {
			c.signatures++
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

func scanOllama(v any, c *scanned) (text string) {
	msg := obj(v, "message")
	for _, call := range list(obj(msg, "tool_calls")) {
		c.call(obj(call, "function", "name"), obj(call, "id"), obj(call, "function", "arguments"))
	}
	if str(obj(msg, "thinking")) != "" {
		c.reasoning = 1
	}
	return str(obj(msg, "content"))
}

func scanResponses(v any, c *scanned) (text string) {
	for _, item := range list(obj(v, "output")) {
		switch str(obj(item, "type")) {
		case "function_call":
			c.call(obj(item, "name"), callID(item), obj(item, "arguments"))
		case "reasoning":
			c.reasoning++
			if str(obj(item, "encrypted_content")) != "" {
				c.signatures++
			}
		case "message":
			for _, part := range list(obj(item, "content")) {
				switch str(obj(part, "type")) {
				case "output_text":
					text += str(obj(part, "text"))
				case "function_call":
					c.call(obj(part, "name"), callID(part), obj(part, "arguments"))
				}
			}
		default:
			c.others++
		}
	}
	return text
}

func callID(item any) any {
	if id := str(obj(item, "call_id")); id != "" {
		return id
	}
	return obj(item, "id")
}

// count counts a decoded reply. With tags, the thinking that was taken out of the
// text belongs to the text that the raw scan saw, and thinking is not compared.
func count(d codecs.Dialect, r codecs.Reply, raw scanned) counts {
	c := counts{calls: len(r.Calls()), text: visible(r.Text())}
	whole := squeezed(raw.content)
	for _, p := range r.Parts {
		switch {
		case p.Kind == codecs.Reasoning:
			c.reasoning++
			if raw.tagged && strings.Contains(whole, squeezed(p.Text)) {
				c.text += visible(p.Text)
			}
		case p.Kind == codecs.Server || p.Kind == codecs.Client || p.Kind == codecs.Opaque:
			c.others++
		}
		if p.Signature != "" || p.Call != nil && p.Call.Signature != "" {
			c.signatures++
		}
	}
	if raw.tagged {
		c.reasoning = 0
	}
	switch d {
	case codecs.OpenAI, codecs.Hermes, codecs.Ollama:
		c.reasoning, c.signatures, c.others = min(c.reasoning, 1), 0, 0
	case codecs.Gemini: // a signature may also stand on a part of another kind, inside its block
		c.others = 0
		for _, p := range r.Parts {
			if p.Kind != codecs.Reasoning && p.Kind != codecs.Text && p.Kind != codecs.CallKind && p.Signature == "" &&
				(bytes.Contains(p.Extra, []byte(`"thoughtSignature"`)) || bytes.Contains(p.Extra, []byte(`"thought_signature"`))) {
				c.signatures++
			}
		}
	case codecs.Responses: // what a message holds besides text is no item
		c.others = 0
		for _, p := range r.Parts {
			if (p.Kind == codecs.Server || p.Kind == codecs.Client || p.Kind == codecs.Opaque) && p.Type != "refusal" && bytes.HasPrefix(bytes.TrimSpace(p.Extra), []byte("{")) && raw.others > 0 {
				c.others++
			}
		}
		c.others = min(c.others, raw.others)
	}
	return c
}

// sameContent compares what counts cannot tell: names, ids and arguments of the
// calls, and the text itself where nothing is taken out of it.
func sameContent(d codecs.Dialect, raw scanned, r codecs.Reply) error {
	for i, c := range r.Calls() {
		if i >= len(raw.found) {
			break // lifted from text; counted
		}
		w := raw.found[i]
		if c.Name != w.name || w.id != "" && c.ID != w.id {
			return fmt.Errorf("call %d is %s (id %q) in the body, decoded %s (id %q)", i, w.name, w.id, c.Name, c.ID)
		}
		if !sameArguments(w.arguments, c.ArgumentsText) {
			return fmt.Errorf("arguments of call %d are %v in the body, decoded %q", i, w.arguments, c.ArgumentsText)
		}
	}
	if d != codecs.Hermes && !raw.tagged && raw.content != r.Text() {
		return fmt.Errorf("the text is %.200q in the body, decoded %.200q", raw.content, r.Text())
	}
	return nil
}

func sameArguments(wire any, text string) bool {
	switch w := wire.(type) {
	case nil:
		return text == ""
	case string:
		return text == w
	}
	var v any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if dec.Decode(&v) != nil {
		return false
	}
	a, errA := json.Marshal(wire)
	b, errB := json.Marshal(v)
	return errA == nil && errB == nil && bytes.Equal(a, b)
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
