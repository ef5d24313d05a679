package neutral

import (
	"errors"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// View is the neutral JSON of a reply, as `conform decode` prints it and as
// cases expect it. Design, section 5.
func View(r codecs.Reply) codecs.Raw {
	var f jsonx.Fields
	f.Str("id", r.ID).Str("model", r.Model).Str("text", r.Text()).Str("reasoning", r.Reasoning())
	parts := make([]codecs.Raw, len(r.Parts))
	for i, p := range r.Parts {
		parts[i] = viewPart(p)
	}
	f.Set("parts", jsonx.List(parts...))
	f.Set("tool_calls", ViewCalls(r.Calls()))
	var server, client, media, cites, warns []codecs.Raw
	for _, p := range r.ServerCalls() {
		var o jsonx.Fields
		o.Str("type", p.Type).Str("id", p.ID)
		if s := jsonx.Of(p.Extra).Get("status"); s.Exists() {
			o.Set("status", s.Raw())
		} else {
			o.Set("status", codecs.Raw("null"))
		}
		server = append(server, o.Set("data", orNull(p.Extra)).Raw())
	}
	for _, p := range r.ClientCalls() {
		var o jsonx.Fields
		name := jsonx.Of(p.Extra).Get("name").Str()
		if name == "" { // a custom call of chat completions
			name = jsonx.Of(p.Extra).Path("custom", "name").Str()
		}
		client = append(client, o.Str("type", p.Type).Str("id", p.ID).Str("name", name).Set("data", orNull(p.Extra)).Raw())
	}
	for _, p := range r.Media() {
		var o jsonx.Fields
		media = append(media, o.Str("mime", p.Media.MIME).Int("bytes", int64(wire.DecodedSize(p.Media.Data))).Raw())
	}
	for _, c := range r.Citations {
		var o jsonx.Fields
		o.Str("url", c.URL)
		if c.Title != "" {
			o.Str("title", c.Title)
		}
		if c.StartIndex != nil {
			o.Int("start_index", *c.StartIndex)
		}
		if c.EndIndex != nil {
			o.Int("end_index", *c.EndIndex)
		}
		cites = append(cites, o.Raw())
	}
	f.Set("server_tool_calls", jsonx.List(server...)).Set("client_calls", jsonx.List(client...)).Set("media", jsonx.List(media...))
	f.Str("finish_reason", r.RawFinish).Str("finish", r.Finish).Str("finish_message", r.FinishMessage)
	if r.Usage == nil {
		f.Set("usage", codecs.Raw("null"))
	} else {
		var u jsonx.Fields
		u.Int("input", r.Usage.Input).Int("output", r.Usage.Output).Int("cached", r.Usage.Cached).
			Int("cache_write", r.Usage.CacheWrite).Int("reasoning", r.Usage.Reasoning)
		f.Set("usage", u.Raw())
	}
	f.Set("citations", jsonx.List(cites...))
	for _, w := range r.Warnings {
		warns = append(warns, viewWarning(w))
	}
	return f.Set("warnings", jsonx.List(warns...)).Raw()
}

func orNull(r codecs.Raw) codecs.Raw {
	if len(r) == 0 {
		return codecs.Raw("null")
	}
	return r
}

// ViewCalls is the neutral JSON of calls.
func ViewCalls(calls []codecs.ToolCall) codecs.Raw {
	out := make([]codecs.Raw, len(calls))
	for i, c := range calls {
		out[i] = viewCall(c)
	}
	return jsonx.List(out...)
}

func viewCall(c codecs.ToolCall) codecs.Raw {
	var o jsonx.Fields
	o.Int("pos", int64(c.Pos)).Str("id", c.ID).Str("name", c.Name).Set("arguments", orNull(c.Arguments)).Str("arguments_text", c.ArgumentsText)
	if c.ArgumentsErr == "" {
		o.Set("error", codecs.Raw("null"))
	} else {
		o.Str("error", c.ArgumentsErr)
	}
	return o.Raw()
}

func viewPart(p codecs.Part) codecs.Raw {
	var o jsonx.Fields
	o.Str("kind", string(p.Kind))
	if p.Type != "" {
		o.Str("type", p.Type)
	}
	if p.ID != "" {
		o.Str("id", p.ID)
	}
	switch p.Kind {
	case codecs.KindText, codecs.KindReasoning:
		o.Str("text", p.Text)
	case codecs.KindCall:
		o.Int("pos", int64(p.Call.Pos))
		if p.Call.Signature != "" {
			o.Str("signature", p.Call.Signature)
		}
	case codecs.KindMedia:
		o.Str("mime", p.Media.MIME)
		if p.Media.URI != "" {
			o.Str("uri", p.Media.URI)
		}
		o.Int("bytes", int64(wire.DecodedSize(p.Media.Data)))
	}
	if p.Signature != "" {
		o.Str("signature", p.Signature)
	}
	if p.Redacted {
		o.Bool("redacted", true)
	}
	if len(p.Extra) > 0 && p.Kind != codecs.KindCall {
		o.Set("extra", p.Extra)
	}
	return o.Raw()
}

func viewWarning(w codecs.Warning) codecs.Raw {
	var o jsonx.Fields
	return o.Str("code", w.Code).Str("path", w.Pointer).Str("message", w.Text).Raw()
}

// ViewWarnings is the neutral JSON of warnings.
func ViewWarnings(ws []codecs.Warning) codecs.Raw {
	out := make([]codecs.Raw, len(ws))
	for i, w := range ws {
		out[i] = viewWarning(w)
	}
	return jsonx.List(out...)
}

// ErrorKind names the kind of any error of this package: the kind of a
// ProviderError, truncated, decode, or error.
func ErrorKind(err error) string {
	var pe *codecs.ProviderError
	var te *codecs.TruncatedError
	var de *codecs.DecodeError
	switch {
	case errors.As(err, &pe):
		return string(pe.Kind)
	case errors.As(err, &te):
		return "truncated"
	case errors.As(err, &de):
		return "decode"
	}
	return "error"
}

// ViewError is the neutral JSON of an error: {"error":{"kind","message",
// "status"}}. A provider's message is given as the provider wrote it.
func ViewError(err error, status int) codecs.Raw {
	var o, e jsonx.Fields
	message := err.Error()
	var pe *codecs.ProviderError
	if errors.As(err, &pe) {
		message = pe.Message
		if pe.Status != 0 {
			status = pe.Status
		}
	}
	e.Str("kind", ErrorKind(err)).Str("message", message).Int("status", int64(status))
	return o.Set("error", e.Raw()).Raw()
}

// ViewRequest is the neutral JSON of a request.
func ViewRequest(req codecs.Request) codecs.Raw {
	var o jsonx.Fields
	o.Str("model", req.Model)
	msgs := make([]codecs.Raw, len(req.Messages))
	for i, m := range req.Messages {
		var mo jsonx.Fields
		mo.Str("role", m.Role)
		parts := make([]codecs.Raw, len(m.Parts))
		for j, p := range m.Parts {
			parts[j] = requestPart(p)
		}
		msgs[i] = mo.Set("parts", jsonx.List(parts...)).Raw()
	}
	o.Set("messages", jsonx.List(msgs...))
	tools := make([]codecs.Raw, len(req.Tools))
	for i, t := range req.Tools {
		var to jsonx.Fields
		tools[i] = to.Str("name", t.Name).Str("description", t.Description).Set("inputSchema", orNull(t.InputSchema)).Raw()
	}
	o.Set("tools", jsonx.List(tools...))
	if len(req.ServerTools) > 0 {
		o.Set("server_tools", jsonx.List(req.ServerTools...))
	}
	if req.Choice.Raw != nil {
		o.Set("choice", req.Choice.Raw)
	} else if req.Choice.Mode != "" {
		var c jsonx.Fields
		c.Str("mode", req.Choice.Mode)
		if req.Choice.Name != "" {
			c.Str("name", req.Choice.Name)
		}
		o.Set("choice", c.Raw())
	}
	if req.Parallel != nil {
		o.Bool("parallel", *req.Parallel)
	}
	if req.MaxTokens > 0 {
		o.Int("max_tokens", int64(req.MaxTokens))
	}
	if req.Stream {
		o.Bool("stream", true)
	}
	if len(req.Extra) > 0 {
		o.Set("extra", req.Extra)
	}
	return o.Raw()
}

// requestPart is viewPart with everything that a request part carries.
func requestPart(p codecs.Part) codecs.Raw {
	var o jsonx.Fields
	switch p.Kind {
	case codecs.KindCall:
		o.Str("kind", string(p.Kind)).Set("call", viewCall(*p.Call))
	case codecs.KindResult:
		var r jsonx.Fields
		if p.Result.Pos != nil {
			r.Int("pos", int64(*p.Result.Pos))
		}
		r.Str("id", p.Result.ID).Str("name", p.Result.Name).Set("content", jsonx.List(p.Result.Content...))
		if len(p.Result.Structured) > 0 {
			r.Set("structuredContent", p.Result.Structured)
		}
		r.Bool("isError", p.Result.IsError)
		o.Str("kind", string(p.Kind)).Set("result", r.Raw())
	case codecs.KindMedia:
		var m jsonx.Fields
		m.Str("mime", p.Media.MIME)
		if p.Media.URI != "" {
			m.Str("uri", p.Media.URI)
		}
		if p.Media.Name != "" {
			m.Str("name", p.Media.Name)
		}
		if p.Media.Data != "" {
			m.Str("data", p.Media.Data)
		}
		o.Str("kind", string(p.Kind)).Set("media", m.Raw())
	default:
		return viewPart(p)
	}
	return o.Raw()
}
