package hermes

import (
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
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
		r, err := chat.Reply(body, p)
		return r, own(err)
	}
	at, _ := contentAt(p)
	t := lift(text, at, r.Finish == codecs.FinishLength, p)
	r.Parts = splice(r.Parts, t)
	r.Unfinished += t.unfinished
	if t.calls > 0 {
		// As in the transport: what an error left of its calls is not run.
		if root := jsonx.Of(body); root.Get("error").Defined() {
			return codecs.Reply{}, failure(root, "response carried an error: ", body)
		}
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
	wire.Unread(&r, nil)
	return r, nil
}

func nativeCalls(r codecs.Reply) bool { return len(r.Calls()) > 0 }

// read decodes the transport and returns the text, thinking and calls still in
// it.
func read(body []byte, p codecs.Profile) (codecs.Reply, string, error) {
	pointer, standard := contentAt(p)
	if standard {
		r, err := chat.Reply(body, transport(p))
		return r, r.Text(), err
	}
	return readAt(body, pointer)
}

// readAt reads a body that has its text at a place of its own, such as /text.
// success false is that host's error. Its finish reasons are those of the
// transport.
func readAt(body []byte, pointer string) (codecs.Reply, string, error) {
	root, err := wire.ParseBody(codecs.Hermes, body)
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
		Parts: []codecs.Part{{Kind: codecs.KindText, Text: text}},
	}
	for _, key := range []string{"finish_reason", "done_reason", "stop_reason"} {
		if r.RawFinish = root.Get(key).Str(); r.RawFinish != "" {
			if r.RawFinish == codecs.FinishError {
				return codecs.Reply{}, "", wire.EndedInError(codecs.Hermes, body)
			}
			wire.SetFinish(&r, chat.Wire().Finishes, "/"+key)
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
