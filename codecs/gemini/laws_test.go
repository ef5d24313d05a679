package gemini

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/laws"
)

// subject says what this wire cannot carry.
var subject = laws.Subject{
	Codec: Codec{}, Path: "/models/m:generateContent", List: "contents", NoIDs: true, TagsStay: true, Whole: true,
	Profiles: []codecs.Profile{{UndecodableEcho: codecs.UndecodableEmpty}, {ResultImages: codecs.MediaFollowUp, ReasoningEcho: codecs.EchoRefused}},
	// The envelope has a status, and none for these.
	Errors:   []string{codecs.ErrQuota, codecs.ErrModeration, codecs.ErrBlocked},
	Requests: []string{"gemini/parse_request/multimodal-response"}, // the display name of media in a response does not go out
}

func TestLaws(t *testing.T) { laws.Cases(t, subject) }

func FuzzReply(f *testing.F) { laws.FuzzReply(f, subject) }

func FuzzError(f *testing.F) { laws.FuzzError(f, subject) }

func FuzzParseRequest(f *testing.F) { laws.FuzzParseRequest(f, subject) }
