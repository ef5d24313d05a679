package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/suggest"
	"github.com/toolconform/conform/suite"
)

func decodeCommand(e env) *cobra.Command {
	var t target
	var status int
	var stream bool
	cmd := &cobra.Command{
		Use: "decode --dialect D [--engine E] [--model M] [--stream] [--status N] < body",
		Example: `  conform decode --dialect anthropic < reply.json
  conform decode --engine deepseek --stream < events.txt`,
		Short: "Print the neutral form of a reply body, or the error that it carries",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := t.resolve(e); err != nil {
				return err
			}
			if status < 100 || status > 599 {
				return usage("--status %d: want an HTTP status from 100 to 599", status)
			}
			body, err := readInput(cmd.Context(), e)
			if err != nil {
				return err
			}
			if status < 200 || status > 299 {
				return decoded(e, nil, t.codec.Error(status, nil, body), status)
			}
			if stream {
				reply, err := suite.DecodeStream(t.codec, t.resolved.Profile, body)
				return decoded(e, &reply, err, status)
			}
			reply, err := t.codec.Reply(body, t.resolved.Profile)
			return decoded(e, &reply, hinted(err, t.codec, body), status)
		},
	}
	t.flags(cmd)
	cmd.Flags().BoolVar(&stream, "stream", false, "the body is a stream: events, lines of JSON, or a list of chunks")
	cmd.Flags().IntVar(&status, "status", 200, "HTTP status that the body came with")
	return cmd
}

// hinted adds to the error of a body that is not of a dialect which one it is of.
func hinted(err error, c codecs.Codec, body []byte) error {
	if de := (*codecs.DecodeError)(nil); !errors.As(err, &de) || errors.Is(err, codecs.ErrNotJSON) {
		return err
	}
	for _, other := range all.Codecs() {
		if r, oerr := other.Reply(body, codecs.Profile{}); other.Dialect() != c.Dialect() && oerr == nil && len(r.Parts) > 0 {
			return fmt.Errorf("%w; it reads as a reply of %s", err, other.Dialect())
		}
	}
	return err
}

func decoded(e env, reply *codecs.Reply, err error, status int) error {
	if err == nil {
		return printJSON(e.stdout, neutral.View(*reply))
	}
	if werr := printJSON(e.stdout, neutral.ViewError(err, status)); werr != nil {
		return werr
	}
	return &failure{code: exitFailed}
}

func encodeCommand(e env) *cobra.Command {
	var t target
	var op string
	cmd := &cobra.Command{
		Use: "encode --dialect D [--engine E] [--model M] --op tools|request|continue < JSON",
		Example: `  conform encode --dialect openai --op tools < tools.json
  conform encode --engine deepseek --op continue < turn.json`,
		Short: "Print what a client sends: tools, a request, or the messages after a turn",
		Long: `encode reads JSON from standard input and prints wire JSON.

  --op tools     {"tools":[MCP tools, or the form of any dialect]}
                 prints {"tools":...,"warnings":[...]}
  --op request   the neutral request {"model","system","messages":[{"role","content"}],
                 "tools","server_tools","choice","parallel","max_tokens","stream","extra"}
                 prints the request body; warnings go to standard error
  --op continue  {"body": reply | "body_text" | "stream_text": "...", "results":[{"pos","id","name",
                 "content":[MCP blocks],"isError","structuredContent"}]}
                 prints {"messages"|"contents"|"input":[...],"warnings":[...]}`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := t.resolve(e); err != nil {
				return err
			}
			ops := []string{"tools", "request", "continue"}
			switch {
			case op == "":
				return usage("name an operation with --op: %s", strings.Join(ops, ", "))
			case !slices.Contains(ops, op):
				return usage("unknown operation %.80q%s; want %s", op, suggest.Text(op, ops), strings.Join(ops, ", "))
			}
			input, err := readInput(cmd.Context(), e)
			if err != nil {
				return err
			}
			return encode(e, t, op, input)
		},
	}
	t.flags(cmd)
	cmd.Flags().StringVar(&op, "op", "", "tools, request or continue")
	return cmd
}

func encode(e env, t target, op string, input []byte) error {
	v, err := jsonx.Parse(input)
	if err != nil {
		return usage("standard input: %v", err)
	}
	if !v.IsObject() {
		return usage("standard input: want an object, got %s; see 'conform help encode'", v.Kind())
	}
	if op == "request" && t.resolved.Model != "" && v.Get("model").Str() == "" {
		if input, err = jsonx.Set(input, "/model", jsonx.Quote(t.resolved.Model)); err != nil {
			return err
		}
	}
	if op == "request" && t.model == "" && v.Get("model").Str() != "" && t.engine != "" {
		t.resolved = t.resolved.Engine.Resolve(v.Get("model").Str())
	}
	if op == "continue" {
		unread(e, v, "", []string{"body", "body_text", "body_base64", "stream_text", "stream_base64", "splits", "results"})
		for i, r := range v.Get("results").Items() {
			unread(e, r, fmt.Sprintf("/results/%d", i), neutral.ResultKeys())
		}
	}
	got, err := suite.RunOp(t.codec, op, t.resolved.Profile, input)
	if err != nil {
		return usage("standard input: %v", err)
	}
	if got.Err != nil {
		var pe *codecs.ProviderError
		if errors.As(got.Err, &pe) {
			return &failure{exitFailed, "the body carries an error: " + pe.Error()}
		}
		return &failure{exitFailed, got.Err.Error()}
	}
	var f jsonx.Fields
	switch op {
	case "request":
		return encodedRequest(e, t, got)
	case "tools":
		f.Set("tools", got.Value)
	default:
		f.Set(t.codec.Wire().Messages, got.Value)
	}
	return printEcho(e.stdout, f.Set("warnings", neutral.ViewWarnings(got.Warnings)).Raw())
}

// unread warns on standard error about keys that nothing reads.
func unread(e env, v jsonx.Value, at string, known []string) {
	for _, m := range v.Members() {
		if !slices.Contains(known, m.Key) {
			fmt.Fprintf(e.stderr, "conform: warning: %s: %s/%s is not read%s\n", codecs.WarnUnknownKey, at, clean(fmt.Sprintf("%.80s", m.Key)), suggest.Text(m.Key, known))
		}
	}
}

func encodedRequest(e env, t target, got suite.OpResult) error {
	for _, w := range got.Warnings {
		fmt.Fprintf(e.stderr, "conform: warning: %s: %s\n", w.Code, oneLine(w.Text))
	}
	body := []byte(got.Value)
	if t.engine != "" {
		client := engines.Client{Engine: t.resolved.Engine, Codec: t.codec, Model: t.resolved.Model}
		var err error
		if body, err = client.Body(body); err != nil {
			return &failure{exitFailed, err.Error()}
		}
	}
	return printEcho(e.stdout, body)
}

func playCommand(e env) *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:     "play --dialect D [--engine E] [--model M] < JSON",
		Example: `  conform play --dialect openai < replies.json`,
		Short:   "Print what the reference loop does with given replies",
		Long: `play reads {"bodies":[reply bodies],"tools":[definitions],"results":{name: MCP
result, text, or a list of them},"max_iterations":N} and prints
{"run":[{"name","arguments"}],"requests":[bodies],"final","error","warnings","dropped"}.

"messages" (else the prompt is "Go on."), "max_tokens", "truncation":"documented" and
"last_turn":"run" may be given too. A tool without a result answers "ok". With
"stream":true the bodies are the texts of streams, and "events" shows what of
each reply a reader sees as it comes.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := t.resolve(e); err != nil {
				return err
			}
			input, err := readInput(cmd.Context(), e)
			if err != nil {
				return err
			}
			if t.resolved.Model == "" {
				t.resolved.Model = "any-model"
			}
			out, err := suite.PlayBodies(cmd.Context(), t.codec, t.resolved.Profile, t.resolved.Model, input)
			if err != nil {
				return usage("%v", err)
			}
			return printEcho(e.stdout, out)
		},
	}
	t.flags(cmd)
	return cmd
}
