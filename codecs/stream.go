package codecs

// Streamer is an extension of Codec, found by type assertion: a dialect whose
// streams can be read.
type Streamer interface {
	// Stream returns a decoder for one stream. It holds the state of that
	// stream alone, and is for one goroutine at a time.
	Stream(p Profile) Decoder
}

// Decoder reads one stream as it comes.
type Decoder interface {
	// Feed takes the next bytes of the stream, cut anywhere, also inside a
	// character. The bytes are not kept after it returns. Its events are
	// provisional: what a client shows or runs for good, Close decides. An
	// error (a *DecodeError, or a *ProviderError that the stream carries) ends
	// the stream; later calls give the same error. The events before it come
	// with it. io.EOF says that the marker of the dialect came: nothing that
	// follows would be read.
	Feed(chunk []byte) ([]Event, error)

	// Close ends the stream and gives the reply with its rebuilt body:
	// Reply(reply.Body) of the same codec equals it, warnings apart, and
	// Continue echoes it. However the stream was cut into chunks, the reply is
	// the same. A stream that ends without the marker of its dialect gives
	// both, the reply so far without its calls and an error that wraps
	// ErrUnterminated.
	Close() (Reply, error)
}

// Event is one delta of a stream.
type Event struct {
	Kind    Kind   // of the part that grows: KindText, KindReasoning, KindCall; other parts come whole, with Close
	Pos     int    // ordinal of the call among the calls of the turn; for KindCall
	ID      string // of the call, in the event that has it first
	Name    string // as ID
	Text    string // what was added: text, reasoning, or arguments text
	Retract bool   // the text so far was thinking (a closing think tag without its opening one came): it is no part of the answer
}

// StreamRenderer is an extension of ServerHalf, found by type assertion: a
// dialect that can be rendered as a stream.
type StreamRenderer interface {
	// RenderStream encodes a reply as the frames of a stream, in the shape
	// that Wire.StreamShape gives for the request. The frames are the bytes of
	// the body, cut where the provider flushes; joined, they are the body. What the
	// dialect cannot carry is a warning, as in RenderReply.
	RenderStream(r Reply, p Profile, l Likeness, shape string) (frames [][]byte, warnings []Warning, err error)
}
