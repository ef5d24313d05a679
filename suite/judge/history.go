package judge

import (
	"fmt"
	"hash/maphash"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// history is a request cut into turns of the model.
type history struct {
	turns  []*turn
	stray  []codecs.ToolResult // results before any turn
	open   bool                // it ends with a turn that nothing follows yet
	prints map[uint64]bool     // of the history up to each of its messages
	whole  uint64              // of all of it

	due, there int // turns behind those of the prompt, where that is known
}

// turn is one assistant turn of a history, whatever number of messages it has,
// and what follows it up to the next.
type turn struct {
	name      string
	messages  [][]codecs.Part // of the assistant, message by message
	assistant []codecs.Part   // all of them
	calls     []codecs.ToolCall
	results   []codecs.ToolResult
	between   int             // parts between the turn and its results, or between two results
	media     map[string]bool // of user messages after the results
	texts     []codecs.Part
	calledBy  []int       // by result: the call of calls that it answers, -1 for none
	answers   map[int]int // by call: its first result

	// The replies that the turn is the echo of: more than one where a paused reply
	// was carried on, none where it is not known.
	replies []*said
	wanted  []wanted
}

// said is a reply, and the ordinal of its exchange.
type said struct {
	*observed
	ordinal int
}

// wanted is a call of the replies of a turn, and where its echo stands.
type wanted struct {
	codecs.ToolCall
	key  callKey
	cut  bool
	echo int // in turn.calls; -1 where there is none
}

// seed is one for the whole process: prints are compared within it only.
var seed = maphash.MakeSeed()

func readHistory(req codecs.Request) history {
	var print maphash.Hash
	print.SetSeed(seed)
	h := history{prints: map[uint64]bool{print.Sum64(): true}}
	inTurn := false
	for _, m := range req.Messages {
		if m.Role == "system" {
			continue
		}
		if m.Role == "assistant" {
			if !inTurn {
				h.turns = append(h.turns, &turn{media: map[string]bool{}, name: fmt.Sprintf("turn %d of its history", len(h.turns)+1)})
			}
			inTurn = true
			t := h.turns[len(h.turns)-1]
			t.messages = append(t.messages, m.Parts)
			t.assistant = append(t.assistant, m.Parts...)
			for _, p := range m.Parts {
				if p.Kind == codecs.KindCall && p.Call != nil {
					t.calls = append(t.calls, *p.Call)
					print.WriteString("\x00call " + p.Call.Name)
				}
			}
		} else {
			h.user(m.Parts, &print)
			inTurn = false
		}
		h.prints[print.Sum64()] = true
	}
	h.open, h.whole = inTurn, print.Sum64()
	for _, t := range h.turns {
		t.calledBy, _ = codecs.NewTurn(t.calls).AnswerAll(t.results)
		t.answers = map[int]int{}
		for n, k := range t.calledBy {
			if _, twice := t.answers[k]; !twice {
				t.answers[k] = n
			}
		}
	}
	return h
}

// user reads what is no turn of the model. The print of a history is what a
// client that carries on from it cannot have changed: the words of the user, the
// names of the calls, the number of results.
func (h *history) user(parts []codecs.Part, print *maphash.Hash) {
	if len(h.turns) == 0 {
		for _, p := range parts {
			if p.Kind == codecs.KindResult && p.Result != nil {
				h.stray = append(h.stray, *p.Result)
			}
			print.WriteString("\x00" + string(p.Kind) + " " + p.Text)
		}
		return
	}
	t := h.turns[len(h.turns)-1]
	for _, p := range parts {
		switch {
		case p.Kind == codecs.KindResult && p.Result != nil:
			if len(t.texts) > 0 || len(t.media) > 0 {
				t.between++
			}
			t.results = append(t.results, *p.Result)
		case p.Kind == codecs.KindMedia && p.Media != nil:
			t.media[mediaKey(*p.Media)] = true
		default:
			t.texts = append(t.texts, p)
		}
		print.WriteString("\x00" + string(p.Kind) + " " + p.Text)
	}
}

func mediaKey(m codecs.Media) string {
	if m.Data != "" {
		return wire.StripSpace(m.Data)
	}
	return m.URI
}

// align finds the replies that the turns of the last request are the echo of.
func (s *Session) align() {
	n := len(s.seen) - 1
	if s.Expect != nil && s.Expect.Prompt != nil {
		s.alignKnown(n)
	} else {
		s.alignSeen(n)
	}
	for _, t := range s.seen[n].turns {
		t.want()
	}
}

// alignKnown aligns in order: with the prompt known, the conversation is one, and
// each reply is a turn after the turns of the prompt.
func (s *Session) alignKnown(n int) {
	turns := s.seen[n].turns
	at, paused := len(readHistory(codecs.Request{Messages: s.Expect.Prompt}).turns), false
	first := at
	for i, o := range s.seen[:n] {
		if !o.Answered || o.Failure != nil || o.ReplyErr != nil {
			continue
		}
		if paused {
			at--
		}
		if at < len(turns) && o.Replied {
			turns[at].replies = append(turns[at].replies, &said{o, i})
		}
		paused = o.Replied && o.Reply.Finish == codecs.FinishPause
		at++
	}
	s.seen[n].due, s.seen[n].there = at-first, len(turns)-first
}

// alignSeen aligns where nothing is known but what was seen: a reply is the turn
// after the history that it answered, if this request begins with that history
// and the turn has to do with the reply. A request that carries on from something
// else, such as a branch or a history that was cut or rewritten, is held against
// nothing.
func (s *Session) alignSeen(n int) {
	now := s.seen[n]
	var begun []int // the exchanges whose history this one begins with
	for print := range now.prints {
		for at, exchanges := range s.replied[print] {
			if at < len(now.turns) {
				begun = append(begun, exchanges...)
			}
		}
	}
	slices.Sort(begun)
	for _, i := range slices.Compact(begun) {
		s.looked++
		o := s.seen[i]
		if !o.Replied { // an answer that came after it took its place
			continue
		}
		t := now.turns[o.next()]
		r := &said{o, i}
		if !r.fits(t) {
			continue
		}
		last := len(t.replies) - 1
		if o.open && last >= 0 && t.replies[last].Reply.Finish == codecs.FinishPause {
			t.replies = append(t.replies, r) // it carries the paused reply on
			continue
		}
		if last < 0 || r.likeness(t) >= t.replies[last].likeness(t) {
			t.replies = []*said{r}
		}
	}
}

// next is the ordinal of the turn that a reply to the history is.
func (h *history) next() int {
	if h.open {
		return len(h.turns) - 1
	}
	return len(h.turns)
}

// noteReplied notes which history the last exchange answered, so that later
// requests look only at those that they begin with.
func (s *Session) noteReplied(o *observed) {
	if o.RequestErr != nil {
		return
	}
	if s.replied == nil {
		s.replied = map[uint64]map[int][]int{}
	}
	by := s.replied[o.whole]
	if by == nil {
		by = map[int][]int{}
		s.replied[o.whole] = by
	}
	by[o.next()] = append(by[o.next()], len(s.seen)-1)
}

// fits tells whether a turn can be the echo of a reply at all.
func (r *said) fits(t *turn) bool {
	calls := r.Reply.Calls()
	text, echo := strings.TrimSpace(r.Reply.Text()), strings.TrimSpace(codecs.Message{Parts: t.assistant}.Text())
	if len(calls) == 0 {
		carried := len(t.calls) == 0 || r.Reply.Finish == codecs.FinishPause // by the calls of the next reply
		return carried && (strings.Contains(echo, text) || echo != "" && strings.Contains(text, echo))
	}
	names := map[string]bool{}
	for _, c := range t.calls {
		names[c.Name] = true
	}
	for _, c := range calls {
		if names[c.Name] {
			return true
		}
	}
	return text != "" && text == echo
}

// likeness counts what a reply and a turn have in common.
func (r *said) likeness(t *turn) int {
	have := map[string]bool{codecs.Message{Parts: t.assistant}.Text(): true}
	for _, c := range t.calls {
		have["id "+c.ID], have["call "+c.Name+c.ArgumentsText] = true, true
	}
	n := 0
	if have[r.Reply.Text()] {
		n++
	}
	for _, c := range r.Reply.Calls() {
		for _, key := range []string{"id " + c.ID, "call " + c.Name + c.ArgumentsText} {
			if have[key] {
				n++
			}
		}
	}
	return n
}

// want lists the calls of the replies and finds their echoes.
func (t *turn) want() {
	if len(t.replies) == 0 {
		return
	}
	t.name = fmt.Sprintf("turn %d", t.replies[0].ordinal+1)
	for _, r := range t.replies {
		for _, call := range r.Reply.Calls() {
			t.wanted = append(t.wanted, wanted{ToolCall: call, key: callKey{r.ordinal, call.Pos}, cut: r.cut[call.Pos], echo: -1})
		}
	}
	used := make([]bool, len(t.calls))
	for _, key := range []func(codecs.ToolCall) string{
		func(c codecs.ToolCall) string { return c.ID + "\x00" + c.Name },
		func(c codecs.ToolCall) string { return c.Name + "\x00" + c.ArgumentsText },
		func(c codecs.ToolCall) string { return c.Name },
	} {
		queues := map[string][]int{}
		for k, c := range t.calls {
			if !used[k] {
				queues[key(c)] = append(queues[key(c)], k)
			}
		}
		for n := range t.wanted {
			w := &t.wanted[n]
			if q := queues[key(w.ToolCall)]; w.echo < 0 && len(q) > 0 {
				w.echo, used[q[0]] = q[0], true
				queues[key(w.ToolCall)] = q[1:]
			}
		}
	}
}

// cutAny tells whether the token limit cut a call of the turn.
func (t *turn) cutAny() bool {
	return slices.ContainsFunc(t.wanted, func(w wanted) bool { return w.cut })
}

// answer returns the result that stands in the history for the call at k.
func (t *turn) answer(k int) (codecs.ToolResult, bool) {
	n, ok := t.answers[k]
	if !ok || k < 0 {
		return codecs.ToolResult{}, false
	}
	return t.results[n], true
}

// emptyArguments tells whether a call has no argument, in whatever spelling.
func emptyArguments(c codecs.ToolCall) bool {
	return c.ArgumentsText == "" || jsonx.Equal([]byte(c.ArgumentsText), []byte("{}"))
}
