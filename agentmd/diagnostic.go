package agentmd

import (
	"fmt"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A Diagnostic describes a defect of a file that its author can correct.
//
// The suggestions "write FIELD" and "replace lines 3 to 5 by FIELD" contain a whole field of
// the frontmatter, up to the end of the suggestion. The field replaces the field in Line, or
// the named lines. In a FIELD, "⏎" stands for a line break, in JSON and in all other formats.
type Diagnostic struct {
	// Kind of defect; does not change between versions.
	Code     DiagnosticCode `json:"code"`
	Severity Severity       `json:"severity"` // SeverityError or SeverityWarning
	// Path of the file; empty in the diagnostics of Parse. A catalog sets the layer as named in the
	// options, and the path below the layer.
	Path string `json:"path"`
	Line int    `json:"line,omitempty"` // 1-based; 0 means the whole file
	// 1-based, in characters; 0 means the whole line.
	Column  int    `json:"column,omitempty"`
	Key     string `json:"key,omitempty"` // frontmatter key; may be empty
	Message string `json:"message"`       // description of the defect, in one line
	// Correction, in one line with ⏎ for a line break; empty if unknown.
	Suggestion string `json:"suggestion,omitempty"`
}

// A Severity is the effect of a defect.
type Severity string

const (
	// SeverityError means that the file is not served as its author wrote it, or
	// that other clients reject the file.
	SeverityError Severity = "error"
	// SeverityWarning means that the file is served as its author wrote it, or that
	// no list shows the file by rule, for example a file in a subdirectory.
	SeverityWarning Severity = "warning"
)

// A DiagnosticCode identifies a kind of defect. Codes do not change between versions. [Parse]
// reports each defect as a warning, because the file can be loaded. The comments of the constants
// state the severity that Lint of package toolshelf reports; the severity in parentheses applies to
// a SKILL.md.
type DiagnosticCode string

// String returns the diagnostic in the format of compilers:
// "path:line:column: severity: message; suggestion [CODE]". String omits an empty
// path, a line or column of 0, and an empty suggestion.
func (d Diagnostic) String() string {
	var b strings.Builder
	b.WriteString(d.Path)
	for _, n := range []int{d.Line, d.Column} {
		if n > 0 {
			fmt.Fprintf(&b, ":%d", n)
		}
	}
	fmt.Fprintf(&b, ": %s: %s", d.Severity, d.Message)
	if d.Suggestion != "" {
		b.WriteString("; " + d.Suggestion)
	}
	fmt.Fprintf(&b, " [%s]", d.Code)
	return strings.TrimLeft(b.String(), ": ") // without a path
}

// NewDiagnostic returns the Diagnostic of a problem. Only the packages of this module can call
// NewDiagnostic; [Parse] returns diagnostics.
func NewDiagnostic(p problem.Problem) Diagnostic {
	return Diagnostic{Code: DiagnosticCode(p.Code), Severity: Severity(p.Severity), Path: p.Path,
		Line: p.Line, Column: p.Column, Key: p.Key, Message: p.Message, Suggestion: p.Suggestion}
}
