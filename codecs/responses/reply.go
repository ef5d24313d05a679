package responses

import (
	"errors"
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Reply decodes a response object. Parts come in the order of the output items:
//
//	reasoning            reasoning; Signature is encrypted_content, ID the item id
//	message              text, a part a block, ID the item id; a refusal block is opaque
//	function_call        call, also when nested in a message
//	what the provider ran, what the client must answer, what is unknown:
//	                     server, client, opaque, with the item in Extra
//	image_generation_call is followed by its image as media
//
// A failed response, and an error beside an empty output, is a *ProviderError;
// a body that has neither output, status nor error is a *DecodeError.
//
// RawFinish is incomplete_details.reason of an incomplete response, else the
// status.
func (c Codec) Reply(body []byte, p codecs.Profile) (codecs.Reply, error) {
	root, err := wire.ParseBody(codecs.Responses, body)
	if err != nil {
		return codecs.Reply{}, err
	}
	if !root.IsObject() {
		return codecs.Reply{}, &codecs.DecodeError{Dialect: codecs.Responses, Offset: -1, Err: fmt.Errorf("response is %s, not an object", root.Kind())}
	}
	output, status := root.Get("output"), root.Get("status").Str()
	if err := bodyError(root, output, status, body); err != nil {
		return codecs.Reply{}, err
	}
	items := output.Items()
	rd := reader{profile: p, shellDone: shellOutputs(items)}
	for i, item := range items {
		rd.item(item, fmt.Sprintf("/output/%d", i))
	}
	if rd.tagged {
		demoteNative(rd.parts)
	}
	r := codecs.Reply{
		ID: wire.Scalar(root.Get("id")), Model: root.Get("model").Str(), Parts: rd.parts, FinishMessage: strings.Join(rd.refusals, ""),
		Usage: readUsage(root.Get("usage")), Citations: rd.citations.List, Body: codecs.Raw(body), Warnings: rd.warnings,
	}
	finish(&r, root, rd)
	wire.Tolerated(&r, form, rd.calls, "")
	if msg := readError(root); hasError(root) && msg.text != "" {
		if r.FinishMessage == "" {
			r.FinishMessage = msg.text
		}
		r.Warnings = append(r.Warnings, codecs.Warnf(codecs.WarnFinishOdd, "/error", "the response has output and an error: %s", msg.text))
	}
	return r, nil
}

// bodyError finds the error that a 200 body carries in place of output.
func bodyError(root, output jsonx.Value, status string, body []byte) error {
	empty := output.Len() == 0
	failed := status == "failed"
	carried := hasError(root) || root.Get("type").Str() == "error" ||
		(!output.Exists() && status == "" && (root.Get("message").Str() != "" || root.Get("detail").Defined()))
	switch {
	case failed || (carried && (empty || asks(output))):
		m := readError(root)
		e := &codecs.ProviderError{Dialect: codecs.Responses, Status: 200, Code: m.code, Message: m.text, Body: body, Prefix: "response carried an error: "}
		if e.Message == "" {
			e.Message = "no error message"
		}
		e.Kind = errorKind(200, e.Code, e.Message)
		return e
	case output.IsArray():
		return nil
	case output.Defined():
		return decodeError("/output", fmt.Sprintf("output is %s, not a list of items", output.Kind()))
	case status == "":
		return decodeError("", "response contained no output")
	}
	return nil
}

// asks tells whether an output holds a call for the client.
func asks(output jsonx.Value) bool {
	found := false
	eachCall(output, func(jsonx.Value) { found = true })
	return found
}

// hasError tells whether error says anything: null, "" and {} do not.
func hasError(root jsonx.Value) bool {
	e := root.Get("error")
	return e.Str() != "" || e.Len() > 0
}

func decodeError(pointer, text string) error {
	return &codecs.DecodeError{Dialect: codecs.Responses, Pointer: pointer, Offset: -1, Err: errors.New(text)}
}

// demoteNative takes the text of native reasoning out of view: thinking that
// the text itself carries between tags wins over it (spec 2.7). The text stays
// in Extra.
func demoteNative(parts []codecs.Part) {
	for i, p := range parts {
		if p.Kind != codecs.KindReasoning || p.Text == "" || (p.ID == "" && p.Signature == "" && p.Extra == nil) {
			continue
		}
		var f jsonx.Fields
		if extra := jsonx.Of(p.Extra); !extra.Get("content").Exists() && !extra.Get("summary").Exists() {
			f.Set("summary", summaryOf(p.Text))
		}
		parts[i].Extra, parts[i].Text = f.Merge(p.Extra).Raw(), ""
	}
}

// cutUndecodable marks the calls that a token limit left undecodable: servers
// that get the status of the item wrong still tell the limit in the envelope.
func cutUndecodable(parts []codecs.Part) {
	for _, p := range parts {
		if p.Kind == codecs.KindCall && p.Call.ArgumentsErr != "" {
			p.Call.Cut = true
		}
	}
}

func readUsage(v jsonx.Value) *codecs.Usage {
	if !v.IsObject() {
		return nil
	}
	var u codecs.Usage
	u.Input, _ = v.Get("input_tokens").Int()
	u.Output, _ = v.Get("output_tokens").Int()
	u.Cached, _ = v.Path("input_tokens_details", "cached_tokens").Int()
	u.CacheWrite, _ = v.Path("input_tokens_details", "cache_write_tokens").Int()
	u.Reasoning, _ = v.Path("output_tokens_details", "reasoning_tokens").Int()
	return &u
}
