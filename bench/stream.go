package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/anthropics/anthropic-sdk-go/v2"
	anthropicstream "github.com/anthropics/anthropic-sdk-go/v2/packages/ssestream"
	"github.com/openai/openai-go/v3"
	openaistream "github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/toolconform/conform/codecs"
)

// stream writes a stream of n deltas: the first half text, the rest the arguments
// of one call, but for Gemini, which sends a call whole.
func stream(d codecs.Dialect, n int) []byte {
	var b bytes.Buffer
	event := func(name, format string, args ...any) {
		if name != "" {
			fmt.Fprintf(&b, "event: %s\n", name)
		}
		fmt.Fprintf(&b, "data: "+format+"\n\n", args...)
	}
	piece := func(i int) string { return fmt.Sprintf("word %d ", i) }
	half := n / 2
	args := func(i int) string { // the pieces of one JSON object
		text := `, \"k` + fmt.Sprint(i) + `\": 1`
		switch i {
		case half:
			return `{\"k\": 1`
		case n - 1:
			return text + `}`
		}
		return text
	}
	switch d {
	case codecs.OpenAI:
		chunk := func(delta, finish string) {
			event("", `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"gpt-5-mini","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`, delta, finish)
		}
		chunk(`{"role":"assistant","content":""}`, "null")
		for i := range half {
			chunk(`{"content":"`+piece(i)+`"}`, "null")
		}
		chunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"get_tide","arguments":""}}]}`, "null")
		for i := half; i < n; i++ {
			chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"`+args(i)+`"}}]}`, "null")
		}
		chunk(`{}`, `"tool_calls"`)
		event("", `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1764500000,"model":"gpt-5-mini","choices":[],"usage":{"prompt_tokens":8,"completion_tokens":9,"total_tokens":17}}`)
		event("", `[DONE]`)
	case codecs.Anthropic:
		event("message_start", `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":8,"output_tokens":1}}}`)
		event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		for i := range half {
			event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"%s"}}`, piece(i))
		}
		event("content_block_stop", `{"type":"content_block_stop","index":0}`)
		event("content_block_start", `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_1","name":"get_tide","input":{}}}`)
		for i := half; i < n; i++ {
			event("content_block_delta", `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"%s"}}`, args(i))
		}
		event("content_block_stop", `{"type":"content_block_stop","index":1}`)
		event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}`)
		event("message_stop", `{"type":"message_stop"}`)
	case codecs.Gemini:
		for i := range n {
			part, finish := `{"text":"`+piece(i)+`"}`, ""
			if i == n-1 {
				part, finish = `{"functionCall":{"name":"get_tide","args":{"harbour":"Husum"}}}`, `,"finishReason":"STOP"`
			}
			event("", `{"candidates":[{"content":{"role":"model","parts":[%s]},"index":0%s}],"usageMetadata":{"promptTokenCount":8,"totalTokenCount":9},"modelVersion":"gemini-2.5-flash","responseId":"r1"}`, part, finish)
		}
	case codecs.Responses:
		seq := 0
		of := func(name, rest string) {
			event(name, `{"type":"%s","sequence_number":%d%s}`, name, seq, rest)
			seq++
		}
		message := func(status, content string) string {
			return `{"id":"msg_1","type":"message","status":"` + status + `","role":"assistant","content":[` + content + `]}`
		}
		call := func(status, arguments string) string {
			return `{"id":"fc_1","type":"function_call","status":"` + status + `","call_id":"call_1","name":"get_tide","arguments":"` + arguments + `"}`
		}
		response := func(status, output string) string {
			return `,"response":{"id":"resp_1","object":"response","created_at":1764500000,"status":"` + status + `","model":"gpt-5-mini","output":[` + output + `],"usage":null}`
		}
		var said, given strings.Builder
		of("response.created", response("in_progress", ""))
		of("response.output_item.added", `,"output_index":0,"item":`+message("in_progress", ""))
		of("response.content_part.added", `,"item_id":"msg_1","output_index":0,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}`)
		for i := range half {
			said.WriteString(piece(i))
			of("response.output_text.delta", `,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"`+piece(i)+`","logprobs":[]`)
		}
		part := `{"type":"output_text","text":"` + said.String() + `","annotations":[]}`
		of("response.output_text.done", `,"item_id":"msg_1","output_index":0,"content_index":0,"text":"`+said.String()+`","logprobs":[]`)
		of("response.content_part.done", `,"item_id":"msg_1","output_index":0,"content_index":0,"part":`+part)
		of("response.output_item.done", `,"output_index":0,"item":`+message("completed", part))
		of("response.output_item.added", `,"output_index":1,"item":`+call("in_progress", ""))
		for i := half; i < n; i++ {
			given.WriteString(args(i))
			of("response.function_call_arguments.delta", `,"item_id":"fc_1","output_index":1,"delta":"`+args(i)+`"`)
		}
		of("response.function_call_arguments.done", `,"item_id":"fc_1","output_index":1,"arguments":"`+given.String()+`"`)
		of("response.output_item.done", `,"output_index":1,"item":`+call("completed", given.String()))
		of("response.completed", response("completed", message("completed", part)+","+call("completed", given.String())))
	}
	return b.Bytes()
}

// chunkSize is how many bytes of a stream both sides are given at a time.
const chunkSize = 4096

// streams are the streams of every length, in every dialect that has an SDK. Both
// sides read the bytes to the end and then hold the whole reply: ours decoded, the
// SDK's put together by its accumulator, where it has one, with the arguments of
// the call read into a map.
func streams() []comparison {
	var out []comparison
	for _, d := range compared {
		for _, n := range []int{500, 50_000} {
			b := stream(d, n)
			streamer := codecOf(d).(codecs.Streamer)
			out = append(out, comparison{
				name: fmt.Sprintf("stream/%s/%d-events", d, n), bytes: len(b), events: n, goal: goal{ratio: 10, eventAllocs: 4},
				variants: []variant{
					{"conform", func() error { return readStream(streamer.Stream(codecs.Profile{}), b) }},
					{"SDK", func() error { return sdkStream(d, b) }},
				},
			})
		}
	}
	return out
}

func readStream(dec codecs.Decoder, b []byte) error {
	for len(b) > 0 {
		n := min(len(b), chunkSize)
		if _, err := dec.Feed(b[:n]); err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		b = b[n:]
	}
	r, err := dec.Close()
	if err == nil && (len(r.Calls()) != 1 || r.Calls()[0].Arguments == nil || r.Text() == "") {
		err = errors.New("the stream gave no text, no call or no arguments")
	}
	return err
}

func sdkStream(d codecs.Dialect, b []byte) error {
	res := &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(bytes.NewReader(b))}
	var arguments string
	switch d {
	case codecs.OpenAI:
		s := openaistream.NewStream[openai.ChatCompletionChunk](openaistream.NewDecoder(res), nil)
		var acc openai.ChatCompletionAccumulator
		for s.Next() {
			if !acc.AddChunk(s.Current()) {
				return errors.New("the accumulator refuses a chunk")
			}
		}
		if s.Err() != nil {
			return s.Err()
		}
		arguments = acc.Choices[0].Message.ToolCalls[0].Function.Arguments
	case codecs.Anthropic:
		s := anthropicstream.NewStream[anthropic.MessageStreamEventUnion](anthropicstream.NewDecoder(res), nil)
		var acc anthropic.Message
		for s.Next() {
			if err := acc.Accumulate(s.Current()); err != nil {
				return err
			}
		}
		if s.Err() != nil {
			return s.Err()
		}
		arguments = string(acc.Content[1].AsToolUse().Input)
	case codecs.Responses:
		s := openaistream.NewStream[responses.ResponseStreamEventUnion](openaistream.NewDecoder(res), nil)
		for s.Next() {
			if e := s.Current(); e.Type == "response.completed" {
				arguments = e.AsResponseCompleted().Response.Output[1].AsFunctionCall().Arguments
			}
		}
		if s.Err() != nil {
			return s.Err()
		}
	case codecs.Gemini: // no accumulator: its user joins the texts
		client, err := genai.NewClient(context.Background(), &genai.ClientConfig{
			APIKey: "none", Backend: genai.BackendGeminiAPI, HTTPClient: &http.Client{Transport: inMemory{res}},
			HTTPOptions: genai.HTTPOptions{BaseURL: "http://127.0.0.1"},
		})
		if err != nil {
			return err
		}
		var text strings.Builder
		for r, err := range client.Models.GenerateContentStream(context.Background(), "m", genai.Text("?"), nil) {
			if err != nil {
				return err
			}
			for _, p := range r.Candidates[0].Content.Parts { // r.Text() logs a line for a call
				text.WriteString(p.Text)
			}
			for _, c := range r.FunctionCalls() {
				arguments = fmt.Sprint(len(c.Args))
			}
		}
		if arguments != "1" || text.Len() == 0 {
			return errors.New("the stream gave no text or no call")
		}
		return nil
	}
	var m map[string]any
	return json.Unmarshal([]byte(arguments), &m)
}

// inMemory answers every request with one response, without a connection.
type inMemory struct{ res *http.Response }

func (m inMemory) RoundTrip(r *http.Request) (*http.Response, error) {
	m.res.Request = r
	return m.res, nil
}
