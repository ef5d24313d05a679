package verify

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
)

// anthropicTurns is a recording of one turn with everything that an echo can
// lose, and of the request that answers it with the given assistant content and
// results.
func anthropicTurns(echo, results string) string {
	const reply = `[{"type":"thinking","thinking":"Low or high?","signature":"c2lnbmVkLXRob3VnaHQ+Pz4/"},{"type":"text","text":"I look."},
		{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"tide"}},
		{"type":"tool_use","id":"toolu_1","name":"tide","input":{"at":"Quay"}},{"type":"tool_use","id":"toolu_2","name":"wind","input":{}}]`
	const ask = `{"role":"user","content":"tide?"}`
	return fmt.Sprintf(`{"provider":"anthropic","dialect":"anthropic","exchanges":[
		{"request":{"url":"https://h/v1/messages","body":{"model":"claude-sonnet-4-5","max_tokens":99,"messages":[%s]}},
		 "response":{"status":200,"headers":{},"body":{"type":"message","content":%s,"stop_reason":"tool_use"}}},
		{"request":{"url":"https://h/v1/messages","body":{"model":"claude-sonnet-4-5","max_tokens":99,"messages":[%s,{"role":"assistant","content":%s},{"role":"user","content":%s}]}},
		 "response":{"status":200,"headers":{},"body":{"type":"message","content":[{"type":"text","text":"Ebb."}],"stop_reason":"end_turn"}}}]}`,
		ask, reply, ask, strings.ReplaceAll(echo, "REPLY", strings.Trim(reply, "[]")), results)
}

// follow runs a recording through the law.
func follow(t *testing.T, text string) Continuations {
	t.Helper()
	file := filepath.Join(t.TempDir(), "one.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Paths(t.Context(), []string{file}, catalog)
	if err != nil || len(r.Failed) > 0 {
		t.Fatal(err, r.Failed)
	}
	return r.Continuations
}

// TestContinuations: each way in which a client changes a turn has its class, and
// the turn as it came is equal.
func TestContinuations(t *testing.T) {
	const (
		thinking = `{"type":"thinking","thinking":"Low or high?","signature":"c2lnbmVkLXRob3VnaHQ+Pz4/"}`
		text     = `{"type":"text","text":"I look."}`
		search   = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"tide"}}`
		tide     = `{"type":"tool_use","id":"toolu_1","name":"tide","input":{"at":"Quay"}}`
		wind     = `{"type":"tool_use","id":"toolu_2","name":"wind","input":{}}`
		answered = `{"type":"tool_result","tool_use_id":"toolu_1","content":"2 m"}`
		blown    = `{"type":"tool_result","tool_use_id":"toolu_2","content":"NW"}`
	)
	for _, c := range []struct {
		name, echo, results string
		want                string // classes
	}{
		{"as it came", `[REPLY]`, `[` + answered + `,` + blown + `]`, ""},
		{"results in another order", `[REPLY]`, `[` + blown + `,` + answered + `]`, ""},
		{"no thinking", `[` + text + `,` + search + `,` + tide + `,` + wind + `]`, `[` + answered + `,` + blown + `]`, "reasoning_lost reasoning_signature_lost"},
		{"other thinking", `[` + strings.Replace(thinking, "Low", "Ebb", 1) + `,` + text + `,` + search + `,` + tide + `,` + wind + `]`, `[` + answered + `,` + blown + `]`, "reasoning_changed"},
		{"other signature", `[` + strings.Replace(thinking, "c2ln", "xxxx", 1) + `,` + text + `,` + search + `,` + tide + `,` + wind + `]`, `[` + answered + `,` + blown + `]`, "reasoning_signature_changed"},
		{"signature in another alphabet", `[` + strings.NewReplacer("Q+P", "Q-P", "z4/", "z4_").Replace(thinking) + `,` + text + `,` + search + `,` + tide + `,` + wind + `]`, `[` + answered + `,` + blown + `]`, "reasoning_signature_respelled"},
		{"no text", `[` + thinking + `,` + search + `,` + tide + `,` + wind + `]`, `[` + answered + `,` + blown + `]`, "text_lost"},
		{"other text", `[` + thinking + `,` + strings.Replace(text, "look", "see", 1) + `,` + search + `,` + tide + `,` + wind + `]`, `[` + answered + `,` + blown + `]`, "text_changed"},
		{"no search", `[` + thinking + `,` + text + `,` + tide + `,` + wind + `]`, `[` + answered + `,` + blown + `]`, "item_lost"},
		{"other search", `[` + thinking + `,` + text + `,` + strings.Replace(search, "tide", "ebb", 1) + `,` + tide + `,` + wind + `]`, `[` + answered + `,` + blown + `]`, "item_changed"},
		{"other arguments", `[` + strings.Replace(`REPLY`, "REPLY", thinking+`,`+text+`,`+search+`,`+strings.Replace(tide, "Quay", "Pier", 1)+`,`+wind, 1) + `]`, `[` + answered + `,` + blown + `]`, "arguments_changed"},
		{"arguments in another spelling", `[` + thinking + `,` + text + `,` + search + `,` + strings.Replace(tide, "Quay", `Qu\u0061y`, 1) + `,` + wind + `]`, `[` + answered + `,` + blown + `]`, "arguments_respelled"},
		{"other id", `[` + thinking + `,` + text + `,` + search + `,` + strings.Replace(tide, "toolu_1", "toolu_9", 1) + `,` + wind + `]`, `[` + strings.Replace(answered, "toolu_1", "toolu_9", 1) + `,` + blown + `]`, "id_changed"},
		{"a call that is gone", `[` + thinking + `,` + text + `,` + search + `,` + tide + `]`, `[` + answered + `]`, ""},
		{"a call without a result", `[REPLY]`, `[` + answered + `]`, "call_unanswered"},
		{"a call of its own", `[REPLY,{"type":"tool_use","id":"toolu_3","name":"moon","input":{}}]`, `[` + answered + `,` + blown + `]`, "call_added"},
		{"a result of its own", `[REPLY]`, `[` + answered + `,` + blown + `,` + answered + `]`, "result_added"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := follow(t, anthropicTurns(c.echo, c.results))
			if classes := strings.Join(slices.Sorted(maps.Keys(got.Differences)), " "); classes != c.want || got.Continuations != 1 || got.Equal != map[bool]int{true: 1}[c.want == ""] || len(got.OursWrong) > 0 {
				t.Errorf("classes %q, want %q; %+v", classes, c.want, got)
			}
			for class := range got.Differences {
				if s := got.Samples(class, 10); len(s) != 1 || s[0].Exchange != 1 || s[0].Want == s[0].Got {
					t.Errorf("samples of %s: %+v", class, s)
				}
			}
		})
	}
}

// TestHistoryRewritten: a reply that is answered within another history than the
// one that it came to is told apart from one that nothing answers.
func TestHistoryRewritten(t *testing.T) {
	text := anthropicTurns(`[REPLY]`, `[{"type":"tool_result","tool_use_id":"toolu_1","content":"2 m"}]`)
	at := strings.LastIndex(text, `"tide?"`)
	got := follow(t, text[:at]+`"wind?"`+text[at+len(`"tide?"`):])
	if got.Continuations != 0 || got.Unanswered != 1 || got.Differences["history_rewritten"] != 1 {
		t.Errorf("%+v", got)
	}
}

// TestByReference: where the engine keeps the turn, ours is compared all the same.
func TestByReference(t *testing.T) {
	got := follow(t, `{"provider":"openai","dialect":"responses","exchanges":[
		{"request":{"url":"https://h/v1/responses","body":{"model":"gpt-5","input":"tide?"}},
		 "response":{"status":200,"headers":{},"body":{"id":"resp_1","status":"completed","output":[{"type":"function_call","id":"fc_1","call_id":"call_1","name":"tide","arguments":"{}","status":"completed"}]}}},
		{"request":{"url":"https://h/v1/responses","body":{"model":"gpt-5","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"call_1","output":"2 m"}]}},
		 "response":{"status":200,"headers":{},"body":{"id":"resp_2","status":"completed","output":[]}}}]}`)
	if got.Continuations != 1 || got.ByReference != 1 || got.Unanswered != 0 || len(got.OursWrong) > 0 {
		t.Errorf("%+v", got)
	}
}

// spoiled is a codec whose continuation is changed on its way.
type spoiled struct {
	codecs.Full
	spoil func(string) string
}

func (s spoiled) Continue(r codecs.Reply, results []codecs.ToolResult, p codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	list, warnings, err := s.Full.Continue(r, results, p)
	for i := range list {
		list[i] = codecs.Raw(s.spoil(string(list[i])))
	}
	return list, warnings, err
}

// TestOursWrong: what our continuation loses is seen, each kind of loss.
func TestOursWrong(t *testing.T) {
	codec, err := all.For(codecs.Anthropic)
	if err != nil {
		t.Fatal(err)
	}
	var rec cassettes.Recording
	text := anthropicTurns(`[REPLY]`, `[{"type":"tool_result","tool_use_id":"toolu_1","content":"2 m"},{"type":"tool_result","tool_use_id":"toolu_2","content":"NW"}]`)
	file := filepath.Join(t.TempDir(), "one.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if rec, err = cassettes.ReadRecording(file); err != nil {
		t.Fatal(err)
	}
	without := func(kind string) func(string) string {
		return func(message string) string {
			var m struct {
				Role    string           `json:"role"`
				Content []map[string]any `json:"content"`
			}
			if json.Unmarshal([]byte(message), &m) != nil {
				return message
			}
			m.Content = slices.DeleteFunc(m.Content, func(b map[string]any) bool { return b["type"] == kind })
			out, _ := json.Marshal(m)
			return string(out)
		}
	}
	replace := func(old, new string) func(string) string {
		return func(m string) string { return strings.Replace(m, old, new, 1) }
	}
	for want, spoil := range map[string]func(string) string{
		"":                       func(m string) string { return m },
		"reasoning_lost":         without("thinking"),
		"text_lost":              without("text"),
		"item_lost":              without("server_tool_use"),
		"arguments_changed":      replace("Quay", "Pier"),
		"arguments_respelled":    replace("Quay", `Qu\u0061y`),
		"id_changed":             func(m string) string { return strings.ReplaceAll(m, "toolu_1", "toolu_9") },
		"call_added":             replace(`"name":"wind","input":{}}`, `"name":"wind","input":{}},{"type":"tool_use","id":"toolu_3","name":"moon","input":{}}`),
		"no call has the id":     replace(`"tool_use_id":"toolu_1"`, `"tool_use_id":"toolu_8"`),
		"result_changed":         replace(`2 m`, `3 m`),
		"result_lost":            without("tool_result"),
		"reasoning_signature_ch": replace(`"signature":"c2ln`, `"signature":"xxxx`),
	} {
		t.Run(want, func(t *testing.T) {
			c := Continuations{Differences: map[string]int{}, found: map[string][]Difference{}}
			s := &continuing{open: map[int]codecs.Reply{}}
			s.Codec = spoiled{codec, spoil}
			for i, x := range rec.Exchanges {
				in, err := received(x)
				if err != nil {
					t.Fatal(err)
				}
				c.follow(s, x, in, i)
			}
			if want == "" && (len(c.OursWrong) > 0 || c.Equal != 1) {
				t.Errorf("%+v", c)
			}
			if want != "" && (len(c.OursWrong) != 1 || !strings.Contains(c.OursWrong[0].Error, want)) {
				t.Errorf("%+v", cmp.Diff(want, c))
			}
		})
	}
}
