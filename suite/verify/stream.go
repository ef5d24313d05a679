package verify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/paths"
	"github.com/toolconform/conform/internal/wire"
)

// streamTable says where the frames of a dialect's streams hold what is counted.
type streamTable struct {
	Text, Reasoning []string // pieces of text
	Names, IDs      []string // of calls: each id once, or each name where no call has an id
	Arguments       []string // pieces of arguments text
	ArgumentsUnless []string `json:"arguments_unless"` // where one of these is, Arguments holds other things too
	ReasoningElse   []string `json:"reasoning_else"`   // counts where Reasoning finds nothing
	Lines           bool     // JSON a line; else server-sent events
}

// frames cuts a stream with the simplest reading that holds for a stream that
// has come whole: it shares nothing with internal/sse.
func (t streamTable) frames(stream []byte) (out []any) {
	add := func(text string) {
		if v, ok := parse([]byte(text)); ok {
			if list, ok := v.([]any); ok {
				out = append(out, list...)
			} else {
				out = append(out, v)
			}
		}
	}
	text := strings.ReplaceAll(strings.ReplaceAll(string(stream), "\r\n", "\n"), "\r", "\n")
	if t.Lines {
		for _, line := range strings.Split(text, "\n") {
			add(line)
		}
		return out
	}
	if strings.HasPrefix(strings.TrimLeft(text, " \n\uFEFF"), "[") {
		add(text)
		return out
	}
	for _, event := range strings.Split(text, "\n\n") {
		var data []string
		for _, line := range strings.Split(event, "\n") {
			if d, ok := strings.CutPrefix(strings.TrimPrefix(line, "\uFEFF"), "data:"); ok {
				data = append(data, d)
			}
		}
		add(strings.Join(data, "\n"))
	}
	return out
}

// scanStream counts a stream without using a codec.
func (t tables) scanStream(d codecs.Dialect, stream []byte) (c scanned, args int, argsKnown bool) {
	tab := t.of[d].Stream
	frames := tab.frames(stream)
	joined := func(list []string) string {
		var b strings.Builder
		for _, f := range frames {
			for _, path := range list {
				for _, v := range paths.Find(f, path) {
					b.WriteString(str(v))
				}
			}
		}
		return b.String()
	}
	c.failed = bytes.Contains(stream, []byte("event: error"))
	c.failed = c.failed || slices.ContainsFunc(frames, t.carriesError)
	c.content, c.tagged = withoutTags(joined(tab.Text))
	if c.reasoning = visible(joined(tab.Reasoning)); c.reasoning == 0 {
		c.reasoning = visible(joined(tab.ReasoningElse))
	}
	ids, names := map[string]bool{}, 0
	for _, f := range frames {
		for _, path := range tab.IDs {
			for _, v := range paths.Find(f, path) {
				ids[fmt.Sprint(v)] = true
			}
		}
		for _, path := range tab.Names {
			for _, v := range paths.Find(f, path) {
				if str(v) != "" {
					names++
				}
			}
		}
	}
	delete(ids, "")
	if c.calls = len(ids); c.calls == 0 {
		c.calls = names
	}
	if text := t.of[d].TextCalls; text != nil && c.calls == 0 {
		c.textCalls(*text)
	}
	c.text = visible(c.content)
	return c, len(joined(tab.Arguments)), len(tab.Arguments) > 0 && joined(tab.ArgumentsUnless) == ""
}

// stream verifies one stream: it decodes to what the raw scan counts, and to the
// same however it is cut.
func (r *verifier) stream(c codecs.Full, x cassettes.Exchange) error {
	s, ok := c.(codecs.Streamer)
	if !ok {
		return errors.New("the codec reads no streams")
	}
	body := x.Response.Body
	raw, args, argsKnown := r.tables.scanStream(c.Dialect(), body)
	reply, err := wire.DecodeStream(s, codecs.Profile{}, body)
	if err := r.splits(s, body, outcome(reply, err)); err != nil {
		return err
	}
	var pe *codecs.ProviderError
	if errors.As(err, &pe) {
		switch {
		case pe.Message == "" || pe.Kind == "":
			return fmt.Errorf("error inside a stream without kind or message: %+v", pe)
		case !raw.failed:
			return fmt.Errorf("came out as the error %q, but the stream carries none", pe.Message)
		}
		r.StreamsDecoded++
		r.ErrorsIn200++
		return nil
	}
	if err != nil {
		return err
	}
	got := scanned{}
	for _, p := range reply.Parts {
		switch p.Kind {
		case codecs.KindText:
			got.text += visible(p.Text)
		case codecs.KindReasoning:
			got.reasoning += visible(p.Text)
		case codecs.KindCall:
			got.calls++
		}
	}
	var decodedArgs int
	for _, call := range reply.Calls() {
		decodedArgs += len(call.ArgumentsText)
	}
	r.RawCalls, r.DecodedCalls = r.RawCalls+raw.calls, r.DecodedCalls+got.calls
	switch {
	case got.calls != raw.calls:
		return fmt.Errorf("the stream holds %d calls; decoded %d", raw.calls, got.calls)
	case got.text+got.reasoning != raw.text+raw.reasoning:
		return fmt.Errorf("the stream holds %d bytes of text and %d of reasoning; decoded %d and %d", raw.text, raw.reasoning, got.text, got.reasoning)
	case argsKnown && decodedArgs != args && !(decodedArgs == 2*got.calls && args == 0):
		return fmt.Errorf("the stream holds %d bytes of arguments; decoded %d", args, decodedArgs)
	}
	again, err := c.Reply(reply.Body, codecs.Profile{})
	if err != nil {
		return fmt.Errorf("the body put together from the stream does not decode: %w", err)
	}
	again.Warnings, reply.Warnings = nil, nil
	if outcome(again, nil) != outcome(reply, nil) {
		return errors.New("the body put together from the stream decodes to another reply")
	}
	r.StreamsDecoded++
	return nil
}

// outcome spells what came of a stream.
func outcome(r codecs.Reply, err error) string {
	text, errText := []byte(nil), fmt.Sprint(err)
	text, err = json.Marshal(r)
	return fmt.Sprint(string(text), err, errText)
}

// Up to alone bytes a stream is cut at each byte on its own. A longer one is cut
// at each byte all the same, but at many places at once, apart bytes from each
// other, and above most bytes at random ones and byte by byte.
const (
	alone  = 512
	apart  = 13
	most   = 64 << 10
	random = 200
)

func (r *verifier) splits(s codecs.Streamer, stream []byte, want string) error {
	var sets [][]int
	switch n := len(stream); {
	case n <= alone:
		for i := 1; i < n; i++ {
			sets = append(sets, []int{i})
		}
	case n <= most:
		for i := range apart {
			var cuts []int
			for at := i + 1; at < n; at += apart {
				cuts = append(cuts, at)
			}
			sets = append(sets, cuts)
		}
	default:
		seeded := rand.New(rand.NewPCG(uint64(n), 1))
		for range random {
			sets = append(sets, []int{1 + seeded.IntN(n-1)})
		}
	}
	bytewise := make([]int, 0, len(stream))
	for i := 1; i < len(stream); i++ {
		bytewise = append(bytewise, i)
	}
	for _, cuts := range append(sets, bytewise) {
		r.Splits += len(cuts)
		if got := outcome(wire.DecodeStream(s, codecs.Profile{}, stream, cuts...)); got != want {
			r.SplitFailures++
			return fmt.Errorf("cut at %d places, the first at byte %d, it decodes to another reply: %.300s", len(cuts), cuts[0], got)
		}
	}
	return nil
}
