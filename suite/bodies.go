package suite

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
)

// PlayBodies tells what the reference loop does with given replies. input is
//
//	{"bodies":[...],"tools":[...],"results":{...},"max_iterations":N}
//
// bodies are reply bodies: objects, texts, or {"status":N,"body":...}. tools are
// definitions in any form. results maps a tool's name to its
// MCP result, to a text, or to a list of either, one for each call in turn; a
// tool without one answers "ok". messages, max_tokens, truncation ("documented")
// and last_turn ("run") may be given too.
//
// The value is {"run":[{name,arguments}],"requests":[bodies],"final","error",
// "warnings","dropped"}.
func PlayBodies(ctx context.Context, c codecs.Full, p codecs.Profile, model string, input []byte) (codecs.Raw, error) {
	in, err := jsonx.Parse(input)
	if err != nil {
		return nil, fmt.Errorf("play: %w", err)
	}
	if !in.Get("bodies").IsArray() {
		return nil, fmt.Errorf(`play: /bodies: want a list of reply bodies, got %s`, in.Get("bodies").Kind())
	}
	script := &script{codec: c, profile: p}
	for _, b := range in.Get("bodies").Items() {
		script.add(b)
	}
	tools, _, err := codecs.ParseTools(orEmptyList(in.Get("tools")))
	if err != nil {
		return nil, fmt.Errorf("play: %w", err)
	}
	server := &scripted{tools: tools, results: in.Get("results"), used: map[string]int{}}
	cfg := loop.Config{Codec: c, Profile: p, Model: model, Sender: script, Servers: []loop.ToolServer{server}}
	if cfg.Messages, err = playMessages(in); err != nil {
		return nil, err
	}
	if n, ok := in.Get("max_iterations").Int(); ok {
		cfg.MaxIterations = int(n)
	}
	if n, ok := in.Get("max_tokens").Int(); ok {
		cfg.MaxTokens = int(n)
	}
	if in.Get("truncation").Str() == "documented" {
		cfg.Truncation = codecs.Documented
	}
	if in.Get("last_turn").Str() == "run" {
		cfg.LastTurn = loop.RunCalls
	}
	for _, t := range in.Get("server_tools").Items() {
		cfg.ServerTools = append(cfg.ServerTools, t.Raw())
	}
	out, runErr := loop.Run(ctx, cfg)
	return playView(out, runErr, server), nil
}

func orEmptyList(v jsonx.Value) codecs.Raw {
	if v.Defined() {
		return v.Raw()
	}
	return codecs.Raw("[]")
}

func playMessages(in jsonx.Value) ([]codecs.Message, error) {
	if !in.Get("messages").Defined() {
		return []codecs.Message{{Role: "user", Parts: []codecs.Part{{Kind: codecs.Text, Text: "Go on."}}}}, nil
	}
	var f jsonx.Fields
	req, _, err := codecs.ParseNeutralRequest(f.Set("messages", in.Get("messages").Raw()).Raw())
	return req.Messages, err
}

func playView(out loop.Outcome, err error, server *scripted) codecs.Raw {
	var f jsonx.Fields
	var ran []codecs.Raw
	for _, r := range server.ran {
		var o jsonx.Fields
		ran = append(ran, o.Str("name", r.name).Set("arguments", r.arguments).Raw())
	}
	f.Set("run", jsonx.List(ran...)).Set("requests", jsonx.List(out.Requests...))
	if err != nil {
		var e jsonx.Fields
		e.Str("kind", loop.ErrorKind(err)).Str("message", err.Error())
		f.Set("final", codecs.Raw("null")).Set("error", e.Raw())
	} else {
		f.Str("final", out.Text).Set("error", codecs.Raw("null"))
	}
	return f.Set("warnings", codecs.ViewWarnings(out.Warnings)).Set("dropped", codecs.ViewCalls(out.Dropped)).Raw()
}

// script answers requests with its replies, in order.
type script struct {
	codec   codecs.Full
	profile codecs.Profile
	replies []scriptedReply
	next    int
}

type scriptedReply struct {
	status int
	body   []byte
}

func (s *script) add(v jsonx.Value) {
	r := scriptedReply{status: http.StatusOK, body: v.Raw()}
	if status, ok := v.Get("status").Int(); ok && v.Get("body").Exists() && v.Len() == 2 {
		r.status, v = int(status), v.Get("body")
		r.body = v.Raw()
	}
	if text, ok := v.Text(); ok {
		r.body = []byte(text)
	}
	s.replies = append(s.replies, r)
}

// Send implements loop.Sender.
func (s *script) Send(context.Context, []byte, bool) (int, map[string][]string, []byte, error) {
	if s.next >= len(s.replies) {
		return 0, nil, nil, fmt.Errorf("the loop asks for reply %d, but only %d bodies were given", s.next+1, len(s.replies))
	}
	r := s.replies[s.next]
	s.next++
	return r.status, nil, r.body, nil
}

// scripted is the tool server of PlayBodies.
type scripted struct {
	tools   []codecs.Tool
	results jsonx.Value

	mu   sync.Mutex
	used map[string]int
	ran  []call
}

func (s *scripted) Name() string { return "tools" }

func (s *scripted) ListTools(context.Context) ([]codecs.Tool, error) { return s.tools, nil }

func (s *scripted) CallTool(_ context.Context, name string, arguments codecs.Raw) (codecs.ToolResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran = append(s.ran, call{name: name, arguments: arguments})
	v := s.results.Get(name)
	if v.IsArray() {
		n := min(s.used[name], max(v.Len()-1, 0))
		s.used[name]++
		v = v.At(n)
	}
	r := codecs.ToolResult{}
	switch {
	case !v.Defined():
		r.Content = []codecs.Raw{codecs.TextBlock("ok")}
	case v.IsObject():
		if err := codecs.ReadMCPResult(&r, v); err != nil {
			return r, fmt.Errorf("results: %s: %w", name, err)
		}
	default:
		text, ok := v.Text()
		if !ok {
			text = string(v.Raw())
		}
		r.Content = []codecs.Raw{codecs.TextBlock(text)}
	}
	return r, nil
}
