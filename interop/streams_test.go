package interop_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicstream "github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"
	ollama "github.com/ollama/ollama/api"
	"github.com/openai/openai-go/v3"
	openaistream "github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/suite"
)

// streamed is one reply that a row sends as a stream.
type streamed struct {
	engine engines.Engine
	where  string
	beta   bool
	frames []byte
	reads  codecs.Reply // by the codec
}

// everyStream plays every scenario on every row with streams and collects them.
func everyStream(t *testing.T) []streamed {
	t.Helper()
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	var out []streamed
	for _, engine := range catalog.All() {
		c, err := all.For(engine.Dialect)
		if err != nil {
			t.Fatal(err)
		}
		r := suite.Runner{Catalog: catalog, Scenarios: scenarios, Keep: func(p suite.Played) (string, error) {
			for i, x := range p.Transcript.Exchanges {
				reads, err := wire.DecodeStream(c.(codecs.Streamer), engine.Resolve("").Profile, x.Out.Body)
				if x.Out.Status >= 300 || err != nil {
					continue // an error, in front of the stream or in it
				}
				beta := wire.HeaderValue(x.In.Header, "anthropic-beta") != ""
				out = append(out, streamed{engine, fmt.Sprintf("%s %s #%d", p.Engine, p.Cell.Scenario, i), beta, x.Out.Body, reads})
			}
			return "", nil
		}}
		if _, err := r.Run(t.Context(), suite.Selection{Engines: []string{engine.Name}, Stream: "on"}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// events are the JSON texts of a stream.
func events(frames []byte) (out [][]byte) {
	for line := range bytes.Lines(frames) {
		line = bytes.TrimSpace(line)
		if data, ok := bytes.CutPrefix(line, []byte("data: ")); ok {
			line = data
		}
		if len(line) > 0 && line[0] == '{' {
			out = append(out, line)
		}
	}
	return out
}

// TestPublishedEventSchemas holds every event of every rendered stream of the rows
// that the schemas' publishers run against these schemas. A chunk of Gemini is a
// reply there.
func TestPublishedEventSchemas(t *testing.T) {
	s := loadSchemas(t)
	listed := map[string]string{ // the finding: its reason
		"anthropic.event required $.content_block caller": "114 of 133 recorded events that open a tool_use have none",
	}
	used, checked, found := map[string]bool{}, map[string]int{}, map[string]string{}
	for _, x := range everyStream(t) {
		name := native[x.engine.Name]
		if name == "" {
			continue
		}
		schema := name + ".event"
		if s.byName[schema] == nil {
			schema = name + ".reply"
		}
		if name == "anthropic" && x.beta {
			schema = "anthropic-beta.event"
		}
		for _, event := range events(x.frames) {
			checked[schema]++
			for _, key := range s.check(t, schema, event) {
				if listed[key] != "" {
					used[key] = true
				} else if found[key] == "" {
					found[key] = fmt.Sprintf("%s\n%s", x.where, event)
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("%s: %s", key, found[key])
	}
	for key := range listed {
		if !used[key] {
			t.Errorf("%s no longer occurs", key)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(checked)) {
		t.Logf("%-24s %6d events", name, checked[name])
	}
	if len(checked) < 6 {
		t.Errorf("only %d schemas were used", len(checked))
	}
}

// sdkStreams are the official SDKs as readers of a stream.
var sdkStreams = map[codecs.Dialect]func(res *http.Response) (seen, error){
	codecs.OpenAI: func(res *http.Response) (out seen, err error) {
		s := openaistream.NewStream[openai.ChatCompletionChunk](openaistream.NewDecoder(res), nil)
		var acc openai.ChatCompletionAccumulator
		for s.Next() {
			if !acc.AddChunk(s.Current()) {
				return out, errors.New("the accumulator refuses a chunk")
			}
		}
		if s.Err() != nil {
			return out, s.Err()
		}
		for _, c := range acc.Choices {
			out.Text += c.Message.Content
			for _, k := range c.Message.ToolCalls {
				out.Calls = append(out.Calls, seenCall{k.ID, k.Function.Name, k.Function.Arguments})
			}
		}
		return out, nil
	},
	codecs.Anthropic: func(res *http.Response) (out seen, err error) {
		s := anthropicstream.NewStream[anthropic.MessageStreamEventUnion](anthropicstream.NewDecoder(res), nil)
		var acc anthropic.Message
		for s.Next() {
			if err := acc.Accumulate(s.Current()); err != nil {
				return out, err
			}
		}
		if s.Err() != nil {
			return out, s.Err()
		}
		for _, b := range acc.Content {
			switch b.Type {
			case "text":
				out.Text += b.Text
			case "tool_use":
				out.Calls = append(out.Calls, seenCall{b.ID, b.Name, string(b.AsToolUse().Input)})
			}
		}
		return out, nil
	},
	codecs.Responses: func(res *http.Response) (out seen, err error) {
		s := openaistream.NewStream[responses.ResponseStreamEventUnion](openaistream.NewDecoder(res), nil)
		last := ""
		for s.Next() {
			switch e := s.Current().AsAny().(type) {
			case responses.ResponseTextDeltaEvent:
				out.Text += e.Delta
			case responses.ResponseOutputItemDoneEvent:
				if e.Item.Type == "function_call" {
					k := e.Item.AsFunctionCall()
					out.Calls = append(out.Calls, seenCall{k.CallID, k.Name, k.Arguments})
				}
			}
			last = s.Current().Type
		}
		if last != "response.completed" && last != "response.incomplete" && last != "response.failed" && s.Err() == nil {
			return out, fmt.Errorf("the last event is %s", last)
		}
		return out, s.Err()
	},
	codecs.Gemini: func(res *http.Response) (out seen, err error) {
		client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
			APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPClient: &http.Client{Transport: inMemory{res}}, HTTPOptions: genai.HTTPOptions{BaseURL: "http://127.0.0.1"},
		})
		if err != nil {
			return out, err
		}
		for r, err := range client.Models.GenerateContentStream(context.Background(), "m", genai.Text("?"), nil) {
			if err != nil {
				return out, err
			}
			if len(r.Candidates) == 0 || r.Candidates[0].Content == nil {
				continue
			}
			for _, p := range r.Candidates[0].Content.Parts {
				if !p.Thought {
					out.Text += p.Text
				}
			}
			for _, c := range r.FunctionCalls() {
				args, err := json.Marshal(c.Args)
				if err != nil {
					return out, err
				}
				out.Calls = append(out.Calls, seenCall{c.ID, c.Name, string(args)})
			}
		}
		return out, nil
	},
	codecs.Ollama: func(res *http.Response) (out seen, err error) {
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return out, err
		}
		done := false
		for line := range bytes.Lines(body) {
			var r ollama.ChatResponse
			if err := json.Unmarshal(line, &r); err != nil {
				return out, err
			}
			out.Text += r.Message.Content
			for _, c := range r.Message.ToolCalls {
				out.Calls = append(out.Calls, seenCall{c.ID, c.Function.Name, c.Function.Arguments.String()})
			}
			done = r.Done
		}
		if !done {
			return out, errors.New("the last line is not done")
		}
		return out, nil
	},
}

// inMemory answers every request with one response, without a connection.
type inMemory struct{ res *http.Response }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	m.res.Request = r
	return m.res, nil
}

// TestOfficialSDKStreams: the official SDKs read every rendered stream, and find the
// text and the calls that the body has.
func TestOfficialSDKStreams(t *testing.T) {
	unlike := map[string]string{ // row or scenario: why the SDK reads it differently
		"values/unicode-and-numbers": "genai reads whole numbers as float64",
	}
	used, read := map[string]bool{}, map[codecs.Dialect]int{}
	for _, x := range everyStream(t) {
		decode := sdkStreams[x.engine.Dialect]
		if decode == nil {
			continue
		}
		read[x.engine.Dialect]++
		got, err := decode(&http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(x.frames))})
		fault := ""
		if err != nil {
			fault = "refused: " + err.Error()
		} else {
			fault = got.unlike(x.reads)
		}
		if fault == "" {
			continue
		}
		known := false
		for name := range unlike {
			if slices.Contains(strings.Fields(x.where), name) {
				used[name], known = true, true
			}
		}
		if !known {
			t.Errorf("%s: %s\n%s", x.where, fault, x.frames)
		}
	}
	for name := range unlike {
		if !used[name] {
			t.Errorf("%s is no longer unlike", name)
		}
	}
	for _, d := range slices.Sorted(maps.Keys(read)) {
		t.Logf("%-10s %5d streams", d, read[d])
	}
	if len(read) != len(sdkStreams) {
		t.Errorf("read streams of %d dialects", len(read))
	}
}

// unlike compares with the codec's own reading of the body: text but for thinking
// between tags, which the SDKs leave in it, and calls.
func (s seen) unlike(r codecs.Reply) string {
	if !strings.Contains(s.Text, strings.TrimSpace(r.Text())) {
		return fmt.Sprintf("text %q, the body has %q", s.Text, r.Text())
	}
	calls := r.Calls()
	if len(calls) != len(s.Calls) {
		return fmt.Sprintf("%d calls, the body has %d", len(s.Calls), len(calls))
	}
	for i, c := range calls {
		got := s.Calls[i]
		if got.Name != c.Name || c.ID != "" && got.ID != c.ID {
			return fmt.Sprintf("call %d is %s %s, the body has %s %s", i, got.Name, got.ID, c.Name, c.ID)
		}
		if c.Arguments != nil && !jsonx.Equal([]byte(got.Arguments), c.Arguments) && !(c.ArgumentsText == "" && strings.Trim(got.Arguments, "{}") == "") {
			return fmt.Sprintf("arguments %s, the body has %s", got.Arguments, c.Arguments)
		}
	}
	return ""
}
