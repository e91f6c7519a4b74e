package documents

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// codeSpan matches the text of a code span.
var codeSpan = regexp.MustCompile("`([^`\n]+)`")

// codeSpans returns the code spans of a document, without the blocks of code.
func codeSpans(t *testing.T, document string) (spans []string) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	inBlock := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inBlock = !inBlock
		}
		if inBlock {
			continue
		}
		for _, match := range codeSpan.FindAllStringSubmatch(line, -1) {
			spans = append(spans, match[1])
		}
	}
	return spans
}

// repositoryFiles calls visit for each file of the repository with an extension, except
// for the data of tests and the invented project of the examples.
func repositoryFiles(t *testing.T, extension string, visit func(file string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || filepath.ToSlash(file) == "examples/sample/project"):
			return filepath.SkipDir
		case !d.IsDir() && filepath.Ext(file) == extension:
			visit(file)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestDocumentsNameExistingTests compares the tests, fuzz targets and benchmarks in the
// documents with the functions of the repository.
func TestDocumentsNameExistingTests(t *testing.T) {
	declared := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
	repositoryFiles(t, ".go", func(file string) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(file, "_test.go") {
			for _, match := range function.FindAllSubmatch(text, -1) {
				declared[string(match[1])] = true
			}
		}
	})
	named := 0
	test := regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]\w*$`)
	repositoryFiles(t, ".md", func(document string) {
		for _, span := range codeSpans(t, document) {
			if test.MatchString(span) {
				named++
				if !declared[span] {
					t.Errorf("%s names %s, which no test file declares", document, span)
				}
			}
		}
	})
	if named < 100 {
		t.Errorf("the documents name only %d tests; the search for names is broken", named)
	}
}

// TestDocumentsNameExistingFiles checks each path of a file or directory of the
// repository in the documents of the root and in docs. The test skips paths with "…", which
// stand for several directories, and tags of releases.
func TestDocumentsNameExistingFiles(t *testing.T) {
	goFile := regexp.MustCompile(`^[\w./-]+\.go$`)
	inRepository := regexp.MustCompile(`^(?:internal|confine|mcpadapter|examples|cmd|docs|\.ci)/[\w./-]+$`)
	tag := regexp.MustCompile(`/v\d[\w.]*$`)
	named := 0
	repositoryFiles(t, ".md", func(document string) {
		if dir := filepath.Dir(document); dir != "." && dir != "docs" {
			return
		}
		for _, span := range codeSpans(t, document) {
			span = strings.TrimPrefix(span, "./")
			if !goFile.MatchString(span) && !inRepository.MatchString(span) || tag.MatchString(span) || filepath.Base(document) == "CHANGELOG.md" {
				continue
			}
			named++
			if _, err := os.Stat(filepath.FromSlash(span)); err != nil {
				t.Errorf("%s names %s, which does not exist", document, span)
			}
		}
	})
	if named < 50 {
		t.Errorf("the documents name only %d files; the search for paths is broken", named)
	}
}

// TestArchitectureNamesExistingIdentifiers checks each qualified identifier of
// docs/architecture.md, such as index.Snapshot and Catalog.Get, and each exported
// identifier.
func TestArchitectureNamesExistingIdentifiers(t *testing.T) {
	declared := declarations(t)
	identifier := regexp.MustCompile(`^(?:\w+(?:\.\w+)+|[A-Z]\w*[a-z]\w*)(?:\(\))?$`)
	file := regexp.MustCompile(`\.(?:go|md|mod|work|json|yml|out)$`)
	named := 0
	for _, span := range codeSpans(t, "docs/architecture.md") {
		if !identifier.MatchString(span) || file.MatchString(span) {
			continue
		}
		named++
		first, rest, qualified := strings.Cut(strings.TrimSuffix(span, "()"), ".")
		if qualified && standardPackages[first] {
			continue
		}
		if name := strings.TrimSuffix(span, "()"); !declared[name] && !strings.HasPrefix(name, "Test") && !strings.HasPrefix(name, "Fuzz") {
			t.Errorf("docs/architecture.md names %s (%s of %s), which no package declares", name, rest, first)
		}
	}
	if named < 100 {
		t.Errorf("the document names only %d identifiers; the search for identifiers is broken", named)
	}
}

// standardPackages are packages of other modules that the document names.
var standardPackages = map[string]bool{"afero": true, "atomic": true, "context": true, "embed": true, "errors": true, "fs": true, "fsnotify": true, "json": true, "os": true, "sync": true}

// declarations returns the identifiers that the packages of the repository declare
// outside tests: each name alone, with the package, and for a method, a field or a
// method of an interface with the type.
func declarations(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	repositoryFiles(t, ".go", func(file string) {
		if strings.HasSuffix(file, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		pkg := parsed.Name.Name
		if pkg == "main" {
			pkg = path.Base(filepath.ToSlash(filepath.Dir(file)))
		}
		add := func(names ...string) {
			name := strings.Join(names, ".")
			declared[name], declared[pkg+"."+name] = true, true
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					add(d.Name.Name)
				} else {
					add(receiver(d.Recv.List[0].Type), d.Name.Name)
				}
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch spec := spec.(type) {
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							add(name.Name)
						}
					case *ast.TypeSpec:
						add(spec.Name.Name)
						for _, member := range members(spec.Type) {
							add(spec.Name.Name, member)
						}
					}
				}
			}
		}
	})
	return declared
}

// receiver returns the name of a receiver's type.
func receiver(typ ast.Expr) string {
	switch typ := typ.(type) {
	case *ast.StarExpr:
		return receiver(typ.X)
	case *ast.IndexExpr:
		return receiver(typ.X)
	case *ast.IndexListExpr:
		return receiver(typ.X)
	case *ast.Ident:
		return typ.Name
	}
	return ""
}

// members returns the fields of a struct or the methods of an interface.
func members(typ ast.Expr) (names []string) {
	var list *ast.FieldList
	switch typ := typ.(type) {
	case *ast.StructType:
		list = typ.Fields
	case *ast.InterfaceType:
		list = typ.Methods
	default:
		return nil
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			names = append(names, name.Name)
		}
	}
	return names
}
