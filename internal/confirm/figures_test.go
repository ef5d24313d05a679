// Package confirm holds the figures of the catalogue, how many public exchanges show
// a fact, against a folder of recordings.
package confirm

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/sources"
)

// recording builds one file; each pair is a request body and a reply. A reply
// that starts with a figure is a status, a blank and a body.
func recording(t *testing.T, model string, pairs ...string) *fstest.MapFile {
	t.Helper()
	var xs []map[string]any
	for i := 0; i < len(pairs); i += 2 {
		status, text := 200, pairs[i+1]
		if n, _ := fmt.Sscanf(text, "%d ", &status); n == 1 {
			_, text, _ = strings.Cut(text, " ")
		}
		resp := map[string]any{"status": status}
		if jsonx.Check([]byte(text)) == nil {
			resp["body"] = json.RawMessage(text)
		} else {
			resp["raw"] = text
		}
		xs = append(xs, map[string]any{"request": map[string]any{"url": "/x", "body": json.RawMessage(pairs[i])}, "response": resp})
	}
	b, err := json.Marshal(map[string]any{"model": model, "exchanges": xs, "source": map[string]any{
		"repo": "owner/repo", "path": "tests/one.yaml", "commit": strings.Repeat("a", 40),
	}})
	if err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: b}
}

func catalog(t *testing.T) *engines.Catalog {
	t.Helper()
	c, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestFigures counts the facts of the catalogue in the recordings, which are no part
// of this repository: those of the folder RECORDINGS, or of the usual place. With
// GOLDIE_UPDATE it writes what it counted into the entries: figures, repository, path
// and commit, no bodies.
func TestFigures(t *testing.T) {
	dir, named := os.LookupEnv("RECORDINGS")
	if !named {
		dir = "../../../shared/recordings"
	}
	if _, err := os.Stat(dir); err != nil && !named {
		t.Skipf("the recordings are not here: %v", err)
	}
	counted, err := count(os.DirFS(dir), catalog(t))
	if err != nil {
		t.Fatal(err)
	}
	const entries = "../../engines/catalogue"
	to := entries
	if os.Getenv("GOLDIE_UPDATE") == "" {
		to = t.TempDir()
		if err := os.CopyFS(to, os.DirFS(entries)); err != nil {
			t.Fatal(err)
		}
	}
	changed, err := write(to, counted)
	if err != nil {
		t.Fatal(err)
	}
	if len(changed) > 0 && to != entries {
		t.Errorf("other figures than the recordings show in %s: make confirm", strings.Join(changed, ", "))
	}
}

func TestConfirm(t *testing.T) {
	const (
		chatCall = `{"choices":[{"finish_reason":"tool_calls","message":{"tool_calls":[{"id":"c1","function":{"name":"tide","arguments":"{}"}}]}}]}`
		chatText = `{"choices":[{"finish_reason":"stop","message":{"content":"high"}}]}`
		plain    = `{"messages":[]}`
	)
	for _, c := range []struct {
		name, dir, model string
		pairs            []string
		engine, fact     string
		want             int
	}{
		{"ids", "openai/openai", "gpt-4o", []string{plain, chatCall, plain, chatText}, "openai", "ids", 1},
		{"an id of another shape", "openai/mistral", "mistral-small-latest", []string{plain, chatCall}, "mistral", "ids", 0},
		{"nine letters", "openai/mistral", "mistral-small-latest", []string{plain, strings.Replace(chatCall, "c1", "aB3dE6gH9", 1)}, "mistral", "ids", 1},
		{"absent id", "gemini/gemini", "gemini-2.5-flash", []string{`{"contents":[]}`, `{"candidates":[{"content":{"parts":[{"functionCall":{"name":"tide"}}]}}]}`}, "gemini", "ids", 1},
		{"ids start again", "responses/bedrock", "openai.gpt-oss-120b", []string{
			`{"input":[]}`, `{"error":null,"output":[{"type":"function_call","call_id":"call_0","arguments":"{}"}]}`,
			`{"input":[]}`, `{"error":null,"output":[{"type":"function_call","call_id":"call_0","arguments":"{}"}]}`,
		}, "bedrock-responses", "ids", 1},

		{"echo accepted", "openai/xai", "grok-4", []string{`{"messages":[{"role":"assistant","reasoning_content":"hm"}]}`, chatText}, "xai", "reasoning_echo", 1},
		{"echo in an empty field", "openai/xai", "grok-4", []string{`{"messages":[{"role":"assistant","reasoning_content":""}]}`, chatText}, "xai", "reasoning_echo", 0},
		{"echo refused for something else", "openai/xai", "grok-4", []string{`{"messages":[{"role":"assistant","reasoning_content":"hm"}]}`, `400 {"error":{"message":"no"}}`}, "xai", "reasoning_echo", 0},
		{"error under 200", "openai/openrouter", "x/y", []string{`{"messages":[{"role":"assistant","reasoning":"hm"}]}`, `{"error":{"message":"no"}}`}, "openrouter", "reasoning_echo", 0},
		{"an accepted echo does not show that it is required", "openai/deepseek", "deepseek-flash", []string{`{"messages":[{"role":"assistant","reasoning_content":"hm"}]}`, chatText}, "deepseek", "reasoning_echo", 0},
		{"the refusal does", "openai/deepseek", "deepseek-flash", []string{plain, "400 {\"error\":{\"message\":\"The `reasoning_content` must be passed back to the API.\"}}"}, "deepseek", "reasoning_echo", 1},
		{"not for a model with another rule", "openai/deepseek", "deepseek-chat", []string{plain, `400 {"error":{"message":"must be passed back"}}`}, "deepseek", "reasoning_echo", 0},
		{"echoed item", "responses/openai", "gpt-5", []string{`{"input":[{"type":"reasoning","summary":[]}]}`, `{"error":null,"output":[]}`}, "openai-responses", "reasoning_echo", 1},
		{"echoed block", "anthropic/anthropic", "claude-sonnet-5", []string{`{"messages":[{"role":"assistant","content":[{"type":"redacted_thinking","data":"x"}]}]}`, `{"type":"message","content":[]}`}, "anthropic", "reasoning_echo", 1},

		{"field in a stream", "openai/groq", "x", []string{plain, "data: {\"choices\":[{\"delta\":{\"reasoning\":\"hm\"}}]}\n\ndata: [DONE]\n"}, "groq", "reasoning_field", 1},
		{"another field", "openai/groq", "x", []string{plain, `{"choices":[{"message":{"reasoning_content":"hm"}}]}`}, "groq", "reasoning_field", 0},
		{"thinking in lines", "ollama/ollama", "x", []string{plain, "{\"message\":{\"thinking\":\"h\"},\"done\":false}\n{\"message\":{\"thinking\":\"m\"},\"done\":true}\n"}, "ollama", "reasoning_field", 1},
		{"thought signature in a list", "gemini/vertex", "gemini-3-pro", []string{`{"contents":[]}`, `[{"candidates":[{"content":{"parts":[{"thoughtSignature":"c2ln"}]}}]}]`}, "vertex", "reasoning_field", 1},

		{"image in a result", "anthropic/anthropic", "claude-sonnet-5", []string{`{"messages":[{"role":"user","content":[{"type":"tool_result","content":[{"type":"image"}]}]}]}`, `{"type":"message"}`}, "anthropic", "result_images", 1},
		{"image beside a result", "anthropic/anthropic", "claude-sonnet-5", []string{`{"messages":[{"role":"user","content":[{"type":"tool_result","content":"x"},{"type":"image"}]}]}`, `{"type":"message"}`}, "anthropic", "result_images", 0},
		{"snake case", "gemini/gemini", "gemini-3-flash-preview", []string{`{"contents":[{"parts":[{"function_response":{"parts":[{"inline_data":{"mime_type":"image/png"}}]}}]}]}`, `{"candidates":[]}`}, "gemini", "result_images", 1},
		{"a model before it", "gemini/gemini", "gemini-2.5-flash", []string{`{"contents":[{"parts":[{"functionResponse":{"parts":[{"inlineData":{"mimeType":"image/png"}}]}}]}]}`, `{"candidates":[]}`}, "gemini", "result_images", 0},
		{"PDF in an output", "responses/openai", "gpt-5", []string{`{"input":[{"type":"function_call_output","output":[{"type":"input_file","file_data":"data:application/pdf;base64,AA=="}]}]}`, `{"error":null}`}, "openai-responses", "result_pdf", 1},
		{"image in a tool message", "openai/openrouter", "anthropic/claude-haiku-4.5", []string{`{"messages":[{"role":"tool","content":[{"type":"image_url"}]}]}`, chatText}, "openrouter", "result_images", 1},

		{"cut text", "openai/openai", "gpt-4o", []string{plain, `{"choices":[{"finish_reason":"length","message":{"tool_calls":[{"id":"c","function":{"arguments":"{\"a\":"}}]}}]}`}, "openai", "cut_call", 1},
		{"complete under the limit", "openai/openai", "gpt-4o", []string{plain, `{"choices":[{"finish_reason":"length","message":{"tool_calls":[{"id":"c","function":{"arguments":"{}"}}]}}]}`}, "openai", "cut_call", 0},
		{"cut stream of two calls", "openai/openai", "gpt-4o", []string{plain, "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"arguments\":\"{}\"}},{\"index\":1,\"id\":\"b\",\"function\":{\"arguments\":\"{\"}}]}}]}\n" +
			"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"\\\"x\"}}]},\"finish_reason\":\"length\"}]}\n"}, "openai", "cut_call", 1},
		{"hidden limit", "openai/openrouter", "x", []string{plain, `{"choices":[{"finish_reason":"tool_calls","native_finish_reason":"length","message":{"tool_calls":[{"id":"c","function":{"arguments":"{"}}]}}]}`}, "openrouter", "cut_call", 1},
		{"empty object", "anthropic/anthropic", "x", []string{plain, `{"stop_reason":"max_tokens","content":[{"type":"tool_use","id":"t","input":{}}]}`}, "anthropic", "cut_call", 1},
		{"a stream has text", "anthropic/anthropic", "x", []string{plain, "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"tool_use\",\"id\":\"t\",\"input\":{}}}\n" +
			"data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":1\"}}\n" +
			"data: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"max_tokens\"}}\n"}, "anthropic", "cut_call", 0},
		{"incomplete", "responses/openai", "gpt-5", []string{`{"input":[]}`, `{"incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"function_call","arguments":"{\"a"}]}`}, "openai-responses", "cut_call", 1},
		{"filtered is no limit", "responses/openai", "gpt-5", []string{`{"input":[]}`, `{"incomplete_details":{"reason":"content_filter"},"output":[{"type":"function_call","arguments":"{\"a"}]}`}, "openai-responses", "cut_call", 0},

		{"forced choice", "openai/openai", "gpt-4o", []string{`{"tool_choice":{"type":"function"}}`, chatCall}, "openai", "tool_choice", 1},
		{"auto shows nothing", "openai/openai", "gpt-4o", []string{`{"tool_choice":"auto"}`, chatCall}, "openai", "tool_choice", 0},
		{"forced choice refused", "openai/deepseek", "deepseek-flash", []string{`{"tool_choice":"required"}`, `400 {"error":{"message":"does not support this tool_choice"}}`}, "deepseek", "tool_choice", 1},
		{"mode", "gemini/gemini", "gemini-2.5-flash", []string{`{"toolConfig":{"functionCallingConfig":{"mode":"ANY"}}}`, `{"candidates":[]}`}, "gemini", "tool_choice", 1},

		{"server tool", "anthropic/anthropic", "x", []string{plain, `{"content":[{"type":"server_tool_use"}]}`}, "anthropic", "server_tools", 1},
		{"server item in a stream", "responses/openai", "gpt-5", []string{`{}`, "data: {\"type\":\"response.output_item.done\",\"item\":{\"type\":\"web_search_call\"}}\ndata: {\"type\":\"response.completed\",\"response\":{\"error\":null,\"output\":[{\"type\":\"web_search_call\"}]}}\n"}, "openai-responses", "server_tools", 1},
		{"grounding", "gemini/gemini", "x", []string{`{}`, `{"candidates":[{"groundingMetadata":{"webSearchQueries":["x"]}}]}`}, "gemini", "server_tools", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := count(fstest.MapFS{c.dir + "/a.json": recording(t, c.model, c.pairs...)}, catalog(t))
			if err != nil {
				t.Fatal(err)
			}
			f := got[c.engine][c.fact]
			if f.Count != c.want {
				t.Errorf("%s %s = %d, want %d (all: %v)", c.engine, c.fact, f.Count, c.want, got)
			}
			if f.Count > 0 && (f.Repository != "owner/repo" || f.Path != "tests/one.yaml" || len(f.Commit) != 40) {
				t.Errorf("place = %+v", f)
			}
		})
	}
}

func TestConfirmReportsBadFiles(t *testing.T) {
	if _, err := count(fstest.MapFS{}, catalog(t)); err == nil {
		t.Error("an empty folder passes")
	}
	_, err := count(fstest.MapFS{"openai/openai/a.json": {Data: []byte(`{`)}}, catalog(t))
	if err == nil || !strings.Contains(err.Error(), "openai/openai/a.json") {
		t.Errorf("error = %v", err)
	}
	// An unknown provider and odd bodies pass without a count.
	got, err := count(fstest.MapFS{
		"openai/nobody/a.json": recording(t, "m", `{}`, `{}`),
		"openai/openai/a.json": recording(t, "m", `{"messages":[1,null,{"role":"tool","content":7}]}`, `{"choices":[null,3]}`, `{}`, `not JSON`),
	}, catalog(t))
	if err != nil || len(got["openai"]) != 0 {
		t.Errorf("%v (%v)", got, err)
	}
}

func TestUpdateTouchesTheFigureOnly(t *testing.T) {
	place := sources.Confirmed{Count: 3, Repository: "o/r", Path: "a [b].yaml", Commit: strings.Repeat("b", 40)}
	old := []byte("{\n  \"z\": 1.0,\n  \"facts\": {\n    \"ids\": {\n      \"origin\": {\n        \"ref\": \"<&> é\"\n      }\n    },\n    \"cut_call\": {\n      \"origin\": {}\n    }\n  }\n}\n")
	got, err := update(old, map[string]sources.Confirmed{"ids": place, "server_tools": place})
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(string(old), "\"<&> é\"\n", "\"<&> é\",\n        \"confirmed_by\": {\n          \"count\": 3,\n          \"repository\": \"o/r\",\n          \"path\": \"a [b].yaml\",\n          \"commit\": \""+place.Commit+"\"\n        }\n", 1)
	if string(got) != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	back, err := update(got, nil)
	if err != nil || string(back) != string(old) {
		t.Errorf("a figure that is gone stays: %s (%v)", back, err)
	}
	if again, _ := update(got, map[string]sources.Confirmed{"ids": place}); string(again) != string(got) {
		t.Error("the second run changes something")
	}
}

func TestWrite(t *testing.T) {
	dir := t.TempDir()
	if _, err := write(dir, nil); err == nil {
		t.Error("an empty folder passes")
	}
	src, err := os.ReadFile("../../engines/catalogue/openai.json")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "openai.json")
	if err := os.WriteFile(name, src, 0o644); err != nil {
		t.Fatal(err)
	}
	counted := counts{"openai": {"ids": {Count: 5, Repository: "o/r", Path: "p", Commit: strings.Repeat("c", 40)}}}
	changed, err := write(dir, counted)
	if err != nil || len(changed) != 1 || changed[0] != "openai.json" {
		t.Fatalf("changed %q (%v)", changed, err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if n, _ := jsonx.Of(b).Lookup("/facts/ids/origin/confirmed_by/count").Int(); n != 5 {
		t.Errorf("count %d", n)
	}
	if changed, err := write(dir, counted); err != nil || len(changed) != 0 {
		t.Errorf("the second run changed %q (%v)", changed, err)
	}
}

// TestCatalogueIsLaidOut keeps the layout that write makes.
func TestCatalogueIsLaidOut(t *testing.T) {
	names, err := filepath.Glob("../../engines/catalogue/*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if in, err := jsonx.Indent(b); err != nil || string(in)+"\n" != string(b) {
			t.Errorf("%s: two blanks a level and a line end, as update makes it (%v)", name, err)
		}
	}
}
