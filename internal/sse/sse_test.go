package sse_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/internal/sse"
)

// frames reads a stream that comes in the pieces that splits name.
func frames(s sse.Splitter, stream string, splits []int) ([]string, error) {
	var out []string
	each := func(f sse.Frame) error {
		if got := stream[f.Offset:]; !f.Stray && !bytes.HasPrefix(f.Data, []byte(got[:min(1, len(f.Data))])) {
			return fmt.Errorf("offset %d does not hold the data %q", f.Offset, f.Data)
		}
		line := f.Event + "|" + string(f.Data)
		if f.Stray {
			line = "stray" + line
		}
		out = append(out, line)
		return nil
	}
	from := 0
	for _, to := range append(splits, len(stream)) {
		chunk := []byte(stream[from:to])
		if err := s.Feed(chunk, each); err != nil {
			return out, err
		}
		for i := range chunk { // the bytes of a chunk belong to the caller
			chunk[i] = 'X'
		}
		from = to
	}
	return out, s.Close(each)
}

// Every form that the standard for server-sent events allows, and what
// providers send besides.
var streams = []struct {
	name   string
	of     func() sse.Splitter
	stream string
	want   []string
}{
	{"lf", events, "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
	{"crlf", events, "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"x|a", "|b"}},
	{"cr", events, "event: x\rdata: a\r\rdata: b\r\r", []string{"x|a", "|b"}},
	{"mixed ends", events, "data: a\r\n\ndata: b\r\r\ndata: c\n\r", []string{"|a", "|b", "|c"}},
	{"no blank after the colon", events, "event:x\ndata:a\n\n", []string{"x|a"}},
	{"one blank goes, two do not", events, "data:  a\n\n", []string{"| a"}},
	{"comments", events, ": hello\n\ndata: a\n: between\ndata: b\n\n:\n\n", []string{"|a\nb"}},
	{"many lines of data", events, "data: {\ndata:  \"a\":1\ndata: }\n\n", []string{"|{\n \"a\":1\n}"}},
	{"id and retry", events, "id: 1\nretry: 10\ndata: a\n\n", []string{"|a"}},
	{"a field without a colon", events, "data\n\ndata: a\n\n", []string{"|", "|a"}},
	{"an event without data is none", events, "event: ping\n\ndata: a\n\n", []string{"|a"}},
	{"byte order mark", events, "\xEF\xBB\xBFdata: a\n\n", []string{"|a"}},
	{"no blank line at the end", events, "data: a\n\ndata: b\n", []string{"|a", "|b"}},
	{"no newline at the end", events, "data: a\n\ndata: b", []string{"|a", "|b"}},
	{"blank lines before and between", events, "\n\n\ndata: a\n\n\n\ndata: b\n\n", []string{"|a", "|b"}},
	{"a colon in the data", events, "data: a: b\n\n", []string{"|a: b"}},
	{"utf-8", events, "data: \u00fc\U0001F600\n\n", []string{"|\u00fc\U0001F600"}},
	{"a body instead", events, "{\"error\":\n\n 1}\n", []string{"stray|{\"error\":\n\n 1}\n"}},
	{"a body after the events", events, "data: a\n\n{\"error\":1}", []string{"|a", "stray|{\"error\":1}\n"}},
	{"lines", ndjson, "{\"a\":1}\n{\"b\":2}\n", []string{`|{"a":1}`, `|{"b":2}`}},
	{"lines, crlf, blank ones, no end", ndjson, "\r\n{\"a\":1}\r\n\n{\"b\":2}", []string{"|{\"a\":1}\r", `|{"b":2}`}},
	{"lines with a mark", ndjson, "\xEF\xBB\xBF{\"a\":1}\n", []string{`|{"a":1}`}},
	{"list", array, `[{"a":"],}\""},{"b":[1,{"c":2}]}]`, []string{`|{"a":"],}\""}`, `|{"b":[1,{"c":2}]}`}},
	{"list over lines", array, "[\n{\"a\": 1\n}\n,\r\n{\"b\": 2}\n]\n", []string{"|{\"a\": 1\n}", `|{"b": 2}`}},
	{"list of scalars", array, ` [1, "x\\" ,true]`, []string{"|1", `|"x\\"`, "|true"}},
	{"list without an end", array, `[{"a":1},{"b":`, []string{`|{"a":1}`, `|{"b":`}},
	{"empty list", array, " [ ] ", nil},
}

func events() sse.Splitter { return &sse.Events{} }
func ndjson() sse.Splitter { return &sse.Lines{} }
func array() sse.Splitter  { return &sse.Array{} }

func TestForms(t *testing.T) {
	for _, c := range streams {
		t.Run(c.name, func(t *testing.T) {
			got, err := frames(c.of(), c.stream, nil)
			if d := cmp.Diff(c.want, got); d != "" || err != nil {
				t.Errorf("error %v, frames (-want +got):\n%s", err, d)
			}
		})
	}
}

// However a stream is cut, its frames are the same.
func TestSplitsDoNotMatter(t *testing.T) {
	for _, c := range streams {
		for i := range len(c.stream) + 1 {
			for j := i; j <= len(c.stream); j++ {
				if got, err := frames(c.of(), c.stream, []int{i, j}); err != nil || !cmp.Equal(c.want, got) {
					t.Fatalf("%s cut at %d and %d: %v %q, want %q", c.name, i, j, err, got, c.want)
				}
			}
		}
	}
}

func TestFaultsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		of     sse.Splitter
		stream string
		at     int64
	}{
		{"no list", array(), "  x", 2},
		{"more after the list", array(), "[1] x", 4},
		{"a bracket too many", array(), "[}", 1},
	} {
		_, err := frames(c.of, c.stream, nil)
		var e *sse.Error
		if !errors.As(err, &e) || e.Offset != c.at {
			t.Errorf("%s: %v, want a fault at byte %d", c.name, err, c.at)
		}
	}
}

func TestLimits(t *testing.T) {
	long := strings.Repeat("x", sse.MaxFrame-2)
	for name, c := range map[string]struct {
		of          func() sse.Splitter
		most, above string
	}{
		"events":     {events, "data: \"" + long + "\"\n\n", "data: \"" + long + "x\"\n\n"},
		"data lines": {events, "data: " + long + "\ndata: x\n\n", "data: " + long + "\ndata: xx\n\n"},
		"lines":      {ndjson, "\"" + long + "\"\n", "\"" + long + "x\"\n"},
		"list":       {array, "[\"" + long + "\"]", "[\"" + long + "x\"]"},
	} {
		if got, err := frames(c.of(), c.most, nil); err != nil || len(got) != 1 {
			t.Errorf("%s at the limit: %d frames, %v", name, len(got), err)
		}
		if _, err := frames(c.of(), c.above, nil); !errors.Is(err, sse.ErrTooLong) {
			t.Errorf("%s above the limit: %v", name, err)
		}
	}
	endless := &sse.Lines{}
	chunk := bytes.Repeat([]byte("x"), 1<<20)
	var err error
	for i := 0; err == nil && i < 64; i++ {
		err = endless.Feed(chunk, func(sse.Frame) error { return nil })
	}
	if !errors.Is(err, sse.ErrTooLong) {
		t.Errorf("a line without an end: %v", err)
	}
}

func FuzzSplits(f *testing.F) {
	for _, c := range streams {
		f.Add(c.stream, uint64(1))
	}
	f.Fuzz(func(t *testing.T, stream string, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		var splits []int
		for i := range stream {
			if r.IntN(3) == 0 {
				splits = append(splits, i)
			}
		}
		for _, of := range []func() sse.Splitter{events, ndjson, array} {
			want, errWhole := frames(of(), stream, nil)
			got, err := frames(of(), stream, splits)
			if !cmp.Equal(want, got) || fmt.Sprint(err) != fmt.Sprint(errWhole) {
				t.Fatalf("cut at %v: %q %v, whole: %q %v", splits, got, err, want, errWhole)
			}
		}
	})
}
