package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/mutants"
)

// Sides of a Fault.
const (
	Client = "client" // a fault of a codec or loop: Plant
	Engine = "engine" // a fault of a reply: Spoil
)

// Fault is one thing done wrong.
type Fault struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Side     string   `json:"side"`
	Dialects []string `json:"dialects"` // that have it; none: all
	Rules    []string `json:"rules"`    // whose checks fail wherever the fault shows
	May      []string `json:"may"`      // that may fail with them
	// Matters says where it is a fault at all: fields of the profile with the
	// values that they may have. None: everywhere.
	Matters map[string][]string `json:"matters"`
	// Everywhere: in every cell that the fault reaches and in which it matters,
	// exactly its rules fail.
	Everywhere bool     `json:"everywhere"`
	How        []Edit   `json:"how"`
	Fails      []string `json:"fails"`  // "engine scenario": cells in which the rules fail
	Passes     []string `json:"passes"` // cells that stay as they are
	// Of an engine: a request in the dialect, and the reply that the fault spoils.
	Request codecs.Raw `json:"request"`
	Body    codecs.Raw `json:"body"`
}

// Faults returns the planted faults. The error names the entry at fault.
func Faults() ([]Fault, error) {
	var doc struct {
		Places map[string][]Place `json:"places"`
		Faults []Fault            `json:"faults"`
	}
	dec := json.NewDecoder(bytes.NewReader(mutants.JSON()))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("mutants.json: %w", err)
	}
	seen := map[string]bool{}
	for _, f := range doc.Faults {
		if f.ID == "" || seen[f.ID] || f.Side != Client && f.Side != Engine || len(f.Rules) == 0 || len(f.How) == 0 {
			return nil, fmt.Errorf("mutants.json: %q: want an id of its own, side client or engine, rules and how", f.ID)
		}
		seen[f.ID] = true
		for i := range f.How {
			e := &f.How[i]
			if e.Places != "" {
				if e.in = doc.Places[e.Places]; e.in == nil {
					return nil, fmt.Errorf("mutants.json: %s: no places are called %q", f.ID, e.Places)
				}
			} else {
				e.in = []Place{{Each: e.Each, If: e.If}}
			}
			if err := e.check(); err != nil {
				return nil, fmt.Errorf("mutants.json: %s: %w", f.ID, err)
			}
		}
	}
	return doc.Faults, nil
}

// In tells whether a dialect has the fault.
func (f Fault) In(d codecs.Dialect) bool {
	return len(f.Dialects) == 0 || slices.Contains(f.Dialects, string(d))
}

// MattersTo tells whether it is a fault at an engine with this profile.
func (f Fault) MattersTo(p codecs.Profile) bool {
	raw, err := jsonx.Marshal(p)
	if err != nil {
		return false
	}
	for field, values := range f.Matters {
		if !slices.Contains(values, jsonx.Of(raw).Get(field).Str()) {
			return false
		}
	}
	return true
}

// Plant returns the codec with the fault of a client in it.
func (f Fault) Plant(c codecs.Full) *Planted { return &Planted{Full: c, fault: f} }

// Planted is a codec with a fault.
type Planted struct {
	codecs.Full
	Touched bool // the fault changed something
	fault   Fault
}

// raw makes the edits of one place on a JSON document.
func (p *Planted) raw(on string, doc codecs.Raw) codecs.Raw {
	if !p.fault.In(p.Dialect()) {
		return doc
	}
	for _, e := range p.fault.How {
		if e.On == on {
			var changed bool
			doc, changed = e.apply(doc)
			p.Touched = p.Touched || changed
		}
	}
	return doc
}

// Request implements codecs.Codec.
func (p *Planted) Request(r codecs.Request, profile codecs.Profile) (codecs.Raw, []codecs.Warning, error) {
	body, w, err := p.Full.Request(r, profile)
	if err == nil {
		body = p.raw(onRequest, body)
	}
	return body, w, err
}

// Reply implements codecs.Codec.
func (p *Planted) Reply(body []byte, profile codecs.Profile) (codecs.Reply, error) {
	if slices.ContainsFunc(p.fault.How, func(e Edit) bool { return e.On == onProfile }) {
		raw, err := jsonx.Marshal(profile)
		if err != nil {
			return codecs.Reply{}, err
		}
		profile = codecs.Profile{}
		if err := json.Unmarshal(p.raw(onProfile, raw), &profile); err != nil {
			return codecs.Reply{}, err
		}
	}
	r, err := p.Full.Reply(body, profile)
	for _, e := range p.fault.How {
		if e.On == onReply && p.fault.In(p.Dialect()) && replyEdits[e.Op](&r, &err, e.Value) {
			p.Touched = true
		}
	}
	return r, err
}

// Continue implements codecs.Codec. The messages are edited as one list.
func (p *Planted) Continue(r codecs.Reply, results []codecs.ToolResult, profile codecs.Profile) ([]codecs.Raw, []codecs.Warning, error) {
	results = slices.Clone(results)
	for i := range results {
		results[i].Content = items(p.raw(onResult, jsonx.List(results[i].Content...)))
	}
	msgs, w, err := p.Full.Continue(r, results, profile)
	if err == nil {
		msgs = items(p.raw(onMessages, jsonx.List(msgs...)))
	}
	return msgs, w, err
}

func items(list codecs.Raw) []codecs.Raw {
	var out []codecs.Raw
	for _, v := range jsonx.Of(list).Items() {
		out = append(out, v.Raw())
	}
	return out
}

// Spoil returns the body of a reply with the fault of an engine in it.
func (f Fault) Spoil(body codecs.Raw) (out codecs.Raw, changed bool) {
	for _, e := range f.How {
		var c bool
		body, c = e.apply(body)
		changed = changed || c
	}
	return body, changed
}
