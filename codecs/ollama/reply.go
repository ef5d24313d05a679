package ollama

import (
	"errors"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

var errNoMessage = errors.New("response contained no message")

// Reply decodes {"model","message":{"role","content","thinking"?,"tool_calls"?},
// "done","done_reason"?,"prompt_eval_count"?,"eval_count"?}. An error inside a
// 200, {"error":"text"}, is a *codecs.ProviderError.
func (c Codec) Reply(body []byte, p codecs.Profile) (codecs.Reply, error) {
	root, err := wire.ParseBody(codecs.Ollama, body)
	if err != nil {
		return codecs.Reply{}, err
	}
	if e := root.Get("error"); e.Defined() && root.IsObject() {
		pe := readError(root)
		pe.Status, pe.Body, pe.Prefix = 200, body, "response carried an error: "
		pe.Kind = wire.ErrorKind(200, pe.Code, pe.Message)
		return codecs.Reply{}, pe
	}
	msg := root.Get("message")
	if !msg.IsObject() {
		return codecs.Reply{}, &codecs.DecodeError{Dialect: codecs.Ollama, Pointer: "/message", Offset: -1, Err: errNoMessage}
	}
	m := readAssistant(msg, "/message", p)
	r := codecs.Reply{Model: root.Get("model").Str(), Parts: m.parts, Warnings: m.warnings, Body: body}
	r.RawFinish = root.Get("done_reason").Str()
	wire.SetFinish(&r, finishes, "/done_reason")
	wire.Tolerated(&r, form, m.calls, "")
	r.Usage = readUsage(root)
	return r, nil
}

// readUsage reads the token counts. The server leaves out a count of 0.
func readUsage(root jsonx.Value) *codecs.Usage {
	in, out := root.Get("prompt_eval_count"), root.Get("eval_count")
	if !in.Exists() && !out.Exists() {
		return nil
	}
	var u codecs.Usage
	u.Input, _ = in.Int()
	u.Output, _ = out.Int()
	return &u
}
