package bugreports

// decisions are the reports whose outcome differs because we decided so, each
// with the reason. An entry that is met after all fails the test.
var decisions = map[string]string{
	"R034": "the MIME type of a result block is the tool server's word; rows RA03 and RA04 compare it exactly and payloads are not sniffed",
	"R062": "arguments that do not decode go into an Ollama history as {}, the one form that the server takes, with the warning arguments.emptied",
	"R079": "decoding makes no ids; Continue makes them for call and result together (design, Ids)",
	"R142": "an empty result is content \"\" on anthropic (row RA14); an empty text block, which the API refuses, never goes out",
	"R164": "server tools are the caller's word: both kinds go out, and a model that refuses the mix says so; server_tools no of the profile refuses early",
	"R175": "think tags do not nest (source documents, think tag filter): the first closing tag ends the thinking",
	"R184": "a block whose name cannot be read as JSON stays text with the warning call.unreadable_block (design, Hermes)",
	"R186": "native calls win and the text beside them stays as it came (row HT10); nothing runs twice",
	"R194": "the text of a failed result stays under result, as in the source documents; profile error_key puts it under error",
	"R258": "a block for the user alone is a line for the model (decision audience)",
	"R266": "an empty answer after results is an empty text with a warning (decision empty-answer)",
}

// open are the reports that the reference still gets wrong, each with what is
// missing.
var open = map[string]string{}
