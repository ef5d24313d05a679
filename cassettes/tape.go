// Package cassettes reads, plays, records and writes tapes: HTTP exchanges with
// real engines, kept as files in the form of go-vcr.
//
// Replaying never dials and never waits. A tape that is missing or broken is an
// error; it never turns into a recording.
package cassettes

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"github.com/toolconform/conform/internal/files"
)

//go:embed tapes index.json
var embedded embed.FS

// FS returns the embedded tapes: the folder tapes and the file index.json.
func FS() fs.FS { return embedded }

// Tape is a list of exchanges in the order in which they were made.
type Tape struct {
	Name      string
	Exchanges []Exchange
}

// Exchange is one request and its response.
type Exchange struct {
	Request  Request
	Response Response
}

// Request is a recorded request. The URL is absolute.
type Request struct {
	Method string
	URL    string
	Header http.Header
	Body   []byte
}

// Response is a recorded response. A streamed body is whole.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// A TapeError says where a tape cannot be read and what to do about it.
type TapeError struct {
	File   string
	Line   int // 0 when the fault has no line
	Text   string
	Remedy string
	Err    error // cause, or nil
}

func (e *TapeError) Error() string {
	var b strings.Builder
	b.WriteString("tape " + e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d", e.Line)
	}
	b.WriteString(": " + e.Text)
	if e.Remedy != "" {
		b.WriteString("; " + e.Remedy)
	}
	return b.String()
}

func (e *TapeError) Unwrap() error { return e.Err }

// Read reads the tape called <engine>/<scenario> from tapes/ of fsys. Every
// form that Parse knows may stand in the file. The error is a *TapeError.
func Read(fsys fs.FS, name string) (Tape, error) {
	file := path.Join("tapes", strings.TrimSuffix(name, ".yaml")+".yaml")
	data, err := files.ReadFS(fsys, file, MostTape)
	if err != nil {
		return Tape{}, missing(file, err)
	}
	t, err := Parse(file, data)
	t.Name = strings.TrimSuffix(name, ".yaml")
	return t, err
}

// ReadFile reads the tape at a path of the file system, at most MostTape bytes
// of a regular file. An httprr trace may be packed with gzip.
func ReadFile(file string) (Tape, error) {
	data, err := files.Read(file, MostTape)
	if err != nil {
		return Tape{}, missing(file, err)
	}
	if compressed(data) {
		data, err = unpack(data)
		switch {
		case errors.Is(err, errPackedKind):
			return Tape{}, &TapeError{File: file, Text: "is packed, and holds no httprr trace", Remedy: "unpack it with gunzip", Err: err}
		case err != nil:
			return Tape{}, &TapeError{File: file, Text: "cannot be unpacked: " + err.Error(), Remedy: "check it with gunzip -t", Err: err}
		}
		file = strings.TrimSuffix(file, ".gz")
	}
	return Parse(file, data)
}

func missing(file string, err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return &TapeError{File: file, Text: strings.TrimPrefix(err.Error(), file+" "), Err: err}
	}
	return &TapeError{File: file, Text: "cannot be opened: " + err.Error(), Remedy: "check the name, or record the tape", Err: err}
}

// Parse reads a tape in any of the known forms: YAML of go-vcr version 1 to 4,
// of at most MostYAML bytes and a million nodes, or the text of httprr. name is the file's name, for errors and Tape.Name. The
// error is a *TapeError.
func Parse(name string, data []byte) (Tape, error) {
	t := Tape{Name: strings.TrimSuffix(path.Base(name), path.Ext(name))}
	var err error
	switch {
	case compressed(data):
		err = &TapeError{File: name, Text: "is compressed", Remedy: "unpack it with gunzip"}
	case strings.HasPrefix(string(data[:min(len(data), len(httprrMagic))]), httprrMagic):
		t.Exchanges, err = parseHTTPRR(name, data)
	default:
		t.Exchanges, err = parseVCR(name, data)
	}
	return t, err
}
