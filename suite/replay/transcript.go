package replay

import (
	"slices"

	"github.com/toolconform/conform/codecs"
)

// Transcript is what really happened in a conversation.
type Transcript struct {
	Exchanges []Exchange // chat requests and their answers, in the order in which they came
	Side      []Exchange // requests that used up no turn: model lists, and paths that nothing answers
	Calls     []Call     // tool calls as the tool servers saw them
	End       End        // as the client told it
}

// Exchange is one request and the answer to it.
type Exchange struct {
	In   codecs.In
	Out  codecs.Answer // a stream as the whole of its frames
	Turn int           // index of the script's turn that answered; past its end: none did; -1 for a side request
}

// Call is one call that reached a tool server.
type Call struct {
	Server, Name string
	Arguments    codecs.Raw
	Result       codecs.Raw // MCP tools/call result; nil when the call failed
	Error        string     // of the protocol, in place of a result
}

// End is how a run ended: with a text, or with an error.
type End struct {
	Text    string
	Kind    string // of the error, "" when there was none
	Message string
}

// Transcript returns what came in and went out so far. Calls and End are not the
// conversation's to know.
func (c *Conversation) Transcript() Transcript {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Transcript{Exchanges: slices.Clone(c.chats), Side: slices.Clone(c.side)}
}
