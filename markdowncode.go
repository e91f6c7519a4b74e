package toolshelf

import "strings"

// markdownBlocks cuts a Markdown text into fenced code blocks and stretches of
// text that no code span reaches beyond, such as a paragraph, a heading or a
// list item. Together they are the whole text, in order.
//
// Fences are those of CommonMark 0.31, section 4.5, in lists and quotes too,
// but for one thing: a fence may be indented further than three columns. There
// it would be part of an indented code block or begin a code span, so that what
// follows is code either way, and many authors do not count columns. As in all
// other text, HTML and tables are not looked at, but for a table's row, which no
// code span leaves.
func markdownBlocks(text string, yield func(start, end int, code bool)) {
	blocks := markdownReader{text: text, yield: yield}
	for at := 0; at < len(text); {
		next := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := strings.TrimSuffix(strings.TrimSuffix(text[at:next], "\n"), "\r")
		if blocks.fence.mark == "" || !blocks.code(line, at, next) {
			blocks.line(line, at, next)
		}
		at = next
	}
	blocks.end(len(text), blocks.fence.mark != "")
}

// A markdownReader reads a text line by line.
type markdownReader struct {
	text  string
	yield func(start, end int, code bool)

	start  int   // of the block
	items  []int // the columns at which the text of the list items that are open begins
	quotes int   // how many the line before is in
	prose  bool  // the line before is a paragraph's
	bare   bool  // the line before has a list marker and nothing after it
	fence  fence // that is open
}

// end ends the block, if there is anything in it.
func (r *markdownReader) end(at int, code bool) {
	if at > r.start {
		r.yield(r.start, at, code)
		r.start = at
	}
}

// code reads a line after a fence, and reports whether it belongs to the code.
func (r *markdownReader) code(line string, at, next int) bool {
	switch r.fence.reads(line) {
	case fenceCloses:
		r.fence.mark = ""
		r.end(next, true)
	case fenceLeft:
		r.fence.mark = ""
		r.end(at, true)
		return false
	}
	return true
}

// line reads a line that is in no fenced block.
func (r *markdownReader) line(line string, at, next int) {
	quotes := 0
	column, rest := skipBlanks(line, 0)
	margin := column // of the first quote's mark
	for strings.HasPrefix(rest, ">") {
		quotes++
		column, rest = skipBlanks(rest[1:], column+1)
	}
	if rest == "" {
		if r.bare { // an item has text on its first or its second line
			r.items = r.items[:len(r.items)-1]
		}
		r.end(next, false)
		r.prose, r.bare, r.quotes = false, false, quotes
		return
	}
	// A line that begins nothing belongs to the paragraph before it, even if it
	// is not indented or quoted as that is.
	if !r.prose || quotes > r.quotes || beginsBlock(rest) {
		if quotes > r.quotes {
			r.end(at, false)
		} else {
			margin = column // a new quote is in the items that its mark is in, other text in its own
		}
		for len(r.items) > 0 && r.items[len(r.items)-1] > margin {
			r.items = r.items[:len(r.items)-1]
		}
		r.quotes = quotes
	}
	content := 0 // the column at which the text of the innermost item begins
	if len(r.items) > 0 {
		content = r.items[len(r.items)-1]
	}
	r.bare = false
	indented := !r.prose && quotes == 0 && column >= content+4
	for !indented && len(r.items) < deepestList {
		width := listMarker(rest)
		if width == 0 {
			break
		}
		r.end(at, false)
		marker := column + width
		column, rest = skipBlanks(rest[width:], marker)
		content = column
		if r.bare = rest == ""; r.bare || column > marker+4 {
			content = marker + 1
		}
		r.items = append(r.items, content)
	}
	mark := fenceMark(rest)
	r.prose = false
	switch {
	case mark != "":
		r.end(at, false)
		if column >= content+4 {
			content += 4 // an indented code block ends where the indentation does
		}
		r.fence = fence{mark: mark, column: column, quotes: quotes, content: content}
	case indented, strings.HasPrefix(rest, "#"), strings.HasPrefix(rest, "|"):
		r.end(at, false)
		r.end(next, false)
	case strings.Trim(rest, "-") == "", strings.Trim(rest, "=") == "":
		r.end(next, false)
	default:
		r.prose = true
	}
}

// deepestList keeps a line of nothing but list markers from taking memory for
// each of them.
const deepestList = 100

// A fence is what opened a code block.
type fence struct {
	mark    string // the run of backticks or tildes; "" is no fence
	column  int
	quotes  int // the number of quotes that it is in
	content int // the column that the lines of the block do not fall short of
}

type fenceLine uint8

const (
	fenceGoesOn fenceLine = iota
	fenceCloses           // on this line
	fenceLeft             // before this line, which is outside of the quote or the list item
)

func (f fence) reads(line string) fenceLine {
	column, rest := skipBlanks(line, 0)
	for range f.quotes {
		if !strings.HasPrefix(rest, ">") {
			return fenceLeft
		}
		column, rest = skipBlanks(rest[1:], column+1)
	}
	switch {
	case rest == "":
		return fenceGoesOn
	case column < f.content:
		return fenceLeft
	case column < f.column+4 && strings.HasPrefix(rest, f.mark) && strings.Trim(strings.TrimRight(rest, " \t"), f.mark[:1]) == "":
		return fenceCloses
	}
	return fenceGoesOn
}

// beginsBlock reports whether a line is none of the paragraph before it.
func beginsBlock(rest string) bool {
	return rest[0] == '#' || rest[0] == '|' || listMarker(rest) > 0 || fenceMark(rest) != ""
}

// fenceMark returns the run of backticks or tildes with which a line opens a
// code block, and "" for any other line.
func fenceMark(rest string) string {
	if rest == "" || rest[0] != '`' && rest[0] != '~' {
		return ""
	}
	n := runLength(rest)
	if n < 3 || rest[0] == '`' && strings.Contains(rest[n:], "`") {
		return ""
	}
	return rest[:n]
}

// listMarker returns the width of the bullet or the number that begins a list
// item, without the blank after it, and 0 for any other line.
func listMarker(rest string) int {
	width := 0
	switch {
	case rest == "":
		return 0
	case strings.IndexByte("-+*", rest[0]) >= 0:
		width = 1
	default:
		for width < len(rest) && width < 9 && isDigit(rest[width]) {
			width++
		}
		if width == 0 || width == len(rest) || rest[width] != '.' && rest[width] != ')' {
			return 0
		}
		width++
	}
	if width < len(rest) && !isBlank(rest[width]) {
		return 0
	}
	return width
}

// skipBlanks leaves out the blanks at the beginning and counts the columns on,
// tabs to the next multiple of four.
func skipBlanks(s string, column int) (int, string) {
	for i := range len(s) {
		switch s[i] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return column, s[i:]
		}
	}
	return column, ""
}

// A codeSpans finds the ends of the code spans of one block (CommonMark 0.31,
// section 6.1) in time that is linear in its length: a search that finds none
// has seen every run of backticks, and no later one needs to look again.
type codeSpans struct {
	text string      // as far as the end of the block
	last map[int]int // once a search has failed, where the last run of each length is
}

// closing returns where the run of n backticks is that closes a code span
// whose text begins at from. Calls are in the order of the text.
func (s *codeSpans) closing(from, n int) (at int, ok bool) {
	if s.last != nil && s.last[n] < from {
		return 0, false
	}
	var seen map[int]int
	for i := from; ; {
		next := strings.IndexByte(s.text[i:], '`')
		if next < 0 {
			if s.last = seen; seen == nil {
				s.last = map[int]int{}
			}
			return 0, false
		}
		i += next
		length := runLength(s.text[i:])
		if length == n {
			return i, true
		}
		if seen == nil {
			seen = map[int]int{}
		}
		seen[length] = i
		i += length
	}
}

// runLength counts how often the first byte of s is repeated.
func runLength(s string) int {
	n := 1
	for n < len(s) && s[n] == s[0] {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }
