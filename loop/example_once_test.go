package loop_test

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/loop"
)

// sender is an engine that gives one answer. A real one posts the body over
// HTTP; engines.Client does.
type sender string

func (s sender) Send(context.Context, loop.Call) (*loop.Response, error) {
	return &loop.Response{Status: 200, Body: io.NopCloser(strings.NewReader(string(s)))}, nil
}

// Once asks for one reply. It needs no tool server; a server tool of the
// provider rides on the request.
func ExampleOnce() {
	out, err := loop.Once(context.Background(), loop.Config{
		Codec: anthropic.Codec{}, Model: "m-1", MaxTokens: 64,
		Sender:      sender(`{"content":[{"type":"text","text":"High water is at noon."}],"stop_reason":"end_turn"}`),
		ServerTools: []codecs.Raw{codecs.Raw(`{"type":"web_search_20250305","name":"web_search"}`)},
		Messages:    []codecs.Message{{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: "When is high water?"}}}},
	})
	fmt.Println(out.Text, err)
	fmt.Println(string(out.Requests[0]))
	// Output:
	// High water is at noon. <nil>
	// {"model":"m-1","max_tokens":64,"messages":[{"role":"user","content":"When is high water?"}],"tools":[{"type":"web_search_20250305","name":"web_search"}]}
}

// The kind of an error tells how a run ended, whatever the dialect.
func ExampleErrorKind() {
	_, err := loop.Once(context.Background(), loop.Config{
		Codec: anthropic.Codec{}, Model: "m-1",
		Sender:   sender(`{"content":[],"stop_reason":"refusal"}`),
		Messages: []codecs.Message{{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: "Sink it."}}}},
	})
	fmt.Println(loop.ErrorKind(err))
	fmt.Println(err)
	// Output:
	// refused
	// the model refused to answer (finish_reason refusal)
}
