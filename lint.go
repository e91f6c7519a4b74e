package toolshelf

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/matter"
)

// A Diagnostic is something about a file that its author may want to mend.
// Nothing else is affected by it: what can be loaded is loaded.
type Diagnostic struct {
	Code       string `json:"code"`                 // what kind, such as "INVALID_COMMAND_NAME"; does not change between versions
	Severity   string `json:"severity"`             // "error": the file is not served as its author meant; "warning": it is
	Path       string `json:"path"`                 // the layer as the option has it, and the path of the file below it
	Line       int    `json:"line,omitempty"`       // 1-based; 0 where the file itself is meant
	Column     int    `json:"column,omitempty"`     // 1-based; 0 where the line is meant
	Key        string `json:"key,omitempty"`        // the frontmatter key concerned
	Message    string `json:"message"`              // what is wrong, in one line
	Suggestion string `json:"suggestion,omitempty"` // what to do or to write instead, where that is known
}

// Lint returns every problem of the commands and skills, sorted by path and
// line: files that are not served and why, frontmatter that had to be
// recovered, names that hide each other. No problem is an empty list, not an
// error.
//
// A missing folder is a diagnostic too. For the errors see List.
func (c *Catalog) Lint(ctx context.Context) ([]Diagnostic, error) {
	const op = "Lint"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	all := []Diagnostic{}
	commands, err := c.commands.Snapshot(ctx)
	if err := c.commandsError(op, err); err != nil {
		missing, ok := missingFolder(err)
		if !ok {
			return nil, err
		}
		all = append(all, missing)
	} else {
		for _, p := range commands.Problems {
			all = append(all, Diagnostic(p))
		}
		for _, e := range commands.Entries {
			if e.Source != matter.FromFrontmatter {
				all = append(all, Diagnostic{Code: "NO_DESCRIPTION", Severity: index.Warning, Path: c.commands.Place(e),
					Message: "the frontmatter has no description", Suggestion: "add one that says what the command does and when to use it"})
			}
		}
	}
	skills, err := c.skills.Snapshot(ctx)
	if err := c.skillsError(op, err); err != nil {
		missing, ok := missingFolder(err)
		if !ok {
			return nil, err
		}
		all = append(all, missing)
	} else {
		for _, p := range skills.Problems {
			all = append(all, Diagnostic(p))
		}
	}
	slices.SortStableFunc(all, func(a, b Diagnostic) int { return strings.Compare(a.Path, b.Path) })
	return all, nil
}

// missingFolder is the diagnostic for a folder that does not exist.
func missingFolder(err error) (Diagnostic, bool) {
	var e *Error
	if !errors.As(err, &e) || e.Code != ErrDirectoryNotFound.Code {
		return Diagnostic{}, false
	}
	return Diagnostic{Code: string(e.Code), Severity: index.Warning, Path: e.Path,
		Message: e.Message, Suggestion: "make the folder, or name another one in the options"}, true
}
