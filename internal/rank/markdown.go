package rank

import "strings"

// sections visits the lines of a Markdown text, and says which are headings
// (CommonMark 0.31, section 4.2). A # within a code block begins none.
func sections(text string, visit func(line string, heading bool)) {
	fence := ""
	for line := range strings.Lines(text) {
		trimmed := strings.TrimLeft(line, " ")
		marker := ""
		if indent := len(line) - len(trimmed); indent <= 3 {
			marker = fenceOf(trimmed)
		}
		switch {
		case fence != "":
			if len(marker) >= len(fence) && marker[0] == fence[0] && strings.TrimSpace(trimmed[len(marker):]) == "" {
				fence = ""
			}
			visit(line, false)
		case marker != "":
			fence = marker
			visit(line, false)
		default:
			visit(line, len(line)-len(trimmed) <= 3 && isHeading(trimmed))
		}
	}
}

// fenceOf returns the backquotes or tildes that a line begins with, if they
// can open or close a code block.
func fenceOf(line string) string {
	n := 0
	for n < len(line) && (line[n] == '`' || line[n] == '~') && line[n] == line[0] {
		n++
	}
	if n < 3 || line[0] == '`' && strings.Contains(line[n:], "`") {
		return ""
	}
	return line[:n]
}

func isHeading(line string) bool {
	level := len(line) - len(strings.TrimLeft(line, "#"))
	return 1 <= level && level <= 6 && (level == len(line) || strings.IndexByte(" \t\r\n", line[level]) >= 0)
}
