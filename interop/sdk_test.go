package interop_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	ollama "github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/toolconform/conform/codecs"
)

// seen is what an SDK makes of a reply.
type seen struct {
	Text  string
	Calls []seenCall
}

type seenCall struct{ ID, Name, Arguments string }

// sdks are the official Go SDKs, as readers of a reply. The error is that they
// refuse it, or take a value as of another type than theirs.
var sdks = map[codecs.Dialect]func([]byte) (seen, error){
	codecs.OpenAI: func(body []byte) (out seen, err error) {
		var r openai.ChatCompletion
		if err = r.UnmarshalJSON(body); err != nil {
			return out, err
		}
		for _, c := range r.Choices {
			out.Text += c.Message.Content
			for _, k := range c.Message.ToolCalls {
				out.Calls = append(out.Calls, seenCall{k.ID, k.Function.Name, k.Function.Arguments})
			}
		}
		return out, mistyped(r)
	},
	codecs.Responses: func(body []byte) (out seen, err error) {
		var r responses.Response
		if err = r.UnmarshalJSON(body); err != nil {
			return out, err
		}
		out.Text = r.OutputText()
		for _, item := range r.Output {
			if call, ok := item.AsAny().(responses.ResponseFunctionToolCall); ok {
				out.Calls = append(out.Calls, seenCall{call.CallID, call.Name, call.Arguments})
			}
		}
		return out, mistyped(r)
	},
	codecs.Anthropic: func(body []byte) (out seen, err error) {
		var r anthropic.Message
		if err = r.UnmarshalJSON(body); err != nil {
			return out, err
		}
		for _, b := range r.Content {
			switch b := b.AsAny().(type) {
			case anthropic.TextBlock:
				out.Text += b.Text
			case anthropic.ToolUseBlock:
				out.Calls = append(out.Calls, seenCall{b.ID, b.Name, string(b.Input)})
			}
		}
		return out, mistyped(r)
	},
	codecs.Gemini: func(body []byte) (out seen, err error) {
		var r genai.GenerateContentResponse
		if err = json.Unmarshal(body, &r); err != nil {
			return out, err
		}
		if len(r.Candidates) > 0 && r.Candidates[0].Content != nil {
			for _, p := range r.Candidates[0].Content.Parts {
				if !p.Thought {
					out.Text += p.Text
				}
			}
		}
		for _, c := range r.FunctionCalls() {
			args, err := json.Marshal(c.Args)
			if err != nil {
				return out, err
			}
			out.Calls = append(out.Calls, seenCall{c.ID, c.Name, string(args)})
		}
		return out, nil
	},
	codecs.Ollama: func(body []byte) (out seen, err error) {
		var r ollama.ChatResponse
		if err = json.Unmarshal(body, &r); err != nil {
			return out, err
		}
		out.Text = r.Message.Content
		for _, c := range r.Message.ToolCalls {
			out.Calls = append(out.Calls, seenCall{c.ID, c.Function.Name, c.Function.Arguments.String()})
		}
		return out, nil
	},
}

// mistyped finds the first field of a decoded value that the SDK found to be of
// another type: these SDKs go on in silence.
func mistyped(v any) error { return mistypedIn(reflect.ValueOf(v), "") }

func mistypedIn(v reflect.Value, at string) error {
	switch v.Kind() {
	case reflect.Slice:
		for i := range v.Len() {
			if err := mistypedIn(v.Index(i), fmt.Sprintf("%s[%d]", at, i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		// A union holds the fields of all its variants; the one that it says it is
		// counts.
		if as := v.MethodByName("AsAny"); as.IsValid() && as.Type().NumIn() == 0 {
			if any := as.Call(nil)[0]; !any.IsNil() {
				return mistypedIn(any.Elem(), at)
			}
			return fmt.Errorf("%s is of no variant that is known", at)
		}
		meta := v.FieldByName("JSON")
		if !meta.IsValid() {
			return nil
		}
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			f := meta.FieldByName(name)
			if !f.IsValid() || !v.Type().Field(i).IsExported() {
				continue
			}
			field, ok := f.Interface().(interface {
				Raw() string
				Valid() bool
			})
			if !ok {
				continue
			}
			if raw := field.Raw(); raw != "" && raw != "null" && !field.Valid() {
				return fmt.Errorf("%s.%s does not take %.60s", at, name, raw)
			}
			if field.Valid() {
				if err := mistypedIn(v.Field(i), at+"."+name); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// TestOfficialSDKs gives every reply of every row to the official SDK of its
// dialect. None is refused; and where a scenario says what the turn is, the SDK
// finds the same text and the same calls in it.
func TestOfficialSDKs(t *testing.T) {
	played, err := everything()
	if err != nil {
		t.Fatal(err)
	}
	unlike := map[string]string{ // row, dialect or scenario: why the SDK reads it differently
		"mistral": "thinking stands in a list of chunks, which OpenAI has not",
	}
	used, read, compared := map[string]bool{}, map[codecs.Dialect]int{}, map[codecs.Dialect]int{}
	for _, b := range played {
		decode := sdks[b.engine.Dialect]
		if b.side != "reply" || decode == nil {
			continue
		}
		read[b.engine.Dialect]++
		got, err := decode(b.bytes)
		var fault string
		switch {
		case err != nil:
			fault = "refused: " + err.Error()
		case b.says != nil:
			compared[b.engine.Dialect]++
			_, own := native[b.engine.Name]
			fault = got.differs(*b.says, b.reads, own)
		}
		if fault == "" {
			continue
		}
		listed := false
		for name := range unlike {
			if slices.Contains(strings.Fields(b.where), name) {
				used[name], listed = true, true
			}
		}
		if !listed {
			t.Errorf("%s: %s\n%s", b.where, fault, b.bytes)
		}
	}
	for name := range unlike {
		if !used[name] {
			t.Errorf("%s is no longer unlike", name)
		}
	}
	for _, d := range slices.Sorted(maps.Keys(read)) {
		t.Logf("%-10s %5d replies read, %5d compared with their turn", d, read[d], compared[d])
	}
	for d := range sdks {
		if compared[d] == 0 {
			t.Errorf("no reply of %s was compared", d)
		}
	}
}

// differs tells where the SDK sees something else than the turn says. Ids are
// the engine's own: they are held against what the codec reads. A host may show
// its thinking in the text.
func (s seen) differs(says, reads codecs.Reply, own bool) string {
	if s.Text != says.Text() && (own || !strings.Contains(s.Text, says.Text())) {
		return fmt.Sprintf("text is %q, the turn says %q", s.Text, says.Text())
	}
	calls, ids := says.Calls(), reads.Calls()
	if slices.ContainsFunc(calls, func(c codecs.ToolCall) bool { return c.Cut }) {
		calls = ids // what is left of a cut call differs from engine to engine
	}
	if len(calls) != len(s.Calls) || len(ids) != len(s.Calls) {
		return fmt.Sprintf("%d calls, the turn says %d and the codec reads %d", len(s.Calls), len(calls), len(ids))
	}
	for i, c := range calls {
		got := s.Calls[i]
		if got.Name != c.Name || got.ID != ids[i].ID || !sameArguments(got.Arguments, c) {
			return fmt.Sprintf("call %d is %+v, the turn says %s with %s", i, got, c.Name, c.ArgumentsText)
		}
	}
	return ""
}

// sameArguments compares as values: an SDK that keeps numbers as float64 is no
// reason to fail.
func sameArguments(got string, want codecs.ToolCall) bool {
	if want.Arguments == nil {
		var text string
		if json.Unmarshal([]byte(got), &text) != nil {
			text = got
		}
		return text == want.ArgumentsText
	}
	var a, b any
	if json.Unmarshal([]byte(got), &a) != nil || json.Unmarshal(bytes.TrimSpace(want.Arguments), &b) != nil {
		return false
	}
	if m, ok := b.(map[string]any); ok && len(m) == 0 && a == nil {
		return true // no arguments at all
	}
	return reflect.DeepEqual(a, b)
}
