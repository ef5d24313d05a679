package deps_test

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolconform/conform/codecs"
)

// named are the files outside the folders of the dialects that ask for a dialect
// by its name, each with its reason. What else differs by dialect stands in its
// folder, and others ask its Wire.
var named = map[string]string{
	"codecs/codecs.go": "the names",
}

// TestDialectNames counts the uses of a dialect's name outside its folder.
func TestDialectNames(t *testing.T) {
	names, err := os.ReadFile("../../codecs/codecs.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^\t(\w+) +Dialect = "`).FindAllStringSubmatch(string(names), -1) {
		constants[m[1]] = true
	}
	if len(constants) != len(codecs.Dialects()) {
		t.Fatalf("codecs.go has the constants %v of %v", constants, codecs.Dialects())
	}
	uses := map[string][]string{}
	for _, p := range load(t) {
		path := own(p.ImportPath)
		if dialect, ok := strings.CutPrefix(path, "codecs/"); ok && slices.Contains(codecs.Dialects(), codecs.Dialect(dialect)) {
			continue
		}
		for _, name := range p.GoFiles {
			file := filepath.ToSlash(filepath.Join(path, name))
			fset := token.NewFileSet()
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			used := func(n ast.Node, what string) {
				uses[file] = append(uses[file], strconv.Itoa(fset.Position(n.Pos()).Line)+" "+what)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.SelectorExpr:
					if x, ok := n.X.(*ast.Ident); ok && x.Name == "codecs" && constants[n.Sel.Name] {
						used(n, "codecs."+n.Sel.Name)
					}
				case *ast.Ident:
					if path == "codecs" && constants[n.Name] {
						used(n, n.Name)
					}
				case *ast.BasicLit:
					if s, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING && slices.Contains(codecs.Dialects(), codecs.Dialect(s)) {
						used(n, n.Value)
					}
				}
				return true
			})
		}
	}
	for file, lines := range uses {
		if _, ok := named[file]; !ok {
			t.Errorf("%s names a dialect outside its folder; ask the codec's Wire: line %s", file, strings.Join(lines, ", "))
		}
	}
	for file := range named {
		if len(uses[file]) == 0 {
			t.Errorf("%s names no dialect any more: take it off the list", file)
		}
	}
}

// TestSchemasKnowTheDialects: wherever a schema lists dialects, it lists all.
func TestSchemasKnowTheDialects(t *testing.T) {
	var want []string
	for _, d := range codecs.Dialects() {
		want = append(want, string(d))
	}
	slices.Sort(want)
	lists := 0
	for _, pattern := range []string{"*/schema*.json", "*/schema/*.json", "*/*/schema*.json"} {
		files, err := filepath.Glob("../../" + pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("no schema at %s: %v", pattern, err)
		}
		for _, file := range files {
			lists += dialectLists(t, file, want)
		}
	}
	if lists < 5 {
		t.Errorf("only %d lists of dialects found in schemas", lists)
	}
}

// dialectLists counts the enums of dialects in a schema and holds each against
// all that there are.
func dialectLists(t *testing.T, file string, want []string) (lists int) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var root any
	if err := json.Unmarshal(b, &root); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			var names []string
			list, _ := v["enum"].([]any)
			for _, e := range list {
				if s, ok := e.(string); ok && slices.Contains(want, s) {
					names = append(names, s)
				}
			}
			if len(names) > 1 {
				lists++
				if slices.Sort(names); !slices.Equal(names, want) {
					t.Errorf("%s: the schema knows the dialects %v, there are %v", file, names, want)
				}
			}
			for _, child := range v {
				walk(child)
			}
		case []any:
			for _, child := range v {
				walk(child)
			}
		}
	}
	walk(root)
	return lists
}
