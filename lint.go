package toolshelf

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"runtime"
	"slices"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/lint"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// Lint returns every problem of every command and skill, hidden, shadowed and
// filtered ones included, sorted by path, line, column, code, key and message.
// No problem is an empty list, not an error.
//
// It is stricter than the methods that serve the files. A skill is held to the
// rules of the Agent Skills reference validator
// (https://github.com/agentskills/agentskills, skills-ref): what that refuses
// is an error here, since other clients refuse it too, although ListSkills
// lists the skill and its Diagnostics may call the same problem a warning. More
// is an error here, since other readers refuse it: a name or description that is
// null, which the validator takes for the text "null"; fences that are not alone
// in their line; what comes after a "---" within the frontmatter; the characters
// U+0085, U+2028, U+2029 and U+FEFF; and the escape "\/" in quotes. Only of "<<"
// and "=", as a value or a key, it is the validator that refuses more.
//
// The constants of type DiagnosticCode list every code with its severity.
//
// A text of a command refers to another command where it links to a Markdown
// file in a folder of commands, as in "[x](other.md)", where it says
// "/folder:name" of a subfolder of one, and where it has the reader run
// "/two-words", which are no placeholder such as "/your-command". Anything else
// may be a path, a route or a command of the client's own, and is not reported;
// nor is what is in a block of code, but for "/folder:name". Of one file at most
// 100 references are reported, each once. Of one frontmatter, and of the files of
// one skill, at most 50 problems are, of which the last says how many more there
// are.
//
// The cost is that of List and ListSkills, the reading of every command and
// SKILL.md, whole, and a look at each file of a skill as for GetSkill. A ctx that
// ends, and Close, end Lint between two files at the latest. For the errors see
// List; a missing directory that an option names is a diagnostic here, a missing
// default directory is empty, and a missing root is ErrDirectoryNotFound.
func (c *Catalog) Lint(ctx context.Context) ([]Diagnostic, error) {
	const op = "Lint"
	if err := c.begin(ctx, op); err != nil {
		return nil, err
	}
	skills, skillsErr := c.config.skills.snapshot(ctx, c.skills)
	commands, commandsErr := c.config.commands.snapshot(ctx, c.commands)
	var all []problem.Problem
	for _, part := range []struct {
		err  error
		lint func(context.Context) ([]problem.Problem, error)
	}{
		{c.commandsError(op, commandsErr), func(ctx context.Context) ([]problem.Problem, error) {
			check := c.commandLint(commands, skills)
			return c.lintFiles(ctx, c.commands, commands, check, func(*index.Entry) []problem.Problem { return nil })
		}},
		{c.skillsError(op, skillsErr), func(ctx context.Context) ([]problem.Problem, error) {
			return c.lintFiles(ctx, c.skills, skills, func(_ *index.Entry, f lint.File) []problem.Problem { return lint.Skill(f) }, func(e *index.Entry) []problem.Problem { return c.lintSkillFolder(ctx, e) })
		}},
	} {
		if missing, ok := missingFolder(part.err); ok {
			all = append(all, missing)
			continue
		}
		if part.err != nil {
			return nil, part.err
		}
		found, err := await(ctx, c, part.lint)
		if errors.Is(err, fs.ErrClosed) {
			err = closedMeanwhile(op)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortFunc(all, problem.Compare)
	all = slices.Compact(all) // the files of a skill within a skill belong to both
	diagnostics := make([]Diagnostic, len(all))
	for i, p := range all {
		diagnostics[i] = newDiagnostic(p)
	}
	return diagnostics, nil
}

// commandLint returns the check of a command's file. It knows what commands may
// refer to.
func (c *Catalog) commandLint(commands, skills *index.Snapshot) func(*index.Entry, lint.File) []problem.Problem {
	l := &lint.Commands{Nested: c.config.nested, Valid: c.validElement, Present: func(file, fromRoot string) bool {
		for i := range c.config.commands.all {
			layer := c.commands.Layer(i)
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
		return lint.Command{Name: e.Name, Path: c.commands.Below(e), Listed: !e.Hidden && commands.Lookup(e.Name) == e}
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

// lintFiles returns what a snapshot says is wrong, and what check finds in each
// of its files and around it, several at a time. What the snapshot says of the
// text of a file gives way to what is found in it whole.
func (c *Catalog) lintFiles(ctx context.Context, x *index.Index, snapshot *index.Snapshot, check func(*index.Entry, lint.File) []problem.Problem, around func(*index.Entry) []problem.Problem) ([]problem.Problem, error) {
	files := slices.Collect(snapshot.Files())
	found := make([][]problem.Problem, len(files))
	seen := make(map[problem.Problem]bool)
	for _, e := range files {
		if e.Broken == nil && e.Whole() {
			for _, p := range e.Problems {
				seen[p] = true
			}
		}
	}
	err := parallel.Do(ctx, runtime.GOMAXPROCS(0), len(files), func(i int) error {
		e := files[i]
		if e.Broken == nil {
			found[i] = c.lintFile(x, e, check)
		}
		found[i] = append(found[i], around(e)...)
		return ctx.Err() // then not all may have been found
	})
	if err != nil {
		return nil, err
	}
	var all []problem.Problem
	for _, p := range snapshot.Problems {
		if !seen[p] {
			all = append(all, p)
		}
	}
	return append(all, slices.Concat(found...)...), nil
}

func (c *Catalog) lintFile(x *index.Index, e *index.Entry, check func(*index.Entry, lint.File) []problem.Problem) []problem.Problem {
	f := lint.File{Name: e.Name, Path: x.Place(e)}
	raw, _, err := c.readFile(x.Layer(e.Layer).FS, e.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist): // vanished meanwhile
		return nil
	case err != nil:
		return []problem.Problem{{Code: problem.FileRead, Severity: problem.Error, Path: f.Path,
			Message: "cannot be read: " + escape.Reason(err), Suggestion: "check that it is a file and may be read"}}
	}
	f.Raw = raw
	f.Doc, _ = matter.Parse(raw, true)
	return check(e, f)
}

// lintSkillFolder returns what is wrong with the files that belong to a skill.
// What vanished meanwhile is nothing to tell, and the end of ctx is noticed by
// the caller.
func (c *Catalog) lintSkillFolder(ctx context.Context, e *index.Entry) []problem.Problem {
	if errors.Is(e.Broken, index.ErrNoSkillFile) {
		return nil // it is no skill
	}
	folder, err := c.skills.OpenSkill(e)
	if err != nil {
		return nil
	}
	defer folder.Close()
	listed, err := folder.Files(ctx)
	if err != nil {
		return nil
	}
	var found []problem.Problem
	for _, p := range listed.Problems {
		if e.Broken == nil || p.Path != c.skills.Place(e) { // which the snapshot tells of
			found = append(found, p)
		}
	}
	return found
}

// missingFolder is the diagnostic for a directory below the root that does not
// exist.
func missingFolder(err error) (problem.Problem, bool) {
	var e *Error
	var failed *index.LayerError
	if !errors.As(err, &e) || e.Code != ErrDirectoryNotFound.Code || errors.As(err, &failed) && failed.NoRoot {
		return problem.Problem{}, false
	}
	return problem.Problem{Code: problem.DirectoryNotFound, Severity: problem.Warning, Path: e.Path,
		Message: e.Message, Suggestion: "make the folder, or name another one in the options"}, true
}
