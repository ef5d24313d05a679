package openai

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Request encodes a chat completions body. The limit goes out as
// max_completion_tokens unless the profile names another key; a choice and the
// parallel knob only beside tools, as OpenAI refuses them alone.
func (c Codec) Request(req codecs.Request, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	if err := codecs.CheckServerTools(codecs.OpenAI, req.ServerTools, false); err != nil {
		return nil, nil, err
	}
	if len(req.Extra) > 0 {
		if v, err := jsonx.Parse(req.Extra); err != nil || !v.IsObject() {
			return nil, nil, fmt.Errorf("request: extra: want a JSON object")
		}
	}
	w := writer{profile: p}
	for i, m := range req.Messages {
		if err := w.message(i, m); err != nil {
			return nil, nil, fmt.Errorf("request: messages[%d]: %w", i, err)
		}
	}
	w.flush()
	var f jsonx.Fields
	f.Str("model", req.Model).Set("messages", jsonx.List(w.out...))
	hasTools := len(req.Tools) > 0
	choice, withhold, warnings := codecs.GateChoice(req.Choice, hasTools, p)
	w.warnings = append(w.warnings, warnings...)
	if hasTools && !withhold {
		tools, _, err := c.Tools(req.Tools, p)
		if err != nil {
			return nil, nil, fmt.Errorf("request: %w", err)
		}
		f.Set("tools", tools)
	}
	offered := f.Has("tools") || jsonx.Of(req.Extra).Get("tools").Len() > 0
	w.choice(&f, choice, offered)
	if req.Parallel != nil && offered {
		if p.NoParallel {
			w.warn(codecs.WarnParallelDropped, "", "dropping parallel_tool_calls: this engine has no such knob")
		} else {
			f.Bool("parallel_tool_calls", *req.Parallel)
		}
	}
	limit := req.MaxTokens
	if limit == 0 {
		limit = p.MaxTokens
	}
	if limit > 0 {
		f.Int(maxTokensKey(p), int64(limit))
	}
	if req.Stream {
		f.Bool("stream", true)
	}
	body := merged(&f, jsonx.Of(req.Extra))
	if err := jsonx.Check(body); err != nil { // a raw value of the caller's
		return nil, nil, fmt.Errorf("request: a raw value is not JSON: %w", err)
	}
	return body, w.warnings, nil
}

// merged adds the members of extra, which win over the ones that are there.
func merged(f *jsonx.Fields, extra jsonx.Value) codecs.Raw {
	var taken []string
	for _, m := range extra.Members() {
		if f.Has(m.Key) {
			f.Set(m.Key, m.Value.Raw())
			taken = append(taken, m.Key)
		}
	}
	return joined(f.Raw(), codecs.Without(extra, taken...))
}

func maxTokensKey(p codecs.Profile) string {
	if p.MaxTokensKey != "" {
		return p.MaxTokensKey
	}
	return "max_completion_tokens"
}

// choice adds tool_choice in the forms of spec 1.3.
func (w *writer) choice(f *jsonx.Fields, c codecs.Choice, offered bool) {
	if c.Mode == "" && c.Raw == nil {
		return
	}
	if !offered {
		if c.Mode != codecs.ChoiceAuto && c.Mode != codecs.ChoiceNone {
			w.warn(codecs.WarnChoiceDropped, "", "dropping tool_choice: the request has no tools")
		}
		return
	}
	switch c.Mode {
	case codecs.ChoiceAny:
		f.Str("tool_choice", "required")
	case codecs.ChoiceTool:
		if c.Name == "" {
			f.Str("tool_choice", "auto")
			return
		}
		var fn, o jsonx.Fields
		fn.Str("name", c.Name)
		f.Set("tool_choice", o.Str("type", "function").Set("function", fn.Raw()).Raw())
	case "":
		f.Set("tool_choice", c.Raw)
	default:
		f.Str("tool_choice", c.Mode)
	}
}

// writer encodes the messages of a request.
type writer struct {
	profile  codecs.Profile
	out      []codecs.Raw
	follow   followUps // media of the results written last, not sent yet
	turn     sentTurn
	warnings []codecs.Warning
}

func (w *writer) warn(code, pointer, format string, args ...any) {
	w.warnings = append(w.warnings, codecs.Warnf(code, pointer, format, args...))
}

// flush sends pending media: after the last result of a turn.
func (w *writer) flush() {
	if m := w.follow.message(); m != nil {
		w.out = append(w.out, m)
	}
}

func (w *writer) message(i int, m codecs.Message) error {
	if m.Native != nil {
		for j, n := range m.Native {
			if err := jsonx.Check(n); err != nil {
				return fmt.Errorf("native[%d]: %w", j, err)
			}
			switch jsonx.Of(n).Get("role").Str() {
			case "tool", "function":
			case "assistant":
				w.turn = newTurn(readTurn(jsonx.Of(n), "", w.profile).parts)
				fallthrough
			default:
				w.flush()
			}
			w.out = append(w.out, n)
		}
		return nil
	}
	if m.Role == "assistant" {
		w.flush()
		return w.assistant(i, m)
	}
	if m.Role != "system" && m.Role != "user" && m.Role != "tool" {
		return fmt.Errorf("role %q is none of system, user, assistant, tool", m.Role)
	}
	rest := make([]codecs.Part, 0, len(m.Parts))
	results := false
	for j, part := range m.Parts {
		if part.Kind == codecs.ResultKind && part.Result != nil {
			results = true
			w.result(*part.Result, fmt.Sprintf("/messages/%d/parts/%d", i, j))
			continue
		}
		rest = append(rest, part)
	}
	if results && len(rest) == 0 {
		return nil
	}
	w.flush()
	role := m.Role
	if role == "tool" { // a tool message holds results only
		role = "user"
		w.warn(codecs.WarnLossy, fmt.Sprintf("/messages/%d", i), "what is no result of a tool message goes out in a user message")
	}
	content, err := w.content(i, rest, role)
	if err != nil {
		return err
	}
	var f jsonx.Fields
	w.out = append(w.out, f.Str("role", role).Set("content", content).Raw())
	return nil
}

// content encodes the parts of a system or user message: one text as a string,
// anything else as a list.
func (w *writer) content(i int, parts []codecs.Part, role string) (codecs.Raw, error) {
	if len(parts) == 0 {
		return codecs.Raw(`""`), nil
	}
	var list []codecs.Raw
	plain := true
	for j, part := range parts {
		ptr := fmt.Sprintf("/messages/%d/parts/%d", i, j)
		switch part.Kind {
		case codecs.Text:
			list = append(list, cachedText(part))
			if rest := codecs.Without(jsonx.Of(part.Extra), "cache_control"); rest != nil {
				w.warn(codecs.WarnLossy, ptr, "chat completions has no place for %s", brief(rest))
			}
			plain = plain && !cached(part)
		case codecs.MediaKind:
			if part.Media == nil {
				return nil, fmt.Errorf("parts[%d]: a media part without media", j)
			}
			raw, ok := promptMedia(part, w.profile)
			if ok && role == "user" {
				plain = false
				list = append(list, raw)
				continue
			}
			line := mediaLine(part.Media)
			w.warn(codecs.WarnMediaPlaceholder, ptr, "%s", line)
			list = append(list, textPart(line))
		case codecs.Opaque:
			if !chatPart(part) {
				w.warn(codecs.WarnLossy, ptr, "chat completions has no part of type %q; it is left out", part.Type)
				continue
			}
			plain = false
			list = append(list, part.Extra)
		default:
			w.warn(codecs.WarnLossy, ptr, "a %s message cannot carry a %s part; it is left out", role, part.Kind)
		}
	}
	if len(list) == 0 {
		return codecs.Raw(`""`), nil
	}
	if len(list) == 1 && plain {
		return jsonx.Quote(jsonx.Of(list[0]).Get("text").Str()), nil
	}
	return jsonx.List(list...), nil
}

// brief names the keys of an object, for warnings.
func brief(object codecs.Raw) string {
	var keys []string
	for _, m := range jsonx.Of(object).Members() {
		if keys = append(keys, m.Key); len(keys) == 8 {
			break
		}
	}
	return strings.Join(keys, ", ")
}

// cached tells whether a text part carries a cache mark (Anthropic and Gemini
// behind OpenRouter), the one further key of a text part that hosts take.
func cached(p codecs.Part) bool { return jsonx.Of(p.Extra).Get("cache_control").Defined() }

func cachedText(p codecs.Part) codecs.Raw {
	var f jsonx.Fields
	f.Str("type", "text").Str("text", p.Text)
	if cached(p) {
		f.Set("cache_control", jsonx.Of(p.Extra).Get("cache_control").Raw())
	}
	return f.Raw()
}

// chatPart tells whether an opaque part is a content part of this dialect, and
// not a block that a history brought from another one.
func chatPart(p codecs.Part) bool {
	if jsonx.Of(p.Extra).Get("type").Str() != p.Type {
		return false
	}
	switch p.Type {
	case "file", "input_audio", "input_video", "reference", "video":
		return true
	}
	return strings.HasSuffix(p.Type, "_url")
}

// assistant encodes an assistant message from its parts.
func (w *writer) assistant(i int, m codecs.Message) error {
	a := assistantFields{profile: w.profile, at: fmt.Sprintf("/messages/%d/parts", i)}
	a.seed = digest(fmt.Sprint(i))
	if err := a.read(m.Parts); err != nil {
		return err
	}
	w.warnings = append(w.warnings, a.warnings...)
	w.turn = turnOf(a.sent)
	f := a.fields(false)
	if w.profile.ReasoningEcho == codecs.EchoRequiredEvenEmpty && len(a.calls) > 0 {
		if key := reasoningKey(w.profile); !f.Has(key) {
			f.Str(key, "")
		}
	}
	w.out = append(w.out, f.Raw())
	return nil
}

// result encodes one tool message.
func (w *writer) result(r codecs.ToolResult, ptr string) {
	id := r.ID
	if call := w.turn.answered(r); call != nil {
		id = call.ID
		if r.Name == "" {
			r.Name = call.Name
		}
		if call.emptied {
			r = codecs.RefusedArguments(call.ToolCall, r)
		}
	}
	if id == "" {
		w.warn(codecs.WarnLossy, ptr, "the result of %q names no call", r.Name)
	}
	content, follow, warnings := resultContent(r, w.profile, ptr)
	w.warnings = append(w.warnings, warnings...)
	w.follow.add(r, id, follow)
	var f jsonx.Fields
	w.out = append(w.out, f.Str("role", "tool").Str("tool_call_id", id).Set("content", content).Raw())
}
