package documents

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// TestEachPackageHasADescriptionAnExampleAndALink checks the page of each package that programs
// import: pkg.go.dev shows the comment of the package and the examples, and no README of the root.
func TestEachPackageHasADescriptionAnExampleAndALink(t *testing.T) {
	comments, examples := map[string]string{}, map[string]bool{} // by directory
	repositoryFiles(t, ".go", func(file string) {
		dir := filepath.ToSlash(filepath.Dir(file))
		if strings.Contains(dir, "internal") || strings.HasPrefix(dir, "examples") {
			return
		}
		parsed := must.Get(parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments|parser.SkipObjectResolution))(t)
		switch {
		case strings.HasSuffix(file, "_test.go"):
			examples[dir] = examples[dir] || hasExample(parsed, slices.Contains(needServers, dir))
		case parsed.Name.Name != "main" && parsed.Name.Name != "servertest":
			comments[dir] += parsed.Doc.Text()
		}
	})
	for dir, comment := range comments {
		if !strings.HasPrefix(comment, "Package ") {
			t.Errorf("%s has no comment that begins with \"Package\"", dir)
		}
		must.Contain(t, "the comment of package has no link to https://", comment,
			"https://"+modulePath)
		if !examples[dir] {
			t.Errorf("package %s has no example with an output", dir)
		}
	}
	if len(comments) < 15 {
		t.Errorf("the repository has only %d packages; the search is broken", len(comments))
	}
}

// needServers are the packages whose examples need a server, so no test runs the examples.
var needServers = []string{"stores/blob/azure", "stores/blob/gcs", "stores/blob/s3", "stores/jetstream"}

// hasExample reports whether a file has an example that a test runs or, if compiled, compiles.
func hasExample(file *ast.File, compiled bool) bool {
	for _, d := range file.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Example") {
			continue
		}
		if compiled {
			return true
		}
		for _, c := range file.Comments {
			text := strings.ToLower(c.Text())
			inside := f.Pos() < c.Pos() && c.Pos() < f.End()
			if inside && (strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:")) {
				return true
			}
		}
	}
	return false
}

// TestPackageCommentsOfInternalPackagesAreShort bounds the comments that only contributors read.
func TestPackageCommentsOfInternalPackagesAreShort(t *testing.T) {
	const longest = 15
	checked := 0
	repositoryFiles(t, ".go", func(file string) {
		if !strings.Contains(filepath.ToSlash(file), "internal/") || strings.HasSuffix(file, "_test.go") {
			return
		}
		files := token.NewFileSet()
		parsed := must.Get(parser.ParseFile(files, file, nil, parser.ParseComments|parser.PackageClauseOnly))(t)
		if parsed.Doc == nil {
			return
		}
		checked++
		if n := files.Position(parsed.Doc.End()).Line - files.Position(parsed.Doc.Pos()).Line + 1; n > longest {
			t.Errorf("the package comment of %s has %d lines; keep at most %d", file, n, longest)
		}
	})
	if checked < 40 {
		t.Errorf("the repository has only %d internal packages; the search is broken", checked)
	}
}

// TestTheDocumentationOfTheRootIsShort counts the lines that go doc shows. A new name needs lines
// that another comment gives up.
func TestTheDocumentationOfTheRootIsShort(t *testing.T) {
	const ceiling = 2500
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command: ", err)
	}
	if n := strings.Count(must.Get(runGo(t, ".", "doc", "-all", "."))(t), "\n") + 1; n > ceiling {
		t.Errorf("go doc -all . has %d lines, the ceiling is %d: move rules to docs", n, ceiling)
	}
}
