package toolshelf

import (
	"context"
	"errors"
	"io/fs"

	"github.com/toolshelf-go/toolshelf/internal/audit"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Lint checks every command and skill and returns the defects, sorted by path,
// line, column, code, key and message. Lint includes hidden, shadowed and filtered
// files. The constants of [DiagnosticCode] list the codes with their severities.
// If Lint finds no defect, the list is empty and not nil.
//
// Lint is stricter than the methods that serve the files. Lint reports an error
// for every skill that the reference validator of Agent Skills rejects
// (https://github.com/agentskills/agentskills, skills-ref). ListSkills lists the
// same skill, and its Diagnostics may contain the same defect as a warning. Lint
// accepts "<<" and "=" as a key or a value, although the validator rejects both.
//
// Lint also reports errors for skills that the validator accepts and other
// clients reject:
//   - a name or description that is null (the validator reads the text "null")
//   - a fence with other text in the same line
//   - a defect after a "---" within the frontmatter (the validator stops reading)
//   - the characters U+0085, U+2028, U+2029 and U+FEFF
//   - the escape "\/" in quotes
//   - a description or an argument hint with text that YAML reads as a comment
//
// A command refers to another command in three forms:
//   - a link to a Markdown file in a directory of commands, as in "[x](other.md)"
//   - "/directory:name", if the directory contains commands
//   - "/two-words", if a command has a similar name
//
// Lint reports references to missing commands. Other texts with a slash may be
// paths, routes or commands of the client. Lint ignores placeholders such as
// "/your-command". In code blocks, Lint checks only "/directory:name".
//
// Lint reports once for each file that the text contains characters without a glyph or
// with an effect on the order of the text, such as Unicode tags, zero width spaces and
// bidirectional overrides. A model reads these characters, and a person does not see
// them. Lint accepts joiners (U+200C, U+200D), direction marks (U+200E, U+200F, U+061C),
// flags of regions, and a variation selector after a character. Lint does not read the
// other files of a skill.
//
// Lint reports at most 100 missing references of one file, each reference once.
// Lint reports at most 50 defects of one frontmatter, and at most 50 defects of
// the files of one skill. The last of 50 states the number of further defects.
//
// Lint also reports files that no list shows and that resemble commands or skills: files in
// subdirectories without [WithNestedCommands], commands that end in .markdown, .mdc, .txt or
// .toml, skills that are files, and a SKILL.md in other letter case. In each layer, Lint
// searches up to 2,000 directories for these files.
//
// Lint costs as much as List, ListSkills and GetSkill of every skill, and reads
// every directory of commands twice, and every command and SKILL.md in full. If ctx
// ends or the catalog closes, Lint returns after the current files. Lint returns the
// errors of List, with these differences: a missing directory named in an option is a
// diagnostic, a missing default directory is empty, and a missing root is
// ErrDirectoryNotFound.
func (c *Catalog) Lint(ctx context.Context, opts ...LintOption) ([]Diagnostic, error) {
	const op = "Lint"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	var options lintOptions
	for _, opt := range opts {
		if opt != nil {
			opt.applyLint(&options)
		}
	}
	a := &audit.Audit{Commands: c.commands.Index, Skills: c.skills.Index, Root: c.root,
		Nested: c.config.nested, Valid: c.validElement, DeepSkills: c.config.skillDepth > 1}
	progress := newReporter(options.progress, func() (entries, files int64) { return c.commands.FilesRead() + c.skills.FilesRead(), a.Checked.Load() })
	all, err := c.lint(ctx, op, progress, a)
	progress.End(err)
	if err != nil {
		return nil, err
	}
	return newDiagnostics(all), nil
}

// A LintOption is an option for one call of Lint. The only option is [WithProgress]. A nil
// LintOption has no effect.
type LintOption interface{ applyLint(*lintOptions) }

type lintOptions struct{ progress func(Progress) }

// lint returns the problems in the order of Lint. The audit counts the checked files.
func (c *Catalog) lint(ctx context.Context, op string, progress *parallel.Reporter, a *audit.Audit) ([]problem.Problem, error) {
	skills, skillsErr := parallel.Reported(ctx, progress, func(ctx context.Context) (*index.Snapshot, error) { return c.skills.optionalSnapshot(ctx, op) })
	commands, commandsErr := parallel.Reported(ctx, progress, func(ctx context.Context) (*index.Snapshot, error) { return c.commands.optionalSnapshot(ctx, op) })
	// part returns the problems of the commands or of the skills. The error is the error of
	// the snapshot.
	part := func(err error, check func(context.Context) ([]problem.Problem, error)) ([]problem.Problem, error) {
		if missing, ok := missingDirectory(err); ok {
			return []problem.Problem{missing}, nil
		}
		if err != nil {
			return nil, err
		}
		found, err := parallel.Reported(ctx, progress, func(ctx context.Context) ([]problem.Problem, error) { return await(ctx, c, check) })
		if errors.Is(err, fs.ErrClosed) {
			err = closedMeanwhile(op)
		}
		return found, err
	}
	ofCommands, err := part(commandsErr, func(ctx context.Context) ([]problem.Problem, error) { return a.OfCommands(ctx, commands, skills) })
	if err != nil {
		return nil, err
	}
	ofSkills, err := part(skillsErr, func(ctx context.Context) ([]problem.Problem, error) { return a.OfSkills(ctx, skills) })
	return audit.Join(ofCommands, ofSkills), err
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
