package suite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/client"
	"github.com/toolconform/conform/suite/results"
)

// streaming is a codec with streams of a form made up for this test: events, each
// of which holds a piece of the body as a JSON string, and a last one.
type streaming struct {
	codecs.Full
	render func(codecs.Reply) codecs.Reply // a fault of the engine; nil for none
	cut    bool                            // the last event is missing
}

const lastEvent = "data: [DONE]\n\n"

func (s streaming) RenderStream(r codecs.Reply, p codecs.Profile, _ codecs.Likeness, shape string) ([][]byte, []codecs.Warning, error) {
	if shape != "sse" {
		return nil, nil, fmt.Errorf("shape %q", shape)
	}
	if s.render != nil {
		r = s.render(r)
	}
	body, warnings, err := s.Full.RenderReply(r, p, codecs.Likeness{})
	var frames [][]byte
	for piece := range slices.Chunk([]byte(body), 40) {
		text, _ := json.Marshal(piece) // base64: a piece may end inside a character
		frames = append(frames, fmt.Appendf(nil, "data: %s\n\n", text))
	}
	if !s.cut {
		frames = append(frames, []byte(lastEvent))
	}
	return frames, warnings, err
}

func (s streaming) Stream(p codecs.Profile) codecs.Decoder {
	return &decoder{codec: s.Full, profile: p}
}

type decoder struct {
	codec   codecs.Full
	profile codecs.Profile
	seen    []byte
}

func (d *decoder) Feed(chunk []byte) ([]codecs.Event, error) {
	d.seen = append(d.seen, chunk...)
	return nil, nil
}

func (d *decoder) Close() (codecs.Reply, error) {
	if !bytes.HasSuffix(d.seen, []byte(lastEvent)) {
		return codecs.Reply{}, &codecs.DecodeError{Dialect: d.codec.Dialect(), Err: codecs.ErrUnterminated}
	}
	return d.codec.Reply(joined(d.seen), d.profile)
}

// joined puts the pieces of a stream together.
func joined(stream []byte) []byte {
	var out []byte
	for event := range strings.SplitSeq(string(stream), "\n\n") {
		var piece []byte
		if json.Unmarshal([]byte(strings.TrimPrefix(event, "data: ")), &piece) == nil {
			out = append(out, piece...)
		}
	}
	return out
}

func streamRunner(t *testing.T, s streaming, c client.Client) suite.Runner {
	r := newRunner(t)
	r.Client = c
	r.Codec = func(d codecs.Dialect) (codecs.Full, error) {
		full, err := all.For(d)
		s := s
		s.Full = full
		return s, err
	}
	return r
}

// TestStreamedCells plays scenarios in both modes: the streamed cells are cells of
// their own, answered in frames, and judged as the others are.
func TestStreamedCells(t *testing.T) {
	r := streamRunner(t, streaming{}, plain{stream: "both"})
	played := map[results.Key]suite.Played{}
	r.Keep = func(p suite.Played) (string, error) {
		played[p.Cell.Key()] = p
		return "kept/" + p.Cell.Scenario, nil
	}
	doc, err := r.Run(t.Context(), suite.Selection{Engines: []string{"openai"}, Scenarios: []string{"basic", "truncation"}, Stream: "both"})
	if err != nil {
		t.Fatal(err)
	}
	cells := doc.Rows[0].Index()
	for _, c := range doc.Columns {
		off, on := cells[results.Key{Scenario: c.Scenario}], cells[results.Key{Scenario: c.Scenario, Stream: true}]
		if off.Verdict != on.Verdict || off.Exchanges != on.Exchanges || len(off.Checks) != len(on.Checks) {
			t.Errorf("%s: %s %s without streams, %s %s with", c.Scenario, off.Verdict, off.Reason, on.Verdict, on.Reason)
		}
		if on.Origin != results.Synthetic || on.Transcript != "kept/"+c.Scenario {
			t.Errorf("%s: origin %q, transcript %q", c.Scenario, on.Origin, on.Transcript)
		}
		for _, x := range played[results.Key{Scenario: c.Scenario, Stream: true}].Transcript.Exchanges {
			streamed := x.Out.Header["Content-Type"][0] == "text/event-stream" && bytes.HasSuffix(x.Out.Body, []byte(lastEvent))
			if streamed != (x.Out.Status == 200) {
				t.Errorf("%s, turn %d: %d %s", c.Scenario, x.Turn, x.Out.Status, x.Out.Body)
			}
		}
	}
	if c := cells[results.Key{Scenario: "basic/one-call", Stream: true}]; c.Verdict != results.Pass {
		t.Errorf("a streamed cell is %s: %s", c.Verdict, c.Reason)
	}
	if len(doc.Columns) != len(cells) || len(played) < len(cells)/2 {
		t.Errorf("%d columns, %d cells", len(doc.Columns), len(cells))
	}
}

// deaf asks for no stream, whatever its task says.
type deaf struct{ plain }

func (d deaf) Run(ctx context.Context, t client.Task) client.Outcome {
	t.Stream = false
	return d.plain.Run(ctx, t)
}

// TestFaultsOfStreams: who asks for no stream, an engine whose stream loses a call,
// and a stream without its end are found.
func TestFaultsOfStreams(t *testing.T) {
	loses := func(r codecs.Reply) codecs.Reply {
		r.Parts = slices.DeleteFunc(slices.Clone(r.Parts), func(p codecs.Part) bool { return p.Kind == codecs.KindCall })
		return r
	}
	for _, c := range []struct {
		name   string
		codec  streaming
		client client.Client
		check  string
	}{
		{"not asked for", streaming{}, deaf{plain{stream: "both"}}, "request.parameters"},
		{"loses a call", streaming{render: loses}, plain{stream: "both"}, "reply.content"},
		{"without its end", streaming{cut: true}, plain{stream: "both"}, "reply.decodes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := streamRunner(t, c.codec, c.client)
			doc, err := r.Run(t.Context(), suite.Selection{Engines: []string{"openai"}, Scenarios: []string{"basic/one-call"}, Stream: "both"})
			if err != nil {
				t.Fatal(err)
			}
			cells := doc.Rows[0].Index()
			if off := cells[results.Key{Scenario: "basic/one-call"}]; off.Verdict != results.Pass {
				t.Errorf("without streams %s: %s", off.Verdict, off.Reason)
			}
			if k := checkOf(cells[results.Key{Scenario: "basic/one-call", Stream: true}], c.check); k.Verdict != results.Fail {
				t.Errorf("%s is %q: %+v", c.check, k.Verdict, cells[results.Key{Scenario: "basic/one-call", Stream: true}].Checks)
			}
		})
	}
}

// TestNoStreamIsGreen: without streams in codec, client or engine a streamed cell
// says why it was not played.
func TestNoStreamIsGreen(t *testing.T) {
	without := newRunner(t)
	without.Codec = func(d codecs.Dialect) (codecs.Full, error) {
		full, err := all.For(d)
		return struct{ codecs.Full }{full}, err
	}
	for _, c := range []struct {
		name, engine string
		runner       suite.Runner
		verdict      results.Verdict
		reason       string
	}{
		{"codec", "openai", without, results.NotRun, "this codec writes no streams"},
		{"client", "openai", streamRunner(t, streaming{}, plain{}), results.NA, "the client asks for no streams"},
		{"engine", "aki", streamRunner(t, streaming{}, plain{stream: "both"}), results.NA, "this engine cannot stream"},
	} {
		t.Run(c.name, func(t *testing.T) {
			doc, err := c.runner.Run(t.Context(), suite.Selection{Engines: []string{c.engine}, Stream: "on"})
			if err != nil {
				t.Fatal(err)
			}
			for _, cell := range doc.Rows[0].Cells {
				if cell.Verdict == results.NA && c.verdict != results.NA {
					continue // left out for a reason of the scenario's own
				}
				if cell.Verdict != c.verdict || !cell.Stream || cell.Origin != "" || cell.Exchanges != 0 {
					t.Errorf("%s: %s %s", cell.Scenario, cell.Verdict, cell.Reason)
				}
			}
			first := doc.Rows[0].Cells[1]
			if !strings.HasPrefix(first.Reason, c.reason) {
				t.Errorf("%s: reason %q, want %q", first.Scenario, first.Reason, c.reason)
			}
		})
	}
	if _, err := without.Run(t.Context(), suite.Selection{Stream: "yes"}); err == nil || !strings.Contains(err.Error(), "none of off, on and both") {
		t.Errorf("a mode that is none: %v", err)
	}
}

// misreads is a codec whose stream decoder has a fault of a client; its body decoder
// has none.
type misreads struct {
	codecs.Full
	fault func(codecs.Reply) codecs.Reply
}

func (m misreads) Stream(p codecs.Profile) codecs.Decoder {
	return misreading{m.Full.(codecs.Streamer).Stream(p), m.fault}
}

func (m misreads) RenderStream(r codecs.Reply, p codecs.Profile, l codecs.Likeness, shape string) ([][]byte, []codecs.Warning, error) {
	return m.Full.(codecs.StreamRenderer).RenderStream(r, p, l, shape)
}

type misreading struct {
	codecs.Decoder
	fault func(codecs.Reply) codecs.Reply
}

func (m misreading) Close() (codecs.Reply, error) {
	r, err := m.Decoder.Close()
	return m.fault(r), err
}

// TestFaultsOfStreamReaders: what clients get wrong with streams alone shows in the
// streamed cell and not in the other, in every dialect.
func TestFaultsOfStreamReaders(t *testing.T) {
	edit := func(change func(n int, c *codecs.ToolCall) bool) func(codecs.Reply) codecs.Reply {
		return func(r codecs.Reply) codecs.Reply {
			var parts []codecs.Part
			n := 0
			for _, p := range r.Parts {
				if p.Kind == codecs.KindCall {
					call := *p.Call
					p.Call = &call
					n++
					if !change(n, &call) {
						continue
					}
				}
				parts = append(parts, p)
			}
			r.Parts = parts
			return r
		}
	}
	faults := map[string]struct {
		fault func(codecs.Reply) codecs.Reply
		check string
	}{
		"keeps one call of several": {edit(func(n int, _ *codecs.ToolCall) bool { return n == 1 }), "calls.run"},
		"loses the arguments": {edit(func(_ int, c *codecs.ToolCall) bool {
			c.Arguments, c.ArgumentsText = codecs.Raw("{}"), "{}"
			return true
		}), "calls.run"},
		"runs a call twice": {func(r codecs.Reply) codecs.Reply {
			for _, p := range r.Parts {
				if p.Kind == codecs.KindCall {
					again := *p.Call
					again.Pos = len(r.Calls())
					p.Call = &again
					r.Parts = append(slices.Clone(r.Parts), p)
					break
				}
			}
			return r
		}, "calls.run"},
	}
	for name, f := range faults {
		t.Run(name, func(t *testing.T) {
			r := newRunner(t)
			r.Client = client.Reference{Catalog: r.Catalog, Codec: func(d codecs.Dialect) (codecs.Full, error) {
				full, err := all.For(d)
				return misreads{full, f.fault}, err
			}}
			doc, err := r.Run(t.Context(), suite.Selection{
				Engines: []string{"openai", "anthropic", "gemini", "ollama", "openai-responses", "nousresearch"}, Scenarios: []string{"basic/parallel-calls"}, Stream: "both",
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range doc.Rows {
				cells := row.Index()
				if off := cells[results.Key{Scenario: "basic/parallel-calls"}]; off.Verdict == results.Fail {
					t.Errorf("%s without streams: %s", row.Name, off.Reason)
				}
				on := cells[results.Key{Scenario: "basic/parallel-calls", Stream: true}]
				if k := checkOf(on, f.check); on.Verdict != results.Fail || k.Verdict != results.Fail {
					t.Errorf("%s with streams is %s, %s is %q: %s", row.Name, on.Verdict, f.check, k.Verdict, on.Reason)
				}
			}
		})
	}
}
