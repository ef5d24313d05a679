package gemini

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// foreignSignature stands in for the signature of a call that another provider
// made, where a request without one is refused. Source: thought signatures page.
const foreignSignature = "skip_thought_signature_validator"

// Request encodes the body of generateContent. The model and the stream flag
// travel in the path, not in the body.
//
// System messages are joined into systemInstruction. Results of one turn become
// one user content, in the order of the calls they answer; what else stood in
// their messages follows in a content of its own. Extra is merged last; inside
// generationConfig and toolConfig it is merged member by member, so that a
// temperature there does not push out the token limit.
func (c Codec) Request(req codecs.Request, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	if err := codecs.CheckServerTools(codecs.Gemini, req.ServerTools, true); err != nil {
		return nil, nil, err
	}
	if p.NoServerTool && len(req.ServerTools) > 0 {
		return nil, nil, errors.New("server_tools: this engine has no server tools; leave them out or use another engine")
	}
	e := &encoder{profile: p}
	if err := e.messages(req.Messages); err != nil {
		return nil, nil, err
	}
	var body jsonx.Fields
	body.Set("contents", jsonx.List(e.contents...))
	if parts := e.systemParts(); len(parts) > 0 {
		var si jsonx.Fields
		body.Set("systemInstruction", si.Set("parts", jsonx.List(parts...)).Raw())
	}
	extra := jsonx.Of(req.Extra)
	choice, withhold, ws := codecs.GateChoice(req.Choice, len(req.Tools)+len(req.ServerTools) > 0, p)
	e.warnings = append(e.warnings, ws...)
	if !withhold {
		if err := c.setTools(e, &body, req, p); err != nil {
			return nil, nil, err
		}
		e.choice(&body, choice, len(req.Tools) > 0 || extra.Get("tools").Exists())
	}
	if req.Parallel != nil {
		e.warn(codecs.WarnParallelDropped, "", "dropping parallel_tool_use: this dialect cannot say it")
	}
	if n := max(req.MaxTokens, 0); n > 0 || p.MaxTokens > 0 {
		if n == 0 {
			n = p.MaxTokens
		}
		key := p.MaxTokensKey
		if key == "" {
			key = "maxOutputTokens"
		}
		var gc jsonx.Fields
		body.Set("generationConfig", gc.Int(key, int64(n)).Raw())
	}
	for _, m := range extra.Members() {
		key := m.Key
		if k := camel(key); body.Has(k) {
			key = k
		}
		value := m.Value.Raw()
		if key == "generationConfig" || key == "toolConfig" {
			value = merged(jsonx.Of(body.Raw()).Get(key), m.Value)
		}
		body.Set(key, value)
	}
	raw, err := e.cached(body.Raw())
	return raw, e.warnings, err
}

// cached takes out what a bound cached content already holds: the API refuses
// system instruction, tools and tool configuration beside one. Source: spec 2.8,
// row LP25.
func (e *encoder) cached(body codecs.Raw) (codecs.Raw, error) {
	if field(jsonx.Of(body), "cachedContent").Str() == "" {
		return body, nil
	}
	var left []string
	for _, m := range jsonx.Of(body).Members() {
		switch camel(m.Key) {
		case "systemInstruction", "tools", "toolConfig":
			left = append(left, m.Key)
		}
	}
	for _, key := range left {
		var err error
		if body, err = jsonx.Delete(body, "/"+key); err != nil {
			return nil, err
		}
	}
	if len(left) > 0 {
		e.warn(codecs.WarnLossy, "/cachedContent", "%s cannot go out beside a cached content, which has its own", strings.Join(left, ", "))
	}
	return body, nil
}

// setTools adds the function declarations and the server tools.
func (c Codec) setTools(e *encoder, body *jsonx.Fields, req codecs.Request, p codecs.Profile) error {
	var entries []codecs.Raw
	if len(req.Tools) > 0 {
		decls, ws, err := c.Tools(req.Tools, p)
		if err != nil {
			return err
		}
		e.warnings = append(e.warnings, ws...)
		entries = append(entries, jsonx.Of(decls).At(0).Raw())
	}
	if entries = append(entries, req.ServerTools...); len(entries) > 0 {
		body.Set("tools", jsonx.List(entries...))
	}
	return nil
}

// merged is b laid over a, objects member by member.
func merged(a, b jsonx.Value) codecs.Raw {
	if !a.IsObject() || !b.IsObject() {
		return b.Raw()
	}
	var f jsonx.Fields
	f.Merge(a.Raw())
	for _, m := range b.Members() {
		key := m.Key
		if k := camel(key); f.Has(k) {
			key = k
		}
		f.Set(key, merged(a.Get(key), m.Value))
	}
	return f.Raw()
}

// choice adds toolConfig. The provider refuses one beside no declarations, so it
// then stays out; a forced call that gets lost that way warns.
func (e *encoder) choice(body *jsonx.Fields, c codecs.Choice, declared bool) {
	var cfg, out jsonx.Fields
	switch {
	case c.Raw != nil:
		if !field(jsonx.Of(c.Raw), "functionCallingConfig").IsObject() {
			e.warn(codecs.WarnChoiceDropped, "", "dropping tool_choice %s: it has no functionCallingConfig", c.Raw)
			return
		}
		body.Set("toolConfig", c.Raw)
		return
	case c.Mode == "":
		return
	case !declared:
		if c.Mode == codecs.ChoiceAny || c.Mode == codecs.ChoiceTool {
			e.warn(codecs.WarnChoiceDropped, "", "dropping tool_choice '%s': the request declares no functions", c.Mode)
		}
		return
	case c.Mode == codecs.ChoiceTool:
		cfg.Str("mode", "ANY").Set("allowedFunctionNames", jsonx.List(jsonx.Quote(c.Name)))
	default:
		cfg.Str("mode", strings.ToUpper(c.Mode))
	}
	body.Set("toolConfig", out.Set("functionCallingConfig", cfg.Raw()).Raw())
}

// encoder builds contents from messages.
type encoder struct {
	profile  codecs.Profile
	contents []codecs.Raw
	system   [][]string // texts of each system message
	warnings []codecs.Warning

	model    []codecs.Raw      // parts of the model content that is being built
	calls    []codecs.ToolCall // calls of the last model content
	emptied  []bool            // of them, those that {} goes out for; nil for native ones
	results  []codecs.ToolResult
	pointers []string // where the results stand
}

func (e *encoder) warn(code, pointer, format string, args ...any) {
	e.warnings = append(e.warnings, codecs.Warnf(code, pointer, format, args...))
}

func (e *encoder) messages(messages []codecs.Message) error {
	for i, m := range messages {
		pointer := fmt.Sprintf("/messages/%d", i)
		var err error
		switch {
		case m.Native != nil:
			if err = e.flush(); err == nil {
				e.native(m.Native)
			}
		case m.Role == "system":
			e.addSystem(m, pointer)
		case m.Role == "assistant":
			err = e.addModel(m, pointer)
		case m.Role == "user" || m.Role == "tool":
			err = e.addUser(m, pointer)
		default:
			err = fmt.Errorf("messages[%d]: role %q is none of system, user, assistant, tool", i, m.Role)
		}
		if err != nil {
			return err
		}
	}
	return e.flush()
}

// native splices contents and remembers the calls of the last model turn.
func (e *encoder) native(raws []codecs.Raw) {
	for _, raw := range raws {
		e.contents = append(e.contents, raw)
		v := jsonx.Of(raw)
		if v.Get("role").Str() != "model" {
			continue
		}
		rd := partReader{}
		e.calls, e.emptied = nil, nil // native calls go out as they are
		for _, p := range rd.readAll(list(v.Get("parts")), "") {
			if p.Kind == codecs.CallKind {
				e.calls = append(e.calls, *p.Call)
			}
		}
	}
}

// addSystem collects the texts of a system message.
func (e *encoder) addSystem(m codecs.Message, pointer string) {
	var texts []string
	for j, p := range m.Parts {
		switch p.Kind {
		case codecs.Text:
			texts = append(texts, p.Text)
		case codecs.MediaKind:
			line := mediaItem(p.Media).Placeholder()
			e.warn(codecs.WarnMediaPlaceholder, fmt.Sprintf("%s/parts/%d", pointer, j), "%s: systemInstruction takes only text", line)
			texts = append(texts, line)
		default:
			e.warn(codecs.WarnLossy, fmt.Sprintf("%s/parts/%d", pointer, j), "systemInstruction takes no %s part", p.Kind)
		}
	}
	if len(texts) == 0 {
		return
	}
	e.system = append(e.system, texts)
}

// systemParts keeps the parts of a single system message apart and joins those
// of several by a blank line.
func (e *encoder) systemParts() []codecs.Raw {
	if len(e.system) == 1 {
		var parts []codecs.Raw
		for _, t := range e.system[0] {
			parts = append(parts, textPart(t))
		}
		return parts
	}
	var messages []string
	for _, texts := range e.system {
		messages = append(messages, strings.Join(texts, ""))
	}
	if len(messages) == 0 {
		return nil
	}
	return []codecs.Raw{textPart(strings.Join(messages, "\n\n"))}
}

func textPart(s string) codecs.Raw { return (&jsonx.Fields{}).Str("text", s).Raw() }

// addModel adds an assistant message. A message with calls joins the assistant
// message right before it: a call turn has to follow a user turn.
func (e *encoder) addModel(m codecs.Message, pointer string) error {
	if err := e.flushResults(); err != nil {
		return err
	}
	hasCall := slices.ContainsFunc(m.Parts, func(p codecs.Part) bool { return p.Kind == codecs.CallKind })
	if !hasCall {
		e.flushModel()
	}
	if len(e.model) == 0 {
		e.calls, e.emptied = nil, nil
	}
	var parts []codecs.Raw
	signed := false
	for j, p := range m.Parts {
		at := fmt.Sprintf("%s/parts/%d", pointer, j)
		if p.Kind == codecs.CallKind && p.Call != nil {
			call := *p.Call
			if !signed && e.profile.ReasoningEcho == codecs.EchoRequired && signatureOf(call) == "" {
				call.Signature = foreignSignature
				p.Call = &call
			}
			signed = true
			call.Pos = len(e.calls)
			e.calls = append(e.calls, call)
			e.emptied = append(e.emptied, undecodable(call))
		}
		if raw := e.part(p, true, at); raw != nil {
			parts = append(parts, raw)
		}
	}
	if len(parts) == 0 {
		e.warn(codecs.WarnLossy, pointer, "an assistant message without content is left out: a content needs parts")
	}
	e.model = append(e.model, parts...)
	return nil
}

func (e *encoder) addUser(m codecs.Message, pointer string) error {
	e.flushModel()
	var rest []codecs.Raw
	found := false
	for j, p := range m.Parts {
		at := fmt.Sprintf("%s/parts/%d", pointer, j)
		if p.Kind == codecs.ResultKind && p.Result != nil {
			e.results, e.pointers = append(e.results, *p.Result), append(e.pointers, at)
			found = true
			continue
		}
		if raw := e.part(p, false, at); raw != nil {
			rest = append(rest, raw)
		}
	}
	if len(rest) > 0 {
		if err := e.flushResults(); err != nil {
			return err
		}
		e.contents = append(e.contents, content("user", rest))
	} else if !found {
		e.warn(codecs.WarnLossy, pointer, "a %s message without content is left out: a content needs parts", m.Role)
	}
	return nil
}

func (e *encoder) flush() error {
	e.flushModel()
	return e.flushResults()
}

func (e *encoder) flushModel() {
	if len(e.model) > 0 {
		e.contents = append(e.contents, content("model", e.model))
		e.model = nil
	}
}

// flushResults writes the results that wait, as one content in call order.
func (e *encoder) flushResults() error {
	if len(e.results) == 0 {
		return nil
	}
	type entry struct {
		result  codecs.ToolResult
		id      codecs.Raw
		pointer string
	}
	// PairResults finds the call of a result by id, name or order. Results of a
	// conversation that does not add up stay as they are.
	paired, err := codecs.PairResults(e.calls, e.results)
	if err != nil {
		paired = e.results
	}
	idless, names := map[int]bool{}, map[string]string{}
	for _, c := range e.calls {
		idless[c.Pos] = c.ID == ""
		names[c.ID] = c.Name
	}
	entries := make([]entry, len(paired))
	for i, r := range paired {
		id := e.results[i].ID
		if err == nil && idless[r.Pos] {
			id = "" // an id that the call does not have is not sent
		} else if err != nil && r.Name == "" && r.ID != "" {
			r.Name = names[r.ID]
		}
		if r.Name == "" {
			return fmt.Errorf("%s: the result names no tool and answers no call of the turn before; set its name", e.pointers[i])
		}
		for _, c := range e.calls {
			answers := err == nil && c.Pos == r.Pos || err != nil && r.ID != "" && c.ID == r.ID
			if answers && c.Pos < len(e.emptied) && e.emptied[c.Pos] {
				r = codecs.RefusedArguments(c, r)
			}
		}
		entries[i] = entry{result: r, pointer: e.pointers[i]}
		if id != "" {
			entries[i].id = jsonx.Quote(id)
		}
	}
	if err == nil {
		sort.SliceStable(entries, func(a, b int) bool { return entries[a].result.Pos < entries[b].result.Pos })
	}
	var parts, followUp []codecs.Raw
	for _, en := range entries {
		part, more, ws := encodeResult(en.result, en.id, e.profile, en.pointer)
		parts, followUp, e.warnings = append(parts, part), append(followUp, more...), append(e.warnings, ws...)
	}
	e.contents = append(e.contents, content("user", parts))
	if len(followUp) > 0 {
		e.contents = append(e.contents, content("user", followUp))
	}
	e.results, e.pointers = nil, nil
	return nil
}
