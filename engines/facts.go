package engines

import (
	"cmp"
	"slices"

	"github.com/toolconform/conform/codecs"
)

// Facts is what is known about an engine with its default model, apart from what
// makes a request work. A fact that nobody has seen or written down is "unknown".
type Facts struct {
	ResultImages   Fact `json:"result_images"`   // image in a tool result: native, follow_up, placeholder
	ResultPDF      Fact `json:"result_pdf"`      // PDF in a tool result: as above
	ReasoningEcho  Fact `json:"reasoning_echo"`  // required, required_even_empty, accepted, ignored, refused, n/a, unknown
	ReasoningField Fact `json:"reasoning_field"` // key, block or item that carries reasoning; several are separated by a blank; "none"
	CutCall        Fact `json:"cut_call"`        // how a call looks that the token limit cut, see the Cut words
	ToolChoice     Fact `json:"tool_choice"`     // modes that are taken, of auto any none tool; "-" is no field
	IDs            Fact `json:"ids"`             // given, optional, none, mistral9, repeated
	ServerTools    Fact `json:"server_tools"`    // tools that the provider runs: yes, no, unknown
}

// Fact is one statement about an engine.
type Fact struct {
	Value  string `json:"value"`
	Origin Origin `json:"origin,omitzero"` // none where the value is unknown
}

// Words of Facts.CutCall.
const (
	CutPartialText  = "partial_text"  // the call with the text of its arguments as far as it came
	CutEmptyText    = "empty_text"    // the call with "" as arguments
	CutEmptyObject  = "empty_object"  // the call with {} as arguments
	CutSwallowed    = "swallowed"     // the server lost the call while it read the text of the model: the turn looks empty, or holds the calls before it only
	CutError        = "error"         // an error status
	CutRepaired     = "repaired"      // JSON made whole by the server: looks complete
	CutNotDelivered = "not_delivered" // the provider holds a call back until it is complete; the finish reason tells
	CutUnknown      = "unknown"
)

// Named is a fact with its key.
type Named struct {
	Name string
	Fact Fact
}

// List returns the facts in the order in which they are shown.
func (f Facts) List() []Named {
	return []Named{
		{"result_images", f.ResultImages},
		{"result_pdf", f.ResultPDF},
		{"reasoning_echo", f.ReasoningEcho},
		{"reasoning_field", f.ReasoningField},
		{"cut_call", f.CutCall},
		{"tool_choice", f.ToolChoice},
		{"ids", f.IDs},
		{"server_tools", f.ServerTools},
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
