package verify

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/texts"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/suite/judge"
)

// Continuations is what the continuation law found: wherever a recorded request
// answers the calls of a recorded reply, the reply is continued with the recorded
// results by the codec, and both requests, read, are held against the reply.
type Continuations struct {
	Continuations int            `json:"continuations"`
	Equal         int            `json:"equal"`        // the recorded request carries what the reply had, as ours does
	ByReference   int            `json:"by_reference"` // the recorded one only names the reply: ours alone was compared
	Differences   map[string]int `json:"differences"`  // by class: the recorded request differs from the reply, ours does not
	OursWrong     []Place        `json:"ours_wrong"`
	Unanswered    int            `json:"unanswered"` // replies with calls that no later request answers

	found map[string][]Difference
}

// Difference is one place where a recorded request differs from the reply that it
// carries on. What it had to carry and what it does are bounded.
type Difference struct {
	Place
	Class string `json:"class"` // docs/recordings.md lists them
	Want  string `json:"want"`
	Got   string `json:"got"`
}

// Samples picks up to n differences of a class, the same ones each time.
func (c Continuations) Samples(class string, n int) []Difference {
	list := c.found[class]
	seeded := rand.New(rand.NewPCG(uint64(len(list)), 1))
	order := seeded.Perm(len(list))
	if len(order) > n {
		order = order[:n]
	}
	slices.Sort(order)
	var out []Difference
	for _, i := range order {
		out = append(out, list[i])
	}
	return out
}

// continuing follows one recording.
type continuing struct {
	judge.Session
	name     string
	exchange []int // of the file, by ordinal of the session
	requests []codecs.Request
	open     map[int]codecs.Reply // replies with calls that nothing answers so far
}

// follow reads one exchange of a recording: its request may answer earlier
// replies, its reply may have calls.
func (c *Continuations) follow(s *continuing, x cassettes.Exchange, in codecs.In, i int) {
	s.Request(in)
	s.exchange, s.requests = append(s.exchange, i), append(s.requests, s.Exchange().Request)
	for _, e := range s.Echoes() {
		for _, ordinal := range e.Ordinals {
			delete(s.open, ordinal)
		}
		c.hold(s, e, Place{File: s.name, Exchange: i})
	}
	s.Reply(codecs.Answer{Status: x.Response.Status, Header: x.Response.Header, Body: x.Response.Body})
	if seen := s.Exchange(); seen.Replied && len(seen.Reply.Calls()) > 0 {
		s.open[len(s.exchange)-1] = seen.Reply
	}
}

// end counts the replies that no request answers, and those that one answers
// within a history that is not the one that the reply came to.
func (c *Continuations) end(s *continuing) {
	if s == nil {
		return
	}
	for ordinal, reply := range s.open {
		c.Unanswered++
		ids := map[string]bool{}
		for _, call := range reply.Calls() {
			ids[call.ID] = call.ID != ""
		}
		for later := ordinal + 1; later < len(s.requests); later++ {
			if id := answers(s.requests[later], ids); id != "" {
				c.differ(Difference{Place{File: s.name, Exchange: s.exchange[later]}, "history_rewritten", fmt.Sprintf("the history that reply %d came to", s.exchange[ordinal]), "another one, with a result for its call " + id})
				break
			}
		}
	}
}

func answers(req codecs.Request, ids map[string]bool) string {
	for _, m := range req.Messages {
		for _, p := range m.Parts {
			if p.Kind == codecs.KindResult && p.Result != nil && ids[p.Result.ID] {
				return p.Result.ID
			}
		}
	}
	return ""
}

func (c *Continuations) differ(d Difference) {
	d.Want, d.Got = texts.Bounded(d.Want, mostShown), texts.Bounded(d.Got, mostShown)
	c.Differences[d.Class]++
	c.found[d.Class] = append(c.found[d.Class], d)
}

// mostShown keeps a report small when a body is large.
const mostShown = 300

// hold compares one continuation, theirs and ours, with the replies.
func (c *Continuations) hold(s *continuing, e judge.Echo, at Place) {
	c.Continuations++
	ours, err := continued(e)
	wrong := ""
	if err != nil {
		wrong = err.Error()
	} else if found := ours.against(e); len(found) > 0 {
		wrong = fmt.Sprintf("%s: expected %s, ours has %s", found[0].Class, texts.Bounded(found[0].Want, mostShown), texts.Bounded(found[0].Got, mostShown))
	}
	if wrong != "" {
		at.Error = fmt.Sprintf("our continuation of reply %d: %s", s.exchange[e.Ordinals[0]], wrong)
		c.OursWrong = append(c.OursWrong, at)
		return
	}
	if e.ByReference {
		c.ByReference++
		return
	}
	theirs := carried{parts: e.Parts, results: e.Results}
	for _, call := range e.Calls {
		theirs.echo, theirs.result = append(theirs.echo, call.Echo), append(theirs.result, call.Result)
	}
	found := theirs.against(e)
	if len(found) == 0 {
		c.Equal++
	}
	for _, d := range found {
		d.Place = at
		c.differ(d)
	}
}

// carried is how a request carries the replies of an echo.
type carried struct {
	parts        []codecs.Part // of the turn
	results      []codecs.ToolResult
	echo, result []int // by call of the replies: its place among the calls of parts, and that of its result; -1 for none
}

// continued lets the codec continue the replies with the results of an echo, and
// reads what the request holds then.
func continued(e judge.Echo) (carried, error) {
	codec, profile := e.Replies[0].Codec, e.Replies[0].Profile
	out := carried{}
	kept := 0
	req := codecs.Request{Model: "m", Messages: []codecs.Message{{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: "?"}}}}}
	for i, r := range e.Replies {
		var results []codecs.ToolResult
		for _, call := range e.Calls {
			if call.Reply != i {
				continue
			}
			at := -1
			if call.Result >= 0 {
				result := e.Results[call.Result]
				pos := call.Pos
				result.Pos, result.ID, result.Name = &pos, call.ID, call.Name
				results = append(results, result)
				at = kept
				kept++
			}
			out.echo = append(out.echo, at)
		}
		native, _, err := codec.Continue(r.Reply, results, profile)
		if err != nil {
			return out, err
		}
		req.Messages = append(req.Messages, codecs.Message{Role: "assistant", Native: native})
	}
	body, _, err := codec.Request(req, profile)
	if err != nil {
		return out, err
	}
	read, _, err := codec.ParseRequest(codecs.Post(codec.Endpoint(req.Model, false), body), profile)
	if err != nil {
		return out, err
	}
	for _, m := range read.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Kind == codecs.KindResult && p.Result != nil:
				out.results = append(out.results, *p.Result)
			case m.Role == "assistant":
				out.parts = append(out.parts, p)
			}
		}
	}
	calledBy, errs := codecs.NewTurn(codecs.Reply{Parts: out.parts}.Calls()).AnswerAll(out.results)
	for _, err := range errs {
		if err != nil {
			return out, err
		}
	}
	for _, at := range out.echo {
		out.result = append(out.result, slices.Index(calledBy, at))
		if at < 0 {
			out.result[len(out.result)-1] = -1
		}
	}
	return out, nil
}

// against lists what of the replies and the results is not there, or not as it
// came.
func (g carried) against(e judge.Echo) (found []Difference) {
	say := func(class, want, got string) {
		found = append(found, Difference{Class: class, Want: want, Got: got})
	}
	g.calls(e, say)
	var want []codecs.Part
	for _, r := range e.Replies {
		want = append(want, r.Reply.Parts...)
	}
	if text, got := flat(want, codecs.KindText), flat(g.parts, codecs.KindText); !strings.Contains(got, text) {
		say(lostOr("text", got), text, got)
	}
	if e.ReasoningDue {
		text, got := flat(want, codecs.KindReasoning), flat(g.parts, codecs.KindReasoning)
		if !strings.Contains(got, text) {
			say(lostOr("reasoning", got), text, got)
		}
		g.reasoningSignatures(want, say)
	}
	if w := e.Replies[0].Codec.Wire(); w.EchoesWhole && e.Replies[0].Profile.EchoItems == nil {
		items(want, g.parts, say)
	}
	return found
}

func lostOr(what, got string) string {
	if got == "" {
		return what + "_lost"
	}
	return what + "_changed"
}

// flat is the text of the parts of a kind, without white space, which readers and
// writers trim.
func flat(parts []codecs.Part, kind codecs.Kind) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Kind == kind {
			b.WriteString(wire.StripSpace(p.Text))
		}
	}
	return b.String()
}

func (g carried) calls(e judge.Echo, say func(class, want, got string)) {
	have := codecs.Reply{Parts: g.parts}.Calls()
	used := make([]bool, len(have))
	for n, want := range e.Calls {
		k := g.echo[n]
		if k >= 0 && k < len(have) {
			used[k] = true
		}
		switch {
		case want.Result < 0 && k >= 0:
			say("call_unanswered", "no call without a result beside answered ones", want.Name)
			continue
		case want.Result < 0:
			continue
		case k < 0 || k >= len(have):
			say("call_lost", want.Name+" "+want.ID, "none")
			continue
		}
		got := have[k]
		if want.ID != "" && got.ID != want.ID {
			say("id_changed", want.ID, got.ID)
		}
		if got.Name != want.Name {
			say("name_changed", want.Name, got.Name)
		}
		arguments(want.ToolCall, got, say)
		sameSignature("signature", want.Signature, got.Signature, say)
		if g.result[n] < 0 {
			say("result_lost", "a result for "+want.Name, "none")
		} else if is, due := g.results[g.result[n]], e.Results[want.Result]; !sameResult(is, due) {
			say("result_changed", wire.ResultText(due), wire.ResultText(is))
		}
	}
	for k, there := range used {
		if !there {
			say("call_added", "the calls of the reply", have[k].Name+" "+have[k].ID)
		}
	}
	if g.parts != nil && len(g.results) > 0 {
		answered := 0
		for _, at := range g.result {
			if at >= 0 {
				answered++
			}
		}
		if answered < len(g.results) {
			say("result_added", fmt.Sprintf("%d results", answered), fmt.Sprint(len(g.results)))
		}
	}
}

// arguments that are no JSON stay, or become the empty object where the wire has
// no place for them.
func arguments(want, got codecs.ToolCall, say func(class, want, got string)) {
	empty := func(c codecs.ToolCall) bool { return c.ArgumentsText == "" || jsonx.Equal(c.Arguments, []byte("{}")) }
	switch {
	case got.ArgumentsText == want.ArgumentsText || empty(got) && (empty(want) || want.Arguments == nil):
	case jsonx.Equal(want.Arguments, got.Arguments):
		say("arguments_respelled", want.ArgumentsText, got.ArgumentsText)
	default:
		say("arguments_changed", want.ArgumentsText, got.ArgumentsText)
	}
}

func sameSignature(class, want, got string, say func(class, want, got string)) {
	switch {
	case want == "" || got == want:
	case got == "":
		say(class+"_lost", want, "none")
	case judge.SameBase64(want, got):
		say(class+"_respelled", want, got)
	default:
		say(class+"_changed", want, got)
	}
}

// reasoningSignatures looks for the signature of each reasoning part: for the same
// one, else for what stands in its place.
func (g carried) reasoningSignatures(want []codecs.Part, say func(class, want, got string)) {
	var due, have []string
	for _, p := range want {
		if p.Kind == codecs.KindReasoning && p.Signature != "" {
			due = append(due, p.Signature)
		}
	}
	for _, p := range g.parts {
		if p.Kind != codecs.KindReasoning || p.Signature == "" {
			continue
		}
		if at := slices.Index(due, p.Signature); at >= 0 {
			due = slices.Delete(due, at, at+1)
		} else {
			have = append(have, p.Signature)
		}
	}
	for i, signature := range due {
		got := ""
		if i < len(have) {
			got = have[i]
		}
		sameSignature("reasoning_signature", signature, got, say)
	}
}

// items looks for the blocks that the provider ran and those of unknown types.
func items(want, got []codecs.Part, say func(class, want, got string)) {
	is := func(p codecs.Part) bool { return p.Kind == codecs.KindServer || p.Kind == codecs.KindOpaque }
	same, left := map[string]int{}, map[string][]string{}
	for _, p := range got {
		if is(p) || p.Kind == codecs.KindClient {
			same[p.Type+judge.Alike(p.Extra)]++
		}
	}
	var missing []codecs.Part
	for _, p := range want {
		if key := p.Type + judge.Alike(p.Extra); is(p) && same[key] > 0 {
			same[key]--
		} else if is(p) {
			missing = append(missing, p)
		}
	}
	for _, p := range got {
		if key := p.Type + judge.Alike(p.Extra); same[key] > 0 {
			same[key]--
			left[p.Type] = append(left[p.Type], string(p.Extra))
		}
	}
	for _, p := range missing {
		changed := ""
		if of := left[p.Type]; len(of) > 0 {
			changed, left[p.Type] = of[0], of[1:]
		}
		say(lostOr("item", changed), string(p.Extra), changed)
	}
}

// sameResult compares what a tool said, media by their names and sizes, and whether
// it failed: whether media go out beside the text is for the profile.
func sameResult(a, b codecs.ToolResult) bool {
	return a.IsError == b.IsError && wire.ResultText(a) == wire.ResultText(b)
}
