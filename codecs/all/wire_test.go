package all_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/internal/jsonx"
)

// TestWire holds what a dialect says of itself against what its codec does.
func TestWire(t *testing.T) {
	const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	text := func(role, s string) codecs.Message {
		return codecs.Message{Role: role, Parts: []codecs.Part{{Kind: codecs.KindText, Text: s}}}
	}
	call := codecs.ToolCall{ID: "toolu_123456789", Name: "tide", ArgumentsText: `{"port":"Oban"}`, Arguments: codecs.Raw(`{"port":"Oban"}`)}
	image := codecs.Raw(`{"type":"image","data":"` + pixel + `","mimeType":"image/png"}`)
	for _, c := range all.Codecs() {
		w := c.Wire()
		check := func(what string, got, want any) {
			t.Helper()
			if got != want {
				t.Errorf("%s: %s: the wire value says %v, the codec does %v", c.Dialect(), what, want, got)
			}
		}
		send := func(req codecs.Request) (codecs.Raw, codecs.Request) {
			t.Helper()
			req.Model = "m"
			body, _, err := c.Request(req, codecs.Profile{})
			if err != nil {
				t.Fatalf("%s: %v", c.Dialect(), err)
			}
			back, _, err := c.ParseRequest(codecs.Post(c.Endpoint("m", req.Stream), body), codecs.Profile{})
			if err != nil {
				t.Fatalf("%s: %v\n%s", c.Dialect(), err, body)
			}
			return body, back
		}

		body, back := send(codecs.Request{Stream: true, Messages: []codecs.Message{text("user", "one"), text("system", "two"), text("user", "three")}})
		check("Messages", jsonx.Of(body).Get(w.Messages).IsArray(), true)
		check("SystemFirst", back.Messages[0].Role == "system", w.SystemFirst)
		check("Stream", back.Stream, true)
		in := codecs.Post(c.Endpoint("m", true), nil)
		_, byPath, _ := c.Match(in)
		check("StreamFlag", byPath, w.StreamFlag == "")
		if flag, ok := strings.CutPrefix(w.StreamFlag, "/"); ok {
			check("StreamFlag", jsonx.Of(body).Get(flag).Bool(), true)
			back, _, err := c.ParseRequest(codecs.In{Body: []byte(strings.Replace(string(body), `"stream":true`, `"other":1`, 1))}, codecs.Profile{})
			if err != nil {
				t.Fatal(err)
			}
			check("StreamDefault", back.Stream, w.StreamDefault)
		}
		if len(w.Shapes) == 0 || w.StreamShape(in) == "" || w.StreamShape(codecs.In{}) != w.Shapes[0].Name {
			t.Errorf("%s: no form of a stream: %+v", c.Dialect(), w.Shapes)
		}
		last := w.Shapes[len(w.Shapes)-1]
		check("Endpoint asks for the last of the Shapes", w.StreamShape(in), last.Name)

		body, back = send(codecs.Request{Messages: []codecs.Message{
			text("user", "go"),
			{Role: "assistant", Parts: []codecs.Part{{Kind: codecs.KindReasoning, Text: "hm", Signature: "c2ln"}, {Kind: codecs.KindCall, Call: &call}}},
			{Role: "tool", Parts: []codecs.Part{{Kind: codecs.KindResult, Result: &codecs.ToolResult{ID: call.ID, Name: call.Name, IsError: true, Content: []codecs.Raw{image, codecs.TextBlock("ebb")}}}}},
		}})
		check("ResultMedia", strings.Contains(string(body), pixel), w.ResultMedia == codecs.MediaNative)
		messages := jsonx.Of(body).Get(w.Messages).Items()
		callsKey := ""
		for _, m := range messages {
			if m.Get("tool_calls").Len() > 0 {
				callsKey = "tool_calls"
			}
		}
		for _, key := range w.ReasoningKeys {
			value := `"hm"`
			if strings.HasSuffix(key, "details") {
				value = `[{"type":"reasoning.text","text":"hm"}]`
			}
			back, _, err := c.ParseRequest(codecs.In{Body: []byte(`{"model":"m","messages":[{"role":"assistant","content":"x","` + key + `":` + value + `}]}`)}, codecs.Profile{})
			if err != nil {
				t.Fatal(err)
			}
			check("ReasoningKeys reads "+key, back.Messages[0].Parts[0].Kind, codecs.KindReasoning)
		}
		check("CallsKey", callsKey, w.CallsKey)
		check("TextCalls", strings.Contains(string(body), `\u003ctool_call`) || strings.Contains(string(body), "<tool_call"), w.TextCalls)
		check("ObjectArguments", !strings.Contains(string(body), `\"port\"`), w.ObjectArguments)
		for _, m := range back.Messages {
			for _, p := range m.Parts {
				switch {
				case p.Result != nil:
					check("ErrorFlag", p.Result.IsError, w.ErrorFlag)
					check("IDs", strings.Contains(string(body), call.ID), w.IDs != codecs.IDsNever)
				}
			}
		}
		forbid := false
		_, back = send(codecs.Request{Parallel: &forbid, Tools: []codecs.Tool{{Name: "tide", InputSchema: codecs.Raw(`{"type":"object","properties":{}}`)}}, Messages: []codecs.Message{text("user", "go")}})
		check("Parallel", back.Parallel != nil && !*back.Parallel, w.Parallel)
		for name, ok := range map[string]bool{
			"tide": true, strings.Repeat("a", 64): true, strings.Repeat("a", 65): w.ToolNames.Max != 64, "ebb and flow": w.ToolNames.Max == 0, "a.b": w.ToolNames.Max == 0 || strings.Contains(w.ToolNames.Other, "."),
		} {
			_, renamed, _ := w.ToolNames.Rename([]codecs.Tool{{Name: name}})
			check("ToolNames takes "+name, renamed == nil, ok)
		}
		for _, mode := range []string{codecs.ChoiceAny, codecs.ChoiceNone, codecs.ChoiceTool} { // a dropped auto is silent
			_, warnings, err := c.Request(codecs.Request{
				Model: "m", Messages: []codecs.Message{text("user", "go")}, Choice: codecs.Choice{Mode: mode, Name: "tide"},
				Tools: []codecs.Tool{{Name: "tide", InputSchema: codecs.Raw(`{"type":"object","properties":{}}`)}},
			}, codecs.Profile{})
			if err != nil {
				t.Fatal(err)
			}
			warned := slices.ContainsFunc(warnings, func(x codecs.Warning) bool {
				return x.Code == codecs.WarnChoiceDropped || x.Code == codecs.WarnToolsWithheld && !c.Wire().TextCalls // a prompt without tools says none
			})
			check("Choices carries "+mode, !warned, slices.Contains(w.Choices, mode))
		}
	}
}
