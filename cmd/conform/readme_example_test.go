package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/engines"
)

// readmeTurn is the Go of the README inside a function.
func readmeTurn(catalog *engines.Catalog, body []byte, runTool func(codecs.ToolCall) []codecs.Raw) ([]codecs.Raw, error) {
	var results []codecs.ToolResult
	engine, err := catalog.Lookup("deepseek")
	if err != nil {
		return nil, err
	}
	at := engine.Resolve("") // the default model
	reply, err := openai.Codec{}.Reply(body, at.Profile)
	if err != nil {
		return nil, err // a *codecs.ProviderError when the body carries an error
	}
	for _, call := range reply.Calls() {
		results = append(results, call.Result(runTool(call)...)) // MCP content blocks
	}
	messages, warnings, err := openai.Codec{}.Continue(reply, results, at.Profile)
	for _, w := range warnings {
		fmt.Println(w.Code)
	}
	return messages, err
}

// TestReadmeGo: the Go of the README is what compiles here, and keeps the
// reasoning.
func TestReadmeGo(t *testing.T) {
	_, block, _ := strings.Cut(readme(t), "\n```go\n")
	block, _, _ = strings.Cut(block, "\n```")
	var indented strings.Builder
	for line := range strings.Lines(block + "\n") {
		indented.WriteString("\t" + line)
	}
	if block == "" || !strings.Contains(file(t, "/cmd/conform/readme_example_test.go"), indented.String()) {
		t.Errorf("no function here has these lines of the README:\n%s", block)
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	body := `{"choices":[{"message":{"role":"assistant","content":"","reasoning_content":"Ask the gauge.","tool_calls":[{"id":"c1","type":"function","function":{"name":"tide","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`
	messages, err := readmeTurn(catalog, []byte(body), func(codecs.ToolCall) []codecs.Raw { return []codecs.Raw{codecs.TextBlock("3.4 m")} })
	if err != nil || len(messages) != 2 || !strings.Contains(string(messages[0]), `"reasoning_content":"Ask the gauge."`) || !strings.Contains(string(messages[1]), "3.4 m") {
		t.Errorf("%s, %v", messages, err)
	}
}

// TestReadmeFacts holds the table of the README against the command above it.
func TestReadmeFacts(t *testing.T) {
	_, block, _ := strings.Cut(readme(t), "\n```\n$ conform ")
	block, _, _ = strings.Cut(block, "\n```")
	line, rest, _ := strings.Cut(block, "\n")
	for strings.HasSuffix(line, `\`) {
		next, after, _ := strings.Cut(rest, "\n")
		line, rest = strings.TrimSuffix(line, `\`)+next, after
	}
	args := strings.Fields(line)
	if len(args) < 5 || args[0] != "facts" {
		t.Fatalf("the README has no table of facts: %q", args)
	}
	if r := conform(strings.NewReader(""), args...); r.code != exitOK || r.out != rest+"\n" {
		t.Errorf("exit %d, %s; the README should have\n%s", r.code, r.errors, r.out)
	}
}
