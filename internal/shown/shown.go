// Package shown writes the results of the file methods as text for a model. The types have the
// fields of the types of package toolshelf, so that the types convert.
package shown

import (
	"runtime"
	"strconv"
	"strings"
)

// writeWarnings writes a line for each warning.
func writeWarnings(b *strings.Builder, warnings []string) {
	for i, warning := range warnings {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("\nWarning: " + warning)
	}
}

// Counted returns, for example, "1 file" or "2 files".
func Counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.Itoa(n) + " " + many
}

// Size returns the text of a size: bytes below a tenth of a KB, then KB, MB and GB of
// 1024 each. A negative size is unknown.
func Size(n int64) string {
	switch {
	case n < 0:
		return "?"
	case n < 103:
		return strconv.FormatInt(n, 10) + " B"
	}
	size := float64(n) / 1024
	unit := " KB"
	for _, larger := range []string{" MB", " GB"} {
		if size < 1023.95 { // otherwise the text would be 1024.0
			break
		}
		size, unit = size/1024, larger
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + unit
}

// WithUnknown adds the warning about entries without metadata.
func WithUnknown(warnings []string, unknown int) []string {
	if unknown > 0 {
		reason := "the directory has no search permission"
		if runtime.GOOS == "windows" {
			reason = "access is denied or Windows does not open the names" // such as "nul", which another program can create
		}
		warnings = append(warnings, Counted(unknown, "entry", "entries")+" without metadata, because "+reason)
	}
	return warnings
}

// writeNotes writes an empty line and a line for each note that is not empty. The first note is the
// number of entries that .gitignore files omit.
func writeNotes(b *strings.Builder, ignored int, notes ...string) {
	before := "\n\n"
	if ignored > 0 {
		b.WriteString(before + ".gitignore omits " + Counted(ignored, "entry", "entries"))
		before = "\n"
	}
	for _, note := range notes {
		if note != "" {
			b.WriteString(before + note)
			before = "\n"
		}
	}
}

// note returns Counted with the rest of a line, or "" for 0.
func note(n int, one, many, rest string) string {
	if n == 0 {
		return ""
	}
	return Counted(n, one, many) + rest
}

// unread returns the note about unreadable directories and files.
func unread(skipped int) string {
	return note(skipped, "directory or file could not be read and was",
		"directories or files could not be read and were", " skipped")
}

// writeHint writes an empty line and the hint, if there is a hint.
func writeHint(b *strings.Builder, hint string) {
	if hint != "" {
		b.WriteString("\n\n" + hint)
	}
}

// joinLimits returns, for example, "100 lines and 8000 characters" and "these limits".
func joinLimits(limits []string) (names, these string) {
	last := len(limits) - 1
	if last == 0 {
		return limits[0], "this limit"
	}
	return strings.Join(limits[:last], ", ") + " and " + limits[last], "these limits"
}

// unsearched returns the note about the directories of SkipDependencies, with the argument of the
// tools that search the directories.
func unsearched(dependencies int) string {
	return note(dependencies, "directory of dependencies was", "directories of dependencies were",
		" not searched (see show_dependencies)")
}
