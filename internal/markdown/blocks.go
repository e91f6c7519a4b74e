package markdown

import "strings"

// A Kind says what a block is.
type Kind uint8

const (
	Text     Kind = iota // a stretch that no code span reaches beyond, such as a paragraph, a heading or a list item
	Fenced               // a fenced code block
	Indented             // a line of an indented code block
)

// Blocks cuts a Markdown text into blocks. The blocks are in order, and together
// are the whole text, unless the meter ends the scan. The cost is linear in the
// length of the text.
//
// Blocks are those of CommonMark 0.31, in lists and quotes too, but for three
// things. A fence may be indented further than three columns, since many
// authors do not count them: what follows is code as far as the fence that
// closes it, or as it is indented so. HTML is not looked at. And no code span
// leaves a line that begins with "|", since it is a table's row.
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

	start int         // of the block
	open  []container // that the line before is in
	prose bool        // the line before is a paragraph's
	bare  bool        // the line before has a list marker and nothing after it
	fence string      // that is open: the run of backticks or tildes
	deep  int         // 4 if the fence is indented so far that it should be none
}

// A container is a block that holds others: a list item, or a quote.
type container struct {
	indent int // of an item's text, in columns
	quote  bool
	items  int // the list items from the innermost quote to this container, inclusive
}

// deepest keeps a line of nothing but marks from taking memory, and each line
// after it time, for each of them.
const deepest = 100

// end ends the block, if there is anything in it.
func (r *reader) end(at int, kind Kind) {
	if at > r.start {
		r.yield(r.start, at, kind)
		r.start = at
	}
}

// A cursor is how far a line is read: its marks are left out, and so are the
// blanks after them.
type cursor struct {
	rest   string
	column int // of rest
	margin int // the column at which the text of the innermost container begins
}

func (c *cursor) indent() int { return c.column - c.margin }

// quote goes past the mark of a quote, to which one blank belongs.
func (c *cursor) quote() {
	c.margin = c.column + 1
	c.column, c.rest = Columns(c.rest[1:], c.margin)
	if c.column > c.margin {
		c.margin++
	}
}

// item goes past a list marker of that width, and returns the item.
func (c *cursor) item(width int) container {
	after := c.column + width
	item := container{indent: c.indent() + width + 1}
	c.column, c.rest = Columns(c.rest[width:], after)
	if blanks := c.column - after; c.rest != "" && blanks <= 4 {
		item.indent += blanks - 1
	}
	c.margin += item.indent
	return item
}

// within goes past the marks of the containers that are open, and returns how
// many of them the line is in.
//
// A blank line is in every list item up to the next quote. Where no quote is
// left, within does not visit the items: a text of blank lines would cost the
// number of items for each line.
func (r *reader) within(c *cursor) int {
	for n, open := range r.open {
		if c.rest == "" && n >= len(r.open)-r.open[len(r.open)-1].items {
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
			return n
		}
	}
	return len(r.open)
}

func (r *reader) line(line string, at, next int) {
	var c cursor
	c.column, c.rest = Columns(line, 0)
	n := r.within(&c)
	if r.fence != "" {
		if n == len(r.open) && (c.rest == "" || c.indent() >= r.deep) {
			if c.indent() < 4+r.deep && r.closes(c.rest) {
				r.fence = ""
				r.end(next, Fenced)
			}
			return
		}
		r.fence = ""
		r.end(at, Fenced)
	}
	if c.rest == "" {
		if r.bare { // an item has text on its first or its second line
			n = min(n, len(r.open)-1)
		}
		r.open = r.open[:n]
		r.end(next, Text)
		r.prose, r.bare = false, false
		return
	}
	if r.prose && n == len(r.open) && c.indent() < 4 && IsUnderline(c.rest) {
		r.prose = false
		r.end(next, Text)
		return
	}
	r.bare = false
	leave := func() { // the containers that the line is not in, and the block before it
		r.open = r.open[:n]
		r.prose = false
		r.end(at, Text)
	}
	var mark byte // what the line was found to be no thematic break of, and is none of further on
marks:
	for c.indent() < 4 && n < deepest && c.rest != "" {
		width := 0
		switch {
		case c.rest[0] != mark && r.isThematicBreak(c.rest):
			leave()
			r.end(next, Text)
			return
		case c.rest[0] == '>':
		default:
			width = ListMarker(c.rest)
			if r.prose && n == len(r.open) && !interrupts(c.rest, width) {
				width = 0
			}
			if width == 0 {
				break marks
			}
		}
		mark = c.rest[0]
		leave()
		if width == 0 {
			c.quote()
			r.open = append(r.open, container{quote: true})
		} else {
			item := c.item(width)
			if item.items = 1; n > 0 {
				item.items += r.open[n-1].items
			}
			r.open = append(r.open, item)
			r.bare = c.rest == ""
		}
		n++
	}
	fence := OpenFence(c.rest)
	switch {
	case fence != "":
		leave()
		r.fence, r.deep = fence, 0
		if c.indent() >= 4 {
			r.deep = 4
		}
	case c.indent() >= 4 && !r.prose:
		leave()
		r.end(next, Indented)
	case c.indent() < 4 && (IsHeading(c.rest) || strings.HasPrefix(c.rest, "|")):
		leave()
		r.end(next, Text)
	case c.rest != "" && !r.prose: // with prose, it goes on, even if it is not marked or indented as before
		leave()
		r.prose = true
	}
}

func (r *reader) isThematicBreak(rest string) bool {
	n, ok := thematicBreak(rest)
	r.meter.Add(n)
	return ok
}

// closes reports whether a line closes the fence that is open.
func (r *reader) closes(rest string) bool {
	return strings.HasPrefix(rest, r.fence) && strings.Trim(strings.TrimRight(rest, " \t"), r.fence[:1]) == ""
}

// interrupts reports whether a list marker ends a paragraph: a number but 1,
// and a marker with nothing after it, may as well be part of the text.
func interrupts(rest string, width int) bool {
	number := strings.TrimLeft(rest[:max(width-1, 0)], "0")
	return (width == 1 || number == "1") && strings.TrimLeft(rest[width:], " \t") != ""
}
