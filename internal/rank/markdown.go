package rank

import (
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
)

// sections visits the lines of a Markdown text and marks the headings. A # inside
// a code block is not a heading.
func sections(text string, visit func(line string, heading bool)) {
	markdown.Blocks(text, new(markdown.Meter), func(start, end int, kind markdown.Kind) {
		for line := range strings.Lines(text[start:end]) {
			column, rest := markdown.Columns(line, 0)
			visit(line, kind == markdown.Text && column <= 3 && markdown.IsHeading(rest))
		}
	})
}
