package loop_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/gemini"
	"github.com/toolconform/conform/codecs/ollama"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/codecs/responses"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/loop"
)

const plainResponse = `{"id":"r","status":"completed","output":[{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"ok","annotations":[]}]}]}`

// SV01, SV02: a server tool of the run and the same one as a default give the
// same body.
func TestServerToolDefaultEqualsRequest(t *testing.T) {
	entry := []codecs.Raw{codecs.Raw(`{"type":"web_search","search_context_size":"low"}`)}
	var bodies []string
	for _, def := range []bool{false, true} {
		e := says(plainResponse)
		conf := config(responses.Codec{}, e, tides("tide"))
		if def {
			conf.ServerTools = entry
		} else {
			conf.RequestServerTools = entry
		}
		mustRun(t, conf)
		bodies = append(bodies, e.bodies[0])
	}
	same(t, "body", bodies[0], bodies[1])
	same(t, "server tool", string(entry[0]), string(jsonx.Of([]byte(bodies[0])).Get("tools").At(1).Raw()))
}

// SV05: of remote MCP servers the label tells them apart.
func TestServerToolLabels(t *testing.T) {
	mcp := func(label, url string) codecs.Raw {
		return codecs.Raw(`{"type":"mcp","server_label":"` + label + `","server_url":"` + url + `","require_approval":"never"}`)
	}
	e := says(plainResponse)
	conf := config(responses.Codec{}, e, tides("tide"))
	conf.ServerTools = []codecs.Raw{mcp("a", "http://127.0.0.1/a"), mcp("b", "http://127.0.0.1/b")}
	conf.RequestServerTools = []codecs.Raw{mcp("a", "http://127.0.0.1/mine")}
	mustRun(t, conf)
	var urls []string
	for _, tool := range jsonx.Of([]byte(e.bodies[0])).Get("tools").Items()[1:] {
		urls = append(urls, tool.Get("server_url").Str())
	}
	same(t, "servers", []string{"http://127.0.0.1/mine", "http://127.0.0.1/b"}, urls)
}

// SV08, SV11: a type that no table lists goes out as it is when the caller says
// so; a function or a custom tool never does.
func TestServerToolsUnlisted(t *testing.T) {
	run := func(entry string, allow bool) (*engine, error) {
		e := says(plainResponse)
		conf := config(responses.Codec{}, e, tides("tide"))
		conf.ServerTools, conf.AllowUnlistedServerTools = []codecs.Raw{codecs.Raw(entry)}, allow
		_, err := loop.Run(t.Context(), conf)
		return e, err
	}
	novel := `{"type":"tide_oracle", "depth":1.50}`
	e, err := run(novel, true)
	if err != nil {
		t.Fatalf("unlisted: %v", err)
	}
	same(t, "verbatim", novel, string(jsonx.Of([]byte(e.bodies[0])).Get("tools").At(1).Raw()))
	for _, c := range []struct {
		entry string
		allow bool
	}{
		{novel, false},
		{`{"type":"custom","name":"x"}`, true},
		{`{"type":"function","name":"x"}`, true},
		{`{"type":"local_shell"}`, true},
		{`"web_search"`, true},
	} {
		e, err := run(c.entry, c.allow)
		if err == nil || !strings.Contains(err.Error(), "is not a server tool of the responses wire") {
			t.Errorf("%s: error %v", c.entry, err)
		}
		same(t, "requests", 0, len(e.bodies))
	}
}

// SV12: what the caller does with its list later changes no request of the run.
func TestServerToolsCopied(t *testing.T) {
	call := `{"id":"r","status":"completed","output":[{"type":"function_call","id":"f","call_id":"c1","name":"tide","arguments":"{}"}]}`
	e := says(call, plainResponse)
	conf := config(responses.Codec{}, e, tides("tide"))
	conf.ServerTools = []codecs.Raw{codecs.Raw(`{"type":"web_search"}`)}
	e.onSend = func(n int) {
		if n == 1 {
			copy(conf.ServerTools[0], `{"type":"xxx_search"}`)
		}
	}
	mustRun(t, conf)
	for _, body := range e.bodies {
		same(t, "server tool", "web_search", jsonx.Of([]byte(body)).Get("tools").At(1).Get("type").Str())
	}
}

// A tool server may name its tools as it likes; the wire may not. The names that
// go out are fit for it and tell the tools apart, and calls come back under
// either name to the tool's own.
func TestToolNames(t *testing.T) {
	long := strings.Repeat("buoy", 20)
	own := []string{"tide.high", "tide_high", "Tide High", "tide-high", "tide high", long + "n", long + "m", "Flut?"}
	var sent []string
	offered := func(body string) (out []string) {
		for _, tool := range jsonx.Of([]byte(body)).Get("tools").Items() {
			out = append(out, tool.Path("function", "name").Str())
		}
		return out
	}
	e := says(chat("stop", "ok"))
	out := mustRun(t, config(openai.Codec{}, e, tides(own...)))
	sent = offered(e.bodies[0])
	seen := map[string]bool{}
	for i, name := range sent {
		if len(name) > 64 || strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || seen[name] {
			t.Errorf("%q goes out as %q", own[i], name)
		}
		seen[name] = true
		if back := out.ToolNames[name]; back != own[i] && name != own[i] {
			t.Errorf("%q is mapped back to %q, want %q", name, back, own[i])
		}
	}
	same(t, "fit names stay", []string{"tide_high", "tide-high"}, []string{sent[1], sent[3]})
	renamed := 0
	for _, w := range out.Warnings {
		if w.Code == codecs.WarnToolRenamed {
			renamed++
		}
	}
	same(t, "warnings", 6, renamed)

	// The model calls by the name that it was told; by the own name, too.
	e = says(chat("tool_calls", "", "c1 "+sent[0]+" {}", "c2 "+sent[5]+" {}", "c3 tide.high {}"), chat("stop", "ok"))
	h := tides(own...)
	conf := config(openai.Codec{}, e, h)
	conf.Choice = codecs.Choice{Mode: codecs.ChoiceTool, Name: "tide.high"}
	conf.Messages = append(conf.Messages,
		codecs.Message{Role: "assistant", Parts: []codecs.Part{{Kind: codecs.KindCall, Call: &codecs.ToolCall{ID: "c0", Name: "tide.high", Arguments: codecs.Raw("{}")}}}},
		codecs.Message{Role: "tool", Parts: []codecs.Part{{Kind: codecs.KindResult, Result: &codecs.ToolResult{ID: "c0", Name: "tide.high", Content: []codecs.Raw{codecs.TextBlock("3 m")}}}}})
	var hooked []string
	conf.BeforeCall = func(c codecs.ToolCall) (codecs.ToolCall, bool) { hooked = append(hooked, c.Name); return c, false }
	out = mustRun(t, conf)
	same(t, "ran", []string{"tide.high{}", long + "n{}", "tide.high{}"}, h.ran)
	same(t, "hook", []string{"tide.high", long + "n", "tide.high"}, hooked)
	same(t, "executed", "tide.high", out.Ran[0].Name)
	body := jsonx.Of([]byte(e.bodies[0]))
	same(t, "choice", sent[0], body.Path("tool_choice", "function", "name").Str())
	same(t, "history", sent[0], body.Get("messages").At(1).Get("tool_calls").At(0).Path("function", "name").Str())
	same(t, "same names again", sent, offered(e.bodies[1]))

	// Gemini wants a letter first and has a wider alphabet; Ollama takes all.
	e = says(`{"candidates":[{"content":{"role":"model","parts":[{"text":"ok"}]},"finishReason":"STOP"}]}`)
	mustRun(t, config(gemini.Codec{}, e, tides("tide.high", "7seas")))
	decls := jsonx.Of([]byte(e.bodies[0])).Get("tools").At(0).Get("functionDeclarations")
	same(t, "gemini", []string{"tide.high", "_7seas"}, []string{decls.At(0).Get("name").Str(), decls.At(1).Get("name").Str()})
	e = says(`{"message":{"role":"assistant","content":"ok"},"done":true,"done_reason":"stop"}`)
	out = mustRun(t, config(ollama.Codec{}, e, tides("tide high")))
	same(t, "ollama", []string{"tide high"}, offered(e.bodies[0]))
	same(t, "ollama map", 0, len(out.ToolNames))
}

// A prompt may hold the rest of another run: a result whose call was trimmed
// away, and a call that was never answered. Neither goes out.
func TestHistoryIsPaired(t *testing.T) {
	part := func(kind codecs.Kind, id string) codecs.Part {
		if kind == codecs.KindCall {
			return codecs.Part{Kind: kind, Call: &codecs.ToolCall{ID: id, Name: "tide", Arguments: codecs.Raw("{}")}}
		}
		return codecs.Part{Kind: kind, Result: &codecs.ToolResult{ID: id, Name: "tide", Content: []codecs.Raw{codecs.TextBlock("ebb")}}}
	}
	text := codecs.Part{Kind: codecs.KindText, Text: "hm"}
	msg := func(role string, parts ...codecs.Part) codecs.Message {
		return codecs.Message{Role: role, Parts: parts}
	}
	for _, c := range []struct {
		name   string
		in     []codecs.Message
		want   []string // role and what its message holds
		warned []string
	}{
		{"whole", []codecs.Message{msg("assistant", part(codecs.KindCall, "a")), msg("tool", part(codecs.KindResult, "a"))}, []string{"assistant a", "tool a"}, []string{}},
		{"trimmed front", []codecs.Message{msg("tool", part(codecs.KindResult, "a")), msg("user", text)}, []string{"user hm"}, []string{codecs.WarnResultOrphan}},
		{
			"broken off",
			[]codecs.Message{msg("assistant", text, part(codecs.KindCall, "a"), part(codecs.KindCall, "b")), msg("tool", part(codecs.KindResult, "a"))},
			[]string{"assistant hm a", "tool a"},
			[]string{codecs.WarnCallDropped},
		},
		{"only an open call", []codecs.Message{msg("assistant", codecs.Part{Kind: codecs.KindReasoning, Text: "well"}, part(codecs.KindCall, "a")), msg("user", text)}, []string{"user hm"}, []string{codecs.WarnCallDropped}},
		{
			"an id again",
			[]codecs.Message{msg("assistant", part(codecs.KindCall, "a")), msg("tool", part(codecs.KindResult, "a")), msg("assistant", part(codecs.KindCall, "a")), msg("tool", part(codecs.KindResult, "a"))},
			[]string{"assistant a", "tool a", "assistant a", "tool a"},
			[]string{},
		},
		{"two results for one call", []codecs.Message{msg("assistant", part(codecs.KindCall, "a")), msg("tool", part(codecs.KindResult, "a"), part(codecs.KindResult, "a"))}, []string{"assistant a", "tool a"}, []string{codecs.WarnResultOrphan}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := says(chat("stop", "ok"))
			conf := config(openai.Codec{}, e, tides("tide"))
			conf.Messages = c.in
			out := mustRun(t, conf)
			got := []string{}
			for _, m := range jsonx.Of([]byte(e.bodies[0])).Get("messages").Items() {
				line := m.Get("role").Str()
				if s := m.Get("content").Str(); s != "" && line != "tool" {
					line += " " + s
				}
				for _, call := range m.Get("tool_calls").Items() {
					line += " " + call.Get("id").Str()
				}
				if id := m.Get("tool_call_id").Str(); id != "" {
					line += " " + id
				}
				got = append(got, line)
			}
			same(t, "messages", c.want, got)
			same(t, "warnings", c.warned, codes(out.Warnings))
		})
	}
	// Results without ids go by name and order.
	idless := []codecs.Message{msg("assistant", part(codecs.KindCall, ""), part(codecs.KindCall, "")), msg("tool", part(codecs.KindResult, "")), msg("tool", part(codecs.KindResult, ""))}
	kept, warnings := wire.PairHistory(idless)
	if raw, err := json.Marshal(kept); err != nil || len(kept) != 3 || len(warnings) != 0 {
		t.Errorf("without ids: %s, %v, %v", raw, warnings, err)
	}
	native := []codecs.Message{{Role: "assistant", Native: []codecs.Raw{codecs.Raw(`{}`)}}, msg("tool", part(codecs.KindResult, "a"))}
	if kept, warnings := wire.PairHistory(native); len(kept) != 2 || len(warnings) != 0 {
		t.Errorf("native: %d messages, %v", len(kept), warnings)
	}
}
