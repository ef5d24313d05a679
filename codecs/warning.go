package codecs

import (
	"fmt"

	"github.com/toolconform/conform/internal/jsonx"
)

// TextBlock builds the MCP text block of s.
func TextBlock(s string) Raw {
	return (&jsonx.Fields{}).Str("type", "text").Str("text", s).Raw()
}

// Warning reports something that a codec or the loop did not pass on as it
// came. Code is stable and may be compared, Text may change.
type Warning struct {
	Code    string `json:"code"`
	Pointer string `json:"path"` // JSON pointer into the document that the warning is about; "" when it has no place
	Text    string `json:"message"`
}

// Codes of warnings.
const (
	WarnDoubleEncoded    = "arguments.double_encoded"   // arguments were a JSON string inside a JSON string; unwrapped once
	WarnParametersKey    = "arguments.parameters_key"   // the key parameters was read as arguments
	WarnArgumentsForm    = "arguments.form"             // a reply has arguments as an object where the wire has a text, or the other way round
	WarnArgumentsUnread  = "arguments.undecodable"      // arguments do not decode although no limit cut them
	WarnArgumentsString  = "arguments.string"           // a request has no object where the wire wants one for arguments
	WarnArgumentsEmptied = "arguments.emptied"          // undecodable arguments go back as {}
	WarnCallNameless     = "call.nameless"              // a call without a name was left out
	WarnBlockUnreadable  = "call.unreadable_block"      // a <tool_call> block that is no call stays text
	WarnIDMade           = "ids.made"                   // a call came without an id; one was made for call and result
	WarnIDForm           = "ids.form"                   // an id is a number
	WarnIDMissing        = "ids.missing"                // a call has no id where the wire has one
	WarnIDRepeated       = "ids.repeated"               // two calls of one turn have the same id
	WarnCallDropped      = "echo.call_dropped"          // a call without a result left the echo
	WarnReasoningDropped = "echo.reasoning_dropped"     // reasoning left the echo because the engine refuses it
	WarnItemDropped      = "echo.item_dropped"          // an item left the echo because the engine refuses its type
	WarnMediaPlaceholder = "media.placeholder"          // media go out as a line of text
	WarnMediaFollowUp    = "media.follow_up"            // media go out in a user message after the results
	WarnDocumentAsText   = "media.document_as_text"     // a native document or search result goes out as its text
	WarnTruncated        = "truncation.dropped"         // calls that the token limit cut were dropped
	WarnTruncatedText    = "truncation.text"            // the final text was cut by the token limit
	WarnLimitHidden      = "truncation.hidden"          // the limit was hit although the finish reason does not say so
	WarnThinkUnpaired    = "thinking.tag_unpaired"      // a think tag without its other half beside visible text
	WarnAnswerEmpty      = "answer.empty"               // the model ended after tool results and said nothing
	WarnChoiceDropped    = "tool_choice.dropped"        // the engine has no such choice
	WarnToolsWithheld    = "tool_choice.tools_withheld" // choice none cannot be sent, so the tools are not sent
	WarnParallelDropped  = "parallel.dropped"           // the engine has no parallel knob
	WarnToolDuplicate    = "tool.duplicate"             // a tool name is offered twice; the first wins
	WarnToolSkipped      = "tool.skipped"               // an entry of a tool list that is no tool
	WarnToolRenamed      = "tool.renamed"               // the wire refuses the name of a tool; it goes out under another
	WarnResultOrphan     = "results.orphan"             // a result of the history answers no call; it stays out of what is sent
	WarnSchemaReduced    = "tool.schema_reduced"        // a schema lost keywords that the engine's schema field does not know
	WarnServerToolSame   = "server_tool.replaced"       // a default gives way to the request's own tool of the same kind
	WarnServerToolMaybe  = "server_tool.unknown"        // nobody knows whether this engine takes server tools
	WarnLossy            = "render.lossy"               // the dialect cannot carry this
	WarnReplyForm        = "reply.form"                 // a reply in another form than that of its wire was read
	WarnFinishOdd        = "finish.odd"                 // the finish reason contradicts the content
	WarnUnknownKey       = "request.unknown_key"        // a key of a neutral request that nothing reads
	WarnRequestForm      = "request.form"               // the provider refuses this form of a request; it was read all the same
	WarnBlockUnclosed    = "call.unclosed_block"        // a <tool_call> block without its closing tag was read as a call
	WarnStreamCalls      = "stream.calls_dropped"       // the stream broke off; its calls were dropped
	WarnStreamIndex      = "stream.index"               // pieces of calls or blocks without an index, or two of them under one
	WarnStreamBlock      = "stream.block"               // a block or item of the stream was not opened or not closed
	WarnStreamEnd        = "stream.end"                 // the stream ended without saying so, after all that a reply needs
	WarnUnknownFinish    = "finish.unknown"             // a finish reason that no table knows
)

// WarningCodes lists every code, for those who check names.
func WarningCodes() []string {
	return []string{
		WarnDoubleEncoded, WarnParametersKey, WarnArgumentsForm, WarnArgumentsUnread, WarnArgumentsString, WarnArgumentsEmptied, WarnCallNameless,
		WarnBlockUnreadable, WarnIDMade, WarnIDForm, WarnIDMissing, WarnIDRepeated, WarnCallDropped,
		WarnReasoningDropped, WarnItemDropped, WarnMediaPlaceholder, WarnMediaFollowUp,
		WarnDocumentAsText, WarnTruncated, WarnTruncatedText, WarnLimitHidden,
		WarnThinkUnpaired, WarnAnswerEmpty, WarnChoiceDropped, WarnToolsWithheld, WarnParallelDropped, WarnToolDuplicate,
		WarnToolSkipped, WarnToolRenamed, WarnResultOrphan, WarnSchemaReduced, WarnServerToolSame, WarnServerToolMaybe, WarnLossy,
		WarnReplyForm, WarnFinishOdd, WarnUnknownKey, WarnRequestForm, WarnBlockUnclosed, WarnUnknownFinish,
		WarnStreamCalls, WarnStreamIndex, WarnStreamBlock, WarnStreamEnd,
	}
}

// Warnf builds a Warning.
func Warnf(code, pointer, format string, args ...any) Warning {
	return Warning{Code: code, Pointer: pointer, Text: fmt.Sprintf(format, args...)}
}
