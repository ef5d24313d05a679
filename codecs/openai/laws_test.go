package openai_test

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/openai"
	"github.com/toolconform/conform/internal/laws"
)

// subject says what this wire cannot carry.
var subject = laws.Subject{
	Codec: openai.Codec{}, Path: "/v1/chat/completions", List: "messages", TakesAll: true, Legacy: `"function_call"`,
	Profiles: []codecs.Profile{
		{ReasoningEcho: codecs.EchoRequiredEvenEmpty, ContentNull: "empty_string"},
		{UndecodableEcho: codecs.UndecodableEmpty},
		{ResultImages: codecs.MediaFollowUp, ResultPDF: codecs.MediaFollowUp},
		{IDRule: "mistral9"},
	},
	// Images, sound, executed tools and custom calls are no keys of an echo.
	Echoed: func(p codecs.Part) (codecs.Part, bool) {
		return p, p.Kind != codecs.MediaKind && p.Kind != codecs.Server && p.Kind != codecs.Client
	},
	Errors: []string{codecs.ErrBlocked}, // told as moderation
}

func TestLaws(t *testing.T) { laws.Cases(t, subject) }

func FuzzReply(f *testing.F) { laws.FuzzReply(f, subject) }

func FuzzError(f *testing.F) { laws.FuzzError(f, subject) }

func FuzzParseRequest(f *testing.F) { laws.FuzzParseRequest(f, subject) }
