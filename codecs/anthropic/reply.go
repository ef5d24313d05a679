package anthropic

import (
	"errors"
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Reply decodes a message. Besides blocks it accepts content that is null (a
// cut call without text, Ollama 0.17), and a string.
//
// An error envelope inside a 200, or an error beside no content, gives a
// *codecs.ProviderError; a body without content a *codecs.DecodeError.
// Usage.Input is input_tokens as the wire has it: it leaves cached tokens out.
func (c Codec) Reply(body []byte, p codecs.Profile) (codecs.Reply, error) {
	v, err := wire.ParseBody(codecs.Anthropic, body)
	if err != nil {
		return codecs.Reply{}, err
	}
	if err := errorInside(v, body); err != nil {
		return codecs.Reply{}, err
	}
	content := v.Get("content")
	switch content.Kind() {
	case jsonx.Array, jsonx.String, jsonx.Null:
	case jsonx.Absent:
		return codecs.Reply{}, decodeError("/content", errors.New("response contained no content"))
	default:
		return codecs.Reply{}, decodeError("/content", fmt.Errorf("want a list of content blocks, got %s", content.Kind()))
	}
	d := decoder{profile: p, reply: codecs.Reply{ID: v.Get("id").Str(), Model: v.Get("model").Str(), Body: codecs.Raw(body)}}
	if s, ok := content.Text(); ok {
		d.text(s, "/content", nil)
	}
	for i, b := range content.Items() {
		d.block(b, fmt.Sprintf("/content/%d", i))
	}
	d.finish(v)
	if p.UndecodableEcho == codecs.UndecodableVerbatim { // this host sends and reads a string
		for i := range d.calls {
			d.calls[i].Arguments = jsonx.Value{}
		}
	}
	wire.Tolerated(&d.reply, form, d.calls, "/stop_reason")
	d.reply.Usage, d.reply.Citations = readUsage(v.Get("usage")), d.cited.List
	return d.reply, nil
}

func decodeError(pointer string, err error) error {
	return &codecs.DecodeError{Dialect: codecs.Anthropic, Pointer: pointer, Offset: -1, Err: err}
}

// errorInside finds the error that a body with a good status carries. Beside
// content without a call it is not one: see Reply.
func errorInside(v jsonx.Value, body []byte) error {
	e := v.Get("error")
	base := wire.Scalar(v.Path("base_resp", "status_code")) // MiniMax
	failed := base != "" && base != "0" && v.Get("content").Len() == 0
	if !failed && v.Get("type").Str() != "error" && (!e.Defined() || v.Get("content").Len() > 0 && !slices.ContainsFunc(v.Get("content").Items(), isCall)) {
		return nil
	}
	code, message := envelope(v)
	if message == "" {
		message = "no error message"
	}
	return &codecs.ProviderError{
		Dialect: codecs.Anthropic, Status: 200, Kind: wire.ErrorKind(statusOf(code, 200), code, message),
		Code: code, Message: message, Body: body, Prefix: "response carried an error: ",
	}
}

func readUsage(u jsonx.Value) *codecs.Usage {
	if !u.IsObject() {
		return nil
	}
	num := func(keys ...string) int64 {
		n, _ := u.Path(keys...).Int()
		return n
	}
	return &codecs.Usage{
		Input: num("input_tokens"), Output: num("output_tokens"),
		Cached: num("cache_read_input_tokens"), CacheWrite: num("cache_creation_input_tokens"),
		Reasoning: num("output_tokens_details", "thinking_tokens"),
	}
}
