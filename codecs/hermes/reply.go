package hermes

import (
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/internal/jsonx"
)

// Reply decodes a reply of the transport and lifts the calls out of its text.
// Parts keep their order in the text; call ids are empty. Of a block that a
// token limit cut, the call has Cut set when its name can be read, and is
// counted in Unfinished otherwise. Native calls win: then the text stays as it
// is. Source: spec 1.2.3, with the changes of the design's decision "Hermes".
func (Codec) Reply(body []byte, p codecs.Profile) (codecs.Reply, error) {
	r, text, err := read(body, p)
	if err != nil {
		return codecs.Reply{}, own(err)
	}
	if nativeCalls(r) {
		r, err := wire.Reply(body, p)
		return r, own(err)
	}
	at, _ := contentAt(p)
	t := lift(text, at, r.Finish == codecs.FinishLength, p)
	r.Parts = splice(r.Parts, t)
	r.Unfinished += t.unfinished
	if t.calls > 0 {
		// A missing reason too: spec 2.4. An unknown one stays unknown.
		if r.Finish == codecs.FinishStop || r.RawFinish == "" {
			r.Finish = codecs.FinishToolCalls
		}
		// The transport knows of no call, so a reason that tells of calls looked
		// odd to it.
		r.Warnings = slices.DeleteFunc(r.Warnings, func(w codecs.Warning) bool {
			return w.Code == codecs.WarnFinishOdd && w.Pointer != "/error"
		})
	}
	r.Warnings = append(r.Warnings, t.warnings...)
	return r, nil
}

func nativeCalls(r codecs.Reply) bool { return len(r.Calls()) > 0 }

// splice puts what was read out of the text in the place of the text. Thinking
// in tags takes the place of the server's own reasoning field.
func splice(parts []codecs.Part, t turn) []codecs.Part {
	var out []codecs.Part
	done := false
	for _, p := range parts {
		switch {
		case p.Kind == codecs.Text && done:
		case p.Kind == codecs.Text:
			out, done = append(out, t.parts...), true
		case p.Kind == codecs.Reasoning && t.thinking:
		default:
			out = append(out, p)
		}
	}
	return out
}

// read decodes the transport and returns the text, thinking and calls still in
// it.
func read(body []byte, p codecs.Profile) (codecs.Reply, string, error) {
	pointer, standard := contentAt(p)
	if standard {
		r, err := wire.Reply(body, transport(p))
		return r, r.Text(), err
	}
	return readAt(body, pointer)
}

// readAt reads a body that has its text at a place of its own, such as /text.
// success false is that host's error. Its finish reasons are those of the
// transport.
func readAt(body []byte, pointer string) (codecs.Reply, string, error) {
	root, err := codecs.ParseBody(codecs.Hermes, body)
	if err != nil {
		return codecs.Reply{}, "", err
	}
	if s := root.Get("success"); s.Kind() == jsonx.Bool && !s.Bool() {
		return codecs.Reply{}, "", failure(root, "API error: ", body)
	}
	text, ok := root.Lookup(pointer).Text()
	if !ok {
		if root.Get("error").Defined() {
			return codecs.Reply{}, "", failure(root, "response carried an error: ", body)
		}
		return codecs.Reply{}, "", &codecs.DecodeError{
			Dialect: codecs.Hermes, Pointer: pointer, Offset: -1,
			Err: fmt.Errorf("response has no text here, but %s; see content_pointer of the profile", root.Lookup(pointer).Kind()),
		}
	}
	r := codecs.Reply{
		ID: root.Get("id").Str(), Model: root.Get("model").Str(), Body: body,
		Parts: []codecs.Part{{Kind: codecs.Text, Text: text}},
	}
	for _, key := range []string{"finish_reason", "done_reason", "stop_reason"} {
		if r.RawFinish = root.Get(key).Str(); r.RawFinish != "" {
			if r.RawFinish == codecs.FinishError {
				return codecs.Reply{}, "", openai.EndedInError(body)
			}
			openai.SetFinish(&r, "/"+key)
			break
		}
	}
	for _, keys := range [][2]string{{"prompt_tokens", "completion_tokens"}, {"prompt_length", "num_generated_tokens"}} {
		from := root
		if u := root.Get("usage"); u.IsObject() {
			from = u
		}
		if in, out := from.Get(keys[0]), from.Get(keys[1]); r.Usage == nil && (in.Exists() || out.Exists()) {
			r.Usage = &codecs.Usage{}
			r.Usage.Input, _ = in.Int()
			r.Usage.Output, _ = out.Int()
		}
	}
	return r, text, nil
}

func failure(root jsonx.Value, prefix string, body []byte) *codecs.ProviderError {
	e := wire.Error(200, nil, root.Raw())
	message := e.Message
	for _, key := range []string{"error_message", "error_msg", "message", "error"} {
		if s := root.Get(key).Str(); s != "" {
			message = s
			break
		}
	}
	return &codecs.ProviderError{
		Dialect: codecs.Hermes, Status: 200, Code: e.Code, Message: message, Prefix: prefix,
		Kind: codecs.ErrorKind(200, e.Code, message), Body: body,
	}
}

// RawCalls returns native calls as they came; without any, one
// {"name","arguments"} for each call in the text. Calls that the limit cut are
// there, with their arguments as text.
func (c Codec) RawCalls(body []byte, p codecs.Profile) []codecs.Raw {
	if _, standard := contentAt(p); standard {
		if native := wire.RawCalls(body, p); len(native) > 0 {
			return native
		}
	}
	r, err := c.Reply(body, p)
	if err != nil {
		return nil
	}
	var out []codecs.Raw
	for _, call := range r.Calls() {
		args := call.Arguments
		if args == nil {
			args = jsonx.Quote(call.ArgumentsText)
		}
		var f jsonx.Fields
		out = append(out, f.Str("name", call.Name).Set("arguments", args).Raw())
	}
	return out
}

// ExtractCall reads {"name","arguments"} or a native call.
func (Codec) ExtractCall(raw codecs.Raw) (name string, arguments codecs.Raw, ok bool) {
	v, err := jsonx.Parse(raw)
	if err != nil || !v.IsObject() {
		return "", nil, false
	}
	if v.Get("function").IsObject() {
		return wire.ExtractCall(raw)
	}
	call, _ := wholeCall(string(raw), "")
	if call == nil {
		return "", nil, false
	}
	return call.Name, call.Arguments, true
}

// TextContent returns the text of a body without thinking and call blocks.
func (c Codec) TextContent(body []byte, p codecs.Profile) string {
	if r, err := c.Reply(body, p); err == nil {
		return r.Text()
	}
	at, standard := contentAt(p)
	text := ""
	if standard {
		text = wire.TextContent(body, transport(p))
	} else if root, err := codecs.ParseBody(codecs.Hermes, body); err == nil {
		text = root.Lookup(at).Str()
	}
	return codecs.Reply{Parts: lift(text, at, false, p).parts}.Text()
}
