package engines_test

import (
	"fmt"

	"github.com/toolconform/conform/engines"
)

// Load the catalogue, find an engine, and resolve what counts for one model.
func Example() {
	catalog, err := engines.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	engine, err := catalog.Lookup("deepseek")
	if err != nil {
		fmt.Println(err)
		return
	}
	thinking, plain := engine.Resolve(""), engine.Resolve("deepseek-chat")
	fmt.Println(thinking.Dialect, thinking.Profile.ReasoningEcho, thinking.Profile.ToolChoice)
	fmt.Println(plain.Model, plain.Profile.ReasoningEcho, plain.Choices())

	client := &engines.Client{Engine: thinking.Engine, Model: thinking.Model}
	fmt.Println(client.URL(false))

	_, err = catalog.Lookup("depseek")
	fmt.Println(err)
	// Output:
	// openai required_even_empty [auto none]
	// deepseek-chat ignored [auto any none tool]
	// https://api.deepseek.com/chat/completions <nil>
	// no engine is called "depseek"; did you mean "deepseek"?
}
