package interop_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/results"
)

// native names the schema of each row that the schema's own publisher runs.
// Everybody else speaks the dialect in their own way.
var native = map[string]string{
	"openai": "openai", "anthropic": "anthropic", "gemini": "gemini", "vertex": "vertex", "ollama": "ollama", "openai-responses": "responses",
}

// body is something that the suite wrote or holds.
type body struct {
	of     string // suite, tape or case
	side   string // request, reply or error
	engine engines.Engine
	where  string
	beta   bool
	bytes  []byte
	says   *codecs.Reply // the turn that was rendered; nil where that is not known, or it was changed on the wire
	reads  codecs.Reply  // by the codec
}

// schema returns the name of the schema of a body; "" where no provider
// published one.
func (b body) schema() (name string, own bool) {
	name, own = native[b.engine.Name]
	if !own {
		name = string(b.engine.Dialect)
		if name == "hermes" {
			name = "openai"
		}
		if name == "openai" && !strings.HasSuffix(b.engine.URL, "/chat/completions") {
			return "", false
		}
	}
	switch {
	case b.side == "error" && name == "vertex":
		name = "gemini"
	case b.side != "error" && b.beta && name == "anthropic":
		name = "anthropic-beta"
	}
	return name + "." + b.side, own
}

// everything plays every scenario on every row, each row by itself so that its
// own edits of the body show, and collects what was sent.
var everything = sync.OnceValues(func() ([]body, error) {
	catalog, err := engines.Load()
	if err != nil {
		return nil, err
	}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		return nil, err
	}
	turns := map[string][]fixtures.Turn{}
	for _, s := range scenarios {
		turns[s.ID] = s.Bind(1).Turns
	}
	var out []body
	for _, engine := range catalog.All() {
		r := suite.Runner{Catalog: catalog, Scenarios: scenarios, Keep: func(p suite.Played) (string, error) {
			if p.Cell.Verdict == results.Error {
				return "", fmt.Errorf("%s at %s: %s", p.Cell.Scenario, p.Engine, p.Cell.Reason)
			}
			for i, x := range p.Transcript.Exchanges {
				where := fmt.Sprintf("%s %s #%d", p.Engine, p.Cell.Scenario, i)
				beta := wire.HeaderValue(x.In.Header, "anthropic-beta") != ""
				out = append(out, body{of: "suite", side: "request", engine: engine, where: where, beta: beta, bytes: x.In.Body})
				answer := body{of: "suite", side: answerSide(x.Out.Status, x.Out.Body), engine: engine, where: where, beta: beta, bytes: x.Out.Body}
				if err := answer.told(turns[p.Cell.Scenario], x.Turn); err != nil {
					return "", err
				}
				out = append(out, answer)
			}
			return "", nil
		}}
		if _, err := r.Run(context.Background(), suite.Selection{Engines: []string{engine.Name}}); err != nil {
			return nil, err
		}
	}
	return out, nil
})

// told adds what the turn of the scenario says that a reply was rendered from.
func (b *body) told(turns []fixtures.Turn, i int) error {
	dialect := string(b.engine.Dialect)
	if i < 0 || i >= len(turns) || turns[i].Error != nil || b.side != "reply" || len(turns[i].Patches(dialect, "off")) > 0 {
		return nil
	}
	codec, err := all.For(b.engine.Dialect)
	if err != nil {
		return err
	}
	says, err := neutral.Reply(turns[i].Reply())
	if err != nil {
		return err
	}
	b.says = &says
	b.reads, err = codec.Reply(b.bytes, b.engine.Resolve("").Profile)
	return err
}

func answerSide(status int, body []byte) string {
	if status >= 300 {
		return "error"
	}
	return "reply"
}

// taped collects the bodies of the tapes. Replies that were recorded are what
// the engine said, whatever a schema thinks of them; only those of its own
// publisher are held against one.
func taped(t *testing.T, catalog *engines.Catalog) []body {
	t.Helper()
	ix, err := cassettes.LoadIndex(cassettes.FS())
	if err != nil {
		t.Fatal(err)
	}
	var out []body
	for _, entry := range ix.Tapes {
		engine, err := catalog.Lookup(entry.Engine)
		if err != nil {
			t.Fatal(err)
		}
		tape, err := cassettes.Read(cassettes.FS(), entry.Tape)
		if err != nil {
			t.Fatal(err)
		}
		_, own := native[engine.Name]
		for i, x := range tape.Exchanges {
			b := body{of: "tape", side: "request", engine: engine, where: fmt.Sprintf("%s #%d", entry.Tape, i), beta: x.Request.Header.Get("anthropic-beta") != "", bytes: x.Request.Body}
			out = append(out, b)
			if entry.Origin.Kind != "recorded" || own {
				b.side, b.bytes = answerSide(x.Response.Status, x.Response.Body), x.Response.Body
				out = append(out, b)
			}
		}
	}
	return out
}

// ofCases collects the bodies of the cases that claim to be of a provider: of
// the engine that the case or its origin names, else of the dialect's own.
func ofCases(t *testing.T, catalog *engines.Catalog) []body {
	t.Helper()
	cases, err := fixtures.LoadCases(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	var list []body
	for _, c := range cases {
		name := cmp.Or(c.Engine, c.Origin.Engine, home[c.Dialect])
		engine, err := catalog.Lookup(name)
		if err != nil || string(engine.Dialect) != c.Dialect {
			engine, err = catalog.Lookup(home[c.Dialect]) // the origin may name an engine without a row, or of another dialect
		}
		if err != nil {
			t.Fatal(err)
		}
		add := func(side string, data []byte) {
			if jsonx.Check(data) == nil && len(data) > 0 {
				list = append(list, body{of: "case", side: side, engine: engine, where: c.ID, bytes: data})
			}
		}
		in := jsonx.Of(codecs.Raw(c.Input))
		given := []byte(in.Get("body").Raw())
		if s, ok := in.Get("body_text").Text(); ok {
			given = []byte(s)
		}
		switch c.Op {
		case "reply", "continue", "truncate", "raw_calls", "text_content":
			add("reply", given)
		case "parse_request":
			add("request", given)
		case "error":
			add("error", given)
		case "request", "render_reply", "render_error":
			out, err := suite.Run(c, catalog) // what the case wants of it is suite.TestCases' to say
			if err != nil {
				t.Fatal(err)
			}
			side := map[string]string{"request": "request", "render_reply": "reply", "render_error": "error"}[c.Op]
			if c.Op == "render_error" {
				out.Value = jsonx.Of(out.Value).Get("body").Raw()
			}
			add(side, out.Value)
		}
	}
	return list
}

var home = map[string]string{
	"openai": "openai", "hermes": "nousresearch", "anthropic": "anthropic", "gemini": "gemini", "ollama": "ollama", "responses": "openai-responses",
}

// listed is a finding that is expected, and why.
type listed struct {
	Of     string `json:"of"`    // suite, tape or case
	Host   bool   `json:"host"`  // of an engine that speaks the dialect in its own way
	Keys   []glob `json:"keys"`  // findings
	Where  []glob `json:"where"` // engine with scenario, tape, or case
	Reason string `json:"reason"`
}

// glob is a name in which * stands for anything. It knows whether it was used.
type glob struct {
	text string
	re   *regexp.Regexp
	used bool
}

// UnmarshalText reads the pattern.
func (g *glob) UnmarshalText(text []byte) error {
	g.text = string(text)
	g.re = regexp.MustCompile("^" + strings.ReplaceAll(regexp.QuoteMeta(g.text), `\*`, ".*") + "$")
	return nil
}

func (l *listed) fits(of string, host bool, key, where string) bool {
	if l.Of != of || l.Host != host {
		return false
	}
	k := slices.IndexFunc(l.Keys, func(g glob) bool { return g.re.MatchString(key) })
	w := slices.IndexFunc(l.Where, func(g glob) bool { return g.re.MatchString(where) })
	if k < 0 || w < 0 {
		return false
	}
	l.Keys[k].used, l.Where[w].used = true, true
	return true
}

// TestPublishedSchemas holds everything that the suite writes and holds against
// the schemas that the providers publish: requests as they were sent and the
// replies to them on every row, the tapes, and the bodies of the cases. What is
// found stands in testdata/findings.json with its reason, or fails; so does an
// entry there that no longer occurs.
func TestPublishedSchemas(t *testing.T) {
	s := loadSchemas(t)
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	played, err := everything()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/findings.json")
	if err != nil {
		t.Fatal(err)
	}
	var list []listed
	if err := json.Unmarshal(data, &list, json.RejectUnknownMembers(true)); err != nil {
		t.Fatal(err)
	}
	checked, found, seen := map[string]int{}, map[string]int{}, map[string]bool{}
	unlisted := map[string][]string{}
	for _, b := range slices.Concat(played, taped(t, catalog), ofCases(t, catalog)) {
		name, own := b.schema()
		if name == "" {
			continue
		}
		kind := fmt.Sprintf("%s, %s, %s", b.of, b.side, map[bool]string{true: "the publisher's own", false: "hosts"}[own])
		checked[kind]++
		seen[name] = true
		for _, key := range s.check(t, name, b.bytes) {
			found[kind]++
			known := false
			for i := range list {
				known = list[i].fits(b.of, !own, key, b.where) || known
			}
			if !known {
				title := fmt.Sprintf("%s (%s) %s", b.of, b.engine.Name, key)
				unlisted[title] = append(unlisted[title], b.where)
			}
		}
	}
	for _, title := range slices.Sorted(maps.Keys(unlisted)) {
		where := unlisted[title]
		t.Errorf("%s: %d times: %s", title, len(where), strings.Join(where[:min(len(where), 3)], ", "))
	}
	for i, l := range list {
		for _, g := range slices.Concat(l.Keys, l.Where) {
			if !g.used {
				t.Errorf("testdata/findings.json, element %d: %s no longer occurs", i, g.text)
			}
		}
		if l.Reason == "" {
			t.Errorf("testdata/findings.json, element %d has no reason", i)
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(checked)) {
		t.Logf("%-50s %5d bodies, %4d findings, all listed", kind, checked[kind], found[kind])
	}
	for _, name := range []string{"openai", "anthropic", "gemini", "vertex", "ollama", "responses"} {
		if !seen[name+".request"] || !seen[name+".reply"] {
			t.Errorf("no body was held against %s", name)
		}
	}
}
