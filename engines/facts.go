package engines

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/toolconform/conform/codecs"
)

// Facts is what is known about an engine with its default model, apart from what
// makes a request work. A fact that nobody has seen or written down is unknown,
// and nothing that rests on it is green. Resolve gives those of another model.
type Facts struct {
	Dialect        Fact `json:"dialect"`         // that it speaks the dialect which the entry names: everything rests on it
	ResultImages   Fact `json:"result_images"`   // image in a tool result: native, follow_up, placeholder
	ResultPDF      Fact `json:"result_pdf"`      // PDF in a tool result: as above
	ReasoningEcho  Fact `json:"reasoning_echo"`  // required, required_even_empty, accepted, ignored, refused, n/a, unknown
	ReasoningField Fact `json:"reasoning_field"` // key, block or item that carries reasoning; several are separated by a blank; "none"
	CutCall        Fact `json:"cut_call"`        // how a call looks that the token limit cut, see the Cut words
	ToolChoice     Fact `json:"tool_choice"`     // modes that are taken, of auto any none tool; "-" is no field
	IDs            Fact `json:"ids"`             // given, optional, none, mistral9, repeated
	ServerTools    Fact `json:"server_tools"`    // tools that the provider runs: yes, no, unknown
}

// Fact is one statement about an engine. The zero value is unknown.
type Fact struct {
	Value  string `json:"value"`
	Origin Origin `json:"origin,omitzero"` // none where the value is unknown
}

// Unknown is the value of a fact that nobody has seen or written down.
const Unknown = "unknown"

// Known tells whether somebody has seen the fact or written it down.
func (f Fact) Known() bool { return f.Value != "" && f.Value != Unknown }

// Words of Facts.CutCall.
const (
	CutPartialText  = "partial_text"  // the call with the text of its arguments as far as it came
	CutEmptyText    = "empty_text"    // the call with "" as arguments
	CutEmptyObject  = "empty_object"  // the call with {} as arguments
	CutSwallowed    = "swallowed"     // the server lost the call while it read the text of the model: the turn looks empty, or holds the calls before it only
	CutError        = "error"         // an error status
	CutRepaired     = "repaired"      // JSON made whole by the server: looks complete
	CutNotDelivered = "not_delivered" // the provider holds a call back until it is complete; the finish reason tells
)

// Named is a fact with its key.
type Named struct {
	Name string
	Fact Fact
}

// List returns the facts in the order in which they are shown: images, PDF, echo,
// reasoning in, cut call, choice, ids and server tools of a table are those after
// the first. Counting the unknown ones is counting those that are not Known.
func (f Facts) List() []Named {
	var out []Named
	for name, fact := range f.fields() {
		out = append(out, Named{name, *fact})
	}
	return out
}

// fields goes over the facts, in the order of List.
func (f *Facts) fields() iter.Seq2[string, *Fact] {
	return func(yield func(string, *Fact) bool) {
		_ = yield("dialect", &f.Dialect) &&
			yield("result_images", &f.ResultImages) &&
			yield("result_pdf", &f.ResultPDF) &&
			yield("reasoning_echo", &f.ReasoningEcho) &&
			yield("reasoning_field", &f.ReasoningField) &&
			yield("cut_call", &f.CutCall) &&
			yield("tool_choice", &f.ToolChoice) &&
			yield("ids", &f.IDs) &&
			yield("server_tools", &f.ServerTools)
	}
}

// Of returns the fact of a name; one that there is not is unknown.
func (f Facts) Of(name string) Fact {
	for field, fact := range f.fields() {
		if field == name {
			return *fact
		}
	}
	return Fact{Value: Unknown}
}

// said is what dialect and profile say of the facts.
func (r Resolved) said() map[string]string {
	images, pdf := r.ResultMedia()
	return map[string]string{
		"dialect": string(r.Dialect), "result_images": images, "result_pdf": pdf, "ids": r.Profile.IDRule,
		"reasoning_echo": r.Profile.ReasoningEcho, "reasoning_field": strings.Join(r.Profile.ReasoningFields, " "),
		"tool_choice": cmp.Or(strings.Join(r.Choices(), " "), "-"), "server_tools": r.Profile.ServerTools,
	}
}

// otherFacts makes the facts, which are those with the default model, those of a
// model that a rule says something else of: what the rule says, and nothing where
// it only takes back what is so with the default model. In another dialect nothing
// else is known.
func (r *Resolved) otherFacts(def Resolved, origins map[string]Origin) {
	said, there := r.said(), def.said()
	for name, f := range r.Facts.fields() {
		switch origin := origins[name]; {
		case said[name] == there[name] && r.Dialect == def.Dialect:
		case said[name] == "" || origin.Kind == "":
			*f = Fact{Value: Unknown}
		default:
			*f = Fact{Value: said[name], Origin: origin}
		}
	}
}

// ResultMedia returns how images and PDFs in a tool result travel: what the
// profile says, or else the dialect's default.
func (r Resolved) ResultMedia() (images, pdf string) {
	fallback := wireOf(r.Dialect).ResultMedia
	return cmp.Or(r.Profile.ResultImages, fallback), cmp.Or(r.Profile.ResultPDF, fallback)
}

// Choices returns the tool choice modes that the engine takes; none at all when
// the request has no such field.
func (r Resolved) Choices() []string {
	if r.Profile.ToolChoice == nil {
		return wireOf(r.Dialect).Choices
	}
	var out []string
	for _, m := range []string{codecs.ChoiceAuto, codecs.ChoiceAny, codecs.ChoiceNone, codecs.ChoiceTool} {
		if slices.Contains(r.Profile.ToolChoice, m) {
			out = append(out, m)
		}
	}
	return out
}
