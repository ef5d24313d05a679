package gemini

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/laws"
)

// dialect says what this wire cannot carry.
var dialect = laws.Dialect{
	Codec: Codec{}, Path: "/models/m:generateContent", List: "contents", NoIDs: true, TagsStay: true, Whole: true,
	Profiles: []codecs.Profile{{UndecodableEcho: codecs.UndecodableEmpty}, {ResultImages: codecs.MediaFollowUp, ReasoningEcho: codecs.EchoRefused}},
	// The envelope has a status, and none for these.
	Errors:   []codecs.ErrorKind{codecs.ErrQuota, codecs.ErrModeration, codecs.ErrBlocked},
	Requests: []string{"gemini/parse_request/multimodal-response", "gemini/request/prompt-media", "gemini/request/prompt-media-named"}, // the name of media does not go out
}

func TestLaws(t *testing.T) { laws.Cases(t, dialect) }

func FuzzReply(f *testing.F) { laws.FuzzReply(f, dialect) }

func FuzzStream(f *testing.F) { laws.FuzzStream(f, dialect) }

func FuzzError(f *testing.F) { laws.FuzzError(f, dialect) }

func FuzzParseRequest(f *testing.F) { laws.FuzzParseRequest(f, dialect) }
