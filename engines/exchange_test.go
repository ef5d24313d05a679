package engines_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/loop"
)

// step is one thing that an engine does: wait, then send a part of the answer, or
// break off with an error.
type step struct {
	wait time.Duration
	part string
	err  error
}

// limits are those of a Client.
type limits struct{ FirstByte, Idle, Total time.Duration }

const never = 1000 * time.Hour

// tries answers the requests in turn, each with its steps. It pays no heed to the
// context of a request: only a closed body ends it.
type tries struct {
	steps [][]step
	made  int
}

func (s *tries) RoundTrip(r *http.Request) (*http.Response, error) {
	steps := s.steps[s.made]
	s.made++
	if first := steps[0]; first.part == "" { // not even a header
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(first.wait):
		}
		if first.err != nil {
			return nil, first.err
		}
		steps = steps[1:]
	}
	in, out := io.Pipe()
	gone := make(chan struct{})
	go func() {
		for _, st := range steps {
			select {
			case <-gone:
				return
			case <-time.After(st.wait):
			}
			if st.err != nil {
				out.CloseWithError(st.err)
				return
			}
			if _, err := io.WriteString(out, st.part); err != nil {
				return
			}
		}
		out.Close()
	}()
	return &http.Response{StatusCode: 200, Header: http.Header{}, Body: &closing{in, sync.OnceFunc(func() { close(gone) })}}, nil
}

// closing tells when a body is closed.
type closing struct {
	*io.PipeReader
	gone func()
}

func (c *closing) Close() error {
	c.gone()
	return c.PipeReader.Close()
}

// TestTimeouts runs in time that passes by itself as soon as everybody waits; a
// goroutine that is left behind fails it.
func TestTimeouts(t *testing.T) {
	reset := syscall.ECONNRESET
	steady := make([]step, 20)
	for i := range steady {
		steady[i] = step{wait: 4 * time.Second, part: "x"}
	}
	for _, c := range []struct {
		name  string
		tries [][]step
		set   limits
		want  string // what can be read
		err   string
		after time.Duration
		made  int
	}{
		{"a slow one without limits", [][]step{{{wait: 9 * time.Minute, part: "a"}}}, limits{}, "a", "", 9 * time.Minute, 1},
		{"ten minutes are the limit", [][]step{{{wait: 11 * time.Minute, part: "a"}, {}}}, limits{}, "", "no whole answer within 10m0s", 10 * time.Minute, 1},
		{"but for who wants more", [][]step{{{wait: 11 * time.Minute, part: "a"}}}, limits{Total: -1}, "a", "", 11 * time.Minute, 1},
		{"no header", [][]step{{{wait: never}}}, limits{FirstByte: 5 * time.Second}, "", "no byte of an answer within 5s", 5 * time.Second, 1},
		{"a header, no byte", [][]step{{{wait: time.Second}, {wait: 20 * time.Second, part: "a"}}}, limits{FirstByte: 5 * time.Second}, "", "no byte of an answer within 5s", 5 * time.Second, 1},
		{"a first byte is no second", [][]step{{{wait: 2 * time.Second, part: "a"}, {wait: 20 * time.Second, part: "b"}}}, limits{FirstByte: 5 * time.Second}, "ab", "", 22 * time.Second, 1},
		{"a pause", [][]step{{{part: "a"}, {wait: time.Second, part: "b"}, {wait: 20 * time.Second, part: "c"}}}, limits{Idle: 5 * time.Second}, "ab", "the answer paused for 5s", 6 * time.Second, 1},
		{"steady", [][]step{steady}, limits{FirstByte: 5 * time.Second, Idle: 5 * time.Second}, strings.Repeat("x", 20), "", 80 * time.Second, 1},
		{"steady, for too long", [][]step{steady}, limits{Idle: 5 * time.Second, Total: 30 * time.Second}, strings.Repeat("x", 7), "no whole answer within 30s", 30 * time.Second, 1},
		{"the whole counts pauses before another try", [][]step{{{err: reset}}, {{err: reset}}, {{part: "a"}}}, limits{Total: 2 * time.Second}, "", "no whole answer within 2s", 2 * time.Second, 2},
		{"reset before the answer", [][]step{{{err: reset}}, {{part: "a"}}}, limits{}, "a", "", time.Second, 2},
		{"reset before the first byte", [][]step{{{}, {err: reset}}, {{part: "a"}}}, limits{}, "a", "", time.Second, 2},
		{"reset after it", [][]step{{{part: "a"}, {err: reset}}, {{part: "b"}}}, limits{}, "a", "reading the answer (status 200): connection reset", 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				engine := &tries{steps: c.tries}
				cl := &engines.Client{
					Engine: custom("bearer"), Key: secret, BaseURL: "http://host", HTTP: &http.Client{Transport: engine},
					FirstByte: c.set.FirstByte, Idle: c.set.Idle, Total: c.set.Total,
				}
				_, got, err := send(t.Context(), cl, `{}`)
				if took := time.Since(began); took != c.after || engine.made != c.made {
					t.Errorf("took %s and %d tries, want %s and %d", took, engine.made, c.after, c.made)
				}
				if got != c.want {
					t.Errorf("read %q, want %q", got, c.want)
				}
				switch {
				case c.err == "":
					if err != nil {
						t.Error(err)
					}
				case err == nil || !strings.Contains(err.Error(), c.err) || strings.Count(err.Error(), "engine custom: POST http://host/chat: ") != 1:
					t.Errorf("error = %v, want one that says %s", err, c.err)
				case errors.Is(err, reset) == errors.Is(err, context.DeadlineExceeded):
					t.Errorf("the cause is lost: %v", err)
				}
			})
		})
	}
}

// TestAnswerIsReadAsItComes: a part of a stream is there before the next one is
// sent, and a body that nobody reads to its end leaves nothing behind.
func TestAnswerIsReadAsItComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		engine := &tries{steps: [][]step{{{part: "one"}, {wait: time.Second, part: "two"}, {wait: never, part: "three"}}}}
		cl := &engines.Client{Engine: custom("none"), BaseURL: "http://host", HTTP: &http.Client{Transport: engine}}
		resp, err := cl.Send(t.Context(), loop.Call{Body: codecs.Raw(`{}`), Stream: true})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for i, want := range []string{"one", "two"} {
			b := make([]byte, 100)
			if n, err := resp.Body.Read(b); string(b[:n]) != want || err != nil || time.Since(began) != time.Duration(i)*time.Second {
				t.Errorf("%q (%v) after %s, want %q", b[:n], err, time.Since(began), want)
			}
		}
		resp.Body.Close()
		if _, err := resp.Body.Read(make([]byte, 1)); err == nil {
			t.Error("a closed body can be read")
		}
	})
}

// TestContextEndsAnswer: the end of the context ends who waits for an answer or
// reads one, also over a transport that pays no heed to it.
func TestContextEndsAnswer(t *testing.T) {
	for name, steps := range map[string][]step{
		"waiting": {{}, {wait: never, part: "a"}}, "reading": {{part: "a"}, {wait: never, part: "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cl := &engines.Client{Engine: custom("none"), BaseURL: "http://host", HTTP: &http.Client{Transport: &tries{steps: [][]step{steps}}}}
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Minute, cancel)
				began := time.Now()
				if _, _, err := send(ctx, cl, `{}`); !errors.Is(err, context.Canceled) || time.Since(began) != time.Minute {
					t.Errorf("error %v after %s", err, time.Since(began))
				}
			})
		})
	}
}
