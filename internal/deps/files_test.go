package deps_test

import (
	"bytes"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestExportedNamesHaveComments: every package has a doc comment, and so has
// every exported name of the packages that others may import. A group of
// constants or variables may share one, or say it at the end of each line.
func TestExportedNamesHaveComments(t *testing.T) {
	for _, p := range load(t) {
		path := own(p.ImportPath)
		if len(p.GoFiles) == 0 {
			continue
		}
		fset := token.NewFileSet()
		var files []*ast.File
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		// The package keeps its declarations for us: fields and lines are looked
		// at below.
		d, err := doc.NewFromFiles(fset, files, p.ImportPath, doc.PreserveAST)
		if err != nil {
			t.Fatal(err)
		}
		if strings.TrimSpace(d.Doc) == "" {
			t.Errorf("%s: package %s has no doc comment", path, p.Name)
		}
		if within(path, "internal", "cmd") || p.Name == "main" {
			continue
		}
		for _, name := range missing(d) {
			t.Errorf("%s: %s has no doc comment", path, name)
		}
	}
}

// interfaceMethods implement an interface whose own comment says what they do.
var interfaceMethods = []string{"Error", "Unwrap", "String", "Is", "As"}

func missing(d *doc.Package) []string {
	var out []string
	values := func(list []*doc.Value) {
		for _, v := range list {
			if v.Doc != "" {
				continue
			}
			for _, s := range v.Decl.Specs {
				spec := s.(*ast.ValueSpec)
				for _, n := range spec.Names {
					if n.IsExported() && spec.Doc == nil && spec.Comment == nil {
						out = append(out, n.Name)
					}
				}
			}
		}
	}
	funcs := func(list []*doc.Func, receiver string) {
		for _, f := range list {
			if f.Doc == "" && !(receiver != "" && slices.Contains(interfaceMethods, f.Name)) {
				out = append(out, strings.TrimPrefix(receiver+"."+f.Name, "."))
			}
		}
	}
	values(d.Consts)
	values(d.Vars)
	funcs(d.Funcs, "")
	for _, typ := range d.Types {
		if typ.Doc == "" {
			out = append(out, typ.Name)
		}
		values(typ.Consts)
		values(typ.Vars)
		funcs(typ.Funcs, "")
		funcs(typ.Methods, typ.Name)
	}
	return out
}

// TestMissingFinds: the search above finds what it looks for.
func TestMissingFinds(t *testing.T) {
	const src = `// Package x is x.
package x

const Bare = 1

// Told is told.
const Told = 2

// A group.
const (
	One = iota
	Two
)

type Shape struct{}

func (Shape) Area() int { return 0 }

func (Shape) Error() string { return "" }

func (Shape) hidden() {}

func Draw() {}

var (
	Said = 1 // at the end of its line
	Mute = 2
)
`
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "x.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	d, err := doc.NewFromFiles(fset, []*ast.File{f}, "x", doc.PreserveAST)
	if err != nil {
		t.Fatal(err)
	}
	got := missing(d)
	slices.Sort(got)
	if want := []string{"Bare", "Draw", "Mute", "Shape", "Shape.Area"}; !slices.Equal(got, want) {
		t.Errorf("missing: %v, want %v", got, want)
	}
}

// Lines that a Go file may have, and from which on it is named.
const (
	mostLines = 600
	manyLines = 500
)

// TestFilesAreShort: a file that is too long to be read at once is split.
func TestFilesAreShort(t *testing.T) {
	root := "../.."
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if name := d.Name(); name == "testdata" || (strings.HasPrefix(name, ".") && path != root) {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		switch n := bytes.Count(b, []byte("\n")); {
		case n > mostLines:
			t.Errorf("%s has %d lines, more than %d", path, n, mostLines)
		case n > manyLines:
			t.Logf("%s has %d lines", path, n)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
