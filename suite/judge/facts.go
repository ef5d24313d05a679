package judge

import (
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/results"
)

// facts are what the checks ask about a dialect.
type facts struct {
	systemMoves bool          // system texts may stand elsewhere than where they were
	promptMedia bool          // prompts carry media
	objectArgs  bool          // arguments are objects: a text that is none cannot be echoed
	whole       bool          // the echo carries every block
	ordered     bool          // only the order tells which call a result answers
	named       bool          // results without an id are told apart by their names
	signed      bool          // reasoning that has lost its signature is refused
	items       results.Level // of a server item that is lost
	chained     bool          // reasoning without the item that followed it is refused
	errorFlag   bool          // a result says in a field that it is an error
	structured  bool          // structured content stands for the text
	unanswered  results.Level // of a call that the history leaves without a result
	reasoning   results.Level // of reasoning that is lost, where the profile does not say; "" is not judged
	choice      bool
	parallel    bool
	stored      []string            // body keys that name turns which the engine keeps itself
	thinkingOff map[string][]string // pointers into the body, and the values there that switch thinking off
}

func factsOf(d codecs.Dialect) facts {
	f := facts{systemMoves: true, promptMedia: true, choice: true, parallel: true, reasoning: results.Should, unanswered: results.Must, items: results.Must}
	switch d {
	case codecs.OpenAI:
		f.systemMoves, f.reasoning = false, ""
		f.thinkingOff = map[string][]string{"/thinking/type": {`"disabled"`}, "/reasoning_effort": {`"none"`}, "/reasoning/effort": {`"none"`}, "/reasoning/enabled": {"false"}, "/enable_thinking": {"false"}, "/chat_template_kwargs/enable_thinking": {"false"}}
	case codecs.Anthropic:
		f.whole, f.errorFlag, f.signed = true, true, true
		f.thinkingOff = map[string][]string{"/thinking/type": {`"disabled"`}}
	case codecs.Gemini:
		f.whole, f.named, f.structured, f.parallel = true, true, true, false
		f.unanswered, f.items = results.Should, results.Should
		f.thinkingOff = map[string][]string{"/generationConfig/thinkingConfig/thinkingBudget": {"0"}}
	case codecs.Ollama:
		f.objectArgs, f.named, f.choice, f.parallel = true, true, false, false
		f.thinkingOff = map[string][]string{"/think": {"false"}}
	case codecs.Responses:
		f.whole, f.chained, f.items = true, true, results.Should
		f.stored = []string{"/previous_response_id", "/conversation"}
		f.thinkingOff = map[string][]string{"/reasoning/effort": {`"none"`}}
	case codecs.Hermes:
		f.promptMedia, f.ordered, f.choice, f.parallel = false, true, false, false
	}
	return f
}

// thinkingIsOff tells whether the request switches thinking off.
func (c *scene) thinkingIsOff() bool {
	body := jsonx.Of(c.x.In.Body)
	for pointer, values := range c.facts().thinkingOff {
		at := body.Lookup(pointer)
		for _, v := range values {
			if at.Exists() && string(at.Raw()) == v {
				return true
			}
		}
	}
	return false
}

// storedHistory tells whether turns of the conversation are kept by the engine
// and do not stand in the request.
func (c *scene) storedHistory() bool {
	body := jsonx.Of(c.x.In.Body)
	for _, pointer := range c.facts().stored {
		if body.Lookup(pointer).Defined() {
			return true
		}
	}
	return false
}

// orderPairs tells whether only the order pairs the results of a turn.
func (c *scene) orderPairs(calls []codecs.ToolCall) bool {
	f := c.facts()
	if f.named {
		for _, call := range calls {
			if call.ID == "" {
				return true
			}
		}
	}
	return f.ordered
}
