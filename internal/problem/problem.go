// Package problem defines the problems that toolshelf reports about files, and
// their codes.
package problem

import (
	"cmp"
	"fmt"
	"strings"
)

// A Code identifies a kind of problem. Codes do not change between versions.
type Code string

// A Severity is the effect of a problem: Error or Warning.
type Severity string

const (
	Error   Severity = "error"   // the file is not served as written, or other clients reject the file
	Warning Severity = "warning" // the file is served as written, or no list shows the file by rule
)

// A Problem is a defect of a file that its author can correct.
type Problem struct {
	Code       Code
	Severity   Severity
	Path       string // layer name and path below the layer; empty in a problem of package matter
	Line       int    // 1-based; 0 means the whole file
	Column     int    // 1-based, in characters; 0 means the whole line
	Key        string // top-level frontmatter key; may be empty
	Message    string // one line
	Suggestion string // correction; empty if unknown

	replaced int // number of problems that Limit replaced with this problem
}

// New returns a problem of a whole file.
func New(code Code, severity Severity, path, message, suggestion string) Problem {
	return Problem{Code: code, Severity: severity, Path: path, Message: message, Suggestion: suggestion}
}

// In returns the problem of a frontmatter as a problem of the file at path. In copies
// the key, because a substring would keep a long frontmatter in memory.
func (p Problem) In(path string) Problem {
	p.Path, p.Key = path, strings.Clone(p.Key)
	return p
}

// Summary returns the first of the problems of a file, with its line and its correction, and the
// number of the others.
func Summary(all []Problem) string {
	first := all[0]
	text := first.Message
	if first.Line > 0 {
		text = fmt.Sprintf("line %d: %s", first.Line, text)
	}
	if first.Suggestion != "" {
		text += "; " + first.Suggestion
	}
	switch more := len(all) - 1; more {
	case 0:
	case 1:
		text += " (and 1 more reason)"
	default:
		text += fmt.Sprintf(" (and %d more reasons)", more)
	}
	return text
}

// Compare orders problems by path, line, column, code, key and message.
func Compare(a, b Problem) int {
	return cmp.Or(
		strings.Compare(a.Path, b.Path),
		cmp.Compare(a.Line, b.Line),
		cmp.Compare(a.Column, b.Column),
		strings.Compare(string(a.Code), string(b.Code)),
		strings.Compare(a.Key, b.Key),
		strings.Compare(a.Message, b.Message),
	)
}
