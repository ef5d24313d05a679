package loop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wait"
	"github.com/toolconform/conform/internal/wire"
)

func (r *run) check() error {
	switch {
	case r.Codec == nil:
		return errors.New("loop: Config.Codec is not set")
	case r.Sender == nil:
		return errors.New("loop: Config.Sender is not set")
	}
	if _, ok := r.Codec.(codecs.Streamer); r.Stream && !ok {
		return fmt.Errorf("loop: Config.Stream is set, but the codec of %s reads no streams", r.Codec.Dialect())
	}
	return nil
}

// prepare settles the server tools, then lists the tools of every server.
func (r *run) prepare(ctx context.Context) error {
	if err := r.mergeServerTools(); err != nil {
		return err
	}
	if err := r.listTools(ctx); err != nil {
		return err
	}
	r.fitNames()
	var warnings []codecs.Warning
	r.prompt, warnings = wire.PairHistory(r.prompt)
	r.warn(warnings)
	return nil
}

// fitNames gives tools whose names the wire refuses other names, in the tools
// that are offered, the choice and the history.
func (r *run) fitNames() {
	fit, own, warnings := r.Codec.Wire().ToolNames.RenameRequest(codecs.Request{Messages: r.Messages, Tools: r.tools, Choice: r.Choice})
	r.prompt, r.tools, r.Choice, r.out.ToolNames = fit.Messages, fit.Tools, fit.Choice, own
	r.warn(warnings)
}

// mergeServerTools checks both lists whole, so that a default that is wrong is
// found although it would give way. Source: SV03 to SV11.
func (r *run) mergeServerTools() error {
	if r.Profile.ServerTools == codecs.ServerToolsNo && len(r.ServerTools)+len(r.RequestServerTools) > 0 {
		return errors.New("loop: this engine takes no server tools; leave ServerTools and RequestServerTools empty")
	}
	for _, list := range [][]codecs.Raw{r.ServerTools, r.RequestServerTools} {
		for i, t := range list {
			if err := jsonx.Check(t); err != nil {
				return fmt.Errorf("server_tools[%d]: %w", i, err)
			}
		}
		if err := wire.CheckServerTools(r.Codec.Dialect(), list, r.AllowUnlistedServerTools); err != nil {
			return err
		}
	}
	merged, warnings := wire.MergeServerTools(r.RequestServerTools, r.ServerTools)
	r.warn(warnings)
	for i, t := range merged { // the caller may go on writing into its own
		merged[i] = slices.Clone(t)
	}
	if r.CheckServerTool != nil {
		for i, t := range merged {
			checked, err := r.CheckServerTool(t)
			if err != nil {
				return fmt.Errorf("server_tools[%d]: %w", i, err)
			}
			if err := jsonx.Check(checked); err != nil {
				return fmt.Errorf("server_tools[%d]: as CheckServerTool returned it: %w", i, err)
			}
			merged[i] = checked
		}
	}
	r.server = merged
	return nil
}

// listTools asks every server once, in order. The first offer of a name wins.
// Source: spec 2.1 (2, 3), LP06.
func (r *run) listTools(ctx context.Context) error {
	r.owner = map[string]ToolServer{}
	first := map[string]int{}
	for i, s := range r.Servers {
		if s == nil {
			return &ToolServerError{Number: i + 1, Name: "nil", Err: errors.New("the server is nil")}
		}
		tools, err := within(ctx, r.CallTimeout, func(ctx context.Context) ([]codecs.Tool, error) { return s.ListTools(ctx) })
		if ctx.Err() != nil {
			return r.cancelled(ctx)
		}
		if err != nil {
			return &ToolServerError{Number: i + 1, Name: s.Name(), Err: err}
		}
		for k, t := range tools {
			if t.Name == "" {
				r.warn([]codecs.Warning{codecs.Warnf(codecs.WarnToolSkipped, "", "entry %d of MCP server %d (%s) has no name", k, i+1, s.Name())})
				continue
			}
			t.InputSchema = wire.Schema(t)
			if v, err := jsonx.Parse(t.InputSchema); err != nil || !v.IsObject() {
				return &ToolServerError{Number: i + 1, Name: s.Name(), Err: fmt.Errorf("the input schema of tool %q is no JSON object", t.Name)}
			}
			if at, again := first[t.Name]; again {
				r.warn([]codecs.Warning{codecs.Warnf(codecs.WarnToolDuplicate, "",
					"tool '%s' is offered by MCP server %d (%s) and MCP server %d (%s); using the first",
					t.Name, at+1, r.Servers[at].Name(), i+1, s.Name())})
				continue
			}
			first[t.Name], r.owner[t.Name] = i, s
			r.tools = append(r.tools, t)
		}
	}
	return nil
}

// ask sends the prompt with everything that follows it and reads the reply.
func (r *run) ask(ctx context.Context) (codecs.Reply, error) {
	if ctx.Err() != nil {
		return codecs.Reply{}, r.cancelled(ctx)
	}
	req := codecs.Request{
		Model: r.Model, Messages: r.prompt, Tools: r.tools, ServerTools: r.server,
		Choice: r.Choice, Parallel: r.Parallel, MaxTokens: r.MaxTokens, Stream: r.Stream, Extra: r.Extra,
	}
	if len(r.out.Native) > 0 {
		tail := codecs.Message{Role: "assistant", Native: r.out.Native}
		req.Messages = append(append(make([]codecs.Message, 0, len(r.prompt)+1), r.prompt...), tail)
	}
	body, warnings, err := r.Codec.Request(req, r.Profile)
	r.warnOnce(warnings)
	if err != nil {
		return codecs.Reply{}, err
	}
	if len(r.out.Requests) == 0 {
		r.limit = r.tokenLimit(body)
	}
	r.out.Requests = append(r.out.Requests, body)
	r.out.Iterations++

	var over atomic.Bool // what the answer still gives is not used
	emit := func(events []codecs.Event) {
		for i := 0; r.OnEvent != nil && i < len(events) && !over.Load(); i++ {
			r.OnEvent(events[i])
		}
	}
	a, err := within(ctx, r.RequestTimeout, func(ctx context.Context) (answer, error) {
		return r.exchange(ctx, Call{Body: body, Stream: r.Stream}, emit)
	})
	over.Store(true)
	r.keep(a.sent)
	switch {
	case err != nil && ctx.Err() != nil:
		return codecs.Reply{}, r.cancelled(ctx)
	case err != nil:
		r.out.Reply = a.reply
		return codecs.Reply{}, &SendError{Prefix: r.prefix, Err: err}
	case a.status < 200 || a.status > 299:
		pe := r.Codec.Error(a.status, a.header, a.body[:min(len(a.body), codecs.MaxBody)])
		return codecs.Reply{}, &RequestError{Prefix: r.prefix, Status: a.status, Err: pe}
	case len(a.body) > codecs.MaxBody:
		return codecs.Reply{}, &codecs.DecodeError{
			Dialect: r.Codec.Dialect(), Offset: codecs.MaxBody,
			Err: fmt.Errorf("the body of the reply is larger than the limit of %d bytes", codecs.MaxBody),
		}
	case a.ended != nil:
		r.out.Reply = a.reply
		r.warn(a.reply.Warnings)
		return codecs.Reply{}, a.ended
	case r.Stream:
		return a.reply, nil
	}
	return r.Codec.Reply(a.body, r.Profile)
}

// keep puts what was really sent, nil for the body of the call, in its place among
// the requests, and lets the oldest go that are too much.
func (r *run) keep(sent codecs.Raw) {
	n := len(r.out.Requests) - 1
	if sent != nil {
		r.out.Requests[n] = sent
	}
	r.kept += len(r.out.Requests[n])
	most := r.KeepRequests
	if most == 0 {
		most = DefaultKeep
	}
	for i := 0; i < n && most >= 0 && r.kept > most; i++ {
		r.kept -= len(r.out.Requests[i])
		r.out.Requests[i] = nil
	}
}

// answer is a Response that was read.
type answer struct {
	status int
	header map[string][]string
	body   []byte       // at most codecs.MaxBody bytes, and one more where there are more; nil of a stream
	reply  codecs.Reply // of a stream, as far as it came
	ended  error        // how the stream ended, nil when well
	sent   codecs.Raw
}

// exchange sends a request and reads the answer. The end of ctx closes the body,
// so that a reader that pays no heed to it ends, too.
func (r *run) exchange(ctx context.Context, call Call, emit func([]codecs.Event)) (answer, error) {
	resp, err := r.Sender.Send(ctx, call)
	if err != nil {
		return answer{}, err
	}
	if resp == nil {
		return answer{}, errors.New("the sender gave neither an answer nor an error")
	}
	a := answer{status: resp.Status, header: resp.Header, sent: resp.Sent}
	if resp.Body == nil {
		resp.Body = io.NopCloser(strings.NewReader(""))
	}
	done := sync.OnceFunc(func() { resp.Body.Close() })
	defer done()
	defer context.AfterFunc(ctx, done)()
	if call.Stream && a.status >= 200 && a.status <= 299 {
		d := r.Codec.(codecs.Streamer).Stream(r.Profile) // checked
		err = feed(d, resp.Body, emit)
		if a.reply, a.ended = d.Close(); a.ended == nil { // it was whole before whatever broke
			return a, nil
		}
	} else {
		a.body, err = io.ReadAll(io.LimitReader(resp.Body, codecs.MaxBody+1))
	}
	switch {
	case err != nil && ctx.Err() != nil: // the body was closed under the reader
		return a, ctx.Err()
	case err != nil:
		return a, fmt.Errorf("reading the answer (status %d): %w", a.status, err)
	}
	return a, nil
}

// feed gives a stream to its decoder as it comes. What the decoder says against
// it, Close says again: the error is that of the reader.
func feed(d codecs.Decoder, body io.Reader, emit func([]codecs.Event)) error {
	chunk := make([]byte, 16<<10)
	for {
		n, err := body.Read(chunk)
		events, end := d.Feed(chunk[:n])
		emit(events)
		switch {
		case end != nil || err == io.EOF:
			return nil
		case err != nil:
			return err
		}
	}
}

// tokenLimit is the limit that the request carries: what Extra or a default of
// the dialect put there counts, which only the dialect itself can read.
func (r *run) tokenLimit(body codecs.Raw) int {
	limit := r.MaxTokens
	if limit == 0 {
		limit = r.Profile.MaxTokens
	}
	if half, ok := r.Codec.(codecs.ServerHalf); ok {
		if req, _, err := half.ParseRequest(codecs.Post(r.Codec.Endpoint(r.Model, false), body), r.Profile); err == nil && req.MaxTokens > 0 {
			limit = req.MaxTokens
		}
	}
	return limit
}

// cancelled says how far the run got when its context ended.
func (r *run) cancelled(ctx context.Context) error {
	return fmt.Errorf("ended after %d request(s) and %d tool call(s): %w", len(r.out.Requests), len(r.out.Ran), ctx.Err())
}

// within runs f under a timeout and returns at the latest when the context
// ends, even if f pays no heed to it. Then f is left to itself: what it still
// gives is not used.
func within[T any](ctx context.Context, timeout time.Duration, f func(context.Context) (T, error)) (T, error) {
	var cancel context.CancelFunc = func() {}
	if timeout > 0 {
		ctx, cancel = context.WithTimeout(ctx, timeout)
	}
	defer cancel()
	v, err := wait.For(ctx, 0, func() (T, error) { return f(ctx) })
	if timeout > 0 && errors.Is(ctx.Err(), context.DeadlineExceeded) && err == ctx.Err() {
		return v, fmt.Errorf("no answer within %s: %w", timeout, ctx.Err())
	}
	return v, err
}
