package codecs

// Likeness says what the replies of one engine, for one model, look like beside
// what they say. It is data. Its zero value is the plain form of the dialect, as
// its own provider publishes it.
type Likeness struct {
	// Keys are the members that objects of a reply have or lack, by the path of
	// the object: "" is the reply, choices[].message one message of many,
	// content[]<text> the entries of type text.
	Keys map[string]Keys `json:"keys,omitempty"`

	// IDs are the forms of ids: of the reply, of a call, and of function_call,
	// message and reasoning items. In a form {a24} stands for 24 letters and
	// digits, {l24} for small ones, {u24} for capital ones, {h24} for hex digits,
	// {d9} for digits, {uuid}, {n} for the ordinal of the call in its turn, {n2}
	// for it in two digits, and {name} for the tool. "none" is no id.
	IDs map[string]string `json:"ids,omitempty"`

	// Finishes are the words for the end of a reply by Finish constant, where
	// they are not the dialect's own.
	Finishes map[string]string `json:"finishes,omitempty"`

	Reasoning  string `json:"reasoning,omitempty"`  // a Reasons constant; "" is what the turn has
	Signatures string `json:"signatures,omitempty"` // a Signs constant; "" is what the turn has

	// Uncounted says that reasoning does not count against the limit of tokens.
	Uncounted bool `json:"uncounted_reasoning,omitempty"`

	// ErrorIn200 is the body of an error inside a 200, with {message} for its
	// words, or true: it is the dialect's own.
	ErrorIn200 Raw `json:"error_in_200,omitempty"`

	// Stream are the ways in which a stream of the engine differs from that of the
	// dialect's own provider. Wire.StreamWays are those that the dialect can have;
	// docs/engines.md says what each is.
	Stream []string `json:"stream,omitempty"`

	// Mirror are members of a request that come back in the reply.
	Mirror []string `json:"mirror,omitempty"`

	// Cannot are reasons why the engine never says something, by what it is: a
	// Finish constant, or one of the Says constants.
	Cannot map[string]string `json:"cannot,omitempty"`
}

// Keys are the members of one kind of object.
type Keys struct {
	Always Raw      `json:"always,omitempty"` // an object: members that are there with this value, unless the reply has another that is not null; "{n}" is the ordinal in the list, "{id}" the value of the member id
	Never  []string `json:"never,omitempty"`
	Filled []string `json:"filled,omitempty"` // members that are there only where they are neither null nor an empty list
}

// Values of a Likeness.
const (
	ReasonsAlways  = "always"     // Reasoning: a turn with calls has some in front of them
	ReasonsHidden  = "hidden"     // Reasoning: as always, without its text
	ReasonsNever   = "never"      // Reasoning: none is shown
	SignsFirstCall = "first_call" // Signatures: the first call of a turn carries one, and no thought does
	SignsReasoning = "reasoning"  // Signatures: all reasoning carries one, and no call does
	SignsNothing   = "none"       // Signatures: there are none

	// What an engine may be unable to say, in Cannot.
	SaysErrorIn200  = "error_in_200"
	SaysReasoning   = "reasoning"
	SaysUndecodable = "undecodable"
)
