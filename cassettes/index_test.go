package cassettes_test

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/toolconform/conform/cassettes"
)

const goodIndex = `{"version": 1, "tapes": [{"tape": "harbour/area/tide", "engine": "harbour", "scenario": "area/tide",
 "origin": {"kind": "recorded", "engine": "harbour server", "version": "1.2", "date": "2026-11-30"},
 "model": "m", "extra": {"temperature": 0}, "requests": "recorded"}]}`

func collection(index, tape string) fstest.MapFS {
	return fstest.MapFS{"index.json": {Data: []byte(index)}, "tapes/README.md": {}, "tapes/harbour/area/tide.yaml": {Data: []byte(tape)}}
}

func tapeText(t *testing.T, response string) string {
	t.Helper()
	var b bytes.Buffer
	if err := cassettes.Write(&b, cassettes.Tape{Exchanges: []cassettes.Exchange{step("POST", "http://h/x", "{}", response)}}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEmbeddedTapesAreInOrder(t *testing.T) {
	for _, p := range cassettes.Lint(cassettes.FS()) {
		t.Error(p)
	}
}

func TestIndex(t *testing.T) {
	fsys := collection(goodIndex, tapeText(t, "{}"))
	if got := cassettes.Lint(fsys); len(got) != 0 {
		t.Errorf("a good collection: %v", got)
	}
	ix, err := cassettes.LoadIndex(fsys)
	if err != nil {
		t.Fatal(err)
	}
	e, ok := ix.Find("harbour/area/tide")
	if !ok || string(e.Extra) != `{"temperature": 0}` || len(ix.Of("harbour", "area/tide")) != 1 || len(ix.Of("harbour", "x")) != 0 {
		t.Errorf("%+v", ix)
	}
}

func TestLintFindsTheFault(t *testing.T) {
	good := tapeText(t, "{}")
	edit := func(old, new string) string { return strings.Replace(goodIndex, old, new, 1) }
	for _, c := range []struct{ name, index, tape, want string }{
		{"no entry", `{"version":1,"tapes":[]}`, good, `tapes/harbour/area/tide.yaml: has no entry "harbour/area/tide" in index.json`},
		{"no tape", edit(`area/tide"`, `area/ebb"`), good, "/tapes/0/tape: tapes/harbour/area/ebb.yaml does not exist"},
		{"engine", edit(`"engine": "harbour",`, `"engine": "quay",`), good, `/tapes/0/tape: "harbour/area/tide" does not start with the engine "quay"`},
		{"origin kind", edit(`"recorded", "engine"`, `"guessed", "engine"`), good, `/tapes/0/origin/kind: "guessed"`},
		{"no version", edit(`"version": "1.2", `, ``), good, "/tapes/0/origin: what is recorded names engine and version"},
		{"no date", edit(`2026-11-30`, `today`), good, "/tapes/0/origin/date"},
		{"requests", edit(`"requests": "recorded"`, `"requests": ""`), good, "/tapes/0/requests"},
		{"unknown key", edit(`"model"`, `"modell"`), good, "index.json: /tapes/0/modell: "},
		{"twice", strings.Replace(goodIndex, "}]}", "},"+goodIndex[strings.Index(goodIndex, `{"tape"`):], 1), good, "listed twice"},
		{"broken tape", goodIndex, "a: [", "is no YAML"},
		{"empty tape", goodIndex, "version: 2\ninteractions: []\n", "holds no exchange"},
		{"secret", goodIndex, tapeText(t, "a\nsk-"+strings.Repeat("a", 20)), "tide.yaml:36: looks like an API key"},
		{"path", goodIndex, tapeText(t, `{"f":"/home/ann/x"}`), "a path of a local machine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var all []string
			for _, p := range cassettes.Lint(collection(c.index, c.tape)) {
				all = append(all, p.String())
			}
			if !strings.Contains(strings.Join(all, "\n"), c.want) {
				t.Errorf("got %q\nwant %s", all, c.want)
			}
		})
	}
}
