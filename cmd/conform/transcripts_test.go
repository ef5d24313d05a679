package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/toolconform/conform/suite"
	"github.com/toolconform/conform/suite/results"
)

// TestTranscriptsStayInTheirFolder: neither the name of an engine or a scenario
// nor a link that lies there already leads out of the folder.
func TestTranscriptsStayInTheirFolder(t *testing.T) {
	outside := t.TempDir()
	inside := filepath.Join(outside, "kept")
	if err := os.MkdirAll(filepath.Join(inside, "quay"), 0o755); err != nil {
		t.Fatal(err)
	}
	victim := filepath.Join(outside, "victim.json")
	if err := os.WriteFile(victim, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"quay/linked.json": victim, "away": outside} {
		if err := os.Symlink(to, filepath.Join(inside, from)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	dir, err := os.OpenRoot(inside)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	for _, name := range []struct{ engine, scenario string }{
		{"..", "victim"}, {"../..", "x"}, {"quay", "../../victim"}, {"quay", "linked"}, {"away", "victim"}, {"/", "../victim"},
	} {
		if file, err := writeTranscript(dir, suite.Played{Engine: name.engine, Cell: results.Cell{Scenario: name.scenario}}); err == nil {
			t.Errorf("%q %q: written to %s", name.engine, name.scenario, file)
		}
	}
	if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
		t.Errorf("the file outside now holds %.40q, %v", text, err)
	}
	file, err := writeTranscript(dir, suite.Played{Engine: "quay", Cell: results.Cell{Scenario: "basic/one-call", Stream: true}})
	if want := filepath.ToSlash(filepath.Join(inside, "quay/basic/one-call.stream.json")); err != nil || file != want {
		t.Errorf("%s, %v, want %s", file, err, want)
	}
}
