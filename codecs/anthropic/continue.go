package anthropic

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Continue echoes the content of the turn and answers its calls in one user
// message, in the order of the calls.
//
// The content goes back as it came, every block byte for byte, but for what the
// API refuses:
//
//   - text blocks of nothing but white space, which the API itself sometimes
//     sends, and thinking without text and signature (a warning);
//   - calls without a name;
//   - when there are results, calls without one, and thinking that would then
//     end the message;
//   - thinking under ReasoningEcho refused.
//
// A server_tool_use without its result stays: the result comes in a later
// reply. A turn whose content is null or empty, or that nothing remains of, has
// no echo: an assistant message needs content. Results are impossible then, so
// Continue returns no messages, with a warning.
func (Codec) Continue(r codecs.Reply, results []codecs.ToolResult, p codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	v, err := wire.ParseBody(codecs.Anthropic, r.Body)
	if err != nil {
		return nil, nil, err
	}
	e := echo{profile: p, content: v.Get("content"), writer: newResultWriter(p)}
	e.readCalls()
	if e.results, e.Warnings, err = callIDs(p).Answers(e.calls, results, r.Body); err != nil {
		return nil, nil, err
	}
	assistant, err := e.assistant()
	if err != nil {
		return nil, nil, err
	}
	var out []codecs.Raw
	if assistant != nil {
		out = append(out, (&jsonx.Fields{}).Str("role", "assistant").Set("content", assistant).Raw())
	}
	if len(e.results) > 0 {
		out = append(out, e.user())
	}
	return out, append(e.Warnings, e.writer.Warnings...), nil
}

// echo is one turn on its way back.
type echo struct {
	wire.Notes
	profile codecs.Profile
	content jsonx.Value
	calls   []codecs.ToolCall
	results map[int]codecs.ToolResult
	writer  *resultWriter
}

// readCalls finds the calls by ordinal, as Reply numbers them.
func (e *echo) readCalls() {
	for _, b := range e.content.Items() {
		if isCall(b) {
			call, _ := readCall(b, "", len(e.calls))
			e.calls = append(e.calls, call)
		}
	}
}

// assistant returns the content of the echo, nil when there is none.
func (e *echo) assistant() (codecs.Raw, error) {
	if s, ok := e.content.Text(); ok && strings.TrimSpace(s) != "" {
		return e.content.Raw(), nil
	}
	var kept []codecs.Raw
	changed, dropped, pos := false, false, 0
	for i, b := range e.content.Items() {
		at := fmt.Sprintf("/content/%d", i)
		block := b.Raw()
		switch typ := b.Get("type").Str(); {
		case typ == typeText && strings.TrimSpace(b.Get("text").Str()) == "":
			e.Warn(codecs.WarnItemDropped, at, "a text block of nothing but white space left the echo: the API refuses it")
			block = nil
		case typ == typeThinking && b.Get("thinking").Str() == "" && b.Get("signature").Str() == "":
			e.Warn(codecs.WarnReasoningDropped, at, "thinking without text and signature left the echo: nothing is in it")
			block = nil
		case (typ == typeThinking || typ == typeRedacted) && e.profile.ReasoningEcho == codecs.EchoRefused:
			e.Warn(codecs.WarnReasoningDropped, at, "%s left the echo: this engine refuses it", typ)
			block = nil
		case typ == typeToolUse && !isCall(b):
			block = nil // Reply warned
		case typ == typeToolUse:
			call := e.calls[pos]
			pos++
			var err error
			if block, err = e.call(call, block, at); err != nil {
				return nil, err
			}
			dropped = dropped || block == nil
		}
		if block == nil {
			changed = true
			continue
		}
		changed = changed || string(block) != string(b.Raw())
		kept = append(kept, block)
	}
	if dropped {
		kept = e.trimThinking(kept)
	}
	switch {
	case len(kept) == 0:
		e.Warn(codecs.WarnItemDropped, "/content", "the turn has no content that can be echoed; no assistant message stands for it")
		return nil, nil
	case !changed:
		return e.content.Raw(), nil
	}
	return jsonx.List(kept...), nil
}

// call returns the echo of one call, nil when it leaves.
func (e *echo) call(call codecs.ToolCall, block codecs.Raw, at string) (codecs.Raw, error) {
	if len(e.results) == 0 { // the turn alone: unchanged
		return block, nil
	}
	r, answered := e.results[call.Pos]
	if !answered {
		e.Warn(codecs.WarnCallDropped, at, "call %d (%s) left the echo: it has no result", call.Pos, call.Name)
		return nil, nil
	}
	var err error
	if call.ID != r.ID {
		if block, err = jsonx.Set(block, "/id", jsonx.Quote(r.ID)); err != nil {
			return nil, err
		}
	}
	if e.empties(call) {
		e.Warn(codecs.WarnArgumentsEmptied, at+"/input", "undecodable arguments of %s go back as {}", call.Name)
		return jsonx.Set(block, "/input", []byte("{}"))
	}
	if call.Arguments != nil && !jsonx.Of(block).Get("input").IsObject() && e.profile.UndecodableEcho != codecs.UndecodableVerbatim {
		return jsonx.Set(block, "/input", call.Arguments)
	}
	return block, nil
}

// empties tells whether the arguments of a call go back as {}: the API takes
// objects only.
func (e *echo) empties(call codecs.ToolCall) bool {
	return call.ArgumentsErr != "" && e.profile.UndecodableEcho != codecs.UndecodableVerbatim
}

// trimThinking cuts thinking off the end: the API refuses a message that ends
// in it, and it belonged to the call that left.
func (e *echo) trimThinking(kept []codecs.Raw) []codecs.Raw {
	for len(kept) > 0 {
		typ := jsonx.Of(kept[len(kept)-1]).Get("type").Str()
		if typ != typeThinking && typ != typeRedacted {
			break
		}
		e.Warn(codecs.WarnReasoningDropped, "/content", "%s before a call that left the echo left with it", typ)
		kept = kept[:len(kept)-1]
	}
	return kept
}

// user returns the message with the results, in the order of the calls.
func (e *echo) user() codecs.Raw {
	var blocks []codecs.Raw
	for _, c := range e.calls {
		r, answered := e.results[c.Pos]
		if !answered {
			continue
		}
		if e.empties(c) {
			r = wire.RefusedArguments(c, r)
		}
		blocks = append(blocks, e.writer.block(r.ID, r, nil, fmt.Sprintf("/results/%d", c.Pos)))
	}
	blocks = append(blocks, e.writer.after...)
	return (&jsonx.Fields{}).Str("role", "user").Set("content", jsonx.List(blocks...)).Raw()
}
