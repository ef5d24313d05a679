package engines_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/loop"
)

const secret = "s3cr3t+key/of=mine"

func client(t *testing.T, name, model string) *engines.Client {
	t.Helper()
	r := lookup(t, name).Resolve(model)
	return &engines.Client{Engine: r.Engine, Model: r.Model, Key: secret}
}

// send posts a body and reads the answer.
func send(ctx context.Context, cl *engines.Client, body string) (*loop.Response, string, error) {
	resp, err := cl.Send(ctx, loop.Call{Body: codecs.Raw(body)})
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

func TestURLs(t *testing.T) {
	for _, c := range []struct {
		engine, model string
		vars          map[string]string
		base          string
		plain, stream string
	}{
		{"openai", "", nil, "", "https://api.openai.com/v1/chat/completions", "="},
		{"openai", "", nil, "http://127.0.0.1:8080/v1/", "http://127.0.0.1:8080/v1/chat/completions", "="},
		{"anthropic", "", nil, "", "https://api.anthropic.com/v1/messages", "="},
		{"anthropic", "", nil, "http://127.0.0.1:9/v1", "http://127.0.0.1:9/v1/messages", "="},
		{"anthropic", "", nil, "http://127.0.0.1:9/conversation-7", "http://127.0.0.1:9/conversation-7/v1/messages", "="},
		// EG15
		{
			"gemini", "", nil, "", "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash-preview:generateContent",
			"https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash-preview:streamGenerateContent?alt=sse",
		},
		{
			"gemini", "models/gemini-2.5-flash", nil, "http://127.0.0.1:9/v1beta", "http://127.0.0.1:9/v1beta/models/gemini-2.5-flash:generateContent",
			"http://127.0.0.1:9/v1beta/models/gemini-2.5-flash:streamGenerateContent?alt=sse",
		},
		{
			"vertex", "gemini-3-flash-preview",
			map[string]string{"project": "tides"},
			"",
			"https://aiplatform.googleapis.com/v1beta1/projects/tides/locations/global/publishers/google/models/gemini-3-flash-preview:generateContent",
			"https://aiplatform.googleapis.com/v1beta1/projects/tides/locations/global/publishers/google/models/gemini-3-flash-preview:streamGenerateContent?alt=sse",
		},
		{
			"vertex-anthropic", "claude-haiku-4-5@20251001",
			map[string]string{"project": "tides", "region": "us-east5", "host": "us-east5-aiplatform.googleapis.com"},
			"",
			"https://us-east5-aiplatform.googleapis.com/v1/projects/tides/locations/us-east5/publishers/anthropic/models/claude-haiku-4-5@20251001:rawPredict",
			"https://us-east5-aiplatform.googleapis.com/v1/projects/tides/locations/us-east5/publishers/anthropic/models/claude-haiku-4-5@20251001:streamRawPredict",
		},
		{
			"bedrock", "anthropic.claude-3-haiku-20240307-v1:0", nil, "",
			"https://bedrock-runtime.us-east-1.amazonaws.com/model/anthropic.claude-3-haiku-20240307-v1:0/invoke", "error: binary event format",
		},
		{
			"bedrock", "arn:aws:bedrock:x:1:inference-profile/y",
			map[string]string{"region": "eu-central-1"},
			"",
			"https://bedrock-runtime.eu-central-1.amazonaws.com/model/arn:aws:bedrock:x:1:inference-profile%2Fy/invoke", "error: bedrock",
		},
		{"bedrock-responses", "", nil, "", "https://bedrock-mantle.us-east-1.api.aws/v1/responses", "="},
		{
			"azure-openai", "gpt-4.1",
			map[string]string{"resource": "harbour"},
			"",
			"https://harbour.openai.azure.com/openai/deployments/gpt-4.1/chat/completions?api-version=2024-10-21", "=",
		},
		{
			"azure-openai", "gpt-4.1",
			map[string]string{"resource": "harbour", "deployment": "my dep", "api_version": "2025-01-01"},
			"",
			"https://harbour.openai.azure.com/openai/deployments/my%20dep/chat/completions?api-version=2025-01-01", "=",
		},
		{"azure-openai", "", nil, "", "error: \"resource\"", ""},
		{"azure-openai-anthropic", "", map[string]string{"resource": "harbour"}, "", "https://harbour.services.ai.azure.com/anthropic/v1/messages", "="},
		{"azure-openai-responses", "", map[string]string{"resource": "harbour"}, "", "https://harbour.openai.azure.com/openai/v1/responses", "="},
		{"azure-ai", "", map[string]string{"resource": "harbour"}, "", "https://harbour.services.ai.azure.com/models/chat/completions?api-version=2024-05-01-preview", "="},
		// EG03
		{"perplexity", "", nil, "", "https://api.perplexity.ai/v1/agent", "="},
		// HT12
		{"aki", "", nil, "", "https://aki.io/api/call/minimax_m3", "error: one piece"},
		{"aki-anthropic", "", nil, "", "https://aki.io/anthropic/v1/messages", "="},
		{"ollama", "", nil, "", "http://localhost:11434/api/chat", "="},
		{"ollama", "", nil, "http://127.0.0.1:9/api", "http://127.0.0.1:9/api/chat", "="},
		{"ollama-openai", "", nil, "", "http://localhost:11434/v1/chat/completions", "="},
		{"llama-server", "", nil, "http://127.0.0.1:8080/v1", "http://127.0.0.1:8080/v1/chat/completions", "="},
		{"openrouter-anthropic", "", nil, "", "https://openrouter.ai/api/v1/messages", "="},
		{"mistral", "", nil, "", "https://api.mistral.ai/v1/chat/completions", "="},
		{"groq", "", nil, "", "https://api.groq.com/openai/v1/chat/completions", "="},
		{"zai", "", nil, "", "https://api.z.ai/api/paas/v4/chat/completions", "="},
		{"gemini-openai", "", nil, "", "https://generativelanguage.googleapis.com/v1beta/openai/chat/completions", "="},
		{"chatgpt", "", nil, "", "https://chatgpt.com/backend-api/codex/responses", "="},
		{"gpustack", "", nil, "http://gpu.local/v1-openai", "http://gpu.local/v1-openai/chat/completions", "="},
		{
			"azure-openai", "a/{resource}",
			map[string]string{"resource": "harbour"},
			"",
			"https://harbour.openai.azure.com/openai/deployments/a%2F%7Bresource%7D/chat/completions?api-version=2024-10-21", "=",
		},
		{"openai", "", nil, "127.0.0.1:8080", "error: base URL", ""},
		{"openai", "", nil, "http://{nowhere}/v1", "error: \"nowhere\"", ""},
	} {
		t.Run(c.engine+" "+c.model, func(t *testing.T) {
			cl := client(t, c.engine, c.model)
			cl.Vars, cl.BaseURL = c.vars, c.base
			check := func(stream bool, want string) {
				got, err := cl.URL(stream)
				if msg, bad := strings.CutPrefix(want, "error: "); bad {
					if err == nil || !strings.Contains(err.Error(), msg) {
						t.Errorf("stream %v: %q, error %v, want one that says %s", stream, got, err, msg)
					}
				} else if err != nil || got != want {
					t.Errorf("stream %v: %q (%v), want %q", stream, got, err, want)
				}
			}
			check(false, c.plain)
			if c.stream == "=" {
				check(true, c.plain)
			} else if c.stream != "" {
				check(true, c.stream)
			}
		})
	}
}

// TestEveryEngineBuildsRequests fills what has to be given and sends one body to
// a server on the loopback.
func TestEveryEngineBuildsRequests(t *testing.T) {
	for _, e := range load(t).All() {
		t.Run(e.Name, func(t *testing.T) {
			var got *http.Request
			var body []byte
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				got = r
				body, _ = io.ReadAll(r.Body)
				io.WriteString(w, `{}`)
			}))
			defer srv.Close()
			r := e.Resolve("")
			cl := &engines.Client{Engine: r.Engine, Key: secret, BaseURL: srv.URL, Vars: map[string]string{}}
			for k, v := range e.Vars {
				if v == "" {
					cl.Vars[k] = "given"
				}
			}
			resp, _, err := send(t.Context(), cl, `{"model":"m","messages":[{"role":"user","content":"x"}]}`)
			if err != nil || resp.Status != 200 {
				t.Fatalf("%+v, error %v", resp, err)
			}
			if got.Method != "POST" || strings.ContainsAny(got.URL.Path, "{}") {
				t.Errorf("%s %s", got.Method, got.URL.Path)
			}
			kind, arg, _ := strings.Cut(e.Auth, ":")
			var key string
			switch kind {
			case "bearer", "command":
				key = strings.TrimPrefix(got.Header.Get("Authorization"), "Bearer ")
			case "header":
				key = got.Header.Get(arg)
			case "query":
				key = got.URL.Query().Get(arg)
			case "body":
				key = jsonx.Of(body).Lookup(arg).Str()
			}
			if key != secret {
				t.Errorf("auth %s carried %q", e.Auth, key)
			}
			for k, v := range e.Headers {
				if seen := got.Header.Get(k); seen == "" || !strings.Contains(v, "{") && seen != v {
					t.Errorf("header %s is %q, want %q", k, seen, v)
				}
			}
			for k, v := range e.Query {
				if seen := got.URL.Query().Get(k); seen == "" || !strings.Contains(v, "{") && seen != v {
					t.Errorf("query value %s is %q, want %q", k, seen, v)
				}
			}
			if strings.Contains(string(resp.Sent), secret) || kind != "body" && string(resp.Sent) != string(body) {
				t.Errorf("Sent is %s, the server saw %s", resp.Sent, body)
			}
			// EG16
			if e.Auth == "header:x-api-key" && got.Header.Get("anthropic-version") != "2023-06-01" {
				t.Error("no anthropic-version")
			}
		})
	}
}

func TestBodyEdits(t *testing.T) {
	for _, c := range []struct{ engine, model, in, want string }{
		{"bedrock", "", `{"model":"m","max_tokens":9,"n":12345678901234567890}`, `{"max_tokens":9,"n":12345678901234567890,"anthropic_version":"bedrock-2023-05-31"}`},
		{"vertex-anthropic", "", `{"model":"m","stream":true}`, `{"stream":true,"anthropic_version":"vertex-2023-10-16"}`},
		{"perplexity", "sonar-pro", `{"model":"sonar-pro","input":[]}`, `{"input":[],"preset":"fast"}`},
		{"perplexity", "openai/gpt-5.6", `{"model":"openai/gpt-5.6","input":[]}`, `{"model":"openai/gpt-5.6","input":[]}`},
		{"aki", "", `{"model":"m","messages":[{"role":"user","content":"a\"b"}]}`, `{"chat_context":"[{\"role\":\"user\",\"content\":\"a\\\"b\"}]"}`},
		{"openai", "gpt-5.6-terra", `{"model":"m"}`, `{"model":"m","reasoning_effort":"none"}`},
		{"openai", "gpt-5.6-terra", `{"reasoning_effort":"high"}`, `{"reasoning_effort":"high"}`},
		{"openai", "gpt-4o", `{"model":"gpt-4o"}`, `{"model":"gpt-4o"}`},
		// EG09
		{"moonshot", "", `{"model":"m","temperature":0.5}`, `{"model":"m"}`},
		{"chatgpt", "", `{"model":"m","store":true}`, `{"model":"m","store":false}`},
	} {
		got, err := client(t, c.engine, c.model).Body([]byte(c.in))
		if err != nil || !jsonx.Equal(got, []byte(c.want)) {
			t.Errorf("%s: %s (%v)\nwant %s", c.engine, got, err, c.want)
		}
	}
	for _, bad := range []string{``, `[]`, `{"a":`, `"x"`} {
		if _, err := client(t, "openai", "").Body([]byte(bad)); err == nil || !strings.Contains(err.Error(), "openai") {
			t.Errorf("body %q: error %v", bad, err)
		}
	}
}

func TestAddressHasToBeGiven(t *testing.T) {
	_, err := (&engines.Client{Engine: custom("none")}).URL(false)
	if err == nil || !strings.Contains(err.Error(), "Client.BaseURL") {
		t.Errorf("error = %v", err)
	}
	circle := custom("none")
	circle.Vars = map[string]string{"base": "http://h/{a}", "a": "{b}", "b": "{a}"}
	if _, err := (&engines.Client{Engine: circle}).URL(false); err == nil || !strings.Contains(err.Error(), "defined by itself") {
		t.Errorf("error = %v", err)
	}
}

func TestRestore(t *testing.T) {
	aki := client(t, "aki", "")
	body := []byte(`{"model":"m","messages":[{"role":"user","content":"ü \"x\""}],"max_tokens":5}`)
	sent, err := aki.Body(body)
	if err != nil {
		t.Fatal(err)
	}
	back, err := aki.Engine.Restore(sent, "m")
	if err != nil || !jsonx.Equal(back, body) {
		t.Errorf("%s (%v)", back, err)
	}
	// Nothing to undo.
	if back, err := lookup(t, "openai").Restore(body, "other"); err != nil || string(back) != string(body) {
		t.Errorf("%s (%v)", back, err)
	}
	if _, err := aki.Engine.Restore([]byte(`{"chat_context":"[{"}`), "m"); err == nil || !strings.Contains(err.Error(), "/chat_context") {
		t.Errorf("error = %v", err)
	}
}

func custom(auth string) engines.Engine {
	return engines.Engine{
		Name: "custom", URL: "{base}/chat", Auth: auth, DefaultModel: "m",
		Keys: []string{"CUSTOM_KEY"}, Vars: map[string]string{"base": ""},
	}
}

func TestAuthKinds(t *testing.T) {
	var got *http.Request
	var body []byte
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
	}))
	defer srv.Close()
	sent := func(cl *engines.Client) error {
		t.Helper()
		cl.BaseURL = srv.URL
		_, _, err := send(t.Context(), cl, `{"a":1}`)
		return err
	}
	for _, c := range []struct {
		auth string
		key  func() string
	}{
		{"bearer", func() string { return strings.TrimPrefix(got.Header.Get("Authorization"), "Bearer ") }},
		{"header:X-Key", func() string { return got.Header.Get("X-Key") }},
		{"query:key", func() string { return got.URL.Query().Get("key") }},
		{"body:/key", func() string { return jsonx.Of(body).Get("key").Str() }},
	} {
		if err := sent(&engines.Client{Engine: custom(c.auth), Key: "  " + secret + "\n"}); err != nil || c.key() != secret {
			t.Errorf("%s: %q (%v)", c.auth, c.key(), err)
		}
	}
	if err := sent(&engines.Client{Engine: custom("none"), Key: secret}); err != nil || got.Header.Get("Authorization") != "" || string(body) != `{"a":1}` {
		t.Errorf("none: %v, %s, %v", got.Header, body, err)
	}
	optional := custom("bearer")
	optional.KeyOptional = true
	if err := sent(&engines.Client{Engine: optional}); err != nil || got.Header.Get("Authorization") != "" {
		t.Errorf("optional: %v (%v)", got.Header, err)
	}
	err := sent(&engines.Client{Engine: custom("bearer")})
	if err == nil || !strings.Contains(err.Error(), "CUSTOM_KEY") || !strings.Contains(err.Error(), "Client.Key") {
		t.Errorf("missing key: %v", err)
	}
	// The caller's own headers and query values win.
	cl := &engines.Client{Engine: custom("bearer"), Key: "k", Headers: map[string]string{"Authorization": "Basic mine", "X-Json": `{"a":"{b}"}`}, Query: map[string]string{"v": "1 2"}}
	if err := sent(cl); err != nil || got.Header.Get("Authorization") != "Basic mine" || got.URL.Query().Get("v") != "1 2" || got.Header.Get("X-Json") != `{"a":"{b}"}` {
		t.Errorf("own header: %v, %v (%v)", got.Header, got.URL, err)
	}
}

func TestKeyCommandRunsOnce(t *testing.T) {
	log := t.TempDir() + "/runs"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("Authorization"))
	}))
	defer srv.Close()
	e := custom("command")
	e.Command = []string{"sh", "-c", "printf x >>" + log + "; echo; echo tok-en; echo loud >&2"}
	cl := &engines.Client{Engine: e, BaseURL: srv.URL}
	for range 3 {
		_, reply, err := send(t.Context(), cl, `{}`)
		if err != nil || reply != "Bearer tok-en" {
			t.Fatalf("%s (%v)", reply, err)
		}
	}
	if s := fmt.Sprintf("%v %#v %+v %s", cl, cl, cl, cl); strings.Contains(s, "tok-en") {
		t.Errorf("shown: %s", s)
	}
	if runs := readFile(t, log); runs != "x" {
		t.Errorf("the command ran %d times", len(runs))
	}
	for _, c := range []struct {
		command []string
		want    string
	}{
		{[]string{"sh", "-c", "echo tok-en; echo tok-en >&2; exit 3"}, "exit status 3"},
		{[]string{"sh", "-c", "true"}, "printed nothing"},
		{[]string{"/nonexistent/command"}, "cannot be run"},
	} {
		cl := &engines.Client{Engine: custom("bearer"), Command: c.command, BaseURL: srv.URL}
		_, _, err := send(t.Context(), cl, `{}`)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "tok-en") {
			t.Errorf("%q: %v", c.command, err)
		}
	}
}

func TestSecretsStayOut(t *testing.T) {
	dead := deadAddress(t)
	for _, auth := range []string{"bearer", "query:key", "body:/key", "header:X"} {
		cl := &engines.Client{Engine: custom(auth), Key: secret, BaseURL: "http://" + dead, MaxRetries: -1}
		_, _, err := send(t.Context(), cl, `{}`)
		if err == nil {
			t.Fatal("nothing listens there")
		}
		for _, text := range []string{err.Error(), fmt.Sprintf("%v %+v %#v %q", err, err, err, err), fmt.Sprintf("%v %+v %#v %d", cl, cl, cl, cl)} {
			for _, s := range []string{secret, url.QueryEscape(secret), url.PathEscape(secret)} {
				if strings.Contains(text, s) {
					t.Errorf("%s: %s shows the key", auth, text)
				}
			}
		}
		if !strings.Contains(err.Error(), "custom") || !strings.Contains(err.Error(), dead) {
			t.Errorf("error = %v, want engine and host", err)
		}
		if !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("the cause is lost: %v", err)
		}
	}
	// Base URLs with a password in them, which no URL parser can read.
	for _, base := range []string{"http://user:%s@bad host/", "http://user:%s/x@host", "http://host:%s"} {
		cl := &engines.Client{Engine: custom("none"), BaseURL: fmt.Sprintf(base, "passw0rd")}
		if _, _, err := send(t.Context(), cl, `{}`); err == nil || strings.Contains(err.Error(), "passw0rd") {
			t.Errorf("%s: error = %v", base, err)
		}
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the key went to another host") }))
	defer other.Close()
	srv := httptest.NewServer(http.RedirectHandler(other.URL, http.StatusTemporaryRedirect))
	defer srv.Close()
	cl := &engines.Client{Engine: custom("header:X-Key"), Key: secret, BaseURL: srv.URL}
	if resp, _, err := send(t.Context(), cl, `{}`); err != nil || resp.Status != 307 {
		t.Errorf("%+v (%v)", resp, err)
	}
}

// errorCodec reads every error as one of a given kind.
type errorCodec struct {
	codecs.Codec
	kind  codecs.ErrorKind
	after string
}

func (c errorCodec) Error(status int, _ map[string][]string, body []byte) *codecs.ProviderError {
	return &codecs.ProviderError{Status: status, Kind: c.kind, RetryAfter: c.after, Message: string(body)}
}

func TestRetry(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		status  []int // of the answers in turn
		after   string
		codec   codecs.Codec
		retries int
		tries   int
		last    int
		waits   []time.Duration
	}{
		{"success", []int{200}, "", nil, 0, 1, 200, nil},
		{"429 then success", []int{429, 200}, "", nil, 0, 2, 200, []time.Duration{time.Second}},
		{"503 to the end", []int{503, 503, 503}, "", nil, 0, 3, 503, []time.Duration{time.Second, 2 * time.Second}},
		{"529", []int{529, 200}, "", nil, 0, 2, 200, []time.Duration{time.Second}},
		{"seconds", []int{429, 200}, "7", nil, 0, 2, 200, []time.Duration{7 * time.Second}},
		{"fraction", []int{429, 200}, "1.5", nil, 0, 2, 200, []time.Duration{1500 * time.Millisecond}},
		{"date", []int{503, 200}, "Mon, 30 Nov 2026 12:00:09 GMT", nil, 0, 2, 200, []time.Duration{9 * time.Second}},
		{"date gone by", []int{503, 200}, "Mon, 30 Nov 2026 11:00:00 GMT", nil, 0, 2, 200, []time.Duration{0}},
		{"capped", []int{503, 200}, "99999999999999999999", nil, 0, 2, 200, []time.Duration{time.Minute}},
		{"nonsense", []int{503, 200}, "soon", nil, 0, 2, 200, []time.Duration{time.Second}},
		{"negative", []int{503, 200}, "-5", nil, 0, 2, 200, []time.Duration{time.Second}},
		{"off", []int{503}, "", nil, -1, 1, 503, nil},
		{"400", []int{400}, "", nil, 0, 1, 400, nil},
		{"500", []int{500}, "", nil, 0, 1, 500, nil},
		{"overload under 500", []int{500, 200}, "", errorCodec{kind: codecs.ErrOverload}, 0, 2, 200, []time.Duration{time.Second}},
		{"rate with a delay in the body", []int{429, 200}, "", errorCodec{kind: codecs.ErrRate, after: "3s"}, 0, 2, 200, []time.Duration{3 * time.Second}},
		{"quota used up", []int{429}, "", errorCodec{kind: codecs.ErrQuota}, 0, 1, 429, nil},
		{"shape", []int{400}, "", errorCodec{kind: codecs.ErrShape}, 0, 1, 400, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(now))
				tries, last, waits := 0, now, []time.Duration{}
				answer := roundTripper(func(r *http.Request) (*http.Response, error) {
					if tries > 0 {
						waits = append(waits, time.Since(last))
					}
					last = time.Now()
					if b, _ := io.ReadAll(r.Body); string(b) != `{"a":1}` {
						t.Errorf("try %d sent %s", tries, b)
					}
					resp := &http.Response{StatusCode: c.status[min(tries, len(c.status)-1)], Header: http.Header{}, Body: http.NoBody}
					if c.after != "" {
						resp.Header.Set("Retry-After", c.after)
					}
					tries++
					return resp, nil
				})
				cl := &engines.Client{Engine: custom("none"), BaseURL: "http://host", Codec: c.codec, MaxRetries: c.retries, HTTP: &http.Client{Transport: answer}}
				resp, _, err := send(t.Context(), cl, `{"a":1}`)
				if err != nil || resp.Status != c.last || tries != c.tries || len(waits) != len(c.waits) || fmt.Sprint(waits) != fmt.Sprint(append([]time.Duration{}, c.waits...)) {
					t.Fatalf("%+v after %d tries, waits %v (%v); want %d, %d, %v", resp, tries, waits, err, c.last, c.tries, c.waits)
				}
				if got := wire.HeaderValue(resp.Header, "Retry-After"); got != c.after {
					t.Errorf("Retry-After %q does not arrive: %q", c.after, got)
				}
			})
		})
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestRetryOfResets(t *testing.T) {
	tries := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if tries++; tries == 1 {
			c, _, _ := w.(http.Hijacker).Hijack()
			c.(*net.TCPConn).SetLinger(0)
			c.Close()
			return
		}
		io.WriteString(w, `{"ok":1}`)
	}))
	defer srv.Close()
	// A pause of a second before the second try would be one of the test's: it is capped.
	cl := &engines.Client{Engine: custom("none"), BaseURL: srv.URL, MaxWait: time.Nanosecond}
	if _, reply, err := send(t.Context(), cl, `{}`); err != nil || reply != `{"ok":1}` || tries != 2 {
		t.Errorf("%s after %d tries (%v)", reply, tries, err)
	}
	cl = &engines.Client{Engine: custom("none"), BaseURL: "http://" + deadAddress(t), MaxWait: time.Hour}
	if _, _, err := send(t.Context(), cl, `{}`); err == nil { // it hangs for an hour where a refused connection is tried again
		t.Error("no error")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cl = &engines.Client{Engine: custom("none"), BaseURL: srv.URL}
	cancel()
	if _, _, err := send(ctx, cl, `{}`); !errors.Is(err, context.Canceled) {
		t.Errorf("error = %v, want context.Canceled", err)
	}
}

// The body of a refusal is read to see whether it is worth another try; that of
// an answer is the reader's to bound.
func TestReadIsBounded(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusInternalServerError)
		chunk := make([]byte, 1<<20)
		for range codecs.MaxBody>>20 + 2 {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	defer srv.Close()
	cl := &engines.Client{Engine: custom("none"), BaseURL: srv.URL}
	_, reply, err := send(t.Context(), cl, `{}`)
	if err != nil || len(reply) != codecs.MaxBody+1 {
		t.Errorf("%d bytes (%v)", len(reply), err)
	}
}

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, model string
		want           bool
	}{
		{"*", "", true},
		{"a*", "A1", true},
		{"*b", "ab", true},
		{"*b", "abc", false},
		{"a*c*e", "abcde", true},
		{"a?c", "abc", true},
		{"a?c", "ac", false},
		{"x|y*", "Yes", true},
		{"x|y*", "z", false},
		{"", "a", false},
		{"openai/*", "openai/gpt-5.6", true},
		{"*a*a*a*a*a*b", strings.Repeat("a", 4000), false},
		{"grü?e", "GRÜßE", true},
	} {
		if got := engines.Matches(c.pattern, c.model); got != c.want {
			t.Errorf("%q matches %.20q: %v", c.pattern, c.model, got)
		}
	}
}
