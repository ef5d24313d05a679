package deps_test

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

// places are the folders of the project and the endings, or whole names, of what
// may stand below each.
var places = map[string][]string{
	"":          {"CONTRIBUTING.md", "LICENSE", "Makefile", "README.md", ".gitignore", "go.mod", "go.sum"},
	".ci":       {"run"},
	"cassettes": {".go", ".yaml", ".md", "index.json"},
	"cmd":       {".go", ".txtar", ".json", ".golden"},
	"codecs":    {".go"},
	"docs":      {".go", ".md", ".mjs", ".pl", ".py"},
	"engines":   {".go", ".json"},
	"fixtures":  {".go", ".json", ".md"},
	"internal":  {".go", ".golden", ".json"},
	"interop":   {".go", ".json", ".md", "go.mod", "go.sum"},
	"bench":     {".go", "go.mod", "go.sum"},
	"loop":      {".go"},
	"report":    {".go", ".golden"},
	"suite":     {".go", ".json", ".py"},
	"tools":     {"go.mod", "go.sum"},
}

// hasPlace tells whether a file belongs where it is.
func hasPlace(file string) bool {
	top, _, below := strings.Cut(file, "/")
	if !below {
		top = ""
	}
	base := path.Base(file)
	if below && (strings.HasPrefix(base, ".") || strings.HasPrefix(base, "#")) {
		return false
	}
	if strings.Contains(file, "/testdata/fuzz/") {
		return true // inputs that a fuzzer found; their names have no ending
	}
	return slices.ContainsFunc(places[top], func(end string) bool {
		if top == "" || !strings.HasPrefix(end, ".") {
			return base == end
		}
		return path.Ext(base) == end && base != end
	})
}

// TestEveryFileHasAPlace: what an editor or a merge leaves behind, and a file of
// a kind that nothing here reads, is not committed.
func TestEveryFileHasAPlace(t *testing.T) {
	cmd := exec.Command("git", "ls-files", "-z")
	cmd.Dir = "../.."
	out, err := cmd.Output()
	if err != nil {
		t.Skipf("no git to list the files: %v", err)
	}
	files := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	if len(files) < 500 {
		t.Fatalf("git lists %d files only", len(files))
	}
	for _, f := range files {
		if !hasPlace(f) {
			t.Errorf("%s has no place: remove it, or name its kind in internal/deps/places_test.go", f)
		}
	}
}

func TestHasPlace(t *testing.T) {
	for file, want := range map[string]bool{
		"go.mod": true, "codecs/openai/codec.go": true, "cassettes/tapes/x/y.yaml": true, "codecs/testdata/fuzz/FuzzX/0a": true, ".ci/run": true,
		"cmd/conform/fault_test.go.orig": false, "codecs/a.go.rej": false, "loop/loop.go~": false, "docs/.#x.md": false, "docs/#x.md#": false,
		"suite/.x.go.swp": false, "notes.md": false, "new/x.go": false, "loop/.go": false, "conform": false, "interop/x.mod": false,
	} {
		if hasPlace(file) != want {
			t.Errorf("%s: %v", file, !want)
		}
	}
}
