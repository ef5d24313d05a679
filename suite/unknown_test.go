package suite

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/results"
)

// runner plays the scenarios of the suite against the engines of files; the tapes
// are those of the suite.
func runner(t *testing.T, files fstest.MapFS) Runner {
	t.Helper()
	catalog, err := engines.LoadFS(files)
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	tapes, err := LoadTapes(cassettes.FS())
	if err != nil {
		t.Fatal(err)
	}
	return Runner{Catalog: catalog, Scenarios: scenarios, Tapes: tapes}
}

// entry is the file of an engine under another name, with edits: a JSON pointer,
// and the value that is set there.
func entry(t *testing.T, files fstest.MapFS, engine, name string, edits map[string]string) {
	t.Helper()
	data, err := os.ReadFile("../engines/catalogue/" + engine + ".json")
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range slices.Sorted(maps.Keys(edits)) {
		if data, err = jsonx.Set(data, at, []byte(edits[at])); err != nil {
			t.Fatal(err)
		}
	}
	data, err = jsonx.Set(data, "/name", jsonx.Quote(name))
	if err != nil {
		t.Fatal(err)
	}
	files[name+".json"] = &fstest.MapFile{Data: data}
}

func play(t *testing.T, r Runner, sel Selection) map[string]map[string]results.Cell {
	t.Helper()
	doc, err := r.Run(t.Context(), sel)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[string]results.Cell{}
	for _, row := range doc.Rows {
		out[row.Name] = map[string]results.Cell{}
		for _, c := range row.Cells {
			out[row.Name][c.Scenario] = c
		}
	}
	return out
}

// homes are the engines that the dialects come from, and one of the transport
// that has none.
var homes = []string{"openai", "anthropic", "gemini", "ollama", "openai-responses", "nousresearch"}

// TestEngineWithoutFacts: of an engine that somebody invented nothing is green,
// and it stands for no other. In every dialect, whichever way it says that nothing
// is known.
func TestEngineWithoutFacts(t *testing.T) {
	files := fstest.MapFS{}
	var none []string
	for _, n := range (engines.Facts{}).List() {
		none = append(none, fmt.Sprintf("%q: {\"value\": \"unknown\"}", n.Name))
	}
	for _, home := range homes {
		entry(t, files, home, home+"-silent", map[string]string{"/facts": "{}", "/models": "[]"})
		entry(t, files, home, home+"-unknown", map[string]string{"/facts": "{" + strings.Join(none, ",") + "}"})
		entry(t, files, home, home+"-twin", map[string]string{"/facts": "{}", "/models": "[]"})
	}
	spoken := map[codecs.Dialect]bool{}
	r := runner(t, files)
	for _, e := range r.Catalog.All() {
		spoken[e.Resolve("").Dialect] = true
	}
	if len(spoken) != len(codecs.Dialects()) {
		t.Errorf("the engines speak %v", spoken)
	}
	unknown := 0
	for name, cells := range play(t, r, Selection{}) {
		for id, c := range cells {
			switch c.Verdict {
			case results.Unknown:
				unknown++
				if !slices.Contains(c.Facts, "dialect") || !strings.HasSuffix(c.Reason, "of "+name+" are unknown") && !strings.HasSuffix(c.Reason, "of "+name+" is unknown") {
					t.Errorf("%s %s: %v %q", name, id, c.Facts, c.Reason)
				}
			case results.NA: // no engine of the dialect can say it
			default:
				t.Errorf("%s %s: %s: %s", name, id, c.Verdict, c.Reason)
			}
		}
	}
	if unknown < 300 {
		t.Errorf("%d cells are unknown", unknown)
	}
}

// TestUnknownFact: the cells that rest on a fact are unknown without it, and no
// others; the ones that fail go on failing.
func TestUnknownFact(t *testing.T) {
	rest := map[string][]string{
		"result_images":   {"media/image-in-result"},
		"result_pdf":      {"media/pdf-in-result"},
		"reasoning_echo":  {"reasoning/echo"},
		"reasoning_field": {"reasoning/echo", "thinking/call-inside-thinking"},
		"cut_call":        {"truncation/lone-cut", "truncation/nothing-left", "truncation/second-of-two-cut"},
		"server_tools":    {"server-tools/beside-functions"},
	}
	for _, named := range (engines.Facts{}).List() {
		t.Run(named.Name, func(t *testing.T) {
			files := fstest.MapFS{}
			entry(t, files, "openai-responses", "known", nil)
			entry(t, files, "openai-responses", "planted", map[string]string{"/facts/" + named.Name: `{"value": "unknown"}`})
			r := runner(t, files)
			rows := play(t, r, Selection{})
			for _, s := range r.Scenarios {
				known, c := rows["known"][s.ID], rows["planted"][s.ID]
				rests := slices.Contains(rest[named.Name], s.ID)
				switch named.Name {
				case "dialect":
					rests = true
				case "ids":
					rests = slices.Contains(s.Expect.Checks, "results.pairing")
				}
				want := results.Same
				if named.Name == "server_tools" { // the profile follows the fact, so the rows are two
					want = known.Verdict
				}
				if known.Verdict == results.NA {
					want = results.NA
				} else if rests {
					want = results.Unknown
				}
				if c.Verdict != want || want == results.Unknown && (!reflect.DeepEqual(c.Facts, []string{named.Name}) || c.Exchanges != known.Exchanges || c.Exchanges == 0) {
					t.Errorf("%s: %s (%s) on %v, want %s", s.ID, c.Verdict, c.Reason, c.Facts, want)
				}
			}
			// A codec that loses what the turn says fails, known or not.
			r.Codec = func(d codecs.Dialect) (codecs.Full, error) {
				full, err := all.For(d)
				return mute{full}, err
			}
			for id, c := range play(t, r, Selection{Engines: []string{"planted"}, Scenarios: []string{"media/image-in-result", "truncation/second-of-two-cut"}})["planted"] {
				if c.Verdict != results.Fail {
					t.Errorf("%s of an engine that says nothing: %s: %s", id, c.Verdict, c.Reason)
				}
			}
		})
	}
}

// mute is an engine whose texts are empty.
type mute struct{ codecs.Full }

func (m mute) RenderReply(r codecs.Reply, p codecs.Profile, like codecs.Likeness) (codecs.Raw, []codecs.Warning, error) {
	r.Parts = slices.DeleteFunc(slices.Clone(r.Parts), func(p codecs.Part) bool { return p.Kind == codecs.KindText })
	return m.Full.RenderReply(r, p, like)
}

// TestSame: a row stands for another where it shows all that the other would.
func TestSame(t *testing.T) {
	files := fstest.MapFS{}
	entry(t, files, "ollama-openai", "ollama-openai", nil) // has tapes
	entry(t, files, "ollama-openai", "quay", nil)
	entry(t, files, "openai", "known", nil)
	entry(t, files, "openai", "twin", nil)
	entry(t, files, "openai", "other", map[string]string{"/facts/cut_call/value": `"empty_object"`})
	entry(t, files, "openai", "less", map[string]string{"/facts/cut_call": `{"value": "unknown"}`})
	entry(t, files, "openai", "limited", map[string]string{"/profile/max_tokens_key": `"max_tokens"`})
	r := runner(t, files)
	rows := play(t, r, Selection{})
	for _, c := range []struct {
		name, scenario string
		want           results.Verdict
	}{
		{"twin", "basic/one-call", results.Same},
		{"twin", "media/image-in-result", results.Same}, // also where the base is degraded
		{"twin", "truncation/lone-cut", results.Same},
		{"twin", "server-tools/paused-turn", results.NA}, // the base is n/a
		{"other", "truncation/lone-cut", results.Pass},   // another fact decides
		{"other", "basic/one-call", results.Same},
		{"less", "truncation/lone-cut", results.Unknown},
		{"less", "basic/one-call", results.Same},
		{"limited", "basic/one-call", results.Pass}, // another profile
	} {
		base := "known"
		if got := rows[c.name][c.scenario]; got.Verdict != c.want {
			t.Errorf("%s as %s, %s: %s (%s), want %s", c.name, base, c.scenario, got.Verdict, got.Reason, c.want)
		}
	}
	taped := 0
	for id, c := range rows["ollama-openai"] {
		if c.Tape == "" {
			continue
		}
		taped++
		if quay := rows["quay"][id]; quay.Verdict == results.Same || quay.Tape != "" {
			t.Errorf("quay stands for a recorded %s: %s", id, quay.Verdict)
		}
	}
	if taped < 5 {
		t.Errorf("%d cells of ollama-openai are taped", taped)
	}
	for id, c := range play(t, runner(t, fstest.MapFS{"less.json": files["less.json"], "unlike.json": renamed(t, files["less.json"].Data, "unlike")}), Selection{})["unlike"] {
		if strings.HasPrefix(id, "truncation/") && c.Verdict != results.Unknown {
			t.Errorf("%s of two rows without the fact: %s", id, c.Verdict)
		}
	}
}

func renamed(t *testing.T, data []byte, name string) *fstest.MapFile {
	t.Helper()
	data, err := jsonx.Set(bytes.Clone(data), "/name", jsonx.Quote(name))
	if err != nil {
		t.Fatal(err)
	}
	return &fstest.MapFile{Data: data}
}

// TestLeftOut holds the engines that scenarios leave out against what happens
// there all the same: each is left out for a reason. What the code could render
// and the engines never send is listed here.
func TestLeftOut(t *testing.T) {
	never := map[string]bool{
		"openai errors/refusal-anthropic":     true, // few hosts have the refusal key, and the finish beside it is stop
		"hermes errors/refusal-anthropic":     true, // as its transport
		"ollama errors/undecodable-arguments": true, // the server does not let them through

		// The wire has an object, and a text in its place is the form of others.
		"anthropic errors/undecodable-arguments": true,
	}
	for _, dialect := range []string{"openai", "anthropic", "ollama", "responses"} { // an error status takes the place of the call
		never[dialect+" truncation/lone-cut"], never[dialect+" truncation/second-of-two-cut"] = true, true
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	r := runner(t, fstest.MapFS{})
	r.Catalog = catalog
	rows, scenarios, _, err := r.plan(Selection{})
	if err != nil {
		t.Fatal(err)
	}
	at := r.start()
	defer at.tools.close()
	at.listed = true
	left, used := 0, map[string]bool{}
	for _, row := range rows {
		for _, s := range scenarios {
			if notHere(row.Resolved, s, false) == "" || len(unknown(row.Resolved, s)) > 0 {
				continue
			}
			if cannotSay(row.Likeness, s) != "" {
				continue // said by recordings of the engine, whatever the code can render
			}
			left++
			key := string(row.Dialect) + " " + s.ID
			c := at.cell(t.Context(), row, s.Bind(1), false, nil, "")
			switch plays := c.Verdict == results.Pass || c.Verdict == results.Degraded; {
			case plays && !never[key]:
				t.Errorf("%s leaves out %s, and it can be played", s.ID, row.Engine.Name)
			case plays:
				used[key] = true
			}
		}
	}
	for key := range never {
		if !used[key] {
			t.Errorf("%s is not to be listed: nothing can render it", key)
		}
	}
	if left < 100 {
		t.Errorf("%d cells are left out", left)
	}
}

// TestNotLeftOut: a cell that cannot be played, or shows nothing of what its
// scenario is about, is a fault of the suite where no list leaves it out: the
// code under test is not asked what its wire can say.
func TestNotLeftOut(t *testing.T) {
	files := fstest.MapFS{}
	entry(t, files, "openai", "known", nil)
	r := runner(t, files)
	r.Codec = func(d codecs.Dialect) (codecs.Full, error) {
		full, err := all.For(d)
		return lossy{full}, err
	}
	c := play(t, r, Selection{Scenarios: []string{"basic/one-call"}})["known"]["basic/one-call"]
	if c.Verdict != results.Error || !strings.Contains(c.Reason, "no word for it") {
		t.Errorf("a turn that the codec cannot say: %s: %s", c.Verdict, c.Reason)
	}
	r.Codec = nil
	i := slices.IndexFunc(r.Scenarios, func(s fixtures.Scenario) bool { return s.ID == "basic/plain-text" })
	r.Scenarios[i].Rules = []string{"echo.text"}
	c = play(t, r, Selection{Scenarios: []string{"basic/plain-text"}})["known"]["basic/plain-text"]
	if c.Verdict != results.Error || !strings.Contains(c.Reason, "echo.text") {
		t.Errorf("a scenario whose rule has nothing to judge: %s: %s", c.Verdict, c.Reason)
	}
}

// lossy is a codec that says that it cannot say a finish.
type lossy struct{ codecs.Full }

func (l lossy) RenderReply(r codecs.Reply, p codecs.Profile, like codecs.Likeness) (codecs.Raw, []codecs.Warning, error) {
	body, _, err := l.Full.RenderReply(r, p, like)
	return body, []codecs.Warning{codecs.Warnf(codecs.WarnLossy, "/finish", "no word for it")}, err
}

// TestOtherModel: a model, or an entry, of which there is no tape is played as
// well as one that has them.
func TestOtherModel(t *testing.T) {
	files := fstest.MapFS{}
	all, err := fs.Glob(os.DirFS("../engines/catalogue"), "*.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range all {
		name := strings.TrimSuffix(file, ".json")
		entry(t, files, name, name+"-copy", nil)
	}
	r := runner(t, files)
	run := func(sel Selection) {
		t.Helper()
		for name, cells := range play(t, r, sel) {
			for id, c := range cells {
				if c.Verdict == results.Fail || c.Verdict == results.Error || c.Tape != "" {
					t.Errorf("%s %q %s: %s: %s", name, sel.Model, id, c.Verdict, c.Reason)
				}
			}
		}
	}
	run(Selection{})
	var some []string
	for _, home := range homes {
		some = append(some, home+"-copy")
	}
	for _, model := range []string{"gemini-2.5-pro", "models/x", "vendor/some model:tag@1"} {
		run(Selection{Engines: some, Model: model})
	}
}

// TestNamesOfFacts: rules and scenarios name facts of the catalogue and fields of
// the profile, and an engine is left out for a value that a fact, or the profile of an engine, has.
func TestNamesOfFacts(t *testing.T) {
	facts, values, scenarios := map[string]bool{}, map[string]bool{}, runner(t, fstest.MapFS{}).Scenarios
	for _, n := range (engines.Facts{}).List() {
		facts[n.Name] = true
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]bool{}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[codecs.Profile]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = true
	}
	schema, err := os.ReadFile("../engines/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, fact := range jsonx.Of(schema).Lookup("/properties/facts/properties").Members() {
		for _, v := range fact.Value.Lookup("/properties/value/enum").Items() {
			values[fact.Key+" "+v.Str()] = true
		}
	}
	for _, e := range catalog.All() {
		p, err := jsonx.Marshal(e.Profile)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range jsonx.Of(p).Members() {
			values[m.Key+" "+m.Value.Str()] = true
		}
	}
	decided := map[string]bool{}
	for _, rule := range fixtures.Rules() {
		for fact, feature := range rule.Facts {
			decided[fact] = true
			if !facts[fact] {
				t.Errorf("%s: the catalogue has no fact %q", rule.ID, fact)
			}
			if feature != "" && !slices.ContainsFunc(scenarios, func(s fixtures.Scenario) bool { return slices.Contains(s.Features, feature) }) {
				t.Errorf("%s: no scenario has the feature %q", rule.ID, feature)
			}
		}
		if rule.Profile != "" && !fields[rule.Profile] {
			t.Errorf("%s: the profile has no field %q", rule.ID, rule.Profile)
		}
	}
	for fact := range facts {
		if !decided[fact] && fact != "dialect" { // which decides everything
			t.Errorf("no rule is decided by the fact %s", fact)
		}
	}
	for _, s := range scenarios {
		names := map[string][]string{}
		for _, e := range s.Engines.Exclude {
			names[e.Fact+e.Profile] = append(names[e.Fact+e.Profile], e.Values...)
		}
		for _, turn := range s.Turns {
			for _, i := range turn.Instead {
				names[i.Fact] = append(names[i.Fact], i.Values...)
			}
		}
		for name, list := range names {
			for _, v := range list {
				if !values[name+" "+v] {
					t.Errorf("%s: nothing has %q as %s", s.ID, v, name)
				}
			}
		}
	}
}
