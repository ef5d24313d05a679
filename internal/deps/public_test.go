package deps_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sebdah/goldie/v2"
)

// TestPublicCore holds what package codecs promises: the list of its exported
// names stands in a file, so that a change of it is seen, and none of them has a
// type that a caller outside this module cannot name.
func TestPublicCore(t *testing.T) {
	var names []string
	entries := 0
	for _, p := range load(t) {
		if own(p.ImportPath) != "codecs" {
			continue
		}
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			hidden := map[string]bool{} // import names of internal packages
			for _, i := range f.Imports {
				if path, _ := strconv.Unquote(i.Path.Value); strings.Contains(path, "/internal/") {
					hidden[path[strings.LastIndexByte(path, '/')+1:]] = true
				}
			}
			for _, d := range f.Decls {
				exported, signature := public(d)
				if len(exported) > 0 && !strings.Contains(exported[0], ".") {
					entries++ // a method stands with its type, a group of constants is one
				}
				names = append(names, exported...)
				for _, n := range signature {
					ast.Inspect(n, func(n ast.Node) bool {
						if s, ok := n.(*ast.SelectorExpr); ok {
							if x, ok := s.X.(*ast.Ident); ok && hidden[x.Name] {
								t.Errorf("%s: %s has the type %s.%s of an internal package", file, exported[0], x.Name, s.Sel.Name)
							}
						}
						return true
					})
				}
			}
		}
	}
	if entries > 61 {
		t.Errorf("package codecs has %d exported entries; what a caller outside this module does not need belongs into internal/wire", entries)
	}
	slices.Sort(names)
	goldie.New(t).Assert(t, "codecs", []byte(strings.Join(names, "\n")+"\n"))
}

// public gives the exported names of a declaration, and the nodes in which their
// types stand.
func public(d ast.Decl) (names []string, types []ast.Node) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		name := d.Name.Name
		if d.Recv != nil {
			recv := d.Recv.List[0].Type
			if star, ok := recv.(*ast.StarExpr); ok {
				recv = star.X
			}
			name = recv.(*ast.Ident).Name + "." + name
			if !recv.(*ast.Ident).IsExported() {
				return nil, nil
			}
		}
		if d.Name.IsExported() {
			return []string{name}, []ast.Node{d.Type}
		}
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				if s.Name.IsExported() {
					names, types = append(names, s.Name.Name), append(types, exportedFields(s.Type))
				}
			case *ast.ValueSpec:
				for _, n := range s.Names {
					if n.IsExported() {
						names = append(names, n.Name)
					}
				}
				if s.Type != nil && len(names) > 0 {
					types = append(types, s.Type)
				}
			}
		}
	}
	return names, types
}

// exportedFields is a type without the fields of a struct that only its package
// sees.
func exportedFields(t ast.Expr) ast.Expr {
	s, ok := t.(*ast.StructType)
	if !ok {
		return t
	}
	kept := &ast.FieldList{}
	for _, f := range s.Fields.List {
		if len(f.Names) == 0 || slices.ContainsFunc(f.Names, (*ast.Ident).IsExported) {
			kept.List = append(kept.List, f)
		}
	}
	return &ast.StructType{Fields: kept}
}
