package toolshelf

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/lint"
	"github.com/toolshelf-go/toolshelf/internal/matter"
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
	var checked atomic.Int64
	progress := newReporter(options.progress, func() (entries, files int64) { return c.commands.FilesRead() + c.skills.FilesRead(), checked.Load() })
	all, err := c.lint(ctx, op, progress, &checked)
	progress.end(err)
	if err != nil {
		return nil, err
	}
	return newDiagnostics(all), nil
}

// A LintOption is an option for one call of Lint. The only option is [WithProgress]. A nil
// LintOption has no effect.
type LintOption interface{ applyLint(*lintOptions) }

type lintOptions struct{ progress func(Progress) }

// lint returns the problems in the order of Lint, and counts the checked files.
func (c *Catalog) lint(ctx context.Context, op string, progress *reporter, checked *atomic.Int64) ([]problem.Problem, error) {
	skills, skillsErr := reported(ctx, progress, func(ctx context.Context) (*index.Snapshot, error) { return c.skills.optionalSnapshot(ctx, op) })
	commands, commandsErr := reported(ctx, progress, func(ctx context.Context) (*index.Snapshot, error) { return c.commands.optionalSnapshot(ctx, op) })
	// part returns the problems of the commands or of the skills. The error is the error of
	// the snapshot.
	part := func(err error, lint func(context.Context) ([]problem.Problem, error)) ([]problem.Problem, error) {
		if missing, ok := missingDirectory(err); ok {
			return []problem.Problem{missing}, nil
		}
		if err != nil {
			return nil, err
		}
		found, err := reported(ctx, progress, func(ctx context.Context) ([]problem.Problem, error) { return await(ctx, c, lint) })
		if errors.Is(err, fs.ErrClosed) {
			err = closedMeanwhile(op)
		}
		return found, err
	}
	ofCommands, err := part(commandsErr, func(ctx context.Context) ([]problem.Problem, error) {
		check := c.commandCheck(commands, skills)
		found, err := c.lintFiles(ctx, commands, checked, func(e *index.Entry) []problem.Problem { return c.lintFile(ctx, c.commands.Index, e, check) })
		if err != nil {
			return nil, err
		}
		ignored, err := c.commands.IgnoredCommands(ctx, commands)
		return append(found, ignored...), err
	})
	if err != nil {
		return nil, err
	}
	ofSkills, err := part(skillsErr, func(ctx context.Context) ([]problem.Problem, error) {
		check := func(_ *index.Entry, f lint.File) []problem.Problem { return lint.Skill(f) }
		found, err := c.lintFiles(ctx, skills, checked, func(e *index.Entry) []problem.Problem {
			return append(c.lintFile(ctx, c.skills.Index, e, check), c.lintSkillFiles(ctx, e)...)
		})
		if err != nil {
			return nil, err
		}
		ignored, err := c.skills.IgnoredSkills(ctx, skills)
		return append(slices.DeleteFunc(found, func(p problem.Problem) bool { return explained(p, ignored) }), ignored...), err
	})
	if err != nil {
		return nil, err
	}
	all := append(ofCommands, ofSkills...)
	slices.SortFunc(all, problem.Compare)
	return slices.Compact(all), nil // a file of a nested skill belongs to both skills
}

// explained reports whether an ignored file explains why a directory has no SKILL.md.
func explained(p problem.Problem, ignored []problem.Problem) bool {
	dir := path.Dir(p.Path)
	return p.Code == problem.SkillFileMissing && slices.ContainsFunc(ignored, func(i problem.Problem) bool {
		return i.Code == problem.FilesystemTopEmpty && (i.Path == dir || i.Path == p.Path) || i.Code == problem.SkillFileMissing && path.Dir(i.Path) == dir
	})
}

// commandCheck returns the check of a command file. The check knows every command
// and skill to which the file may refer.
func (c *Catalog) commandCheck(commands, skills *index.Snapshot) func(*index.Entry, lint.File) []problem.Problem {
	l := &lint.Commands{Nested: c.config.nested, Valid: c.validElement, Present: func(file, fromRoot string) bool {
		for _, layer := range c.commands.Layers() {
			if _, err := layer.FS.Lstat(path.Join(layer.Dir, file)); err == nil {
				return true
			}
		}
		if fromRoot == "" {
			return false
		}
		_, err := c.root.Lstat(fromRoot)
		return err == nil
	}}
	command := func(e *index.Entry) lint.Command {
		return lint.Command{Name: e.Name, Path: c.commands.Below(e), Listed: !e.Dependency && commands.Lookup(e.Name) == e}
	}
	for e := range commands.Files() {
		l.Add(command(e))
	}
	if skills != nil {
		for e := range skills.Files() {
			l.AddSkill(e.Name)
		}
	}
	return func(e *index.Entry, f lint.File) []problem.Problem { return l.Check(f, command(e)) }
}

// lintFiles returns the problems of a snapshot and the problems that check finds
// in each entry. Several checks run at the same time. If the snapshot already
// parsed a whole file, lintFiles omits the snapshot's problems of the file, because
// check finds them again. lintFiles counts the checked files.
func (c *Catalog) lintFiles(ctx context.Context, snapshot *index.Snapshot, checked *atomic.Int64, check func(*index.Entry) []problem.Problem) ([]problem.Problem, error) {
	files := slices.Collect(snapshot.Files())
	found := make([][]problem.Problem, len(files))
	repeated := make(map[problem.Problem]bool)
	for _, e := range files {
		if e.Broken() == nil && e.Whole() {
			for _, p := range e.Problems() {
				repeated[p] = true
			}
		}
	}
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), len(files), func(i int) error {
		found[i] = check(files[i])
		if files[i].Broken() != index.ErrNoSkillFile {
			checked.Add(1)
		}
		return ctx.Err() // a check that ctx ended may be incomplete
	})
	if err != nil {
		return nil, err
	}
	var all []problem.Problem
	for _, p := range snapshot.Problems() {
		if !repeated[p] {
			all = append(all, p)
		}
	}
	return append(all, slices.Concat(found...)...), nil
}

// lintFile reads the file of an entry and checks the text. A file that no longer
// exists, and an entry that the snapshot reports as unreadable, have no problems.
func (c *Catalog) lintFile(ctx context.Context, x *index.Index, e *index.Entry, check func(*index.Entry, lint.File) []problem.Problem) []problem.Problem {
	if e.Broken() != nil {
		return nil
	}
	f := lint.File{Name: e.Name, Path: x.Place(e)}
	raw, _, err := c.readFile(x.FS(ctx, e.Layer()), e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return []problem.Problem{unreadFile(x, e, err)}
	}
	f.Raw = raw
	f.Doc, _ = matter.Parse(raw, true)
	return check(e, f)
}

// lintSkillFiles returns the problems of the other files of a skill. A directory
// that no longer exists has no problems. The caller checks whether ctx has ended.
func (c *Catalog) lintSkillFiles(ctx context.Context, e *index.Entry) []problem.Problem {
	directory, err := c.skills.OpenSkill(ctx, e)
	if err != nil {
		return nil
	}
	defer directory.Close()
	if errors.Is(e.Broken(), index.ErrNoSkillFile) {
		return c.lintNestedSkills(ctx, e, directory)
	}
	listed, err := directory.Files(ctx)
	if err != nil {
		return nil
	}
	var found []problem.Problem
	for _, p := range listed.Problems {
		if e.Broken() == nil || p.Path != c.skills.Place(e) { // the snapshot reports a broken SKILL.md
			found = append(found, p)
		}
	}
	return found
}

// lintNestedSkills reports skills in the subdirectories of a directory without a SKILL.md. With a
// greater depth, the scan has found these skills.
func (c *Catalog) lintNestedSkills(ctx context.Context, e *index.Entry, directory *index.SkillDir) []problem.Problem {
	if c.config.skillDepth > 1 {
		return nil
	}
	nested, err := directory.NestedSkills(ctx)
	if err != nil || len(nested) == 0 {
		return nil
	}
	const shown = 5
	names := quote(nested[0])
	for _, name := range nested[1:min(len(nested), shown)] {
		names += ", " + quote(name)
	}
	if len(nested) > shown {
		names += fmt.Sprintf(" and %d more", len(nested)-shown)
	}
	return []problem.Problem{{Code: problem.SkillFileMissing, Severity: problem.Warning, Path: path.Dir(c.skills.Place(e)),
		Message:    "not listed: skills one directory deeper: " + names,
		Suggestion: "move the skills up one directory, or let the program search two levels (WithSkillDepth(2))"}}
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
