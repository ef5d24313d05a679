package gemini

import (
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Continue returns the model content of the turn, its parts as they came, and
// one user content with a functionResponse for each result, in the order of the
// calls. With ResultImages or ResultPDF follow_up, media come in one more user
// content after it. A turn without parts has no content.
//
// A call without a result leaves the echo together with its part, and with the
// thoughtSignature on that part: a signature is valid on its own part only, so it
// is never moved to another call. Of parallel calls the first one carries it;
// when that call is dropped, Gemini 3 may refuse the rest of the turn. Answer
// such a call with an error result instead where that matters.
//
// A functionResponse has an id exactly when the call has one. The id of a result
// never stands in for it.
func (Codec) Continue(r codecs.Reply, results []codecs.ToolResult, p codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	turn, err := readEcho(r.Body)
	if err != nil {
		return nil, nil, err
	}
	answered, warnings, err := callIDs(p).Answers(turn.calls, results, r.Body)
	if err != nil {
		return nil, nil, err
	}
	var echo []codecs.Raw
	for i, part := range turn.parts {
		pointer := fmt.Sprintf("/candidates/0/content/parts/%d", i)
		raw, ws, err := turn.echoPart(i, part, answered, len(results) == 0, p, pointer)
		if err != nil {
			return nil, nil, err
		}
		warnings = append(warnings, ws...)
		if raw != nil {
			echo = append(echo, raw)
		}
	}
	var out []codecs.Raw
	if len(echo) > 0 {
		out = append(out, content("model", echo))
	}
	if len(results) == 0 {
		return out, warnings, nil
	}
	notes := wire.Notes{Warnings: warnings}
	var parts, followUp []codecs.Raw
	for _, c := range turn.calls {
		res, ok := answered[c.Pos]
		if !ok {
			continue
		}
		pointer := fmt.Sprintf("/results/%d", c.Pos)
		if turn.emptied[c.Pos] {
			res = wire.RefusedArguments(c, res)
		}
		id := turn.ids[c.Pos]
		if res.ID != c.ID {
			id = jsonx.Quote(res.ID)
		}
		part, more := encodeResult(res, id, p, &notes, pointer)
		parts, followUp = append(parts, part), append(followUp, more...)
	}
	out = append(out, content("user", parts))
	if len(followUp) > 0 {
		out = append(out, content("user", followUp))
	}
	return out, notes.Warnings, nil
}

// echo is a reply body, read for its echo.
type echo struct {
	parts     []jsonx.Value
	malformed bool
	calls     []codecs.ToolCall
	posAt     map[int]int        // index of a part -> ordinal of its call; -1 for a functionCall that is no call
	ids       map[int]codecs.Raw // ordinal -> id as the wire spelled it
	emptied   map[int]bool       // calls whose undecodable arguments go back as {}
}

func readEcho(body codecs.Raw) (*echo, error) {
	root, err := wire.ParseBody(codecs.Gemini, body)
	if err != nil {
		return nil, err
	}
	t := &echo{posAt: map[int]int{}, ids: map[int]codecs.Raw{}, emptied: map[int]bool{}}
	cand := root.Get("candidates").At(0)
	if !cand.Exists() {
		return t, nil
	}
	if t.parts, err = candidateParts(cand); err != nil {
		return nil, err
	}
	t.malformed = isMalformed(cand)
	rd := partReader{malformed: t.malformed}
	for i, part := range t.parts {
		fc := field(part, "functionCall")
		if !fc.Defined() {
			continue
		}
		t.posAt[i] = -1
		for _, p := range rd.read(nil, part, "") {
			if p.Kind == codecs.KindCall {
				t.posAt[i] = p.Call.Pos
				t.calls = append(t.calls, *p.Call)
				if p.Call.ID != "" {
					t.ids[p.Call.Pos] = fc.Get("id").Raw()
				}
			}
		}
	}
	return t, nil
}

// echoPart returns the part as it goes back, nil when it leaves the echo.
func (t *echo) echoPart(i int, part jsonx.Value, answered map[int]codecs.ToolResult, alone bool, p codecs.Profile, pointer string) (codecs.Raw, []codecs.Warning, error) {
	pos, isCall := t.posAt[i]
	switch {
	case !isCall && p.ReasoningEcho == codecs.EchoRefused && field(part, "thought").Bool():
		return nil, []codecs.Warning{codecs.Warnf(codecs.WarnReasoningDropped, pointer, "this engine refuses thoughts: one left the echo")}, nil
	case !isCall:
		return part.Raw(), nil, nil
	}
	key := "functionCall"
	if !part.Get(key).Defined() {
		key = snake(key)
	}
	result, has := answered[pos]
	switch {
	case pos < 0 && t.malformed && alone: // the turn alone goes back unchanged
		return part.Raw(), nil, nil
	case pos < 0 && t.malformed:
		return t.withoutCall(part, key, pointer, codecs.WarnCallDropped, "a malformed call left the echo")
	case pos < 0:
		return t.withoutCall(part, key, pointer, codecs.WarnCallNameless, "a functionCall without a name left the echo")
	case !has && !alone:
		return t.withoutCall(part, key, pointer, codecs.WarnCallDropped,
			fmt.Sprintf("call %d (%s) has no result and left the echo", pos, t.calls[pos].Name))
	}
	raw := part.Raw()
	var err error
	if has && result.ID != t.calls[pos].ID {
		if raw, err = jsonx.Set(raw, "/"+key+"/id", jsonx.Quote(result.ID)); err != nil {
			return nil, nil, err
		}
	}
	if args := jsonx.Of(raw).Get(key).Get("args"); t.calls[pos].ArgumentsErr == "" {
		if args.Defined() && !args.IsObject() { // the text of an object
			raw, err = jsonx.Set(raw, "/"+key+"/args", t.calls[pos].Arguments)
		}
		return raw, nil, err
	}
	t.emptied[pos] = true
	raw, err = jsonx.Set(raw, "/"+key+"/args", []byte("{}"))
	return raw, []codecs.Warning{codecs.Warnf(codecs.WarnArgumentsEmptied, pointer+"/"+key+"/args",
		"arguments of call %d (%s) do not decode; the echo carries {}", pos, t.calls[pos].Name)}, err
}

// withoutCall takes the functionCall off a part: the whole part, unless it holds
// other content too.
func (t *echo) withoutCall(part jsonx.Value, key, pointer, code, text string) (codecs.Raw, []codecs.Warning, error) {
	signed := field(part, "thoughtSignature").Defined()
	for _, m := range part.Members() {
		if k := camel(m.Key); k != "functionCall" && slices.Contains(contentKeys, k) && m.Value.Defined() {
			raw, err := jsonx.Delete(part.Raw(), "/"+key)
			return raw, []codecs.Warning{codecs.Warnf(code, pointer, "%s", text)}, err
		}
	}
	if signed {
		text += ", and its thoughtSignature with it"
	}
	return nil, []codecs.Warning{codecs.Warnf(code, pointer, "%s", text)}, nil
}

// content builds {"role":...,"parts":[...]}.
func content(role string, parts []codecs.Raw) codecs.Raw {
	var f jsonx.Fields
	return f.Str("role", role).Set("parts", jsonx.List(parts...)).Raw()
}
