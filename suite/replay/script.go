package replay

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Script is the engine's side of one conversation, turn by turn.
type Script struct{ Turns []Turn }

// Turn is one answer of the engine.
type Turn struct {
	Status int         // 0 is 200
	Header http.Header // Content-Type is added where it is missing
	Body   []byte      // answers a request that asks for no stream
	// Frames answer one that asks for a stream, piece by piece, in the shape that it
	// asks for (codecs.Shape); nil: Body does.
	Frames map[string][][]byte
	// Mirror are members of the request that the body repeats.
	Mirror []string
	// Says is the turn that Body was rendered from, for who judges the
	// rendering; nil for a tape, a patched body and an error.
	Says *codecs.Reply
}

// CannotSay is the reason why a scenario does not apply to an engine: its wire
// has no word for what a turn says.
type CannotSay string

func (c CannotSay) Error() string { return string(c) }

// FromScenario renders the turns of a scenario as an engine of the codec's
// dialect with that profile, likeness and model would send them; with stream, as streams
// too, which the codec has to be able to write. The error is a CannotSay, or a fault
// of the scenario.
func FromScenario(s fixtures.Scenario, c codecs.Full, p codecs.Profile, l codecs.Likeness, model string, stream bool) (Script, error) {
	r := renderer{codec: c, profile: p, likeness: l, model: model, mode: "off", limit: s.Request.MaxTokens}
	if stream {
		var ok bool
		if r.streams, ok = c.(codecs.StreamRenderer); !ok {
			return Script{}, fmt.Errorf("the codec of %s writes no streams", c.Dialect())
		}
		r.mode = "on"
	}
	var out Script
	for i, t := range s.Turns {
		turn, err := r.turn(t)
		if err != nil {
			return Script{}, fmt.Errorf("%s: turns[%d]: %w", s.ID, i, err)
		}
		out.Turns = append(out.Turns, turn)
	}
	return out, nil
}

// FromTape takes the engine's side from recorded or documented exchanges. The
// requests of the tape play no part: its replies answer any client.
func FromTape(t cassettes.Tape) Script {
	var out Script
	for _, x := range t.Exchanges {
		out.Turns = append(out.Turns, Turn{Status: x.Response.Status, Header: x.Response.Header, Body: x.Response.Body})
	}
	return out
}

type renderer struct {
	codec    codecs.Full
	profile  codecs.Profile
	likeness codecs.Likeness
	model    string
	mode     string // off or on, as scenarios name it
	limit    int    // of tokens, as the request names it
	streams  codecs.StreamRenderer
}

func (r renderer) turn(t fixtures.Turn) (Turn, error) {
	if t.Error != nil {
		return r.failure(*t.Error), nil
	}
	t.Parts = forDialect(t.Parts, r.codec.Dialect())
	says, err := neutral.Reply(t.Reply())
	if err != nil {
		return Turn{}, err
	}
	says.Model = r.model
	says = wire.Alike(says, r.likeness)
	says.Usage = r.usage(says)
	body, warnings, err := r.codec.RenderReply(says, r.profile, r.likeness)
	if err != nil {
		return Turn{}, err
	}
	for _, w := range warnings {
		// Other losses show in the checks; a turn that ends in another way than
		// the scenario's is another scenario.
		if w.Code == codecs.WarnLossy && w.Pointer == "/finish" {
			return Turn{}, CannotSay(w.Text)
		}
	}
	turn := Turn{Body: body, Says: &says, Mirror: r.likeness.Mirror}
	streamed := says
	if patches := t.Patches(string(r.codec.Dialect()), r.mode); len(patches) > 0 {
		if turn.Body, err = patched(body, patches); err != nil {
			return Turn{}, err
		}
		turn.Says = nil
		if r.streams != nil { // a stream says what the patched body says
			if streamed, err = r.codec.Reply(turn.Body, r.profile); err != nil {
				return Turn{}, CannotSay("what the engine's body says here has no stream form: " + err.Error())
			}
		}
	}
	if r.streams == nil {
		return turn, nil
	}
	turn.Frames = map[string][][]byte{}
	for _, shape := range r.codec.Wire().Shapes {
		if turn.Frames[shape.Name], _, err = r.streams.RenderStream(streamed, r.profile, r.likeness, shape.Name); err != nil {
			return Turn{}, err
		}
	}
	return turn, nil
}

// usage counts what a turn says, roughly, where the scenario does not: no engine
// answers for nothing, and one that the limit ended has used it up.
func (r renderer) usage(says codecs.Reply) *codecs.Usage {
	if says.Usage != nil {
		return says.Usage
	}
	const word = 4 // bytes a token
	out := &codecs.Usage{Input: 40, Output: 3 + int64(len(says.Text())/word), Reasoning: int64(len(says.Reasoning()) / word)}
	for _, c := range says.Calls() {
		out.Output += 8 + int64(len(c.Name)+len(c.ArgumentsText))/word
	}
	if says.Finish == codecs.FinishLength && r.limit > 0 {
		out.Output, out.Reasoning = int64(r.limit), min(out.Reasoning, int64(r.limit))
		if r.likeness.Uncounted {
			out.Output += out.Reasoning
		}
		return out
	}
	out.Output += out.Reasoning
	return out
}

func (r renderer) failure(e fixtures.TurnError) Turn {
	answer := r.codec.RenderError(&codecs.ProviderError{
		Dialect: r.codec.Dialect(), Status: e.Status, Kind: codecs.ErrorKind(e.Kind), Code: e.Code, Message: e.Message, RetryAfter: e.Headers["Retry-After"],
	}, r.profile, r.likeness)
	turn := Turn{Status: answer.Status, Header: http.Header{}, Body: answer.Body}
	if e.Status == http.StatusOK { // an error inside a reply
		turn.Status = http.StatusOK
	}
	for k, v := range answer.Header {
		turn.Header[k] = v
	}
	for k, v := range e.Headers {
		turn.Header.Set(k, v)
	}
	return turn
}

// forDialect leaves out parts that a scenario gives to other dialects only:
// server items have no neutral form.
func forDialect(parts []fixtures.Raw, d codecs.Dialect) []fixtures.Raw {
	out := []fixtures.Raw{}
	for _, raw := range parts {
		only := jsonx.Of(raw).Get("only").Items()
		if len(only) == 0 || slices.ContainsFunc(only, func(v jsonx.Value) bool { return v.Str() == string(d) }) {
			out = append(out, raw)
		}
	}
	return out
}

// patched makes the wire changes of a turn, in order: what a real engine sends
// in place of the neutral form.
func patched(body codecs.Raw, patches []fixtures.Patch) (codecs.Raw, error) {
	body = bytes.Clone(body)
	var err error
	for _, p := range patches {
		if p.Remove {
			body, err = jsonx.Delete(body, p.Path)
		} else {
			body, err = jsonx.Set(body, p.Path, p.Set)
		}
		if err != nil {
			return nil, fmt.Errorf("wire patch: %w", err)
		}
	}
	return body, nil
}
