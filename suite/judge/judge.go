package judge

import (
	"fmt"
	"strings"

	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/results"
)

// Exchange is one request as the server half read it, and the reply to it.
type Exchange struct {
	Body     codecs.Raw     // the request as it was sent
	Request  codecs.Request // read from Body
	ReadErr  error          // Body could not be read
	Reply    codecs.Reply   // of the engine, read by the reference
	Replied  bool           // Reply is set; false for an error status
	ReplyErr error          // a 2xx body that cannot be read, and carries no error either
	Cut      []int          // ordinals of the calls of Reply that the token limit cut
	Want     *codecs.Reply  // what the scenario's turn says, for replies that were rendered from one
	// HiddenLimit is set when the token limit ended the reply although its
	// finish reason says something else.
	HiddenLimit bool
}

// Executed is one call that reached a tool server.
type Executed struct {
	Server, Name string
	Arguments    codecs.Raw
	Result       codecs.ToolResult // what the tool server answered
}

// Run is everything that the judge sees of one cell.
type Run struct {
	Dialect     codecs.Dialect
	Profile     codecs.Profile
	Model       string // asked for; "" when it is not compared
	MaxTokens   int    // asked for; 0 when the request names none
	Prompt      []codecs.Message
	Tools       []codecs.Tool // expected on every request, in order
	ServerTools []codecs.Raw  // expected on every request
	Exchanges   []Exchange
	Answers     map[string]codecs.ToolResult // what the tool servers answered, by AnswerKey
	Executed    []Executed
}

// Attribute finds the call that each execution belongs to, and returns the
// answers by AnswerKey: the first call of the same name and arguments that has
// none yet, else the first of the same name. The order of execution is free.
func Attribute(exchanges []Exchange, executed []Executed) map[string]codecs.ToolResult {
	out := map[string]codecs.ToolResult{}
	used := make([]bool, len(executed))
	take := func(c codecs.ToolCall, exact bool) (codecs.ToolResult, bool) {
		for k, e := range executed {
			if used[k] || e.Name != c.Name || (exact && !jsonx.Equal(e.Arguments, c.Arguments)) {
				continue
			}
			used[k] = true
			return e.Result, true
		}
		return codecs.ToolResult{}, false
	}
	for _, exact := range []bool{true, false} {
		for i, x := range exchanges {
			for _, c := range x.Reply.Calls() {
				key := AnswerKey(i, c.Pos)
				if _, done := out[key]; done || (exact && c.Arguments == nil) {
					continue
				}
				if r, ok := take(c, exact); ok {
					out[key] = r
				}
			}
		}
	}
	return out
}

// AnswerKey is the key under which Run.Answers holds the answer to a call of
// exchange i.
func AnswerKey(exchange, pos int) string { return fmt.Sprintf("%d/%d", exchange, pos) }

// finding collects the checks of one run: the worst verdict of each rule stays.
type finding struct {
	order []string
	by    map[string]*results.Check
}

func (f *finding) add(id string, level results.Level, v results.Verdict, message, evidence string) {
	rule, ok := RuleByID(id)
	if !ok {
		panic("judge: unknown rule " + id) // a programming error; every id is covered by a test
	}
	if level == "" {
		level = rule.Level
	}
	old := f.by[id]
	if old != nil && severity(old.Verdict) >= severity(v) {
		return
	}
	if old == nil {
		f.order = append(f.order, id)
	}
	f.by[id] = &results.Check{ID: id, Side: rule.Side, Level: level, Verdict: v, Message: message, Evidence: bounded(evidence)}
}

func (f *finding) pass(id string) { f.add(id, "", results.Pass, "", "") }

func (f *finding) fail(id string, level results.Level, where, want, got string) {
	f.add(id, level, results.Fail, where, "expected "+want+", seen "+got)
}

func severity(v results.Verdict) int {
	switch v {
	case results.Fail:
		return 3
	case results.Degraded:
		return 2
	case results.Pass:
		return 1
	}
	return 0
}

func bounded(s string) string {
	const most = 600
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + fmt.Sprintf("... (%d bytes)", len(s))
	}
	return s
}

func (f *finding) list() []results.Check {
	out := make([]results.Check, 0, len(f.order))
	for _, r := range Rules() { // report order
		if c := f.by[r.ID]; c != nil {
			out = append(out, *c)
		}
	}
	return out
}

// Judge returns the verdict of every check that applies to the run.
func Judge(run Run) []results.Check {
	f := &finding{by: map[string]*results.Check{}}
	for i, x := range run.Exchanges {
		judgeReply(f, x, i)
		if x.ReadErr != nil {
			f.fail("request.reads", "", place(i), "a request of the dialect", x.ReadErr.Error())
			continue
		}
		f.pass("request.reads")
		judgeParameters(f, run, x, i)
		judgePrompt(f, run, x, i)
		judgeTools(f, run, x, i)
		judgeHistory(f, run, i)
	}
	judgeTruncation(f, run)
	judgeThinking(f, run)
	return f.list()
}

func place(i int) string { return fmt.Sprintf("request %d", i+1) }

func judgeReply(f *finding, x Exchange, i int) {
	if x.ReplyErr != nil {
		f.fail("reply.decodes", "", fmt.Sprintf("reply %d", i+1), "a reply of the dialect", x.ReplyErr.Error())
	}
	if !x.Replied {
		return
	}
	f.pass("reply.decodes")
	if x.HiddenLimit {
		f.fail("reply.limit_visible", "", fmt.Sprintf("reply %d", i+1), "a finish reason that names the token limit", fmt.Sprintf("%q with the whole limit used", x.Reply.RawFinish))
	} else if x.Reply.Finish == codecs.FinishLength {
		f.pass("reply.limit_visible")
	}
	if x.Want == nil {
		return
	}
	if d := replyDifference(*x.Want, x.Reply); d != "" {
		f.fail("reply.content", "", fmt.Sprintf("reply %d", i+1), "the turn of the scenario", d)
		return
	}
	f.pass("reply.content")
}

// replyDifference names the first thing of a scenario's turn that its rendering
// lost, "" when nothing is lost.
func replyDifference(want, got codecs.Reply) string {
	// Text dialects trim the text around calls.
	if w, g := strings.TrimSpace(want.Text()), strings.TrimSpace(got.Text()); w != g {
		return fmt.Sprintf("text %q instead of %q", g, w)
	}
	w, g := want.Calls(), got.Calls()
	if len(w) != len(g) {
		return fmt.Sprintf("%d calls instead of %d", len(g), len(w))
	}
	for i := range w {
		if w[i].Name != g[i].Name {
			return fmt.Sprintf("call %d is %q instead of %q", i, g[i].Name, w[i].Name)
		}
		if w[i].Arguments != nil && !jsonx.Equal(w[i].Arguments, g[i].Arguments) {
			return fmt.Sprintf("arguments of call %d are %s instead of %s", i, g[i].ArgumentsText, w[i].Arguments)
		}
	}
	if w, g := strings.TrimSpace(want.Reasoning()), strings.TrimSpace(got.Reasoning()); w != g {
		return fmt.Sprintf("reasoning %q instead of %q", g, w)
	}
	return ""
}

// judgeParameters compares what the request asks for besides its content. A model
// that does not stand in the body, but in a path of the engine's own, cannot be
// compared.
func judgeParameters(f *finding, run Run, x Exchange, i int) {
	switch req := x.Request; {
	case run.Model != "" && req.Model != "" && req.Model != run.Model:
		f.fail("request.parameters", "", place(i), fmt.Sprintf("the model %q", run.Model), fmt.Sprintf("%q", req.Model))
	case run.MaxTokens > 0 && req.MaxTokens != run.MaxTokens:
		f.fail("request.parameters", "", place(i), fmt.Sprintf("a limit of %d tokens", run.MaxTokens), fmt.Sprintf("%d", req.MaxTokens))
	case req.Stream:
		f.fail("request.parameters", "", place(i), "no stream", "stream: true")
	default:
		f.pass("request.parameters")
	}
}

func judgePrompt(f *finding, run Run, x Exchange, i int) {
	var texts, media []string
	for _, m := range run.Prompt {
		for _, p := range m.Parts {
			switch p.Kind {
			case codecs.Text:
				texts = append(texts, p.Text)
			case codecs.MediaKind:
				media = append(media, mediaKey(*p.Media))
			}
		}
	}
	var all strings.Builder
	var seenMedia []string
	for _, m := range x.Request.Messages {
		for _, p := range m.Parts {
			switch p.Kind {
			case codecs.Text:
				all.WriteString(p.Text)
				all.WriteString("\n")
			case codecs.MediaKind:
				seenMedia = append(seenMedia, mediaKey(*p.Media))
			}
		}
	}
	rest := all.String()
	for _, t := range texts {
		at := strings.Index(rest, t)
		if at < 0 && strings.Contains(all.String(), t) && run.Dialect != codecs.OpenAI {
			continue // system texts move to the front in some dialects
		}
		if at < 0 {
			f.fail("prompt.kept", "", place(i), fmt.Sprintf("the prompt text %q", t), fmt.Sprintf("%q", bounded(all.String())))
			return
		}
		rest = rest[at+len(t):]
	}
	for _, m := range media {
		if contains(seenMedia, m) {
			continue
		}
		if run.Profile.PromptImages == codecs.MediaPlaceholder || run.Dialect == codecs.Hermes {
			f.add("prompt.kept", "", results.Degraded, place(i), "the engine takes no media in prompts: a line of text stands for them")
			continue
		}
		f.fail("prompt.kept", "", place(i), "the media of the prompt", fmt.Sprintf("%d other media", len(seenMedia)))
		return
	}
	f.pass("prompt.kept")
}

func mediaKey(m codecs.Media) string {
	if m.Data != "" {
		return codecs.StripSpace(m.Data)
	}
	return m.URI
}

func contains(list []string, s string) bool {
	for _, x := range list {
		if x == s {
			return true
		}
	}
	return false
}

func judgeTools(f *finding, run Run, x Exchange, i int) {
	seen := map[string]int{}
	for _, t := range x.Request.Tools {
		seen[t.Name]++
	}
	ok := true
	for _, t := range run.Tools {
		if seen[t.Name] != 1 {
			f.fail("tools.declared", "", place(i), fmt.Sprintf("tool %q once", t.Name), fmt.Sprintf("%d times", seen[t.Name]))
			ok = false
		}
	}
	if len(x.Request.Tools) > len(run.Tools) {
		f.fail("tools.declared", "", place(i), fmt.Sprintf("%d tools", len(run.Tools)), fmt.Sprintf("%d", len(x.Request.Tools)))
		ok = false
	}
	if ok && len(run.Tools) > 0 {
		for _, want := range run.Tools {
			for _, got := range x.Request.Tools {
				if got.Name == want.Name && !schemaKept(want.InputSchema, got.InputSchema) {
					f.fail("tools.declared", "", place(i)+", tool "+want.Name, string(want.InputSchema), string(got.InputSchema))
					ok = false
				}
			}
		}
	}
	if ok && len(run.Tools) > 0 {
		f.pass("tools.declared")
	}
	for _, want := range run.ServerTools {
		found := false
		for _, got := range x.Request.ServerTools {
			found = found || jsonx.Equal(want, got)
		}
		if !found {
			f.fail("server_tools.sent", "", place(i), string(want), string(jsonx.List(x.Request.ServerTools...)))
			continue
		}
		f.pass("server_tools.sent")
	}
}

// schemaKept tells whether a declared schema still says what the tool's own
// schema says: every property with its type, and the required list. Keywords
// that a wire cannot carry, such as $schema, may go.
func schemaKept(want, got codecs.Raw) bool {
	w, g := jsonx.Of(want), jsonx.Of(got)
	for _, m := range w.Get("properties").Members() {
		p := g.Get("properties").Get(m.Key)
		if !p.Exists() || (m.Value.Get("type").Exists() && !jsonx.Equal(m.Value.Get("type").Raw(), p.Get("type").Raw())) {
			return false
		}
	}
	for _, name := range w.Get("required").Items() {
		found := false
		for _, n := range g.Get("required").Items() {
			found = found || n.Str() == name.Str()
		}
		if !found {
			return false
		}
	}
	return true
}
