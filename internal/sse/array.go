package sse

import (
	"errors"
	"fmt"
)

// Array reads the elements of one JSON list, each when its last byte has come.
// The zero value is ready for use. It finds where an element ends by quotes and
// brackets alone: whether the element is JSON is for its reader to tell.
type Array struct {
	state  arrayState
	data   []byte // of the element that has begun
	at     int64  // where it begins
	offset int64
	depth  int
	quoted bool
	escape bool
}

type arrayState int

const (
	before  arrayState = iota // the list has not begun
	between                   // an element, a comma or the end may come
	inside
	after
)

// Feed takes the next bytes. What stands after the list, white space apart, is
// an error.
func (s *Array) Feed(chunk []byte, each func(Frame) error) error {
	start := 0 // of the element's bytes in this chunk
	for i, c := range chunk {
		if s.state == inside {
			if done, whole := s.inside(c); done {
				end := i
				if whole {
					end++
				}
				s.data = append(s.data, chunk[start:end]...)
				if err := s.give(each); err != nil {
					return err
				}
				if whole {
					continue
				}
			} else {
				continue
			}
		}
		switch {
		case c == ' ' || c == '\t' || c == '\r' || c == '\n':
		case s.state == before && (c == mark[0] || c == mark[1] || c == mark[2]):
		case s.state == before && c == '[':
			s.state = between
		case s.state == between && c == ',':
		case s.state == between && c == ']':
			s.state = after
		case s.state == between:
			s.state, s.at, start = inside, s.offset+int64(i), i
			if done, _ := s.inside(c); done { // a closing bracket without its opening one
				return &Error{s.at, fmt.Errorf("a list of JSON has %q where an element is due", c)}
			}
		case s.state == before:
			return &Error{s.offset + int64(i), fmt.Errorf("a list of JSON begins with [, not with %q", c)}
		default:
			return &Error{s.offset + int64(i), errors.New("the list of JSON has ended, and more follows")}
		}
	}
	if s.state == inside {
		s.data = append(s.data, chunk[start:]...)
		if len(s.data) > MaxFrame {
			return &Error{s.at, fmt.Errorf("%w: more than %d bytes", ErrTooLong, MaxFrame)}
		}
	}
	s.offset += int64(len(chunk))
	return nil
}

// inside follows the element by one byte. done tells that it has ended, whole
// that this byte is its last one and not what stands after it.
func (s *Array) inside(c byte) (done, whole bool) {
	switch {
	case s.escape:
		s.escape = false
	case s.quoted:
		s.escape = c == '\\'
		s.quoted = c != '"'
		return !s.quoted && s.depth == 0, true
	case c == '"':
		s.quoted = true
	case c == '{' || c == '[':
		s.depth++
	case (c == '}' || c == ']') && s.depth > 0:
		s.depth--
		return s.depth == 0, true
	case s.depth == 0 && (c == ',' || c == ']' || c == '}'):
		return true, false
	}
	return false, false
}

func (s *Array) give(each func(Frame) error) error {
	data := s.data
	s.state, s.data = between, s.data[:0]
	if len(data) > MaxFrame {
		return &Error{s.at, fmt.Errorf("%w: more than %d bytes", ErrTooLong, MaxFrame)}
	}
	return each(Frame{Data: data, Offset: s.at})
}

// Close gives the element that the stream breaks off in, for its reader to
// refuse.
func (s *Array) Close(each func(Frame) error) error {
	if s.state != inside {
		return nil
	}
	return s.give(each)
}
