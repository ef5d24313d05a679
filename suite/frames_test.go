package suite

import (
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/codecs/neutral"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/internal/wire"
	"github.com/toolconform/conform/suite/replay"
)

// said is what a reply says, without its warnings: how a stream was cut may be one.
func said(r codecs.Reply) string {
	r.Warnings = nil
	view, err := jsonx.Indent(neutral.View(r))
	if err != nil {
		return err.Error()
	}
	return string(view)
}

// sameStream renders a reply in both forms and compares what they say.
func sameStream(t *testing.T, c codecs.Full, r codecs.Reply, p codecs.Profile, l codecs.Likeness) bool {
	t.Helper()
	body, _, err := c.RenderReply(r, p, l)
	if err != nil {
		return false
	}
	want, err := c.Reply(body, p)
	if err != nil {
		return false
	}
	if want.RawFinish == "" && len(want.Calls()) > 0 {
		return true // a stream with calls and without its end broke off
	}
	for _, shape := range c.Wire().Shapes {
		frames, _, err := c.(codecs.StreamRenderer).RenderStream(r, p, l, shape.Name)
		if err != nil {
			t.Errorf("%s: %v", shape.Name, err)
			return false
		}
		got, err := wire.DecodeStream(c.(codecs.Streamer), p, bytes.Join(frames, nil))
		if err != nil {
			t.Errorf("%s: %v\n%s", shape.Name, err, bytes.Join(frames, nil))
			return false
		}
		if d := cmp.Diff(said(want), said(got)); d != "" {
			t.Errorf("%s: %s\n%s\n%s", shape.Name, d, body, bytes.Join(frames, nil))
			return false
		}
	}
	return true
}

// TestStreamsSayWhatBodiesSay: a rendered stream decodes to what the rendered body
// does, for every turn of every scenario at every row.
func TestStreamsSayWhatBodiesSay(t *testing.T) {
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	turns := 0
	for _, e := range catalog.All() {
		c, err := all.For(e.Dialect)
		if err != nil {
			t.Fatal(err)
		}
		row := e.Resolve("")
		if row.Engine.NoStream != "" {
			continue
		}
		for _, s := range scenarios {
			if notHere(row, s, true) != "" {
				continue
			}
			script, err := replay.FromScenario(s.At(string(e.Dialect), func(name string) string { return row.Facts.Of(name).Value }), c, row.Profile, row.Likeness, row.Model, false)
			if err != nil {
				continue // what an engine cannot say has its own test
			}
			for i, turn := range script.Turns {
				r, err := c.Reply(turn.Body, row.Profile)
				if turn.Status != 0 && turn.Status != 200 || err != nil {
					continue
				}
				turns++
				if !sameStream(t, c, r, row.Profile, row.Likeness) {
					t.Errorf("%s, %s, turn %d", e.Name, s.ID, i)
				}
			}
		}
	}
	t.Logf("%d turns", turns)
	if turns < 3000 {
		t.Errorf("only %d turns", turns)
	}
}

// TestStreamsOfRecordedReplies: the same for recorded replies, which hold more than
// our scenarios do.
func TestStreamsOfRecordedReplies(t *testing.T) {
	const dir = "../../shared/recordings"
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("no recordings: %v", err)
	}
	n := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !cassettes.IsRecording(path) {
			return err
		}
		rec, err := cassettes.ReadRecording(path)
		if err != nil {
			return nil // no recording
		}
		c, err := all.For(codecs.Dialect(rec.Dialect))
		if err != nil {
			return nil
		}
		for _, x := range rec.Exchanges {
			r, err := c.Reply(x.Response.Body, codecs.Profile{})
			if x.Response.Status != 200 || x.Response.Streamed() || err != nil {
				continue
			}
			if n++; !sameStream(t, c, r, codecs.Profile{}, codecs.Likeness{}) {
				t.Errorf("%s", path)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d replies", n)
}

// TestStreamWays: each way that a dialect can have still says the same, but for
// those that break the stream.
func TestStreamWays(t *testing.T) {
	reply, err := neutral.Reply([]byte(`{"parts":[{"kind":"reasoning","text":"Low or high?","signature":"c2ln"},{"kind":"text","text":"I look at the tables."},
		{"kind":"call","id":"call_1","name":"tide","arguments":{"at":"Quay"}},{"kind":"call","id":"call_2","name":"wind","arguments":{"at":"Pier","hours":[6,12]}}],
		"finish":"tool_calls","usage":{"input":8,"output":9}}`))
	if err != nil {
		t.Fatal(err)
	}
	broken := map[string]string{
		wire.StreamBreaksOff: "ended", wire.StreamErrorAfter: "error",
	}
	for _, c := range all.Codecs() {
		want, _, err := c.RenderReply(reply, codecs.Profile{}, codecs.Likeness{})
		if err != nil {
			t.Fatal(err)
		}
		plain, err := c.Reply(want, codecs.Profile{})
		if err != nil {
			t.Fatal(err)
		}
		ways := c.Wire().StreamWays
		if len(ways) == 0 || len(slices.Compact(slices.Sorted(slices.Values(ways)))) != len(ways) {
			t.Errorf("%s: ways %v", c.Dialect(), ways)
		}
		seen := map[string]string{}
		for _, way := range append(ways, "") {
			l := codecs.Likeness{}
			if way != "" {
				l.Stream = []string{way}
			}
			frames, _, err := c.(codecs.StreamRenderer).RenderStream(reply, codecs.Profile{}, l, c.Wire().Shapes[0].Name)
			if err != nil {
				t.Fatalf("%s, %s: %v", c.Dialect(), way, err)
			}
			stream := string(bytes.Join(frames, nil))
			if other, same := seen[stream]; same {
				t.Errorf("%s: %q is the same as %q", c.Dialect(), way, other)
			}
			seen[stream] = way
			got, err := wire.DecodeStream(c.(codecs.Streamer), codecs.Profile{}, []byte(stream))
			if words := broken[way]; words != "" {
				if err == nil || !strings.Contains(err.Error(), words) || len(got.Calls()) > 0 {
					t.Errorf("%s, %s: error %v, %d calls", c.Dialect(), way, err, len(got.Calls()))
				}
				continue
			}
			if way == wire.StreamUsageNever {
				got.Usage = plain.Usage
			}
			if err != nil || said(got) != said(plain) {
				t.Errorf("%s, %s: %v %s\n%s", c.Dialect(), way, err, cmp.Diff(said(plain), said(got)), stream)
			}
		}
		if _, _, err := c.(codecs.StreamRenderer).RenderStream(reply, codecs.Profile{}, codecs.Likeness{Stream: []string{"sideways"}}, ""); err == nil || !strings.Contains(err.Error(), `no way "sideways"`) {
			t.Errorf("%s: a way that is none: %v", c.Dialect(), err)
		}
	}
}
