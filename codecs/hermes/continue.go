package hermes

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Continue echoes the model's own text, tags included, and adds one message
// with a <tool_response> block for each result, in call order. The block of a
// call without a result, and one that the limit cut, leave the text; every
// other character of it stays. Native calls go back as on chat completions.
func (Codec) Continue(r codecs.Reply, results []codecs.ToolResult, p codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	plain, text, err := read(r.Body, p)
	if err != nil {
		return nil, nil, own(err)
	}
	if nativeCalls(plain) {
		msgs, warnings, err := chat.Continue(r, results, p)
		return msgs, warnings, own(err)
	}
	byPos, _, err := wire.IDs{None: true}.Answers(r.Calls(), results, r.Body)
	if err != nil {
		return nil, nil, err
	}
	at, standard := contentAt(p)
	echo := (&jsonx.Fields{}).Str("role", "assistant").Str("content", text).Raw()
	var warnings []codecs.Warning
	if standard {
		msgs, w, err := chat.Continue(plain, nil, transport(p))
		if err != nil {
			return nil, nil, own(err)
		}
		echo, warnings = msgs[0], w
	}
	if len(byPos) == 0 {
		return []codecs.Raw{echo}, warnings, nil
	}
	t := lift(text, at, plain.Finish == codecs.FinishLength, p)
	kept, w := without(text, t, byPos, at)
	warnings = append(warnings, w...)
	if kept != text {
		if echo, err = jsonx.Set(echo, "/content", jsonx.Quote(kept)); err != nil {
			return nil, nil, fmt.Errorf("hermes: echo: %w", err)
		}
	}
	var answers []codecs.ToolResult
	for _, part := range t.parts {
		if part.Kind != codecs.KindCall {
			continue
		}
		if result, ok := byPos[part.Call.Pos]; ok {
			answers = append(answers, result)
		}
	}
	msgs, w, err := resultMessages(answers, p, at)
	if err != nil {
		return nil, nil, err
	}
	return append([]codecs.Raw{echo}, msgs...), append(warnings, w...), nil
}

// without cuts the blocks that have no result out of a text. One at the end
// takes the white space before it along.
func without(text string, t lifted, results map[int]codecs.ToolResult, at string) (string, []codecs.Warning) {
	var b strings.Builder
	var warnings []codecs.Warning
	from := 0
	names := map[int]string{}
	for _, part := range t.parts {
		if part.Kind == codecs.KindCall {
			names[part.Call.Pos] = part.Call.Name
		}
	}
	dropped := 0
	for _, s := range t.blocks {
		if _, ok := results[s.pos]; ok && s.pos >= 0 {
			continue
		}
		b.WriteString(text[from:s.start])
		from = s.end
		dropped++
		if s.pos >= 0 {
			warnings = append(warnings, codecs.Warnf(codecs.WarnCallDropped, at, "call %d of %s has no result and leaves the echo", s.pos, names[s.pos]))
		} else {
			warnings = append(warnings, codecs.Warnf(codecs.WarnCallDropped, at, "a call that the limit cut before its name leaves the echo"))
		}
	}
	if dropped == 0 {
		return text, nil
	}
	rest := text[from:]
	if strings.TrimSpace(rest) == "" {
		return strings.TrimRight(b.String(), " \t\r\n"), warnings
	}
	b.WriteString(rest)
	return b.String(), warnings
}
