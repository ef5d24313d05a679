package loop_test

import (
	"context"
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/loop"
)

// Run with an engine that is a script and a tool server of one's own; loop/mcp
// has those over MCP.
func ExampleRun() {
	engine := says(
		`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"tide","arguments":"{\"harbour\":\"Husum\"}"}}]},"finish_reason":"tool_calls"}]}`,
		`{"choices":[{"message":{"role":"assistant","content":"High tide is at noon."},"finish_reason":"stop"}]}`)
	server := &harbour{name: "alpha", tools: []string{"tide"}}

	out, err := loop.Run(context.Background(), loop.Config{
		Codec: openai.Codec{}, Model: "m-1", Sender: engine,
		Servers:  []loop.ToolServer{server},
		Messages: []codecs.Message{{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: "When is high tide at Husum?"}}}},
	})
	fmt.Println(out.Text, err)
	fmt.Println(out.Ran[0].Name, string(out.Ran[0].Arguments))
	// Output:
	// High tide is at noon. <nil>
	// tide {"harbour":"Husum"}
}
