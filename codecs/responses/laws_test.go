package responses_test

import (
	"testing"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/responses"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/laws"
)

// dialect says what this wire cannot carry.
var dialect = laws.Dialect{
	Codec: responses.Codec{}, Path: "/v1/responses", List: "input", TagsStay: true,
	Profiles: []codecs.Profile{
		{UndecodableEcho: codecs.UndecodableEmpty},
		{EchoItems: []string{"message", "function_call"}, FlattenText: true, UndecodableEcho: codecs.UndecodableEmpty},
		{ReasoningEcho: codecs.EchoRefused},
	},
	// A call that the client answers in another way has no result.
	Echoed: func(p codecs.Part) (codecs.Part, bool) {
		return p, p.Kind != codecs.KindClient || p.Type == "mcp_approval_request"
	},
	// The provider itself marks the message that a limit cut.
	Rendered: func(p codecs.Part) codecs.Part {
		if p.Kind == codecs.KindText && string(p.Extra) == `{"status":"incomplete"}` {
			p.Extra = nil
		}
		return p
	},
	Errors: []codecs.ErrorKind{codecs.ErrBlocked}, // told as a content filter
}

func TestLaws(t *testing.T) { laws.Cases(t, dialect) }

// A reasoning item that lost its following item leaves the echo: OpenAI refuses
// one that stands before nothing.
func TestNoReasoningWithoutItsFollower(t *testing.T) {
	laws.Replies(t, dialect, func(t *testing.T, r codecs.Reply, p codecs.Profile) {
		all := laws.Answers(r)
		for mask := 1; mask < 1<<min(len(all), 5); mask++ {
			var some []codecs.ToolResult
			for i := range all {
				if mask&(1<<i) != 0 {
					some = append(some, all[i])
				}
			}
			items, _, err := responses.Codec{}.Continue(r, some, p)
			if err != nil {
				t.Fatal(err)
			}
			for i, item := range items {
				if i > 0 && jsonx.Of(item).Get("type").Str() == "function_call_output" && jsonx.Of(items[i-1]).Get("type").Str() == "reasoning" {
					t.Errorf("subset %b: a reasoning item without its following item", mask)
				}
			}
		}
	})
}

func FuzzReply(f *testing.F) { laws.FuzzReply(f, dialect) }

func FuzzStream(f *testing.F) { laws.FuzzStream(f, dialect) }

func FuzzError(f *testing.F) { laws.FuzzError(f, dialect) }

func FuzzParseRequest(f *testing.F) { laws.FuzzParseRequest(f, dialect) }
