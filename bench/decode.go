package main

import (
	"encoding/json"
	"errors"

	"github.com/anthropics/anthropic-sdk-go/v2"
	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	"google.golang.org/genai"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
)

// compared are the dialects that have an official SDK in Go.
var compared = []codecs.Dialect{codecs.OpenAI, codecs.Anthropic, codecs.Gemini, codecs.Responses}

func codecOf(d codecs.Dialect) codecs.Full {
	c, err := all.For(d)
	if err != nil {
		panic(err)
	}
	return c
}

func object(s string) error {
	var m map[string]any
	return json.Unmarshal([]byte(s), &m)
}

// sdk decodes with the official SDK's own types, and with args also the arguments
// of each call into a map, as its user has to. genai has no body for its types to be
// read from: its client reads a body into a map, converts that, and writes and reads
// it once more; the conversion is left out here, in its favour.
func sdk(dialect codecs.Dialect, b []byte, args bool) error {
	switch dialect {
	case codecs.OpenAI:
		var v openai.ChatCompletion
		if err := json.Unmarshal(b, &v); err != nil {
			return err
		}
		for _, c := range v.Choices[0].Message.ToolCalls {
			if args {
				if err := object(c.Function.Arguments); err != nil {
					return err
				}
			}
		}
	case codecs.Responses:
		var v responses.Response
		if err := json.Unmarshal(b, &v); err != nil {
			return err
		}
		for _, o := range v.Output {
			if args && o.Type == "function_call" {
				if err := object(o.AsFunctionCall().Arguments); err != nil {
					return err
				}
			}
		}
	case codecs.Anthropic:
		var v anthropic.Message
		if err := json.Unmarshal(b, &v); err != nil {
			return err
		}
		for _, c := range v.Content {
			if args && c.Type == "tool_use" {
				if err := object(string(c.AsToolUse().Input)); err != nil {
					return err
				}
			}
		}
	case codecs.Gemini:
		if !args {
			var v genai.GenerateContentResponse
			return json.Unmarshal(b, &v)
		}
		m := map[string]any{}
		if err := json.Unmarshal(b, &m); err != nil {
			return err
		}
		var v genai.GenerateContentResponse
		return genai.InternalMapToStruct(m, &v)
	}
	return nil
}

// decodes are the bodies of every size, in every dialect that has an SDK.
func decodes() []comparison {
	var out []comparison
	for _, d := range compared {
		for _, s := range shapes {
			b := body(string(d), s)
			out = append(out, decode("decode/"+string(d)+"/"+s.name, d, s.goal, s.calls, [][]byte{b}))
		}
	}
	return out
}

// decode compares the reading of bodies, one after the other. calls is how many
// each of them has to give, -1 where that is not known.
func decode(name string, d codecs.Dialect, g goal, calls int, bodies [][]byte) comparison {
	c := codecOf(d)
	size := 0
	for _, b := range bodies {
		size += len(b)
	}
	each := func(f func(b []byte) error) func() error {
		return func() error {
			for _, b := range bodies {
				if err := f(b); err != nil {
					return err
				}
			}
			return nil
		}
	}
	return comparison{name: name, bytes: size, goal: g, variants: []variant{
		{"conform", each(func(b []byte) error {
			r, err := c.Reply(b, codecs.Profile{})
			if err == nil && calls >= 0 && len(r.Calls()) != calls {
				err = errors.New("calls are missing")
			}
			return err
		})},
		{"SDK with arguments", each(func(b []byte) error { return sdk(d, b, true) })},
		{"SDK, bare Unmarshal", each(func(b []byte) error { return sdk(d, b, false) })},
	}}
}
