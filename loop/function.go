package loop

import (
	"context"
	"errors"

	"github.com/toolconform/conform/codecs"
)

// User is a message of the user that is a text.
func User(text string) codecs.Message {
	return codecs.Message{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: text}}}
}

// Function is a tool that is a function of the program.
type Function struct {
	Name, Description string
	Schema            codecs.Raw // JSON Schema of the arguments, an object; nil takes none

	// Run gives the text for the model. Its error is a result that says so.
	Run func(ctx context.Context, arguments codecs.Raw) (string, error)
}

// Functions is a tool server of functions.
type Functions []Function

// Name is "functions".
func (f Functions) Name() string { return "functions" }

// ListTools lists the functions.
func (f Functions) ListTools(context.Context) ([]codecs.Tool, error) {
	var out []codecs.Tool
	for _, fn := range f {
		out = append(out, codecs.Tool{Name: fn.Name, Description: fn.Description, InputSchema: fn.Schema})
	}
	return out, nil
}

// CallTool runs a function.
func (f Functions) CallTool(ctx context.Context, name string, arguments codecs.Raw) (codecs.ToolResult, error) {
	for _, fn := range f {
		if fn.Name != name {
			continue
		}
		text, err := fn.Run(ctx, arguments)
		if err != nil {
			return errorResult(err.Error()), nil
		}
		return codecs.ToolResult{Content: []codecs.Raw{codecs.TextBlock(text)}}, nil
	}
	return codecs.ToolResult{}, errors.New("no function is called " + name)
}
