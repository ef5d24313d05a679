package codecs

// Values of Profile.ReasoningEcho.
const (
	EchoRequired          = "required"            // the next request is refused without it
	EchoRequiredEvenEmpty = "required_even_empty" // as required, and the key must be there when it is ""
	EchoAccepted          = "accepted"
	EchoIgnored           = "ignored"
	EchoRefused           = "refused" // a request that carries it is refused
)

// Values of Profile.ResultImages, ResultPDF and ResultDocuments.
const (
	MediaNative      = "native"      // inside the result
	MediaPlaceholder = "placeholder" // a line of text names it
	MediaFollowUp    = "follow_up"   // in a user message after all results
)

// Values of Profile.ServerTools: whether entries of a request for tools that the
// provider runs are taken.
const (
	ServerToolsYes     = "yes"     // also where the dialect has none of its own
	ServerToolsNo      = "no"      // they are an error
	ServerToolsUnknown = "unknown" // they go out, with a warning
)

// Values of Profile.UndecodableEcho.
const (
	UndecodableVerbatim = "verbatim"
	UndecodableEmpty    = "empty_object" // {} in the echo, the raw text in the error result
)

// Profile says how one engine, for one model, differs from the dialect. It is
// data. Its zero value is the dialect's own provider with its current models.
type Profile struct {
	// Reasoning.
	ReasoningEcho   string   `json:"reasoning_echo,omitempty"`   // see the Echo constants; "" is the dialect's own rule
	ReasoningFields []string `json:"reasoning_fields,omitempty"` // message keys read for reasoning text, first non-empty wins (chat dialects); "content" is a chunk of the content list
	EchoKeys        []string `json:"echo_keys,omitempty"`        // message keys of the echo (chat dialects); nil: role, content, tool_calls, the reasoning field under the name it came, extra_content
	ThinkTag        string   `json:"think_tag,omitempty"`        // "" is think, "none" leaves the text alone

	// Media in tool results and prompts.
	ResultImages    string `json:"result_images,omitempty"`    // native, placeholder, follow_up; "" is the dialect's default
	ResultPDF       string `json:"result_pdf,omitempty"`       // as ResultImages
	ResultDocuments string `json:"result_documents,omitempty"` // text documents and search results inside a result (anthropic): "" native, placeholder sends their text
	PromptImages    string `json:"prompt_images,omitempty"`    // "" native, placeholder for an engine or model that sees no images
	PromptPDF       string `json:"prompt_pdf,omitempty"`       // as PromptImages

	// Calls and their echo.
	UndecodableEcho string `json:"undecodable_echo,omitempty"` // verbatim (the default but for anthropic), empty_object
	IDRule          string `json:"id_rule,omitempty"`          // shape of made ids: "" the dialect's, mistral9 for nine letters and digits
	ContentNull     string `json:"content_null,omitempty"`     // echoed null content beside calls: "" stays null, empty_string where null is refused

	// Request fields.
	ToolChoice   []string `json:"tool_choice,omitempty"`    // choice modes that the engine takes, of auto, any, none, tool; nil is all; ["-"] is no field at all
	NoParallel   bool     `json:"no_parallel,omitempty"`    // no parallel-calls knob
	MaxTokensKey string   `json:"max_tokens_key,omitempty"` // "" is the dialect's own
	MaxTokens    int      `json:"max_tokens,omitempty"`     // sent when the request names none; 0 is the dialect's own default
	ServerTools  string   `json:"server_tools,omitempty"`   // see the ServerTools constants; "" is as the dialect has it
	SchemaKey    string   `json:"schema_key,omitempty"`     // gemini: "" is parametersJsonSchema, or parameters for hosts that know only that
	DisplayName  bool     `json:"display_name,omitempty"`   // gemini: media carry displayName, which the Gemini API refuses
	NoMixedFlag  bool     `json:"no_mixed_flag,omitempty"`  // gemini: no includeServerSideToolInvocations where server tools stand beside functions
	ErrorKey     string   `json:"error_key,omitempty"`      // gemini: member of response that holds the text of a failed result; "" is result

	// Responses.
	EchoItems    []string `json:"echo_items,omitempty"`    // item types that the echo may carry; nil is all
	FlattenText  bool     `json:"flatten_text,omitempty"`  // an echoed assistant message becomes its text as a string
	ServerCalls  []string `json:"server_calls,omitempty"`  // names of custom_tool_call items that the provider ran itself
	TypedItems   bool     `json:"typed_items,omitempty"`   // message items carry type: message
	StrictSchema bool     `json:"strict_schema,omitempty"` // leave strict out, so that the provider applies its default

	// Hermes.
	CallTag        string `json:"call_tag,omitempty"`        // "" is tool_call
	ResponseTag    string `json:"response_tag,omitempty"`    // "" is tool_response
	ResultRole     string `json:"result_role,omitempty"`     // "" is tool, or user
	ContentPointer string `json:"content_pointer,omitempty"` // JSON pointer of the text in the reply; "" is /choices/0/message/content
}
