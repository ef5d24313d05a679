package suite

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
	"github.com/toolconform/conform/suite/replay"
	"github.com/toolconform/conform/suite/toolserver"
)

// replayKey stands for an API key in replays. It is no secret.
const replayKey = "conform-replay"

// play is one scenario against one row: the engine's side of the conversation,
// the tool servers, the reference loop, and what they saw.
type play struct {
	runner   Runner
	resolved engines.Resolved
	codec    codecs.Full
	scenario fixtures.Scenario

	turns     []replay.Turn
	neutral   []*codecs.Reply // the scenario's turn behind each of turns; nil where a tape or a patch changes it
	player    *cassettes.Player
	mismatch  error // the first request that is not as the tape has it
	model     string
	maxTokens int
	extra     codecs.Raw

	conversation *replay.Conversation
	tools        recorder
	outcome      loop.Outcome
	err          error
}

// render turns the scenario's neutral turns into bodies, as the engine's
// provider would send them.
func (p *play) render() error {
	p.model, p.maxTokens = p.resolved.Model, p.scenario.Request.MaxTokens
	for i, t := range p.scenario.Turns {
		turn, neutral, err := p.renderTurn(t)
		if err != nil {
			return fmt.Errorf("%s: turns[%d]: %w", p.scenario.ID, i, err)
		}
		p.turns = append(p.turns, turn)
		p.neutral = append(p.neutral, neutral)
	}
	return nil
}

func (p *play) renderTurn(t fixtures.Turn) (replay.Turn, *codecs.Reply, error) {
	if t.Error != nil {
		answer := p.codec.RenderError(&codecs.ProviderError{
			Dialect: p.codec.Dialect(), Status: t.Error.Status, Kind: t.Error.Kind, Code: t.Error.Code, Message: t.Error.Message,
		}, p.resolved.Profile)
		if t.Error.Status == http.StatusOK {
			answer.Status = http.StatusOK // an error inside a reply
		}
		header := http.Header(answer.Header)
		for k, v := range t.Error.Headers {
			header.Set(k, v)
		}
		return replay.Turn{Status: answer.Status, Header: header, Body: answer.Body}, nil, nil
	}
	t.Parts = forDialect(t.Parts, p.codec.Dialect())
	reply, err := codecs.ParseNeutralReply(t.Reply())
	if err != nil {
		return replay.Turn{}, nil, err
	}
	reply.Model = p.model
	body, warnings, err := p.codec.RenderReply(reply, p.resolved.Profile)
	if err != nil {
		return replay.Turn{}, nil, err
	}
	for _, w := range warnings {
		// Other losses show in the checks; a turn that ends in another way than
		// the scenario's is another scenario.
		if w.Code == codecs.WarnLossy && w.Pointer == "/finish" {
			return replay.Turn{}, nil, cannotSay(w.Text)
		}
	}
	patches := t.Patches(string(p.codec.Dialect()), "off")
	if len(patches) == 0 {
		return replay.Turn{Body: body}, &reply, nil
	}
	var ps []replay.Patch
	for _, q := range patches {
		ps = append(ps, replay.Patch{Path: q.Path, Set: q.Set, Remove: q.Remove})
	}
	body, err = replay.Apply(body, ps)
	return replay.Turn{Body: body}, nil, err
}

// cannotSay is the reason why a scenario does not apply to an engine: its wire
// has no word for what a turn says.
type cannotSay string

func (c cannotSay) Error() string { return string(c) }

// forDialect leaves out parts that a scenario gives to other dialects only:
// server items have no neutral form.
func forDialect(parts []fixtures.Raw, d codecs.Dialect) []fixtures.Raw {
	out := []fixtures.Raw{}
	for _, raw := range parts {
		only := jsonx.Of(raw).Get("only").Items()
		if len(only) == 0 || slices.ContainsFunc(only, func(v jsonx.Value) bool { return v.Str() == string(d) }) {
			out = append(out, raw)
		}
	}
	return out
}

// useTape takes the engine's side from recorded or documented exchanges. The
// tape brings the model and the request parameters that it was made with, and
// may say how its end differs from the scenario's.
func (p *play) useTape(tapes *Tapes, entry cassettes.Entry) error {
	tape, err := cassettes.Read(tapes.FS, entry.Tape)
	if err != nil {
		return err
	}
	if err := p.fromTape(tape, entry); err != nil {
		return err
	}
	p.player = cassettes.NewPlayer(tape)
	return nil
}

func (p *play) fromTape(tape cassettes.Tape, entry cassettes.Entry) error {
	engine, err := p.runner.Catalog.Lookup(entry.Engine)
	if err != nil {
		return err
	}
	p.resolved = engine.Resolve(entry.Model)
	p.model, p.maxTokens = entry.Model, entry.MaxTokens
	if len(entry.Extra) > 0 {
		// The layout of the index is no part of a request.
		if p.extra, err = jsonx.Compact(entry.Extra); err != nil {
			return fmt.Errorf("tape %s: extra: %w", entry.Tape, err)
		}
	}
	for _, x := range tape.Exchanges {
		p.turns = append(p.turns, replay.Turn{Status: x.Response.Status, Header: x.Response.Header, Body: x.Response.Body})
		p.neutral = append(p.neutral, nil)
	}
	if len(entry.Expect) > 0 {
		// Into a fresh value: the scenario is shared by every row.
		var own fixtures.Expect
		if err := json.Unmarshal(entry.Expect, &own); err != nil {
			return fmt.Errorf("tape %s: expect: %w", entry.Tape, err)
		}
		for _, m := range jsonx.Of(entry.Expect).Members() {
			switch m.Key {
			case "tool_calls":
				p.scenario.Expect.ToolCalls = own.ToolCalls
			case "requests":
				p.scenario.Expect.Requests = own.Requests
			case "end":
				p.scenario.Expect.End = own.End
			case "warnings":
				p.scenario.Expect.Warnings = own.Warnings
			default:
				return fmt.Errorf("tape %s: expect: a tape may replace tool_calls, requests, end and warnings, not %q", entry.Tape, m.Key)
			}
		}
	}
	return nil
}

// RoundTrip notes the request for the judge and lets the tape answer, or the
// rendered conversation where there is none.
func (p *play) RoundTrip(req *http.Request) (*http.Response, error) {
	if p.player == nil {
		return p.conversation.RoundTrip(req)
	}
	body, err := replay.Peek(req)
	if err != nil {
		return nil, err
	}
	p.conversation.Note(req, body)
	resp, err := p.player.RoundTrip(req)
	if err != nil && p.mismatch == nil {
		p.mismatch = err
	}
	return resp, err
}

// run lets the reference loop play its part.
func (p *play) run(ctx context.Context) {
	profile := p.resolved.Profile
	// An engine with a URL of its own is matched by its engine entry, not by
	// the dialect's paths.
	p.conversation = &replay.Conversation{
		Server: p.codec, Profile: profile, Turns: p.turns, AnyPath: true,
		Restore: func(body []byte) ([]byte, error) { return p.resolved.Engine.Restore(body, p.model) },
	}
	var subject codecs.Codec = p.codec
	if p.runner.Wrap != nil {
		subject = p.runner.Wrap(p.codec)
	}
	vars := map[string]string{}
	for name, value := range p.resolved.Engine.Vars {
		vars[name] = value
		if value == "" {
			vars[name] = "replay"
		}
	}
	client := &engines.Client{Engine: p.resolved.Engine, Codec: subject, Model: p.model, Key: replayKey, Vars: vars, HTTP: httpClient(p)}
	req := p.scenario.Request
	cfg := loop.Config{
		Codec: subject, Profile: profile, Model: p.model, Sender: client, Servers: p.servers(),
		Messages: p.prompt(), ServerTools: p.scenario.ServerTools[string(p.codec.Dialect())],
		Parallel: req.Parallel, MaxTokens: p.maxTokens, Extra: p.extra, MaxIterations: req.MaxIterations,
	}
	if len(req.Choice) > 0 {
		cfg.Choice = codecs.ParseChoice(req.Choice)
	}
	p.outcome, p.err = loop.Run(ctx, cfg)
}

// prompt reads the scenario's messages.
func (p *play) prompt() []codecs.Message {
	var f jsonx.Fields
	if p.scenario.Request.System != "" {
		f.Str("system", p.scenario.Request.System)
	}
	f.Set("messages", jsonx.List(p.scenario.Request.Messages...))
	req, _, err := codecs.ParseNeutralRequest(f.Raw())
	if err != nil {
		panic(err) // the scenario's schema rules it out
	}
	return req.Messages
}

// servers builds the scenario's tool servers, each behind the recorder.
func (p *play) servers() []loop.ToolServer {
	var out []loop.ToolServer
	for _, s := range p.scenario.Servers {
		out = append(out, &recorded{name: s.Name, inner: toolServerOf(s), log: &p.tools})
	}
	return out
}

// toolServerOf is the tool server of a scenario, as the data that the fixture
// server runs on.
func toolServerOf(s fixtures.Server) *toolserver.Server {
	out := &toolserver.Server{Name: s.Name}
	for _, t := range s.Tools {
		tool := toolserver.Tool{Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: t.InputSchema, OutputSchema: t.OutputSchema, Annotations: t.Annotations}
		for _, a := range t.Answers {
			tool.Answers = append(tool.Answers, toolserver.Answer{When: a.When, Result: a.Result, Error: errorText(a.Error)})
		}
		out.Tools = append(out.Tools, tool)
	}
	return out
}

// errorText reads an answer's protocol error: a message, or an object with one.
func errorText(raw fixtures.Raw) string {
	v := jsonx.Of(raw)
	if s, ok := v.Text(); ok {
		return s
	}
	return v.Get("message").Str()
}

// recorder keeps what reached the tool servers, in order.
type recorder struct {
	mu    sync.Mutex
	calls []call
}

type call struct {
	server, name string
	arguments    codecs.Raw
	result       codecs.ToolResult
}

func (r *recorder) add(c call) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls = append(r.calls, c)
}

// recorded is a tool server whose calls are noted.
type recorded struct {
	name  string
	inner *toolserver.Server
	log   *recorder
}

func (s *recorded) Name() string { return s.name }

func (s *recorded) ListTools(context.Context) ([]codecs.Tool, error) {
	tools, _, err := codecs.ParseTools(s.inner.ListTools())
	return tools, err
}

func (s *recorded) CallTool(ctx context.Context, name string, arguments codecs.Raw) (codecs.ToolResult, error) {
	raw, err := s.inner.CallTool(ctx, name, arguments)
	var r codecs.ToolResult
	if err == nil {
		err = codecs.ReadMCPResult(&r, jsonx.Of(raw))
	}
	c := call{server: s.name, name: name, arguments: arguments, result: r}
	if err != nil {
		c.result = codecs.ToolResult{Content: []codecs.Raw{codecs.TextBlock(err.Error())}, IsError: true}
	}
	s.log.add(c)
	return r, err
}

// httpClient wraps a transport that never dials.
func httpClient(rt http.RoundTripper) *http.Client { return &http.Client{Transport: rt} }
