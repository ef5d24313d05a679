package suite

import (
	"encoding/base64"
	"errors"
	"fmt"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/suggest"
	"github.com/toolconform/conform/internal/wire"
)

// OpResult is what one codec operation gave: a value or an error, and the codes
// of its warnings.
type OpResult struct {
	Value    codecs.Raw
	Err      error
	Warnings []codecs.Warning
}

// Ops lists the operations of cases.
func Ops() []string {
	return []string{"tools", "request", "reply", "error", "continue", "truncate", "match", "parse_request", "render_reply", "render_error", "raw_calls", "extract_call", "text_content"}
}

// RunOp runs one codec-level operation of the reference. input is the input
// object of a case. An operation or an input that cannot be read is an error;
// what the codec says, error included, is the result.
func RunOp(c codecs.Full, op string, p codecs.Profile, input codecs.Raw) (OpResult, error) {
	in := jsonx.Of(input)
	switch op {
	case "tools":
		return opTools(c, p, in)
	case "request":
		return opRequest(c, p, in)
	case "reply":
		body, err := inputBody(in)
		if err != nil {
			return OpResult{}, err
		}
		r, err := c.Reply(body, p)
		if err != nil {
			return OpResult{Err: err}, nil
		}
		// The warnings of a result stand beside its value, for every operation.
		value, err := jsonx.Delete(neutral.View(r), "/warnings")
		return OpResult{Value: value, Warnings: r.Warnings}, err
	case "error":
		return opError(c, in)
	case "continue":
		return opContinue(c, p, in)
	case "truncate":
		return opTruncate(c, p, in)
	case "match":
		model, stream, ok := c.Match(sent(in, nil))
		var f jsonx.Fields
		return OpResult{Value: f.Str("model", model).Bool("stream", stream).Bool("ok", ok).Raw()}, nil
	case "parse_request":
		body, err := inputBody(in)
		if err != nil {
			return OpResult{}, err
		}
		req, warnings, err := c.ParseRequest(sent(in, body), p)
		if err != nil {
			return OpResult{Err: err}, nil
		}
		return OpResult{Value: neutral.ViewRequest(req), Warnings: warnings}, nil
	case "render_reply":
		r, err := neutral.Reply(in.Get("reply").Raw())
		if err != nil {
			return OpResult{}, err
		}
		body, warnings, err := c.RenderReply(r, p)
		return OpResult{Value: body, Warnings: warnings, Err: err}, nil
	case "render_error":
		return opRenderError(c, p, in)
	case "raw_calls", "extract_call", "text_content":
		readers, ok := c.(codecs.Readers)
		if !ok {
			return OpResult{}, fmt.Errorf("the codec of %s has no readers of single facts", c.Dialect())
		}
		return opRead(readers, op, p, in)
	}
	return OpResult{}, fmt.Errorf("no operation is called %.80q%s", op, suggest.Text(op, Ops()))
}

// opRead reads a single fact off a body or a call.
func opRead(c codecs.Readers, op string, p codecs.Profile, in jsonx.Value) (OpResult, error) {
	if op == "extract_call" {
		name, args, ok := c.ExtractCall(in.Get("call").Raw())
		var f jsonx.Fields
		if len(args) == 0 {
			args = codecs.Raw("null")
		}
		return OpResult{Value: f.Str("name", name).Set("arguments", args).Bool("ok", ok).Raw()}, nil
	}
	body, err := inputBody(in)
	switch {
	case err != nil:
		return OpResult{}, err
	case op == "raw_calls":
		return OpResult{Value: jsonx.List(c.RawCalls(body, p)...)}, nil
	default:
		return OpResult{Value: jsonx.Quote(c.TextContent(body, p))}, nil
	}
}

// sent is the request of a case. Its path may have a query.
func sent(in jsonx.Value, body []byte) codecs.In {
	out := codecs.Post(in.Get("path").Str(), body)
	if method := in.Get("method").Str(); method != "" {
		out.Method = method
	}
	return out
}

// inputBody returns the body of a case: body_text, or body_base64 where the
// bytes are not text.
func inputBody(in jsonx.Value) ([]byte, error) {
	if b, ok := in.Get("body_base64").Text(); ok {
		body, err := base64.StdEncoding.DecodeString(b)
		if err != nil {
			return nil, fmt.Errorf("body_base64: %w", err)
		}
		return body, nil
	}
	if s, ok := in.Get("body_text").Text(); ok {
		return []byte(s), nil
	}
	if b := in.Get("body"); b.Exists() {
		return b.Raw(), nil
	}
	return nil, errors.New("input has neither body_text nor body_base64 nor body")
}

func opTools(c codecs.Full, p codecs.Profile, in jsonx.Value) (OpResult, error) {
	tools, skipped, err := wire.ParseTools(in.Get("tools").Raw())
	if err != nil {
		return OpResult{Err: err}, nil
	}
	value, warnings, err := c.Tools(tools, p)
	return OpResult{Value: value, Warnings: append(skipped, warnings...), Err: err}, nil
}

func opRequest(c codecs.Full, p codecs.Profile, in jsonx.Value) (OpResult, error) {
	req := in.Get("request")
	if !req.Exists() {
		req = in
	}
	r, skipped, err := neutral.Request(req.Raw())
	if err != nil {
		return OpResult{Err: err}, nil
	}
	value, warnings, err := c.Request(r, p)
	return OpResult{Value: value, Warnings: append(skipped, warnings...), Err: err}, nil
}

func opError(c codecs.Full, in jsonx.Value) (OpResult, error) {
	status, _ := in.Get("status").Int()
	header := map[string][]string{}
	for _, m := range in.Get("headers").Members() {
		header[m.Key] = []string{m.Value.Str()}
	}
	body, err := inputBody(in)
	if err != nil {
		return OpResult{}, err
	}
	pe := c.Error(int(status), header, body)
	var f jsonx.Fields
	f.Str("kind", pe.Kind).Str("message", pe.Message).Int("status", int64(pe.Status)).Str("code", pe.Code).Str("retry_after", pe.RetryAfter)
	return OpResult{Value: f.Raw(), Err: pe}, nil
}

func opContinue(c codecs.Full, p codecs.Profile, in jsonx.Value) (OpResult, error) {
	body, err := inputBody(in)
	if err != nil {
		return OpResult{}, err
	}
	r, err := c.Reply(body, p)
	if err != nil {
		return OpResult{Err: err}, nil
	}
	results := []codecs.ToolResult{}
	if rs := in.Get("results"); rs.Defined() {
		if results, err = neutral.Results(rs.Raw()); err != nil {
			return OpResult{}, err
		}
	}
	msgs, warnings, err := c.Continue(r, results, p)
	return OpResult{Value: jsonx.List(msgs...), Warnings: append(append([]codecs.Warning(nil), r.Warnings...), warnings...), Err: err}, nil
}

func opTruncate(c codecs.Full, p codecs.Profile, in jsonx.Value) (OpResult, error) {
	body, err := inputBody(in)
	if err != nil {
		return OpResult{}, err
	}
	var tools []codecs.Tool
	if t := in.Get("tools"); t.Exists() {
		if tools, _, err = wire.ParseTools(t.Raw()); err != nil {
			return OpResult{}, err
		}
	}
	r, err := c.Reply(body, p)
	if err != nil {
		return OpResult{Err: err}, nil
	}
	rule := codecs.Safe
	if in.Get("rule").Str() == "documented" {
		rule = codecs.Documented
	}
	maxTokens, _ := in.Get("max_tokens").Int()
	kept, dropped, err := codecs.Truncate(r, tools, int(maxTokens), rule)
	var f jsonx.Fields
	f.Set("kept", neutral.ViewCalls(kept.Calls())).Set("dropped", neutral.ViewCalls(dropped))
	return OpResult{Value: f.Raw(), Warnings: kept.Warnings, Err: err}, nil
}

func opRenderError(c codecs.Full, p codecs.Profile, in jsonx.Value) (OpResult, error) {
	e := in.Get("error")
	status, _ := e.Get("status").Int()
	answer := c.RenderError(&codecs.ProviderError{
		Dialect: c.Dialect(), Status: int(status), Kind: e.Get("kind").Str(), Code: e.Get("code").Str(), Message: e.Get("message").Str(),
	}, p)
	var f jsonx.Fields
	return OpResult{Value: f.Int("status", int64(answer.Status)).Set("body", answer.Body).Raw()}, nil
}
