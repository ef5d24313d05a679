// Package sse cuts the streams of providers into frames, as the bytes come:
// server-sent events, lines of JSON, and a JSON list whose elements arrive one
// by one. However the bytes are cut into chunks, the frames are the same.
package sse

import (
	"bytes"
	"errors"
	"fmt"
)

// MaxFrame is the most bytes that one frame may have, its lines joined.
const MaxFrame = 16 << 20

// ErrTooLong is wrapped by the error for a frame of more than MaxFrame bytes.
var ErrTooLong = errors.New("a frame of the stream is too long")

// Frame is one event, line or element.
type Frame struct {
	Event  string // name of a server-sent event, "" without one
	Data   []byte // valid until the function that got the frame returns
	Offset int64  // of the first byte of Data, from the start of the stream
	Stray  bool   // Data stood outside of every event: a body where events are due, or after them
}

// Error is a fault of the framing, and where it stands.
type Error struct {
	Offset int64
	Err    error
}

func (e *Error) Error() string { return fmt.Sprintf("byte %d of the stream: %v", e.Offset, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Splitter cuts one stream. Each frame goes to a function whose error ends the
// reading and comes back as it is.
type Splitter interface {
	Feed(chunk []byte, each func(Frame) error) error

	// Close gives what the end of the stream completes: an event without its
	// blank line, a line without its newline.
	Close(each func(Frame) error) error
}

// lines cuts bytes into lines that end in LF, CR or CRLF. A line that lies
// within one chunk is not copied.
type lines struct {
	rest   []byte // of a line whose end has not come
	offset int64  // of the next byte
	cr     bool   // the last byte was a CR: an LF right after it belongs to it
	most   int
}

func (l *lines) feed(chunk []byte, lone bool, each func(line []byte, offset int64) error) error {
	for len(chunk) > 0 {
		if l.cr {
			l.cr = false
			if chunk[0] == '\n' {
				chunk, l.offset = chunk[1:], l.offset+1
				continue
			}
		}
		end := bytes.IndexByte(chunk, '\n')
		if lone {
			if cr := bytes.IndexByte(chunk[:max(end, 0)], '\r'); end >= 0 && cr >= 0 {
				end = cr
			} else if end < 0 {
				end = bytes.IndexByte(chunk, '\r')
			}
		}
		if end < 0 {
			l.rest, l.offset = append(l.rest, chunk...), l.offset+int64(len(chunk))
			return l.check()
		}
		line := chunk[:end]
		if len(l.rest) > 0 {
			l.rest = append(l.rest, line...)
			line = l.rest
		}
		if len(line) > l.most {
			return l.tooLong(l.offset + int64(end) - int64(len(line)))
		}
		start := l.offset + int64(end) - int64(len(line))
		l.cr = chunk[end] == '\r'
		l.offset += int64(end) + 1
		chunk = chunk[end+1:]
		err := each(line, start)
		l.rest = l.rest[:0]
		if err != nil {
			return err
		}
	}
	return nil
}

// close gives the line that the end of the stream completes.
func (l *lines) close(each func(line []byte, offset int64) error) error {
	if len(l.rest) == 0 {
		return nil
	}
	line := l.rest
	l.rest = nil
	return each(line, l.offset-int64(len(line)))
}

func (l *lines) check() error {
	if len(l.rest) > l.most {
		return l.tooLong(l.offset - int64(len(l.rest)))
	}
	return nil
}

func (l *lines) tooLong(at int64) error {
	return &Error{at, fmt.Errorf("%w: more than %d bytes", ErrTooLong, l.most)}
}

var mark = []byte("\xEF\xBB\xBF")

// Events reads server-sent events. The zero value is ready for use. Comments and
// the fields id and retry are passed over; an event without data is none. A
// line that begins like a JSON object or list, where no event is open, is the
// start of a body: it and all that follows is one stray frame, given by Close.
type Events struct {
	lines  lines
	name   string
	named  string // the last name that came: most events have the name of the one before
	data   []byte
	any    bool // a data field came, be it empty
	at     int64
	stray  []byte
	begins int64
}

// Feed takes the next bytes.
func (s *Events) Feed(chunk []byte, each func(Frame) error) error {
	s.lines.most = MaxFrame + len("data: ")
	return s.lines.feed(chunk, true, func(line []byte, offset int64) error { return s.line(line, offset, each) })
}

// Close gives the event, or the stray body, that the stream ends with.
func (s *Events) Close(each func(Frame) error) error {
	if err := s.lines.close(func(line []byte, offset int64) error { return s.line(line, offset, each) }); err != nil {
		return err
	}
	if s.stray != nil {
		body := s.stray
		s.stray = nil
		return each(Frame{Data: body, Offset: s.begins, Stray: true})
	}
	return s.dispatch(each)
}

func (s *Events) line(line []byte, offset int64, each func(Frame) error) error {
	if offset == 0 {
		line = bytes.TrimPrefix(line, mark)
	}
	if s.stray != nil {
		s.stray = append(append(s.stray, line...), '\n')
		if len(s.stray) > MaxFrame {
			return &Error{s.begins, fmt.Errorf("%w: more than %d bytes", ErrTooLong, MaxFrame)}
		}
		return nil
	}
	if len(line) == 0 {
		return s.dispatch(each)
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(field) {
	case "data":
		if s.any {
			s.data = append(s.data, '\n')
		} else {
			s.at = offset + int64(len(line)-len(value))
		}
		s.any = true
		s.data = append(s.data, value...)
		if len(s.data) > MaxFrame {
			return &Error{s.at, fmt.Errorf("%w: more than %d bytes", ErrTooLong, MaxFrame)}
		}
	case "event":
		if s.named != string(value) {
			s.named = string(value)
		}
		s.name = s.named
	default:
		if first := bytes.TrimLeft(line, " \t"); !s.any && len(first) > 0 && (first[0] == '{' || first[0] == '[') {
			s.begins = offset
			s.stray = append(append(make([]byte, 0, len(line)+1), line...), '\n')
		}
	}
	return nil
}

func (s *Events) dispatch(each func(Frame) error) error {
	name, data, any := s.name, s.data, s.any
	s.name, s.data, s.any = "", s.data[:0], false
	if !any {
		return nil
	}
	return each(Frame{Event: name, Data: data, Offset: s.at})
}

// Lines reads lines of JSON. The zero value is ready for use. Blank lines are
// passed over.
type Lines struct{ lines lines }

// Feed takes the next bytes.
func (s *Lines) Feed(chunk []byte, each func(Frame) error) error {
	s.lines.most = MaxFrame
	return s.lines.feed(chunk, false, func(line []byte, offset int64) error { return s.line(line, offset, each) })
}

// Close gives the line that the stream ends with.
func (s *Lines) Close(each func(Frame) error) error {
	return s.lines.close(func(line []byte, offset int64) error { return s.line(line, offset, each) })
}

func (s *Lines) line(line []byte, offset int64, each func(Frame) error) error {
	if offset == 0 {
		if cut := bytes.TrimPrefix(line, mark); len(cut) < len(line) {
			line, offset = cut, int64(len(mark))
		}
	}
	if len(bytes.TrimSpace(line)) == 0 {
		return nil
	}
	return each(Frame{Data: line, Offset: offset})
}
