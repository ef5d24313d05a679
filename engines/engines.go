// Package engines holds the catalogue of engines, named endpoints that speak one
// of the dialects, and the HTTP client that reaches them.
//
// An engine is one JSON file in catalogue/, checked against schema.json: where
// it is, how it takes its key, how it differs from its dialect for which model,
// and what is known about it, each fact with its origin. The package has no
// opinion of its own: a new engine is a new file.
//
// Left out on purpose: LM Studio's native face (/api/v1/chat), which takes no
// tools (its three other faces are lmstudio, lmstudio-anthropic and
// lmstudio-responses); Perplexity's chat completions, which refuse tools;
// Bedrock Converse, SigV4 signing and the binary event stream of Bedrock.
package engines

import (
	"encoding/json"
	"slices"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/sources"
)

// Engine is one entry of the catalogue.
type Engine struct {
	Name    string         `json:"name"`
	Title   string         `json:"title"`
	Family  string         `json:"family"` // hosted, local, gateway or shim (a face in the dialect of another provider)
	Dialect codecs.Dialect `json:"dialect"`

	// URL is the template of the address. {model} and every name of Vars are
	// replaced; {base} is scheme, host and path up to the dialect's endpoint and
	// is what Client.BaseURL overrides.
	URL       string `json:"url"`
	StreamURL string `json:"stream_url,omitempty"` // "" is URL
	NoStream  string `json:"no_stream,omitempty"`  // why a stream cannot be asked for; "" when it can

	Query      map[string]string `json:"query,omitempty"`   // values may hold placeholders
	Headers    map[string]string `json:"headers,omitempty"` // values may hold placeholders
	BodySet    []BodyEdit        `json:"body_set,omitempty"`
	BodyRemove []string          `json:"body_remove,omitempty"` // JSON pointers; one that is not there is no error

	// Auth says where the key goes: none, bearer, header:NAME, query:NAME,
	// body:POINTER, or command: the trimmed output of Command as bearer token.
	Auth        string   `json:"auth"`
	Command     []string `json:"command,omitempty"` // program and arguments of the auth kind command
	Keys        []string `json:"keys,omitempty"`    // environment variables that may hold the key, in order
	KeyOptional bool     `json:"key_optional,omitempty"`

	// Vars are the variables of the templates with their defaults. One whose
	// default is empty has to be given.
	Vars map[string]string `json:"vars"`

	DefaultModel string         `json:"default_model"`
	Profile      codecs.Profile `json:"profile"`
	Likeness     *Likeness      `json:"likeness,omitempty"` // nil: nobody looked; its replies are shown in the plain form of the dialect
	Models       []ModelRule    `json:"models,omitempty"`
	Facts        Facts          `json:"facts"`
	Notes        []Note         `json:"notes,omitempty"`
}

// BodyEdit sets one value of the request body before it is sent.
type BodyEdit struct {
	Pointer  string     `json:"pointer"`
	Value    codecs.Raw `json:"value,omitempty"`
	From     string     `json:"from,omitempty"`      // take the value from this pointer of the body instead of Value; nothing there, nothing set
	Text     bool       `json:"text,omitempty"`      // the value goes in as a string that holds its JSON
	IfAbsent bool       `json:"if_absent,omitempty"` // leave a value that the request already has
}

// ModelRule says how models differ from the engine. Of the rules that match a
// model, each overrides the ones before it.
type ModelRule struct {
	// Match is a glob over the model id, case ignored: * is any text, ? is one
	// character, | separates alternatives.
	Match      string         `json:"match"`
	Dialect    codecs.Dialect `json:"dialect,omitempty"`
	Profile    codecs.Raw     `json:"profile,omitempty"` // fields of codecs.Profile; a field given overrides, also with "", [] and false
	Likeness   *Likeness      `json:"likeness,omitempty"`
	BodySet    []BodyEdit     `json:"body_set,omitempty"`
	BodyRemove []string       `json:"body_remove,omitempty"`
	Note       *Note          `json:"note,omitempty"`
}

// Note is a remark with its source.
type Note struct {
	Text   string `json:"text"`
	Origin Origin `json:"origin"`
}

// Origin says where a statement comes from.
type Origin = sources.Origin

// Resolved is an engine for one model.
type Resolved struct {
	Engine  Engine // BodySet and BodyRemove hold those of the model's rules too
	Model   string
	Dialect codecs.Dialect
	Profile codecs.Profile
	Facts   Facts // of the engine with this model

	Likeness       codecs.Likeness
	LikenessOrigin Origin // zero: nobody looked
}

// Knows tells whether the entry says something of a model: it is the default one,
// which "" names too, or one that a rule matches.
func (e Engine) Knows(model string) bool {
	return model == "" || model == e.DefaultModel || slices.ContainsFunc(e.Models, func(m ModelRule) bool { return matches(m.Match, model) })
}

// Resolve applies the rules for a model; "" is the default model. It never
// fails: the entries of a loaded catalogue are checked.
func (e Engine) Resolve(model string) Resolved {
	r := e.resolve(model)
	// A wire whose echo carries every item has server tools of its own; on another
	// one only those of a host are taken.
	switch own, taken := wireOf(r.Dialect).EchoesWhole, r.Facts.ServerTools; {
	case r.Profile.ServerTools != "":
	case own && !taken.Known():
		r.Profile.ServerTools = codecs.ServerToolsUnknown
	case own && taken.Value == codecs.ServerToolsNo, !own && taken.Value == codecs.ServerToolsYes:
		r.Profile.ServerTools = taken.Value
	}
	return r
}

// At is the entry as it sends the requests for a model, "" for the default one: with
// the edits of the body that the rules for it add. Resolve tells the rest of it.
func (e Engine) At(model string) Engine {
	if model == "" {
		model = e.DefaultModel
	}
	e.BodySet, e.BodyRemove = slices.Clone(e.BodySet), slices.Clone(e.BodyRemove)
	for _, m := range e.Models {
		if matches(m.Match, model) {
			e.BodySet, e.BodyRemove = append(e.BodySet, m.BodySet...), append(e.BodyRemove, m.BodyRemove...)
		}
	}
	return e
}

// resolve is Resolve without what the facts say.
func (e Engine) resolve(model string) Resolved {
	if model == "" {
		model = e.DefaultModel
	}
	r := Resolved{Engine: e.At(model), Model: model, Dialect: e.Dialect, Profile: cloneProfile(e.Profile), Facts: e.Facts}
	r.likeness(e.Likeness)
	origins := map[string]Origin{}
	for _, m := range e.Models {
		if !matches(m.Match, model) {
			continue
		}
		r.likeness(m.Likeness)
		before := r.said()
		if m.Dialect != "" {
			r.Dialect = m.Dialect
		}
		if len(m.Profile) > 0 {
			// Lists are cloned, since Unmarshal writes into the space of the old one.
			p := cloneProfile(r.Profile)
			if json.Unmarshal(m.Profile, &p) == nil {
				r.Profile = p
			}
		}
		for name, value := range r.said() {
			if value != before[name] {
				origins[name] = Origin{}
				if m.Note != nil {
					origins[name] = m.Note.Origin
				}
			}
		}
	}
	if model != e.DefaultModel {
		r.otherFacts(e.resolve(""), origins)
	}
	return r
}

// Key returns the first of the engine's key variables that is set, and the name
// of that variable; both are empty when none is. getenv is os.Getenv.
func (e Engine) Key(getenv func(string) string) (key, variable string) {
	for _, name := range e.Keys {
		if v := getenv(name); v != "" {
			return v, name
		}
	}
	return "", ""
}
