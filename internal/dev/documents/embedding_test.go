package documents

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// structs has the struct types of a repository by package path and name, for example
// "example.org/module/dir.Name".
type structs map[string]structType

type structType struct {
	fields   []string
	embedded []string // keys of structs
}

// parseStructs returns the struct types in the Go files at and below a directory,
// without tests. The module path names the directory.
func parseStructs(t *testing.T, module, dir string) structs {
	t.Helper()
	all := structs{}
	must.Do(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, filepath.Dir(name))
		all.add(path.Join(module, filepath.ToSlash(below)), file)
		return err
	}))
	return all
}

// add adds the top-level struct types of a file.
func (s structs) add(pkg string, file *ast.File) {
	packages := map[string]string{} // by the name in the file
	for _, i := range file.Imports {
		imported, _ := strconv.Unquote(i.Path.Value)
		name := path.Base(imported)
		if i.Name != nil {
			name = i.Name.Name
		}
		packages[name] = imported
	}
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			_, inFunction := n.(*ast.FuncDecl)
			return !inFunction
		}
		declared, ok := spec.Type.(*ast.StructType)
		if !ok {
			return false
		}
		var st structType
		for _, f := range declared.Fields.List {
			for _, name := range f.Names {
				st.fields = append(st.fields, name.Name)
			}
			if f.Names != nil {
				continue
			}
			typ := f.Type
			if star, ok := typ.(*ast.StarExpr); ok {
				typ = star.X
			}
			switch typ := typ.(type) {
			case *ast.Ident:
				st.embedded = append(st.embedded, pkg+"."+typ.Name)
			case *ast.SelectorExpr:
				st.embedded = append(st.embedded, packages[typ.X.(*ast.Ident).Name]+"."+typ.Sel.Name)
			}
		}
		s[pkg+"."+spec.Name.Name] = st
		return false
	})
}

// shadowing returns the exported fields of a struct that shadow a field of an
// embedded struct.
func (s structs) shadowing(key string) (fields []string) {
	for _, f := range s[key].fields {
		if token.IsExported(f) && slices.ContainsFunc(s[key].embedded, func(below string) bool { return s.promotes(below, f) }) {
			fields = append(fields, f)
		}
	}
	return fields
}

// promotes reports whether a struct or any of its embedded structs has the field.
func (s structs) promotes(key, field string) bool {
	return slices.Contains(s[key].fields, field) ||
		slices.ContainsFunc(s[key].embedded, func(below string) bool { return s.promotes(below, field) })
}

// A field that shadows a field of an embedded struct is a trap: the outer field and
// the promoted field have the same name and different values.
func TestNoFieldShadowsAFieldOfAnEmbeddedStruct(t *testing.T) {
	all := parseStructs(t, "github.com/toolshelf-go/toolshelf", ".")
	if st := all["github.com/toolshelf-go/toolshelf.Skill"]; !slices.Contains(st.embedded, "github.com/toolshelf-go/toolshelf.SkillInfo") {
		t.Errorf("the test finds no SkillInfo in Skill: %+v", st)
	}
	for key := range all {
		if fields := all.shadowing(key); fields != nil {
			t.Errorf("%s: the fields %q shadow fields of an embedded struct", key, fields)
		}
	}
}
