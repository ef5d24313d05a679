package suite

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/suggest"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/loop"
	"github.com/toolconform/conform/suite/replay"
)

// PlayBodies tells what the reference loop does with given replies. input is
//
//	{"bodies":[...],"tools":[...],"results":{...},"max_iterations":N}
//
// bodies are reply bodies: objects, texts, or {"status":N,"body":...}. tools are
// definitions in any form. results maps a tool's name to its
// MCP result, to a text, or to a list of either, one for each call in turn; a
// tool without one answers "ok". messages, max_tokens, truncation ("documented")
// and last_turn ("run") may be given too. With stream true the loop asks for
// streams, and the bodies are the texts of streams.
//
// The value is {"run":[{name,arguments}],"requests":[bodies],"final","error",
// "warnings","dropped"}, and of streams the "events" of each reply:
// {"reply","kind","text","pos","id","name","retract"}, where reply counts from 0.
func PlayBodies(ctx context.Context, c codecs.Full, p codecs.Profile, model string, input []byte) (codecs.Raw, error) {
	in, err := jsonx.Parse(input)
	if err != nil {
		return nil, fmt.Errorf("play: %w", err)
	}
	if err := checkPlay(in); err != nil {
		return nil, err
	}
	script := &script{}
	for _, b := range in.Get("bodies").Items() {
		script.add(b)
	}
	definitions := in.Get("tools").Raw()
	if !in.Get("tools").Defined() {
		definitions = codecs.Raw("[]")
	}
	tools, _, err := wire.ParseTools(definitions)
	if err != nil {
		return nil, fmt.Errorf("play: %w", err)
	}
	server := &scripted{tools: tools, results: map[string][]jsonx.Value{}, used: map[string]int{}}
	for _, m := range in.Get("results").Members() {
		if server.results[m.Key] = []jsonx.Value{m.Value}; m.Value.IsArray() {
			server.results[m.Key] = m.Value.Items()
		}
	}
	cfg := loop.Config{Codec: c, Profile: p, Model: model, Sender: script, Servers: []loop.ToolServer{server}}
	if cfg.Messages, err = playMessages(in); err != nil {
		return nil, err
	}
	iterations, _ := in.Get("max_iterations").Int() // checked
	tokens, _ := in.Get("max_tokens").Int()
	cfg.MaxIterations, cfg.MaxTokens = int(iterations), int(tokens)
	if in.Get("truncation").Str() == "documented" {
		cfg.Truncation = codecs.Documented
	}
	if in.Get("last_turn").Str() == "run" {
		cfg.LastTurn = loop.RunCalls
	}
	for _, t := range in.Get("server_tools").Items() {
		cfg.ServerTools = append(cfg.ServerTools, t.Raw())
	}
	var events []codecs.Raw
	if cfg.Stream = in.Get("stream").Bool(); cfg.Stream {
		cfg.OnEvent = func(e codecs.Event) { events = append(events, viewEvent(script.next-1, e)) }
	}
	out, runErr := loop.Run(ctx, cfg)
	view := playView(out, runErr, server)
	if cfg.Stream {
		return jsonx.Set(view, "/events", jsonx.List(events...))
	}
	return view, nil
}

// playKeys are the keys of the input and what each must be.
var playKeys = map[string]func(jsonx.Value) string{
	"bodies":         wantKind(jsonx.Array),
	"tools":          nil, // ParseTools says it better
	"results":        wantKind(jsonx.Object),
	"messages":       wantKind(jsonx.Array),
	"max_iterations": wantCount,
	"max_tokens":     wantCount,
	"truncation":     wantWord("safe", "documented"),
	"last_turn":      wantWord("stop", "run"),
	"server_tools":   wantKind(jsonx.Array),
	"stream":         wantKind(jsonx.Bool),
}

func wantKind(k jsonx.Kind) func(jsonx.Value) string {
	return func(v jsonx.Value) string {
		if v.Kind() != k {
			return fmt.Sprintf("want %s, got %s", k, v.Kind())
		}
		return ""
	}
}

func wantCount(v jsonx.Value) string {
	if n, ok := v.Int(); !ok || n < 1 || n > 1<<31 {
		return fmt.Sprintf("want a whole number of at least 1, got %.40s", v.Raw())
	}
	return ""
}

func wantWord(words ...string) func(jsonx.Value) string {
	return func(v jsonx.Value) string {
		if !slices.Contains(words, v.Str()) {
			return fmt.Sprintf("want one of %s, got %.40s", strings.Join(words, ", "), v.Raw())
		}
		return ""
	}
}

// checkPlay refuses input that would be read in part only.
func checkPlay(in jsonx.Value) error {
	if !in.IsObject() {
		return fmt.Errorf("play: want an object, got %s", in.Kind())
	}
	if !in.Get("bodies").Exists() {
		return errors.New("play: /bodies: missing; give a list of reply bodies")
	}
	known := slices.Sorted(maps.Keys(playKeys))
	for _, m := range in.Members() {
		check, ok := playKeys[m.Key]
		if !ok {
			return fmt.Errorf("play: unknown key %.80q%s; the keys are %s", m.Key, suggest.Text(m.Key, known), strings.Join(known, ", "))
		}
		if check == nil || m.Value.Kind() == jsonx.Null {
			continue
		}
		if fault := check(m.Value); fault != "" {
			return fmt.Errorf("play: /%s: %s", m.Key, fault)
		}
	}
	return nil
}

func playMessages(in jsonx.Value) ([]codecs.Message, error) {
	if !in.Get("messages").Defined() {
		return []codecs.Message{{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: "Go on."}}}}, nil
	}
	var f jsonx.Fields
	req, _, err := neutral.Request(f.Set("messages", in.Get("messages").Raw()).Raw())
	return req.Messages, err
}

func playView(out loop.Outcome, err error, server *scripted) codecs.Raw {
	var f jsonx.Fields
	var ran []codecs.Raw
	for _, r := range server.ran {
		var o jsonx.Fields
		ran = append(ran, o.Str("name", r.Name).Set("arguments", r.Arguments).Raw())
	}
	f.Set("run", jsonx.List(ran...)).Set("requests", jsonx.List(out.Requests...))
	if err != nil {
		var e jsonx.Fields
		e.Str("kind", loop.ErrorKind(err)).Str("message", err.Error())
		f.Set("final", codecs.Raw("null")).Set("error", e.Raw())
	} else {
		f.Str("final", out.Text).Set("error", codecs.Raw("null"))
	}
	return f.Set("warnings", neutral.ViewWarnings(out.Warnings)).Set("dropped", neutral.ViewCalls(out.Dropped)).Raw()
}

// viewEvent is the form of an event; what it does not say is left out.
func viewEvent(reply int, e codecs.Event) codecs.Raw {
	var f jsonx.Fields
	f.Int("reply", int64(reply)).Str("kind", string(e.Kind))
	if e.Kind == codecs.KindCall {
		f.Int("pos", int64(e.Pos))
	}
	for _, m := range [...]struct{ key, value string }{{"id", e.ID}, {"name", e.Name}, {"text", e.Text}} {
		if m.value != "" {
			f.Str(m.key, m.value)
		}
	}
	if e.Retract {
		f.Bool("retract", true)
	}
	return f.Raw()
}

// script answers requests with its replies, in order.
type script struct {
	replies []loop.Response
	next    int
}

func (s *script) add(v jsonx.Value) {
	r := loop.Response{Status: http.StatusOK}
	if status, ok := v.Get("status").Int(); ok && v.Get("body").Exists() && v.Len() == 2 {
		r.Status, v = int(status), v.Get("body")
	}
	body := v.Raw()
	if text, ok := v.Text(); ok {
		body = []byte(text)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	s.replies = append(s.replies, r)
}

// Send implements loop.Sender.
func (s *script) Send(context.Context, loop.Call) (*loop.Response, error) {
	if s.next >= len(s.replies) {
		return nil, fmt.Errorf("the loop asks for reply %d, but only %d bodies were given", s.next+1, len(s.replies))
	}
	s.next++
	return &s.replies[s.next-1], nil
}

// scripted is the tool server of PlayBodies.
type scripted struct {
	tools   []codecs.Tool
	results map[string][]jsonx.Value // by tool, one for each call in turn; the last one stays

	mu   sync.Mutex
	used map[string]int
	ran  []replay.Call
}

func (s *scripted) Name() string { return "tools" }

func (s *scripted) ListTools(context.Context) ([]codecs.Tool, error) { return s.tools, nil }

func (s *scripted) CallTool(_ context.Context, name string, arguments codecs.Raw) (codecs.ToolResult, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ran = append(s.ran, replay.Call{Name: name, Arguments: arguments})
	var v jsonx.Value
	if list := s.results[name]; len(list) > 0 {
		v = list[min(s.used[name], len(list)-1)]
		s.used[name]++
	}
	r := codecs.ToolResult{}
	text, ok := v.Text()
	switch {
	case v.IsObject():
		if err := wire.ReadMCPResult(&r, v); err != nil {
			return r, fmt.Errorf("results: %s: %w", name, err)
		}
		return r, nil
	case !v.Defined():
		text = "ok"
	case !ok:
		text = string(v.Raw())
	}
	r.Content = []codecs.Raw{codecs.TextBlock(text)}
	return r, nil
}
