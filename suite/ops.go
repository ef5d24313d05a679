package suite

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

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
	return []string{"tools", "request", "reply", "stream", "error", "continue", "truncate", "match", "parse_request", "render_reply", "render_error", "raw_calls", "extract_call", "text_content"}
}

// ofBody are the operations that have the body of a reply, a request or an error
// as their input.
var ofBody = []string{"reply", "error", "continue", "truncate", "parse_request", "raw_calls", "text_content"}

// RunOp runs one codec-level operation of the reference. input is the input
// object of a case. An operation or an input that cannot be read is an error;
// what the codec says, error included, is the result.
func RunOp(c codecs.Full, op string, p codecs.Profile, input codecs.Raw) (out OpResult, err error) {
	in := jsonx.Of(input)
	readers, reads := c.(codecs.Readers)
	if !reads && slices.Contains([]string{"raw_calls", "extract_call", "text_content"}, op) {
		return out, fmt.Errorf("the codec of %s has no readers of single facts", c.Dialect())
	}
	var body []byte
	if op == "stream" && !streamed(in) {
		return out, errors.New("input has neither stream_text nor stream_base64")
	}
	if slices.Contains(ofBody, op) && !(streamed(in) && (op == "continue" || op == "truncate")) {
		if body, err = inputBody(in); err != nil {
			return out, err
		}
	}
	var f jsonx.Fields
	switch op {
	case "tools":
		tools, skipped, err := wire.ParseTools(in.Get("tools").Raw())
		if err != nil {
			return OpResult{Err: err}, nil
		}
		tools, _, renamed := c.Wire().ToolNames.Rename(tools)
		out.Value, out.Warnings, out.Err = c.Tools(tools, p)
		out.Warnings = slices.Concat(skipped, renamed, out.Warnings)
	case "request":
		req := in.Get("request")
		if !req.Exists() {
			req = in
		}
		r, skipped, err := neutral.Request(req.Raw())
		if err != nil {
			return OpResult{Err: err}, nil
		}
		r, _, renamed := c.Wire().ToolNames.RenameRequest(r)
		out.Value, out.Warnings, out.Err = c.Request(r, p)
		out.Warnings = slices.Concat(skipped, renamed, out.Warnings)
	case "reply":
		r, err := c.Reply(body, p)
		if err != nil {
			return OpResult{Err: err}, nil
		}
		// The warnings of a result stand beside its value, for every operation.
		value, err := jsonx.Delete(neutral.View(r), "/warnings")
		return OpResult{Value: value, Warnings: r.Warnings}, err
	case "stream":
		r, err := opStream(c, p, in)
		if err != nil {
			return OpResult{Err: err}, nil
		}
		value, err := jsonx.Delete(neutral.View(r), "/warnings")
		return OpResult{Value: value, Warnings: r.Warnings}, err
	case "error":
		return opError(c, in, body)
	case "continue":
		return opContinue(c, p, in, body)
	case "truncate":
		return opTruncate(c, p, in, body)
	case "match":
		model, stream, ok := c.Match(sent(in, nil))
		out.Value = f.Str("model", model).Bool("stream", stream).Bool("ok", ok).Raw()
	case "parse_request":
		req, warnings, err := c.ParseRequest(sent(in, body), p)
		if err != nil {
			return OpResult{Err: err}, nil
		}
		out.Value, out.Warnings = neutral.ViewRequest(req), warnings
	case "render_reply":
		r, err := neutral.Reply(in.Get("reply").Raw())
		if err != nil {
			return out, err
		}
		out.Value, out.Warnings, out.Err = c.RenderReply(r, p, codecs.Likeness{})
	case "render_error":
		e := in.Get("error")
		status, err := statusOf(e)
		if err != nil {
			return out, fmt.Errorf("error: %w", err)
		}
		answer := c.RenderError(&codecs.ProviderError{
			Dialect: c.Dialect(), Status: status, Kind: codecs.ErrorKind(e.Get("kind").Str()), Code: e.Get("code").Str(), Message: e.Get("message").Str(),
		}, p, codecs.Likeness{})
		out.Value = f.Int("status", int64(answer.Status)).Set("body", answer.Body).Raw()
	case "raw_calls":
		out.Value = jsonx.List(readers.RawCalls(body, p)...)
	case "extract_call":
		name, args, ok := readers.ExtractCall(in.Get("call").Raw())
		if len(args) == 0 {
			args = codecs.Raw("null")
		}
		out.Value = f.Str("name", name).Set("arguments", args).Bool("ok", ok).Raw()
	case "text_content":
		out.Value = jsonx.Quote(readers.TextContent(body, p))
	default:
		return out, fmt.Errorf("no operation is called %.80q%s", op, suggest.Text(op, Ops()))
	}
	return out, nil
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

// statusOf reads a status: none is 0, and what is no number a fault.
func statusOf(v jsonx.Value) (int, error) {
	status := v.Get("status")
	n, ok := status.Int()
	if status.Defined() && (!ok || n < 0 || n > 999) {
		return 0, fmt.Errorf("status: want an HTTP status, got %.80s", status.Raw())
	}
	return int(n), nil
}

func opError(c codecs.Full, in jsonx.Value, body []byte) (OpResult, error) {
	status, err := statusOf(in)
	if err != nil {
		return OpResult{}, err
	}
	header := map[string][]string{}
	for _, m := range in.Get("headers").Members() {
		header[m.Key] = []string{m.Value.Str()}
	}
	pe := c.Error(status, header, body)
	var f jsonx.Fields
	f.Str("kind", string(pe.Kind)).Str("message", pe.Message).Int("status", int64(pe.Status)).Str("code", pe.Code).Str("retry_after", pe.RetryAfter)
	return OpResult{Value: f.Raw(), Err: pe}, nil
}

// opStream decodes a stream: stream_text, or stream_base64 where the bytes are no
// text. splits are the offsets at which it is cut.
func opStream(c codecs.Full, p codecs.Profile, in jsonx.Value) (codecs.Reply, error) {
	stream := []byte(in.Get("stream_text").Str())
	if b, ok := in.Get("stream_base64").Text(); ok {
		var err error
		if stream, err = base64.StdEncoding.DecodeString(b); err != nil {
			return codecs.Reply{}, fmt.Errorf("stream_base64: %w", err)
		}
	}
	var splits []int
	from := int64(0)
	for i, at := range in.Get("splits").Items() {
		to, ok := at.Int()
		if !ok || to < from || to > int64(len(stream)) {
			return codecs.Reply{}, fmt.Errorf("splits: element %d: want an offset from %d to %d", i, from, len(stream))
		}
		splits, from = append(splits, int(to)), to
	}
	return DecodeStream(c, p, stream, splits...)
}

// DecodeStream decodes a stream that has come whole, cut at the offsets of splits.
func DecodeStream(c codecs.Full, p codecs.Profile, stream []byte, splits ...int) (codecs.Reply, error) {
	s, ok := c.(codecs.Streamer)
	if !ok {
		return codecs.Reply{}, fmt.Errorf("the codec of %s reads no streams", c.Dialect())
	}
	return wire.DecodeStream(s, p, stream, splits...)
}

// streamed tells whether an input has a stream in place of a body.
func streamed(in jsonx.Value) bool {
	return in.Get("stream_text").Exists() || in.Get("stream_base64").Exists()
}

// replyOf decodes the body of an input, or its stream.
func replyOf(c codecs.Full, p codecs.Profile, in jsonx.Value, body []byte) (codecs.Reply, error) {
	if streamed(in) {
		return opStream(c, p, in)
	}
	return c.Reply(body, p)
}

func opContinue(c codecs.Full, p codecs.Profile, in jsonx.Value, body []byte) (OpResult, error) {
	r, err := replyOf(c, p, in, body)
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

func opTruncate(c codecs.Full, p codecs.Profile, in jsonx.Value, body []byte) (OpResult, error) {
	var tools []codecs.Tool
	if t := in.Get("tools"); t.Exists() {
		var err error
		if tools, _, err = wire.ParseTools(t.Raw()); err != nil {
			return OpResult{}, err
		}
	}
	r, err := replyOf(c, p, in, body)
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
