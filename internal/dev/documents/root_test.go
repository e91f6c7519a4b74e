package documents

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// rootCounts bounds the Go files of the root directory. A ceiling is the present count, and a
// change may only lower a ceiling. A goal is the count that the project aims at.
var rootCounts = []struct {
	what          string
	ceiling, goal int
}{
	{"files", 28, 25},             // without test files
	{"lines of code", 5177, 4600}, // of these files, without comments and blank lines
	{"exported names", 204, 145},  // functions, methods and types
	{"test files", 25, 25},
}

func TestCountsOfTheRootAreTheirCeilings(t *testing.T) {
	files := must.Get(filepath.Glob("*.go"))(t)
	counts := map[string]int{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			counts["test files"]++
			continue
		}
		source := must.Get(os.ReadFile(file))(t)
		counts["files"]++
		counts["lines of code"] += codeLines(source)
		counts["exported names"] += exportedNames(t, file, source)
	}
	var shown []string
	for _, c := range rootCounts {
		n := counts[c.what]
		shown = append(shown, fmt.Sprintf("%d %s (goal %d)", n, c.what, c.goal))
		if n > c.ceiling {
			t.Errorf("the root has %d %s, the ceiling is %d: move code and tests to packages below the root, merge files, or export less", n, c.what, c.ceiling)
		}
	}
	t.Log("the root has", strings.Join(shown, ", "))
}

// codeLines counts the lines of a Go file that have more than a comment.
func codeLines(source []byte) (n int) {
	var s scanner.Scanner
	file := token.NewFileSet().AddFile("", -1, len(source))
	s.Init(file, source, nil, 0)
	last := 0 // the last counted line
	for {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return n
		}
		if text == "\n" {
			continue // the semicolon at the end of a line
		}
		first := max(file.Line(pos), last+1)
		last = max(last, file.Line(pos)+strings.Count(text, "\n"))
		n += last + 1 - first
	}
}

// exportedNames counts the functions, the types and their methods that a Go file exports.
func exportedNames(t *testing.T, name string, source []byte) (n int) {
	t.Helper()
	file := must.Get(parser.ParseFile(token.NewFileSet(), name, source, parser.SkipObjectResolution))(t)
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && (d.Recv == nil || token.IsExported(receiver(d.Recv.List[0].Type))) {
				n++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if spec, ok := spec.(*ast.TypeSpec); ok && spec.Name.IsExported() {
					n++
				}
			}
		}
	}
	return n
}

func TestCodeLinesOmitCommentsAndBlankLines(t *testing.T) {
	source := "// A\n\npackage a // b\n\n/*\nc\n*/\nvar d = `e\n\nf` + \"g\"\n\nvar h, i = 1, /* j */ 2; var k int\n"
	must.Equal(t, "codeLines([]byte(source))", 5, codeLines([]byte(source)))
}
