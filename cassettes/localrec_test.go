package cassettes_test

import (
	"strings"
	"testing"

	"github.com/toolconform/conform/cassettes"
)

// An invented recording in the local format: two exchanges that share ids.
const localRecording = `{
 "engine": "quay server v1.4.2 (abc)", "dialect": "openai", "scenario": "tide", "stream": false,
 "steps": [
  {"request": {"method": "POST", "path": "/v1/chat/completions", "headers": {"content-type": "application/json", "x-api-key": "x"},
    "body": {"model": "m", "n": 12345678901234567890, "messages": []}},
   "response": {"status": 200, "content_type": "application/json; charset=utf-8",
    "raw": "{\"id\": \"chatcmpl-Q7w\", \"created\":1796052140,\"x\":1.10,\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"Abcdefgh12345678\",\"function\":{\"name\":\"f\",\"arguments\":{\"id\":\"Lamp-7777\",\"created\":5}}},{\"id\":\"c1\"}]}}],\"timings\":{\"cache_n\":6,\"prompt_ms\":10.6,\"prompt_per_second\":57.1}}\n"}},
  {"request": {"method": "POST", "path": "/v1/chat/completions", "headers": {},
    "body": {"messages": [{"tool_calls": [{"id": "Abcdefgh12345678"}, {"id": "c1"}]}, {"tool_call_id": "Abcdefgh12345678", "content": "none has Abcdefgh12345678"}]}},
   "response": {"status": 500, "content_type": "text/plain", "raw": "broken"}}
 ]}`

func TestImport(t *testing.T) {
	rec, err := cassettes.Import([]byte(localRecording))
	if err != nil {
		t.Fatal(err)
	}
	if got := [...]string{rec.Engine, rec.Version, rec.Dialect, rec.Scenario, rec.Name, rec.Model}; got != [...]string{"quay server", "1.4.2", "openai", "tide", "tide", "m"} {
		t.Errorf("%q", got)
	}
	first, second := rec.Exchanges[0], rec.Exchanges[1]
	if first.Request.URL != "http://127.0.0.1/v1/chat/completions" || first.Request.Header.Get("Content-Type") == "" || first.Request.Header.Get("X-Api-Key") != "" {
		t.Errorf("%+v", first.Request)
	}
	if got := string(first.Request.Body); got != `{"model":"m","n":12345678901234567890,"messages":[]}` {
		t.Errorf("request %s", got)
	}
	// Only ids, times and durations change; blanks, numbers, a model's arguments
	// and ids that somebody wrote by hand stay.
	want := "{\"id\": \"chatcmpl-001\", \"created\":1767225600,\"x\":1.10,\"choices\":[{\"message\":{\"tool_calls\":[{\"id\":\"0000000000000001\",\"function\":{\"name\":\"f\",\"arguments\":{\"id\":\"Lamp-7777\",\"created\":5}}},{\"id\":\"c1\"}]}}],\"timings\":{\"cache_n\":6,\"prompt_ms\":0,\"prompt_per_second\":0}}\n"
	if got := string(first.Response.Body); got != want {
		t.Errorf("response\n%s\nwant\n%s", got, want)
	}
	want = `{"messages":[{"tool_calls":[{"id":"0000000000000001"},{"id":"c1"}]},{"tool_call_id":"0000000000000001","content":"none has 0000000000000001"}]}`
	if got := string(second.Request.Body); got != want {
		t.Errorf("second request %s", got)
	}
	if second.Response.Status != 500 || string(second.Response.Body) != "broken" {
		t.Errorf("%+v", second.Response)
	}
	// Another recording of the same exchanges gives the same tape.
	other := strings.NewReplacer("Q7w", "Z9x", "Abcdefgh12345678", "Zyxwvuts87654321", "1796052140", "1796099999", "10.6", "9.3").Replace(localRecording)
	again, err := cassettes.Import([]byte(other))
	if err != nil {
		t.Fatal(err)
	}
	same(t, again.Tape, rec.Tape)
}

func TestImportKeepsRelatedIDsRelated(t *testing.T) {
	tape, err := cassettes.Import([]byte(`{"engine":"quay","dialect":"responses","scenario":"s","steps":[{"request":{"method":"POST","path":"/v1/responses"},
	 "response":{"status":200,"json":{"id":"resp_71783","created_at":1,"completed_at":null,"output":[{"id":"fc_resp_71783_0","call_id":"call_zestooup"},{"id":"msg_53115"}]}}},
	 {"request":{"method":"POST","path":"/v1/responses","body":{"input":[{"id":"fc_resp_71783_0"}]}},
	 "response":{"status":200,"raw":"{\"created_at\":\"2026-11-30T15:14:46Z\",\"eval_duration\":12,\"id\":\"resp_8\"}"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"id":"resp_000001","created_at":1767225600,"completed_at":null,"output":[{"id":"fc_resp_000001_0","call_id":"call_00000001"},{"id":"msg_000001"}]}`
	if got := string(tape.Exchanges[0].Response.Body); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got := string(tape.Exchanges[1].Request.Body); got != `{"input":[{"id":"fc_resp_000001_0"}]}` {
		t.Errorf("request %s", got)
	}
	if got := string(tape.Exchanges[1].Response.Body); got != `{"created_at":"2026-01-01T00:00:00Z","eval_duration":0,"id":"resp_000002"}` {
		t.Errorf("response %s", got)
	}
}

func TestImportRefuses(t *testing.T) {
	for _, c := range []struct{ name, data, want string }{
		{"cut", `{"engine"`, "unexpected end"},
		{"stream", `{"stream":true,"steps":[]}`, "/stream"},
		{"no steps", `{}`, "no exchanges"},
		{"no step", `{"steps":[]}`, "at least one"},
		{"no path", `{"steps":[{}]}`, "/steps/0/request: want url or path"},
		{"no method", `{"steps":[{"request":{"path":"/x"},"response":{"status":200,"raw":""}}]}`, "exchange 0: want a method"},
		{"no status", `{"steps":[{"request":{"method":"POST","path":"/x"},"response":{"raw":""}}]}`, "/steps/0/response/status"},
		{"no body", `{"steps":[{"request":{"method":"POST","path":"/x"},"response":{"status":200}}]}`, "/steps/0/response: want raw"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := cassettes.Import([]byte(c.data)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error is %v, want %s", err, c.want)
			}
		})
	}
}
