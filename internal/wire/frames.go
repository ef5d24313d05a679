package wire

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
)

// Ways of a stream, in codecs.Likeness. Engines have the first ones; the others are
// faults that were seen.
const (
	StreamWhole        = "whole"         // a text or a call comes in one piece
	StreamCallsWhole   = "calls_whole"   // a call comes in one piece
	StreamUsageFinish  = "usage_finish"  // usage stands in the chunk with the finish reason
	StreamUsageEach    = "usage_each"    // usage stands in every chunk
	StreamUsageNever   = "usage_never"   // no usage comes
	StreamRoleEach     = "role_each"     // the role stands in every delta
	StreamDoneMissing  = "done_missing"  // the mark of the end does not come
	StreamIndexMissing = "index_missing" // pieces of calls, or events of blocks and items, have no index
	StreamIndexZero    = "index_zero"    // all have the index 0
	StreamIDLate       = "id_late"       // the id comes with the last piece of a call
	StreamIDRepeated   = "id_repeated"   // the id comes with every piece of a call
	StreamNameRepeated = "name_repeated" // the name comes with every piece of a call
	StreamArgsInDone   = "args_in_done"  // arguments stand in the event that ends the call only
	StreamOutputEmpty  = "output_empty"  // the last event repeats no output
	StreamBlockOpen    = "block_open"    // a text block is never closed
	StreamBlocksMixed  = "blocks_mixed"  // all blocks are open until the last has come
	StreamBreaksOff    = "breaks_off"    // it ends in front of the finish reason
	StreamErrorAfter   = "error_after"   // an error takes the place of the finish reason
)

// StreamWriter is what the renderers of streams do alike: the body of the reply is
// rendered first, with all that the engine's likeness gives it, and then cut into
// the frames that the engine sends.
type StreamWriter struct {
	Frames [][]byte
	ways   []string
}

// NewStreamWriter begins a stream in the ways of a likeness. One that the dialect
// cannot have is an error.
func NewStreamWriter(c codecs.Codec, l codecs.Likeness) (*StreamWriter, error) {
	for _, way := range l.Stream {
		if can := c.Wire().StreamWays; !slices.Contains(can, way) {
			return nil, fmt.Errorf("a stream of %s has no way %q; it has %v", c.Dialect(), way, can)
		}
	}
	return &StreamWriter{ways: l.Stream}, nil
}

// StreamOf begins the stream of a reply: with the body that would come without one.
func StreamOf(c codecs.Full, r codecs.Reply, p codecs.Profile, l codecs.Likeness) (w *StreamWriter, body codecs.Raw, warnings []codecs.Warning, err error) {
	if body, warnings, err = c.RenderReply(r, p, l); err != nil {
		return nil, nil, nil, err
	}
	w, err = NewStreamWriter(c, l)
	return w, body, warnings, err
}

// Is tells whether the stream is of a way.
func (w *StreamWriter) Is(way string) bool { return slices.Contains(w.ways, way) }

// Data adds a server-sent event without a name.
func (w *StreamWriter) Data(data []byte) {
	w.Frames = append(w.Frames, fmt.Appendf(nil, "data: %s\n\n", OneLine(data)))
}

// Event adds a server-sent event.
func (w *StreamWriter) Event(name string, data []byte) {
	w.Frames = append(w.Frames, fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, OneLine(data)))
}

// Line adds a line of JSON.
func (w *StreamWriter) Line(data []byte) {
	w.Frames = append(w.Frames, append(slices.Clip(OneLine(data)), '\n'))
}

// OneLine is JSON without line breaks, which end an event.
func OneLine(data []byte) []byte {
	if bytes.IndexByte(data, '\n') < 0 && bytes.IndexByte(data, '\r') < 0 {
		return data
	}
	if out, err := jsonx.Compact(data); err == nil {
		return out
	}
	return data
}

// Pieces cuts a text as a provider does, a few characters a piece; markup in it may
// be cut anywhere. An empty text is no piece.
func (w *StreamWriter) Pieces(text string) []string {
	const size = 9
	if text == "" {
		return nil
	}
	if w.Is(StreamWhole) {
		return []string{text}
	}
	const most = 256 // a long text goes out in longer pieces, not in more of them
	length := max(size, len(text)/most)
	var out []string
	for len(text) > length {
		n := length
		for n > 1 && !utf8.RuneStart(text[n]) {
			n--
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return append(out, text)
}

// StreamError is the error that takes the place of the end, of a stream that fails
// after all.
func StreamError(c codecs.ServerHalf, p codecs.Profile, l codecs.Likeness) []byte {
	const status = 500
	return c.RenderError(&codecs.ProviderError{Status: status, Kind: codecs.ErrServer, Message: "The server had an error while it wrote the reply."}, p, l).Body
}

// With is the members of an object, and others that replace or follow them; an
// absent value takes a member out.
func With(v jsonx.Value, others ...jsonx.Member) codecs.Raw {
	var f jsonx.Fields
	for _, m := range v.Members() {
		if at := slices.IndexFunc(others, func(o jsonx.Member) bool { return o.Key == m.Key }); at < 0 || others[at].Value.Exists() {
			f.Set(m.Key, m.Value.Raw())
		}
	}
	for _, o := range others {
		f.Set(o.Key, o.Value.Raw())
	}
	return f.Raw()
}

// TextMember is a member that is a string.
func TextMember(key, text string) jsonx.Member {
	return jsonx.Member{Key: key, Value: jsonx.Of(jsonx.Quote(text))}
}

// RawMember is a member in its spelling; nil is an absent value.
func RawMember(key string, raw codecs.Raw) jsonx.Member {
	return jsonx.Member{Key: key, Value: jsonx.Of(raw)}
}
