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
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/suite/judge"
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
	Files          int     `json:"files"`
	Exchanges      int     `json:"exchanges"`
	Replies        int     `json:"replies"` // 2xx bodies at chat endpoints that are no streams
	Decoded        int     `json:"decoded"` // of them, decoded or come out as the typed error that they carry
	RawCalls       int     `json:"raw_calls"`
	DecodedCalls   int     `json:"decoded_calls"`
	RawText        int     `json:"raw_text_bytes"` // without white space
	DecodedText    int     `json:"decoded_text_bytes"`
	RawReasoning   int     `json:"raw_reasoning"`
	Reasoning      int     `json:"decoded_reasoning"`
	EmptyReplies   []Place `json:"empty_replies"` // decoded, without any part
	Errors         int     `json:"errors"`        // error statuses
	ErrorsTyped    int     `json:"errors_typed"`  // of them, with a kind and the provider's message
	ErrorsIn200    int     `json:"errors_in_200"`
	Streams        int     `json:"streams"`         // 2xx streams at chat endpoints
	StreamsDecoded int     `json:"streams_decoded"` // of them, decoded or ended in the typed error that they carry
	Splits         int     `json:"splits_checked"`  // places at which a stream was cut to hold that it gives the same reply
	SplitFailures  int     `json:"split_failures"`  // streams that did not
	Other          int     `json:"skipped_other"`   // exchanges at endpoints that are no chat endpoint, and streams in the binary framing of AWS, which is out of scope
	Skipped        []Place `json:"skipped_files"`   // files that are no recording
	Failed         []Place `json:"failed"`

	Continuations
}

// OK tells whether everything was read as it should be. A report that found
// nothing to read is not: a gate that checks nothing must not pass.
func (r Report) OK() bool {
	return r.Replies+r.Errors+r.Streams > 0 && len(r.Failed) == 0 && r.Decoded == r.Replies && r.StreamsDecoded == r.Streams && r.ErrorsTyped == r.Errors && r.RawCalls == r.DecodedCalls && len(r.OursWrong) == 0
}

// Paths verifies files and folders. Read are the project's recording format
// (JSON with exchanges), go-vcr tapes (YAML) and httprr recordings. The catalogue
// tells how the providers of the recordings take a turn back.
func Paths(ctx context.Context, paths []string, catalog *engines.Catalog) (Report, error) {
	tables, err := loadTables()
	if err != nil {
		return Report{}, err
	}
	r := verifier{
		Report{EmptyReplies: []Place{}, Skipped: []Place{}, Failed: []Place{}, Continuations: Continuations{Differences: map[string]int{}, OursWrong: []Place{}, found: map[string][]Difference{}}},
		tables, catalog,
	}
	w := walker{&r.Files, &r.Skipped, &r.Failed, r.recording}
	return r.Report, w.walk(ctx, paths)
}

type verifier struct {
	Report
	tables  tables
	catalog *engines.Catalog
}

// walker visits the recordings below paths, counts the files, and notes those that
// are none and those that cannot be read.
type walker struct {
	files           *int
	skipped, failed *[]Place
	visit           func(name string, rec cassettes.Recording)
}

func (w walker) walk(ctx context.Context, paths []string) error {
	for _, root := range paths {
		info, err := os.Stat(root)
		if err != nil {
			return fmt.Errorf("%w; give a recording or a folder of recordings", err)
		}
		if !info.IsDir() {
			w.file(root, root)
			continue
		}
		err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err == nil {
				err = ctx.Err()
			}
			if err != nil || d.IsDir() || !cassettes.IsRecording(path) {
				return err
			}
			name, relErr := filepath.Rel(root, path)
			if relErr != nil {
				name = path
			}
			w.file(path, filepath.ToSlash(name))
			return nil
		})
		if err != nil {
			return err
		}
	}
	if *w.files == 0 {
		return fmt.Errorf("no recordings below %s; read are .json recordings, .yaml go-vcr tapes and .httprr recordings", strings.Join(paths, ", "))
	}
	return nil
}

func (w walker) file(path, name string) {
	rec, err := cassettes.ReadRecording(path)
	if errors.Is(err, cassettes.ErrNoRecording) {
		*w.skipped = append(*w.skipped, Place{File: name, Exchange: -1, Error: err.Error()})
		return
	}
	*w.files++
	if err != nil {
		*w.failed = append(*w.failed, Place{File: name, Exchange: -1, Error: err.Error()})
		return
	}
	w.visit(name, rec)
}

func (r *verifier) recording(name string, rec cassettes.Recording) {
	var s *continuing
	defer func() { r.end(s) }()
	for i, x := range rec.Exchanges {
		r.Exchanges++
		if c, in, err := conversed(codecs.Dialect(rec.Dialect), x); c != nil && err == nil {
			if s == nil || s.Codec.Dialect() != c.Dialect() {
				r.end(s)
				s = &continuing{Session: judge.Session{Codec: c}, name: name, open: map[int]codecs.Reply{}}
			}
			in.Body, s.Profile, _ = asWritten(r.catalog, rec, c, in)
			r.follow(s, x, in, i)
		}
		if err := r.exchange(codecs.Dialect(rec.Dialect), x, name, i); err != nil {
			r.Failed = append(r.Failed, Place{File: name, Exchange: i, Error: err.Error()})
		}
	}
}

// codecOf finds the codec of an exchange. A recording that names its dialect is
// believed; the path may still say that it is no chat endpoint at all.
func codecOf(d codecs.Dialect, x cassettes.Exchange) (codecs.Full, bool) {
	if d != "" {
		c, err := all.For(d)
		return c, err == nil
	}
	in, err := received(x)
	if err != nil {
		return nil, false
	}
	in.Header, in.Body = nil, nil // the path alone tells
	for _, c := range all.Codecs() {
		if _, _, ok := c.Match(in); ok {
			return c, true
		}
	}
	return nil, false
}

func (r *verifier) exchange(d codecs.Dialect, x cassettes.Exchange, name string, i int) error {
	c, ok := codecOf(d, x)
	switch {
	case !ok:
		if d != "" {
			return fmt.Errorf("unknown dialect %q", d)
		}
		r.Other++
		return nil
	case x.Response.Status < 200 || x.Response.Status > 299:
		r.Errors++
		return r.errorBody(c, x)
	case strings.HasPrefix(x.Response.Header.Get("Content-Type"), "application/vnd.amazon.eventstream"):
		r.Other++
		return nil
	case x.Response.Streamed():
		r.Streams++
		return r.stream(c, x)
	}
	r.Replies++
	if _, ok := r.tables.of[c.Dialect()]; !ok {
		return fmt.Errorf("suite/verify/scan has no table for %s: nothing to compare with", c.Dialect())
	}
	raw, scanned := r.tables.scan(c.Dialect(), x.Response.Body)
	reply, err := c.Reply(x.Response.Body, codecs.Profile{})
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
	got := r.tables.count(c.Dialect(), reply, raw)
	r.RawCalls, r.DecodedCalls = r.RawCalls+raw.calls, r.DecodedCalls+got.calls
	r.RawText, r.DecodedText = r.RawText+raw.text, r.DecodedText+got.text
	r.RawReasoning, r.Reasoning = r.RawReasoning+raw.reasoning, r.Reasoning+got.reasoning
	if len(reply.Parts) == 0 {
		r.EmptyReplies = append(r.EmptyReplies, Place{File: name, Exchange: i, Finish: reply.RawFinish})
	}
	if raw.counts != got {
		return fmt.Errorf("the body holds %+v; decoded %+v", raw.counts, got)
	}
	if err := r.tables.sameContent(c.Dialect(), raw, reply); err != nil {
		return err
	}
	r.Decoded++
	return nil
}

// errorInside judges a 2xx body that came out as an error: it must carry one, and
// the message must be the provider's. What it holds besides counts as there, so
// that a codec cannot hide calls behind an error of its own making.
func (r *verifier) errorInside(x cassettes.Exchange, raw scanned, pe *codecs.ProviderError) error {
	switch {
	case pe.Message == "" || pe.Kind == "":
		return fmt.Errorf("error inside a %d without kind or message: %+v", x.Response.Status, pe)
	case !raw.failed:
		r.RawCalls += raw.calls
		return fmt.Errorf("came out as the error %q, but the body carries none", pe.Message)
	case !holds(x.Response.Body, pe.Message) && !strings.HasPrefix(pe.Message, "response "):
		return fmt.Errorf("message %q is not the provider's", pe.Message)
	}
	r.Decoded++
	r.ErrorsIn200++
	return nil
}

func (r *verifier) errorBody(c codecs.Full, x cassettes.Exchange) error {
	pe := c.Error(x.Response.Status, x.Response.Header, x.Response.Body)
	switch {
	case pe == nil || pe.Kind == "" || pe.Message == "":
		return fmt.Errorf("error body without kind or message: %+v", pe)
	case pe.Status != x.Response.Status:
		return fmt.Errorf("error of status %d read as %d", x.Response.Status, pe.Status)
	case !holds(x.Response.Body, pe.Message):
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
