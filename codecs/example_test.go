package codecs_test

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
)

// Translate a reply from one wire to another: read it with one codec, write it
// with the server half of another. What cannot be carried is a warning.
func Example() {
	from, err := all.For(codecs.Anthropic)
	if err != nil {
		fmt.Println(err)
		return
	}
	to, err := all.For(codecs.Ollama)
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := from.Reply([]byte(`{"model":"m-1","content":[{"type":"text","text":"I look."},
		{"type":"tool_use","id":"t1","name":"get_tide","input":{"harbour":"Husum"}}],"stop_reason":"tool_use"}`), codecs.Profile{})
	if err != nil {
		fmt.Println(err)
		return
	}
	body, warnings, err := to.RenderReply(reply, codecs.Profile{}, codecs.Likeness{})
	if err != nil {
		fmt.Println(err)
		return
	}
	again, err := to.Reply(body, codecs.Profile{})
	fmt.Println(again.Text(), again.Calls()[0].Name, string(again.Calls()[0].Arguments), again.Finish, err)
	for _, w := range warnings {
		fmt.Println(w.Code)
	}
	// Output:
	// I look. get_tide {"harbour":"Husum"} tool_calls <nil>
}

// Truncate drops a call that a token limit cut, and keeps the complete one.
func ExampleTruncate() {
	reply := codecs.Reply{Finish: codecs.FinishLength, RawFinish: "max_tokens", Parts: []codecs.Part{
		{Kind: codecs.KindCall, Call: &codecs.ToolCall{Pos: 0, Name: "light", ArgumentsText: `{"lamp":7}`, Arguments: codecs.Raw(`{"lamp":7}`)}},
		{Kind: codecs.KindCall, Call: &codecs.ToolCall{Pos: 1, Name: "light", ArgumentsText: `{"la`, ArgumentsErr: "unexpected end"}},
	}}
	kept, dropped, err := codecs.Truncate(reply, nil, 0, codecs.Safe)
	fmt.Println(len(kept.Calls()), dropped[0].ArgumentsText, err)
	fmt.Println(kept.Warnings[0].Text)

	reply.Parts = reply.Parts[1:]
	_, _, err = codecs.Truncate(reply, nil, 0, codecs.Safe)
	fmt.Println(err)
	// Output:
	// 1 {"la <nil>
	// dropped 1 tool call(s) with truncated arguments (finish_reason max_tokens): light; raise response_size
	// tool call arguments truncated (finish_reason max_tokens); raise response_size
}
