package loop_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/codecs/gemini"
	"github.com/toolconform/conform/codecs/hermes"
	"github.com/toolconform/conform/codecs/ollama"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/codecs/responses"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
)

// planned is one call of a random turn and what must become of it.
type planned struct {
	id, name, arguments string // arguments are what the model wrote
	whole               bool   // they are a JSON object
	cut                 bool   // the limit cut it: it is whole only by chance
}

// turn is one random reply.
type turn struct {
	calls []planned
	limit bool // ended by the token limit
	pause bool
	text  string
}

// plan makes a random turn. A limit cuts the last call, or none.
func plan(r *rand.Rand, ids *int) turn {
	t := turn{limit: r.IntN(4) == 0, pause: r.IntN(8) == 0}
	if r.IntN(3) == 0 {
		t.text = "note"
	}
	for range 1 + r.IntN(4) {
		*ids++
		c := planned{id: fmt.Sprintf("id%d", *ids), whole: true}
		switch r.IntN(5) {
		case 0:
			c.name = "ghost" // nobody offers it
		default:
			c.name = []string{"ok", "fails", "says_no"}[r.IntN(3)]
		}
		c.arguments = fmt.Sprintf(`{"n":%d,"harbour":"h"}`, *ids)
		if r.IntN(5) == 0 {
			c.arguments, c.whole = fmt.Sprintf(`{"n":%d,"harb`, *ids), false
		}
		t.calls = append(t.calls, c)
	}
	if last := &t.calls[len(t.calls)-1]; t.limit && r.IntN(2) == 0 {
		last.cut = true
		if last.whole {
			last.arguments, last.whole = `{"n":1`, false
		}
	}
	return t
}

// byHand is a dialect as the test writes and reads it: by hand, so that a codec
// that is wrong on both sides is found.
type byHand struct {
	codec codecs.Codec
	reply func(t turn) string
	// pairs returns, for each turn of the history in a request body, the ids of
	// the calls and of the results that follow it.
	pairs  func(t *testing.T, body string) (calls, results [][]string)
	pauses bool
	byName bool // the dialect has no ids: a name stands for its call
	final  string
}

func wires() map[string]byHand {
	quoted := func(s string) string { return string(jsonx.Quote(s)) }
	object := func(c planned) string { // dialects that carry objects: a cut one comes as text
		if c.whole {
			return c.arguments
		}
		return quoted(c.arguments)
	}
	return map[string]byHand{
		"openai": {
			codec: openai.Codec{}, final: chat("stop", "the end"),
			reply: func(t turn) string {
				var calls []string
				for _, c := range t.calls {
					calls = append(calls, c.id+" "+c.name+" "+c.arguments)
				}
				return chat(finish(t, "length", "", "tool_calls"), t.text, calls...)
			},
			pairs: func(t *testing.T, body string) (calls, results [][]string) {
				for _, m := range jsonx.Of([]byte(body)).Get("messages").Items() {
					switch m.Get("role").Str() {
					case "assistant":
						ids := []string{}
						for _, c := range m.Get("tool_calls").Items() {
							ids = append(ids, c.Get("id").Str())
						}
						calls, results = append(calls, ids), append(results, []string{})
					case "tool":
						results[len(results)-1] = append(results[len(results)-1], m.Get("tool_call_id").Str())
					}
				}
				return calls, results
			},
		},
		"anthropic": {
			codec: anthropic.Codec{}, pauses: true, final: message("end_turn", block("the end")),
			reply: func(t turn) string {
				var blocks []string
				if t.text != "" {
					blocks = append(blocks, block(t.text))
				}
				for _, c := range t.calls {
					blocks = append(blocks, use(c.id, c.name, object(c)))
				}
				return message(finish(t, "max_tokens", "pause_turn", "tool_use"), blocks...)
			},
			pairs: func(t *testing.T, body string) (calls, results [][]string) {
				for _, m := range jsonx.Of([]byte(body)).Get("messages").Items() {
					var uses, answers []string
					for _, b := range m.Get("content").Items() {
						switch b.Get("type").Str() {
						case "tool_use":
							uses = append(uses, b.Get("id").Str())
						case "tool_result":
							answers = append(answers, b.Get("tool_use_id").Str())
						}
					}
					if m.Get("role").Str() == "assistant" {
						calls, results = append(calls, uses), append(results, []string{})
					} else if len(results) > 0 {
						results[len(results)-1] = append(results[len(results)-1], answers...)
					}
				}
				return calls, results
			},
		},
		"gemini": {
			codec: gemini.Codec{}, final: `{"candidates":[{"content":{"role":"model","parts":[{"text":"the end"}]},"finishReason":"STOP"}]}`,
			reply: func(t turn) string {
				var parts []string
				for _, c := range t.calls {
					parts = append(parts, fmt.Sprintf(`{"functionCall":{"id":%q,"name":%q,"args":%s},"thoughtSignature":"s"}`, c.id, c.name, object(c)))
				}
				return `{"candidates":[{"content":{"role":"model","parts":[` + strings.Join(parts, ",") + `]},"finishReason":"` + finish(t, "MAX_TOKENS", "", "STOP") + `"}]}`
			},
			pairs: func(t *testing.T, body string) (calls, results [][]string) {
				for _, m := range jsonx.Of([]byte(body)).Get("contents").Items() {
					var uses, answers []string
					for _, p := range m.Get("parts").Items() {
						if p.Get("functionCall").Exists() {
							uses = append(uses, p.Path("functionCall", "id").Str())
						}
						if p.Get("functionResponse").Exists() {
							answers = append(answers, p.Path("functionResponse", "id").Str())
						}
					}
					if m.Get("role").Str() == "model" {
						calls, results = append(calls, uses), append(results, []string{})
					} else if len(results) > 0 {
						results[len(results)-1] = append(results[len(results)-1], answers...)
					}
				}
				return calls, results
			},
		},
		"responses": {
			codec: responses.Codec{}, final: `{"id":"r","status":"completed","output":[{"type":"message","role":"assistant","status":"completed","content":[{"type":"output_text","text":"the end","annotations":[]}]}]}`,
			reply: func(t turn) string {
				var items []string
				for _, c := range t.calls {
					items = append(items, fmt.Sprintf(`{"type":"function_call","id":"fc_%s","call_id":%q,"name":%q,"arguments":%s}`, c.id, c.id, c.name, quoted(c.arguments)))
				}
				status := `"status":"completed"`
				if t.limit {
					status = `"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}`
				}
				return `{"id":"r",` + status + `,"output":[` + strings.Join(items, ",") + `]}`
			},
			pairs: func(t *testing.T, body string) (calls, results [][]string) {
				for _, item := range jsonx.Of([]byte(body)).Get("input").Items() {
					switch item.Get("type").Str() {
					case "function_call":
						if n := len(calls); n == 0 || len(results[n-1]) > 0 {
							calls, results = append(calls, nil), append(results, nil)
						}
						calls[len(calls)-1] = append(calls[len(calls)-1], item.Get("call_id").Str())
					case "function_call_output":
						results[len(results)-1] = append(results[len(results)-1], item.Get("call_id").Str())
					}
				}
				return calls, results
			},
		},
		"ollama": {
			codec: ollama.Codec{}, byName: true, final: `{"model":"m","message":{"role":"assistant","content":"the end"},"done":true,"done_reason":"stop"}`,
			reply: func(t turn) string {
				var calls []string
				for _, c := range t.calls {
					calls = append(calls, fmt.Sprintf(`{"function":{"name":%q,"arguments":%s}}`, c.name, object(c)))
				}
				return `{"model":"m","message":{"role":"assistant","content":` + quoted(t.text) + `,"tool_calls":[` + strings.Join(calls, ",") +
					`]},"done":true,"done_reason":"` + finish(t, "length", "", "stop") + `"}`
			},
			pairs: func(t *testing.T, body string) (calls, results [][]string) {
				for _, m := range jsonx.Of([]byte(body)).Get("messages").Items() {
					switch m.Get("role").Str() {
					case "assistant":
						names := []string{}
						for _, c := range m.Get("tool_calls").Items() {
							names = append(names, c.Path("function", "name").Str())
						}
						calls, results = append(calls, names), append(results, []string{})
					case "tool":
						results[len(results)-1] = append(results[len(results)-1], m.Get("tool_name").Str())
					}
				}
				return calls, results
			},
		},
		"hermes": {
			codec: hermes.Codec{}, byName: true, final: chat("stop", "the end"),
			reply: func(t turn) string {
				text := t.text
				for _, c := range t.calls {
					text += fmt.Sprintf("\n<tool_call>\n{\"name\":%q,\"arguments\":%s", c.name, strings.TrimSuffix(c.arguments, `"harb`))
					if c.cut {
						break // the limit leaves the block open
					}
					text += "}\n</tool_call>"
				}
				return chat(finish(t, "length", "", "stop"), text)
			},
			pairs: func(t *testing.T, body string) (calls, results [][]string) {
				for _, m := range jsonx.Of([]byte(body)).Get("messages").Items() {
					content := m.Get("content").Str()
					switch m.Get("role").Str() {
					case "assistant":
						calls, results = append(calls, named(content, "<tool_call>")), append(results, []string{})
					case "tool":
						results[len(results)-1] = append(results[len(results)-1], named(content, "<tool_response>")...)
					}
				}
				return calls, results
			},
		},
	}
}

// named returns the names of the blocks that a tag opens.
func named(content, tag string) []string {
	var out []string
	for _, part := range strings.Split(content, tag)[1:] {
		_, rest, _ := strings.Cut(part, `"name":"`)
		name, _, _ := strings.Cut(rest, `"`)
		out = append(out, name)
	}
	return out
}

func finish(t turn, limit, pause, calls string) string {
	switch {
	case t.pause && pause != "":
		return pause
	case t.limit:
		return limit
	}
	return calls
}

// Laws 4 and 5 on random conversations: in each request that goes out every
// call of the history has exactly one result and the other way round, in order;
// only whole calls that somebody offers are run, once each, in wire order; what
// the limit cut is neither run nor echoed.
func TestLaws(t *testing.T) {
	for name, w := range wires() {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(150) {
				r := rand.New(rand.NewPCG(seed, 1))
				ids, e, want, echoed := 0, &engine{}, []string{}, [][]string{}
				end := "" // kind of the error, when a turn ends the run
				for range 1 + r.IntN(5) {
					tn := plan(r, &ids)
					tn.pause = tn.pause && w.pauses
					e.answers = append(e.answers, answer{body: w.reply(tn)})
					var stay []string
					for _, c := range tn.calls {
						if tn.limit && !tn.pause && !c.whole {
							continue // dropped
						}
						if w.byName {
							c.id = c.name
						}
						stay = append(stay, c.id)
						if c.whole && c.name != "ghost" && !tn.pause {
							want = append(want, c.name+c.arguments)
						}
					}
					if len(stay) == 0 {
						end = "truncated"
						break
					}
					echoed = append(echoed, stay)
				}
				e.answers = append(e.answers, answer{body: w.final})
				h := tides("ok", "fails", "says_no")
				h.run = func(_ context.Context, name string, _ codecs.Raw) (codecs.ToolResult, error) {
					res := said(name)
					res.IsError = name == "says_no"
					if name == "fails" {
						return res, errors.New("out")
					}
					return res, nil
				}
				out, err := loop.Run(t.Context(), config(w.codec, e, h))
				if got := loop.ErrorKind(err); got != end {
					t.Fatalf("seed %d: ended with %v, want kind %q", seed, err, end)
				}
				if end == "" && out.Text != "the end" {
					t.Fatalf("seed %d: text = %q", seed, out.Text)
				}
				if fmt.Sprint(want) != fmt.Sprint(h.ran) {
					t.Fatalf("seed %d: ran  %v\nwant %v", seed, h.ran, want)
				}
				for i, body := range e.bodies {
					calls, results := w.pairs(t, body)
					if fmt.Sprint(calls) != fmt.Sprint(results) || fmt.Sprint(calls) != fmt.Sprint(echoed[:i]) {
						t.Fatalf("seed %d, request %d: calls %v\nresults %v\nwant %v\n%s", seed, i, calls, results, echoed[:i], body)
					}
				}
			}
		})
	}
}
