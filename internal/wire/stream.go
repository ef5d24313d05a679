package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/sse"
	"github.com/toolconform/conform/internal/tags"
)

// maxStream is the most bytes that one stream may have: its frames repeat what a
// body says once.
const maxStream = 8 * codecs.MaxBody

// StreamReader is what the decoders of all dialects do alike: cut the stream into
// frames, parse them, keep the error that ended it. The dialect puts the frames
// together to the body that would have come without a stream; the codec's own
// Reply decodes that, so that both forms can only say the same.
type StreamReader struct {
	Codec   codecs.Codec
	Profile codecs.Profile
	Frames  sse.Splitter
	Frame   func(event string, v jsonx.Value) error // puts a frame to the rest
	Body    func() []byte                           // the rebuilt body
	Done    func() bool                             // the dialect's end was said
	Tagged  tags.Feeder                             // what Visible was given

	Warnings []codecs.Warning
	Complete bool // the marker after which nothing is read has come

	json   jsonx.Reader
	events []codecs.Event
	whole  []byte // a body that came in place of a stream
	any    bool   // a frame came
	size   int64
	err    error
	reply  codecs.Reply
	closed bool
}

// Emit adds an event to those that Feed returns.
func (s *StreamReader) Emit(e codecs.Event) { s.events = append(s.events, e) }

// Warn notes what was odd about the stream, once for each code and place.
func (s *StreamReader) Warn(code, pointer, format string, args ...any) {
	const most = 64 // a stream with more faults says nothing new
	for _, w := range s.Warnings {
		if w.Code == code && w.Pointer == pointer {
			return
		}
	}
	if len(s.Warnings) >= most {
		return
	}
	s.Warnings = append(s.Warnings, codecs.Warnf(code, pointer, format, args...))
}

// Feed is that of codecs.Decoder.
func (s *StreamReader) Feed(chunk []byte) ([]codecs.Event, error) {
	switch {
	case s.err != nil || s.closed:
		return nil, s.err
	case s.Complete:
		return nil, io.EOF
	}
	s.events = make([]codecs.Event, 0, len(s.events)) // as many as last time, likely
	if s.size += int64(len(chunk)); s.size > maxStream {
		s.err = s.decodeError(maxStream, fmt.Errorf("stream is larger than the limit of %d bytes", maxStream))
		return nil, s.err
	}
	s.fail(s.Frames.Feed(chunk, s.frame))
	if s.err == nil && s.Complete {
		return s.events, io.EOF
	}
	return s.events, s.err
}

// errComplete stops the reading of frames.
var errComplete = errors.New("complete")

func (s *StreamReader) fail(err error) {
	var at *sse.Error
	switch {
	case err == nil || errors.Is(err, errComplete):
	case errors.As(err, &at):
		s.err = s.decodeError(at.Offset, at.Err)
	default:
		s.err = err
	}
}

func (s *StreamReader) decodeError(offset int64, err error) error {
	return &codecs.DecodeError{Dialect: s.Codec.Dialect(), Offset: offset, Err: fmt.Errorf("byte %d of the stream: %w", offset, err)}
}

func (s *StreamReader) frame(f sse.Frame) error {
	data := bytes.TrimSpace(f.Data)
	switch {
	case s.Complete:
		return errComplete
	case len(data) == 0:
		return nil
	case string(data) == "[DONE]":
		s.any, s.Complete = true, true
		return errComplete
	}
	v, err := s.json.Parse(data)
	if err != nil {
		if f.Event == "error" {
			return s.Failed(nil, string(data))
		}
		var se *jsonx.SyntaxError
		if errors.As(err, &se) {
			lead := int64(bytes.Index(f.Data, data))
			return s.decodeError(f.Offset+lead+se.Offset, fmt.Errorf("%w: %s: %s", codecs.ErrNotJSON, se.Reason, excerpt(data)))
		}
		return s.decodeError(f.Offset, err)
	}
	if f.Stray && !s.any {
		s.whole, s.Complete = append([]byte(nil), data...), true
		return errComplete
	}
	s.any = true
	if f.Event == "error" {
		return s.Failed(v.Raw(), "")
	}
	if err := s.Frame(f.Event, v); err != nil {
		return err
	}
	if s.Complete {
		return errComplete
	}
	return nil
}

// Failed is the error of a stream that carries one: body is the frame, or nil
// where the provider said it in words.
func (s *StreamReader) Failed(body []byte, words string) error {
	e := &codecs.ProviderError{Dialect: s.Codec.Dialect(), Message: words}
	if body != nil {
		body = bytes.Clone(body)
		e = s.Codec.Error(200, nil, body)
	}
	e.Status, e.Prefix, e.Body = 200, "stream carried an error: ", body
	e.Kind = KindInside(e.Code, e.Message)
	var inBody *codecs.ProviderError // the same error in place of a body, whose kind it has
	if _, err := s.Codec.Reply(body, s.Profile); body != nil && errors.As(err, &inBody) {
		e.Kind = inBody.Kind
	}
	return e
}

// Close is that of codecs.Decoder.
func (s *StreamReader) Close() (codecs.Reply, error) {
	if s.closed {
		return s.reply, s.err
	}
	if s.err == nil && !s.Complete {
		s.events = nil
		s.fail(s.Frames.Close(s.frame))
	}
	s.closed = true
	body := s.whole
	switch {
	case s.err == nil && !s.any && body == nil:
		s.err = s.decodeError(s.size, fmt.Errorf("the stream is empty: %w", codecs.ErrUnterminated))
		return s.reply, s.err
	case body == nil:
		body = s.Body()
	}
	reply, err := s.Codec.Reply(body, s.Profile)
	reply.Warnings = append(reply.Warnings, s.Warnings...)
	done := s.whole != nil || s.err == nil && s.Done()
	switch {
	case err != nil && s.err == nil && done:
		s.err = err
		return s.reply, s.err
	case done:
		s.reply = reply
		return s.reply, nil
	case err != nil: // what came so far is no reply yet
		reply = codecs.Reply{Body: body, Warnings: s.Warnings}
	}
	s.reply = withoutCalls(reply)
	if s.err == nil {
		s.err = s.decodeError(s.size, codecs.ErrUnterminated)
	}
	return s.reply, s.err
}

// withoutCalls drops the calls of a stream that broke off: nothing partial runs.
func withoutCalls(r codecs.Reply) codecs.Reply {
	var parts []codecs.Part
	var dropped int
	for _, p := range r.Parts {
		if p.Kind == codecs.KindCall {
			dropped++
			continue
		}
		parts = append(parts, p)
	}
	if dropped > 0 {
		r.Warnings = append(r.Warnings, codecs.Warnf(codecs.WarnStreamCalls, "", "the stream broke off; %d calls of it were dropped", dropped))
	}
	r.Parts, r.Unfinished = parts, 0
	return r
}

// DecodeStream decodes a stream that has come whole, cut at the offsets of cuts.
func DecodeStream(s codecs.Streamer, p codecs.Profile, stream []byte, cuts ...int) (codecs.Reply, error) {
	d := s.Stream(p)
	from := 0
	for _, to := range append(cuts, len(stream)) {
		if _, err := d.Feed(stream[from:to]); err != nil {
			break // Close gives it again, or the marker came
		}
		from = to
	}
	return d.Close()
}

// EmitText adds an event for a piece of text or reasoning, unless it is empty.
func (s *StreamReader) EmitText(kind codecs.Kind, text string) {
	if text != "" {
		s.Emit(codecs.Event{Kind: kind, Text: text})
	}
}

// Visible adds the events for a piece of the text that a reader sees, without the
// markup in it.
func (s *StreamReader) Visible(text string) { s.Tagged.Feed(text, s.Show) }

// EndVisible gives what of the text was held back.
func (s *StreamReader) EndVisible() { s.Tagged.Close(s.Show) }

// Show adds the event for what a tags.Feeder gives. A call block is no delta:
// Close gives its call.
func (s *StreamReader) Show(kind tags.SpanKind, text string) {
	switch kind {
	case tags.Visible:
		s.EmitText(codecs.KindText, text)
	case tags.Thinking:
		s.EmitText(codecs.KindReasoning, text)
	case tags.Retract:
		s.Emit(codecs.Event{Kind: codecs.KindText, Retract: true})
	}
}
