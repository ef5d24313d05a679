package cassettes

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"slices"
	"strings"

	"github.com/toolconform/conform/internal/files"
	"github.com/toolconform/conform/internal/jsonx"
)

// Recording is a tape with what its file says about it. What a file does not say
// is empty.
type Recording struct {
	Tape
	Dialect, Provider, Model string
	Engine, Version          string // of a local engine: "ollama", "0.17.4"
	Scenario                 string
	Tags                     []string
	Source                   Source
	Stream                   bool // the file says that the replies are streams
}

// Source is the published place that a recording comes from.
type Source struct{ Repo, Path, Commit, Licence string }

// ErrNoRecording is the error for a file of a known ending that holds something
// else: JSON without exchanges, YAML without interactions.
var ErrNoRecording = errors.New("no recording: no exchanges in it")

// recordingExts are the endings of the files that ReadRecording reads.
var recordingExts = []string{".json", ".yaml", ".yml", ".httprr", ".httprr.gz"}

// IsRecording tells whether ReadRecording reads a file of that name.
func IsRecording(name string) bool {
	return slices.ContainsFunc(recordingExts, func(ext string) bool { return strings.HasSuffix(name, ext) })
}

// ReadRecording reads a file in any known form: JSON of docs/recordings.md
// ("exchanges", or "steps" of a local engine), a go-vcr tape or an httprr trace.
// At most MostTape bytes of a regular file are read.
func ReadRecording(file string) (Recording, error) {
	switch path.Ext(file) {
	case ".json":
		data, err := files.Read(file, MostTape)
		if err != nil {
			return Recording{}, err
		}
		return ParseRecording(file, data)
	case ".yaml", ".yml": // used for much else
		data, err := files.Read(file, MostTape)
		if err != nil {
			return Recording{}, err
		}
		if !bytes.Contains(data, []byte("interactions:")) {
			return Recording{}, ErrNoRecording
		}
		t, err := Parse(file, data)
		return Recording{Tape: t}, err
	}
	t, err := ReadFile(file)
	return Recording{Tape: t}, err
}

// ParseRecording reads the JSON forms. A body that the file holds as a JSON value
// loses the white space of the file and nothing else; a stream, or a body that is
// no JSON, is the text of "raw" byte for byte. The URL of a request is as the file
// has it, without a host where it has none. name is for errors and Tape.Name.
func ParseRecording(name string, data []byte) (Recording, error) {
	var r Recording
	r.Name = strings.TrimSuffix(path.Base("/"+name), path.Ext(name))
	if d := bytes.TrimSpace(data); len(d) > 0 && d[0] != '{' {
		return r, ErrNoRecording
	}
	root, err := jsonx.Parse(data)
	if err != nil {
		return r, fmt.Errorf("recording: %w", err)
	}
	key := "exchanges"
	if !root.Get(key).IsArray() {
		key = "steps"
	}
	if !root.Get(key).IsArray() {
		return r, ErrNoRecording
	}
	r.Dialect, r.Provider, r.Model = root.Get("dialect").Str(), root.Get("provider").Str(), root.Get("model").Str()
	r.Engine, r.Version = engineVersion(root.Get("engine").Str())
	r.Scenario, r.Stream = root.Get("scenario").Str(), root.Get("stream").Bool()
	for _, t := range root.Get("tags").Items() {
		r.Tags = append(r.Tags, t.Str())
	}
	s := root.Get("source")
	r.Source = Source{s.Get("repo").Str(), s.Get("path").Str(), s.Get("commit").Str(), s.Get("licence").Str()}
	items := root.Get(key).Items()
	if len(items) > mostExchanges {
		return r, fmt.Errorf("recording: /%s: %d exchanges; at most %d are read", key, len(items), mostExchanges)
	}
	for i, item := range items {
		x, err := recordedExchange(item)
		if err != nil {
			return r, fmt.Errorf("recording: /%s/%d%w", key, i, err)
		}
		r.Exchanges = append(r.Exchanges, x)
	}
	if r.Model == "" && len(r.Exchanges) > 0 {
		r.Model = jsonx.Of(r.Exchanges[0].Request.Body).Get("model").Str()
	}
	return r, nil
}

// pointerFault starts with a JSON pointer, which ParseRecording completes.
type pointerFault struct{ at, text string }

func (e pointerFault) Error() string { return e.at + ": " + e.text }

func recordedExchange(item jsonx.Value) (Exchange, error) {
	req, resp := item.Get("request"), item.Get("response")
	x := Exchange{
		Request:  Request{Method: req.Get("method").Str(), URL: req.Get("url").Str() + req.Get("path").Str(), Header: headersOf(req), Body: compact(req.Get("body"))},
		Response: Response{Header: headersOf(resp)},
	}
	if x.Request.URL == "" {
		return x, pointerFault{"/request", "want url or path"}
	}
	status, ok := resp.Get("status").Int()
	if !ok || status < 100 || status > 999 {
		return x, pointerFault{"/response/status", "want an HTTP status"}
	}
	x.Response.Status = int(status)
	if t := resp.Get("content_type").Str(); t != "" {
		x.Response.Header.Set("Content-Type", t)
	}
	switch raw, isText := resp.Get("raw").Text(); {
	case isText:
		x.Response.Body = []byte(raw)
	case resp.Get("body").Exists():
		x.Response.Body = compact(resp.Get("body"))
	case resp.Get("json").Exists():
		x.Response.Body = compact(resp.Get("json"))
		if x.Response.Header.Get("Content-Type") == "" {
			x.Response.Header.Set("Content-Type", "application/json")
		}
	default:
		return x, pointerFault{"/response", "want raw, the body as text, or body, a JSON value"}
	}
	return x, nil
}

func compact(v jsonx.Value) []byte {
	if !v.Exists() {
		return nil
	}
	raw, err := jsonx.Compact(v.Raw())
	if err != nil { // cannot be: it was parsed
		return v.Raw()
	}
	return raw
}

func headersOf(v jsonx.Value) http.Header {
	h := http.Header{}
	for _, m := range v.Get("headers").Members() {
		h.Add(m.Key, m.Value.Str())
	}
	return h
}

// Streamed tells whether a body is a stream: events, lines of JSON, or a list of
// chunks (Gemini's streamGenerateContent without alt=sse).
func (r Response) Streamed() bool {
	contentType := r.Header.Get("Content-Type")
	for _, t := range []string{"text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream"} {
		if strings.HasPrefix(contentType, t) {
			return true
		}
	}
	body := strings.TrimLeft(string(r.Body[:min(len(r.Body), 4096)]), " \r\n\t")
	for _, p := range []string{"data:", "event:", ":", "["} {
		if strings.HasPrefix(body, p) {
			return true
		}
	}
	var first json.RawMessage
	dec := json.NewDecoder(bytes.NewReader(r.Body))
	return dec.Decode(&first) == nil && dec.More()
}
