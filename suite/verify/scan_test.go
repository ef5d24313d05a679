package verify

import (
	"slices"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
)

// bodies hold one of everything that the table of their dialect counts.
var bodies = map[codecs.Dialect]string{
	codecs.OpenAI:    `{"choices":[{"message":{"content":"ebb","reasoning":"r","images":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}],"tool_calls":[{"id":"c1","type":"function","function":{"name":"tide","arguments":"{\"a\":1.0}"}}]},"finish_reason":"tool_calls"}]}`,
	codecs.Hermes:    `{"choices":[{"message":{"content":"ebb <tool_call>{\"name\":\"tide\",\"arguments\":{}}</tool_call>","reasoning_content":"r"},"finish_reason":"stop"}]}`,
	codecs.Anthropic: `{"type":"message","content":[{"type":"thinking","thinking":"r","signature":"s"},{"type":"text","text":"ebb"},{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},{"type":"tool_use","id":"c1","name":"tide","input":{"a":1.0}}],"stop_reason":"tool_use"}`,
	codecs.Gemini:    `{"candidates":[{"content":{"parts":[{"text":"r","thought":true},{"text":"ebb"},{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"functionCall":{"name":"tide","id":"c1","args":{"a":1.0}},"thoughtSignature":"cw=="},{"toolCall":{"x":1},"thoughtSignature":"cw=="}]},"finishReason":"STOP"}]}`,
	codecs.Ollama:    `{"message":{"role":"assistant","content":"ebb","thinking":"r","images":["AAAA"],"tool_calls":[{"id":"c1","function":{"name":"tide","arguments":{"a":1.0}}}]},"done":true}`,
	codecs.Responses: `{"status":"completed","output":[{"type":"reasoning","id":"r1","encrypted_content":"s","summary":[]},{"type":"message","content":[{"type":"output_text","text":"ebb"},{"type":"refusal","refusal":"no"}]},{"type":"web_search_call","id":"w"},{"type":"image_generation_call","id":"i","result":"AAAA"},{"type":"function_call","call_id":"c1","id":"f1","name":"tide","arguments":"{\"a\":1.0}"}]}`,
}

// TestEveryLossIsSeen takes one thing at a time out of what each codec decodes,
// and changes one at a time: the scan must tell, and must have nothing to say
// about the reply as it is.
func TestEveryLossIsSeen(t *testing.T) {
	tab, err := loadTables()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all.Codecs() {
		d := c.Dialect()
		body := []byte(bodies[d])
		if _, ok := tab.of[d]; !ok || len(body) == 0 {
			t.Errorf("%s: no table in scan/, or no body here", d)
			continue
		}
		decode := func() codecs.Reply {
			r, err := c.Reply(body, codecs.Profile{})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		raw, _ := tab.scan(d, body)
		seen := func(r codecs.Reply) bool {
			return tab.count(d, r, raw) != raw.counts || tab.sameContent(d, raw, r) != nil
		}
		whole := decode()
		if seen(whole) {
			t.Errorf("%s: %+v, decoded %+v: %v", d, raw.counts, tab.count(d, whole, raw), tab.sameContent(d, raw, whole))
		}
		signatures, others, media := tab.of[d].reads()
		kinds := []codecs.Kind{codecs.KindText, codecs.KindReasoning, codecs.KindCall}
		if media {
			kinds = append(kinds, codecs.KindMedia)
		}
		if others {
			kinds = append(kinds, codecs.KindServer)
		}
		for _, k := range kinds {
			r := decode()
			n := len(r.Parts)
			if d == codecs.Hermes && k == codecs.KindMedia {
				continue // its body has none
			}
			if r.Parts = slices.DeleteFunc(r.Parts, func(p codecs.Part) bool { return p.Kind == k }); len(r.Parts) == n || !seen(r) {
				t.Errorf("%s: %d of %d parts left without those of kind %s, and nothing is said", d, len(r.Parts), n, k)
			}
		}
		if signatures {
			for i := range whole.Parts {
				r := decode()
				p := &r.Parts[i]
				switch {
				case p.Kind == codecs.KindServer: // its whole block is kept, with the signature in it
					continue
				case p.Signature != "":
					p.Signature = ""
				case p.Call != nil && p.Call.Signature != "":
					p.Call.Signature = ""
				default:
					continue
				}
				if !seen(r) {
					t.Errorf("%s: nothing is said of part %d without its signature", d, i)
				}
			}
			if tab.count(d, whole, raw).signatures == 0 {
				t.Errorf("%s: no signature in the body", d)
			}
		}
		if d == codecs.Hermes {
			continue // its calls stand in a text, and are only counted
		}
		for what, change := range map[string]func(*codecs.ToolCall){
			"name": func(c *codecs.ToolCall) { c.Name += "x" }, "id": func(c *codecs.ToolCall) { c.ID += "x" },
			"arguments": func(c *codecs.ToolCall) { c.ArgumentsText = `{"a":1}` },
		} {
			r := decode()
			for i := range r.Parts {
				if r.Parts[i].Call != nil {
					change(r.Parts[i].Call)
				}
			}
			if !seen(r) {
				t.Errorf("%s: nothing is said of another %s", d, what)
			}
		}
	}
}

func TestConditions(t *testing.T) {
	root, _ := parse([]byte(`{"a":{"b":[{"c":"x","d":""},{"c":"y","n":1,"l":[]}]}}`))
	for _, c := range []struct {
		path string
		want any
		is   bool
	}{
		{"a/b/0/c", "x|z", true},
		{"a/b/1/c", "x|z", false},
		{"a/b/1/c", "*", true},
		{"a/b/0/d", "*", false},
		{"a/b/1/l", "*", false},
		{"a/b/0/d|c", "x", true},
		{"a/b/7/c", "*", false},
		{"a/b/0/e", nil, true},
	} {
		if got := is(at(root, root, c.path), c.want); got != c.is {
			t.Errorf("%s is %v: %v", c.path, c.want, got)
		}
	}
}
