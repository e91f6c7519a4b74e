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
	Output       string
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
	if m.Total == 0 {
		b.WriteString("No lines found in " + Counted(m.Searched, "file", "files"))
	} else {
		b.WriteString("Found ")
		if m.Output != OutputFiles { // FilesOnly does not count the lines
			b.WriteString(Counted(m.Total, "line", "lines") + " in ")
		}
		b.WriteString(Counted(m.Files, "file", "files") + ":")
	}
	listed := m.writeMatches(&b, match)
	WriteRest(&b, m.Output, m.Total-len(m.Matches), m.Files-listed, m.Limits)
	writeNotes(&b, m.Ignored,
		note(m.Binary, "file is not text and was", "files are not text and were", " not searched"),
		unread(m.Skipped),
		unsearched(m.Dependencies),
		note(m.LongLines, "line is", "lines are", " larger than 1 MiB; only the first 1 MiB was searched"))
	writeHint(&b, m.Hint)
	writeWarnings(&b, m.Warnings)
	return b.String()
}

// The outputs of a search with one line for each file: the path, or the path and the number of
// lines.
const (
	OutputFiles = "files"
	OutputCount = "count"
)

// WriteRest writes the line about the matching lines beyond the limits, and about the files of
// which no line is shown.
func WriteRest(b *strings.Builder, output string, lines, files int, limits []string) {
	switch {
	case output != "" && files > 0:
		b.WriteString("\n… and " + Counted(files, "more file", "more files"))
	case output == "" && lines > 0:
		b.WriteString("\n\n… and " + Counted(lines, "more line", "more lines"))
		if files > 0 {
			b.WriteString(" and " + Counted(files, "more file", "more files"))
		}
	default:
		return
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
	var previous *Match
	for i := range m.Matches {
		now := match(&m.Matches[i])
		if now.Begins(previous) {
			files++
		} else if context && !now.Follows(previous) {
			b.WriteString(ContextGap)
		}
		now.Write(b, m.Output, previous)
		now.WriteMore(b, m.Output, m.Files)
		previous = now
	}
	return files
}

// ContextGap separates lines that are not adjacent.
const ContextGap = "\n--"

// HasContext reports whether the match has lines around its line.
func (m *Match) HasContext() bool { return len(m.Before) > 0 || len(m.After) > 0 }

// Begins reports whether the match is the first match of its file. The match previous is nil before
// the first match.
func (m *Match) Begins(previous *Match) bool { return previous == nil || m.Path != previous.Path }

// Write writes a line break and the lines of a match, after an empty line and the path for the
// first match of a file.
func (m *Match) Write(b *strings.Builder, output string, previous *Match) {
	if output != "" {
		if previous == nil {
			b.WriteByte('\n')
		}
		b.WriteString("\n" + escape.Path(m.Path))
		if output == OutputCount {
			b.WriteString(":" + strconv.Itoa(1+m.More))
		}
		return
	}
	if m.Begins(previous) {
		b.WriteString("\n\n" + escape.Path(m.Path))
	}
	for i, line := range m.Before {
		writeGrepLine(b, "-", m.Line-len(m.Before)+i, escape.Line(line))
	}
	line := escape.Line(m.Text)
	if m.TextColumn > 0 {
		line = "…" + line
	}
	if m.Truncated {
		line += "…"
	}
	mark := ":"
	if m.TextColumn > 0 || m.Truncated {
		mark = ", column " + strconv.FormatInt(m.Column, 10) + ":"
	}
	writeGrepLine(b, mark, m.Line, line)
	for i, line := range m.After {
		writeGrepLine(b, "-", m.Line+1+i, escape.Line(line))
	}
}

// WriteMore writes the number of further matches of the file. If only this file has matches, the
// line about all matches has the number.
func (m *Match) WriteMore(b *strings.Builder, output string, files int) {
	if output == "" && m.More > 0 && files > 1 {
		b.WriteString("\n… and " + strconv.Itoa(m.More) + " more")
	}
}

// Follows reports whether the lines of m follow the lines of another match without a gap.
func (m *Match) Follows(previous *Match) bool {
	return m.Path == previous.Path && m.Line-len(m.Before) == previous.Line+len(previous.After)+1
}

// writeGrepLine writes a line of a file. The mark separates the number and the text.
func writeGrepLine(b *strings.Builder, mark string, number int, line string) {
	b.WriteString("\n" + strconv.Itoa(number) + mark + line)
}
