package ollama_test

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/ollama"
	"github.com/toolconform/conform/internal/laws"
)

// dialect says what this wire cannot carry.
var dialect = laws.Dialect{
	Codec: ollama.Codec{}, Path: "/api/chat", List: "messages", NoIDs: true,
	Profiles: []codecs.Profile{{ResultImages: codecs.MediaFollowUp, ReasoningEcho: codecs.EchoRefused}},
	Lossy:    true, // one order, thinking, content, calls
	// Arguments are an object: a string goes back as the object that it holds.
	Echoed: func(p codecs.Part) (codecs.Part, bool) {
		if p.Call != nil {
			call := *p.Call
			if call.ArgumentsText = ""; call.ArgumentsErr != "" {
				call.Arguments, call.ArgumentsErr = codecs.Raw("{}"), ""
			}
			p.Call = &call
		}
		return p, true
	},
	// The envelope is a message alone.
	Errors: []codecs.ErrorKind{codecs.ErrQuota, codecs.ErrModeration, codecs.ErrBlocked},
}

func TestLaws(t *testing.T) { laws.Cases(t, dialect) }

func FuzzReply(f *testing.F) { laws.FuzzReply(f, dialect) }

func FuzzStream(f *testing.F) { laws.FuzzStream(f, dialect) }

func FuzzError(f *testing.F) { laws.FuzzError(f, dialect) }

func FuzzParseRequest(f *testing.F) { laws.FuzzParseRequest(f, dialect) }
