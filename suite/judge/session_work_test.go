package judge

import (
	"fmt"
	"testing"

	"github.com/toolconform/conform/codecs"
)

// TestSessionWork: a request is held against the replies to the histories that it
// begins with, not against all that were seen.
func TestSessionWork(t *testing.T) {
	const n = 300
	c := newChat(t, "openai")
	for i := range n {
		c.past = []codecs.Message{user(fmt.Sprintf("Tide at port %d?", i))}
		c.reply(text("Low.")).say(parts(text("Low.")), user("And then?")).reply(text("Ebb."))
		c.past = []codecs.Message{user("What is the tide?")}
		c.reply(text("Low."))
	}
	s := Session{Codec: c.codec}
	echoed := 0
	for _, x := range c.seen.Exchanges {
		s.request(x)
		for _, t := range s.seen[len(s.seen)-1].turns {
			echoed += len(t.replies)
		}
		s.reply(x)
	}
	if echoed != n || s.looked != n {
		t.Errorf("%d turns, each the echo of one reply: found %d, looked at %d replies", n, echoed, s.looked)
	}
}
