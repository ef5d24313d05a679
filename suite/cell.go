package suite

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wait"
	"github.com/toolconform/conform/loop"
	"github.com/toolconform/conform/suite/client"
	"github.com/toolconform/conform/suite/replay"
	"github.com/toolconform/conform/suite/results"
	"github.com/toolconform/conform/suite/toolserver"
)

// replayKey stands for an API key in replays. It is no secret.
const replayKey = "conform-replay"

// cell is one scenario of one row: what it is played from, and what happened.
type cell struct {
	resolved engines.Resolved
	codec    codecs.Full
	scenario fixtures.Scenario
	stream   bool

	tape      *cassettes.Tape // nil: the script is rendered
	lacks     string          // why the tape shows nothing of what the scenario is about
	script    replay.Script
	model     string
	maxTokens int
	extra     codecs.Raw

	transcript replay.Transcript
	outcome    client.Outcome
}

// cell runs one scenario against one row, or says why not. base is the first row
// with the same key, nil for that row itself. model is the one that was asked for,
// "" when none was: a tape of another model says nothing about it.
func (r *run) cell(ctx context.Context, row row, s fixtures.Scenario, stream bool, base *played, model string) (out results.Cell) {
	out = results.Cell{Scenario: s.ID, Stream: stream}
	defer func() {
		if p := recover(); p != nil {
			out.Break(fmt.Sprintf("panic: %v", p))
		}
	}()
	if reason := notHere(row.Resolved, s, stream); reason != "" && !r.listed {
		out.Verdict, out.Reason = results.NA, reason
		return out
	}
	if _, ok := row.codec.(codecs.StreamRenderer); stream && !ok {
		out.Verdict, out.Reason = results.NotRun, "this codec writes no streams"
		return out
	}
	if reason := lacks(r.info, row.Dialect, s, stream); reason != "" {
		out.Verdict, out.Reason = results.NA, reason
		return out
	}
	entry, taped := r.Tapes.Find(row.Engine.Name, s.ID)
	taped = taped && !stream && (model == "" || entry.Model == model)
	if !taped && base.standsFor(row, s, stream) {
		out.Verdict = results.Same
		return out
	}
	c := cell{resolved: row.Resolved, codec: row.codec, scenario: s, stream: stream}
	var err error
	if taped {
		out.Tape = entry.Tape
		if entry.Model != row.Model {
			out.Model = entry.Model
		}
		out.Origin = results.Origin(entry.Origin.Kind)
		err = c.useTape(r.Runner, entry)
	} else {
		out.Origin = results.Synthetic
		c.scenario = s.At(string(row.Dialect), func(name string) string { return row.Facts.Of(name).Value })
		c.model, c.maxTokens = row.Model, s.Request.MaxTokens
		c.script, err = replay.FromScenario(c.scenario, c.codec, row.Profile, row.Likeness, c.model, stream)
	}
	if reason := replay.CannotSay(""); errors.As(err, &reason) {
		err = fmt.Errorf("%s: the scenario does not leave this engine out for it", reason)
	}
	if err == nil {
		err = c.play(ctx, r)
	}
	if err != nil {
		out.Break(err.Error())
		return out
	}
	if c.outcome.Unsupported != "" {
		out.Verdict, out.Reason, out.Origin, out.Tape, out.Model = results.NA, "the client: "+c.outcome.Unsupported, "", "", ""
		return out
	}
	c.judge(&out, r.reference)
	if r.Keep != nil {
		if out.Transcript, err = r.Keep(Played{Client: r.info, Engine: row.Engine.Name, Dialect: row.Dialect, Model: c.model, Key: replayKey, Cell: out, Transcript: c.transcript}); err != nil {
			out.Break("keeping the transcript: " + err.Error())
		}
	}
	return out
}

// notHere tells why a scenario does not apply to an engine, as far as data says.
func notHere(res engines.Resolved, s fixtures.Scenario, stream bool) string {
	fact := func(name string) string { return res.Facts.Of(name).Value }
	profile := func(name string) string {
		p, _ := jsonx.Marshal(res.Profile)
		return jsonx.Of(p).Get(name).Str()
	}
	if reason, excluded := s.Excludes(string(res.Dialect), fact, profile); excluded {
		return reason
	}
	if reason := cannotSay(res.Likeness, s); reason != "" {
		return reason
	}
	mode := map[bool]string{false: "off", true: "on"}[stream]
	switch {
	case !slices.Contains(s.Streams(), mode):
		return "the scenario is not played with streams " + mode
	case stream && res.Engine.NoStream != "":
		return "this engine cannot stream: " + res.Engine.NoStream
	case !stream && streamOnly(res.Engine):
		return "this engine answers as a stream only"
	}
	return ""
}

// cannotSay tells which turn of a scenario an engine never sends.
func cannotSay(l codecs.Likeness, s fixtures.Scenario) string {
	for _, f := range s.Features {
		if reason := l.Cannot[f]; reason != "" {
			return reason
		}
	}
	for _, t := range s.Turns {
		if reason := l.Cannot[t.Finish]; reason != "" {
			return reason
		}
	}
	if errorIn200(s) {
		return l.Cannot[codecs.SaysErrorIn200]
	}
	return ""
}

// lacks tells which ability the scenario needs that the client does not claim.
func lacks(info client.Info, d codecs.Dialect, s fixtures.Scenario, stream bool) string {
	switch {
	case len(info.Dialects) > 0 && !slices.Contains(info.Dialects, d):
		return "the client does not speak this dialect"
	case stream && (info.Stream == "" || info.Stream == "off"):
		return "the client asks for no streams"
	case !stream && info.Stream == "on":
		return "the client asks for streams only"
	case s.Request.MaxIterations > 0 && !info.Features.MaxIterations:
		return "the client takes no limit of iterations"
	case len(s.Servers) > 1 && !info.Features.MultiServer:
		return "the client takes one tool server only"
	case len(s.ServerTools[string(d)]) > 0 && !info.Features.ServerTools:
		return "the client sends no server tools"
	}
	return ""
}

// streamOnly tells whether the entry of an engine asks for a stream on every
// request.
func streamOnly(e engines.Engine) bool {
	return slices.ContainsFunc(e.BodySet, func(set engines.BodyEdit) bool { return set.Pointer == "/stream" && string(set.Value) == "true" })
}

// useTape takes the engine's side from recorded or documented exchanges. The
// tape brings the model and the request parameters that it was made with, and
// may say how its end differs from the scenario's.
func (c *cell) useTape(r Runner, entry cassettes.Entry) error {
	tape, err := cassettes.Read(r.Tapes.FS, entry.Tape)
	if err != nil {
		return err
	}
	return c.fromTape(r, tape, entry)
}

func (c *cell) fromTape(r Runner, tape cassettes.Tape, entry cassettes.Entry) error {
	engine, err := r.Catalog.Lookup(entry.Engine)
	if err != nil {
		return err
	}
	c.resolved = engine.Resolve(entry.Model)
	c.tape, c.lacks, c.script = &tape, entry.Lacks, replay.FromTape(tape)
	c.model, c.maxTokens = entry.Model, entry.MaxTokens
	if len(entry.Extra) > 0 {
		// The layout of the index is no part of a request.
		if c.extra, err = jsonx.Compact(entry.Extra); err != nil {
			return fmt.Errorf("tape %s: extra: %w", entry.Tape, err)
		}
	}
	if len(entry.Expect) == 0 {
		return nil
	}
	// Into a fresh value: the scenario is shared by every row.
	var own fixtures.Expect
	if err := json.Unmarshal(entry.Expect, &own); err != nil {
		return fmt.Errorf("tape %s: expect: %w", entry.Tape, err)
	}
	for _, m := range jsonx.Of(entry.Expect).Members() {
		switch m.Key {
		case "tool_calls":
			c.scenario.Expect.ToolCalls = own.ToolCalls
		case "requests":
			c.scenario.Expect.Requests = own.Requests
		case "end":
			c.scenario.Expect.End = own.End
		case "warnings":
			c.scenario.Expect.Warnings = own.Warnings
		default:
			return fmt.Errorf("tape %s: expect: a tape may replace tool_calls, requests, end and warnings, not %q", entry.Tape, m.Key)
		}
	}
	return nil
}

// play gives the client its task and writes down what happens.
func (c *cell) play(ctx context.Context, r *run) error {
	conversation := &replay.Conversation{
		Codec: c.codec, Profile: c.resolved.Profile, Likeness: c.resolved.Likeness, Script: c.script, Model: c.model, Paths: c.resolved.Engine.Paths(),
	}
	var log toolserver.Log
	var err error
	task := c.task()
	task.Timeout = cmp.Or(r.Timeout, time.Minute)
	if r.info.Addresses {
		var end func()
		end, err = c.listen(&task, conversation, &log)
		defer end()
		if err != nil {
			return err
		}
	} else {
		if task.ToolServers, err = r.tools.local(ctx, c.scenario); err != nil {
			return err
		}
		task.Transport = conversation
		ctx = toolserver.WithLog(ctx, &log)
	}
	if c.outcome, err = r.outcome(ctx, task); err != nil {
		return err
	}
	c.transcript = conversation.Transcript()
	for _, k := range log.Calls() {
		call := replay.Call{Server: k.Server, Name: k.Name, Arguments: k.Arguments, Result: k.Result}
		if k.Err != nil {
			call.Error = k.Err.Message
		}
		c.transcript.Calls = append(c.transcript.Calls, call)
	}
	c.transcript.End = replay.End{Text: c.outcome.Text}
	if e := c.outcome.Error; e != nil {
		c.transcript.End = replay.End{Kind: e.Kind, Message: e.Message}
	}
	return nil
}

// outcome lets the client do its task, and goes on without a client that does not
// end in time. The error is a panic of the client.
func (r *run) outcome(ctx context.Context, task client.Task) (client.Outcome, error) {
	ctx, cancel := context.WithTimeout(ctx, task.Timeout)
	defer cancel()
	out, err := wait.For(ctx, settle, func() (client.Outcome, error) { return r.client.Run(ctx, task), nil })
	if err != nil && errors.Is(err, ctx.Err()) {
		return client.Outcome{Error: &client.Error{Kind: loop.KindCancelled, Message: fmt.Sprintf("the client did not end within %s", task.Timeout)}}, nil
	}
	return out, err
}

// settle is how long a client whose time is up may take to end in order.
const settle = time.Second

// task is what the client is told.
func (c *cell) task() client.Task {
	vars := map[string]string{}
	for name, value := range c.resolved.Engine.Vars {
		if value == "" {
			vars[name] = "replay"
		}
	}
	req := c.scenario.Request
	return client.Task{
		Dialect: c.codec.Dialect(), Engine: c.resolved.Engine.Name, Model: c.model, Profile: c.resolved.Profile, Vars: vars, Key: replayKey,
		System: req.System, Messages: req.Messages, ServerTools: c.scenario.ServerTools[string(c.codec.Dialect())],
		Choice: req.Choice, Parallel: req.Parallel, Extra: c.extra,
		MaxIterations: req.MaxIterations, MaxTokens: c.maxTokens, Stream: c.stream,
	}
}

// listen puts the conversation and the tool servers on the loopback interface,
// for a client that wants addresses. end stops them.
func (c *cell) listen(task *client.Task, conversation http.Handler, log *toolserver.Log) (end func(), err error) {
	var stops []func()
	end = func() {
		for _, stop := range stops {
			stop()
		}
	}
	url, stop, err := toolserver.Serve(conversation)
	if err != nil {
		return end, err
	}
	stops, task.BaseURL = append(stops, stop), url
	for _, s := range c.scenario.Servers {
		if url, stop, err = (&toolserver.Server{Server: s, Into: log}).Listen(); err != nil {
			return end, err
		}
		stops = append(stops, stop)
		task.ToolServers = append(task.ToolServers, client.ToolServer{Name: s.Name, MCPURL: url + "/mcp", HTTPURL: url})
	}
	return end, nil
}
