package ollama

import (
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// encoder turns neutral messages into wire messages.
type encoder struct {
	wire.Notes
	p   codecs.Profile
	out []codecs.Raw
}

func (e *encoder) message(m wire.Message) {
	at := m.At()
	if m.Native != nil {
		e.out = append(e.out, m.Native...)
		return
	}
	if m.Role == "assistant" {
		raw, warnings := assistantMessage(m.Parts, history, e.p)
		for i := range warnings {
			warnings[i].Pointer = at
		}
		e.Warnings = append(e.Warnings, warnings...)
		e.out = append(e.out, raw)
		return
	}
	if m.Results() {
		msgs, warnings := resultMessages(m.ToolResults(), e.p, at)
		e.out, e.Warnings = append(e.out, msgs...), append(e.Warnings, warnings...)
		return
	}
	if m.Role == "tool" { // a tool message holds results only
		m.Role = "user"
	}
	e.out = append(e.out, e.prompt(m.Role, m.Parts, at))
}

// prompt builds a system, user or plain tool message. Content is one string:
// texts are joined by newlines, images travel beside it.
func (e *encoder) prompt(role string, parts []codecs.Part, at string) codecs.Raw {
	var lines []string
	var imgs []codecs.Raw
	for _, part := range parts {
		switch part.Kind {
		case codecs.KindText:
			lines = append(lines, part.Text)
		case codecs.KindMedia:
			if part.Media == nil {
				continue
			}
			if data, ok := imageData(*part.Media); ok && e.p.PromptImages != codecs.MediaPlaceholder {
				imgs = append(imgs, jsonx.Quote(data))
				continue
			}
			line := wire.MediaLine(*part.Media)
			lines = append(lines, line)
			e.Warn(codecs.WarnMediaPlaceholder, at, "%s", line)
		default:
			e.Warn(codecs.WarnLossy, at, "a %s part cannot stand in a %s message of this wire", part.Kind, role)
		}
	}
	var f jsonx.Fields
	f.Str("role", role).Str("content", strings.Join(lines, "\n"))
	if len(imgs) > 0 {
		f.Set("images", jsonx.List(imgs...))
	}
	return f.Raw()
}

// What assistantMessage builds.
type purpose int

// assistantMessage builds an assistant message from parts. Pointers of the
// warnings are for the caller to set.
func assistantMessage(parts []codecs.Part, to purpose, p codecs.Profile) (codecs.Raw, []codecs.Warning) {
	var text strings.Builder
	var thinking []string
	var imgs, calls []codecs.Raw
	var warnings []codecs.Warning
	warn := func(code, format string, args ...any) {
		warnings = append(warnings, codecs.Warnf(code, "", format, args...))
	}
	stage, regrouped := 0, false
	at := func(n int) {
		regrouped = regrouped || n < stage
		stage = max(stage, n)
	}
	for _, part := range parts {
		switch part.Kind {
		case codecs.KindText:
			at(1)
			text.WriteString(part.Text)
		case codecs.KindReasoning:
			at(0)
			switch {
			case part.Text == "":
				warn(codecs.WarnLossy, "reasoning without text cannot go out on this wire")
			case to == history && p.ReasoningEcho == codecs.EchoRefused:
				warn(codecs.WarnReasoningDropped, "this engine refuses reasoning in the history")
			default:
				thinking = append(thinking, part.Text)
				if part.Signature != "" {
					warn(codecs.WarnLossy, "the signature of reasoning cannot go out on this wire")
				}
			}
		case codecs.KindMedia:
			at(2)
			if part.Media == nil {
				continue
			}
			if data, ok := imageData(*part.Media); ok {
				imgs = append(imgs, jsonx.Quote(data))
				continue
			}
			line := wire.MediaLine(*part.Media)
			text.WriteString(line)
			warn(codecs.WarnMediaPlaceholder, "%s", line)
		case codecs.KindCall:
			at(3)
			if part.Call == nil {
				continue
			}
			raw, w := renderCall(*part.Call, len(calls), to)
			calls, warnings = append(calls, raw), append(warnings, w...)
		default:
			warn(codecs.WarnLossy, "a %s part cannot stand in an assistant message of this wire", part.Kind)
		}
	}
	if regrouped {
		warn(codecs.WarnLossy, "this wire has one order, thinking, content, calls: parts were regrouped")
	}
	var f jsonx.Fields
	f.Str("role", "assistant").Str("content", text.String())
	if len(thinking) > 0 {
		f.Str("thinking", strings.Join(thinking, "\n"))
	}
	if len(imgs) > 0 {
		f.Set("images", jsonx.List(imgs...))
	}
	if len(calls) > 0 {
		f.Set("tool_calls", jsonx.List(calls...))
	}
	return f.Raw(), warnings
}

func renderCall(c codecs.ToolCall, index int, to purpose) (codecs.Raw, []codecs.Warning) {
	var warnings []codecs.Warning
	args := c.Arguments
	if args == nil {
		args = codecs.Raw("{}")
		if to == renderReply {
			args = jsonx.Quote(c.ArgumentsText)
		} else {
			warnings = append(warnings, emptied(c, ""))
		}
	}
	if c.Signature != "" {
		warnings = append(warnings, codecs.Warnf(codecs.WarnLossy, "", "the signature of a call cannot go out on this wire"))
	}
	var fn, f jsonx.Fields
	if to == renderReply {
		fn.Int("index", int64(index))
	}
	fn.Str("name", c.Name).Set("arguments", args)
	if c.ID != "" {
		f.Str("id", c.ID)
	}
	return f.Set("function", fn.Raw()).Raw(), warnings
}

func emptied(c codecs.ToolCall, at string) codecs.Warning {
	return codecs.Warnf(codecs.WarnArgumentsEmptied, at, "arguments of %s are no JSON object, which the server refuses; {} goes back", c.Name)
}
