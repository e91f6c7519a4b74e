package toolshelf_test

import (
	"io/fs"
	"os"
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
	inRepository := regexp.MustCompile(`^(?:internal|confine|mcpadapter|examples|cmd|docs|\.ci|\.github)/[\w./-]+$`)
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
