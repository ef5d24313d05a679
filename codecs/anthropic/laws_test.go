package anthropic_test

import (
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/anthropic"
	"github.com/toolconform/conform/internal/laws"
)

// dialect says what this wire cannot carry.
var dialect = laws.Dialect{
	Codec: anthropic.Codec{}, Path: "/v1/messages", List: "messages", TagsStay: true, TakesMessages: true,
	Profiles: []codecs.Profile{{ReasoningEcho: codecs.EchoRefused, UndecodableEcho: codecs.UndecodableEmpty}},
	// The API refuses texts of nothing but white space, hosts thinking with nothing in it.
	Echoed: func(p codecs.Part) (codecs.Part, bool) {
		switch p.Kind {
		case codecs.KindText:
			return p, strings.TrimSpace(p.Text) != ""
		case codecs.KindReasoning:
			return p, p.Redacted || p.Text != "" || p.Signature != ""
		}
		return p, true
	},
	// A blocked prompt and a moderated one are invalid_request_error like others.
	Errors:   []codecs.ErrorKind{codecs.ErrModeration, codecs.ErrBlocked},
	Requests: []string{"anthropic/parse_request/results-late"}, // results go first
}

func TestLaws(t *testing.T) { laws.Cases(t, dialect) }

func FuzzReply(f *testing.F) { laws.FuzzReply(f, dialect) }

func FuzzStream(f *testing.F) { laws.FuzzStream(f, dialect) }

func FuzzError(f *testing.F) { laws.FuzzError(f, dialect) }

func FuzzParseRequest(f *testing.F) { laws.FuzzParseRequest(f, dialect) }
