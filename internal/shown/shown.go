// Package shown writes the results of the file methods as text for a model. The types have the fields of the types of
// package toolshelf, so that the types convert.
package shown

import (
	"strconv"
	"strings"
)

// WriteWarnings writes a line for each warning.
func WriteWarnings(b *strings.Builder, warnings []string) {
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
