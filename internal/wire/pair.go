package wire

import (
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// IDs says what a wire wants of the ids of calls. The zero value is a wire on
// which an id is optional: a call has the one that it came with.
type IDs struct {
	None   bool                 // the wire has no ids
	Adopt  bool                 // a call without an id takes that of its result
	Need   bool                 // every call goes out with one
	Whole  bool                 // no two calls of a history may share one; else no two of a turn
	Prefix string               // of made ids
	Rule   string               // Profile.IDRule
	Fits   func(id string) bool // whether the wire takes an id that came from elsewhere; nil: any
}

// settled is what became of the id of a call.
type settled struct{ id, code, text string }

// settle gives a call its id: its own, else that of its result, else, where the
// wire wants one or another call has it, a made one. seen holds those given so
// far; seed and pos are what a made one hangs on. trusted says that the id of
// the call came from this wire.
func (s IDs) settle(c codecs.ToolCall, result string, trusted bool, seen map[string]bool, seed func() codecs.Raw) settled {
	id := c.ID
	if s.None {
		return settled{id: id}
	}
	if id == "" && s.Adopt {
		id = result
	}
	if id == "" && !s.Need {
		return settled{}
	}
	if id != "" && !seen[id] && (s.Fits == nil || trusted && c.ID != "" || s.Fits(id)) {
		seen[id] = true
		return settled{id: id}
	}
	from := seed()
	made := MadeID(from, c.Pos, s.Prefix, s.Rule)
	for n := c.Pos; seen[made]; {
		n += 1 << 20
		made = MadeID(from, n, s.Prefix, s.Rule)
	}
	out := settled{made, codecs.WarnIDMade, fmt.Sprintf("call %d (%s) came without an id; %s stands in call and result", c.Pos, c.Name, made)}
	switch {
	case seen[id]:
		out.code, out.text = codecs.WarnIDRepeated, fmt.Sprintf("call %d (%s) has the id %q of a call before it; %s stands in call and result", c.Pos, c.Name, id, made)
	case id != "":
		out.text = fmt.Sprintf("the id %q of call %d (%s) is of a shape that the wire refuses; %s stands in call and result", id, c.Pos, c.Name, made)
	}
	seen[made] = true
	return out
}

// Answers pairs results with the calls of a reply. They come back by the
// ordinal of their call, each with its ordinal, its name and the id that both go
// out under, which is another than the call's where that was missing or stood in
// a call before. body is what made ids hang on.
func (s IDs) Answers(calls []codecs.ToolCall, results []codecs.ToolResult, body codecs.Raw) (map[int]codecs.ToolResult, []codecs.Warning, error) {
	answers, errs := codecs.NewTurn(calls).AnswerAll(results)
	byCall := make([]int, len(calls)) // index of the result, 1 more
	for i, at := range answers {
		if errs != nil && errs[i] != nil {
			return nil, nil, fmt.Errorf("results[%d]: %w", i, errs[i])
		}
		byCall[at] = i + 1
	}
	out := make(map[int]codecs.ToolResult, len(results))
	seen := map[string]bool{}
	var warnings []codecs.Warning
	for at, c := range calls {
		if byCall[at] == 0 {
			continue
		}
		r := results[byCall[at]-1]
		id := s.settle(c, r.ID, true, seen, func() codecs.Raw { return body })
		if id.code != "" {
			warnings = append(warnings, codecs.Warnf(id.code, fmt.Sprintf("/results/%d", c.Pos), "%s", id.text))
		}
		pos := c.Pos
		r.Pos, r.ID, r.Name = &pos, id.id, c.Name
		out[pos] = r
	}
	return out, warnings, nil
}

// Message is a message of a history on its way out. One with results holds
// nothing else.
type Message struct {
	codecs.Message
	Index int // in the request
	parts []place
}

// At is the JSON pointer of the message in the neutral request.
func (m Message) At() string { return fmt.Sprintf("/messages/%d", m.Index) }

// Results tells whether the message holds results.
func (m Message) Results() bool { return isResults(m.Message) }

// ToolResults returns the results that the message holds.
func (m Message) ToolResults() []codecs.ToolResult {
	out := make([]codecs.ToolResult, len(m.Parts))
	for i, p := range m.Parts {
		out[i] = *p.Result
	}
	return out
}

// Part is the JSON pointer of a part of the message, wherever it stands now.
func (m Message) Part(i int) string { return m.parts[i].pointer() }

func (m *Message) add(p codecs.Part, at place) {
	m.Parts, m.parts = append(m.Parts, p), append(m.parts, at)
}

// History brings the messages of a request into the order that every wire
// takes, and pairs them: the results of a message with calls stand in one tool
// message behind it, whatever stood between. Where calls of a turn have results,
// one without is left out, as no wire takes it.
type History struct {
	IDs     IDs
	Emptied func(codecs.ToolCall) bool // calls that {} goes out for: their results say what it was

	// What reads native messages, for results that answer calls in them: the
	// codec, and the member of a request body that holds its messages.
	Reader  codecs.ServerHalf
	List    string
	Profile codecs.Profile
	ByOrder bool // order pairs on this wire: results stand in the order of the calls
	Joins   bool // neighbouring messages with calls become one: the results come behind the last
	Loose   bool // results may answer calls that the provider keeps
}

// Messages returns the history as it goes out. Calls have the ordinal of their
// turn and the id of the wire, results the ordinal, id and name of their call. A
// result that answers no call is an error.
func (h History) Messages(messages []codecs.Message) ([]Message, []codecs.Warning, error) {
	p := pairing{History: h, seen: map[string]bool{}, calls: map[place]codecs.ToolCall{}, gone: map[place]bool{}, behind: map[int]*Message{}}
	p.flatten(messages)
	for _, round := range rounds(p.flat) {
		if err := p.round(round); err != nil {
			return nil, nil, err
		}
	}
	return p.out(), p.warnings, nil
}

// pairing is a history while it is paired. Native messages that results may
// refer to stand in it as what they say; from has the index of each message in
// the request.
type pairing struct {
	History
	flat   []codecs.Message
	from   []int
	native []codecs.Message // by message of flat: the one that goes out in its place, or nothing
	read   []bool           // by message of flat: read from a native one

	seen     map[string]bool // ids so far
	calls    map[place]codecs.ToolCall
	gone     map[place]bool   // what does not stay where it was
	behind   map[int]*Message // results, by the message that they come after
	warnings []codecs.Warning
}

func (p *pairing) flatten(messages []codecs.Message) {
	last := -1 // the last message with a result
	for i, m := range messages {
		if m.Native == nil && slices.ContainsFunc(m.Parts, isResult) {
			last = i
		}
	}
	for i, m := range messages {
		said := []codecs.Message{m}
		if m.Native != nil && i < last {
			body := (&jsonx.Fields{}).Set(p.List, jsonx.List(m.Native...)).Raw()
			if req, _, err := p.Reader.ParseRequest(codecs.In{Body: body}, p.Profile); err == nil && len(req.Messages) > 0 {
				said = req.Messages
			} else {
				p.Loose = true // it may hold anything
			}
		}
		for j, s := range said {
			p.flat, p.from, p.read = append(p.flat, s), append(p.from, i), append(p.read, m.Native != nil)
			if p.native = append(p.native, codecs.Message{}); j == 0 && m.Native != nil {
				p.native[len(p.native)-1] = m
			}
		}
	}
}

func isResult(p codecs.Part) bool { return p.Kind == codecs.KindResult && p.Result != nil }

func isResults(m codecs.Message) bool { return len(m.Parts) > 0 && isResult(m.Parts[0]) }

// place is where a part of flat stands in the request.
func (p *pairing) place(at place) place {
	return place{Message: p.from[at.Message], Part: at.Part}
}

func (p *pairing) round(round round) error {
	if !p.IDs.Whole {
		p.seen = map[string]bool{}
	}
	byCall := make([]int, len(round.Calls)) // index of the result, 1 more
	for i, at := range round.Results {
		call := round.Answers[i]
		if call >= 0 {
			byCall[call] = i + 1
			continue
		}
		r := p.flat[at.Message].Parts[at.Part].Result
		if p.read[at.Message] || p.Loose && (r.ID != "" || r.Name != "") {
			continue
		}
		where := p.place(at)
		return fmt.Errorf("messages[%d].parts[%d]: result of %q with the id %q: %w; give it the id or the ordinal of a call of the turn before it, or leave it out",
			where.Message, where.Part, r.Name, r.ID, round.Errs[i])
	}
	calls := make([]codecs.ToolCall, len(round.Calls))
	some := slices.ContainsFunc(byCall, func(i int) bool { return i > 0 })
	for i, at := range round.Calls {
		calls[i] = *p.flat[at.Message].Parts[at.Part].Call
		calls[i].Pos = i
		if p.read[at.Message] {
			p.seen[calls[i].ID] = true
			continue
		}
		result := ""
		if byCall[i] > 0 {
			from := round.Results[byCall[i]-1]
			result = p.flat[from.Message].Parts[from.Part].Result.ID
		}
		if some && byCall[i] == 0 { // as in Continue
			p.gone[at] = true
			p.warnings = append(p.warnings, codecs.Warnf(codecs.WarnCallDropped, p.place(at).pointer(), "call %d (%s) has no result and is left out", i, calls[i].Name))
			continue
		}
		p.give(&calls[i], result, at)
	}
	order := byCall
	if !p.ByOrder { // as they came
		order = make([]int, len(round.Results))
		for i := range order {
			order[i] = i + 1
		}
	}
	for _, i := range order {
		if i > 0 && round.Answers[i-1] >= 0 && !p.read[round.Results[i-1].Message] {
			p.answer(round, calls, i-1)
		}
	}
	return nil
}

// answer puts the result i of a round behind the call that it answers.
func (p *pairing) answer(round round, calls []codecs.ToolCall, i int) {
	from, call := round.Results[i], round.Answers[i]
	at, c := round.Calls[call], calls[call]
	part := p.flat[from.Message].Parts[from.Part]
	r := *part.Result
	r.Pos, r.Name = &call, c.Name
	if c.ID != "" || !p.read[at.Message] || !p.IDs.Adopt {
		r.ID = c.ID
	}
	if p.Emptied != nil && !p.read[at.Message] && p.Emptied(c) {
		r = RefusedArguments(c, r)
	}
	part.Result = &r
	p.gone[from] = true
	after := at.Message
	if p.Joins {
		after = round.Calls[len(round.Calls)-1].Message
	}
	if p.behind[after] == nil {
		p.behind[after] = &Message{Message: codecs.Message{Role: "tool"}, Index: p.from[from.Message]}
	}
	p.behind[after].add(part, p.place(from))
}

// give sets the id of a call.
func (p *pairing) give(c *codecs.ToolCall, result string, at place) {
	where := p.place(at)
	id := p.IDs.settle(*c, result, false, p.seen, func() codecs.Raw {
		return codecs.Raw(fmt.Sprintf("%d %s %s %s", where.Message, c.ID, c.Name, c.ArgumentsText))
	})
	if id.code != "" {
		p.warnings = append(p.warnings, codecs.Warnf(id.code, where.pointer(), "%s", id.text))
	}
	c.ID = id.id
	p.calls[at] = *c
}

// out writes the history anew.
func (p *pairing) out() []Message {
	var out []Message
	for i, m := range p.flat {
		if native := p.native[i]; native.Native != nil {
			out = append(out, Message{Message: native, Index: p.from[i]})
		}
		if !p.read[i] {
			out = append(out, p.split(i, m)...)
		}
		if results := p.behind[i]; results != nil {
			out = append(out, *results)
		}
	}
	return out
}

// split gives a message without what left it, and the results that answer no
// call here before the rest.
func (p *pairing) split(i int, m codecs.Message) (out []Message) {
	loose, rest := Message{Message: m, Index: p.from[i]}, Message{Message: m, Index: p.from[i]}
	loose.Role, loose.Parts, rest.Parts = "tool", nil, nil
	if !isResults(m) {
		rest.Parts, rest.parts = make([]codecs.Part, 0, len(m.Parts)), make([]place, 0, len(m.Parts))
	}
	for j, part := range m.Parts {
		at := place{Message: i, Part: j}
		if c, ok := p.calls[at]; ok {
			part.Call = &c
		}
		switch {
		case p.gone[at]:
		case isResult(part):
			loose.add(part, p.place(at))
		default:
			rest.add(part, p.place(at))
		}
	}
	if len(loose.Parts) > 0 {
		out = append(out, loose)
	}
	if len(rest.Parts) > 0 || len(m.Parts) == 0 {
		out = append(out, rest)
	}
	return out
}

// Pair sets the ordinal and the name of the results in a history that was read
// from the wire. at has where they stand there, in order. One that answers no
// call is left as it came, with a warning; so is, where ids says that the wire
// wants them, one that another thing than its id paired.
func Pair(messages []codecs.Message, at []string, ids bool) []codecs.Warning {
	where := map[place]string{}
	for i, m := range messages {
		for j, p := range m.Parts {
			if isResult(p) && len(where) < len(at) {
				where[place{Message: i, Part: j}] = at[len(where)]
			}
		}
	}
	var warnings []codecs.Warning
	for _, round := range rounds(messages) {
		for i, place := range round.Results {
			r := messages[place.Message].Parts[place.Part].Result
			call := round.Answers[i]
			if call < 0 {
				warnings = append(warnings, codecs.Warnf(codecs.WarnResultOrphan, where[place], "%v", round.Errs[i]))
				continue
			}
			at := round.Calls[call]
			c := messages[at.Message].Parts[at.Part].Call
			if ids && c.ID != "" && r.ID != c.ID {
				warnings = append(warnings, codecs.Warnf(codecs.WarnRequestForm, where[place], "the result has the id %q, its call %q; it was paired by name or order", r.ID, c.ID))
			}
			pos := call
			r.Pos, r.Name = &pos, c.Name
		}
	}
	return warnings
}
