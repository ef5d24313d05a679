// Package laws holds a dialect against the laws of docs/architecture.md: over
// the bodies of all its cases, and over what a fuzzer makes of them. It is for
// the tests of the dialects; what only one dialect promises stands with it.
package laws

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
)

// Dialect is a dialect and what its wire cannot carry. The zero value of every
// field is the strictest.
type Dialect struct {
	Renamed []string // members of Extra that read back under the name that the profile has for them
	Codec   codecs.Full
	Path    string // of a request
	List    string // member of a request that holds what Continue returns

	// Profiles hold besides the empty one and that of each case.
	Profiles []codecs.Profile

	// TagsStay: a history keeps the think tags of its texts, so that bodies are
	// read with the tags left alone.
	TagsStay bool

	// Echoed reduces a part to what an echo of it carries, by design of the
	// wire; ok is false when it carries nothing. nil: everything.
	Echoed func(p codecs.Part) (part codecs.Part, ok bool)

	// Lossy wires do not carry every reply of their own through RenderReply
	// unchanged; where it warns of a loss, its result is not compared.
	Lossy bool

	// Rendered reduces a part to what RenderReply carries without a warning.
	Rendered func(p codecs.Part) codecs.Part

	// TextCalls: calls stand in text. What a limit cut stands open there, and
	// since a history does not tell of the limit it does not read as a call; a
	// call whose text is broken has no raw structure of its own.
	TextCalls bool

	// NoIDs: calls need no ids, and none is made. Legacy is the key of an older
	// form of a call that has none.
	NoIDs  bool
	Legacy string

	// Errors are the kinds of errors that RenderError cannot tell apart.
	Errors []codecs.ErrorKind

	// Requests are cases whose request is put in another order, by design.
	Requests []string

	// Whole: the echo and the rendering of any body, not only those of the cases,
	// read back as they were.
	Whole bool

	// TakesAll: what ParseRequest reads from any body, Request can encode.
	// TakesMessages: so it can but for server tools and further keys, which may
	// hold anything.
	TakesAll, TakesMessages bool
}

func (s Dialect) profiles(own codecs.Profile) []codecs.Profile {
	out := append([]codecs.Profile{{}, own}, s.Profiles...)
	for i := range out {
		if s.TagsStay {
			out[i].ThinkTag = "none"
		}
	}
	return out
}

// brief is a profile, for messages.
func brief(p codecs.Profile) string {
	out, err := json.Marshal(p)
	if err != nil {
		return err.Error()
	}
	return string(out)
}

// cases visits the cases of the dialect.
func (s Dialect) cases(t testing.TB, visit func(c fixtures.Case, p codecs.Profile)) {
	t.Helper()
	cases, err := fixtures.LoadCases(os.DirFS("../../fixtures"), string(s.Codec.Dialect()))
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) < 50 {
		t.Fatalf("only %d cases", len(cases))
	}
	for _, c := range cases {
		var p codecs.Profile
		if len(c.Profile) > 0 {
			if err := json.Unmarshal(c.Profile, &p); err != nil {
				t.Fatalf("%s: profile: %v", c.ID, err)
			}
		}
		visit(c, p)
	}
}

// Replies visits the bodies of the cases, whatever their operation, that decode
// as replies, under every profile.
func Replies(t *testing.T, s Dialect, visit func(t *testing.T, r codecs.Reply, p codecs.Profile)) {
	t.Helper()
	n := 0
	s.cases(t, func(c fixtures.Case, own codecs.Profile) {
		body, ok := jsonx.Of(c.Input).Get("body_text").Text()
		if !ok || c.Op == "parse_request" || c.Op == "error" {
			return
		}
		t.Run(c.ID, func(t *testing.T) {
			for _, p := range s.profiles(own) {
				if r, ok := s.decode(t, []byte(body), p); ok {
					n++
					visit(t, r, p)
				}
			}
		})
	})
	if n < 60 {
		t.Fatalf("only %d replies", n)
	}
}

// decode is law 1: a body gives a reply or a typed error, the readers see what
// Reply sees, and nothing panics.
func (s Dialect) decode(t *testing.T, body []byte, p codecs.Profile) (codecs.Reply, bool) {
	t.Helper()
	readers, ok := s.Codec.(codecs.Readers)
	if !ok {
		t.Fatalf("the codec of %s has no readers", s.Codec.Dialect())
	}
	raw, text := readers.RawCalls(body, p), readers.TextContent(body, p)
	r, err := s.Codec.Reply(body, p)
	if err != nil {
		typed(t, s.Codec.Dialect(), err)
		return r, false
	}
	if len(raw) != len(r.Calls()) {
		t.Fatalf("RawCalls sees %d calls, Reply %d", len(raw), len(r.Calls()))
	}
	for i, call := range r.Calls() {
		name, args, ok := readers.ExtractCall(raw[i])
		if s.TextCalls && call.ArgumentsErr != "" {
			args = nil
		}
		if !ok || name != call.Name || (args == nil) != (call.Arguments == nil) || args != nil && !jsonx.Equal(args, call.Arguments) {
			t.Fatalf("ExtractCall of %s gives %q %s, the call is %+v", raw[i], name, args, call)
		}
		if call.Pos != i || (call.Arguments == nil) != (call.ArgumentsErr != "") {
			t.Fatalf("call %d is %+v", i, call)
		}
	}
	if text != r.Text() {
		t.Fatalf("TextContent gives %q, the text of the reply is %q", text, r.Text())
	}
	if err := jsonx.Check(neutral.View(r)); err != nil {
		t.Fatalf("view: %v", err)
	}
	return r, true
}

func typed(t *testing.T, d codecs.Dialect, err error) {
	t.Helper()
	var pe *codecs.ProviderError
	var de *codecs.DecodeError
	switch {
	case err.Error() == "":
		t.Fatal("an error without words")
	case errors.As(err, &pe):
		if pe.Dialect != d || pe.Kind == "" || pe.Message == "" {
			t.Fatalf("error %+v", pe)
		}
	case errors.As(err, &de):
		if de.Dialect != d {
			t.Fatalf("error of %s: %v", de.Dialect, de)
		}
	default:
		t.Fatalf("untyped error %v", err)
	}
}

// Answers makes a result for every call, in the reverse order of the calls: the
// order of results is free.
func Answers(r codecs.Reply) []codecs.ToolResult {
	var out []codecs.ToolResult
	for _, c := range r.Calls() {
		out = append(out, codecs.ToolResult{Pos: &c.Pos, Content: []codecs.Raw{codecs.TextBlock(fmt.Sprintf("answer %d", c.Pos))}})
	}
	slices.Reverse(out)
	return out
}

// history is what messages of Continue read as: the parts of the assistant and
// the results in order.
type history struct {
	parts   []codecs.Part
	results []codecs.ToolResult
	others  int // parts of users that are no results
}

func (s Dialect) parse(t *testing.T, msgs []codecs.Raw, p codecs.Profile) history {
	t.Helper()
	var f jsonx.Fields
	body := f.Str("model", "m").Set(s.List, jsonx.List(msgs...)).Raw()
	if err := jsonx.Check(body); err != nil {
		t.Fatalf("echo is no JSON: %v\n%s", err, body)
	}
	req, _, err := s.Codec.ParseRequest(codecs.Post(s.Path, body), p)
	if err != nil {
		t.Fatalf("echo does not parse: %v\n%s", err, body)
	}
	var h history
	for _, m := range req.Messages {
		if m.Role == "assistant" {
			h.parts = append(h.parts, m.Parts...)
			continue
		}
		for _, part := range m.Parts {
			if part.Kind == codecs.KindResult {
				h.results = append(h.results, *part.Result)
			} else {
				h.others++
			}
		}
	}
	return h
}

// open tells whether the echo of a reply holds what does not read as a call
// there, or what the provider itself could not read as one.
func (s Dialect) open(r codecs.Reply) bool {
	return r.Finish == codecs.FinishMalformedCall ||
		s.TextCalls && (r.Unfinished > 0 || slices.ContainsFunc(r.Calls(), func(c codecs.ToolCall) bool { return c.Cut }))
}

func warned(warnings []codecs.Warning, code string) bool {
	return slices.ContainsFunc(warnings, func(w codecs.Warning) bool { return w.Code == code })
}

// diff compares lists of lines and says where they part.
func diff(want, got []string) string {
	for i := range max(len(want), len(got)) {
		w, g := "(nothing)", "(nothing)"
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			return fmt.Sprintf("line %d of %d is\n  %s\nwant\n  %s", i, len(want), g, w)
		}
	}
	return ""
}

// line is a part in a form that compares, raw JSON byte for byte.
func line(p codecs.Part) string {
	var call string
	if c := p.Call; c != nil {
		call = fmt.Sprintf(" call %d id %q item %q name %q text %q args %s err %v cut %v sig %q extra %s", c.Pos, c.ID, c.ItemID, c.Name,
			c.ArgumentsText, c.Arguments, c.ArgumentsErr != "", c.Cut, c.Signature, c.Extra)
	}
	media := ""
	if p.Media != nil {
		media = fmt.Sprintf(" media %+v", *p.Media)
	}
	return fmt.Sprintf("%s type %q id %q text %q sig %q redacted %v%s%s extra %s", p.Kind, p.Type, p.ID, p.Text, p.Signature, p.Redacted, media, call, p.Extra)
}

// callsOnly tells whether a profile has an echo that leaves out, reduces or
// joins parts without a warning, because it says so.
func callsOnly(p codecs.Profile) bool {
	return p.EchoKeys != nil || p.EchoItems != nil || p.FlattenText || p.ReasoningEcho == codecs.EchoRefused || p.ThinkTag != "" && p.ThinkTag != "none"
}

func names(calls []codecs.ToolCall) string {
	var out []string
	for _, c := range calls {
		out = append(out, c.Name)
	}
	return strings.Join(out, ", ")
}
