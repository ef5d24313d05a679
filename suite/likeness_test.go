package suite

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/replay"
)

// presence is how often recorded replies of an engine carry which member, by the
// path of the object. The figures are counts over recordings of other projects,
// one engine with 15 or more replies an entry.
type presence struct {
	Engines []struct {
		Engine  string
		Replies int
		Objects map[string]seenObject
	}
	// Exceptions are differences that stay, each with its reason.
	Exceptions []struct{ Engine, Path, Key, Reason string }
}

// seenObject is [number of objects, {member: number of objects with it}].
type seenObject struct {
	objects int
	with    map[string]int
}

func (o *seenObject) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&o.objects, &o.with})
}

func (o *seenObject) add(v jsonx.Value) {
	if o.objects++; o.with == nil {
		o.with = map[string]int{}
	}
	for _, m := range v.Members() {
		o.with[m.Key]++
	}
}

// objects counts the members of the objects in v.
func objects(v jsonx.Value, path string, into map[string]*seenObject) {
	if into[path] == nil {
		into[path] = &seenObject{}
	}
	into[path].add(v)
	for _, m := range v.Members() {
		below := path + "." + m.Key
		if path == "" {
			below = m.Key
		}
		switch {
		case slices.Contains([]string{"input", "args", "arguments", "tools", "text"}, m.Key): // what others wrote
		case m.Value.IsObject():
			objects(m.Value, below, into)
		case m.Value.IsArray():
			for _, item := range m.Value.Items() {
				at := below + "[]"
				if kind := item.Get("type").Str(); kind != "" {
					at += "<" + kind + ">"
				}
				if item.IsObject() {
					objects(item, at, into)
				}
			}
		}
	}
}

// rendered counts the members in all replies that the scenarios make an engine
// send.
func rendered(t *testing.T, e engines.Engine, scenarios []fixtures.Scenario) map[string]*seenObject {
	t.Helper()
	out := map[string]*seenObject{}
	res := e.Resolve("")
	codec, err := all.For(res.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scenarios {
		if notHere(res, s, false) != "" {
			continue
		}
		s = s.Bind(1).At(string(res.Dialect), func(name string) string { return res.Facts.Of(name).Value })
		script, err := replay.FromScenario(s, codec, res.Profile, res.Likeness, res.Model, false)
		if err != nil {
			t.Fatalf("%s: %s: %v", e.Name, s.ID, err)
		}
		for _, turn := range script.Turns {
			if turn.Status == 0 {
				objects(jsonx.Of(turn.Body), "", out)
			}
		}
	}
	return out
}

// TestPresence holds what the suite renders for an engine against what recorded
// replies of it carry: no member that nearly all of them have is missing from all
// of ours, and none is there that they never have.
func TestPresence(t *testing.T) {
	var figures presence
	data, err := os.ReadFile("testdata/presence.json")
	if err == nil {
		err = json.Unmarshal(data, &figures)
	}
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	const usual = 95 // per cent
	used := map[int]bool{}
	for _, f := range figures.Engines {
		bad := func(path, key, text string) {
			for i, e := range figures.Exceptions {
				if e.Engine == f.Engine && e.Path == path && e.Key == key {
					used[i] = true
					return
				}
			}
			t.Errorf("%s: %q: %s %s", f.Engine, path, key, text)
		}
		e, err := catalog.Lookup(f.Engine)
		if err != nil {
			t.Error(err)
			continue
		}
		ours := rendered(t, e, scenarios)
		for _, path := range slices.Sorted(maps.Keys(f.Objects)) {
			theirs, have := f.Objects[path], ours[path]
			if have == nil {
				continue // of a kind that no scenario has
			}
			for _, key := range slices.Sorted(maps.Keys(theirs.with)) {
				if n := theirs.with[key]; n*100 >= usual*theirs.objects && have.with[key] == 0 {
					bad(path, key, fmt.Sprintf("is missing; %d of %d recorded ones have it", n, theirs.objects))
				}
			}
			for _, key := range slices.Sorted(maps.Keys(have.with)) {
				if theirs.with[key] == 0 {
					bad(path, key, fmt.Sprintf("is there; none of %d recorded ones has it", theirs.objects))
				}
			}
		}
	}
	for i, e := range figures.Exceptions {
		if e.Reason == "" || !used[i] {
			t.Errorf("exception %d (%s %q %s) has no reason, or is none", i, e.Engine, e.Path, e.Key)
		}
	}
}
