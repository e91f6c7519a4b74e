package markdown_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/text"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestFirstParagraph(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"nothing", "", ""},
		{"a line", "Text.", "Text."},
		{"lines are joined", "One\n  two\nthree.\n\nFour.", "One two three."},
		{"hard breaks are joined", "One  \ntwo\\\nthree", "One two three"},
		{"inline markup stays", "A *b* `c` [d](e)\n", "A *b* `c` [d](e)"},
		{"CRLF", "One\r\ntwo\r\n\r\nthree", "One two"},
		{"after a heading", "# H\nText", "Text"},
		{"a heading ends it", "Text\n# H", "Text"},
		{"seven marks are no heading", "####### x", "####### x"},
		{"after an underlined heading", "H\n===\nText", "Text"},
		{"after one of several lines", "H\nH\n---\nText", "Text"},
		{"after a rule", "* * *\nText", "Text"},
		{"after a fence", "```sh\n# no\n\nno\n```\nText", "Text"},
		{"a longer fence", "````\n```\n````\nText", "Text"},
		{"an unclosed fence", "```\nno", ""},
		{"a fence ends it", "Text\n```\nno\n```", "Text"},
		{"code spans are no fence", "``` a ``` b", "``` a ``` b"},
		{"after indented code", "    no\n\nText", "Text"},
		{"an indented line goes on", "One\n      two", "One two"},
		{"after a comment", "<!-- no\n\nno -->\nText", "Text"},
		{"after a comment in a line", "<!-- no -->\n\nText", "Text"},
		{"after HTML", "<div>\nno\n</div>\n\nText", "Text"},
		{"after a tag alone", "<x-y a='b'>\nno\n\nText", "Text"},
		{"an attribute begins with an underscore", "<x-y _a='b'>\nno\n\nText", "Text"},
		{"an attribute begins with a colon", "<x-y :a>\nno\n\nText", "Text"},
		{"an attribute begins with no digit", "<x-y 1='b'>\nmore", "<x-y 1='b'> more"},
		{"an attribute begins with no hyphen", "<x-y -a>\nmore", "<x-y -a> more"},
		{"an inline tag begins it", "<b>Text</b> more", "<b>Text</b> more"},
		{"an autolink begins it", "<https://example.com> more", "<https://example.com> more"},
		{"after a list", "- no\n- no\n\nText", "Text"},
		{"after a numbered list", "1. no\n   no\n2) no\n\nText", "Text"},
		{"a list goes on after a blank line", "- no\n\n  no\n\nText", "Text"},
		{"a lazy line is the item's", "- no\nno\n\nText", "Text"},
		{"a nested list", "- no\n  - no\n\n    no\n\nText", "Text"},
		{"a list ends it", "Text\n- no", "Text"},
		{"a list ends it that looks like a table", "Text\n- |\n", "Text"},
		{"an empty item holds nothing after a blank line", "-\n\n  Text", "Text"},
		{"an empty item holds the next line", "-\n  no\n\nText", "Text"},
		{"an empty item ends a quotation", "> no\n-\nText", "Text"},
		{"a tab after the mark reaches to the fourth column", "-\tno\n\n  Text", "Text"},
		{"code in an item has no lazy lines", "-     no\nText", "Text"},
		{"an underlined heading in an item has no lazy lines", "- no\n  ===\nText", "Text"},
		{"the number 1 ends it", "Text\n1. no", "Text"},
		{"a number other than 1 does not", "Text\n2. more", "Text 2. more"},
		{"a number is no item", "2024 was", "2024 was"},
		{"a hyphen is no item", "-x", "-x"},
		{"after a quotation", "> no\nno\n\nText", "Text"},
		{"after a quoted heading", "> # no\nText", "Text"},
		{"after a table", "| a | b |\n|---|---|\n| c | d |\n\nText", "Text"},
		{"a table ends it", "Text\n| a | b |\n|---|---|\n", "Text"},
		{"bars are no table", "a | b\nc | d", "a | b c | d"},
		{"after link definitions", "[a]: /b\n[c]: <d e> \"f\"\nText", "Text"},
		{"after definitions on several lines", "[a]:\n/b\n'c\nd'\n[e\nf]: g\n\"h\"\nText", "Text"},
		{"a definition without a title before quotes", "[a]: /b\n\"c\" Text", "\"c\" Text"},
		{"no label is no definition", "[ ]: Text", "[ ]: Text"},
		{"a link begins it", "[a](b): c", "[a](b): c"},
		{"only link definitions", "[a]: /b\n", ""},
		{"a placeholder", "$ARGUMENTS", "$ARGUMENTS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, _ := markdown.FirstParagraph([]byte(tt.in), true); got != tt.want {
				t.Errorf("%q: got %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

var oracle = goldmark.New(goldmark.WithExtensions(extension.Table)).Parser()

// oracleParagraph is the first paragraph according to goldmark.
func oracleParagraph(source []byte) string {
	for n := oracle.Parse(text.NewReader(source)).FirstChild(); n != nil; n = n.NextSibling() {
		if n.Kind() != ast.KindParagraph {
			continue
		}
		var parts []string
		for i := range n.Lines().Len() {
			segment := n.Lines().At(i)
			line := strings.Trim(string(segment.Value(source)), " \t\r\n")
			if i < n.Lines().Len()-1 {
				line = strings.TrimRight(strings.TrimSuffix(line, `\`), " \t")
			}
			if line != "" {
				parts = append(parts, line)
			}
		}
		if s := strings.TrimSpace(strings.Join(parts, " ")); s != "" {
			return s
		}
	}
	return ""
}

func TestFirstParagraphAgreesWithGoldmark(t *testing.T) {
	dir := os.Getenv("TOOLSHELF_CORPUS")
	if dir == "" {
		t.Skip("TOOLSHELF_CORPUS is not set: it names a folder of public command and skill files")
	}
	files, differ := 0, 0
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !strings.EqualFold(filepath.Ext(path), ".md") || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		doc, _ := matter.Parse(data, true)
		body := data[doc.Body:]
		files++
		got, _ := markdown.FirstParagraph(body, true)
		if want := oracleParagraph(body); got != want {
			differ++
			t.Errorf("%s:\n got %.200q\nwant %.200q", path, got, want)
		}
		return nil
	}))
	t.Logf("%d files, %d differ", files, differ)
}

func FuzzFirstParagraph(f *testing.F) {
	for _, in := range []string{"Text", "# H\nText\n\nmore", "- a\n\nText", "> a\nb\n\nText", "| a |\n|---|\n", "<div>\n\nText", "[a]: b\nText", "a\n===\nText"} {
		f.Add([]byte(in))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, complete := markdown.FirstParagraph(text, true)
		if !complete || strings.ContainsAny(got, "\n") || strings.TrimSpace(got) != got {
			t.Fatalf("%q of %q", got, text)
		}
	})
}

// BenchmarkFirstParagraphOfHostileText reports how much longer four times the
// text takes: 4 is linear, 16 is quadratic.
func BenchmarkFirstParagraphOfHostileText(b *testing.B) {
	for _, tt := range []struct{ name, unit, end string }{
		{"marks", "- ", "x"},
		{"mixed marks", "- * + 1. > ", "x"},
		{"definitions", "[a]: /b\n", ""},
		{"open titles", "[a]: /b\n\"\n", ""},
		{"open labels", "[", ""},
		{"attributes", "<a b\n", ""},
		{"delimiter rows", "a|b\n-|-|-\n", ""},
	} {
		b.Run(tt.name, func(b *testing.B) {
			text := func(size int) []byte {
				return []byte(strings.Repeat(tt.unit, size/len(tt.unit)) + tt.end)
			}
			quarter, whole := text(matter.MaxHead/4), text(matter.MaxHead)
			var quarters time.Duration
			for b.Loop() {
				start := time.Now()
				markdown.FirstParagraph(quarter, true)
				quarters += time.Since(start)
				markdown.FirstParagraph(whole, true)
			}
			b.ReportMetric(float64(b.Elapsed()-quarters)/float64(quarters), "growth")
		})
	}
}
