package mcp_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
)

type replies struct {
	bodies []string
	sent   []codecs.Raw
}

func (r *replies) Send(_ context.Context, call loop.Call) (*loop.Response, error) {
	r.sent = append(r.sent, call.Body)
	next := r.bodies[0]
	r.bodies = r.bodies[1:]
	return &loop.Response{Status: 200, Body: io.NopCloser(strings.NewReader(next))}, nil
}

// A whole loop gives the same requests, byte for byte, over every way to reach
// the tools: the schema and a block of no MCP type arrive as they are spelled.
func TestLoopOverEveryWay(t *testing.T) {
	var first []codecs.Raw
	for _, w := range ways() {
		if !w.exact {
			continue
		}
		t.Run(w.name, func(t *testing.T) {
			s, end := w.connect(t)
			r := &replies{bodies: []string{
				`{"type":"message","role":"assistant","content":[{"type":"tool_use","id":"u1","name":"light_lamp","input":{"lamp":"odd","n":12345678901234567890}},{"type":"tool_use","id":"u2","name":"light_lamp","input":{"lamp":"locked"}}],"stop_reason":"tool_use"}`,
				`{"type":"message","role":"assistant","content":[{"type":"text","text":"lit"}],"stop_reason":"end_turn"}`,
			}}
			out, err := loop.Run(t.Context(), loop.Config{
				Codec: anthropic.Codec{}, Model: "m", Sender: r, Servers: []loop.ToolServer{s},
				Messages: []codecs.Message{{Role: "user", Parts: []codecs.Part{{Kind: codecs.KindText, Text: "light it"}}}},
			})
			if err != nil || out.Text != "lit" {
				t.Fatalf("text %q, error %v", out.Text, err)
			}
			if schema := jsonx.Of(r.sent[0]).Get("tools").At(0).Get("input_schema").Raw(); string(schema) != lampSchema {
				t.Errorf("schema = %s", schema)
			}
			results := jsonx.Of(r.sent[1]).Get("messages").At(2).Get("content")
			if got := results.At(0).Get("content").At(0).Get("type").Str(); got != "document" {
				t.Errorf("native block = %s", results.At(0).Raw())
			}
			failed := results.At(1)
			if text := failed.Get("content").At(0).Get("text").Str(); text != "Error calling tool 'light_lamp': the tower is locked" || !failed.Get("is_error").Bool() {
				t.Errorf("failed call = %s", failed.Raw())
			}
			if first == nil {
				first = r.sent
			} else if diff := cmp.Diff(texts(first), texts(r.sent)); diff != "" {
				t.Error(diff)
			}
			if log := end(); len(log) != 2 || string(log[0].Arguments) != `{"lamp":"odd","n":12345678901234567890}` {
				t.Errorf("log = %+v", log)
			}
		})
	}
}

func texts(raws []codecs.Raw) []string {
	var out []string
	for _, r := range raws {
		out = append(out, string(r))
	}
	return out
}
