package judge

import (
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/suite/results"
)

// Session judges a conversation while it goes on: a server asks it about a
// request before it answers. Codec and Profile are those of the exchanges to
// come. The zero Expect expects nothing. A Session is for one goroutine.
type Session struct {
	Codec   codecs.Full
	Profile codecs.Profile
	Expect  *Expectation
	Watched bool // every call that reaches a tool server is told by Executed

	seen     []*observed
	executed []Executed
	answers  map[callKey]codecs.ToolResult // nil: to be found anew
	replied  map[uint64]map[int][]int      // print of a history -> turn that answers it -> exchanges
	looked   int                           // replies that a request was held against, for the test that they are few
	findings map[string]results.Check      // the worst of each rule
}

// observed is an exchange and what later requests are held against.
type observed struct {
	Exchange
	history
	cut         map[int]bool // ordinals of the calls of Reply that the token limit cut
	hiddenLimit bool         // the limit ended the reply although the finish reason says something else
	echoed      bool         // Echoes told of a request that answers it
}

// Request judges a request and returns what it does not meet.
func (s *Session) Request(in codecs.In) []results.Check {
	return s.request(Read(s.Codec, s.Profile, in, nil))
}

// Reply judges the answer to the last request and returns what it does not meet.
func (s *Session) Reply(out codecs.Answer) []results.Check {
	if len(s.seen) == 0 {
		return nil
	}
	x := s.seen[len(s.seen)-1].Exchange
	x.read(out)
	s.answers = nil
	return s.reply(x)
}

// Executed notes a call that reached a tool server.
func (s *Session) Executed(calls ...Executed) {
	s.executed, s.answers = append(s.executed, calls...), nil
}

// End judges how the conversation ended, and what only its end can tell.
func (s *Session) End(e End) []results.Check {
	return s.run(atEnd, &scene{session: s, end: e})
}

// Findings returns the verdict of every check that had something to judge so
// far, the worst of each, in the order of the rules.
func (s *Session) Findings() []results.Check {
	out := []results.Check{}
	for _, r := range Rules() {
		if k, ok := s.findings[r.ID]; ok {
			out = append(out, k)
		}
	}
	return out
}

// Exchange returns the last exchange, as it was read.
func (s *Session) Exchange() Exchange {
	if len(s.seen) == 0 {
		return Exchange{}
	}
	return s.seen[len(s.seen)-1].Exchange
}

func (s *Session) request(x Exchange) []results.Check {
	o := &observed{Exchange: x}
	if x.RequestErr == nil {
		o.history = readHistory(x.Request)
	}
	s.seen = append(s.seen, o)
	if x.RequestErr == nil {
		s.align()
	}
	c := &scene{session: s, x: o, where: fmt.Sprintf("request %d", len(s.seen))}
	out := s.run(atRequest, c)
	for _, t := range o.turns {
		at := *c
		at.turn, at.where, at.failed = t, c.where+", "+t.name, nil
		out = append(out, s.run(atTurn, &at)...)
	}
	return out
}

func (s *Session) reply(x Exchange) []results.Check {
	o := s.seen[len(s.seen)-1]
	o.Exchange = x
	if x.Replied {
		o.truncation(s.tools(o), s.maxTokens(o))
		s.noteReplied(o)
	}
	return s.run(atReply, &scene{session: s, x: o, where: fmt.Sprintf("reply %d", len(s.seen))})
}

// tools are those that a model can call: the expected ones, else those of the
// request.
func (s *Session) tools(o *observed) []codecs.Tool {
	if s.Expect != nil && s.Expect.Tools != nil {
		return s.Expect.Tools
	}
	return o.Request.Tools
}

func (s *Session) maxTokens(o *observed) int {
	if s.Expect != nil && s.Expect.MaxTokens > 0 {
		return s.Expect.MaxTokens
	}
	return o.Request.MaxTokens
}

// truncation finds the calls that the token limit cut.
func (o *observed) truncation(tools []codecs.Tool, maxTokens int) {
	o.cut = map[int]bool{}
	_, dropped, _ := codecs.Truncate(o.Reply, tools, maxTokens, codecs.Safe)
	for _, c := range dropped {
		if c.Name != "" {
			o.cut[c.Pos] = true
		}
	}
	_, limit := codecs.LimitHit(o.Reply, maxTokens, codecs.Safe)
	o.hiddenLimit = limit && o.Reply.Finish != codecs.FinishLength
}

// callKey names a call of a conversation.
type callKey struct{ exchange, pos int }

// answered returns what the tool server said to a call; false when it never got
// it, as far as the tool servers were watched.
func (s *Session) answered(k callKey) (codecs.ToolResult, bool) {
	if len(s.executed) == 0 {
		return codecs.ToolResult{}, false
	}
	if s.answers == nil {
		var list []Exchange
		for _, o := range s.seen {
			list = append(list, o.Exchange)
		}
		s.answers = attribute(list, s.executed)
	}
	r, ok := s.answers[k]
	return r, ok
}

// attribute finds the call that each execution belongs to: the first of the same
// name and arguments that has none yet, else the first of the same name. The
// order of execution is free.
func attribute(exchanges []Exchange, executed []Executed) map[callKey]codecs.ToolResult {
	out := map[callKey]codecs.ToolResult{}
	exact, named := map[string][]int{}, map[string][]int{}
	used := make([]bool, len(executed))
	for i, e := range executed {
		exact[e.Name+" "+canonical(e.Arguments)] = append(exact[e.Name+" "+canonical(e.Arguments)], i)
		named[e.Name] = append(named[e.Name], i)
	}
	take := func(queues map[string][]int, key string, k callKey) {
		for q := queues[key]; len(q) > 0; {
			i := q[0]
			q = q[1:]
			queues[key] = q
			if !used[i] {
				used[i], out[k] = true, executed[i].Result
				return
			}
		}
	}
	for pass, queues := range []map[string][]int{exact, named} {
		for i, x := range exchanges {
			for _, c := range x.Reply.Calls() {
				k := callKey{i, c.Pos}
				if _, done := out[k]; done {
					continue
				}
				key := c.Name
				if pass == 0 {
					if c.Arguments == nil {
						continue
					}
					key += " " + canonical(c.Arguments)
				}
				take(queues, key, k)
			}
		}
	}
	return out
}
