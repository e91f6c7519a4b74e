package toolshelf

import (
	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// A Diagnostic describes a defect of a file that its author can correct: the type of package
// [github.com/toolshelf-go/toolshelf/agentmd]. A diagnostic never prevents a catalog from loading
// another file.
type Diagnostic = agentmd.Diagnostic

// A Severity is the effect of a defect: the type of package
// [github.com/toolshelf-go/toolshelf/agentmd].
type Severity = agentmd.Severity

const (
	// SeverityError means that the file is not served as its author wrote it, or
	// that other clients reject the file.
	SeverityError Severity = "error"
	// SeverityWarning means that the file is served as its author wrote it, or that
	// no list shows the file by rule, for example a file in a subdirectory.
	SeverityWarning Severity = "warning"
)

// A DiagnosticCode identifies a kind of defect: the type of package
// [github.com/toolshelf-go/toolshelf/agentmd], which has the codes.
type DiagnosticCode = agentmd.DiagnosticCode

// newDiagnostics returns nil if there are no problems.
func newDiagnostics(problems []problem.Problem) (all []Diagnostic) {
	for _, p := range problems {
		all = append(all, agentmd.NewDiagnostic(p))
	}
	return all
}
