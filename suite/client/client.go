// Package client says what can be under test: something that is given a task, runs
// the tool loop and tells how it ended. The reference loop is the first client;
// what another one needs to know stands in the Task, and nothing else is given to
// the reference either.
package client

import (
	"context"
	"net/http"
	"time"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
)

// Client is a client of engines that runs tool loops.
type Client interface {
	// Info tells what the client is and what it can do. It is asked once a run.
	Info() Info
	// Run does a task to its end. It returns soon after ctx ends.
	Run(ctx context.Context, t Task) Outcome
}

// Info describes a client. What it does not claim is not asked of it.
type Info struct {
	Name, Version string
	Library       string           // that the client is built on, "" for none
	Dialects      []codecs.Dialect // that it speaks; empty: all
	Stream        string           // off, on or both; "" is off
	Features      Features
	// Addresses asks for real ones on the loopback interface: of the engine in
	// Task.BaseURL, of the tool servers in MCPURL and HTTPURL. Without it the
	// client gets Task.Transport and Local.
	Addresses bool
}

// Features are what a client may lack.
type Features struct {
	MaxIterations bool // it takes Task.MaxIterations
	MultiServer   bool // it takes more than one tool server
	ServerTools   bool // it sends provider-native tools along
}

// Task is one conversation to be had.
type Task struct {
	Dialect codecs.Dialect
	Engine  string // name in the catalogue
	Model   string
	Profile codecs.Profile    // of the engine for the model
	Vars    map[string]string // variables of the engine's address that have no value of their own

	BaseURL   string            // the endpoint of the dialect follows it; "": the engine's own address
	Key       string            // API key
	Transport http.RoundTripper // reaches the engine without a socket; nil: over the network

	System      string
	Messages    []codecs.Raw // {"role","content": string | [MCP content blocks]}
	ToolServers []ToolServer
	ServerTools []codecs.Raw // native entries of the dialect
	Choice      codecs.Raw   // neutral form, nil when none is asked for
	Parallel    *bool        // nil: the provider's default
	Extra       codecs.Raw   // object, merged into every request body; nil for none

	MaxIterations int // requests at most; 0: the client's own default
	MaxTokens     int // of a reply; 0: the provider's default
	Stream        bool
	Timeout       time.Duration // of the whole task; 0 is none
}

// Prompt reads the system text and the messages.
func (t Task) Prompt() ([]codecs.Message, error) {
	var f jsonx.Fields
	if t.System != "" {
		f.Str("system", t.System)
	}
	req, _, err := neutral.Request(f.Set("messages", jsonx.List(t.Messages...)).Raw())
	return req.Messages, err
}

// ToolServer is one MCP server that offers tools.
type ToolServer struct {
	Name    string
	MCPURL  string          // streamable HTTP; "" in process
	HTTPURL string          // of the plain twin: GET HTTPURL/tools, POST HTTPURL/call; "" in process
	Local   loop.ToolServer // an MCP connection in the same process; nil over the network
}

// Outcome is how a task ended: with a text, with an error, or not at all.
type Outcome struct {
	Text        string
	Error       *Error // nil: the task ended with Text
	Unsupported string // why the client cannot do the task; nothing was sent then
	Warnings    []codecs.Warning
}

// Error is the failure that a client reports.
type Error struct {
	Kind    string // one of those of loop.ErrorKind
	Message string // in the client's own words
}
