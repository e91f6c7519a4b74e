package toolshelf_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
)

// probe is a placeholder that is put into texts to see whether it is code.
const probe = "$1"

// probes returns, for each probe in the source, what CommonMark makes of it:
// "code" in a fenced block or a code span, "text" in text, and "" in what
// rendering does not tell from text, such as an indented code block.
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
	var found []string
	for i := 0; ; i += len(probe) {
		n := strings.Index(source[i:], probe)
		if n < 0 {
			return found
		}
		i += n
		found = append(found, kinds[i])
	}
}

// rendered returns the same as rendering sees it.
func rendered(t require, source string) []string {
	// As long as the probe, so that nothing moves.
	got, err := toolshelf.Renderer{NoAppend: true}.Render(toolshelf.Command{Content: source}, "\x00\x00")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for i := 0; ; i += len(probe) {
		n := strings.Index(source[i:], probe)
		if n < 0 {
			return found
		}
		i += n
		if got.Text[i] == 0 {
			found = append(found, "text")
		} else {
			found = append(found, "code")
		}
	}
}

type require interface{ Fatal(...any) }

// probed puts a probe after each word.
func probed(source string) string {
	source = strings.NewReplacer("$", "S", "\\", "/", "!`", "! `", "@", "a", "{{", "((").Replace(source)
	var b strings.Builder
	for i := range len(source) {
		b.WriteByte(source[i])
		if c := source[i] | 0x20; 'a' <= c && c <= 'z' && i+1 < len(source) && source[i+1] == ' ' {
			b.WriteString(probe)
		}
	}
	return b.String()
}

func TestCorpusCodeIsWhatCommonMarkSaysItIs(t *testing.T) {
	var all, differ, files int
	err := filepath.WalkDir(corpus(t), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".md") {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		source := probed(string(data))
		wrong := 0
		want, got := probes(source), rendered(t, source)
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
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d words, of which %d in %d files differ", all, differ, files)
	if all == 0 || differ*1000 > all {
		t.Errorf("%d of %d words differ", differ, all)
	}
}

func TestCodeIsWhatCommonMarkSaysItIs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) string {
			prefix := rapid.SampledFrom([]string{"", "", "", "", "  ", "> é", "- é", "1. é", "   ", "# ", "- ```", "    é"}).Draw(t, "prefix")
			return prefix + strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"é", probe, probe, "`", "``", "```", "````", "~~~", "\n"}), 0, 6).Draw(t, "words"), rapid.SampledFrom([]string{"", " "}).Draw(t, "between"))
		}), 1, 8).Draw(t, "lines")
		source := strings.Join(lines, "\n")
		want, got := probes(source), rendered(t, source)
		for i := range want {
			if want[i] != "" && want[i] != got[i] {
				t.Fatalf("%q: of the %d. %s, CommonMark makes %s", source, i+1, probe, want[i])
			}
		}
	})
}
