package openai_test

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/internal/laws"
)

// dialect says what this wire cannot carry.
var dialect = laws.Dialect{
	Codec: openai.Codec{}, Path: "/v1/chat/completions", List: "messages", TakesAll: true, Legacy: `"function_call"`,
	Renamed: []string{"max_tokens", "max_completion_tokens"},
	Profiles: []codecs.Profile{
		{ReasoningEcho: codecs.EchoRequiredEvenEmpty, ContentNull: "empty_string"},
		{UndecodableEcho: codecs.UndecodableEmpty},
		{ResultImages: codecs.MediaFollowUp, ResultPDF: codecs.MediaFollowUp},
		{IDRule: "mistral9"},
	},
	// Images, sound, executed tools, custom calls and refusals are no keys of an echo.
	Echoed: func(p codecs.Part) (codecs.Part, bool) {
		return p, p.Type != "refusal" && p.Kind != codecs.KindMedia && p.Kind != codecs.KindServer && p.Kind != codecs.KindClient
	},
	Errors: []codecs.ErrorKind{codecs.ErrBlocked}, // told as moderation
}

func TestLaws(t *testing.T) { laws.Cases(t, dialect) }

func FuzzReply(f *testing.F) { laws.FuzzReply(f, dialect) }

func FuzzStream(f *testing.F) { laws.FuzzStream(f, dialect) }

func FuzzError(f *testing.F) { laws.FuzzError(f, dialect) }

func FuzzParseRequest(f *testing.F) { laws.FuzzParseRequest(f, dialect) }
