// Package agents_test compares the recipes with their document, and the skills of ADK and Eino with
// the library.
package agents_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

const document = "../../docs/agents.md"

// A recipe is a Go file below this directory.
type recipe struct {
	path string // relative to this directory, with slashes
	code string // without the package clause and the imports
	glue int    // the number of lines of code in the bodies of the glue functions
}

func recipes(t *testing.T) (all []recipe) {
	t.Helper()
	paths := must.Get(filepath.Glob("*/*.go"))(t)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source := must.Get(os.ReadFile(path))(t)
		text := strings.ReplaceAll(string(source), "\r\n", "\n")
		files := token.NewFileSet()
		file := must.Get(parser.ParseFile(files, path, text, parser.ParseComments))(t)
		r := recipe{path: filepath.ToSlash(path)}
		for _, decl := range file.Decls {
			if imports, ok := decl.(*ast.GenDecl); ok && imports.Tok == token.IMPORT {
				r.code = strings.TrimLeft(text[files.Position(imports.End()).Offset:], "\n")
			}
			// The functions Ask… and Run are the agent, which uses the glue.
			if f, ok := decl.(*ast.FuncDecl); ok && !strings.HasPrefix(f.Name.Name, "Ask") && f.Name.Name != "Run" {
				r.glue += codeLines(text[files.Position(f.Body.Lbrace).Offset+1 : files.Position(f.Body.Rbrace).Offset])
			}
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		t.Fatal("there are no recipes")
	}
	return all
}

// codeLines returns the number of lines of a function body that are neither empty nor only closing
// brackets.
func codeLines(body string) (n int) {
	for line := range strings.Lines(body) {
		if strings.Trim(line, " \t\n)}],") != "" {
			n++
		}
	}
	return n
}

func readDocument(t *testing.T) string {
	t.Helper()
	text := must.Get(os.ReadFile(document))(t)
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// TestDocumentShowsARecipeThatTheTestsRun compares each Go block below the link of a file with the
// file.
func TestDocumentShowsARecipeThatTheTestsRun(t *testing.T) {
	block := regexp.MustCompile("(?s)\\[([a-z]+/[a-z]+\\.go)\\]\\(\\.\\./examples/agents/([a-z]+/[a-z]+\\.go)\\)\n\n```go\n(.*?)\n```\n")
	shown := block.FindAllStringSubmatch(readDocument(t), -1)
	if len(shown) == 0 {
		t.Error("the document shows no recipe")
	}
	for _, match := range shown {
		i := slices.IndexFunc(recipes(t), func(r recipe) bool { return r.path == match[1] && r.path == match[2] })
		if i < 0 {
			t.Errorf("%s is no recipe, or the link leads to another file", match[1])
		} else if diff := cmp.Diff(match[3]+"\n", recipes(t)[i].code); diff != "" {
			t.Errorf("%s, -document +file:\n%s", match[1], diff)
		}
	}
}

func TestRecipesHaveAtMostTenLinesOfGlue(t *testing.T) {
	text := readDocument(t)
	for _, r := range recipes(t) {
		if r.glue > 10 {
			t.Errorf("%s has %d lines of glue", r.path, r.glue)
		}
		if r.glue == 0 {
			continue // a part of other recipes
		}
		name := filepath.ToSlash(strings.TrimSuffix(r.path, ".go"))
		if row := fmt.Sprintf("| [%s](../examples/agents/%s) | %d |", name, r.path, r.glue); !strings.Contains(text, row) {
			t.Errorf("the table of the document has no %q", row)
		}
	}
}
