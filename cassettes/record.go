package cassettes

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/dnaeon/go-vcr/v2/recorder"

	"github.com/toolconform/conform/internal/files"
)

// RecordConfig says how to record a tape.
type RecordConfig struct {
	File        string            // where Stop writes the tape; "" writes nothing
	Transport   http.RoundTripper // reaches the engine; nil is http.DefaultTransport
	Secrets     []string          // removed from URLs, headers and bodies in every spelling, at least 4 characters each
	KeepHeaders []string          // beside those that every tape keeps
	Overwrite   bool              // a file that exists is an error otherwise
}

// Recorder is an http.RoundTripper that passes requests on and keeps a scrubbed
// copy of each exchange. The client gets what the engine sent, unchanged. It is
// safe for concurrent use; exchanges stand in the order of their responses.
//
// A response reaches the client when all of it was read, at most MostYAML bytes,
// since a larger tape could not be read again.
//
// A secret that an engine repeats letter by letter over several events of a
// stream cannot be recognised: look at what you record.
type Recorder struct {
	config RecordConfig
	scrub  scrubber
	rec    *recorder.Recorder

	mu      sync.Mutex
	tape    Tape
	told    []string
	done    bool
	stopErr error // of the first Stop
}

// NewRecorder starts a recording. Nothing is written before Stop.
func NewRecorder(config RecordConfig) (*Recorder, error) {
	scrub, err := newScrubber(config.Secrets, config.KeepHeaders)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if config.File != "" && !config.Overwrite {
		if _, err := os.Lstat(config.File); err == nil {
			return nil, existsError(config.File)
		}
	}
	name := strings.TrimSuffix(config.File, filepath.Ext(config.File))
	next := config.Transport
	if next == nil {
		next = http.DefaultTransport
	}
	rec, err := recorder.NewAsMode(name, recorder.ModeRecording, guard{next})
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	// go-vcr changes the mode by itself when it finds or misses a file.
	if rec.Mode() != recorder.ModeRecording {
		return nil, fmt.Errorf("record: go-vcr started in mode %d instead of recording", rec.Mode())
	}
	rec.SkipRequestLatency = true
	r := &Recorder{config: config, scrub: scrub, rec: rec, tape: Tape{Name: filepath.Base(name)}}
	if config.File == "" {
		r.tape.Name = ""
	}
	rec.AddFilter(r.capture)
	return r, nil
}

func existsError(file string) error {
	return fmt.Errorf("record: %s exists; remove it or ask to overwrite it", file)
}

// RoundTrip sends the request and records the exchange.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req)
	if err != nil {
		return nil, fmt.Errorf("record: the request's body: %w", err)
	}
	r.mu.Lock()
	done := r.done
	r.mu.Unlock()
	if done {
		return nil, errStopped
	}
	if req.URL == nil {
		return nil, errors.New("record: a request without a URL")
	}
	// go-vcr wraps the body and keeps the header map of what it is given.
	out := req.Clone(req.Context())
	if out.Header == nil {
		out.Header = http.Header{}
	}
	out.Body, out.GetBody, out.ContentLength = http.NoBody, nil, int64(len(body))
	if len(body) > 0 {
		out.Body = io.NopCloser(bytes.NewReader(body))
	}
	// Without the header the transport asks for gzip itself and unpacks it, so
	// that bodies can be scrubbed.
	out.Header.Del("Accept-Encoding")
	resp, err := r.rec.RoundTrip(out)
	if err != nil {
		return nil, err
	}
	resp.Request = req
	resp.Header = resp.Header.Clone()
	return resp, nil
}

var errStopped = errors.New("record: the recording was stopped")

// guard gives go-vcr what it takes for granted of a transport: one that reads
// all of the request's body, and not after it answered; a response that has a
// body, which ends.
type guard struct{ next http.RoundTripper }

func (g guard) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := readBody(req) // go-vcr keeps what is read here
	if err != nil {
		return nil, err
	}
	req = req.Clone(req.Context())
	req.Body = http.NoBody
	if len(body) > 0 {
		req.Body = io.NopCloser(bytes.NewReader(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	resp, err := g.next.RoundTrip(req)
	switch {
	case err != nil:
		return nil, err
	case resp == nil:
		return nil, errors.New("record: the transport gave neither a response nor an error")
	}
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	if resp.Body == nil {
		resp.Body = http.NoBody
	}
	resp.Body = &atMost{ReadCloser: resp.Body, left: MostYAML, err: fmt.Errorf("record: the response to %s is larger than %s", req.Method, files.Size(MostYAML))}
	return resp, nil
}

// readBody reads a body of at most MostYAML bytes and closes it; no tape holds a
// larger one.
func readBody(req *http.Request) ([]byte, error) {
	if req.Body == nil {
		return nil, nil
	}
	body, err := io.ReadAll(&atMost{ReadCloser: req.Body, left: MostYAML, err: errors.New("it is larger than " + files.Size(MostYAML))})
	if closed := req.Body.Close(); err == nil {
		err = closed
	}
	return body, err
}

// atMost is a body that fails when it is larger than what is left.
type atMost struct {
	io.ReadCloser
	left int
	err  error
}

func (b *atMost) Read(p []byte) (int, error) {
	if len(p) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if n > b.left {
		return 0, b.err
	}
	b.left -= n
	return n, err
}

// capture takes a scrubbed copy. It must not touch the interaction, which
// shares its maps with the client's response.
func (r *Recorder) capture(i *cassette.Interaction) error {
	if coding := i.Response.Headers.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return fmt.Errorf("record: the response to %s is coded as %s and cannot be searched for secrets; switch compression off", i.Method, coding)
	}
	x, told := r.scrub.exchange(Exchange{
		Request:  Request{Method: i.Method, URL: i.URL, Header: i.Request.Headers, Body: []byte(i.Request.Body)},
		Response: Response{Status: i.Code, Header: i.Response.Headers, Body: []byte(i.Response.Body)},
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done { // the tape is written; an exchange more must not be lost in silence
		return errStopped
	}
	for _, what := range told {
		r.told = append(r.told, fmt.Sprintf("exchange %d, %s", len(r.tape.Exchanges), what))
	}
	r.tape.Exchanges = append(r.tape.Exchanges, x)
	return nil
}

// Redacted lists what was taken out although nobody named it as a secret: it looks
// like one.
func (r *Recorder) Redacted() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.told)
}

// Stop ends the recording, writes the tape and returns it. A recording without
// an exchange, one that still holds a secret, or one that is too large to be
// read again is an error and writes nothing. A request that is on its way fails.
// Stopping again gives the same outcome and writes nothing.
func (r *Recorder) Stop() (Tape, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.done {
		r.done = true
		r.stopErr = r.stop()
	}
	return r.tape, r.stopErr
}

func (r *Recorder) stop() error {
	if len(r.tape.Exchanges) == 0 {
		return errors.New("record: no exchange was recorded")
	}
	var b bytes.Buffer
	if err := Write(&b, r.tape); err != nil {
		return err
	}
	// The file is searched as it will be read: a secret may only come into
	// being where two pieces meet.
	if found := r.scrub.leaks(b.Bytes()); len(found) > 0 {
		r.tape = Tape{Name: r.tape.Name}
		return fmt.Errorf("record: the tape still holds %s; nothing was written", strings.Join(found, ", "))
	}
	if r.config.File == "" {
		return nil
	}
	if _, err := Parse(r.config.File, b.Bytes()); err != nil {
		return fmt.Errorf("record: nothing was written, since the tape could not be read again: %w", err)
	}
	return writeFile(r.config.File, b.Bytes(), r.config.Overwrite)
}

func writeFile(file string, data []byte, overwrite bool) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	if _, err := os.Lstat(file); err == nil && !overwrite {
		return existsError(file) // it was made while the recording went on
	}
	return files.Write(file, data)
}
