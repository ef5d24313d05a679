package deps_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// TestLibraryNamesNoFlag: texts of packages that programs import speak of fields
// and variables, since their users have no flags; so do the notes of the
// catalogue. The report says which command shows more, and is one's output.
func TestLibraryNamesNoFlag(t *testing.T) {
	flag := regexp.MustCompile("(?m)^[^\n/]*[\"`][^\"`\n]*[ (]--[a-z][a-z-]+")
	seen := 0
	for _, p := range load(t) {
		if p.Name == "main" || within(own(p.ImportPath), "cmd", "internal", "report") {
			continue
		}
		for _, name := range p.GoFiles {
			source, err := os.ReadFile(filepath.Join(p.Dir, name))
			if err != nil {
				t.Fatal(err)
			}
			seen++
			for _, m := range flag.FindAll(source, -1) {
				t.Errorf("%s/%s: %s", own(p.ImportPath), name, m)
			}
		}
	}
	entries, err := filepath.Glob("../../engines/catalogue/*.json")
	if err != nil || len(entries) == 0 || seen < 100 {
		t.Fatalf("%d entries, %d files, %v", len(entries), seen, err)
	}
	for _, name := range entries {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range flag.FindAll(source, -1) {
			t.Errorf("%s: %s", name, m)
		}
	}
}
