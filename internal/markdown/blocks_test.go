package markdown_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// probe marks the places of a text where the tests compare the parsers.
const probe = "$1"

// probes returns the kind of each probe in the source according to CommonMark:
// "code" in a fenced block or a code span, "text" in text, and "" elsewhere, such as
// in an indented code block, because rendering treats the probe as text.
func probes(source string) []string {
	kinds := make([]string, len(source))
	set := func(segment text.Segment, kind string) {
		for i := segment.Start; i < segment.Stop; i++ {
			kinds[i] = kind
		}
	}
	document := goldmark.DefaultParser().Parse(text.NewReader([]byte(source)))
	err := ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch n := n.(type) {
		case *ast.FencedCodeBlock:
			if entering {
				for i := range n.Lines().Len() {
					set(n.Lines().At(i), "code")
				}
			}
		case *ast.Text:
			if entering {
				kind := "text"
				if _, ok := n.Parent().(*ast.CodeSpan); ok {
					kind = "code"
				}
				set(n.Segment, kind)
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		panic(err)
	}
	var all []string
	for i := 0; ; i += len(probe) {
		n := strings.Index(source[i:], probe)
		if n < 0 {
			return all
		}
		i += n
		all = append(all, kinds[i])
	}
}

// found returns the kind of each probe according to Code. Indented code blocks are
// text, because rendering treats them as text.
func found(source string) []string {
	code := make([]bool, len(source))
	markdown.Code(source, new(markdown.Meter), func(start, end int, kind markdown.Kind) {
		for i := start; i < end && kind != markdown.Indented; i++ {
			code[i] = true
		}
	})
	var kinds []string
	for i := 0; ; i += len(probe) {
		n := strings.Index(source[i:], probe)
		if n < 0 {
			return kinds
		}
		i += n
		kinds = append(kinds, map[bool]string{true: "code", false: "text"}[code[i]])
	}
}

// probed adds a probe after each word.
func probed(source string) string {
	source = strings.ReplaceAll(source, "\\", "/")
	var b strings.Builder
	for i := range len(source) {
		b.WriteByte(source[i])
		if c := source[i] | 0x20; 'a' <= c && c <= 'z' && i+1 < len(source) && source[i+1] == ' ' {
			b.WriteString(probe)
		}
	}
	return b.String()
}

// corpus returns the directory of public files named by TOOLSHELF_CORPUS.
func corpus(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TOOLSHELF_CORPUS")
	if dir == "" {
		t.Skip("TOOLSHELF_CORPUS is not set: it names a directory of public command and skill files")
	}
	return dir
}

func TestCorpusCodeAgreesWithCommonMark(t *testing.T) {
	var all, differ, files int
	must.Do(t, filepath.WalkDir(corpus(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		source := probed(string(data))
		wrong := 0
		want, got := probes(source), found(source)
		for i := range want {
			if want[i] != "" {
				all++
				if want[i] != got[i] {
					wrong++
				}
			}
		}
		if wrong > 0 {
			differ += wrong
			files++
			t.Logf("%s: %d of %d", path, wrong, len(want))
		}
		return nil
	}))
	t.Logf("%d words, of which %d in %d files differ", all, differ, files)
	if all == 0 || differ*1000 > all {
		t.Errorf("%d of %d words differ", differ, all)
	}
}

// lines draws a text in which every line may begin, continue or end a block.
var lines = rapid.Custom(func(t *rapid.T) string {
	line := rapid.Custom(func(t *rapid.T) string {
		prefix := rapid.SampledFrom([]string{"", "", "", "", " ", "  ", "   ", "\t", "> é", "> ", ">", "> > ", "  > ", "- é", "- ", "* ", "1. é", "2. ", "10) ",
			"# ", "#é", "- ```", "> ```", "- > ", "> - ", "  ```", "    é", "     "}).Draw(t, "prefix")
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"é", probe, probe, "`", "``", "```", "````", "~~~", "---", "***", "===", "-", "\\"}), 0, 6).Draw(t, "words")
		return prefix + strings.Join(words, rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
	})
	return strings.Join(rapid.SliceOfN(line, 1, 10).Draw(t, "lines"), "\n")
})

// tooDeep matches a deeply indented fence, which opens a code block in Blocks but
// not in CommonMark.
var tooDeep = regexp.MustCompile("(?m)^[> ]*(?:[-*] *|[0-9]+[.)] *)*(?: {4,}| *\\t\\s*)[> ]*(?:[-*] *|[0-9]+[.)] *)*(?:```|~~~)")

// emptyItem matches a list item with an empty first line, after which goldmark
// computes a wrong indentation.
var emptyItem = regexp.MustCompile(`(?m)(?:[-*]|[0-9][.)])[ \t]*$`)

func TestCodeAgreesWithCommonMark(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		source := lines.Draw(t, "source")
		if tooDeep.MatchString(source) || emptyItem.MatchString(source) {
			t.Skip("Blocks differs on purpose, or goldmark has a defect")
		}
		want, got := probes(source), found(source)
		for i := range want {
			if want[i] != "" && want[i] != got[i] {
				t.Fatalf("%q: in CommonMark, %s number %d is %s", source, probe, i+1, want[i])
			}
		}
		if diff := cmp.Diff(got, found(strings.ReplaceAll(source, "\n", "\r\n"))); diff != "" {
			t.Fatalf("%q: with CRLF (-want +got):\n%s", source, diff)
		}
	})
}

// blocks returns the blocks of a text, with fenced code in brackets and indented code
// in braces.
func blocks(text string) []string {
	var all []string
	markdown.Blocks(text, new(markdown.Meter), func(start, end int, kind markdown.Kind) {
		block := text[start:end]
		switch kind {
		case markdown.Fenced:
			block = "[" + block + "]"
		case markdown.Indented:
			block = "{" + block + "}"
		}
		all = append(all, block)
	})
	return all
}

func FuzzBlocks(f *testing.F) {
	f.Add("# a\n\n- ```\n  b\n> c `d\n```\n")
	f.Add(strings.Repeat("- ", 200) + "a\n" + strings.Repeat("> ", 200) + "b")
	f.Add(strings.Repeat("- ", 100) + strings.Repeat("\n", 1000))
	f.Add(strings.Repeat("- ", 99) + ">" + strings.Repeat("\n", 1000))
	f.Add(strings.Repeat("- * ", 100) + "x")
	f.Fuzz(func(t *testing.T, text string) {
		at := 0
		meter := new(markdown.Meter)
		markdown.Blocks(text, meter, func(start, end int, _ markdown.Kind) {
			if start != at || end <= start {
				t.Errorf("a block is %d:%d, but the previous block ended at %d", start, end, at)
			}
			at = end
		})
		must.Equal(t, "the blocks end", len(text), at)
		if steps := meter.Steps(); steps > 8*len(text) {
			t.Errorf("%d steps for %d bytes", steps, len(text))
		}
	})
}

// BenchmarkHostileBlocks reports how much longer four times the text takes: 4 is
// linear, 16 is quadratic.
func BenchmarkHostileBlocks(b *testing.B) {
	for _, tt := range []struct{ name, unit, end string }{
		{"list markers", "- ", "x"},
		{"mixed markers", "- * ", "x"},
		{"quotes", "> ", ""},
		{"lines of quotes", "> > > >\n", ""},
		{"fences", "```\n", ""},
		{"numbers", "1", ". x"},
		{"thematic break", "_ ", "x"},
	} {
		b.Run(tt.name, func(b *testing.B) {
			text := func(size int) string { return strings.Repeat(tt.unit, size/len(tt.unit)) + tt.end }
			quarter, whole := text(64<<10), text(256<<10)
			none := func(int, int, markdown.Kind) {}
			var quarters time.Duration
			for b.Loop() {
				start := time.Now()
				markdown.Blocks(quarter, new(markdown.Meter), none)
				quarters += time.Since(start)
				markdown.Blocks(whole, new(markdown.Meter), none)
			}
			b.ReportMetric(float64(b.Elapsed()-quarters)/float64(quarters), "growth")
		})
	}
}
