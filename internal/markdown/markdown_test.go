package markdown_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
)

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

func TestBlocks(t *testing.T) {
	for _, tt := range []struct {
		behaviour, text string
		want            []string
	}{
		{"an empty text", "", nil},
		{"paragraphs end with a blank line", "a\nb\n\nc", []string{"a\nb\n\n", "c"}},
		{"a heading is a block", "# a\nb", []string{"# a\n", "b"}},
		{"a heading needs a blank", "a\n#b", []string{"a\n#b"}},
		{"an underline belongs to its paragraph", "a\n--- \nb", []string{"a\n--- \n", "b"}},
		{"a single hyphen is an underline, too", "a\n-\nb", []string{"a\n-\n", "b"}},
		{"a thematic break ends a paragraph", "a\n***\nb", []string{"a\n", "***\n", "b"}},
		{"a thematic break of hyphens is no list", "- - -\n  ```\na\n  ```\n", []string{"- - -\n", "[  ```\na\n  ```\n]"}},
		{"list items are blocks", "- a\n- b\n  c", []string{"- a\n", "- b\n  c"}},
		{"a list that does not begin with 1 interrupts nothing", "a\n2. b", []string{"a\n2. b"}},
		{"an empty item interrupts nothing", "a\n*\nb", []string{"a\n*\nb"}},
		{"a table row is a block", "a\n| b |\n| c |", []string{"a\n", "| b |\n", "| c |"}},
		{"a fence", "a\n```go\nb\n```\nc", []string{"a\n", "[```go\nb\n```\n]", "c"}},
		{"an unclosed fence", "```\na", []string{"[```\na]"}},
		{"a longer fence closes", "```\n~~~\n````\na", []string{"[```\n~~~\n````\n]", "a"}},
		{"a fence in an item", "- ```\n  a\n  ```\nb", []string{"[- ```\n  a\n  ```\n]", "b"}},
		{"the end of an item ends its fence", "- ```\n  a\nb", []string{"[- ```\n  a\n]", "b"}},
		{"a fence in a quote", "> ```\n> a\n> ```\nb", []string{"[> ```\n> a\n> ```\n]", "b"}},
		{"the end of a quote ends its fence", "> ```\n> a\n\nb", []string{"[> ```\n> a\n]", "\n", "b"}},
		{"a fence in a nested quote with fewer blanks", "> > ```\n> >a\n>> ```\nb", []string{"[> > ```\n> >a\n>> ```\n]", "b"}},
		{"a quote with markers in different columns", "  > ```\n> a\n > ```\nb", []string{"[  > ```\n> a\n > ```\n]", "b"}},
		{"a closing fence with too much indentation closes nothing", "   ```\n    ```\na\n   ```\nb", []string{"[   ```\n    ```\na\n   ```\n]", "b"}},
		{"a deeply indented fence opens a code block", "a\n\n     ```\n     b\n     ```\nc", []string{"a\n\n", "[     ```\n     b\n     ```\n]", "c"}},
		{"a line with less indentation ends a deeply indented block", "a\n\n    ```\n    b\nc", []string{"a\n\n", "[    ```\n    b\n]", "c"}},
		{"a paragraph continues without the marker of the quote", "> a\nb\n> c", []string{"> a\nb\n> c"}},
		{"a blank line ends a quote", "> a\n\n> b", []string{"> a\n\n", "> b"}},
		{"indented code", "a\n\n    b\n    c\nd", []string{"a\n\n", "{    b\n}", "{    c\n}", "d"}},
	} {
		t.Run(tt.behaviour, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, blocks(tt.text)); diff != "" {
				t.Errorf("blocks of %q (-want +got):\n%s", tt.text, diff)
			}
		})
	}
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
		if at != len(text) {
			t.Errorf("the blocks end at %d of %d", at, len(text))
		}
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
