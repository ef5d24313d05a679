package laws

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
)

// Cases runs the laws over the bodies and requests of all cases of the dialect.
func Cases(t *testing.T, s Dialect) {
	t.Run("echo", func(t *testing.T) {
		Replies(t, s, func(t *testing.T, r codecs.Reply, p codecs.Profile) { Echo(t, s, r, p) })
	})
	t.Run("subsets", func(t *testing.T) {
		Replies(t, s, func(t *testing.T, r codecs.Reply, p codecs.Profile) { Subsets(t, s, r, p) })
	})
	t.Run("render", func(t *testing.T) {
		Replies(t, s, func(t *testing.T, r codecs.Reply, p codecs.Profile) { RoundTrip(t, s, r, p) })
	})
	t.Run("deterministic", func(t *testing.T) {
		Replies(t, s, func(t *testing.T, r codecs.Reply, p codecs.Profile) { Determinism(t, s, r, p) })
	})
	t.Run("requests", func(t *testing.T) { Requests(t, s) })
	t.Run("pairing", func(t *testing.T) { Pairing(t, s) })
	t.Run("results", func(t *testing.T) { Media(t, s) })
	t.Run("finishes", func(t *testing.T) { Finishes(t, s) })
	t.Run("errors", func(t *testing.T) { Errors(t, s) })
	t.Run("streams", func(t *testing.T) { Streams(t, s) })
}

// Echo is law 3: parsing our echo gives the same parts, ids, arguments text,
// signatures and reasoning in the same order, and each call has its result.
func Echo(t *testing.T, s Dialect, r codecs.Reply, p codecs.Profile) {
	t.Helper()
	msgs, warnings, err := s.Codec.Continue(r, Answers(r), p)
	if err != nil {
		t.Fatal(err)
	}
	calls := r.Calls()
	h := s.parse(t, msgs, p)
	if s.open(r) {
		return
	}
	s.paired(t, r, calls, h)
	if h.others > 0 {
		t.Errorf("%d parts stand beside the results:\n%s", h.others, jsonx.List(msgs...))
	}
	if callsOnly(p) {
		return
	}
	emptied := warned(warnings, codecs.WarnArgumentsEmptied) || p.UndecodableEcho == codecs.UndecodableEmpty || s.Codec.Wire().ObjectArguments
	var want, got []string
	for _, part := range s.echoed(distinct(r.Parts, calls), emptied) {
		want = append(want, line(part))
	}
	for _, part := range s.echoed(distinct(withoutMadeIDs(h.parts, r), calls), emptied) {
		got = append(got, line(part))
	}
	if d := diff(want, got); d != "" {
		t.Errorf("echo under %s: %s\n%s", brief(p), d, jsonx.List(msgs...))
	}
}

// echoed reduces parts to what the echo carries. Arguments that went out as {}
// are not compared.
func (s Dialect) echoed(parts []codecs.Part, emptied bool) (out []codecs.Part) {
	for _, part := range parts {
		if s.Echoed != nil {
			var ok bool
			if part, ok = s.Echoed(part); !ok {
				continue
			}
		}
		if c := part.Call; c != nil && emptied && (c.Arguments == nil || string(c.Arguments) == "{}") {
			call := *c
			call.ArgumentsText, call.ArgumentsErr, call.Arguments = "", "", nil
			part.Call = &call
		}
		out = append(out, part)
	}
	return out
}

// distinct takes the ids off the calls that share one with a call before them:
// they go out under another.
func distinct(parts []codecs.Part, calls []codecs.ToolCall) []codecs.Part {
	out := append([]codecs.Part(nil), parts...)
	seen, n := map[string]bool{}, 0
	for i, p := range out {
		if p.Kind != codecs.KindCall || p.Call == nil || n >= len(calls) {
			continue
		}
		call := *p.Call
		if id := calls[n].ID; seen[id] {
			call.ID = ""
		} else {
			seen[id] = true
		}
		n++
		out[i].Call = &call
	}
	return out
}

// withoutMadeIDs takes the ids off the calls and parts that came without one.
func withoutMadeIDs(parts []codecs.Part, r codecs.Reply) []codecs.Part {
	calls := r.Calls()
	out := append([]codecs.Part(nil), parts...)
	n := 0
	for i, p := range out {
		if len(out) == len(r.Parts) && r.Parts[i].ID == "" {
			out[i].ID = ""
		}
		if p.Kind != codecs.KindCall || p.Call == nil {
			continue
		}
		if n < len(calls) {
			call := *p.Call
			if calls[n].ID == "" {
				call.ID = ""
			}
			if calls[n].ItemID == "" {
				call.ItemID = ""
			}
			out[i].Call = &call
		}
		n++
	}
	return out
}

// paired tells whether a history holds exactly these calls, in order, each with
// its result.
func (s Dialect) paired(t *testing.T, r codecs.Reply, want []codecs.ToolCall, h history) {
	t.Helper()
	legacy := s.Legacy != "" && strings.Contains(string(r.Body), s.Legacy)
	got := codecs.Reply{Parts: h.parts}.Calls()
	if names(got) != names(want) {
		t.Fatalf("the echo has the calls %s, want %s", names(got), names(want))
	}
	if len(h.results) != len(want) {
		t.Fatalf("%d results for %d calls", len(h.results), len(want))
	}
	came, went := map[string]bool{"": true}, map[string]bool{"": true}
	for i, r := range h.results {
		c := got[i]
		if !came[want[i].ID] && c.ID != want[i].ID && c.ID != "" {
			t.Errorf("call %d has the id %q, want %q", i, c.ID, want[i].ID)
		}
		if c.ID != "" && went[c.ID] {
			t.Errorf("call %d has the id %q of a call before it", i, c.ID)
		}
		came[want[i].ID], went[c.ID] = true, true
		if s.NoIDs && want[i].ID == "" && c.ID != "" || !s.NoIDs && c.ID == "" && !legacy {
			t.Errorf("call %d came with the id %q and has %q", i, want[i].ID, c.ID)
		}
		if r.ID != c.ID && !(s.TextCalls && r.ID == "") || r.Name != "" && r.Name != c.Name {
			t.Errorf("result %d names %q %q, its call is %q %q", i, r.ID, r.Name, c.ID, c.Name)
		}
		if r.Pos == nil || *r.Pos != i {
			t.Errorf("result %d answers the call %v", i, r.Pos)
		}
	}
}

// Subsets is law 5: whichever calls have results, exactly these stay in the
// echo. With no results the turn alone is echoed, with all its calls.
func Subsets(t *testing.T, s Dialect, r codecs.Reply, p codecs.Profile) {
	t.Helper()
	calls := r.Calls()
	if len(calls) > 5 || s.open(r) {
		return
	}
	all := Answers(r)
	slices.Reverse(all)
	for mask := 0; mask < 1<<len(all); mask++ {
		var some []codecs.ToolResult
		var want []codecs.ToolCall
		for i := range all {
			if mask&(1<<i) != 0 {
				some, want = append(some, all[i]), append(want, calls[i])
			}
		}
		msgs, warnings, err := s.Codec.Continue(r, some, p)
		if err != nil {
			t.Fatal(err)
		}
		h := s.parse(t, msgs, p)
		if mask == 0 {
			if got := (codecs.Reply{Parts: h.parts}).Calls(); names(got) != names(calls) || len(h.results) > 0 {
				t.Errorf("the turn alone has the calls %s and %d results, want %s", names(got), len(h.results), names(calls))
			}
			continue
		}
		s.paired(t, r, want, h)
		if len(want) < len(calls) && !warned(warnings, codecs.WarnCallDropped) {
			t.Errorf("subset %b: a call left the echo without a warning", mask)
		}
	}
	if len(calls) > 0 {
		_, _, err := s.Codec.Continue(r, append(all, codecs.ToolCall{Pos: len(calls)}.Result()), p)
		if err == nil {
			t.Error("a result without a call is no error")
		}
	}
}

// RoundTrip is law 9 for replies: RenderReply then Reply gives the same reply.
func RoundTrip(t *testing.T, s Dialect, r codecs.Reply, p codecs.Profile) {
	t.Helper()
	body, warnings, err := s.Codec.RenderReply(r, p, codecs.Likeness{})
	if err != nil {
		t.Fatal(err)
	}
	if err := jsonx.Check(body); err != nil {
		t.Fatalf("rendered %s: %v", body, err)
	}
	if !s.TextCalls { // there, tags are how the wire has thinking
		p.ThinkTag = "none" // they were read already; what is left of them is text
	}
	back, err := s.Codec.Reply(body, p)
	if err != nil {
		t.Fatalf("rendered reply does not decode: %v\n%s", err, body)
	}
	if s.Lossy && warned(warnings, codecs.WarnLossy) {
		return
	}
	var want, got []string
	for _, part := range r.Parts {
		want = append(want, line(s.rendered(part)))
	}
	for _, part := range withoutMadeIDs(back.Parts, r) {
		got = append(got, line(s.rendered(part)))
	}
	if d := diff(want, got); d != "" {
		t.Errorf("rendered under %s: %s\n%s", brief(p), d, body)
	}
	if back.Finish != r.Finish || back.RawFinish != r.RawFinish && r.RawFinish != "" || back.FinishMessage != r.FinishMessage ||
		back.Unfinished != r.Unfinished && !warned(warnings, codecs.WarnLossy) {
		t.Errorf("finish %q %q %q %d, want %q %q %q %d\n%s", back.Finish, back.RawFinish, back.FinishMessage, back.Unfinished,
			r.Finish, r.RawFinish, r.FinishMessage, r.Unfinished, body)
	}
	usage := codecs.Usage{} // a provider always counts
	if r.Usage != nil {
		usage = *r.Usage
	}
	if back.Usage == nil || *back.Usage != usage {
		t.Errorf("usage %+v, want %+v", back.Usage, usage)
	}
	if d := diff(sources(r), sources(back)); d != "" {
		t.Errorf("citations: %s", d)
	}
}

func sources(r codecs.Reply) (out []string) {
	for _, c := range r.Citations {
		var f jsonx.Fields
		f.Str("url", c.URL).Str("title", c.Title)
		for key, n := range map[string]*int64{"start": c.StartIndex, "end": c.EndIndex} {
			if n != nil {
				f.Int(key, *n)
			}
		}
		canonical, _ := jsonx.Canonical(f.Raw())
		out = append(out, string(canonical))
	}
	return out
}

func (s Dialect) rendered(p codecs.Part) codecs.Part {
	if c := p.Call; c != nil && c.ArgumentsErr == "" {
		call := *c
		call.ArgumentsText = "" // compared as Arguments
		p.Call = &call
	}
	if s.Rendered != nil {
		p = s.Rendered(p)
	}
	return p
}

// Determinism is law 6: the same input gives the same bytes, and what goes in
// is not changed.
func Determinism(t *testing.T, s Dialect, r codecs.Reply, p codecs.Profile) {
	t.Helper()
	before := string(neutral.View(r))
	a, _, errA := s.Codec.Continue(r, Answers(r), p)
	b, _, errB := s.Codec.Continue(r, Answers(r), p)
	x, _, errX := s.Codec.RenderReply(r, p, codecs.Likeness{})
	y, _, errY := s.Codec.RenderReply(r, p, codecs.Likeness{})
	if errA != nil || errB != nil || errX != nil || errY != nil {
		t.Fatal(errA, errB, errX, errY)
	}
	if string(jsonx.List(a...)) != string(jsonx.List(b...)) {
		t.Errorf("two echoes differ:\n%s\n%s", a, b)
	}
	if string(x) != string(y) {
		t.Errorf("two renderings differ:\n%s\n%s", x, y)
	}
	if string(neutral.View(r)) != before {
		t.Error("the reply was changed")
	}
}

// Requests is laws 6 and 9: a request that is encoded, parsed and encoded again
// is the same, and one that is parsed, encoded and parsed again too.
func Requests(t *testing.T, s Dialect) {
	n := 0
	s.cases(t, func(c fixtures.Case, p codecs.Profile) {
		in := jsonx.Of(c.Input)
		switch c.Op {
		case "request":
			req := in.Get("request")
			if !req.Exists() {
				req = in
			}
			r, _, err := neutral.Request(req.Raw())
			if err != nil {
				return
			}
			n++
			t.Run(c.ID, func(t *testing.T) { s.requestTwice(t, r, p) })
			if c.Whole() != nil {
				t.Run(c.ID+"/wire", func(t *testing.T) { s.requestBack(t, c.Whole(), p, slices.Contains(s.Requests, c.ID)) })
			}
		case "parse_request":
			if body, ok := in.Get("body_text").Text(); ok {
				n++
				t.Run(c.ID, func(t *testing.T) { s.requestBack(t, []byte(body), p, slices.Contains(s.Requests, c.ID)) })
			}
		}
	})
	if n < 10 {
		t.Fatalf("only %d requests", n)
	}
}

// requestTwice encodes, parses and encodes again.
func (s Dialect) requestTwice(t *testing.T, req codecs.Request, p codecs.Profile) {
	first, _, err := s.Codec.Request(req, p)
	if err != nil {
		return
	}
	if again, _, _ := s.Codec.Request(req, p); string(again) != string(first) {
		t.Error("the same request gives other bytes")
	}
	back, _, err := s.Codec.ParseRequest(codecs.Post(s.Path, first), p)
	if err != nil {
		t.Fatalf("our own request does not parse: %v\n%s", err, first)
	}
	if slices.ContainsFunc(req.Messages, func(m codecs.Message) bool { return m.Native != nil }) {
		return // it may hold anything
	}
	if slices.ContainsFunc(s.Renamed, func(key string) bool { return jsonx.Of(req.Extra).Get(key).Exists() }) {
		return
	}
	second, _, err := s.Codec.Request(back, p)
	if err != nil || !jsonx.Equal(first, second) {
		t.Errorf("%v\n%s\nreads back as\n%s", err, first, second)
	}
}

// requestBack parses, encodes and parses again. What Request warns of is lost
// on purpose.
func (s Dialect) requestBack(t *testing.T, body []byte, p codecs.Profile, reordered bool) {
	req, said, err := s.Codec.ParseRequest(codecs.Post(s.Path, body), p)
	if err != nil {
		typed(t, s.Codec.Dialect(), err)
		return
	}
	if p.ReasoningEcho == "" {
		p.ReasoningEcho = codecs.EchoAccepted
	}
	for _, mode := range []*string{&p.ResultImages, &p.ResultPDF} {
		if *mode == "" {
			*mode = codecs.MediaNative
		}
	}
	out, warnings, err := s.Codec.Request(req, p)
	if unpaired(err) && warned(said, codecs.WarnResultOrphan) {
		return // a result that answers no call, of which ParseRequest warns
	}
	if err != nil {
		t.Fatal(err)
	}
	if again, _, _ := s.Codec.Request(req, p); string(again) != string(out) {
		t.Error("two encodings differ")
	}
	back, _, err := s.Codec.ParseRequest(codecs.Post(s.Path, out), p)
	if err != nil {
		t.Fatalf("our own request does not parse: %v\n%s", err, out)
	}
	if len(warnings) > 0 && s.Lossy || warned(warnings, codecs.WarnIDMade) || warned(warnings, codecs.WarnIDRepeated) || reordered {
		return
	}
	if s.TextCalls { // texts and results may come in another arrangement, and keep ours
		if again, _, err := s.Codec.Request(back, p); err != nil || !jsonx.Equal(out, again) {
			t.Errorf("%v\n%s\nreads back as\n%s", err, out, again)
		}
		return
	}
	if req.MaxTokens == 0 {
		back.MaxTokens = 0 // the dialect's or the profile's own limit
	}
	if d, err := jsonx.Diff(neutral.ViewRequest(req), neutral.ViewRequest(back)); err != nil || len(d) > 0 {
		t.Errorf("%v %v\n%s", err, d, out)
	}
}

func unpaired(err error) bool {
	return errors.Is(err, codecs.ErrNoCall) || errors.Is(err, codecs.ErrTwoResults)
}
