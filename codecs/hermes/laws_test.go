package hermes_test

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/hermes"
	"github.com/toolconform/conform/internal/laws"
)

// dialect says what this wire cannot carry.
var dialect = laws.Dialect{
	Codec: hermes.Codec{}, Path: "/v1/chat/completions", List: "messages", TextCalls: true, NoIDs: true,
	Profiles: []codecs.Profile{{ResultRole: "user"}, {ResultImages: codecs.MediaFollowUp, ReasoningEcho: codecs.EchoRefused}},
	Lossy:    true,                                  // ids, signatures, and tags in the text itself
	Errors:   []codecs.ErrorKind{codecs.ErrBlocked}, // told as moderation
}

func TestLaws(t *testing.T) { laws.Cases(t, dialect) }

func FuzzReply(f *testing.F) { laws.FuzzReply(f, dialect) }

func FuzzStream(f *testing.F) { laws.FuzzStream(f, dialect) }

func FuzzError(f *testing.F) { laws.FuzzError(f, dialect) }

func FuzzParseRequest(f *testing.F) { laws.FuzzParseRequest(f, dialect) }
