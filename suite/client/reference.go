package client

import (
	"context"
	"net/http"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/loop"
	"github.com/toolconform/conform/loop/mcp"
)

// Reference is the reference loop as a client: loop.Run through engines.Client,
// with its tools over MCP.
type Reference struct {
	Catalog *engines.Catalog
	// Wrap, when set, stands between the loop and its codec: a planted fault.
	Wrap func(codecs.Full) codecs.Codec
	// Codec finds the codec of a dialect; nil is all.For.
	Codec func(codecs.Dialect) (codecs.Full, error)
	// Addresses makes it use sockets, as a client from outside has to.
	Addresses bool
}

// Info describes the reference.
func (r Reference) Info() Info {
	return Info{Name: "reference", Library: "conform", Stream: "both", Addresses: r.Addresses, Features: Features{MaxIterations: true, MultiServer: true, ServerTools: true}}
}

// Run runs the reference loop.
func (r Reference) Run(ctx context.Context, t Task) Outcome {
	cfg, end, err := r.config(ctx, t)
	defer end()
	if err != nil {
		return Outcome{Error: &Error{Kind: loop.KindInternal, Message: err.Error()}}
	}
	if t.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, t.Timeout)
		defer cancel()
	}
	out, err := loop.Run(ctx, cfg)
	o := Outcome{Text: out.Text, Warnings: out.Warnings}
	if err != nil {
		o.Error = &Error{Kind: loop.ErrorKind(err), Message: err.Error()}
	}
	return o
}

// config makes a task a configuration of the loop; end closes the connections
// that it opened.
func (r Reference) config(ctx context.Context, t Task) (cfg loop.Config, end func(), err error) {
	var open []*mcp.Server
	end = func() {
		for _, s := range open {
			_ = s.Close() // the run is over; nothing can be lost
		}
	}
	find := r.Codec
	if find == nil {
		find = all.For
	}
	full, err := find(t.Dialect)
	if err != nil {
		return cfg, end, err
	}
	var codec codecs.Codec = full
	if r.Wrap != nil {
		codec = r.Wrap(full)
	}
	engine, err := r.Catalog.Lookup(t.Engine)
	if err != nil {
		return cfg, end, err
	}
	cfg = loop.Config{
		Codec: codec, Profile: t.Profile, Model: t.Model, ServerTools: t.ServerTools, Parallel: t.Parallel,
		MaxTokens: t.MaxTokens, Extra: t.Extra, MaxIterations: t.MaxIterations, Stream: t.Stream,
	}
	if cfg.Messages, err = t.Prompt(); err != nil {
		return cfg, end, err
	}
	if len(t.Choice) > 0 {
		cfg.Choice = wire.ParseChoice(t.Choice)
	}
	sender := &engines.Client{Engine: engine.At(t.Model), Codec: codec, Model: t.Model, Key: t.Key, Vars: t.Vars, BaseURL: t.BaseURL}
	if t.Transport != nil {
		sender.HTTP = &http.Client{Transport: t.Transport}
	}
	cfg.Sender = sender
	for _, s := range t.ToolServers {
		if s.Local != nil {
			cfg.Servers = append(cfg.Servers, s.Local)
			continue
		}
		connected, err := mcp.HTTP(ctx, s.Name, s.MCPURL, nil)
		if err != nil {
			return cfg, end, err
		}
		open = append(open, connected)
		cfg.Servers = append(cfg.Servers, connected)
	}
	return cfg, end, nil
}
