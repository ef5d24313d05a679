package codecs

// Wire is what the loop, the catalogue, the suite and the judge have to know
// about a dialect, as data. Nobody outside the folder of a dialect asks for its
// name. The fields say what the wire has; what an engine or a model makes of it
// stands in the Profile.
type Wire struct {
	// Home is the name in the catalogue of the engine that the dialect comes
	// from, whose ways are the defaults of the dialect.
	Home string

	// Messages is the member of a request that lists the conversation; what
	// Continue returns goes behind its last entry.
	Messages string

	// SystemFirst says that system texts go out in front of the conversation,
	// wherever they stood in it.
	SystemFirst bool

	// StreamFlag is the JSON pointer of the member of a request that asks for
	// a stream, "" where the path asks. StreamDefault is what it says when it
	// is absent.
	StreamFlag    string
	StreamDefault bool

	// Shapes are the forms that a stream of the dialect has, the first where
	// the request says nothing; see StreamShape.
	Shapes []Shape

	// StreamWays are the ways that a stream of the dialect can have, of
	// Likeness.Stream.
	StreamWays []string

	// Finishes maps the words for the end of a reply to Finish constants; what
	// else decides, docs/finish.md says.
	Finishes map[string]string

	// ToolNames is what a tool may be called. The zero rule takes any name.
	ToolNames NameRule

	// Choices are the modes of a Choice that a request can carry; nil when it
	// has no field for one and no other means.
	Choices []string

	// TextCalls says that calls and results are marked text inside messages of
	// another dialect, whose own fields for tools stand empty.
	TextCalls bool

	// CallsKey is the member of an assistant message that lists its calls, ""
	// where calls stand among the parts, blocks or items.
	CallsKey string

	// ObjectArguments says that arguments are a JSON object on the wire, which
	// cannot hold the text of undecodable ones.
	ObjectArguments bool

	// IDs says whether calls and results carry ids, and so whether the order
	// of the results pairs them with their calls; see the IDs constants.
	IDs string

	// ErrorFlag says that a result has a member that tells of a failed call;
	// elsewhere the text alone tells.
	ErrorFlag bool

	// StructuredResults says that structured content of a result goes out as
	// such and may stand for its text.
	StructuredResults bool

	// ResultMedia is how an image or a PDF of a tool result goes out when the
	// profile says nothing: MediaNative or MediaPlaceholder.
	ResultMedia string

	// EchoesWhole says that the echo of a turn carries every block, part or
	// item of it, known or not. Elsewhere it carries the keys of a message
	// that the profile lists.
	EchoesWhole bool

	// ReasoningKeys are the members of an assistant message that hold
	// reasoning; nil where it stands in parts, blocks, items or in the text.
	ReasoningKeys []string

	// ReasoningEcho says that the engine of Home takes reasoning of earlier
	// turns back.
	ReasoningEcho bool

	// ReasoningSigned says that reasoning without its signature is refused.
	ReasoningSigned bool

	// ThinkingOff are the values in a request that switch thinking off, of
	// whatever host: the duty to echo reasoning rests then.
	ThinkingOff []Setting

	// Parallel says that a request can forbid parallel calls.
	Parallel bool

	// Stored are JSON pointers of members of a request that name turns which
	// the engine keeps itself: results may answer calls of those.
	Stored []string

	// ItemsDue says that a request is refused when its echo lacks an item that
	// the provider ran; ItemAfterReasoning, when it lacks one that reasoning
	// stood before. Where neither is set, requests without them are accepted.
	ItemsDue, ItemAfterReasoning bool

	// OpenCalls says that a call without a result is accepted.
	OpenCalls bool
}

// Setting is a value at a JSON pointer of a request.
type Setting struct {
	Pointer string
	Value   Raw
}

// Values of Wire.IDs.
const (
	IDsAlways   = "always"   // every call and every result
	IDsOptional = "optional" // some hosts leave them out; then names and order pair
	IDsNever    = "never"    // order pairs
)

// Shape is one form of a stream, and the query parameter that asks for it.
type Shape struct {
	Name         string // sse, ndjson, json_array
	Param, Value string // "" for a form that nothing needs to ask for
}

// StreamShape is the name of the form that the stream for a request has.
func (w Wire) StreamShape(in In) string {
	shape := ""
	for i, s := range w.Shapes {
		if i == 0 || s.Param != "" && in.Query.Get(s.Param) == s.Value {
			shape = s.Name
		}
	}
	return shape
}
