// Package judge holds the checks: judgements over the requests that a client
// sent, the replies that an engine gave and the way a tool loop ended. It reads
// both through the neutral types, so one check serves all dialects.
package judge

import "github.com/toolconform/conform/suite/results"

// Sides of a rule.
const (
	Request = "request" // the client's duty
	Reply   = "reply"   // the engine's duty
	End     = "end"     // how the loop ended and what it ran
)

// Rule describes one check.
type Rule struct {
	ID     string        `json:"id"`
	Side   string        `json:"side"`
	Level  results.Level `json:"level"` // the usual level; the row's profile may change it
	Title  string        `json:"title"`
	Why    string        `json:"why"`
	Source string        `json:"source"`
}

// Rules lists every rule, in the order of the report.
func Rules() []Rule {
	const must, should = results.Must, results.Should
	return []Rule{
		{"request.reads", Request, must, "The request reads as its dialect", "A body that the server half cannot read would be refused with 400.", "wire documents, request sections"},
		{"request.as_recorded", Request, must, "The request equals the one on the tape", "A tape proves something only for the requests that it was made with. Those of this collection are the reference's own, held against the recorded ones by a test.", "docs/tapes.md, the strict player"},
		{"prompt.kept", Request, must, "System prompt, user texts and media of the prompt arrive, in order", "Content that is lost on the way is lost silently: the model answers something else.", "source documents 2.8; law 7"},
		{"request.parameters", Request, must, "The request asks for the model and the token limit that were asked for, and for no stream", "Another model answers, or a limit that was set does not hold.", "source documents 2.8; EG11, EG16"},
		{"tools.declared", Request, must, "Each tool is declared once, with its schema, on every request", "A duplicated name is refused by most providers; a tool that is missing later cannot be called.", "source documents 2.1; LP06, LP20"},
		{"server_tools.sent", Request, must, "Server tools ride on every request, after the functions", "The provider runs only what the request declares.", "source documents, ServerTools; SV01-SV05, LP21"},
		{"echo.calls", Request, must, "Each answered call stands in the history with its name and id", "A result without its call is refused with 400.", "enforced rules J02; EN01-EN25"},
		{"echo.arguments_verbatim", Request, must, "The arguments of an echoed call are spelled as they came", "Number tokens and key order change the meaning or the cache; a repaired text hides a cut.", "law 6; design, Echo"},
		{"echo.reasoning", Request, should, "Reasoning goes back where the engine takes it, and stays away where it refuses it", "DeepSeek, Moonshot and Gemini 3 refuse the next request without it; others think worse.", "source documents 3.3; enforced rules J09"},
		{"echo.signature", Request, must, "Signatures go back unchanged, on their own part", "A changed signature is refused with 400.", "Messages API, extended thinking; Gemini thought signatures"},
		{"echo.text", Request, should, "Text beside calls stays in the echo", "The model loses what it said.", "EN10, LP19"},
		{"echo.items", Request, must, "Server items and unknown blocks survive the echo", "A server call without its result, or the other way round, is refused; unknown blocks carry state.", "law 3; EN17"},
		{"results.pairing", Request, must, "Each call has exactly one result, each result its call", "Every provider with ids answers 400 otherwise.", "law 4; enforced rules J01-J03"},
		{"results.order", Request, must, "Results stand in the order of their calls, where the dialect has no ids to tell", "Without ids the order is all that pairs them.", "enforced rules J06"},
		{"results.adjacent", Request, must, "Results follow their calls directly", "A message between them is refused with 400.", "enforced rules J04"},
		{"results.content", Request, must, "The text of a tool result arrives", "Content is silently lost otherwise.", "law 7; RS rows"},
		{"results.media", Request, must, "Media of a tool result arrive in native form or as a line that names them, never as base64 text", "Base64 in text burns the context; silence makes the model guess.", "law 7; RS, RA and RN rows"},
		{"results.error", Request, must, "A failed call is answered with a non-empty error result", "An empty answer reads as success.", "source documents 2.2; LP07, LP08"},
		{"unknown_tool.answered", Request, must, "A call to a tool that no server offers is answered with an error, and the others run", "Dropping it leaves a dangling call; stopping loses the rest of the turn.", "source documents; LP04, LP05"},
		{"arguments.undecodable_answered", Request, must, "A call whose arguments do not decode is answered with an error", "Running it on {} acts on arguments that the model never gave.", "source documents; TU12-TU14"},
		{"truncation.no_dangling", Request, must, "A call that the limit cut leaves no dangling call in the history", "The next request is refused with 400.", "law 5; TU10"},
		{"truncation.not_run", End, must, "A call that the limit cut is not run", "A partial action is a wrong action.", "law 5; source documents 2.4"},
		{"calls.run", End, must, "Exactly the expected tools ran, with the expected arguments", "Anything else is a wrong action or a lost one.", "scenario; LP03, LP17"},
		{"calls.thinking_not_run", End, must, "Nothing from inside thinking runs", "The model only considered it.", "law 8; HT09"},
		{"requests.count", End, must, "The loop sends as many requests as the scenario allows", "A loop that stops early loses the answer; one that goes on burns tokens.", "LP02, LP09"},
		{"end.accepted", End, must, "The loop ends in one of the ways that the scenario accepts", "An error must not look like an answer, nor an answer like an error.", "scenario"},
		{"warnings.given", End, should, "The loop warns where the scenario wants it", "A silent change cannot be noticed.", "scenario; LP06, TU10"},
		{"reply.decodes", Reply, must, "The engine's reply decodes", "Nothing can be read otherwise.", "law 1"},
		{"reply.content", Reply, must, "The reply carries the text, calls and reasoning that the scenario's turn says", "What the engine drops, no client can bring back.", "scenario; law 9"},
		{"reply.limit_visible", Reply, should, "A reply that the token limit ended says so in its finish reason", "A client that trusts the reason runs the cut call.", "wire documents, truncation sections; recorded engines"},
	}
}

// RuleByID returns the rule called id.
func RuleByID(id string) (Rule, bool) {
	for _, r := range Rules() {
		if r.ID == id {
			return r, true
		}
	}
	return Rule{}, false
}
