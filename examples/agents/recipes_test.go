// Package agents_test compares the recipes with their document, and the skills of ADK and Eino with the library.
package agents_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	paths, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(source), "\r\n", "\n")
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		r := recipe{path: filepath.ToSlash(path)}
		for _, decl := range file.Decls {
			if imports, ok := decl.(*ast.GenDecl); ok && imports.Tok == token.IMPORT {
				r.code = strings.TrimLeft(text[files.Position(imports.End()).Offset:], "\n")
			}
			// An exported function without a receiver is the agent, which uses the glue.
			if f, ok := decl.(*ast.FuncDecl); ok && (f.Recv != nil || !f.Name.IsExported()) {
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

// codeLines returns the number of lines of a function body that are neither empty nor only closing brackets.
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
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(text), "\r\n", "\n")
}

// TestDocumentShowsTheRecipesThatTheTestsRun compares each Go block of the document with the file that the link above
// the block names.
func TestDocumentShowsTheRecipesThatTheTestsRun(t *testing.T) {
	shown := map[string]string{}
	block := regexp.MustCompile("(?s)\\[([a-z]+/[a-z]+\\.go)\\]\\(\\.\\./examples/agents/([a-z]+/[a-z]+\\.go)\\)\n\n```go\n(.*?)\n```\n")
	for _, match := range block.FindAllStringSubmatch(readDocument(t), -1) {
		if match[1] != match[2] {
			t.Errorf("the link of %s leads to %s", match[1], match[2])
		}
		shown[match[1]] = match[3] + "\n"
	}
	for _, r := range recipes(t) {
		if diff := cmp.Diff(shown[r.path], r.code); diff != "" {
			t.Errorf("%s, -document +file:\n%s", r.path, diff)
		}
		delete(shown, r.path)
	}
	for path := range shown {
		t.Errorf("the document shows %s, which is not a recipe", path)
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
		if row := fmt.Sprintf("| [%s](#%s) | %d |", name, strings.ReplaceAll(name, "/", ""), r.glue); !strings.Contains(text, row) {
			t.Errorf("the table of the document has no %q", row)
		}
	}
}
