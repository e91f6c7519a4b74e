package documents

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/BurntSushi/toml"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"
	"go.uber.org/goleak"
	"go.yaml.in/yaml/v3"

	"github.com/toolshelf-go/toolshelf/internal/must"
)

// A document is a Markdown file of the repository.
type document struct {
	file   string // relative to the root of the repository, with slashes
	source []byte
	root   ast.Node
}

// documents returns the Markdown files in the root, in docs and in .github. Files of
// examples and of testdata are input of programs.
func documents(t *testing.T) (all []document) {
	t.Helper()
	for _, glob := range []string{"*.md", "docs/*.md", ".github/*.md", ".github/*/*.md"} {
		for _, file := range must.Get(filepath.Glob(glob))(t) {
			all = append(all, readDocument(t, filepath.ToSlash(file)))
		}
	}
	if len(all) < 2 {
		t.Fatal("the repository has no documents")
	}
	return all
}

func readDocument(t *testing.T, file string) document {
	t.Helper()
	return parseDocument(file, string(must.Get(os.ReadFile(file))(t)))
}

func parseDocument(file, source string) document {
	d := document{file: file, source: []byte(strings.ReplaceAll(source, "\r\n", "\n"))}
	d.root = goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(d.source))
	return d
}

// each calls a function for each node of a type, with the line of the node.
func each[T ast.Node](d document, do func(node T, line int)) {
	ast.Walk(d.root, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if node, ok := node.(T); ok && entering {
			do(node, d.line(node))
		}
		return ast.WalkContinue, nil
	})
}

// line returns the line of a node, or of the block that contains the node.
func (d document) line(node ast.Node) int {
	for node.Pos() < 0 && node.Parent() != nil {
		node = node.Parent()
	}
	return 1 + bytes.Count(d.source[:max(node.Pos(), 0)], []byte("\n"))
}

// text returns the text below a node, without markup.
func (d document) text(node ast.Node) string {
	var b strings.Builder
	ast.Walk(node, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if node, ok := node.(*ast.Text); ok && entering {
			b.Write(node.Segment.Value(d.source))
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// anchors returns the anchors that GitHub gives to the headings: lower case, hyphens for
// blanks, no punctuation, and a number after a repeated anchor.
func (d document) anchors() map[string]bool {
	anchors := map[string]bool{}
	used := map[string]int{}
	each(d, func(heading *ast.Heading, _ int) {
		anchor := strings.Map(func(r rune) rune {
			if r == ' ' {
				return '-'
			}
			if r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, d.text(heading))
		name := anchor
		if n := used[anchor]; n > 0 {
			name += "-" + string(rune('0'+n%10))
		}
		used[anchor]++
		anchors[name] = true
	})
	return anchors
}

// A link is the target of a link or an image.
type link struct {
	target string
	line   int
}

var htmlTarget = regexp.MustCompile(`(?:src|srcset|href)="([^"]*)"`)

// links returns the links and the images of Markdown and of HTML.
func (d document) links() (all []link) {
	each(d, func(node *ast.Link, line int) { all = append(all, link{string(node.Destination), line}) })
	each(d, func(node *ast.Image, line int) { all = append(all, link{string(node.Destination), line}) })
	each(d, func(node *ast.AutoLink, line int) { all = append(all, link{string(node.URL(d.source)), line}) })
	html := func(lines *text.Segments, line int) {
		for _, match := range htmlTarget.FindAllSubmatch(lines.Value(d.source), -1) {
			all = append(all, link{string(match[1]), line})
		}
	}
	each(d, func(node *ast.HTMLBlock, line int) { html(node.Lines(), line) })
	each(d, func(node *ast.RawHTML, line int) { html(node.Segments, line) })
	return all
}

// linkDefect describes the defect of a link, or is empty.
func linkDefect(t *testing.T, from document, target string) string {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		return err.Error()
	}
	if u.Scheme != "" || u.Host != "" {
		if u.Scheme != "https" || u.Host == "" {
			return "not an https link"
		}
		return ""
	}
	file := from.file
	if u.Path != "" {
		file = path.Join(path.Dir(from.file), u.Path)
		if path.IsAbs(u.Path) || !filepath.IsLocal(file) {
			return "leads out of the repository"
		}
		if _, err := os.Stat(file); err != nil {
			return "no such file"
		}
	}
	if u.Fragment == "" {
		return ""
	}
	if path.Ext(file) != ".md" {
		return "an anchor of a file that is not Markdown"
	}
	to := from
	if file != from.file {
		to = readDocument(t, file)
	}
	if !to.anchors()[u.Fragment] {
		return "no such heading"
	}
	return ""
}

func TestLinksOfDocumentsLeadToFilesAndHeadings(t *testing.T) {
	checked := 0
	for _, d := range documents(t) {
		for _, link := range d.links() {
			checked++
			must.Equal(t, fmt.Sprintf("%s:%d: link %q", d.file, link.line, link.target), "",
				linkDefect(t, d, link.target))
		}
	}
	if checked < 20 {
		t.Errorf("the documents have %d links", checked)
	}
}

func TestLinkCheckFindsEachDefect(t *testing.T) {
	d := parseDocument("docs/new.md", "\n# A `b` & C\n\n## A `b` & C\n\n"+
		"[a](#a-b--c) [b](#a-b--c-1) [c](guide.md) ![d](../docs/benchmarks.svg) [e](https://example.com/#x) <img src=\"../LICENSE\">\n\n"+
		"[a](#a-b-c)\n[b](#a-b--c-2)\n[c](none.md)\n![d](benchmarks.svgz)\n[e](http://example.com/)\n[f](../../x)\n[g](/README.md)\n"+
		"<img src=\"none.svg\">\n[h](../LICENSE#1)\n[i](guide.md#none)\n[j](https:///x)\n")
	defects := map[int]bool{}
	for _, link := range d.links() {
		if linkDefect(t, d, link.target) != "" {
			defects[link.line] = true
		}
	}
	for line := range 18 {
		if got, want := defects[line+1], line+1 >= 8; got != want {
			t.Errorf("line %d: defect %v, want %v", line+1, got, want)
		}
	}
}

// TestExternalLinksAnswer requests each external link of the documents.
func TestExternalLinksAnswer(t *testing.T) {
	if os.Getenv("TOOLSHELF_LINKS") != "1" {
		t.Skip("set TOOLSHELF_LINKS=1 to request the external links of the documents")
	}
	requested := map[string]bool{}
	for _, d := range documents(t) {
		for _, link := range d.links() {
			if !strings.HasPrefix(link.target, "https:") || requested[link.target] {
				continue
			}
			requested[link.target] = true
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			request := must.Get(http.NewRequestWithContext(ctx, http.MethodGet, link.target, nil))(t)
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Errorf("%s:%d: %v", d.file, link.line, err)
			} else if response.Body.Close(); response.StatusCode >= 400 {
				t.Errorf("%s:%d: %s: %s", d.file, link.line, link.target, response.Status)
			}
			cancel()
		}
	}
}

// blockDefect describes the defect of a code block of a language, or is empty. Other tests
// check the blocks of Go and of commands.
func blockDefect(language, code string) string {
	var err error
	switch language {
	case "json":
		var value any
		err = json.Unmarshal([]byte(code), &value)
	case "yaml":
		var value any
		err = yaml.Unmarshal([]byte(code), &value)
	case "toml":
		var value map[string]any
		err = toml.Unmarshal([]byte(code), &value)
	case "go", "sh", "", "text", "markdown":
	default:
		return "no test checks blocks of " + language
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// blocks returns the code of each fenced block.
func blocks(d document, do func(language, code string, line int)) {
	each(d, func(block *ast.FencedCodeBlock, line int) {
		do(string(block.Language(d.source)), string(block.Lines().Value(d.source)), line)
	})
}

func TestCodeBlocksOfDocumentsParse(t *testing.T) {
	for _, d := range documents(t) {
		blocks(d, func(language, code string, line int) {
			must.Equal(t, fmt.Sprintf("%s:%d", d.file, line), "", blockDefect(language, code))
		})
	}
	for _, path := range issueForms(t) {
		must.Equal(t, path, "", blockDefect("yaml", string(must.Get(os.ReadFile(path))(t))))
	}
}

func issueForms(t *testing.T) []string {
	t.Helper()
	return must.Get(filepath.Glob(".github/*/*.y*ml"))(t)
}

func TestCodeBlockCheckFindsEachDefect(t *testing.T) {
	for _, tt := range []struct{ language, good, bad string }{
		{"json", `{"a": 1}`, `{"a": 1,}`},
		{"yaml", "a: 1", "a: b: c"},
		{"toml", "a = 1", "a = "},
		{"", "any text", ""},
		{"golang", "", "x := 1"},
	} {
		if defect := blockDefect(tt.language, tt.good); tt.good != "" && defect != "" {
			t.Errorf("%s %q: %s", tt.language, tt.good, defect)
		}
		if tt.bad != "" && blockDefect(tt.language, tt.bad) == "" {
			t.Errorf("%s %q: no defect", tt.language, tt.bad)
		}
	}
}

// TestGoBlocksOfDocumentsAreCompiled compares the Go blocks of all documents with the
// blocks that the tests of the README and of the recipes compile: blocks of README.md and
// docs that are not indented.
func TestGoBlocksOfDocumentsAreCompiled(t *testing.T) {
	for _, d := range documents(t) {
		compiled := 0
		if d.file == "README.md" || path.Dir(d.file) == "docs" {
			compiled = strings.Count("\n"+string(d.source), "\n```go\n")
		}
		var lines []int
		blocks(d, func(language, _ string, line int) {
			if language == "go" {
				lines = append(lines, line)
			}
		})
		must.Len(t, d.file, compiled, lines)
	}
}

// TestFilesInCommentsExist checks the documents and pictures that comments of Go files name.
func TestFilesInCommentsExist(t *testing.T) {
	name := regexp.MustCompile(`\bdocs/[\w-]+\.(?:md|svg)\b`)
	checked := 0
	comments(t, func(file, comment string, line int) {
		for _, named := range name.FindAllString(comment, -1) {
			checked++
			if _, err := os.Stat(named); err != nil {
				t.Errorf("%s:%d: no file %s", file, line, named)
			}
		}
	})
	if checked == 0 {
		t.Error("no comment names a document")
	}
}

// comments calls visit for each line of a comment that begins at the left margin.
func comments(t *testing.T, visit func(file, comment string, line int)) {
	t.Helper()
	repositoryFiles(t, ".go", func(file string) {
		source := must.Get(os.ReadFile(file))(t)
		line := 0
		for text := range strings.Lines(string(source)) {
			line++
			if comment, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "//"); ok {
				visit(file, comment, line)
			}
		}
	})
}

// TestCommandsOfDocumentsRun checks the commands in code blocks and code spans of
// documents, and in code blocks of comments.
func TestCommandsOfDocumentsRun(t *testing.T) {
	needsWorkspace(t)
	checker := newCommandChecker(t)
	checked := 0
	check := func(file string, line int, command string) {
		checked++
		must.Equal(t, fmt.Sprintf("%s:%d: %s", file, line, command), "", checker.defect(command))
	}
	comments(t, func(file, comment string, line int) {
		if command, ok := strings.CutPrefix(comment, "\t"); ok && isCommand(command) {
			check(file, line, command)
		}
	})
	for _, d := range documents(t) {
		blocks(d, func(language, code string, line int) {
			if !slices.Contains([]string{"", "sh"}, language) {
				return
			}
			for i, command := range strings.Split(strings.TrimSuffix(code, "\n"), "\n") {
				if language == "sh" || isCommand(command) {
					check(d.file, line+1+i, command)
				}
			}
		})
		each(d, func(span *ast.CodeSpan, line int) {
			if command := d.text(span); isCommand(command) {
				check(d.file, line, command)
			}
		})
	}
	if checked < 20 {
		t.Errorf("the documents have %d commands", checked)
	}
}

func TestMain(m *testing.M) {
	if err := os.Chdir("../../.."); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// The ceilings of the words of README.md and docs. A change may only lower a ceiling. The total has
// 45,000 words, and room for two capabilities with at most 1,000 words each: when a capability is
// in the documents, lower the total to the count.
const (
	maxWords       = 47_000
	maxWordsOfPage = 5_000
	maxReadmeLines = 120
)

func TestDocumentsAreShort(t *testing.T) {
	pages := must.Get(filepath.Glob("docs/*.md"))(t)
	total := 0
	for _, page := range append(pages, "README.md") {
		text := must.Get(os.ReadFile(page))(t)
		n := len(strings.Fields(string(text)))
		if total += n; n > maxWordsOfPage {
			t.Errorf("%s has %d words, the ceiling is %d: name a doc comment or a test in place of details", page, n, maxWordsOfPage)
		}
		if lines := strings.Count(string(text), "\n"); page == "README.md" && lines > maxReadmeLines {
			t.Errorf("%s has %d lines, the ceiling is %d", page, lines, maxReadmeLines)
		}
	}
	if total > maxWords {
		t.Errorf("README.md and docs have %d words, the ceiling is %d", total, maxWords)
	}
	t.Logf("README.md and docs have %d words", total)
}

// Each page of docs except the index begins with what the reader can do after the page.
func TestPagesBeginWithTheirUse(t *testing.T) {
	pages := must.Get(filepath.Glob("docs/*.md"))(t)
	use := regexp.MustCompile(`^# [^\n]+\n\n(?:With|After) this page (?:you|an operator) `)
	for _, page := range pages {
		text := must.Get(os.ReadFile(page))(t)
		if filepath.Base(page) != "README.md" && !use.MatchString(strings.ReplaceAll(string(text), "\r\n", "\n")) {
			t.Errorf("%s does not begin with what a reader can do with the page", page)
		}
	}
}

func TestImagesOfDocumentsHaveText(t *testing.T) {
	alt := regexp.MustCompile(`\balt="[^"]+"`)
	for _, d := range documents(t) {
		for _, image := range regexp.MustCompile(`<img[^>]*>|!\[\]\(`).FindAllString(string(d.source), -1) {
			must.Equal(t, fmt.Sprintf("%s: text of %s", d.file, image), true,
				alt.MatchString(image))
		}
	}
}
