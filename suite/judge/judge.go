// Package judge holds the checks: judgements over the requests that a client
// sent, the replies that an engine gave, what reached the tool servers, and the
// way it ended. It reads requests and replies through the neutral types, so one
// check serves all dialects, and it judges whatever was seen: a cell of a run, a
// recording, a conversation that passes through a proxy. What it was not told to
// expect, it does not demand.
package judge

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/suite/results"
)

// Observed is what was seen of one conversation.
type Observed struct {
	Exchanges []Exchange // in the order of the requests
	// Watched says that the tool servers were watched: Executed is all that
	// reached them. Without it nothing is known of what ran.
	Watched  bool
	Executed []Executed
	End      *End // nil: not seen
}

// Executed is one call that reached a tool server.
type Executed struct {
	Server, Name string
	Arguments    codecs.Raw
	Result       codecs.ToolResult // what the tool server answered
}

// End is how the conversation ended, as its client tells.
type End struct {
	Text     string
	Error    string // kind of the error; "" when it ended in a text
	Message  string // of the error
	Warnings []codecs.Warning
}

// Expectation is what a conversation has to be besides lawful. A member at its
// zero value is not known, and nothing is judged by it: an empty list that is not
// nil demands that there be none.
type Expectation struct {
	Model       string
	MaxTokens   int
	Stream      *bool
	Choice      codecs.Choice
	Parallel    *bool
	Prompt      []codecs.Message
	Tools       []codecs.Tool // on every request, in order
	ServerTools []codecs.Raw  // on every request

	Turns    []*codecs.Reply       // what the engine's reply to each request says, by its ordinal; a nil one is not known
	Calls    [][]fixtures.ToolCall // what runs, in any order: one of these lists
	Requests *fixtures.Range       // how many are sent
	Ends     []fixtures.Ending     // one of them
	Warnings []string              // codes that the client gives
	Recorded *Recorded
}

// Recorded is what the requests are compared with, byte for byte of their
// meaning: the ones that a tape was made with.
type Recorded struct {
	Requests int                                   // on the tape
	Differs  func(ordinal int, in codecs.In) error // how a request differs from the tape's; nil when it does not
}

// Judge returns the verdict of every check that had something to judge, in the
// order of the rules. want may be nil.
func Judge(seen Observed, want *Expectation) []results.Check {
	return Over(seen, want).Findings()
}

// Over is a session that has seen all of a conversation.
func Over(seen Observed, want *Expectation) *Session {
	s := &Session{Expect: want, Watched: seen.Watched, executed: seen.Executed}
	s.answers = attribute(seen.Exchanges, seen.Executed)
	for _, x := range seen.Exchanges {
		s.request(x)
		s.reply(x)
	}
	if seen.End != nil {
		s.End(*seen.End)
	}
	return s
}
