package interop_test

import (
	"encoding/json"
	"os/exec"
	"slices"
	"testing"

	"github.com/toolconform/conform/engines"
	"github.com/toolconform/conform/suite/verify"
)

// moduleDir returns the folder of a module in the module cache, fetching it when
// it is not there. It skips where the module cannot be had.
func moduleDir(t *testing.T, module string) string {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", module).Output()
	var info struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(out, &info); jsonErr != nil || info.Dir == "" {
		t.Skipf("%s cannot be had: %v %s", module, err, info.Error)
	}
	return info.Dir
}

// TestRecordedTapes holds every codec against the tapes of two Go projects.
func TestRecordedTapes(t *testing.T) {
	catalog, err := engines.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		module string
		files  int // at least; the zip of a version does not change
	}{
		{"charm.land/fantasy@v0.41.2", 350},
		{"github.com/tmc/langchaingo@v0.1.14", 140},
	} {
		t.Run(c.module, func(t *testing.T) {
			t.Parallel()
			r, err := verify.Paths(t.Context(), []string{moduleDir(t, c.module)}, catalog)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d files, %d exchanges, %d replies, %d decoded, %d streams, %d other endpoints, %d errors, %d continuations, %v", r.Files, r.Exchanges, r.Replies, r.Decoded, r.Streams, r.Other, r.Errors, r.Continuations.Continuations, r.Differences)
			for _, p := range slices.Concat(r.Failed, r.OursWrong) {
				t.Errorf("%s #%d: %s", p.File, p.Exchange, p.Error)
			}
			if r.Files < c.files {
				t.Errorf("%d files, want at least %d", r.Files, c.files)
			}
			if !r.OK() {
				t.Errorf("decoded %d of %d replies, %d of %d calls, %d of %d errors", r.Decoded, r.Replies, r.DecodedCalls, r.RawCalls, r.ErrorsTyped, r.Errors)
			}
		})
	}
}
