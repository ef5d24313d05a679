package ollama

import (
	"errors"
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

var errNoMessage = errors.New("response contained no message")

// Reply decodes {"model","message":{"role","content","thinking"?,"tool_calls"?},
// "done","done_reason"?,"prompt_eval_count"?,"eval_count"?}. An error inside a
// 200, {"error":"text"}, is a *codecs.ProviderError.
func (Codec) Reply(body []byte, p codecs.Profile) (codecs.Reply, error) {
	root, err := codecs.ParseBody(codecs.Ollama, body)
	if err != nil {
		return codecs.Reply{}, err
	}
	if e := root.Get("error"); e.Defined() && root.IsObject() {
		pe := readError(root)
		pe.Status, pe.Body, pe.Prefix = 200, body, "response carried an error: "
		pe.Kind = codecs.ErrorKind(200, pe.Code, pe.Message)
		return codecs.Reply{}, pe
	}
	msg := root.Get("message")
	if !msg.IsObject() {
		return codecs.Reply{}, &codecs.DecodeError{Dialect: codecs.Ollama, Pointer: "/message", Offset: -1, Err: errNoMessage}
	}
	m := readAssistant(msg, "/message", p)
	r := codecs.Reply{Model: root.Get("model").Str(), Parts: m.parts, Warnings: m.warnings, Body: body}
	r.RawFinish = root.Get("done_reason").Str()
	codecs.SetFinish(&r, finishes, "/done_reason")
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

// RawCalls returns the entries of message.tool_calls that have a name.
func (Codec) RawCalls(body []byte, _ codecs.Profile) []codecs.Raw {
	root, err := codecs.ParseBody(codecs.Ollama, body)
	if err != nil {
		return nil
	}
	var out []codecs.Raw
	for _, c := range root.Path("message", "tool_calls").Items() {
		if nameOf(c) != "" {
			out = append(out, c.Raw())
		}
	}
	return out
}

// ExtractCall reads {"id"?,"function":{"name","arguments"}}. arguments is nil
// when they do not decode to an object.
func (Codec) ExtractCall(raw codecs.Raw) (name string, arguments codecs.Raw, ok bool) {
	v, err := jsonx.Parse(raw)
	if err != nil {
		return "", nil, false
	}
	call, _ := readCall(v, "")
	if call == nil {
		return "", nil, false
	}
	return call.Name, call.Arguments, true
}

// TextContent returns message.content without thinking.
func (c Codec) TextContent(body []byte, p codecs.Profile) string {
	if r, err := c.Reply(body, p); err == nil {
		return r.Text()
	}
	root, err := codecs.ParseBody(codecs.Ollama, body)
	if err != nil {
		return ""
	}
	parts, _ := codecs.SplitThink(contentText(root.Path("message", "content")), p)
	return codecs.Reply{Parts: parts}.Text()
}

// RenderReply encodes r as the server does with stream false. The wire has one
// order, thinking, content, calls; parts that stand in another are regrouped
// with a warning. Arguments that are no object go out as a string, the form of
// older and foreign servers.
func (c Codec) RenderReply(r codecs.Reply, p codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	msg, warnings := assistantMessage(r.Parts, renderReply, p)
	for i := range warnings {
		warnings[i].Pointer = "/message"
	}
	finish := r.RawFinish
	if finish == "" || (r.Finish != "" && finishes[finish] == "") {
		finish = rawFinish(r.Finish)
	}
	model := r.Model
	if model == "" {
		model = "model"
	}
	var usage codecs.Usage
	if r.Usage != nil {
		usage = *r.Usage
	}
	var f jsonx.Fields
	f.Str("model", model).Str("created_at", "2026-01-01T00:00:00Z").Set("message", msg).Bool("done", true)
	if finish != "" {
		f.Str("done_reason", finish)
	}
	for _, key := range []string{"total_duration", "load_duration"} {
		f.Int(key, 0)
	}
	f.Int("prompt_eval_count", usage.Input).Int("prompt_eval_duration", 0).Int("eval_count", usage.Output).Int("eval_duration", 0)
	if usage.Cached != 0 || usage.CacheWrite != 0 || usage.Reasoning != 0 {
		warnings = append(warnings, codecs.Warnf(codecs.WarnLossy, "", "this wire counts input and output tokens only"))
	}
	if r.Unfinished > 0 {
		warnings = append(warnings, codecs.Warnf(codecs.WarnLossy, "/parts", "%d call(s) that were cut before their name are left out", r.Unfinished))
	}
	if r.ID != "" {
		warnings = append(warnings, codecs.Warnf(codecs.WarnLossy, "", "this wire has no id of a reply"))
	}
	body := f.Raw()
	if err := jsonx.Check(body); err != nil { // a raw value of the caller's
		return nil, nil, fmt.Errorf("ollama: reply: a raw value is not JSON: %w", err)
	}
	return body, append(warnings, codecs.LostFinish(c, r, body, p)...), nil
}

// rawFinish is the reverse of the finish table; stop stands in for a reason that
// the wire lacks.
func rawFinish(finish string) string {
	switch finish {
	case "":
		return ""
	case codecs.FinishLength:
		return "length"
	}
	return "stop"
}
