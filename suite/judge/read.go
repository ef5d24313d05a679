package judge

import (
	"errors"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
)

// Exchange is one request as the server half reads it, and the reply to it as the
// client half does.
type Exchange struct {
	Codec   codecs.Full
	Profile codecs.Profile

	In         codecs.In // as it was sent: what the neutral form cannot show is judged here
	Request    codecs.Request
	Forgiven   []codecs.Warning // what the reading made up for
	RequestErr error            // In cannot be read

	Answered bool                  // an answer was seen
	Reply    codecs.Reply          // where Replied
	Replied  bool                  // the answer is a reply that can be read
	ReplyErr error                 // a 2xx body that can neither be read nor carries an error
	Failure  *codecs.ProviderError // the answer is an error, of its status or inside a 2xx
}

// Read reads one exchange; out is nil when no answer was seen. in is the request
// in the form of the dialect: what the entry of an engine changes on the way is
// taken back before. A stream that the codec cannot read is an answer of which
// nothing is known.
func Read(c codecs.Full, p codecs.Profile, in codecs.In, out *codecs.Answer) Exchange {
	x := Exchange{Codec: c, Profile: p, In: in}
	x.Request, x.Forgiven, x.RequestErr = c.ParseRequest(in, p)
	if out != nil {
		x.read(*out)
	}
	return x
}

func (x *Exchange) read(out codecs.Answer) {
	x.Answered = true
	if out.Status != 0 && (out.Status < 200 || out.Status > 299) {
		x.Failure = x.Codec.Error(out.Status, out.Header, out.Body)
		return
	}
	reply, err := x.reply(out)
	_, streams := x.Codec.(codecs.Streamer)
	switch {
	case err == nil:
		x.Reply, x.Replied = reply, true
	case errors.As(err, &x.Failure):
	case !streams && (x.Request.Stream || streamed(out)):
	default:
		x.ReplyErr = err
	}
}

// reply reads the body of an answer, a stream through the decoder of its dialect
// where there is one.
func (x *Exchange) reply(out codecs.Answer) (codecs.Reply, error) {
	streams, ok := x.Codec.(codecs.Streamer)
	if !ok || !x.Request.Stream {
		return x.Codec.Reply(out.Body, x.Profile)
	}
	if v, err := jsonx.Parse(out.Body); err == nil && v.IsObject() { // no stream all the same
		return x.Codec.Reply(out.Body, x.Profile)
	}
	return wire.DecodeStream(streams, x.Profile, out.Body)
}

// streamed tells whether an answer names itself a stream.
func streamed(out codecs.Answer) bool {
	t := wire.HeaderValue(out.Header, "content-type")
	for _, name := range []string{"text/event-stream", "application/x-ndjson", "application/vnd.amazon.eventstream"} {
		if strings.HasPrefix(t, name) {
			return true
		}
	}
	return false
}

// Accepted tells whether the engine took the request.
func (x Exchange) Accepted() bool { return x.Answered && x.Failure == nil }
