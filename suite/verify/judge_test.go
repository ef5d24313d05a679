package verify_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/suite/results"
	"github.com/toolconform/conform/suite/verify"
)

// conversation is a recording of a call and its answer: id and reasoning are
// those of the second request.
func conversation(id, reasoning string, status int) string {
	const ask = `{"role":"user","content":"tide?"}`
	const call = `"tool_calls":[{"id":"c1","type":"function","function":{"name":"tide","arguments":"{}"}}]`
	return fmt.Sprintf(`{"provider":"deepseek","dialect":"openai","exchanges":[
		{"request":{"url":"https://h/chat/completions","body":{"model":"deepseek-reasoner","messages":[%s]}},
		 "response":{"status":200,"headers":{},"body":{"choices":[{"message":{"role":"assistant","content":null,"reasoning_content":"Low.",%s},"finish_reason":"tool_calls"}]}}},
		{"request":{"url":"https://h/chat/completions","body":{"model":"deepseek-reasoner","messages":[%s,{"role":"assistant","content":null%s,%s},{"role":"tool","tool_call_id":%q,"content":"2 m"}]}},
		 "response":{"status":%d,"headers":{},"body":{"choices":[{"message":{"role":"assistant","content":"Ebb."},"finish_reason":"stop"}]}}}]}`,
		ask, call, ask, reasoning, call, id, status)
}

func TestJudge(t *testing.T) {
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	const kept = `,"reasoning_content":"Low."`
	files := map[string]string{
		"right.json":    conversation("c1", kept, 200),
		"wrong.json":    conversation("c9", kept, 200),
		"lost.json":     conversation("c1", "", 200),
		"refused.json":  conversation("c9", kept, 400),
		"embedded.json": `{"exchanges":[{"request":{"url":"https://h/v1/embeddings","body":{}},"response":{"status":200,"body":{}}}]}`,
		"stranger.json": `{"provider":"quay","dialect":"gemini","exchanges":[{"request":{"url":"https://h/v1/models/m:generateContent","body":{"contents":[]}},"response":{"status":200,"body":{"candidates":[{"content":{"role":"model","parts":[{"text":"Ebb."}]},"finishReason":"STOP"}]}}}]}`,
		"notes.json":    `{}`,
	}
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r, err := verify.Judge(context.Background(), []string{dir}, catalog)
	if err != nil {
		t.Fatal(err)
	}
	count := func(n int, must map[string]int) verify.Count {
		return verify.Count{Requests: n, Must: must, Below: map[string]int{}}
	}
	none := map[string]int{}
	want := []verify.Provider{
		{Dialect: "openai", Provider: "deepseek", Engine: "deepseek", Accepted: count(7, map[string]int{"results.pairing": 1, "echo.reasoning": 1}), Refused: count(1, map[string]int{"results.pairing": 1})},
		{Dialect: "gemini", Provider: "quay", Accepted: count(1, none), Refused: count(0, none)},
	}
	if d := cmp.Diff(want, r.Providers); d != "" {
		t.Errorf("%s\n%+v", d, r.Findings)
	}
	if r.Files != 6 || r.Other != 1 || len(r.Skipped) != 1 || len(r.Failed) != 0 || r.Must() != 2 {
		t.Errorf("files %d, other %d, skipped %v, failed %v, must %d", r.Files, r.Other, r.Skipped, r.Failed, r.Must())
	}
}

// TestSharedRecordingsJudged: over public recordings, no request that its provider
// took is found at fault, but for those whose client is: some change the arguments
// of a call that they echo, two leave out the id of a result, which one provider
// takes, and one client leaves out the searches that the provider ran.
func TestSharedRecordingsJudged(t *testing.T) {
	const dir = "../../../shared/recordings"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings: %v", err)
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify.Judge(context.Background(), []string{dir}, catalog)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Accepted && f.Level == results.Must && f.ID != "echo.arguments_verbatim" && f.ID != "request.form" && f.ID != "echo.items" {
			t.Errorf("%s #%d: %s: %s %s", f.File, f.Exchange, f.ID, f.Message, f.Evidence)
		}
	}
	if len(r.Failed) > 0 || r.Exchanges < 4000 || r.Must() > 10 {
		t.Errorf("%d exchanges, %d findings, failed %v", r.Exchanges, r.Must(), r.Failed)
	}
}
