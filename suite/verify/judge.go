package verify

import (
	"cmp"
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/judge"
	"github.com/toolconform/conform/suite/results"
)

// Judged is what the checks say about recorded conversations of which nothing is
// expected.
type Judged struct {
	Files     int        `json:"files"`
	Exchanges int        `json:"exchanges"`
	Other     int        `json:"skipped_other"` // exchanges at endpoints that are no chat endpoint
	Providers []Provider `json:"providers"`
	Findings  []Finding  `json:"findings"`
	Skipped   []Place    `json:"skipped_files"` // files that are no recording
	Failed    []Place    `json:"failed"`        // files that cannot be read
}

// Provider counts the requests of one provider in one dialect.
type Provider struct {
	Dialect  string `json:"dialect"`
	Provider string `json:"provider"`
	Engine   string `json:"engine"` // of the catalogue, whose profile was used; "" where the dialect's own was
	Accepted Count  `json:"accepted"`
	Refused  Count  `json:"refused"` // an error status, or an error inside a 2xx that is no stream
}

// Count is a number of requests, and in how many of them each rule was broken.
type Count struct {
	Requests int            `json:"requests"`
	Must     map[string]int `json:"must"`
	Below    map[string]int `json:"below_must"` // findings of a lower level
}

// Finding is one broken rule of one exchange.
type Finding struct {
	Place
	Accepted bool `json:"accepted"` // the provider took the request
	results.Check
}

// Judge judges recordings with the checks of a run, each conversation by what
// stands in it. An error is about the paths; what cannot be read is in the
// outcome.
func Judge(ctx context.Context, paths []string, catalog *engines.Catalog) (Judged, error) {
	j := judging{Judged: Judged{Findings: []Finding{}, Skipped: []Place{}, Failed: []Place{}}, catalog: catalog}
	err := walker{&j.Files, &j.Skipped, &j.Failed, j.recording}.walk(ctx, paths)
	place := func(p Provider) int { return slices.Index(codecs.Dialects(), codecs.Dialect(p.Dialect)) }
	slices.SortFunc(j.Providers, func(a, b Provider) int {
		return cmp.Or(place(a)-place(b), strings.Compare(a.Provider, b.Provider))
	})
	return j.Judged, err
}

type judging struct {
	Judged
	catalog *engines.Catalog
}

func (j *judging) recording(name string, rec cassettes.Recording) {
	var s judge.Session
	for i, x := range rec.Exchanges {
		j.Exchanges++
		c, in, err := conversed(codecs.Dialect(rec.Dialect), x)
		switch {
		case c == nil:
			j.Other++
			continue
		case err != nil:
			j.Failed = append(j.Failed, Place{File: name, Exchange: i, Error: err.Error()})
			continue
		}
		if s.Codec == nil || s.Codec.Dialect() != c.Dialect() {
			s = judge.Session{Codec: c}
		}
		var engine engines.Engine
		in.Body, s.Profile, engine = asWritten(j.catalog, rec, c, in)
		failed := s.Request(in)
		failed = append(failed, s.Reply(codecs.Answer{Status: x.Response.Status, Header: x.Response.Header, Body: x.Response.Body})...)
		j.note(j.provider(c.Dialect(), rec.Provider, engine.Name), s.Exchange().Accepted(), failed, Place{File: name, Exchange: i})
	}
}

// conversed finds the codec of an exchange and reads its request; nil when it is no
// chat endpoint.
func conversed(d codecs.Dialect, x cassettes.Exchange) (codecs.Full, codecs.In, error) {
	c, ok := codecOf(d, x)
	if !ok {
		return nil, codecs.In{}, nil
	}
	in, err := received(x)
	return c, in, err
}

func received(x cassettes.Exchange) (codecs.In, error) {
	u, err := url.Parse(x.Request.URL)
	if err != nil {
		return codecs.In{}, err
	}
	return codecs.In{Method: x.Request.Method, Path: u.EscapedPath(), Query: u.Query(), Header: x.Request.Header, Body: x.Request.Body}, nil
}

func modelOf(c codecs.Full, in codecs.In) string {
	if model, _, _ := c.Match(in); model != "" {
		return model
	}
	return jsonx.Of(in.Body).Get("model").Str()
}

// asWritten returns the body of a request as a codec wrote it, before the entry of
// the engine changed it on its way, and the profile and the entry of the recorded
// provider, where the catalogue has one: the name may have its dialect behind it
// there.
func asWritten(catalog *engines.Catalog, rec cassettes.Recording, c codecs.Full, in codecs.In) ([]byte, codecs.Profile, engines.Engine) {
	name := cmp.Or(rec.Provider, rec.Engine)
	name = cmp.Or(map[string]string{"llamacpp": "llama-server", "litellm-proxy": "litellm"}[name], name)
	for _, n := range []string{name, name + "-" + string(c.Dialect())} {
		if e, err := catalog.Lookup(n); name != "" && err == nil && e.Dialect == c.Dialect() {
			r := e.Resolve(modelOf(c, in))
			if body, err := r.Engine.Restore(in.Body, r.Model); err == nil {
				in.Body = body
			}
			return in.Body, r.Profile, e
		}
	}
	return in.Body, codecs.Profile{}, engines.Engine{}
}

func (j *judging) provider(d codecs.Dialect, name, engine string) *Provider {
	for i := range j.Providers {
		if p := &j.Providers[i]; p.Dialect == string(d) && p.Provider == name {
			return p
		}
	}
	empty := func() Count { return Count{Must: map[string]int{}, Below: map[string]int{}} }
	j.Providers = append(j.Providers, Provider{Dialect: string(d), Provider: name, Engine: engine, Accepted: empty(), Refused: empty()})
	return &j.Providers[len(j.Providers)-1]
}

func (j *judging) note(p *Provider, accepted bool, failed []results.Check, at Place) {
	count := &p.Refused
	if accepted {
		count = &p.Accepted
	}
	count.Requests++
	broken := map[[2]string]bool{}
	for _, k := range failed {
		j.Findings = append(j.Findings, Finding{at, accepted, k})
		of := count.Below
		if k.Level == results.Must {
			of = count.Must
		}
		if key := [2]string{k.ID, string(k.Level)}; !broken[key] {
			broken[key] = true
			of[k.ID]++
		}
	}
}

// Must counts the findings of level must in accepted requests.
func (j Judged) Must() int {
	n := 0
	for _, p := range j.Providers {
		for _, k := range p.Accepted.Must {
			n += k
		}
	}
	return n
}
