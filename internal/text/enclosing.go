package text

import (
	"slices"
	"strings"
	"unicode"
)

// Enclosing returns the first and the last line of the block around a line, as indexes of lines.
// The block is the innermost block that contains the line and does not begin with a control
// statement. A line outside all blocks is part of a paragraph: the lines up to the next empty
// lines, and the blocks that begin in these lines.
//
// A block begins with a line, and contains the following lines with a larger indent. The block also
// contains lines with the same indent inside brackets, and ends with a line that begins with a
// closing bracket. Enclosing reads no language, so Enclosing ignores brackets in short quotations
// only.
func Enclosing(lines []string, line int) (first, last int) {
	b := newSource(lines)
	inner := [2]int{-1, -1}
	for header := range b.around(line) {
		end := b.end(header)
		if end < line || end == header {
			continue
		}
		if !isControl(lines[header]) {
			return header, end
		}
		if inner[0] < 0 {
			inner = [2]int{header, end}
		}
	}
	if inner[0] >= 0 {
		return inner[0], inner[1]
	}
	for first, last = line, line; first > 0 && !b[line].empty && !b[first-1].empty; first-- {
	}
	for ; last+1 < len(lines) && !b[line].empty && !b[last+1].empty; last++ {
	}
	for i := first; i <= last; i++ {
		last = max(last, b.end(i))
	}
	return first, last
}

// A source is the lines of a text.
type source []sourceLine

// A sourceLine has the properties of a line. Enclosing visits a line many times, and reads the text
// of the line once.
type sourceLine struct {
	indent  int  // the width of the white space before the line; a tab counts as eight columns
	opened  int  // number of opening brackets without the closing brackets
	empty   bool // the line is empty or white space
	note    bool // the line begins with a comment, an attribute or a directive of a preprocessor
	closes  bool // the line begins with the end of a block
	reopens bool // the line begins with the end of a block, and may begin a block
	// A line with the indent of the line above belongs to the block of the line above.
	continues bool
}

func newSource(lines []string) source {
	b := make(source, len(lines))
	for i, text := range lines {
		l := &b[i]
		l.indent = indent(text)
		text = strings.TrimSpace(text)
		if l.empty = text == ""; l.empty {
			continue
		}
		l.opened = opened(text)
		l.note = isNote(text)
		l.closes = strings.ContainsRune("})]", rune(text[0])) || firstWord(text) == "end"
		l.reopens = l.closes && (l.opened >= 0 && strings.ContainsAny(text, "{([:") || strings.HasSuffix(text, ":"))
		l.continues = l.closes || text[0] == '{'
	}
	return b
}

// around returns the lines that can begin a block around a line, from the inside.
func (b source) around(line int) func(func(int) bool) {
	return func(yield func(int) bool) {
		at := line
		for at+1 < len(b) && b[at].empty {
			at++
		}
		indent := b[at].indent // of the lines that do not begin the block
		if b[at].continues {
			indent++
		} else if at == line && !yield(line) {
			return
		}
		for i := line - 1; i >= 0 && indent > 0; i-- {
			if b[i].empty || b[i].note || b[i].indent >= indent {
				continue
			}
			if indent = b[i].indent; b[i].continues {
				indent++
				continue
			}
			if !yield(i) {
				return
			}
		}
	}
}

// end returns the last line of the block that begins with a line.
func (b source) end(header int) int {
	if b[header].empty {
		return header
	}
	indent, open, last := b[header].indent, b[header].opened, header
	for i := header + 1; i < len(b); i++ {
		l := &b[i]
		if l.empty {
			continue
		}
		switch {
		case l.indent > indent && open <= 0: // the indent alone determines the block
			last = i
			continue
		case l.indent > indent:
		case l.indent < indent:
			return last
		case l.closes:
			if !l.reopens {
				return i
			}
		case l.continues: // a line that begins with an opening bracket
		case open <= 0:
			return last
		}
		open, last = open+l.opened, i
	}
	return last
}

// indent returns the width of the white space before a line.
func indent(line string) (n int) {
	for _, c := range line {
		switch c {
		case ' ':
			n++
		case '\t':
			n += 8 - n%8
		default:
			return n
		}
	}
	return n
}

// opened returns the number of opening brackets without the closing brackets.
func opened(line string) (n int) {
	unended := "" // the quotes without an end: later quotes of the same kind have no end
	for i := 0; i < len(line); i++ {
		switch c := line[i]; c {
		case '"', '\'', '`':
			if strings.IndexByte(unended, c) >= 0 {
				continue
			}
			if length := quoted(line[i+1:], c); length >= 0 {
				i += length
			} else if c != '\'' {
				unended += string(c)
			}
		case '/':
			if strings.HasPrefix(line[i:], "//") {
				return n
			}
		case '{', '(', '[':
			n++
		case '}', ')', ']':
			n--
		}
	}
	return n
}

// quoted returns the length of a quotation with its end, or -1. An apostrophe begins a short
// quotation only, because texts and some languages have single apostrophes.
func quoted(rest string, quote byte) int {
	for i := 0; i < len(rest); i++ {
		switch {
		case rest[i] == '\\':
			i++
		case quote == '\'' && i > 8:
			return -1
		case rest[i] == quote:
			return i + 1
		}
	}
	return -1
}

// isNote reports whether a line begins with a comment, an attribute or a directive of a
// preprocessor.
func isNote(line string) bool {
	line = strings.TrimSpace(line)
	return slices.ContainsFunc([]string{"//", "/*", "#", "--", "@"}, func(mark string) bool { return strings.HasPrefix(line, mark) })
}

func firstWord(line string) string {
	line = strings.TrimLeft(line, "}) \t")
	if end := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' }); end >= 0 {
		line = line[:end]
	}
	return line
}

// isControl reports whether a line begins with a control statement.
func isControl(line string) bool { return slices.Contains(controls, firstWord(line)) }

var controls = strings.Fields("if else elif elsif unless for foreach while until loop do repeat switch select match case when default " +
	"try catch except rescue ensure finally with begin go defer return yield await using synchronized unsafe then")
