package documents

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	goldmark "github.com/yuin/goldmark/ast"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// codeSpan matches the text of a code span.
var codeSpan = regexp.MustCompile("`([^`\n]+)`")

// codeSpans returns the code spans of a document, without the blocks of code.
func codeSpans(t *testing.T, document string) (spans []string) {
	t.Helper()
	d := readDocument(t, document)
	each(d, func(span *goldmark.CodeSpan, _ int) { spans = append(spans, d.text(span)) })
	return spans
}

// repositoryFiles calls visit for each file of the repository with an extension, except
// for the data of tests and the invented project of the examples.
func repositoryFiles(t *testing.T, extension string, visit func(file string)) {
	t.Helper()
	must.Do(t, filepath.WalkDir(".", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "testdata" || filepath.ToSlash(file) == "examples/sample/project"):
			return filepath.SkipDir
		case !d.IsDir() && filepath.Ext(file) == extension:
			visit(file)
		}
		return nil
	}))
}

// declaredTests returns the directories of each test, fuzz target, benchmark and example by name.
func declaredTests(t *testing.T) map[string][]string {
	t.Helper()
	declared := map[string][]string{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark|Example)\w*)\(`)
	repositoryFiles(t, ".go", func(file string) {
		text := must.Get(os.ReadFile(file))(t)
		if strings.HasSuffix(file, "_test.go") {
			for _, match := range function.FindAllSubmatch(text, -1) {
				name := string(match[1])
				declared[name] = append(declared[name], filepath.ToSlash(filepath.Dir(file)))
			}
		}
	})
	return declared
}

// TestScriptsNameExistingTests compares the tests and benchmarks in the scripts of .ci with the
// functions of the packages that the line names, because go test passes if no test has the name.
func TestScriptsNameExistingTests(t *testing.T) {
	declared := declaredTests(t)
	named := 0
	pattern := regexp.MustCompile(`\b(?:Test|Fuzz|Benchmark)(?:[A-Z]\w*)?(?:\([\w|]+\))?`)
	directory := regexp.MustCompile(`(?:^|\s)\./([\w./-]*)`)
	for _, script := range must.Get(filepath.Glob(".ci/*"))(t) {
		text := string(must.Get(os.ReadFile(script))(t))
		if filepath.Ext(script) == ".txt" {
			continue
		}
		for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", "")) {
			var dirs []string
			for _, match := range directory.FindAllStringSubmatch(line, -1) {
				if info, err := os.Stat(match[1]); err == nil && info.IsDir() {
					dirs = append(dirs, match[1])
				}
			}
			for _, names := range pattern.FindAllString(line, -1) {
				prefix, alternatives, _ := strings.Cut(strings.TrimSuffix(names, ")"), "(")
				for alternative := range strings.SplitSeq(alternatives, "|") {
					name := prefix + alternative
					if name == "Test" || name == "Fuzz" || name == "Benchmark" {
						continue
					}
					named++
					if declared[name] == nil {
						t.Errorf("%s names %s, which no test file declares", script, name)
					} else if dirs != nil && !slices.ContainsFunc(dirs, func(dir string) bool {
						return slices.Contains(declared[name], dir)
					}) {
						t.Errorf("%s names %s of %q, which is in %q", script, name, dirs, declared[name])
					}
				}
			}
		}
	}
	if named < 20 {
		t.Errorf("the scripts name only %d tests; the search for names is broken", named)
	}
}

// TestDocumentsNameExistingTests compares the tests, fuzz targets and benchmarks in the
// documents with the functions of the repository.
func TestDocumentsNameExistingTests(t *testing.T) {
	declared := declaredTests(t)
	named := 0
	test := regexp.MustCompile(`^(?:Test|Fuzz|Benchmark)[A-Z]\w*$`)
	repositoryFiles(t, ".md", func(document string) {
		for _, span := range codeSpans(t, document) {
			if test.MatchString(span) {
				named++
				if declared[span] == nil {
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
				t.Errorf("%s: no file %s", document, span)
			}
		}
	})
	if named < 50 {
		t.Errorf("the documents name only %d files; the search for paths is broken", named)
	}
}

// TestArchitectureNamesExistingIdentifiers checks each identifier of docs/architecture.md, such as
// index.Snapshot, Catalog.Get and await.
func TestArchitectureNamesExistingIdentifiers(t *testing.T) {
	declared := declarations(t)
	identifier := regexp.MustCompile(`^\w+(?:\.\w+)*(?:\(\))?$`)
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

// TestDocumentsNameExistingMembers checks the identifiers of the other documents whose first part
// the repository declares, such as Catalog.View and mcpadapter.New, also with arguments. In the
// documents of the API, the test checks each exported identifier, such as Grep and Limit(n).
func TestDocumentsNameExistingMembers(t *testing.T) {
	declared := declarations(t)
	member := regexp.MustCompile(`^([A-Za-z]\w*)\.([A-Z]\w*)(?:\(.*\))?$`)
	exported := regexp.MustCompile(`^([A-Z]\w*[a-z]\w*)(?:\(.*\))?$`)
	ofAPI := map[string]bool{"docs/reference.md": true, "docs/methods.md": true, "docs/rendering.md": true, "docs/stores.md": true}
	first, last := map[string]bool{}, map[string]bool{} // packages and types; names without package and type
	for name := range declared {
		parts := strings.Split(name, ".")
		first[parts[0]], last[parts[len(parts)-1]] = true, true
	}
	named := 0
	for _, d := range documents(t) {
		if d.file == "CHANGELOG.md" {
			continue // names former identifiers
		}
		for _, span := range codeSpans(t, d.file) {
			if match := member.FindStringSubmatch(span); match != nil && first[match[1]] && !standardPackages[match[1]] {
				if named++; !declared[match[1]+"."+match[2]] {
					t.Errorf("%s names %s, which no package declares", d.file, span)
				}
			}
			if match := exported.FindStringSubmatch(span); match != nil && ofAPI[d.file] {
				if named++; !last[match[1]] {
					t.Errorf("%s names %s, which no package declares", d.file, span)
				}
			}
		}
	}
	if named < 200 {
		t.Errorf("the documents name only %d members; the search for members is broken", named)
	}
}

// standardPackages are packages of other modules that the documents name.
var standardPackages = map[string]bool{"afero": true, "atomic": true, "context": true, "embed": true, "errors": true, "fs": true, "fsnotify": true, "genkit": true, "json": true, "os": true, "server": true, "sync": true}

// declarations returns the identifiers that the packages of the repository declare
// outside tests.
func declarations(t *testing.T) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	repositoryFiles(t, ".go", func(file string) {
		if !strings.HasSuffix(file, "_test.go") {
			maps.Copy(declared, declarationsOf(t, file))
		}
	})
	return declared
}

// declarationsOf returns the identifiers that a file, or a file of a directory, declares:
// each name alone, with the package, and for a method, a field or a method of an interface
// with the type.
func declarationsOf(t *testing.T, name string) map[string]bool {
	t.Helper()
	declared := map[string]bool{}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		for _, file := range must.Get(filepath.Glob(filepath.Join(name, "*.go")))(t) {
			maps.Copy(declared, declarationsOf(t, file))
		}
		return declared
	}
	parsed := must.Get(parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution))(t)
	pkg := parsed.Name.Name
	if pkg == "main" {
		pkg = path.Base(filepath.ToSlash(filepath.Dir(name)))
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
	return declared
}

// A place is an identifier with the files or directories that a document names beside the
// identifier.
type place struct {
	identifier string
	files      []string
}

const (
	spanOfIdentifier = "`[A-Za-z_]\\w*(?:\\.\\w+)*(?:\\(\\))?`"
	spanOfFile       = "`(?:[\\w./-]+\\.go|(?:internal|confine|mcpadapter|cmd|stores|examples)(?:/[\\w-]+)*)`"
	conjunction      = "(?:, and|, or|,| and| or) "
)

var (
	fence           = regexp.MustCompile("(?ms)^```.*?^```")
	identifiersOf   = regexp.MustCompile("(" + spanOfIdentifier + "(?:" + conjunction + spanOfIdentifier + ")*)\\*{0,2}(?:(?: \\w+){0,3} (?:in |\\()| of )(" + spanOfFile + "(?:" + conjunction + spanOfFile + ")*)")
	fileWithList    = regexp.MustCompile("(" + spanOfFile + ") \\(([^()]*(?:\\(\\)[^()]*)*)\\)")
	fileThenCode    = regexp.MustCompile("(" + spanOfFile + "): (" + spanOfIdentifier + ")")
	identifierSpans = regexp.MustCompile(spanOfIdentifier)
)

// places returns the identifiers of a text beside a file or a directory, in the forms
// "`a` and `b` (`x.go`, `y.go`)", "`a` in `x.go`", "`a` of `x.go`", "`x.go` (`a`, `b`)"
// and "`x.go`: `a`". At most three words may stand before "in" and "(".
func places(text string) (all []place) {
	text = strings.Join(strings.Fields(fence.ReplaceAllString(text, "")), " ")
	add := func(identifiers, files string) {
		var names []string
		for _, span := range codeSpan.FindAllStringSubmatch(files, -1) {
			names = append(names, span[1])
		}
		for _, span := range identifierSpans.FindAllString(identifiers, -1) {
			if identifier := strings.TrimSuffix(strings.Trim(span, "`"), "()"); path.Ext(identifier) != ".go" {
				all = append(all, place{identifier, names})
			}
		}
	}
	for _, match := range identifiersOf.FindAllStringSubmatch(text, -1) {
		add(match[1], match[2])
	}
	for _, pattern := range []*regexp.Regexp{fileWithList, fileThenCode} {
		for _, match := range pattern.FindAllStringSubmatch(text, -1) {
			add(match[2], match[1])
		}
	}
	return all
}

func TestPlacesOfIdentifiersInDocuments(t *testing.T) {
	one := []string{"x.go"}
	for _, tt := range []struct {
		text string
		want []place
	}{
		{"`a` in `x.go`", []place{{"a", one}}},
		{"`A.b` (`x.go`) calls `c` (`internal/y/y.go`)", []place{{"A.b", one}, {"c", []string{"internal/y/y.go"}}}},
		{"**`A.b`** (`x.go`)", []place{{"A.b", one}}},
		{"`a` and\n`b` (`x.go`, `y.go`)", []place{{"a", []string{"x.go", "y.go"}}, {"b", []string{"x.go", "y.go"}}}},
		{"two `a` values of rows (`x.go`)", []place{{"a", one}}},
		{"the `a` of `x.go`", []place{{"a", one}}},
		{"`a()` in `internal/y`", []place{{"a", []string{"internal/y"}}}},
		{"`x.go` (field, `a`, `B.c`)", []place{{"a", one}, {"B.c", one}}},
		{"`x.go`: `a` makes", []place{{"a", one}}},
		{"`a` shows the text; `x.go` shows `b`", nil},
		{"```\n`a` in `x.go`\n```\n", nil},
	} {
		if got := places(tt.text); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.want)
		}
	}
}

// TestDocumentsNameIdentifiersWhereTheyAre checks each identifier that a document names beside a
// file or a directory.
func TestDocumentsNameIdentifiersWhereTheyAre(t *testing.T) {
	declared := map[string]map[string]bool{} // by file or directory
	checked := 0
	for _, d := range documents(t) {
		if d.file == "CHANGELOG.md" {
			continue // describes files of the past
		}
		for _, place := range places(string(d.source)) {
			found := false
			for _, file := range place.files {
				if declared[file] == nil {
					declared[file] = declarationsOf(t, filepath.FromSlash(file))
				}
				found = found || declared[file][place.identifier]
			}
			if checked++; !found {
				t.Errorf("%s names %s beside %q, and no such file declares the identifier", d.file, place.identifier, place.files)
			}
		}
	}
	if checked < 100 {
		t.Errorf("the documents name only %d identifiers beside a file; the search for places is broken", checked)
	}
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
