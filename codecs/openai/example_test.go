package openai_test

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
)

// Read a reply, answer its calls, and get the messages that carry the
// conversation on: the turn as it came, then one message for each result. An
// unknown key of the turn stays behind, its reasoning goes back.
func Example() {
	body := []byte(`{"choices":[{"message":{"role":"assistant","content":null,"annotations":[],
		"reasoning_content":"Ask the gauge.",
		"tool_calls":[{"id":"c1","type":"function","function":{"name":"get_tide","arguments":"{\"harbour\": \"Husum\"}"}}]},
		"finish_reason":"tool_calls"}]}`)
	var codec openai.Codec
	var profile codecs.Profile // OpenAI itself; package engines has those of other hosts

	reply, err := codec.Reply(body, profile)
	if err != nil {
		fmt.Println(err)
		return
	}
	var results []codecs.ToolResult
	for _, call := range reply.Calls() {
		fmt.Println(call.Name, string(call.Arguments))
		results = append(results, call.Result(codecs.TextBlock("3.4 m")))
	}
	messages, warnings, err := codec.Continue(reply, results, profile)
	for _, m := range messages {
		fmt.Println(string(m))
	}
	fmt.Println(len(warnings), err)
	// Output:
	// get_tide {"harbour": "Husum"}
	// {"role":"assistant","content":null,"reasoning_content":"Ask the gauge.","tool_calls":[{"id":"c1","type":"function","function":{"name":"get_tide","arguments":"{\"harbour\": \"Husum\"}"}}]}
	// {"role":"tool","tool_call_id":"c1","content":"3.4 m"}
	// 0 <nil>
}

// A 200 may carry an error. It comes out as the typed error, with the provider's
// own words.
func ExampleCodec_Reply() {
	_, err := openai.Codec{}.Reply([]byte(`{"error":{"message":"The model is overloaded.","code":502}}`), codecs.Profile{})
	if pe, ok := err.(*codecs.ProviderError); ok {
		fmt.Println(string(pe.Kind), pe.Code, pe.Message)
	}
	fmt.Println(err)
	// Output:
	// overload 502 The model is overloaded.
	// response carried an error: The model is overloaded. (502)
}
