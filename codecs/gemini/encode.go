package gemini

import (
	"fmt"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// part encodes one part of a message built from parts; nil when the dialect has
// no form for it, which is a warning.
func (e *encoder) part(p codecs.Part, model bool, pointer string) codecs.Raw {
	switch p.Kind {
	case codecs.KindText:
		return e.signed(textFields(p.Text), p, pointer)
	case codecs.KindReasoning:
		// An item id or hidden text belong to another provider, and so does the
		// signature beside them.
		if p.Redacted || p.ID != "" || !model {
			e.Warn(codecs.WarnLossy, pointer, "reasoning of another provider is left out")
			return nil
		}
		if e.profile.ReasoningEcho == codecs.EchoRefused {
			e.Warn(codecs.WarnReasoningDropped, pointer, "this engine refuses thoughts in the history: one is left out")
			return nil
		}
		return e.signed(textFields(p.Text).Bool("thought", true), p, pointer)
	case codecs.KindMedia:
		if p.Media == nil {
			return nil
		}
		return e.media(p, pointer)
	case codecs.KindCall:
		if p.Call == nil || !model {
			e.Warn(codecs.WarnLossy, pointer, "a call belongs into an assistant message; it is left out")
			return nil
		}
		return e.call(p, pointer)
	case codecs.KindServer, codecs.KindClient, codecs.KindOpaque:
		if ownBlock(p.Extra) {
			return p.Extra
		}
		e.Warn(codecs.WarnLossy, pointer, "a %s part of type %q has no form in this dialect", p.Kind, p.Type)
		return nil
	default:
		e.Warn(codecs.WarnLossy, pointer, "a %s part has no place here; it is left out", p.Kind)
		return nil
	}
}

func textFields(s string) *jsonx.Fields { return (&jsonx.Fields{}).Str("text", s) }

// signed finishes a part: the signature, then the siblings that the dialect
// knows.
func (e *encoder) signed(f *jsonx.Fields, p codecs.Part, pointer string) codecs.Raw {
	if p.Signature != "" {
		f.Str("thoughtSignature", p.Signature)
	}
	e.siblings(f, p.Extra, siblingKeys, pointer)
	return f.Raw()
}

// siblings adds the members of extra that this dialect knows. Others come from
// another one, and the provider refuses names that it does not know.
func (e *encoder) siblings(f *jsonx.Fields, extra codecs.Raw, known []string, pointer string) {
	for _, m := range jsonx.Of(extra).Members() {
		if slices.Contains(known, camel(m.Key)) {
			f.Set(camel(m.Key), m.Value.Raw())
		} else {
			e.Warn(codecs.WarnLossy, pointer, "%s has no form in this dialect", m.Key)
		}
	}
}

// callKeys are members of a functionCall beside id, name and args.
var callKeys = []string{"partialArgs", "willContinue"}

// call encodes a functionCall. args is an object on this wire: arguments that do
// not decode cannot be said and become {}; args that were absent stay absent.
func (e *encoder) call(p codecs.Part, pointer string) codecs.Raw {
	c := *p.Call
	var fc, out jsonx.Fields
	if c.ID != "" {
		fc.Str("id", c.ID)
	}
	fc.Str("name", c.Name)
	switch {
	case undecodable(c):
		fc.Set("args", codecs.Raw("{}"))
		e.Warn(codecs.WarnArgumentsEmptied, pointer, "arguments of %s do not decode; args is {}", c.Name)
	case c.ArgumentsText != "":
		fc.Set("args", c.Arguments)
	}
	signature := signatureOf(c)
	extra := c.Extra
	if signature != c.Signature { // it came in the compatibility layer's own envelope
		extra = withoutKey(jsonx.Of(extra), "extra_content")
	}
	e.siblings(&fc, extra, callKeys, pointer)
	out.Set("functionCall", fc.Raw())
	if signature != "" {
		out.Str("thoughtSignature", signature)
	}
	e.siblings(&out, p.Extra, siblingKeys, pointer)
	return out.Raw()
}

// undecodable tells whether a call has arguments that are no object.
func undecodable(c codecs.ToolCall) bool {
	return c.ArgumentsErr != "" || c.Arguments == nil && c.ArgumentsText != ""
}

// signatureOf is the signature of a call, also where Gemini's own chat
// completions layer put it.
func signatureOf(c codecs.ToolCall) string {
	if c.Signature != "" {
		return c.Signature
	}
	return jsonx.Of(c.Extra).Path("extra_content", "google", "thought_signature").Str()
}

// ownBlock tells whether a raw block is a part of this dialect: every other
// dialect names the type of a block in a member called type.
func ownBlock(raw codecs.Raw) bool {
	v := jsonx.Of(raw)
	return v.IsObject() && v.Len() > 0 && !v.Get("type").Exists() && !v.Get("role").Exists()
}

// foreignSignature stands in for the signature of a call that another provider
// made, where a request without one is refused. Source: thought signatures page.
const foreignSignature = "skip_thought_signature_validator"

// encoder builds contents from messages.
type encoder struct {
	wire.Notes
	profile  codecs.Profile
	contents []codecs.Raw
	system   [][]string // texts of each system message

	model []codecs.Raw // parts of the model content that is being built
}

func (e *encoder) messages(messages []wire.Message) error {
	for _, m := range messages {
		switch {
		case m.Native != nil:
			e.flushModel()
			e.contents = append(e.contents, m.Native...)
		case m.Role == "system":
			e.addSystem(m)
		case m.Role == "assistant":
			e.addModel(m)
		case m.Results():
			e.addResults(m)
		case m.Role == "user" || m.Role == "tool":
			e.addUser(m)
		default:
			return fmt.Errorf("messages[%d]: role %q is none of system, user, assistant, tool", m.Index, m.Role)
		}
	}
	e.flushModel()
	return nil
}

// addSystem collects the texts of a system message.
func (e *encoder) addSystem(m wire.Message) {
	var texts []string
	for j, p := range m.Parts {
		switch p.Kind {
		case codecs.KindText:
			texts = append(texts, p.Text)
		case codecs.KindMedia:
			line := wire.MediaLine(*p.Media)
			e.Warn(codecs.WarnMediaPlaceholder, m.Part(j), "%s: systemInstruction takes only text", line)
			texts = append(texts, line)
		default:
			e.Warn(codecs.WarnLossy, m.Part(j), "systemInstruction takes no %s part", p.Kind)
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
func (e *encoder) addModel(m wire.Message) {
	if !slices.ContainsFunc(m.Parts, func(p codecs.Part) bool { return p.Kind == codecs.KindCall }) {
		e.flushModel()
	}
	var parts []codecs.Raw
	signed := false
	for j, p := range m.Parts {
		if p.Kind == codecs.KindCall && p.Call != nil {
			call := *p.Call
			if !signed && e.profile.ReasoningEcho == codecs.EchoRequired && signatureOf(call) == "" {
				call.Signature = foreignSignature
				p.Call = &call
			}
			signed = true
		}
		if raw := e.part(p, true, m.Part(j)); raw != nil {
			parts = append(parts, raw)
		}
	}
	if len(parts) == 0 {
		e.Warn(codecs.WarnLossy, m.At(), "an assistant message without content is left out: a content needs parts")
	}
	e.model = append(e.model, parts...)
}

func (e *encoder) addUser(m wire.Message) {
	e.flushModel()
	var parts []codecs.Raw
	for j, p := range m.Parts {
		if raw := e.part(p, false, m.Part(j)); raw != nil {
			parts = append(parts, raw)
		}
	}
	if len(parts) == 0 {
		e.Warn(codecs.WarnLossy, m.At(), "a %s message without content is left out: a content needs parts", m.Role)
		return
	}
	e.contents = append(e.contents, content("user", parts))
}

func (e *encoder) flushModel() {
	if len(e.model) > 0 {
		e.contents = append(e.contents, content("model", e.model))
		e.model = nil
	}
}
