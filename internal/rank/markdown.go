package rank

import (
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/markdown"
)

// sections visits the offsets of the headings of a Markdown text, each as a line, and of
// the text between two headings. A # inside a code block is not a heading.
func sections(text string, visit func(begin, end int, heading bool)) {
	begin := 0 // of the text that is not visited yet
	markdown.Blocks(text, new(markdown.Meter), func(start, end int, kind markdown.Kind) {
		if kind != markdown.Text || strings.IndexByte(text[start:end], '#') < 0 {
			return
		}
		for at := start; at < end; {
			next := end
			if i := strings.IndexByte(text[at:end], '\n'); i >= 0 {
				next = at + i + 1
			}
			if column, rest := markdown.Columns(text[at:next], 0); column <= 3 && markdown.IsHeading(rest) {
				visit(begin, at, false)
				visit(at, next, true)
				begin = next
			}
			at = next
		}
	})
	visit(begin, len(text), false)
}
