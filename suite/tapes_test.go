package suite

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolconform/conform/cassettes"
	"github.com/toolconform/conform/codecs"
	"github.com/toolconform/conform/codecs/all"
	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/fixtures"
	"github.com/toolconform/conform/internal/jsonx"
	"github.com/toolconform/conform/suite/results"
)

// tapesDir is the folder of index.json.
const tapesDir = "../cassettes"

// recordingsDir holds the recordings that the tapes were made from. They are no
// part of this repository.
const recordingsDir = "../../shared/local-recordings"

// recordingOf names the recording of each scenario.
var recordingOf = map[string]string{
	"basic/plain-text":       "plain",
	"basic/one-call":         "weather",
	"basic/parallel-calls":   "parallel",
	"basic/no-arguments":     "noargs",
	"basic/text-before-call": "text",
	"reasoning/echo":         "think",
	"truncation/lone-cut":    "trunc-weather-6",
}

// hermesSteps are the exchanges of hermes-text.json that a tape holds.
var hermesSteps = map[string][]int{
	"basic/one-call":      {0, 1},
	"truncation/lone-cut": {2},
}

func loadTapes(t *testing.T) (cassettes.Index, *engines.Catalog) {
	t.Helper()
	ix, err := cassettes.LoadIndex(os.DirFS(tapesDir))
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	return ix, catalog
}

// imported reads the recording of a tape. exact tells whether its requests must
// say what the tape's say: the hermes recordings were asked with a system line
// of two words or none in place of a tool prompt.
func imported(t *testing.T, e cassettes.Entry) (tape cassettes.Tape, exact bool) {
	t.Helper()
	folder, face := "ollama", strings.TrimPrefix(e.Engine, "ollama-")
	if rest, ok := strings.CutPrefix(e.Engine, "llama-server"); ok {
		folder, face = "llama-server", strings.TrimPrefix(rest, "-")
		if face == "" {
			face = "openai"
		}
	}
	name := face + "-" + recordingOf[e.Scenario]
	if name == "openai-think" && folder == "ollama" {
		name += "-default" // "openai-think" asks for an effort that this model refuses
	}
	if face == "hermes" {
		name = "hermes-text"
	}
	data, err := os.ReadFile(filepath.Join(recordingsDir, folder, name+".json"))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := cassettes.Import(data)
	if err != nil {
		t.Fatal(err)
	}
	if face != "hermes" {
		return whole.Tape, true
	}
	for _, i := range hermesSteps[e.Scenario] {
		tape.Exchanges = append(tape.Exchanges, whole.Exchanges[i])
	}
	return tape, false
}

// TestRecordedTapes imports each recording anew: the responses of its tape are
// the recorded ones to the byte, apart from ids, times and durations, which
// Import fixes, and its requests say the same as the recorded ones.
func TestRecordedTapes(t *testing.T) {
	if _, err := os.Stat(recordingsDir); err != nil {
		t.Skipf("the recordings are not here: %v", err)
	}
	ix, catalog := loadTapes(t)
	n := 0
	for _, e := range ix.Tapes {
		if e.Origin.Kind != "recorded" {
			continue
		}
		n++
		t.Run(e.Tape, func(t *testing.T) {
			recorded, exact := imported(t, e)
			tape, err := cassettes.Read(os.DirFS(tapesDir), e.Tape)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := len(tape.Exchanges), len(recorded.Exchanges); got != want || want == 0 {
				t.Fatalf("%d exchanges, recorded %d", got, want)
			}
			var requests [][]byte
			for i, want := range recorded.Exchanges {
				got := tape.Exchanges[i].Response
				if got.Status != want.Response.Status {
					t.Errorf("exchange %d: status %d, recorded %d", i, got.Status, want.Response.Status)
				}
				if diff := cmp.Diff(string(want.Response.Body), string(got.Body)); diff != "" {
					t.Errorf("exchange %d: response is not the recorded one (-recorded +tape):\n%s", i, diff)
				}
				requests = append(requests, want.Request.Body)
			}
			if !exact {
				sameConversation(t, e, catalog, tape, requests)
				return
			}
			if err := sameRequests(tapesDir, e, catalog, requests); err != nil {
				t.Error(err)
			}
		})
	}
	if n == 0 {
		t.Error("no tape is recorded")
	}
}

// sameConversation holds what a hermes recording and its tape have in common: the
// model, the token limit, and the last turns without the tool prompt and the
// words of the result. The scripted model answers by these alone.
func sameConversation(t *testing.T, e cassettes.Entry, catalog *engines.Catalog, tape cassettes.Tape, recorded [][]byte) {
	t.Helper()
	for i, body := range recorded {
		want, got := hermesTurns(t, e, catalog, body), hermesTurns(t, e, catalog, tape.Exchanges[i].Request.Body)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("request %d (-recorded +tape):\n%s", i, diff)
		}
	}
}

// hermesTurns lists the model, the token limit and the turns of a request.
func hermesTurns(t *testing.T, e cassettes.Entry, catalog *engines.Catalog, body []byte) []string {
	t.Helper()
	engine, err := catalog.Lookup(e.Engine)
	if err != nil {
		t.Fatal(err)
	}
	res := engine.Resolve(e.Model)
	codec, err := all.For(res.Dialect)
	if err != nil {
		t.Fatal(err)
	}
	req, _, err := codec.ParseRequest(codecs.In{Body: body}, res.Profile)
	if err != nil {
		t.Fatal(err)
	}
	root := jsonx.Of(body)
	out := []string{req.Model, strconv.Itoa(req.MaxTokens)}
	for _, m := range root.Get("messages").Items() {
		switch role := m.Get("role").Str(); role {
		case "system":
		case "tool":
			out = append(out, role)
		default:
			out = append(out, role+": "+m.Get("content").Str())
		}
	}
	return out
}

// TestTapesAreReplayed runs the suite over its tapes: each one is played by the
// cell of its engine and scenario, passes, and is used up. A tape that no cell
// plays proves nothing.
func TestTapesAreReplayed(t *testing.T) {
	ix, catalog := loadTapes(t)
	scenarios, err := fixtures.LoadScenarios(fixtures.FS())
	if err != nil {
		t.Fatal(err)
	}
	tapes, err := LoadTapes(os.DirFS(tapesDir))
	if err != nil {
		t.Fatal(err)
	}
	doc, err := Runner{Catalog: catalog, Scenarios: scenarios, Tapes: tapes}.Run(t.Context(), Selection{})
	if err != nil {
		t.Fatal(err)
	}
	played := map[string]results.Cell{}
	for _, row := range doc.Rows {
		for _, cell := range row.Cells {
			if cell.Tape != "" {
				played[cell.Tape] = cell
			}
		}
	}
	for _, e := range ix.Tapes {
		cell, ok := played[e.Tape]
		if !ok {
			t.Errorf("%s: no cell of the run plays it", e.Tape)
			continue
		}
		if cell.Verdict != results.Pass && cell.Verdict != results.Degraded && (cell.Verdict != results.NA || e.Lacks == "") {
			t.Errorf("%s: %s: %s", e.Tape, cell.Verdict, cell.Reason)
		}
		if string(cell.Origin) != e.Origin.Kind {
			t.Errorf("%s: origin %q, the index says %q", e.Tape, cell.Origin, e.Origin.Kind)
		}
		tape, err := cassettes.Read(os.DirFS(tapesDir), e.Tape)
		if err != nil {
			t.Error(err)
			continue
		}
		if cell.Exchanges != len(tape.Exchanges) {
			t.Errorf("%s: %d requests were sent, the tape holds %d", e.Tape, cell.Exchanges, len(tape.Exchanges))
		}
	}
}

// TestTapesAreAsWritten writes every tape anew: nothing fails, and nothing changes.
// With GOLDIE_UPDATE it writes them in their place.
func TestTapesAreAsWritten(t *testing.T) {
	if os.Getenv("GOLDIE_UPDATE") != "" {
		if err := writeTapes("", tapesDir); err != nil {
			t.Error(err)
		}
		return
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(tapesDir)); err != nil {
		t.Fatal(err)
	}
	if err := writeTapes("", dir); err != nil {
		t.Fatal(err)
	}
	ix, _ := loadTapes(t)
	for _, e := range ix.Tapes {
		name := filepath.FromSlash("tapes/" + e.Tape + ".yaml")
		was, err := os.ReadFile(filepath.Join(tapesDir, name))
		if err != nil {
			t.Fatal(err)
		}
		is, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil || !bytes.Equal(was, is) {
			t.Errorf("%s is not as it would be written (%v): make tapes", name, err)
		}
	}
}
