package documents

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// TestContributingListsThePackagesAndTheirImports compares the table "Where things
// are" in CONTRIBUTING.md with the packages.
func TestContributingListsThePackagesAndTheirImports(t *testing.T) {
	needsWorkspace(t)
	text := must.Get(os.ReadFile("CONTRIBUTING.md"))(t)
	quoted := regexp.MustCompile("`([^`]+)`")
	names := func(cell string) (all []string) {
		for _, match := range quoted.FindAllStringSubmatch(cell, -1) {
			all = append(all, match[1])
		}
		return all
	}
	imports := map[string][]string{} // by directory: the imports that the table allows
	for line := range strings.Lines(string(text)) {
		if cells := strings.Split(line, "|"); len(cells) == 5 && strings.HasPrefix(line, "| `") {
			for _, dir := range names(cells[1]) {
				imports[dir] = names(cells[3])
			}
		}
	}
	out := must.Get(exec.CommandContext(t.Context(), "go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, "work").Output())(t)
	const module = "github.com/toolshelf-go/toolshelf"
	listed := map[string]bool{".": true, "examples/…": true, "stores/…": true}
	for line := range strings.Lines(string(out)) {
		paths := strings.Fields(line)
		dir := strings.TrimPrefix(strings.TrimPrefix(paths[0], module), "/")
		if dir == "" || strings.HasPrefix(dir, "examples/") && dir != "examples/sample" {
			continue // may import everything below
		}
		if strings.HasPrefix(dir, "stores/") && !strings.HasPrefix(dir, "stores/internal/") {
			continue // a module outside the workspace, unless a developer adds the module
		}
		allowed, ok := imports[dir]
		must.Equal(t, fmt.Sprintf("CONTRIBUTING.md lists %s", dir), true, ok)
		listed[dir] = true
		for _, imported := range paths[1:] {
			below, ours := strings.CutPrefix(imported, module)
			below = strings.TrimPrefix(below, "/")
			if ours && below != "" && !slices.Contains(allowed, below) && !slices.Contains(allowed, path.Dir(below)+"/…") {
				t.Errorf("%s imports %s; CONTRIBUTING.md allows %q", dir, below, allowed)
			}
		}
	}
	for dir := range imports {
		if !listed[dir] {
			t.Errorf("CONTRIBUTING.md lists %s, which is not a package", dir)
		}
	}
}

func TestExamplesAreShort(t *testing.T) {
	lines := map[string]int{} // by directory
	files, err := filepath.Glob("examples/*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		lines[filepath.Dir(file)] += strings.Count(string(must.Get(os.ReadFile(file))(t)), "\n")
	}
	for dir, n := range lines {
		if n >= 100 {
			t.Errorf("%s has %d lines; CONTRIBUTING.md promises fewer than 100", dir, n)
		}
	}
}

// TestDocCommentsAreShort checks the doc comments of the exported functions and types outside the
// internal packages. CONTRIBUTING.md promises at most 15 lines.
func TestDocCommentsAreShort(t *testing.T) {
	const longest = 15
	checked := 0
	repositoryFiles(t, ".go", func(file string) {
		if strings.HasSuffix(file, "_test.go") || strings.Contains(filepath.ToSlash(file), "internal/") {
			return
		}
		files := token.NewFileSet()
		parsed := must.Get(parser.ParseFile(files, file, nil, parser.ParseComments|parser.SkipObjectResolution))(t)
		check := func(name string, doc *ast.CommentGroup) {
			if doc == nil || !ast.IsExported(name) {
				return
			}
			checked++
			if n := files.Position(doc.End()).Line - files.Position(doc.Pos()).Line + 1; n > longest {
				t.Errorf("%s: the comment of %s has %d lines; keep at most %d, and move details to docs/methods.md", file, name, n, longest)
			}
		}
		for _, d := range parsed.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				check(d.Name.Name, d.Doc)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						check(spec.Name.Name, d.Doc)
						check(spec.Name.Name, spec.Doc)
					}
				}
			}
		}
	})
	if checked < 200 {
		t.Errorf("the repository has only %d doc comments; the search is broken", checked)
	}
}
