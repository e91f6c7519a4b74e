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
	var (
		items  []int // the columns at which the text of the list items that are open begins
		quotes int   // of the line before
		fence  fence // that is open
		start  int   // of the block
		prose  bool  // the line before is a paragraph's
		bare   bool  // the line before has a list marker and nothing after it
	)
	end := func(at int, code bool) {
		if at > start {
			yield(start, at, code)
			start = at
		}
	}
	for at := 0; at < len(text); {
		next := len(text)
		if i := strings.IndexByte(text[at:], '\n'); i >= 0 {
			next = at + i + 1
		}
		line := strings.TrimRight(text[at:next], "\r\n")
		if fence.mark != "" {
			switch fence.reads(line) {
			case fenceGoesOn:
				at = next
				continue
			case fenceCloses:
				fence.mark = ""
				end(next, true)
				at = next
				continue
			case fenceLeft:
				fence.mark = ""
				end(at, true)
			}
		}
		depth, column, rest := 0, 0, line
		column, rest = skipBlanks(rest, column)
		margin := column
		for strings.HasPrefix(rest, ">") {
			depth++
			column, rest = skipBlanks(rest[1:], column+1)
		}
		if rest == "" {
			if bare { // an item has text on its first or its second line
				items = items[:len(items)-1]
			}
			end(next, false)
			prose, bare, quotes, at = false, false, depth, next
			continue
		}
		bare = false
		// A line that begins nothing belongs to the paragraph before it, even if
		// it is not indented or quoted as that is.
		if !prose || depth > quotes || beginsBlock(rest) {
			if depth > quotes {
				end(at, false)
			} else {
				margin = column // a new quote is in the items that its mark is in, other text in its own
			}
			for len(items) > 0 && items[len(items)-1] > margin {
				items = items[:len(items)-1]
			}
			quotes = depth
		}
		content := 0 // the column at which the text of the innermost item begins
		if len(items) > 0 {
			content = items[len(items)-1]
		}
		indented := !prose && depth == 0 && column >= content+4
		for !indented && len(items) < deepestList {
			width := listMarker(rest)
			if width == 0 {
				break
			}
			end(at, false)
			marker := column + width
			column, rest = skipBlanks(rest[width:], marker)
			content = column
			if bare = rest == ""; bare || column > marker+4 {
				content = marker + 1
			}
			items = append(items, content)
		}
		prose = false
		if mark := fenceMark(rest); mark != "" {
			end(at, false)
			if column >= content+4 {
				content += 4 // an indented code block ends where the indentation does
			}
			fence.mark, fence.column, fence.quotes, fence.content = mark, column, depth, content
		} else if indented || strings.HasPrefix(rest, "#") || strings.HasPrefix(rest, "|") {
			end(at, false)
			end(next, false)
		} else if strings.Trim(rest, "-") == "" || strings.Trim(rest, "=") == "" {
			end(next, false)
		} else {
			prose = true
		}
		at = next
	}
	end(len(text), fence.mark != "")
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
