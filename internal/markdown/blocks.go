package markdown

import "strings"

// A Kind is the kind of a block.
type Kind uint8

const (
	// A paragraph, a heading, a table row or blank lines; a code span never crosses its ends.
	Text     Kind = iota
	Fenced        // a fenced code block
	Indented      // a line of an indented code block
)

// Blocks yields the blocks of a Markdown text, in order. The blocks together are the
// whole text, unless the meter ends the scan. The time is linear in the length of the
// text.
//
// The blocks are blocks of CommonMark 0.31, including blocks within lists and
// quotes, with three exceptions:
//
//   - A fence may be indented by more than three columns, because many authors do
//     not count columns. Such a block ends with its closing fence, or before the
//     first line of text that is indented by fewer than four columns.
//   - HTML is text.
//   - A line that begins with "|" is a block, because it is a table row.
func Blocks(text string, meter *Meter, yield func(start, end int, kind Kind)) {
	r := reader{meter: meter, yield: yield}
	for at := 0; at < len(text); {
		next := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		if !meter.Add(next - at) {
			return
		}
		r.line(strings.TrimSuffix(strings.TrimSuffix(text[at:next], "\n"), "\r"), at, next)
		at = next
	}
	if r.fence != "" {
		r.end(len(text), Fenced)
	}
	r.end(len(text), Text)
}

// A reader reads a text line by line.
type reader struct {
	meter *Meter
	yield func(start, end int, kind Kind)

	start int         // of the current block
	open  []container // the containers of the previous line, outermost first
	prose bool        // the previous line belongs to a paragraph
	bare  bool        // the previous line ends with a list marker
	fence string      // the run of backticks or tildes that opened the current code block
	deep  int         // 4 if the opening fence is indented by four columns or more, else 0
}

// A container is a block that contains other blocks: a list item or a quote.
type container struct {
	indent int // of the text of an item, in columns
	quote  bool
	items  int // number of list items after the innermost quote, including this item
}

// maxDepth bounds the open containers. Without a bound, a line of markers would
// cost memory for each marker, and each later line time for each marker.
const maxDepth = 100

// end yields the current block, unless the block is empty.
func (r *reader) end(at int, kind Kind) {
	if at > r.start {
		r.yield(r.start, at, kind)
		r.start = at
	}
}

// A cursor is a position in a line, after the markers read and the blanks that
// follow them.
type cursor struct {
	at, next int // the line in the text, with its line break

	rest   string // of the line
	column int    // of rest
	margin int    // the column where the text of the innermost container begins
	depth  int    // the number of containers of the markers read
}

func (c *cursor) indent() int { return c.column - c.margin }

// quote skips the marker of a quote. One blank belongs to the marker.
func (c *cursor) quote() {
	c.margin = c.column + 1
	c.column, c.rest = Columns(c.rest[1:], c.margin)
	if c.column > c.margin {
		c.margin++
	}
}

// item skips a list marker and returns its item.
func (c *cursor) item(width int) container {
	indent, column, text := ListItem(c.rest, width, c.column)
	item := container{indent: c.indent() + indent}
	c.margin += item.indent
	c.column, c.rest = column, text
	return item
}

// within skips the markers of the open containers that contain the line, and sets the depth.
//
// A blank line is in every list item up to the next quote. After the last quote,
// within does not visit the items, because each blank line would then cost the
// number of items.
func (r *reader) within(c *cursor) {
	for c.depth = range r.open {
		open := r.open[c.depth]
		if c.rest == "" && c.depth >= len(r.open)-r.open[len(r.open)-1].items {
			break
		}
		r.meter.Add(1)
		switch {
		case open.quote && c.indent() < 4 && strings.HasPrefix(c.rest, ">"):
			c.quote()
		case !open.quote && c.rest == "":
		case !open.quote && c.indent() >= open.indent:
			c.margin += open.indent
		default:
			return
		}
	}
	c.depth = len(r.open)
}

// line reads the line from at to next. The argument line has no line break.
func (r *reader) line(line string, at, next int) {
	c := cursor{at: at, next: next}
	c.column, c.rest = Columns(line, 0)
	r.within(&c)
	switch {
	case r.fence != "" && r.fenced(&c):
	case c.rest == "":
		r.blank(&c)
	case r.prose && c.depth == len(r.open) && c.indent() < 4 && IsUnderline(c.rest):
		r.prose = false
		r.end(next, Text)
	default:
		r.bare = false
		if r.markers(&c) {
			r.end(next, Text)
		} else {
			r.content(&c)
		}
	}
}

// blank ends the current block with a blank line.
func (r *reader) blank(c *cursor) {
	if r.bare { // an item must begin with text on its first or second line
		c.depth = min(c.depth, len(r.open)-1)
	}
	r.open = r.open[:c.depth]
	r.end(c.next, Text)
	r.prose, r.bare = false, false
}

// leave ends the containers without the line, and the previous block.
func (r *reader) leave(c *cursor) {
	r.open = r.open[:c.depth]
	r.prose = false
	r.end(c.at, Text)
}

// markers opens the containers that begin in the line, and reports whether the rest of the line is
// a thematic break.
func (r *reader) markers(c *cursor) (broken bool) {
	var mark byte // the rest of the line is no thematic break of this character
	for c.indent() < 4 && c.depth < maxDepth && c.rest != "" {
		if c.rest[0] != mark && r.isThematicBreak(c.rest) {
			r.leave(c)
			return true
		}
		mark = c.rest[0]
		if mark == '>' {
			r.leave(c)
			c.quote()
			r.open = append(r.open, container{quote: true})
		} else {
			width := ListMarker(c.rest)
			if width == 0 || r.prose && c.depth == len(r.open) && !InterruptsParagraph(c.rest, width) {
				return false
			}
			r.leave(c)
			item := c.item(width)
			if item.items = 1; c.depth > 0 {
				item.items += r.open[c.depth-1].items
			}
			r.open = append(r.open, item)
			r.bare = c.rest == ""
		}
		c.depth++
	}
	return false
}

// content reads the rest of a line after the markers.
func (r *reader) content(c *cursor) {
	fence := OpenFence(c.rest)
	switch {
	case fence != "":
		r.leave(c)
		r.fence, r.deep = fence, 0
		if c.indent() >= 4 {
			r.deep = 4
		}
	case c.indent() >= 4 && !r.prose:
		r.leave(c)
		r.end(c.next, Indented)
	case c.indent() < 4 && (IsHeading(c.rest) || strings.HasPrefix(c.rest, "|")):
		r.leave(c)
		r.end(c.next, Text)
	case c.rest != "" && !r.prose: // prose continues with any markers and any indentation
		r.leave(c)
		r.prose = true
	}
}

// fenced reports whether a line belongs to the current code block, and ends the block with its last
// line.
func (r *reader) fenced(c *cursor) bool {
	within := c.depth == len(r.open) && (c.rest == "" || c.indent() >= r.deep)
	switch {
	case !within:
		r.fence = ""
		r.end(c.at, Fenced)
	case c.indent() < 4+r.deep && ClosesFence(c.rest, r.fence):
		r.fence = ""
		r.end(c.next, Fenced)
	}
	return within
}

func (r *reader) isThematicBreak(rest string) bool {
	n, ok := thematicBreak(rest)
	r.meter.Add(n)
	return ok
}
