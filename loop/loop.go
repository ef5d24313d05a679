// Package loop runs a tool loop over any codec: it sends the request with the
// tools, reads the calls off the reply, runs them on tool servers, sends the
// results back, and ends with the final text.
//
// The package opens no socket. A Sender posts the bodies, a ToolServer runs the
// tools; loop/mcp has tool servers over MCP. It never logs: what was not passed
// on as it came is a warning of the Outcome.
//
// The laws that every run keeps: in each request that is sent each call of the
// history has exactly one result and each result its call; nothing that a token
// limit cut is run; nothing that the provider ran or that the client must answer
// in another way is run.
package loop

import (
	"context"
	"io"
	"slices"
	"time"

	"github.com/toolconform/conform/codecs"
)

// DefaultIterations is the number of requests that a loop sends at most when
// Config.MaxIterations is not set.
const DefaultIterations = 10

// Sender posts one request to the engine. It gives the answer whatever its
// status is; an error is for a request that got none. The end of ctx ends Send
// and whatever reads the body. The loop reads codecs.MaxBody bytes of a body at
// most and closes it.
type Sender interface {
	Send(ctx context.Context, call Call) (*Response, error)
}

// Call is one request to the engine.
type Call struct {
	Body   codecs.Raw
	Stream bool // Body asks for a stream
}

// Response is the answer to a Call: one form for bodies and streams. Who gets it
// closes Body.
type Response struct {
	Status int
	Header map[string][]string
	Body   io.ReadCloser // nil is empty

	// Sent is the request body as it went out, with what the sender changed but
	// without a key; nil is that of the Call.
	Sent codecs.Raw
}

// ToolServer offers tools and runs them.
type ToolServer interface {
	// Name names the server in warnings and errors.
	Name() string

	// ListTools returns the tools on offer. The loop asks once.
	ListTools(ctx context.Context) ([]codecs.Tool, error)

	// CallTool runs a tool. Pos, ID and Name of the result are the loop's to
	// set. err is a failure of the protocol; a tool that failed says so in the
	// result (IsError).
	CallTool(ctx context.Context, name string, arguments codecs.Raw) (codecs.ToolResult, error)
}

// LastTurn says what becomes of the calls of the last allowed reply. The loop
// ends with an *IterationsError either way: their results could not be sent.
type LastTurn int

const (
	// Stop leaves the calls of the last allowed reply alone. It is the default.
	Stop LastTurn = iota
	// RunCalls runs them, as the source documents have it.
	RunCalls
)

// Config is everything that a run needs. Codec and Sender are required, and for
// Run at least one server.
type Config struct {
	Codec   codecs.Codec
	Profile codecs.Profile
	Model   string
	Sender  Sender
	Servers []ToolServer

	// Messages is the prompt, system messages included. A call in it without its
	// result, or a result without its call (codecs.Turn decides), is left out with
	// a warning. Tools whose names the wire refuses go out under other names, here
	// too: see Outcome.ToolNames.
	Messages []codecs.Message

	// ServerTools are provider-native entries that go out on every request,
	// after the tools of the servers. RequestServerTools are those of this run:
	// a default of the same kind gives way to them. Entries that are no server
	// tools of the dialect end the run before the first request;
	// AllowUnlistedServerTools lets types through that no table knows.
	// CheckServerTool, when set, sees each entry that goes out and may rewrite
	// or refuse it.
	ServerTools              []codecs.Raw
	RequestServerTools       []codecs.Raw
	AllowUnlistedServerTools bool
	CheckServerTool          func(codecs.Raw) (codecs.Raw, error)

	Choice    codecs.Choice // sent on every request
	Parallel  *bool         // nil: the provider's default
	MaxTokens int           // 0: the provider's default
	Extra     codecs.Raw    // object, merged into every request body

	// Stream asks for streams; the codec must be a codecs.Streamer. A reply that
	// comes whole all the same is read, too. OnEvent, when set, sees each delta of
	// each reply as it comes, in order and once, one call at a time: a request is
	// not sent again when its answer has begun. What it shows is provisional until
	// AfterReply gets the reply; one that breaks off never gets there. The end of
	// ctx does not wait for a call of OnEvent that is under way.
	Stream  bool
	OnEvent func(codecs.Event)

	MaxIterations int               // requests at most; 0 is DefaultIterations
	LastTurn      LastTurn          // the calls of the last allowed reply
	Truncation    codecs.Truncation // what a token limit is taken to have cut

	RequestTimeout time.Duration // of one request; 0 is none
	CallTimeout    time.Duration // of one ListTools or CallTool; 0 is none

	// BeforeCall, when set, sees each call before it is looked up, unknown
	// names and undecodable arguments included. It may rename the call or
	// change its arguments (Arguments, which must be a JSON object), or skip
	// it: then the result is a note that says so, which is no error. The result
	// always answers the call as the model made it.
	BeforeCall func(codecs.ToolCall) (call codecs.ToolCall, skip bool)

	// AfterCall, when set, sees each call that was run, and AfterReply each reply
	// before anything of it is run. An error of AfterReply ends the run with it.
	// Hooks are called one at a time, those of calls in wire order.
	AfterCall  func(Executed)
	AfterReply func(codecs.Reply) error

	// Concurrent is how many calls of one turn run at the same time; 0 and 1 run
	// them one after the other. Results go back in wire order either way.
	Concurrent int

	// KeepRequests is how many bytes of request bodies the outcome keeps; 0 is
	// DefaultKeep, a negative number all. The last one is always kept.
	KeepRequests int
}

// DefaultKeep is how many bytes of request bodies an outcome keeps when
// Config.KeepRequests is not set. Each request holds the whole history again, so
// that a run with media would fill the memory.
const DefaultKeep = 16 << 20

// Outcome is what a run came to. It is filled as far as the run got, also when
// it ended with an error.
type Outcome struct {
	Text       string            // final text, "" when the run ended with an error
	Reply      codecs.Reply      // the last reply, without the calls in Dropped; what came of a stream that broke off, without calls
	Replies    []codecs.Reply    // all replies as they were read; earlier ones without their Body
	Usage      codecs.Usage      // of all replies together, as far as they tell it
	Iterations int               // replies asked for
	Ran        []Executed        // calls that a tool server was asked to run, in order
	Dropped    []codecs.ToolCall // calls that a token limit cut
	Warnings   []codecs.Warning  // of the whole run
	Requests   []codecs.Raw      // bodies as sent; one that got no answer as it was given to the Sender; nil for one that gave way (Config.KeepRequests)
	ToolNames  map[string]string // names that tools went out under where the wire refuses their own, to their own; nil when there are none
	Native     []codecs.Raw      // wire messages that follow the prompt, in order: the echo and the results of each turn that was answered; the final reply is not among them

	// Messages is the conversation: the prompt, the turns that were answered, and
	// the final reply. To go on, append to it what the user says next and give it as
	// Config.Messages to another Run with the same codec and profile: what followed
	// the prompt stands in it as the wire had it.
	Messages []codecs.Message
}

// Executed is one call that a tool server was asked to run.
type Executed struct {
	Server    string // name of the tool server
	Name      string // name that was run, after BeforeCall
	Arguments codecs.Raw
	Result    codecs.ToolResult // as the model gets it
	Err       error             // why CallTool failed; the Result tells it to the model
}

// Run runs the tool loop. One request is sent per iteration; the calls of a
// reply are run one after the other in wire order, or together (Concurrent).
// Outcome.Messages goes on from where it ended.
//
// Errors: ErrNoServers, *ToolServerError (a server that cannot list its tools),
// *SendError (no answer), *RequestError (an error status; wraps a
// *codecs.ProviderError), *codecs.ProviderError (an error inside a 200, a
// blocked prompt), *codecs.DecodeError, *codecs.TruncatedError, *EndedError,
// *ClientCallError, *IterationsError, or the context's error, wrapped. ErrorKind
// names them.
func Run(ctx context.Context, c Config) (Outcome, error) {
	r := run{Config: c, prefix: "tool chat request failed"}
	err := r.loop(ctx)
	return r.outcome(), err
}

// Once asks for one reply. It needs no tool server; the tools of configured
// servers are offered, their calls are left to the caller in Outcome.Reply.
// Errors, cut calls and endings are read as Run reads them, except that a pause
// and a blocked prompt are no errors: Reply.Finish tells them.
func Once(ctx context.Context, c Config) (Outcome, error) {
	r := run{Config: c, prefix: "chat request failed"}
	err := r.once(ctx)
	return r.outcome(), err
}

// outcome is what the run came to, with the conversation in a form to go on with.
func (r *run) outcome() Outcome {
	out := r.out
	native := slices.Clip(out.Native)
	if r.ends {
		if final, _, err := r.Codec.Continue(out.Reply, nil, r.Profile); err == nil {
			native = append(native, final...)
		}
	}
	out.Messages = slices.Clone(r.Messages)
	if len(native) > 0 {
		out.Messages = append(out.Messages, codecs.Message{Role: "assistant", Native: native})
	}
	return out
}

// run is one run under way.
type run struct {
	Config
	prefix string
	out    Outcome
	tools  []codecs.Tool
	owner  map[string]ToolServer // by tool name, as the server has it
	prompt []codecs.Message      // Messages, fit for the wire
	server []codecs.Raw          // merged server tools
	limit  int                   // tokens that the request allows, 0 when it names none
	seen   map[codecs.Warning]bool
	kept   int  // bytes of the requests that are kept
	ends   bool // the last reply is a final text
}

func (r *run) loop(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	if len(r.Servers) == 0 {
		return ErrNoServers
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	most := r.MaxIterations
	if most <= 0 {
		most = DefaultIterations
	}
	for n := 1; n <= most; n++ {
		reply, err := r.ask(ctx)
		if err != nil {
			return err
		}
		done, err := r.judge(reply)
		if err != nil || done {
			return err
		}
		if n == most && (r.LastTurn == Stop || r.out.Reply.Finish == codecs.FinishPause) {
			break
		}
		if err := r.answer(ctx, r.out.Reply); err != nil {
			return err
		}
	}
	return &IterationsError{Limit: most}
}

func (r *run) once(ctx context.Context) error {
	if err := r.check(); err != nil {
		return err
	}
	if err := r.prepare(ctx); err != nil {
		return err
	}
	reply, err := r.ask(ctx)
	if err != nil {
		return err
	}
	if reply.Finish == codecs.FinishBlocked { // the reply says why, and is all that was asked for
		r.out.Reply = reply
		r.warn(reply.Warnings)
		return nil
	}
	if _, err := r.judge(reply); err != nil {
		return err
	}
	r.out.Text = r.out.Reply.Text()
	r.ends = len(r.out.Reply.Calls()) == 0 && r.out.Reply.Finish != codecs.FinishPause
	return nil
}

// judge decides what a reply means. done is true when it holds the final text;
// the Reply of the outcome is then, and otherwise, the reply without the calls
// that a limit cut.
func (r *run) judge(reply codecs.Reply) (done bool, err error) {
	r.out.Reply = reply
	if n := len(r.out.Replies); n > 0 {
		r.out.Replies[n-1].Body = nil // the echo holds what it needs of it
	}
	r.out.Replies = append(r.out.Replies, reply)
	if u := reply.Usage; u != nil {
		t := &r.out.Usage
		t.Input, t.Output, t.Cached, t.CacheWrite, t.Reasoning = t.Input+u.Input, t.Output+u.Output, t.Cached+u.Cached, t.CacheWrite+u.CacheWrite, t.Reasoning+u.Reasoning
	}
	if r.AfterReply != nil {
		if err := r.AfterReply(reply); err != nil {
			r.warn(reply.Warnings)
			return false, err
		}
	}
	if err := ended(reply, r.Codec.Dialect()); err != nil {
		r.warn(reply.Warnings)
		return false, err
	}
	if reply.Finish == codecs.FinishPause {
		r.warn(reply.Warnings)
		return false, nil
	}
	kept, dropped, err := codecs.Truncate(reply, r.tools, r.limit, r.Truncation)
	r.out.Reply = kept
	r.out.Dropped = append(r.out.Dropped, dropped...)
	r.warn(kept.Warnings)
	reason, hit := codecs.LimitHit(reply, r.limit, r.Truncation)
	if hit && reply.Finish != codecs.FinishLength {
		r.warn([]codecs.Warning{codecs.Warnf(codecs.WarnLimitHidden, "",
			"the reply used all %d tokens that the request allows, but its finish reason is %q", r.limit, reply.RawFinish)})
	}
	if err != nil {
		return false, err
	}
	if len(kept.Calls()) > 0 {
		return false, nil
	}
	text := kept.Text()
	if hit && text == "" {
		return false, &codecs.TruncatedError{Reason: reason}
	}
	if hit {
		r.warn([]codecs.Warning{codecs.Warnf(codecs.WarnTruncatedText, "",
			"the text was cut by the token limit (finish_reason %s); raise response_size", reason)})
	}
	if text == "" && len(r.out.Native) > 0 {
		r.warn([]codecs.Warning{codecs.Warnf(codecs.WarnAnswerEmpty, "", "the model ended (finish_reason %s) after tool results without text and without a call", reply.RawFinish)})
	}
	r.out.Text, r.ends = text, true
	return true, nil
}

// warn keeps warnings of the outcome.
func (r *run) warn(ws []codecs.Warning) { r.out.Warnings = append(r.out.Warnings, ws...) }

// warnOnce keeps warnings that every request of the run repeats.
func (r *run) warnOnce(ws []codecs.Warning) {
	for _, w := range ws {
		if !r.seen[w] {
			if r.seen == nil {
				r.seen = map[codecs.Warning]bool{}
			}
			r.seen[w] = true
			r.out.Warnings = append(r.out.Warnings, w)
		}
	}
}
