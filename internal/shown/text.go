package shown

import (
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/text"
)

// A FileText is the text of a file, or of some lines of a file.
type FileText text.Page

// String returns the numbered lines, the rest and the warnings.
func (t FileText) String() string {
	var b strings.Builder
	b.Grow(len(t.Text) + len(t.Text)/4 + 64)
	if t.First == 0 {
		t.writeEmpty(&b)
	} else {
		t.writeLines(&b)
		t.writeRest(&b)
	}
	t.writeFormat(&b)
	writeWarnings(&b, t.warnings())
	return b.String()
}

func (t FileText) writeEmpty(b *strings.Builder) {
	switch {
	case t.Total == 0:
		b.WriteString("The file is empty")
	case t.Total > 0:
		b.WriteString("No such line; the file has " + Counted(t.Total, "line", "lines"))
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
		digits := strconv.Itoa(number)
		b.WriteString(strings.Repeat(" ", width-len(digits)) + digits)
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
		b.WriteString("and the rest of the line and " + Counted(more, "more line", "more lines"))
	case cut:
		b.WriteString("and the rest of the line, and maybe more lines")
	case more > 0:
		b.WriteString("and " + Counted(more, "more line", "more lines"))
	default:
		b.WriteString("and more lines")
	}
	b.WriteString("; continue with line " + strconv.Itoa(t.NextLine))
	if t.NextColumn > 0 {
		b.WriteString(", column " + strconv.FormatInt(t.NextColumn, 10))
	}
}

// writeFormat writes what differs from UTF-8 with line breaks of LF.
func (t FileText) writeFormat(b *strings.Builder) {
	var format []string
	if t.Encoding != "" && t.Encoding != "utf-8" {
		format = append(format, strings.ToUpper(t.Encoding))
	}
	if t.BOM {
		format = append(format, "byte order mark")
	}
	switch t.LineEnding {
	case "crlf", "cr":
		format = append(format, "line breaks "+strings.ToUpper(t.LineEnding))
	case "mixed":
		format = append(format, "line breaks LF and CRLF")
	}
	if len(format) > 0 {
		b.WriteString("\n\nFormat: " + strings.Join(format, ", "))
	}
}

func (t FileText) warnings() (all []string) {
	if t.Invalid > 0 {
		all = append(all, Counted(t.Invalid, "invalid byte or unit", "invalid bytes or units")+" of "+t.Encoding+", written as U+FFFD")
	}
	if t.Changed {
		all = append(all, "the file changed during the call; read the file again")
	}
	return all
}
