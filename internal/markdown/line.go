package markdown

// Columns skips the blanks at the beginning of a text, and returns the new column
// and the rest. A tab ends at the next multiple of four.
func Columns[T ~string | ~[]byte](text T, column int) (int, T) {
	for i := range len(text) {
		switch text[i] {
		case ' ':
			column++
		case '\t':
			column += 4 - column%4
		default:
			return column, text[i:]
		}
	}
	return column, text[len(text):]
}

// OpenFence returns the run of backticks or tildes of a line, without indentation,
// that opens a code block. For any other line, the result is empty (CommonMark
// 0.31, section 4.5).
func OpenFence[T ~string | ~[]byte](line T) T {
	none := line[:0]
	if len(line) < 3 || line[0] != '`' && line[0] != '~' {
		return none
	}
	n := Run(line)
	if n < 3 {
		return none
	}
	if line[0] == '`' {
		for i := n; i < len(line); i++ {
			if line[i] == '`' {
				return none // the line begins with a code span
			}
		}
	}
	return line[:n]
}

// IsHeading reports whether a line, without indentation, is an ATX heading
// (CommonMark 0.31, section 4.2).
func IsHeading[T ~string | ~[]byte](line T) bool {
	if len(line) == 0 || line[0] != '#' {
		return false
	}
	n := Run(line)
	return n <= 6 && (n == len(line) || isBlank(line[n]) || line[n] == '\r' || line[n] == '\n')
}

// IsUnderline reports whether a line, without indentation, is the underline of a
// setext heading if it follows a paragraph (CommonMark 0.31, section 4.3).
func IsUnderline[T ~string | ~[]byte](line T) bool {
	return len(line) > 0 && (line[0] == '=' || line[0] == '-') && onlyBlanks(line[Run(line):])
}

// IsThematicBreak reports whether a line, without indentation, is a thematic break
// (CommonMark 0.31, section 4.1).
func IsThematicBreak[T ~string | ~[]byte](line T) bool {
	_, ok := thematicBreak(line)
	return ok
}

// thematicBreak also returns the number of bytes examined.
func thematicBreak[T ~string | ~[]byte](line T) (examined int, ok bool) {
	if len(line) < 3 || line[0] != '-' && line[0] != '_' && line[0] != '*' {
		return 1, false
	}
	n := 0
	for i := range len(line) {
		switch {
		case line[i] == line[0]:
			n++
		case !isBlank(line[i]):
			return i + 1, false
		}
	}
	return len(line), n >= 3
}

func onlyBlanks[T ~string | ~[]byte](text T) bool {
	for i := range len(text) {
		if !isBlank(text[i]) {
			return false
		}
	}
	return true
}

// ListMarker returns the width of the bullet or number of a list item, without the
// blank after it. For any other line, the width is 0 (CommonMark 0.31, section 5.2).
func ListMarker[T ~string | ~[]byte](line T) int {
	width := 0
	switch {
	case len(line) == 0:
		return 0
	case line[0] == '-' || line[0] == '+' || line[0] == '*':
		width = 1
	default:
		for width < len(line) && width < 9 && isDigit(line[width]) {
			width++
		}
		if width == 0 || width == len(line) || line[width] != '.' && line[width] != ')' {
			return 0
		}
		width++
	}
	if width < len(line) && !isBlank(line[width]) {
		return 0
	}
	return width
}

// ListItem reads the beginning of a list item. The line begins at column with the
// marker, whose width is the result of [ListMarker]. ListItem returns the text of
// the item, the column of the text, and the number of columns by which later lines
// of the item are indented from the marker. If more than four blanks follow the
// marker, the text is indented code, and only one blank belongs to the marker.
func ListItem[T ~string | ~[]byte](line T, marker, column int) (indent, textColumn int, text T) {
	indent = marker + 1
	textColumn, text = Columns(line[marker:], column+marker)
	if blanks := textColumn - column - marker; len(text) > 0 && blanks <= 4 {
		indent = marker + blanks
	}
	return indent, textColumn, text
}

// InterruptsParagraph reports whether a list item may follow a paragraph without a
// blank line. A list item without text may not, and neither may an item with a
// number other than 1. The marker is the result of [ListMarker].
func InterruptsParagraph[T ~string | ~[]byte](line T, marker int) bool {
	if marker == 0 || onlyBlanks(line[marker:]) {
		return false
	}
	number := 0
	for _, c := range []byte(line[:marker-1]) {
		number = 10*number + int(c-'0')
	}
	return marker == 1 || number == 1
}

// ClosesFence reports whether a line, without indentation, closes the code block
// that the fence opened.
func ClosesFence[T ~string | ~[]byte](line, fence T) bool {
	return len(line) >= len(fence) && line[0] == fence[0] && Run(line) >= len(fence) &&
		onlyBlanks(line[Run(line):])
}

// Run returns the number of times that a text, which is not empty, repeats its
// first byte at its beginning.
func Run[T ~string | ~[]byte](text T) int {
	n := 1
	for n < len(text) && text[n] == text[0] {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
func isBlank(c byte) bool { return c == ' ' || c == '\t' }
