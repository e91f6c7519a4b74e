package shown

import (
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// Matches are the lines that match a pattern.
type Matches[M any] struct {
	Path         string
	Pattern      string
	Matches      []M
	Total        int
	Files        int
	Searched     int
	Binary       int
	Skipped      int
	Ignored      int
	Dependencies int
	Vanished     int
	LongLines    int
	Limits       []string
	Hint         string
	Warnings     []string
}

// A Match is a line that matches.
type Match struct {
	Path          string
	Line          int
	Column        int64
	Text          string
	TextColumn    int64 // more than 0 if Text lacks the beginning of the line
	Truncated     bool  // Text lacks the end of the line
	Before, After []string
	More          int // on the last match of a file: number of further matching lines of the file
}

// Text returns the matches. The function match returns a match of Matches.
func (m Matches[M]) Text(match func(*M) *Match) string {
	var b strings.Builder
	pattern := "'" + escape.Line(m.Pattern) + "'"
	if m.Total == 0 {
		b.WriteString("No lines found matching " + pattern + " in " + Counted(m.Searched, "file", "files"))
	} else {
		b.WriteString("Found " + Counted(m.Total, "line", "lines") + " in " + Counted(m.Files, "file", "files") + " matching " + pattern + ":\n")
	}
	listed := m.writeMatches(&b, match)
	WriteRest(&b, m.Total-len(m.Matches), m.Files-listed, m.Limits)
	var notes []string
	if m.Binary > 0 {
		notes = append(notes, Counted(m.Binary, "file is not text and was", "files are not text and were")+" not searched")
	}
	if m.Skipped > 0 {
		was := "were"
		if m.Skipped == 1 {
			was = "was"
		}
		notes = append(notes, Counted(m.Skipped, "directory or file", "directories or files")+" could not be read and "+was+" skipped")
	}
	if m.Dependencies > 0 {
		notes = append(notes, unsearched(m.Dependencies))
	}
	if m.LongLines > 0 {
		notes = append(notes, Counted(m.LongLines, "line is", "lines are")+" larger than 1 MiB; only the first 1 MiB was searched")
	}
	for i, note := range notes {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("\n" + note)
	}
	writeHint(&b, m.Hint)
	writeWarnings(&b, m.Warnings)
	return b.String()
}

// WriteRest writes the line about the matching lines beyond the limits, and about the files of
// which no line is shown.
func WriteRest(b *strings.Builder, lines, files int, limits []string) {
	if lines <= 0 {
		return
	}
	b.WriteString("\n  … and " + Counted(lines, "more line", "more lines"))
	if files > 0 {
		b.WriteString(" and " + Counted(files, "more file", "more files"))
	}
	if len(limits) > 0 {
		names, these := joinLimits(limits)
		b.WriteString(" beyond " + names + "; raise " + these + ", or narrow path, files or pattern")
	}
}

// writeMatches writes the lines of the matches, and returns the number of files.
func (m Matches[M]) writeMatches(b *strings.Builder, match func(*M) *Match) (files int) {
	context := false
	for i := range m.Matches {
		context = context || match(&m.Matches[i]).HasContext()
	}
	for i := range m.Matches {
		now := match(&m.Matches[i])
		previous := match(&m.Matches[max(i-1, 0)])
		if i == 0 || now.Path != previous.Path {
			files++
		}
		if context && i > 0 && !now.Follows(previous) {
			b.WriteString(ContextGap)
		}
		now.Write(b)
		now.WriteMore(b, m.Files)
	}
	return files
}

// ContextGap separates lines that are not adjacent.
const ContextGap = "\n  --"

// HasContext reports whether the match has lines around its line.
func (m *Match) HasContext() bool { return len(m.Before) > 0 || len(m.After) > 0 }

// Write writes a line break and the lines of a match.
func (m *Match) Write(b *strings.Builder) {
	path := "\n  " + escape.Path(m.Path)
	for i, line := range m.Before {
		writeGrepLine(b, path, "-", m.Line-len(m.Before)+i, escape.Line(line))
	}
	line := escape.Line(m.Text)
	if m.TextColumn > 0 {
		line = "…" + line
	}
	if m.Truncated {
		line += "…"
	}
	writeGrepLine(b, path, ":", m.Line, line)
	for i, line := range m.After {
		writeGrepLine(b, path, "-", m.Line+1+i, escape.Line(line))
	}
}

// WriteMore writes the number of further matches of the file. If only this file has matches, the
// line about all matches has the number.
func (m *Match) WriteMore(b *strings.Builder, files int) {
	if m.More > 0 && files > 1 {
		b.WriteString("\n  " + escape.Path(m.Path) + ": … and " + strconv.Itoa(m.More) + " more")
	}
}

// Follows reports whether the lines of m follow the lines of another match without a gap.
func (m *Match) Follows(previous *Match) bool {
	return m.Path == previous.Path && m.Line-len(m.Before) == previous.Line+len(previous.After)+1
}

// writeGrepLine writes a line of a file. The mark separates the path, the number and the text.
func writeGrepLine(b *strings.Builder, path, mark string, number int, line string) {
	b.WriteString(path + mark + strconv.Itoa(number) + mark)
	if line != "" {
		b.WriteString(" " + line)
	}
}
