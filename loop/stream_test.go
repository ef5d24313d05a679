package loop_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/codecs/gemini"
	"github.com/toolconform/conform/codecs/hermes"
	"github.com/toolconform/conform/codecs/ollama"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/codecs/responses"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/loop"
)

// events joins the data of server-sent events; "name data" gives one a name.
func events(frames ...string) string {
	var b strings.Builder
	for _, f := range frames {
		if name, data, ok := strings.Cut(f, " "); ok && !strings.HasPrefix(f, "{") && !strings.HasPrefix(f, "[") {
			b.WriteString("event: " + name + "\n")
			f = data
		}
		b.WriteString("data: " + f + "\n\n")
	}
	return b.String()
}

// delta is a chunk of a chat stream.
func delta(d, finish string) string {
	if finish = `"` + finish + `"`; finish == `""` {
		finish = "null"
	}
	return `{"id":"r","object":"chat.completion.chunk","created":1,"model":"m-1","choices":[{"index":0,"delta":` + d + `,"finish_reason":` + finish + `}]}`
}

// streamed are the two replies of one conversation in each dialect: a word of
// text and a call, then the answer.
func streamed() []struct {
	codec codecs.Full
	call  string
	last  string
} {
	return []struct {
		codec codecs.Full
		call  string
		last  string
	}{
		{
			openai.Codec{},
			events(delta(`{"role":"assistant","content":"One "}`, ""), delta(`{"content":"moment."}`, ""),
				delta(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"tide","arguments":""}}]}`, ""),
				delta(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"harbour\":"}}]}`, ""),
				delta(`{"tool_calls":[{"index":0,"function":{"arguments":"\"Husum\"}"}}]}`, ""), delta(`{}`, "tool_calls"), "[DONE]"),
			events(delta(`{"role":"assistant","content":"At "}`, ""), delta(`{"content":"noon."}`, ""), delta(`{}`, "stop"), "[DONE]"),
		},
		{
			anthropic.Codec{},
			events(`message_start {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":3,"output_tokens":1}}}`,
				`content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
				`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"One "}}`,
				`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"moment."}}`,
				`content_block_stop {"type":"content_block_stop","index":0}`,
				`content_block_start {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"call_1","name":"tide","input":{}}}`,
				`content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"harbour\":"}}`,
				`content_block_delta {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"\"Husum\"}"}}`,
				`content_block_stop {"type":"content_block_stop","index":1}`,
				`message_delta {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":9}}`,
				`message_stop {"type":"message_stop"}`),
			events(`message_start {"type":"message_start","message":{"id":"msg_2","type":"message","role":"assistant","model":"m-1","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":9,"output_tokens":1}}}`,
				`content_block_start {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
				`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"At "}}`,
				`content_block_delta {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"noon."}}`,
				`content_block_stop {"type":"content_block_stop","index":0}`,
				`message_delta {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":3}}`,
				`message_stop {"type":"message_stop"}`),
		},
		{
			gemini.Codec{},
			events(`{"candidates":[{"content":{"role":"model","parts":[{"text":"One "}]},"index":0}]}`,
				`{"candidates":[{"content":{"role":"model","parts":[{"text":"moment."}]},"index":0}]}`,
				`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"id":"call_1","name":"tide","args":{"harbour":"Husum"}}}]},"index":0,"finishReason":"STOP"}]}`),
			events(`{"candidates":[{"content":{"role":"model","parts":[{"text":"At "}]},"index":0}]}`,
				`{"candidates":[{"content":{"role":"model","parts":[{"text":"noon."}]},"index":0,"finishReason":"STOP"}]}`),
		},
		{
			ollama.Codec{},
			`{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"One "},"done":false}` + "\n" +
				`{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"moment."},"done":false}` + "\n" +
				`{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"","tool_calls":[{"id":"call_1","function":{"name":"tide","arguments":{"harbour":"Husum"}}}]},"done":false}` + "\n" +
				`{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}` + "\n",
			`{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"At "},"done":false}` + "\n" +
				`{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":"noon."},"done":false}` + "\n" +
				`{"model":"m-1","created_at":"2026-01-01T00:00:00Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}` + "\n",
		},
		{
			responses.Codec{},
			events(`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_1","status":"in_progress","role":"assistant","content":[]}}`,
				`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"One "}`,
				`{"type":"response.output_text.delta","item_id":"msg_1","output_index":0,"content_index":0,"delta":"moment."}`,
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"One moment.","annotations":[]}]}}`,
				`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1","status":"in_progress","call_id":"call_1","name":"tide","arguments":""}}`,
				`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":"{\"harbour\":"}`,
				`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":1,"delta":"\"Husum\"}"}`,
				`{"type":"response.output_item.done","output_index":1,"item":{"type":"function_call","id":"fc_1","status":"completed","call_id":"call_1","name":"tide","arguments":"{\"harbour\":\"Husum\"}"}}`,
				`{"type":"response.completed","response":{"id":"resp_1","object":"response","status":"completed","model":"m-1","output":[{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"One moment.","annotations":[]}]},{"type":"function_call","id":"fc_1","status":"completed","call_id":"call_1","name":"tide","arguments":"{\"harbour\":\"Husum\"}"}]}}`),
			events(`{"type":"response.output_item.added","output_index":0,"item":{"type":"message","id":"msg_2","status":"in_progress","role":"assistant","content":[]}}`,
				`{"type":"response.output_text.delta","item_id":"msg_2","output_index":0,"content_index":0,"delta":"At "}`,
				`{"type":"response.output_text.delta","item_id":"msg_2","output_index":0,"content_index":0,"delta":"noon."}`,
				`{"type":"response.output_item.done","output_index":0,"item":{"type":"message","id":"msg_2","status":"completed","role":"assistant","content":[{"type":"output_text","text":"At noon.","annotations":[]}]}}`,
				`{"type":"response.completed","response":{"id":"resp_2","object":"response","status":"completed","model":"m-1","output":[{"type":"message","id":"msg_2","status":"completed","role":"assistant","content":[{"type":"output_text","text":"At noon.","annotations":[]}]}]}}`),
		},
		{
			hermes.Codec{},
			events(delta(`{"role":"assistant","content":"One "}`, ""), delta(`{"content":"moment.<tool"}`, ""),
				delta(`{"content":"_call>{\"name\":\"tide\",\"arguments\":{\"harbour\":\"Husum\"}}</tool_call>"}`, ""), delta(`{}`, "stop"), "[DONE]"),
			events(delta(`{"role":"assistant","content":"At "}`, ""), delta(`{"content":"noon."}`, ""), delta(`{}`, "stop"), "[DONE]"),
		},
	}
}

// shown joins the text of events, reply by reply.
type shown struct {
	mu      sync.Mutex
	replies []string
	calls   []string
}

func (s *shown) event(e codecs.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.replies) == 0 {
		s.replies = []string{""}
	}
	last := len(s.replies) - 1
	switch {
	case e.Retract:
		s.replies[last] = ""
	case e.Kind == codecs.KindText:
		s.replies[last] += e.Text
	case e.Kind == codecs.KindCall && e.Name != "":
		s.calls = append(s.calls, e.Name)
	}
}

func (s *shown) reply(codecs.Reply) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, "")
	return nil
}

// A streamed run does what a run without a stream does, whatever the pieces in
// which the bytes come, over a real connection; and shows each delta once.
func TestStreamedRun(t *testing.T) {
	for _, c := range streamed() {
		t.Run(string(c.codec.Dialect()), func(t *testing.T) {
			bodies := []string{c.call, c.last}
			var got [][]byte
			refused := 0
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if len(got) == 1 && refused == 0 { // in front of the second answer
					refused++
					w.Header().Set("Retry-After", "0")
					w.WriteHeader(http.StatusServiceUnavailable)
					return
				}
				body, _ := io.ReadAll(r.Body)
				got = append(got, body)
				stream := bodies[0]
				bodies = bodies[1:] // the next request may come before this one ends
				for i := range len(stream) {
					_, _ = w.Write([]byte(stream[i : i+1]))
					if i%7 == 0 {
						w.(http.Flusher).Flush()
					}
				}
			}))
			defer srv.Close()
			sender := &engines.Client{
				Engine: engines.Engine{Name: "own", Dialect: c.codec.Dialect(), URL: srv.URL + "/x", Auth: "none"}, Codec: c.codec, Model: "m-1",
			}
			s := &shown{}
			h := tides("tide")
			cfg := config(c.codec, nil, h)
			cfg.Sender, cfg.Stream, cfg.OnEvent, cfg.AfterReply = sender, true, s.event, s.reply
			out := mustRun(t, cfg)
			same(t, "ran", []string{`tide{"harbour":"Husum"}`}, h.ran)
			same(t, "text", "At noon.", out.Text)
			same(t, "shown", []string{"One moment.", "At noon.", ""}, s.replies)
			same(t, "refused once", 1, refused)
			same(t, "warnings", []string{}, codes(out.Warnings))
			for i, body := range got {
				req, _, err := c.codec.ParseRequest(codecs.Post(c.codec.Endpoint("m-1", true), body), codecs.Profile{})
				if err != nil || !req.Stream {
					t.Errorf("request %d asks for no stream: %v %s", i, err, body)
				}
			}

			plain := says(string(out.Replies[0].Body), string(out.Reply.Body))
			for i, stream := range []string{c.call, c.last} {
				r, err := c.codec.(codecs.Streamer).Stream(codecs.Profile{}), error(nil)
				if _, err = r.Feed([]byte(stream)); err != nil && err != io.EOF {
					t.Fatal(err)
				}
				whole, err := r.Close()
				if err != nil {
					t.Fatal(err)
				}
				plain.answers[i].body = string(whole.Body)
			}
			again := mustRun(t, config(c.codec, plain, tides("tide")))
			same(t, "same text", again.Text, out.Text)
			same(t, "same conversation", again.Native, out.Native)
		})
	}
}

// A stream that breaks off, carries an error or comes with too little runs
// nothing; what came of it is told.
func TestStreamThatEnds(t *testing.T) {
	call := delta(`{"role":"assistant","content":"One moment.","tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"tide","arguments":"{}"}}]}`, "")
	broken := errors.New("connection reset")
	for _, c := range []struct {
		name string
		body string
		then error // how the connection ends; nil is well
		kind string
		text string // that stands in the outcome
	}{
		{"ends without its marker", events(call), nil, loop.KindDecode, "One moment."},
		{"is cut", events(call) + "data: {\"id\":", broken, loop.KindProvider, "One moment."},
		{"carries an error after a whole call", events(call, `{"error":{"message":"overloaded","type":"server_error"}}`), nil, loop.KindProvider, "One moment."},
		{"is empty", "", nil, loop.KindDecode, ""},
		{"is no stream", "<html>", nil, loop.KindDecode, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := &engine{streams: true, answers: []answer{{reader: io.NopCloser(io.MultiReader(strings.NewReader(c.body), failing{c.then}))}}}
			h := tides("tide")
			cfg := config(openai.Codec{}, e, h)
			cfg.Stream = true
			out, err := loop.Run(t.Context(), cfg)
			if loop.ErrorKind(err) != c.kind {
				t.Errorf("error %v is %q, want %q", err, loop.ErrorKind(err), c.kind)
			}
			if c.then != nil && !errors.Is(err, c.then) {
				t.Errorf("error %v does not wrap %v", err, c.then)
			}
			same(t, "ran", 0, len(h.ran))
			same(t, "calls left", 0, len(out.Reply.Calls()))
			same(t, "text so far", c.text, out.Reply.Text())
			same(t, "text", "", out.Text)
		})
	}
}

// failing ends a body in its own way.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) {
	if f.err == nil {
		return 0, io.EOF
	}
	return 0, f.err
}

// The marker ends a stream: a connection that stays open, breaks or goes on
// after it changes nothing.
func TestNothingIsReadAfterTheMarker(t *testing.T) {
	whole := streamed()[0].last
	open, hold := io.Pipe()
	go hold.Write([]byte(whole)) // and no end
	for name, body := range map[string]io.ReadCloser{
		"stays open": open,
		"breaks":     io.NopCloser(io.MultiReader(strings.NewReader(whole), failing{errors.New("connection reset")})),
		"goes on":    io.NopCloser(strings.NewReader(whole + "data: not JSON\n\n")),
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(openai.Codec{}, &engine{streams: true, answers: []answer{{reader: body}}}, tides("tide"))
			cfg.Stream = true
			same(t, "text", "At noon.", mustRun(t, cfg).Text)
		})
	}
}

// A server that does not stream is understood all the same.
func TestWholeReplyToStreamRequest(t *testing.T) {
	e := says(chat("tool_calls", "", `call_1 tide {}`), chat("stop", "At noon."))
	e.streams = true
	h := tides("tide")
	cfg := config(openai.Codec{}, e, h)
	cfg.Stream = true
	same(t, "text", "At noon.", mustRun(t, cfg).Text)
	same(t, "ran", []string{`tide{}`}, h.ran)
	same(t, "asked", true, jsonx.Of([]byte(e.bodies[0])).Get("stream").Bool())
}

// The end of the context ends a stream that drips, and tells how far it got.
func TestStreamCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	go w.Write([]byte(events(delta(`{"role":"assistant","content":"One "}`, ""))))
	cfg := config(openai.Codec{}, &engine{streams: true, answers: []answer{{reader: r}}}, tides("tide"))
	cfg.Stream, cfg.OnEvent = true, func(codecs.Event) { cancel() }
	_, err := loop.Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) || loop.ErrorKind(err) != loop.KindCancelled {
		t.Errorf("error = %v", err)
	}
	for err = nil; err == nil; { // for good when nobody closes the body
		_, err = w.Write([]byte(" "))
	}
	if err != io.ErrClosedPipe {
		t.Errorf("writing to the body: %v", err)
	}
}

// bare is a codec without its extensions.
type bare struct{ codecs.Codec }

func TestStreamNeedsAStreamer(t *testing.T) {
	cfg := config(bare{openai.Codec{}}, says(), tides("tide"))
	cfg.Stream = true
	if _, err := loop.Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "reads no streams") {
		t.Errorf("error = %v", err)
	}
}
