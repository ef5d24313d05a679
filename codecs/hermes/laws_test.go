package hermes_test

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/hermes"
	"github.com/toolconform/conform/internal/laws"
)

// subject says what this wire cannot carry.
var subject = laws.Subject{
	Codec: hermes.Codec{}, Path: "/v1/chat/completions", List: "messages", TextCalls: true, NoIDs: true,
	Profiles: []codecs.Profile{{ResultRole: "user"}, {ResultImages: codecs.MediaFollowUp, ReasoningEcho: codecs.EchoRefused}},
	Lossy:    true,                        // ids, signatures, and tags in the text itself
	Errors:   []string{codecs.ErrBlocked}, // told as moderation
}

func TestLaws(t *testing.T) { laws.Cases(t, subject) }

func FuzzReply(f *testing.F) { laws.FuzzReply(f, subject) }

func FuzzError(f *testing.F) { laws.FuzzError(f, subject) }

func FuzzParseRequest(f *testing.F) { laws.FuzzParseRequest(f, subject) }
