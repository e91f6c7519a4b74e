package toolshelf

import (
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// String returns the lines as text for a model: the number of each line, a tab and the line
// without its line break. After the number of an empty line, there is no tab. The text has no line break at its end. The numbers are aligned at
// the right.
//
// If the text begins within a line, the first line begins with "…". If lines follow, the last
// line is, for example, "… and 400 more lines; continue with line 101". Further lines contain
// warnings about invalid bytes and about a change of the file.
//
// Each line of the file is one line, even if the line contains control characters. The
// following characters are written as in a Go string: control characters except the tab, line
// and paragraph separators, format and invisible characters. A backslash stays as in the file.
func (t FileText) String() string {
	var b strings.Builder
	b.Grow(len(t.Text) + len(t.Text)/4 + 64)
	if t.First == 0 {
		t.writeEmpty(&b)
	} else {
		t.writeLines(&b)
		t.writeRest(&b)
	}
	writeWarnings(&b, t.warnings())
	return b.String()
}

func (t FileText) writeEmpty(b *strings.Builder) {
	switch {
	case t.Total == 0:
		b.WriteString("The file is empty")
	case t.Total > 0:
		b.WriteString("No such line; the file has " + counted(t.Total, "line", "lines"))
	default:
		b.WriteString("No such line")
	}
}

// writeLines writes the numbered lines.
func (t FileText) writeLines(b *strings.Builder) {
	width := max(len(strconv.Itoa(t.First)), len(strconv.Itoa(t.Last)))
	lines := strings.SplitAfterSeq(t.Text, t.terminator())
	if t.LineEnding == "" {
		// LF and CR are characters of the only line.
		lines = func(yield func(string) bool) { yield(t.Text) }
	}
	number := t.First
	for line := range lines {
		if line == "" && number > t.First {
			break // after the last line break
		}
		if number > t.First {
			b.WriteByte('\n')
		}
		text := strconv.Itoa(number)
		b.WriteString(strings.Repeat(" ", width-len(text)) + text)
		line = escape.Line(t.withoutBreak(line))
		if number == t.First && t.Column > 0 {
			line = "…" + line
		}
		if line != "" {
			b.WriteString("\t" + line)
		}
		number++
	}
}

// terminator returns the last character of a line break.
func (t FileText) terminator() string {
	if t.LineEnding == "cr" {
		return "\r"
	}
	return "\n"
}

func (t FileText) withoutBreak(line string) string {
	if t.LineEnding == "" {
		return line
	}
	whole, ended := strings.CutSuffix(line, t.terminator())
	if ended && t.LineEnding != "cr" {
		whole = strings.TrimSuffix(whole, "\r")
	}
	return whole
}

// writeRest writes the line about the lines after Text.
func (t FileText) writeRest(b *strings.Builder) {
	if t.NextLine == 0 {
		return
	}
	more := -1
	switch {
	case t.Last < 0:
		more = -1 - t.Last
	case t.Total >= 0:
		more = t.Total - t.Last
	}
	b.WriteString("\n… ")
	switch cut := t.NextLine == t.Last; {
	case cut && more == 0:
		b.WriteString("and the rest of the line")
	case cut && more > 0:
		b.WriteString("and the rest of the line and " + counted(more, "more line", "more lines"))
	case cut:
		b.WriteString("and the rest of the line, and maybe more lines")
	case more > 0:
		b.WriteString("and " + counted(more, "more line", "more lines"))
	default:
		b.WriteString("and more lines")
	}
	b.WriteString("; continue with line " + strconv.Itoa(t.NextLine))
	if t.NextColumn > 0 {
		b.WriteString(", column " + strconv.FormatInt(t.NextColumn, 10))
	}
}

func (t FileText) warnings() (all []string) {
	if t.Invalid > 0 {
		all = append(all, counted(t.Invalid, "invalid byte or unit", "invalid bytes or units")+" of "+t.Encoding+", written as U+FFFD")
	}
	if t.Changed {
		all = append(all, "the file changed during the call; read the file again")
	}
	return all
}
