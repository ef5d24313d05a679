// Package replay plays the engine's side of a conversation: it answers chat
// requests with the turns of a script, one after the other, and writes down what
// came in and what went out. A Conversation is an http.RoundTripper for a client
// in the same process and an http.Handler for one that comes over a socket; it
// opens none itself and never dials.
package replay

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/texts"
	"github.com/toolconform/conform/internal/wire"
)

// Conversation answers chat requests with the turns of its script, in order. It
// is safe for concurrent use; requests that arrive together are answered in the
// order in which they get in. A chat request after the last turn is answered 400.
// Model lists and the like are answered without a turn, any other request 404.
type Conversation struct {
	Codec    codecs.Full
	Profile  codecs.Profile
	Likeness codecs.Likeness
	Script   Script
	Model    string // the one that model lists name
	// Paths are further templates of chat paths, for an engine that has its own:
	// {name} stands for any text, and a path may have more before it.
	Paths []string

	mu    sync.Mutex
	next  int // turn
	chats []Exchange
	side  []Exchange
}

// reply is what goes out: the pieces of a body, and how it is recorded.
type reply struct {
	codecs.Answer
	frames [][]byte // nil: the body in one piece
}

// answer finds the answer to a request and writes both down.
func (c *Conversation) answer(in codecs.In) reply {
	if a, ok := sideAnswer(in, c.Model); ok {
		return c.note(in, reply{Answer: a})
	}
	if !c.chat(in) {
		return c.note(in, c.failure(http.StatusNotFound, fmt.Sprintf("no route takes %s %s", in.Method, in.Path)))
	}
	c.mu.Lock()
	turn, n := Turn{}, c.next
	if c.next++; n < len(c.Script.Turns) {
		turn = c.Script.Turns[n]
	}
	at := len(c.chats)
	c.chats = append(c.chats, Exchange{In: in, Turn: n})
	c.mu.Unlock()

	var out reply
	if n >= len(c.Script.Turns) {
		out = c.failure(http.StatusBadRequest, fmt.Sprintf("the conversation has %d turns; this is request %d", len(c.Script.Turns), n+1))
	} else {
		out = c.play(turn, in)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.chats[at].Out = out.Answer
	return out
}

// chat tells whether a request is one that uses up a turn.
func (c *Conversation) chat(in codecs.In) bool {
	if in.Method != http.MethodPost {
		return false
	}
	if _, _, ok := c.Codec.Match(in); ok {
		return true
	}
	return slices.ContainsFunc(c.Paths, func(t string) bool { return fits(t, in.Path) })
}

// fits tells whether a path ends in what a template says.
func fits(template, path string) bool {
	return texts.Glob("*"+variable.ReplaceAllString(template, "?*"), path)
}

// variable stands for at least one character.
var variable = regexp.MustCompile(`\{[^}]*\}`)

// play gives a turn in the form that the request asks for.
func (c *Conversation) play(t Turn, in codecs.In) reply {
	out := reply{Answer: codecs.Answer{Status: t.Status, Header: http.Header(t.Header).Clone(), Body: t.Body}}
	if out.Status == 0 {
		out.Status = http.StatusOK
	}
	if out.Status < 200 || out.Status > 599 {
		return c.failure(http.StatusInternalServerError, fmt.Sprintf("a turn of the script has the status %d; an answer has one of 200 to 599", out.Status))
	}
	for name := range out.Header {
		if slices.Contains(ofTheConnection, http.CanonicalHeaderKey(name)) {
			delete(out.Header, name)
		}
	}
	if len(t.Mirror) > 0 {
		out.Body = wire.Mirrored(out.Body, in.Body, t.Mirror)
	}
	if t.Frames != nil {
		if req, _, err := c.Codec.ParseRequest(in, c.Profile); err == nil && req.Stream {
			shape := c.Codec.Wire().StreamShape(in)
			out.frames = t.Frames[shape]
			out.Body = bytes.Join(out.frames, nil)
			withType(&out, streamTypes[shape])
		}
	}
	withType(&out, "application/json")
	return out
}

// ofTheConnection are headers that say how a recorded body came; it goes out in
// another way.
var ofTheConnection = []string{"Connection", "Content-Encoding", "Content-Length", "Keep-Alive", "Trailer", "Transfer-Encoding", "Upgrade"}

// streamTypes are the content types of the shapes of a stream.
var streamTypes = map[string]string{"sse": "text/event-stream", "ndjson": "application/x-ndjson", "json_array": "application/json"}

// withType gives an answer its content type where it has none.
func withType(r *reply, contentType string) {
	if r.Header == nil {
		r.Header = map[string][]string{}
	}
	if http.Header(r.Header).Get("Content-Type") == "" {
		r.Header["Content-Type"] = []string{contentType}
	}
}

func (c *Conversation) failure(status int, message string) reply {
	out := reply{Answer: c.Codec.RenderError(&codecs.ProviderError{
		Dialect: c.Codec.Dialect(), Status: status, Kind: codecs.ErrShape, Message: message,
	}, c.Profile, c.Likeness)}
	out.Status = status
	withType(&out, "application/json")
	return out
}

func (c *Conversation) note(in codecs.In, out reply) reply {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.side = append(c.side, Exchange{In: in, Out: out.Answer, Turn: -1})
	return out
}

var errTooLarge = fmt.Errorf("the body is larger than the limit of %d bytes", codecs.MaxBody)

// read reads a request as the server sees it.
func read(req *http.Request) (codecs.In, error) {
	in := codecs.In{Method: req.Method, Path: req.URL.EscapedPath(), Query: req.URL.Query(), Header: req.Header.Clone()}
	if req.Body == nil {
		return in, nil
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, codecs.MaxBody+1))
	_ = req.Body.Close()
	if err == nil && len(body) > codecs.MaxBody {
		err = errTooLarge
	}
	if err != nil {
		return in, fmt.Errorf("replay: read request: %w", err)
	}
	in.Body = body
	return in, nil
}

// RoundTrip answers one request. It never dials. A request whose context has
// ended, or whose body cannot be read, uses up no turn.
func (c *Conversation) RoundTrip(req *http.Request) (*http.Response, error) {
	in, err := read(req)
	if err != nil {
		return nil, err
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	out := c.answer(in)
	resp := &http.Response{
		Status: strings.TrimSpace(fmt.Sprintf("%d %s", out.Status, http.StatusText(out.Status))), StatusCode: out.Status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header(out.Header).Clone(), Body: io.NopCloser(bytes.NewReader(out.Body)), ContentLength: int64(len(out.Body)), Request: req,
	}
	if req.Method == http.MethodHead {
		resp.Body = http.NoBody
	}
	if out.frames != nil {
		var pieces []io.Reader // a reader sees the bounds that a chunked body has
		for _, f := range out.frames {
			pieces = append(pieces, bytes.NewReader(f))
		}
		resp.Body, resp.ContentLength, resp.TransferEncoding = io.NopCloser(io.MultiReader(pieces...)), -1, []string{"chunked"}
	}
	return resp, nil
}

// ServeHTTP answers one request over a connection; frames go out as chunks.
func (c *Conversation) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	in, err := read(req)
	var out reply
	switch {
	case errors.Is(err, errTooLarge):
		out = c.note(in, c.failure(http.StatusRequestEntityTooLarge, err.Error()))
	case err != nil: // nobody is likely to read this
		out = c.failure(http.StatusBadRequest, err.Error())
	default:
		out = c.answer(in)
	}
	for k, v := range out.Header {
		w.Header()[k] = v
	}
	w.WriteHeader(out.Status)
	if out.frames == nil {
		_, _ = w.Write(out.Body) // who went away is told nothing
		return
	}
	flush := http.NewResponseController(w)
	for _, f := range out.frames {
		if _, err := w.Write(f); err != nil || flush.Flush() != nil {
			return
		}
	}
}
