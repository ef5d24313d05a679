package deps_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolconform/conform/codecs"
)

const module = "github.com/toolconform/conform"

// pkg is what go list tells of a package.
type pkg struct {
	ImportPath, Name, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles       []string
	Imports, TestImports, XTestImports, Deps []string
}

// packages lists the packages of the module, with all that each reaches without
// tests.
var packages = sync.OnceValues(func() ([]pkg, error) {
	cmd := exec.Command("go", "list", "-json=ImportPath,Name,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports,Deps", "./...")
	cmd.Dir = "../.."
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var list []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return list, nil
		} else if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
})

func load(t *testing.T) []pkg {
	t.Helper()
	list, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 20 {
		t.Fatalf("go list names %d packages only", len(list))
	}
	return list
}

// own is the path of a package below the module, "" for one of others.
func own(importPath string) string {
	if rest, ok := strings.CutPrefix(importPath, module+"/"); ok {
		return rest
	}
	return ""
}

// within tells whether a path is one of roots or lies below one.
func within(path string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(r string) bool { return path == r || strings.HasPrefix(path, r+"/") })
}

// TestReach holds what a package reaches, over any number of steps.
func TestReach(t *testing.T) {
	libraries := []string{
		"net/http", "github.com/mark3labs/mcp-go", "github.com/dnaeon/go-vcr", "github.com/sebdah/goldie", "github.com/google/go-cmp",
		"github.com/spf13/cobra", "charm.land/lipgloss",
	}
	for _, rule := range []struct {
		from   string   // these packages
		except []string // but for these
		ours   []string // may not reach these of ours
		others []string // nor these of others
	}{
		{from: "codecs", ours: []string{"loop", "engines", "fixtures", "cassettes", "suite", "report", "cmd"}, others: libraries},
		{from: "loop", except: []string{"loop/mcp"}, ours: []string{"engines", "fixtures", "cassettes", "suite", "report", "cmd"}, others: libraries},
		{from: "loop/mcp", ours: []string{"engines", "fixtures", "cassettes", "suite", "report", "cmd"}},
		{from: "report", ours: []string{"codecs", "loop", "engines", "fixtures", "cassettes", "cmd", "suite/judge", "suite/replay"}},
		{from: "fixtures", ours: []string{"codecs", "loop", "engines", "cassettes", "suite", "report", "cmd"}, others: libraries},
		{from: "cassettes", ours: []string{"codecs", "loop", "engines", "fixtures", "suite", "report", "cmd"}},
		{from: "engines", ours: []string{"loop/mcp", "fixtures", "cassettes", "suite", "report", "cmd"}},
		{from: "suite/results", ours: []string{"codecs", "loop", "engines", "fixtures", "cassettes", "suite/judge", "report", "internal", "cmd"}},
		{from: "suite", ours: []string{"report", "cmd"}},
		{from: "internal", except: []string{"internal/laws", "internal/wire"}, ours: []string{"codecs", "loop", "engines", "fixtures", "cassettes", "suite", "report", "cmd"}},
	} {
		seen := false
		for _, p := range load(t) {
			path := own(p.ImportPath)
			if !within(path, rule.from) || within(path, rule.except...) {
				continue
			}
			seen = true
			for _, dep := range p.Deps {
				if ours := own(dep); ours != "" && ours != path && within(ours, rule.ours...) {
					t.Errorf("%s reaches %s", path, ours)
				}
				for _, o := range rule.others {
					if within(dep, o) {
						t.Errorf("%s reaches %s", path, dep)
					}
				}
			}
		}
		if !seen {
			t.Errorf("no package is %s", rule.from)
		}
	}
}

// TestImporters holds who may import a library.
func TestImporters(t *testing.T) {
	for _, rule := range []struct {
		library string
		by      []string // may import it outside of tests
	}{
		{"github.com/tidwall/gjson", nil},
		{"github.com/tidwall/sjson", []string{"internal/jsonx"}},
		{"github.com/dnaeon/go-vcr", []string{"cassettes"}},
		{"github.com/mark3labs/mcp-go", []string{"loop/mcp", "suite/toolserver"}},
		{"github.com/spf13/cobra", []string{"cmd"}},
		{"charm.land/lipgloss", []string{"report"}},
		{"go.yaml.in/yaml", []string{"cassettes"}},
		{"github.com/sebdah/goldie", nil},
		{"github.com/google/go-cmp", nil},
		{"github.com/creack/pty", nil},
		{"github.com/rogpeppe/go-internal", nil},
		{"github.com/stretchr/testify", nil},
		{"testing", []string{"internal/laws"}}, // which tests alone import
		{module + "/internal/laws", nil},
	} {
		for _, p := range load(t) {
			for _, i := range p.Imports {
				if within(i, rule.library) && !within(own(p.ImportPath), rule.by...) {
					t.Errorf("%s imports %s, which is for %s", own(p.ImportPath), i, strings.Join(append(rule.by, "tests"), ", "))
				}
			}
			for _, i := range slices.Concat(p.TestImports, p.XTestImports) {
				if within(i, "github.com/stretchr/testify") {
					t.Errorf("a test of %s imports %s", own(p.ImportPath), i)
				}
			}
		}
	}
}

// TestDependenciesAreUsed: no requirement of go.mod is there for show.
func TestDependenciesAreUsed(t *testing.T) {
	used := map[string]bool{}
	for _, p := range load(t) {
		for _, i := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
			used[i] = true
		}
	}
	for _, lib := range []string{
		"github.com/sebdah/goldie/v2", "github.com/google/go-cmp", "github.com/dnaeon/go-vcr/v2", "github.com/tidwall/sjson",
		"github.com/tidwall/gjson", "github.com/mark3labs/mcp-go", "github.com/go-json-experiment/json", "go.yaml.in/yaml/v4",
		"github.com/spf13/cobra", "charm.land/lipgloss/v2", "github.com/santhosh-tekuri/jsonschema/v6", "github.com/rogpeppe/go-internal",
	} {
		found := false
		for i := range used {
			found = found || within(i, lib)
		}
		if !found {
			t.Errorf("nothing imports %s", lib)
		}
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\t(\S+) v\S+$`).FindAllStringSubmatch(string(mod), -1) { // an indirect one has a comment
		found := false
		for i := range used {
			found = found || within(i, m[1])
		}
		if !found {
			t.Errorf("go.mod requires %s directly, and nothing imports it", m[1])
		}
	}
}

// TestArchitecturePage holds the table of docs/architecture.md against the code.
func TestArchitecturePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("`([^`]+)`")
	allowed := map[string][]string{}
	for _, line := range strings.Split(string(page), "\n") {
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if len(cells) != 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		name := strings.Trim(strings.TrimSpace(cells[0]), "`")
		allowed[name] = []string{}
		for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
			allowed[name] = append(allowed[name], m[1])
		}
	}
	_, line, _ := strings.Cut(string(page), "\nEverybody may import")
	line, _, _ = strings.Cut(line, "\n")
	var leaves []string
	for _, m := range code.FindAllStringSubmatch(line, -1) {
		leaves = append(leaves, m[1])
		if may, listed := allowed[m[1]]; !listed || len(may) > 0 {
			t.Errorf("docs/architecture.md: %s is no leaf", m[1])
		}
	}
	known := map[string]bool{}
	for _, p := range load(t) {
		path := own(p.ImportPath)
		known[path] = true
		if within(path, "cmd") || p.Name == "main" || len(p.GoFiles) == 0 {
			continue
		}
		may, listed := allowed[path]
		if !listed {
			t.Errorf("docs/architecture.md does not list %s", path)
			continue
		}
		for _, i := range p.Imports {
			if ours := own(i); ours != "" && !slices.Contains(append(may, leaves...), ours) {
				t.Errorf("%s imports %s, which docs/architecture.md does not allow", path, ours)
			}
		}
	}
	for name, may := range allowed {
		for _, path := range append(may, name) {
			if !known[path] {
				t.Errorf("docs/architecture.md names %s, which is no package", path)
			}
		}
	}
}

// TestDialectFolders: a duty stands in the file of the same name in every
// dialect, as docs/architecture.md has it.
func TestDialectFolders(t *testing.T) {
	page, err := os.ReadFile("../../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## A dialect folder\n")
	section, _, _ = strings.Cut(section, "\n## ")
	missing := map[string]string{} // file -> the rest of its line, which names the dialects without it
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z]+\\.go)` \\|(.*)$").FindAllStringSubmatch(section, -1) {
		_, missing[m[1]], _ = strings.Cut(m[2], "; none in ")
	}
	if len(missing) < 10 {
		t.Fatalf("docs/architecture.md lists %d files of a dialect only", len(missing))
	}
	for _, p := range load(t) {
		dialect, ok := strings.CutPrefix(own(p.ImportPath), "codecs/")
		if !ok || !slices.Contains(codecs.Dialects(), codecs.Dialect(dialect)) {
			continue
		}
		for _, f := range p.GoFiles {
			if _, listed := missing[f]; !listed {
				t.Errorf("codecs/%s/%s is none of the files of a dialect that docs/architecture.md lists", dialect, f)
			}
		}
		for f, without := range missing {
			if slices.Contains(p.GoFiles, f) == strings.Contains(without, "`"+dialect+"`") {
				t.Errorf("codecs/%s: docs/architecture.md and the folder disagree on whether %s is there", dialect, f)
			}
		}
	}
}
