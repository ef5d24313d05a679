package cassettes

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/dnaeon/go-vcr/v2/cassette"
	"github.com/dnaeon/go-vcr/v2/recorder"
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
// A secret that an engine repeats letter by letter over several events of a
// stream cannot be recognised: look at what you record.
type Recorder struct {
	config RecordConfig
	scrub  scrubber
	rec    *recorder.Recorder

	mu   sync.Mutex
	tape Tape
	done bool
}

// NewRecorder starts a recording. Nothing is written before Stop.
func NewRecorder(config RecordConfig) (*Recorder, error) {
	scrub, err := newScrubber(config.Secrets, config.KeepHeaders)
	if err != nil {
		return nil, fmt.Errorf("record: %w", err)
	}
	if config.File != "" && !config.Overwrite {
		if _, err := os.Stat(config.File); err == nil {
			return nil, fmt.Errorf("record: %s exists; remove it or ask to overwrite it", config.File)
		}
	}
	name := strings.TrimSuffix(config.File, filepath.Ext(config.File))
	rec, err := recorder.NewAsMode(name, recorder.ModeRecording, config.Transport)
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

// RoundTrip sends the request and records the exchange.
func (r *Recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	done := r.done
	r.mu.Unlock()
	if done {
		return nil, errors.New("record: the recording was stopped")
	}
	// go-vcr wraps the body and keeps the header map of what it is given.
	out := req.Clone(req.Context())
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

// capture takes a scrubbed copy. It must not touch the interaction, which
// shares its maps with the client's response.
func (r *Recorder) capture(i *cassette.Interaction) error {
	if coding := i.Response.Headers.Get("Content-Encoding"); coding != "" && !strings.EqualFold(coding, "identity") {
		return fmt.Errorf("record: the response to %s is coded as %s and cannot be searched for secrets; switch compression off", i.Method, coding)
	}
	x := r.scrub.exchange(Exchange{
		Request:  Request{Method: i.Method, URL: i.URL, Header: i.Request.Headers, Body: []byte(i.Request.Body)},
		Response: Response{Status: i.Code, Header: i.Response.Headers, Body: []byte(i.Response.Body)},
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tape.Exchanges = append(r.tape.Exchanges, x)
	return nil
}

// Stop ends the recording, writes the tape and returns it. A recording without
// an exchange, or one that still holds a secret, is an error and writes nothing.
func (r *Recorder) Stop() (Tape, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done = true
	if len(r.tape.Exchanges) == 0 {
		return r.tape, errors.New("record: no exchange was recorded")
	}
	var b bytes.Buffer
	if err := Write(&b, r.tape); err != nil {
		return r.tape, err
	}
	// The file is searched as it will be read: a secret may only come into
	// being where two pieces meet.
	if found := r.scrub.leaks(b.Bytes()); len(found) > 0 {
		return Tape{Name: r.tape.Name}, fmt.Errorf("record: the tape still holds %s; nothing was written", strings.Join(found, ", "))
	}
	if r.config.File == "" {
		return r.tape, nil
	}
	return r.tape, writeFile(r.config.File, b.Bytes())
}

// writeFile writes all or nothing.
func writeFile(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(file), ".tape-*")
	if err != nil {
		return err
	}
	_, err = part.Write(data)
	if closed := part.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(part.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		os.Remove(part.Name())
	}
	return err
}
