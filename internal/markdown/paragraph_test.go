package markdown_test

import (
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
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

//go:embed testdata/texts.txt
var texts string

// TestTexts asks the questions of testdata/texts.txt, which describes the questions.
func TestTexts(t *testing.T) {
	must.Answer(t, texts, map[string]func(t *testing.T, a ...string) string{
		"paragraph": func(t *testing.T, a ...string) string {
			got, _ := markdown.FirstParagraph([]byte(a[0]), true)
			return strconv.Quote(got)
		},
		"blocks": func(t *testing.T, a ...string) string { return fmt.Sprintf("%q", blocks(a[0])) },
	})
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
