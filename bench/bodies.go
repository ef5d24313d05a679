package main

import (
	"encoding/json"
	"fmt"
	"strings"
)

// shape says how large a made-up reply is: text of so many bytes and calls with
// arguments of so many bytes each.
type shape struct {
	name        string
	text, calls int
	args        int
	goal        goal
}

// Shapes of the decode table. The names give the body size, which is about the
// same in every dialect.
var shapes = []shape{
	{"1KB", 120, 1, 120, goal{}},
	{"4KB-4calls", 200, 4, 560, goal{ratio: 4, bare: 2.5, allocs: 60}},
	{"256KB-text", 252_000, 0, 0, goal{ratio: 5}},
	{"256KB-400calls", 200, 400, 440, goal{}},
}

const sentence = "The tide at Husum turns at 14:05, \"high water\" is 3.4 m\nand the ferry to Pellworm – grün – leaves early. "

func text(n int) string { return strings.Repeat(sentence, n/len(sentence)+1)[:n] }

// arguments is a JSON object of about n bytes with strings, numbers, a list.
func arguments(i, n int) string {
	pad := strings.ToValidUTF8(text(max(n-110, 8)), "")
	b, _ := json.Marshal(map[string]any{"harbour": fmt.Sprintf("Husum %d", i), "days": 3, "unit": "m", "at": []float64{54.47, 9.05}, "deep": map[string]any{"on": true}, "note": pad})
	return string(b)
}

func quote(s string) string { b, _ := json.Marshal(s); return string(b) }

func list(n int, f func(i int) string) string {
	out := make([]string, n)
	for i := range out {
		out[i] = f(i)
	}
	return "[" + strings.Join(out, ",") + "]"
}

// body writes a reply of a dialect as its provider would.
func body(dialect string, s shape) []byte {
	finish := func(call, stop string) string {
		if s.calls > 0 {
			return call
		}
		return stop
	}
	t := strings.ToValidUTF8(text(s.text), "")
	switch dialect {
	case "openai":
		calls := ""
		if s.calls > 0 {
			calls = `,"tool_calls":` + list(s.calls, func(i int) string {
				return fmt.Sprintf(`{"id":"call_%08d","type":"function","function":{"name":"get_tide","arguments":%s}}`, i, quote(arguments(i, s.args)))
			})
		}
		return fmt.Appendf(nil, `{"id":"chatcmpl-9x","object":"chat.completion","created":1764500000,"model":"gpt-5-mini","choices":[{"index":0,"message":{"role":"assistant","content":%s%s,"refusal":null,"annotations":[]},"logprobs":null,"finish_reason":"%s"}],"usage":{"prompt_tokens":812,"completion_tokens":240,"total_tokens":1052,"prompt_tokens_details":{"cached_tokens":512,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":64,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}},"service_tier":"default","system_fingerprint":"fp_1"}`,
			quote(t), calls, finish("tool_calls", "stop"))
	case "anthropic":
		blocks := []string{fmt.Sprintf(`{"type":"text","text":%s}`, quote(t))}
		for i := range s.calls {
			blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":"toolu_%08d","name":"get_tide","input":%s}`, i, arguments(i, s.args)))
		}
		return fmt.Appendf(nil, `{"id":"msg_01","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[%s],"stop_reason":"%s","stop_sequence":null,"usage":{"input_tokens":812,"cache_creation_input_tokens":0,"cache_read_input_tokens":512,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":240,"service_tier":"standard"}}`,
			strings.Join(blocks, ","), finish("tool_use", "end_turn"))
	case "gemini":
		parts := []string{fmt.Sprintf(`{"text":%s}`, quote(t))}
		for i := range s.calls {
			parts = append(parts, fmt.Sprintf(`{"functionCall":{"name":"get_tide","args":%s},"thoughtSignature":"Q29uZm9ybQ=="}`, arguments(i, s.args)))
		}
		return fmt.Appendf(nil, `{"candidates":[{"content":{"role":"model","parts":[%s]},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":812,"candidatesTokenCount":240,"totalTokenCount":1116,"thoughtsTokenCount":64,"promptTokensDetails":[{"modality":"TEXT","tokenCount":812}]},"modelVersion":"gemini-2.5-flash","responseId":"r1"}`,
			strings.Join(parts, ","))
	case "responses":
		items := []string{fmt.Sprintf(`{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","annotations":[],"logprobs":[],"text":%s}]}`, quote(t))}
		for i := range s.calls {
			items = append(items, fmt.Sprintf(`{"type":"function_call","id":"fc_%08d","call_id":"call_%08d","name":"get_tide","arguments":%s,"status":"completed"}`, i, i, quote(arguments(i, s.args))))
		}
		return fmt.Appendf(nil, `{"id":"resp_1","object":"response","created_at":1764500000,"status":"completed","error":null,"incomplete_details":null,"instructions":null,"max_output_tokens":null,"model":"gpt-5-mini","output":[%s],"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{"effort":"medium","summary":null},"store":true,"temperature":1.0,"text":{"format":{"type":"text"}},"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled","usage":{"input_tokens":812,"input_tokens_details":{"cached_tokens":512},"output_tokens":240,"output_tokens_details":{"reasoning_tokens":64},"total_tokens":1052},"metadata":{}}`,
			strings.Join(items, ","))
	}
	panic(dialect)
}
