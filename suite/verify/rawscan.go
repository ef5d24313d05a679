package verify

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/paths"
)

// counts is what a body holds, counted in two independent ways: by a walk over
// the JSON along the paths of a table, and by the codec. Text is counted in bytes
// that are no white space, since text dialects trim around markup.
type counts struct {
	calls, text, reasoning, signatures, others, media int
}

// scanned is what the raw scan found.
type scanned struct {
	counts
	content string    // what the model wrote, think tags taken out
	tagged  bool      // there were think tags: thinking stands in the text
	found   []rawCall // the calls, in wire order
	failed  bool      // the body says that something went wrong
}

// rawCall is one call as the wire has it; arguments is a string, an object or nil.
type rawCall struct {
	name, id  string
	arguments any
}

func str(v any) string { s, _ := v.(string); return s }

func visible(s string) int { return len(squeezed(s)) }

// squeezed takes the white space out of a text.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
}

// withoutTags takes think tags out of a text; tagged tells whether there were any.
func withoutTags(s string) (rest string, tagged bool) {
	rest = strings.NewReplacer("<think>", "", "</think>", "").Replace(s)
	return rest, rest != s
}

func parse(body []byte) (v any, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.UseNumber() // numbers are compared as tokens
	return v, dec.Decode(&v) == nil
}

// scan counts a reply body without using a codec. ok is false for no JSON.
func (t tables) scan(d codecs.Dialect, body []byte) (c scanned, ok bool) {
	root, ok := parse(body)
	if !ok {
		return c, false
	}
	c.failed = t.carriesError(root)
	tab := t.of[d]
	s := scan{root: root, body: body, scanned: &c}
	for _, g := range tab.Groups {
		s.group(root, g, g.At)
	}
	c.content, c.tagged = withoutTags(c.content)
	c.calls = len(c.found)
	if tab.TextCalls != nil && c.calls == 0 {
		c.textCalls(*tab.TextCalls)
	}
	c.text = visible(c.content)
	if tab.ReasoningOnce {
		c.reasoning = min(c.reasoning, 1)
	}
	if c.tagged { // tag thinking may stand for the native kind
		c.reasoning = 0
	}
	return c, true
}

// carriesError tells whether a body, or a frame of a stream, says that something
// went wrong.
func (t tables) carriesError(root any) bool {
	for _, p := range t.errors {
		if slices.ContainsFunc(paths.Find(root, p.At), func(v any) bool { return v == p.Is || p.Is == nil }) {
			return true
		}
	}
	return false
}

type scan struct {
	root any
	body []byte
	*scanned
}

func (s scan) group(from any, g group, path string) {
	for _, item := range paths.Find(from, g.At) {
		other := g.Others
		for _, r := range g.Rules {
			if r.applies(s.root, item) {
				s.rule(item, r, path)
				other = other && (len(r.When) == 0 || r.Other)
			}
		}
		if other {
			s.others++
		}
	}
}

func (s scan) rule(item any, r rule, path string) {
	if r.Text != "" {
		v := at(s.root, item, r.Text)
		s.content += str(v)
		if _, object := v.(map[string]any); object && r.ObjectAsText {
			s.content += spelling(s.body, path)
		}
	}
	for path, n := range map[string]*int{r.Reasoning: &s.reasoning, r.Signature: &s.signatures, r.Media: &s.media} {
		if path != "" && paths.Filled(at(s.root, item, path)) {
			*n++
		}
	}
	if r.Call != nil {
		call := rawCall{name: str(at(s.root, item, r.Call.Name))}
		if r.Call.ID != "" {
			call.id = str(at(s.root, item, r.Call.ID))
		}
		if call.arguments = at(s.root, item, r.Call.Arguments); call.name != "" {
			s.found = append(s.found, call)
		}
	}
	if r.Each != nil {
		s.group(item, *r.Each, path+"/"+r.Each.At)
	}
}

// spelling is the text of the value at a path, as the body has it: structured
// output that a host did not encode as a string.
func spelling(body []byte, path string) string {
	for _, step := range strings.Split(path, "/") {
		var object map[string]json.RawMessage
		var list []json.RawMessage
		switch {
		case json.Unmarshal(body, &object) == nil:
			body = object[step]
		case json.Unmarshal(body, &list) == nil && step == "0" && len(list) > 0:
			body = list[0]
		default:
			return ""
		}
	}
	return string(body)
}

// textCalls counts the blocks of markup that are calls and takes them out.
func (c *scanned) textCalls(m textCalls) {
	block := regexp.MustCompile(`(?s)` + regexp.QuoteMeta(m.Open) + `\s*(.*?)\s*` + regexp.QuoteMeta(m.Close))
	c.content = block.ReplaceAllStringFunc(c.content, func(text string) string {
		v, ok := parse([]byte(block.FindStringSubmatch(text)[1]))
		if !ok || str(at(v, v, m.Name)) == "" {
			return text
		}
		c.calls++
		return ""
	})
}

// reads tells which counts a table has rules for; a codec is not held to others.
func (t table) reads() (signatures, others, media bool) {
	var walk func(g group)
	walk = func(g group) {
		others = others || g.Others
		for _, r := range g.Rules {
			signatures, media = signatures || r.Signature != "", media || r.Media != ""
			if r.Each != nil {
				walk(*r.Each)
			}
		}
	}
	for _, g := range t.Groups {
		walk(g)
	}
	return signatures, others, media
}

// count counts a decoded reply. With tags, the thinking that was taken out of the
// text belongs to the text that the raw scan saw, and thinking is not compared.
func (t tables) count(d codecs.Dialect, r codecs.Reply, raw scanned) counts {
	c := counts{calls: len(r.Calls()), text: visible(r.Text())}
	whole := squeezed(raw.content)
	for _, p := range r.Parts {
		if p.Kind == codecs.KindReasoning {
			c.reasoning++
			if raw.tagged && strings.Contains(whole, squeezed(p.Text)) {
				c.text += visible(p.Text)
			}
		}
		if p.Kind == codecs.KindMedia {
			c.media++
		}
		whole := p.Kind == codecs.KindServer || p.Kind == codecs.KindClient || p.Kind == codecs.KindOpaque
		if whole {
			c.others++
		}
		switch {
		case p.Signature != "" || p.Call != nil && p.Call.Signature != "":
			c.signatures++
		case whole: // a block that is kept whole keeps its signature inside
			c.signatures += t.signatures(d, p.Extra)
		}
	}
	tab := t.of[d]
	if tab.ReasoningOnce {
		c.reasoning = min(c.reasoning, 1)
	}
	if raw.tagged {
		c.reasoning = 0
	}
	signatures, others, media := tab.reads()
	if !signatures {
		c.signatures = 0
	}
	if !others {
		c.others = 0
	}
	if !media {
		c.media = 0
	}
	return c
}

// signatures counts the signatures of one item.
func (t tables) signatures(d codecs.Dialect, item []byte) int {
	v, ok := parse(item)
	if !ok {
		return 0
	}
	n := 0
	for _, g := range t.of[d].Groups {
		for _, r := range g.Rules {
			if r.Signature != "" && r.applies(v, v) && paths.Filled(at(v, v, r.Signature)) {
				n++
			}
		}
	}
	return n
}

// sameContent compares what counts cannot tell: names, ids and arguments of the
// calls, and the text itself where nothing is taken out of it.
func (t tables) sameContent(d codecs.Dialect, raw scanned, r codecs.Reply) error {
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
	if t.of[d].TextCalls == nil && !raw.tagged && raw.content != r.Text() {
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
	v, ok := parse([]byte(text))
	if !ok {
		return false
	}
	a, errA := json.Marshal(wire)
	b, errB := json.Marshal(v)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}
