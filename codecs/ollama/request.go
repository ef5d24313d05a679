package ollama

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Tools encodes tool definitions as
// [{"type":"function","function":{"name","description","parameters"}}]. The
// schema goes out whole; the server drops what it does not use.
func (Codec) Tools(tools []codecs.Tool, _ codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	out := make([]codecs.Raw, len(tools))
	var warnings []codecs.Warning
	for i, t := range tools {
		if t.Name == "" {
			return nil, nil, fmt.Errorf("ollama: tools[%d]: a tool needs a name", i)
		}
		schema := t.InputSchema
		if len(schema) == 0 {
			schema = codecs.Raw(`{"type":"object","properties":{}}`)
		}
		// Servers in languages whose empty map is an empty list say [] for {}; this
		// one fails to read that, and the whole request with it.
		if props := jsonx.Of(schema).Get("properties"); props.IsArray() && props.Len() == 0 {
			if mended, err := jsonx.Set(schema, "/properties", codecs.Raw("{}")); err == nil {
				schema = mended
				warnings = append(warnings, codecs.Warnf(codecs.WarnSchemaReduced, fmt.Sprintf("/tools/%d", i), "the properties of tool %s are an empty list; {} goes out", t.Name))
			}
		}
		var fn, f jsonx.Fields
		fn.Str("name", t.Name).Str("description", t.Description).Set("parameters", schema)
		out[i] = f.Str("type", "function").Set("function", fn.Raw()).Raw()
	}
	return jsonx.List(out...), warnings, nil
}

// Request encodes {"model","messages","tools"?,"stream","options"?}. stream is
// always there, because the server's default is true. A token limit is
// options.num_predict; the options of Extra are merged into it key by key.
// A tool choice cannot be sent: see codecs.GateChoice for what happens to it.
func (c Codec) Request(req codecs.Request, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	if err := codecs.CheckServerTools(codecs.Ollama, req.ServerTools, false); err != nil {
		return nil, nil, err
	}
	if len(req.Extra) > 0 {
		if v, err := jsonx.Parse(req.Extra); err != nil || !v.IsObject() {
			return nil, nil, errors.New("ollama: request: extra: want a JSON object")
		}
	}
	p.ToolChoice = []string{"-"} // a rule of the wire, whatever the profile says
	_, withhold, warnings := codecs.GateChoice(req.Choice, len(req.Tools) > 0, p)
	if req.Parallel != nil && len(req.Tools) > 0 {
		warnings = append(warnings, codecs.Warnf(codecs.WarnParallelDropped, "", "dropping parallel_tool_use: this wire has no such knob"))
	}
	enc := encoder{p: p, warnings: warnings}
	for i, m := range codecs.MergeResults(req.Messages) {
		enc.message(m, fmt.Sprintf("/messages/%d", i))
	}
	var f jsonx.Fields
	f.Str("model", req.Model).Set("messages", jsonx.List(enc.out...))
	if len(req.Tools) > 0 && !withhold {
		tools, warnings, err := c.Tools(req.Tools, p)
		if err != nil {
			return nil, nil, err
		}
		enc.warnings = append(enc.warnings, warnings...)
		f.Set("tools", tools)
	}
	f.Bool("stream", req.Stream)
	var options jsonx.Fields
	limit := req.MaxTokens
	if limit == 0 {
		limit = p.MaxTokens
	}
	if limit > 0 {
		key := p.MaxTokensKey
		if key == "" {
			key = "num_predict"
		}
		options.Int(key, int64(limit))
		f.Set("options", options.Raw())
	}
	for _, m := range jsonx.Of(req.Extra).Members() {
		if m.Key == "options" && m.Value.IsObject() {
			f.Set(m.Key, options.Merge(m.Value.Raw()).Raw())
			continue
		}
		f.Set(m.Key, m.Value.Raw())
	}
	body := f.Raw()
	if err := jsonx.Check(body); err != nil { // a raw value of the caller's: a native message, a schema, arguments
		return nil, nil, fmt.Errorf("ollama: request: a raw value is not JSON: %w", err)
	}
	return body, enc.warnings, nil
}

// encoder turns neutral messages into wire messages.
type encoder struct {
	p        codecs.Profile
	out      []codecs.Raw
	warnings []codecs.Warning
	calls    []codecs.ToolCall // of the last assistant turn, for the names of results
}

func (e *encoder) warn(code, at, format string, args ...any) {
	e.warnings = append(e.warnings, codecs.Warnf(code, at, format, args...))
}

func (e *encoder) message(m codecs.Message, at string) {
	if m.Native != nil {
		e.out = append(e.out, m.Native...)
		return
	}
	if m.Role == "assistant" {
		raw, warnings := assistantMessage(m.Parts, history, e.p)
		for i := range warnings {
			warnings[i].Pointer = at
		}
		e.warnings = append(e.warnings, warnings...)
		e.out = append(e.out, raw)
		e.calls = nil
		for _, part := range m.Parts {
			if part.Kind == codecs.CallKind && part.Call != nil {
				e.calls = append(e.calls, *part.Call)
			}
		}
		return
	}
	results, rest := codecs.TurnResults(m.Parts, e.calls)
	e.showEmptied(results)
	if len(results) > 0 {
		msgs, warnings := resultMessages(results, e.p, at)
		e.out, e.warnings = append(e.out, msgs...), append(e.warnings, warnings...)
		if len(rest) == 0 {
			return
		}
		if m.Role == "tool" {
			m.Role = "user"
		}
	}
	e.out = append(e.out, e.prompt(m.Role, rest, at))
}

// showEmptied lets the results of calls whose arguments go out as {} show what
// they were.
func (e *encoder) showEmptied(results []codecs.ToolResult) {
	calls := append([]codecs.ToolCall(nil), e.calls...)
	for i := range calls {
		calls[i].Pos = i
	}
	paired, err := codecs.PairResults(calls, results)
	for i, r := range results {
		for _, c := range calls {
			answers := err == nil && paired[i].Pos == c.Pos || err != nil && r.ID != "" && r.ID == c.ID
			if answers && c.Arguments == nil && c.ArgumentsText != "" {
				results[i] = codecs.RefusedArguments(c, r)
			}
		}
	}
}

// prompt builds a system, user or plain tool message. Content is one string:
// texts are joined by newlines, images travel beside it.
func (e *encoder) prompt(role string, parts []codecs.Part, at string) codecs.Raw {
	var lines []string
	var imgs []codecs.Raw
	for _, part := range parts {
		switch part.Kind {
		case codecs.Text:
			lines = append(lines, part.Text)
		case codecs.MediaKind:
			if part.Media == nil {
				continue
			}
			if data, ok := imageData(*part.Media); ok && e.p.PromptImages != codecs.MediaPlaceholder {
				imgs = append(imgs, jsonx.Quote(data))
				continue
			}
			line := mediaLine(*part.Media)
			lines = append(lines, line)
			e.warn(codecs.WarnMediaPlaceholder, at, "%s", line)
		default:
			e.warn(codecs.WarnLossy, at, "a %s part cannot stand in a %s message of this wire", part.Kind, role)
		}
	}
	var f jsonx.Fields
	f.Str("role", role).Str("content", strings.Join(lines, "\n"))
	if len(imgs) > 0 {
		f.Set("images", jsonx.List(imgs...))
	}
	return f.Raw()
}

// imageData returns the raw base64 of an image, also out of a data URI, which
// the server refuses as such.
func imageData(m codecs.Media) (string, bool) {
	mime, data := m.MIME, m.Data
	if t, payload, ok := codecs.SplitDataURI(m.URI); ok && data == "" {
		mime, data = t, payload
	}
	data = codecs.StripSpace(data)
	if mime == "" {
		mime = strings.TrimSuffix(imageMIME(data), anyImage)
	}
	return data, data != "" && (codecs.ImageMIME(mime) || mime == anyImage)
}

// mediaLine is the line of text that stands for media the wire cannot carry.
func mediaLine(m codecs.Media) string {
	kind, _, _ := strings.Cut(m.MIME, "/")
	switch {
	case kind == "image" || kind == "audio":
	case m.Data == "" && m.URI != "":
		kind = "resource_link"
	default:
		kind = "resource"
	}
	parts := []string{"[" + kind + "]"}
	if m.Name != "" {
		parts = append(parts, m.Name)
	}
	if m.MIME != "" {
		parts = append(parts, m.MIME)
	}
	if m.URI != "" && !strings.HasPrefix(m.URI, "data:") {
		parts = append(parts, "<"+m.URI+">")
	}
	if m.Data != "" {
		parts = append(parts, fmt.Sprintf("(%d bytes)", codecs.DecodedSize(m.Data)))
	}
	return strings.Join(parts, " ")
}

// What assistantMessage builds.
type purpose int

const (
	history     purpose = iota // a turn inside a request
	renderReply                // the message of a reply
)

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
		case codecs.Text:
			at(1)
			text.WriteString(part.Text)
		case codecs.Reasoning:
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
		case codecs.MediaKind:
			at(2)
			if part.Media == nil {
				continue
			}
			if data, ok := imageData(*part.Media); ok {
				imgs = append(imgs, jsonx.Quote(data))
				continue
			}
			line := mediaLine(*part.Media)
			text.WriteString(line)
			warn(codecs.WarnMediaPlaceholder, "%s", line)
		case codecs.CallKind:
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
