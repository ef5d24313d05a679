// Package verify holds the codecs against recorded traffic: every reply must
// decode to what an independent scan of its body counts, every error must come
// out typed, with the provider's own message.
package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
)

// Place is one exchange of a file, and what is to say about it.
type Place struct {
	File     string `json:"file"`
	Exchange int    `json:"exchange"`
	Error    string `json:"error,omitempty"`
	Finish   string `json:"finish,omitempty"`
}

// Report is the outcome.
type Report struct {
	Files        int     `json:"files"`
	Exchanges    int     `json:"exchanges"`
	Replies      int     `json:"replies"` // 2xx bodies at chat endpoints that are no streams
	Decoded      int     `json:"decoded"` // of them, decoded or come out as the typed error that they carry
	RawCalls     int     `json:"raw_calls"`
	DecodedCalls int     `json:"decoded_calls"`
	RawText      int     `json:"raw_text_bytes"` // without white space
	DecodedText  int     `json:"decoded_text_bytes"`
	RawReasoning int     `json:"raw_reasoning"`
	Reasoning    int     `json:"decoded_reasoning"`
	EmptyReplies []Place `json:"empty_replies"` // decoded, without any part
	Errors       int     `json:"errors"`        // error statuses
	ErrorsTyped  int     `json:"errors_typed"`  // of them, with a kind and the provider's message
	ErrorsIn200  int     `json:"errors_in_200"`
	Streams      int     `json:"skipped_streams"`
	Other        int     `json:"skipped_other"` // exchanges at endpoints that are no chat endpoint
	Skipped      []Place `json:"skipped_files"` // files that are no recording
	Failed       []Place `json:"failed"`
}

// OK tells whether everything was read as it should be. A report that found
// nothing to read is not: a gate that checks nothing must not pass.
func (r Report) OK() bool {
	return r.Replies+r.Errors > 0 && len(r.Failed) == 0 && r.Decoded == r.Replies && r.ErrorsTyped == r.Errors && r.RawCalls == r.DecodedCalls
}

// Paths verifies files and folders. Read are the project's recording format
// (JSON with exchanges), go-vcr tapes (YAML) and httprr recordings.
func Paths(ctx context.Context, paths []string) (Report, error) {
	r := Report{EmptyReplies: []Place{}, Skipped: []Place{}, Failed: []Place{}}
	for _, root := range paths {
		info, err := os.Stat(root)
		if err != nil {
			return r, fmt.Errorf("%w; give a recording or a folder of recordings", err)
		}
		if !info.IsDir() {
			r.file(root, root)
			continue
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil || d.IsDir() || !readable(path) {
				return err
			}
			name, relErr := filepath.Rel(root, path)
			if relErr != nil {
				name = path
			}
			r.file(path, filepath.ToSlash(name))
			return nil
		})
		if err != nil {
			return r, err
		}
	}
	if r.Files == 0 {
		return r, fmt.Errorf("no recordings below %s; read are .json recordings, .yaml go-vcr tapes and .httprr recordings", strings.Join(paths, ", "))
	}
	return r, nil
}

func readable(path string) bool {
	return slices.Contains([]string{".json", ".yaml", ".yml", ".httprr"}, filepath.Ext(path)) || strings.HasSuffix(path, ".httprr.gz")
}

// exchange is one request and its answer, whatever file it came from.
type exchange struct {
	dialect     codecs.Dialect // "" when the file does not say
	path        string         // of the request URL
	status      int
	header      map[string][]string
	contentType string
	body        []byte
}

func (r *Report) file(path, name string) {
	list, err := read(path)
	switch {
	case errors.Is(err, errNoRecording):
		r.Skipped = append(r.Skipped, Place{File: name, Exchange: -1, Error: err.Error()})
		return
	case err != nil:
		r.Files++
		r.Failed = append(r.Failed, Place{File: name, Exchange: -1, Error: err.Error()})
		return
	}
	r.Files++
	for i, x := range list {
		r.Exchanges++
		if err := r.exchange(x, name, i); err != nil {
			r.Failed = append(r.Failed, Place{File: name, Exchange: i, Error: err.Error()})
		}
	}
}

var errNoRecording = errors.New("no recording: no exchanges in it")

func read(path string) ([]exchange, error) {
	if filepath.Ext(path) == ".json" {
		data, err := cassettes.ReadRegular(path, cassettes.MostTape)
		if err != nil {
			return nil, err
		}
		return readRecording(data)
	}
	tape, err := readTape(path)
	if err != nil {
		return nil, err
	}
	var out []exchange
	for _, x := range tape.Exchanges {
		e := exchange{status: x.Response.Status, header: x.Response.Header, contentType: x.Response.Header.Get("Content-Type"), body: x.Response.Body}
		if u, err := url.Parse(x.Request.URL); err == nil {
			e.path = u.Path
		}
		out = append(out, e)
	}
	return out, nil
}

// readTape reads a tape of another library. YAML is used for much else, so a
// file without interactions is none.
func readTape(path string) (cassettes.Tape, error) {
	if ext := filepath.Ext(path); ext == ".yaml" || ext == ".yml" {
		data, err := cassettes.ReadRegular(path, cassettes.MostTape)
		if err != nil {
			return cassettes.Tape{}, err
		}
		if !bytes.Contains(data, []byte("interactions:")) {
			return cassettes.Tape{}, errNoRecording
		}
	}
	return cassettes.ReadFile(path)
}

// readRecording reads the JSON form: {"dialect","exchanges":[{"request":{"url"},
// "response":{"status","headers","body"|"raw"}}]}.
func readRecording(data []byte) ([]exchange, error) {
	var doc struct {
		Dialect   string `json:"dialect"`
		Exchanges []struct {
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
			Response struct {
				Status  int               `json:"status"`
				Headers map[string]string `json:"headers"`
				Body    json.RawMessage   `json:"body"`
				Raw     *string           `json:"raw"`
			} `json:"response"`
		} `json:"exchanges"`
	}
	if len(bytes.TrimSpace(data)) > 0 && bytes.TrimSpace(data)[0] != '{' {
		return nil, errNoRecording
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("is no recording that can be read: %w", err)
	}
	if doc.Exchanges == nil {
		return nil, errNoRecording
	}
	var out []exchange
	for _, x := range doc.Exchanges {
		e := exchange{dialect: codecs.Dialect(doc.Dialect), status: x.Response.Status, header: map[string][]string{}, body: x.Response.Body}
		for k, v := range x.Response.Headers {
			e.header[k] = []string{v}
		}
		e.contentType = codecs.HeaderValue(e.header, "content-type")
		if x.Response.Raw != nil {
			e.body = []byte(*x.Response.Raw)
		}
		if u, err := url.Parse(x.Request.URL); err == nil {
			e.path = u.Path
		}
		out = append(out, e)
	}
	return out, nil
}

// codecOf finds the codec of an exchange. A recording that names its dialect is
// believed; the path may still say that it is no chat endpoint at all.
func codecOf(x exchange) (codecs.Full, bool) {
	if x.dialect != "" {
		c, err := all.For(x.dialect)
		return c, err == nil
	}
	for _, c := range all.Codecs() {
		if _, _, ok := c.Match(x.path); ok {
			return c, true
		}
	}
	return nil, false
}

func (r *Report) exchange(x exchange, name string, i int) error {
	c, ok := codecOf(x)
	switch {
	case !ok:
		if x.dialect != "" {
			return fmt.Errorf("unknown dialect %q", x.dialect)
		}
		r.Other++
		return nil
	case x.status < 200 || x.status > 299:
		r.Errors++
		return r.errorBody(c, x)
	case isStream(x):
		r.Streams++
		return nil
	}
	r.Replies++
	raw, scanned := scan(c.Dialect(), x.body)
	reply, err := c.Reply(x.body, codecs.Profile{})
	var pe *codecs.ProviderError
	if errors.As(err, &pe) {
		return r.errorInside(x, raw, pe)
	}
	if err != nil {
		return err
	}
	if !scanned {
		return errors.New("decoded, but the body is no JSON")
	}
	got := count(c.Dialect(), reply, raw)
	r.RawCalls, r.DecodedCalls = r.RawCalls+raw.calls, r.DecodedCalls+got.calls
	r.RawText, r.DecodedText = r.RawText+raw.text, r.DecodedText+got.text
	r.RawReasoning, r.Reasoning = r.RawReasoning+raw.reasoning, r.Reasoning+got.reasoning
	if len(reply.Parts) == 0 {
		r.EmptyReplies = append(r.EmptyReplies, Place{File: name, Exchange: i, Finish: reply.RawFinish})
	}
	if raw.counts != got {
		return fmt.Errorf("the body holds %+v; decoded %+v", raw.counts, got)
	}
	if err := sameContent(c.Dialect(), raw, reply); err != nil {
		return err
	}
	r.Decoded++
	return nil
}

// errorInside judges a 2xx body that came out as an error: it must carry one, and
// the message must be the provider's. What it holds besides counts as there, so
// that a codec cannot hide calls behind an error of its own making.
func (r *Report) errorInside(x exchange, raw scanned, pe *codecs.ProviderError) error {
	switch {
	case pe.Message == "" || pe.Kind == "":
		return fmt.Errorf("error inside a %d without kind or message: %+v", x.status, pe)
	case !raw.carriesError:
		r.RawCalls += raw.calls
		return fmt.Errorf("came out as the error %q, but the body carries none", pe.Message)
	case !holds(x.body, pe.Message) && !strings.HasPrefix(pe.Message, "response "):
		return fmt.Errorf("message %q is not the provider's", pe.Message)
	}
	r.Decoded++
	r.ErrorsIn200++
	return nil
}

// isStream tells whether a body is a stream: events, lines of JSON, or Gemini's
// list of chunks (streamGenerateContent without alt=sse).
func isStream(x exchange) bool {
	for _, t := range []string{"text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream"} {
		if strings.HasPrefix(x.contentType, t) {
			return true
		}
	}
	body := strings.TrimLeft(string(x.body[:min(len(x.body), 4096)]), " \r\n\t")
	for _, p := range []string{"data:", "event:", ":", "["} {
		if strings.HasPrefix(body, p) {
			return true
		}
	}
	if x.dialect == codecs.Ollama || strings.HasSuffix(x.path, "/api/chat") {
		var first json.RawMessage
		dec := json.NewDecoder(strings.NewReader(string(x.body)))
		return dec.Decode(&first) == nil && dec.More()
	}
	return false
}

func (r *Report) errorBody(c codecs.Full, x exchange) error {
	pe := c.Error(x.status, x.header, x.body)
	switch {
	case pe == nil || pe.Kind == "" || pe.Message == "":
		return fmt.Errorf("error body without kind or message: %+v", pe)
	case pe.Status != x.status:
		return fmt.Errorf("error of status %d read as %d", x.status, pe.Status)
	case !holds(x.body, pe.Message):
		return fmt.Errorf("message %q is not the provider's", pe.Message)
	}
	r.ErrorsTyped++
	return nil
}

// holds tells whether a message is made of the provider's words: it stands in
// the body, or is two strings of it joined by a colon, as gateways have a general
// and a particular one.
func holds(body []byte, message string) bool {
	var texts []string
	var v any
	if json.Unmarshal(body, &v) == nil {
		texts = allStrings(v, nil)
	} else if len(bytes.TrimSpace(body)) == 0 {
		return true // an empty body has no message to keep
	}
	texts = append(texts, string(body))
	has := func(part string) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, part) })
	}
	if has(message) {
		return true
	}
	const mostColons = 8
	at := 0
	for range mostColons {
		i := strings.Index(message[at:], ": ")
		if i < 0 {
			return false
		}
		at += i + 2
		if has(message[:at-2]) && has(message[at:]) {
			return true
		}
	}
	return false
}

// allStrings lists the strings of a body, those of a body that a gateway carries
// as a JSON string included.
func allStrings(v any, out []string) []string {
	switch v := v.(type) {
	case string:
		out = append(out, v)
		var inner any
		if strings.HasPrefix(v, "{") && json.Unmarshal([]byte(v), &inner) == nil {
			out = allStrings(inner, out)
		}
	case []any:
		for _, x := range v {
			out = allStrings(x, out)
		}
	case map[string]any:
		for _, x := range v {
			out = allStrings(x, out)
		}
	}
	return out
}
