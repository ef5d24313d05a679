package verify_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/suite/verify"
)

func catalog(t *testing.T) *engines.Catalog {
	t.Helper()
	c, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// recording writes a recording of one exchange and returns its path.
func recording(t *testing.T, dialect string, status int, body string) string {
	t.Helper()
	field := `"body":` + body
	if !json.Valid([]byte(body)) {
		field = fmt.Sprintf(`"raw":%q`, body)
	}
	text := fmt.Sprintf(`{"dialect":%q,"exchanges":[{"request":{"url":"/x","body":{}},"response":{"status":%d,"headers":{},%s}}]}`, dialect, status, field)
	file := filepath.Join(t.TempDir(), "one.json")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestPaths(t *testing.T) {
	type figures struct{ Replies, Decoded, RawCalls, DecodedCalls, Errors, Typed, Streams, Empty, Failed int }
	for _, c := range []struct {
		name, dialect string
		status        int
		body          string
		want          figures
	}{
		{"text and call", "openai", 200, `{"choices":[{"message":{"content":"a b","tool_calls":[{"id":"c","function":{"name":"ring","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, figures{1, 1, 1, 1, 0, 0, 0, 0, 0}},
		{"thinking in tags", "openai", 200, `{"choices":[{"message":{"content":"<think>\nlamp\n</think>\n\nlit"},"finish_reason":"stop"}]}`, figures{1, 1, 0, 0, 0, 0, 0, 0, 0}},
		{"empty tags beside native thinking", "openai", 200, `{"choices":[{"message":{"content":"<think></think>lit","reasoning_content":"lamp"},"finish_reason":"stop"}]}`, figures{1, 1, 0, 0, 0, 0, 0, 0, 0}},
		{"nothing in it", "gemini", 200, `{"candidates":[{"content":{"role":"model"},"finishReason":"MAX_TOKENS"}]}`, figures{1, 1, 0, 0, 0, 0, 0, 1, 0}},
		{"blocks", "anthropic", 200, `{"type":"message","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"text","text":"x"},{"type":"tool_use","id":"a","name":"ring","input":{}}],"stop_reason":"tool_use"}`, figures{1, 1, 1, 1, 0, 0, 0, 0, 0}},
		{"error inside a 200", "openai", 200, `{"error":{"message":"dark","code":502}}`, figures{1, 1, 0, 0, 0, 0, 0, 0, 0}},
		{"error status", "anthropic", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, figures{0, 0, 0, 0, 1, 1, 0, 0, 0}},
		{"error page", "openai", 502, `<html>bad gateway</html>`, figures{0, 0, 0, 0, 1, 1, 0, 0, 0}},
		{"events", "openai", 200, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lit\"},\"finish_reason\":\"stop\"}]}\n\n", figures{0, 0, 0, 0, 0, 0, 1, 0, 0}},
		{"events that break off", "openai", 200, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lit\"}}]}\n\n", figures{0, 0, 0, 0, 0, 0, 1, 0, 1}},
		{"an error among events", "openai", 200, "data: {\"error\":{\"message\":\"dark\",\"code\":502}}\n\n", figures{0, 0, 0, 0, 0, 0, 1, 0, 0}},
		{"a list of chunks", "gemini", 200, `[{"candidates":[{"content":{"parts":[{"text":"l"}]}}]},{"candidates":[{"content":{"parts":[{"text":"it"}]},"finishReason":"STOP"}]}]`, figures{0, 0, 0, 0, 0, 0, 1, 0, 0}},
		{"lines of JSON", "ollama", 200, "{\"message\":{\"content\":\"lit\"}}\n{\"message\":{\"content\":\"\"},\"done\":true}\n", figures{0, 0, 0, 0, 0, 0, 1, 0, 0}},
		{"no JSON", "openai", 200, `{"choices":[`, figures{1, 0, 0, 0, 0, 0, 0, 0, 1}},
		{"unknown dialect", "no-such", 200, `{}`, figures{0, 0, 0, 0, 0, 0, 0, 0, 1}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := verify.Paths(context.Background(), []string{recording(t, c.dialect, c.status, c.body)}, catalog(t))
			if err != nil {
				t.Fatal(err)
			}
			got := figures{r.Replies, r.Decoded, r.RawCalls, r.DecodedCalls, r.Errors, r.ErrorsTyped, r.Streams, len(r.EmptyReplies), len(r.Failed)}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("%s\n%+v", d, r.Failed)
			}
			if r.OK() != (c.want.Failed == 0 && c.want.Replies+c.want.Errors+c.want.Streams > 0) {
				t.Errorf("OK = %v", r.OK())
			}
		})
	}
}

func TestNoRecordings(t *testing.T) {
	dir := t.TempDir()
	if _, err := verify.Paths(context.Background(), []string{filepath.Join(dir, "none")}, catalog(t)); err == nil {
		t.Error("a missing folder passes")
	}
	if err := os.WriteFile(filepath.Join(dir, "notes.json"), []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := verify.Paths(context.Background(), []string{dir}, catalog(t)); err == nil || !strings.Contains(err.Error(), "no recordings") {
		t.Errorf("a folder without recordings gives %v", err)
	}
}

// TestSharedRecordings holds the codecs against the recordings of public
// projects, where they are handed along. They are no part of this project.
func TestSharedRecordings(t *testing.T) {
	dir := os.Getenv("CONFORM_RECORDINGS")
	if dir == "" {
		dir = "../../../shared/recordings"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings: %v (name a folder with CONFORM_RECORDINGS)", err)
	}
	r, err := verify.Paths(context.Background(), []string{dir}, catalog(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Failed {
		t.Errorf("%s #%d: %s", f.File, f.Exchange, f.Error)
	}
	if !r.OK() || r.Replies == 0 {
		t.Errorf("decoded %d of %d, calls %d of %d, errors %d of %d", r.Decoded, r.Replies, r.DecodedCalls, r.RawCalls, r.ErrorsTyped, r.Errors)
	}
	if r.Streams < 1000 || r.StreamsDecoded != r.Streams || r.SplitFailures > 0 {
		t.Errorf("streams: decoded %d of %d, %d give another reply when they are cut", r.StreamsDecoded, r.Streams, r.SplitFailures)
	}
	if r.Continuations.Continuations < 900 || len(r.OursWrong) > 0 || r.Differences["history_rewritten"] > 0 {
		t.Errorf("%d continuations, %d turns answered in another history, ours wrong: %+v", r.Continuations.Continuations, r.Differences["history_rewritten"], r.OursWrong)
	}
	t.Logf("%d files, %d replies, %d streams, %d calls, %d errors", r.Files, r.Replies, r.Streams, r.RawCalls, r.Errors)
}
