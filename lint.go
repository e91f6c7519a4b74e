package toolshelf

import (
	"context"
	"errors"
	"io/fs"

	"github.com/toolshelf-go/toolshelf/agentmd"
	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/audit"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/lint"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Lint checks every command, skill, agent, instruction and MCP server, also the hidden, shadowed
// and filtered files, and returns the defects, sorted by path, line, column, code, key and message.
// The list is never nil. The constants of [DiagnosticCode] list the codes with their severities.
//
// Without options, Lint reports an error for every skill that the reference validator of Agent
// Skills rejects. [LintFor] selects the rules of a client. Lint also reports references to missing
// commands, invisible characters, and files that no list shows and that resemble commands, skills,
// agents or rules.
//
// A missing directory named in an option is a diagnostic, a missing default directory is empty, and
// a missing root is [ErrDirectoryNotFound]. Lint returns the other errors of [Catalog.List]. Lint
// reads every command, SKILL.md, agent and instruction in full. The document docs/methods.md has
// the bounds.
func (c *Catalog) Lint(ctx context.Context, opts ...LintOption) ([]Diagnostic, error) {
	const op = "Lint"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	options := lintOptions{profile: lint.Default()}
	each(opts, func(opt LintOption) { opt.applyLint(&options) })
	if options.err != nil {
		return nil, options.err
	}
	a := c.newAudit(options.profile)
	progress := newReporter(options.progress, func() (entries, files int64) {
		for _, x := range c.indexes {
			entries += x.FilesRead()
		}
		return entries, a.Checked.Load()
	})
	all, err := c.lint(ctx, op, progress, a)
	progress.End(err)
	if err != nil {
		return nil, err
	}
	return append([]Diagnostic{}, newDiagnostics(all)...), nil
}

func (c *Catalog) newAudit(profile *lint.Profile) *audit.Audit {
	a := &audit.Audit{Root: c.root, Profile: profile, Valid: c.commands.names.Element, Finder: c.finder,
		Below: c.below.Everywhere, Indexes: map[client.Files]*index.Index{}}
	for _, k := range c.kinds() {
		a.Indexes[k.kind] = k.Index
	}
	return a
}

// LintFor makes Lint check by the rules of a client, such as client.Claude(): the Fields and Strict
// of the row. An error is then a file that the client rejects, and a warning is a file that the
// client reads with a change, such as an unknown field of a skill. In a command, an unknown key is
// a warning only if the key resembles a key of the client.
//
// A row that is not valid (client.Client.Check) is [ErrInvalidOption]. Without LintFor, Lint checks
// skills by client.AgentSkills(), and compares misspelled keys with the keys of all clients.
func LintFor(c client.Client) LintOption { return lintFor(c) }

type lintFor client.Client

func (c lintFor) applyLint(o *lintOptions) {
	err := client.Client(c).Check()
	o.optionError, o.profile = optionError{}, lint.For(client.Client(c)) // the last row counts
	o.require(err == nil, "LintFor: %v", err)
}

// lint returns the problems in the order of Lint. The audit counts the checked files.
func (c *Catalog) lint(ctx context.Context, op string, progress *parallel.Reporter, a *audit.Audit) ([]problem.Problem, error) {
	kinds, snapshots := c.kinds(), map[client.Files]*index.Snapshot{}
	found, errs := make([][]problem.Problem, len(kinds)), make([]error, len(kinds))
	for i, k := range kinds {
		snapshots[k.kind], errs[i] = parallel.Reported(ctx, progress,
			func(ctx context.Context) (*index.Snapshot, error) { return k.optionalSnapshot(ctx, op) })
	}
	for i, k := range kinds {
		if missing, ok := missingDirectory(errs[i]); ok {
			found[i] = []problem.Problem{missing}
			continue
		}
		if errs[i] != nil {
			return nil, errs[i]
		}
		var err error
		found[i], err = parallel.Reported(ctx, progress, func(ctx context.Context) ([]problem.Problem, error) {
			return await(ctx, c, func(ctx context.Context) ([]problem.Problem, error) {
				return a.Of(ctx, k.kind, snapshots)
			})
		})
		if errors.Is(err, fs.ErrClosed) {
			err = closedMeanwhile(op)
		}
		if err != nil {
			return nil, err
		}
	}
	ofServers, err := c.findServers(ctx, op, snapshots[client.Commands], a.Profile.Clients())
	return audit.Join(append(found, ofServers.Check())...), err
}

// missingDirectory converts the error for a missing directory below the root to a
// problem.
func missingDirectory(err error) (problem.Problem, bool) {
	var e *Error
	var failed *index.LayerError
	if !errors.As(err, &e) || e.Code != CodeDirectoryNotFound || errors.As(err, &failed) && failed.NoRoot {
		return problem.Problem{}, false
	}
	return problem.Problem{Code: problem.DirectoryNotFound, Severity: problem.Warning, Path: e.Path,
		Message: e.Message, Suggestion: "create the directory, or let the program read another directory"}, true
}

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
