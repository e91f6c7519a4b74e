package instruction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/toolshelf-go/toolshelf/client"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/index"
	"github.com/toolshelf-go/toolshelf/internal/listing"
	"github.com/toolshelf-go/toolshelf/internal/matter"
	"github.com/toolshelf-go/toolshelf/internal/problem"
)

// maxChecked bounds the files below the root that Below finds.
const maxChecked = 2000

// Below are the directories of the project that Check and Extend read for Lint.
type Below struct {
	singles, rules []string          // the root, and the directories below with a single file; the directories below the root with rules
	problems       []problem.Problem // of the walk
	sources        *sources          // that the checks have read
}

// Check returns the problems of the single files of the user, of the parents, and of each directory
// of the project: a file that no client reads beside another file or beyond the limit of a client,
// imports, and the problems that text finds in the bytes of a file.
func (f *Finder) Check(ctx context.Context, below Below, text func(place string, raw []byte) []problem.Problem) ([]problem.Problem, error) {
	all := below.problems
	for _, dir := range below.singles {
		found, err := f.singlesOf(ctx, dir, below.sources, map[*found]*found{}, text)
		if ctx.Err() != nil || errors.Is(err, fs.ErrClosed) {
			return nil, errors.Join(ctx.Err(), err)
		}
		for _, t := range found { // the scan of the other files reports an unreadable directory
			all = append(all, t.Problems...)
		}
	}
	return all, nil
}

// ExtendAll is Extend for all directories of below.
func (f *Finder) ExtendAll(ctx context.Context, s *index.Snapshot, below Below) (*index.Index, *index.Snapshot, error) {
	return f.Extend(ctx, s, below.rules, func(int, client.Place) bool { return true }, nil, nil)
}

// Below finds the directories of instructions. Below does not enter ignored directories and
// directories of dependencies.
func (f *Finder) Below(ctx context.Context) (Below, error) {
	if len(f.Rows) == 0 {
		return Below{sources: new(sources)}, nil
	}
	found := Below{singles: []string{"."}, sources: new(sources)}
	var files, globs []string
	for _, row := range f.Rows {
		for _, p := range row.Instructions {
			if file := path.Join(p.Dir, p.Pattern); p.Single() && p.Below && !slices.Contains(files, file) {
				files, globs = append(files, file), append(globs, listing.QuoteGlob(file))
			}
		}
	}
	for _, p := range f.below {
		globs = append(globs, path.Join(listing.QuoteGlob(p.Dir), "**"))
	}
	if len(globs) == 0 {
		return found, nil
	}
	glob, err := listing.ParseGlob("*/**/{" + strings.Join(globs, ",") + "}")
	if err != nil {
		return found, nil // too many names
	}
	matches, err := listing.Find(ctx, f.Root.FS, f.Root.Dir, glob, listing.Options{Hidden: true, Gitignore: true, SkipDependencies: true, Limit: maxChecked})
	switch {
	case ctx.Err() != nil || errors.Is(err, fs.ErrClosed):
		return Below{}, errors.Join(ctx.Err(), err)
	case err != nil:
		return found, nil
	case matches.Total > len(matches.Files):
		found.problems = []problem.Problem{{Code: problem.TooManyFiles, Severity: problem.Warning, Path: f.Root.Name,
			Message:    fmt.Sprintf("only the first %d of %d instruction files are checked", len(matches.Files), matches.Total),
			Suggestion: "remove copies of other projects, or let .gitignore name their directories"}}
	}
	for _, match := range matches.Files {
		for _, file := range files {
			if dir, ok := strings.CutSuffix(match, "/"+file); ok {
				found.singles = append(found.singles, dir)
			}
		}
		for _, p := range f.below {
			if dir, _, ok := strings.Cut(match, "/"+p.Dir+"/"); ok {
				found.rules = append(found.rules, dir)
			}
		}
	}
	for _, dirs := range []*[]string{&found.singles, &found.rules} {
		slices.Sort(*dirs)
		*dirs = slices.Compact(*dirs)
	}
	return found, nil
}

// singlesOf returns the single files of a directory, and for the root also of the user and of the
// parents. With left, the files have no Seal, and the files that no client reads follow.
func (f *Finder) singlesOf(
	ctx context.Context, dir string, read *sources, left map[*found]*found,
	text func(place string, raw []byte) []problem.Problem,
) (all []Text, err error) {
	c := &call{Finder: f, ctx: ctx, known: map[index.File]*found{}, left: left, sources: read}
	defer c.close()
	if err := c.walk(dir); err != nil {
		return nil, err
	}
	groups, err := c.singles()
	if err != nil {
		return nil, err
	}
	last := len(c.way) - 1
	if c.way[last].dir != dir {
		return nil, nil // removed since the walk
	} else if dir != "." {
		groups = groups[last:]
	}
	for _, x := range slices.Concat(groups...) {
		before := len(x.Problems)
		if left == nil {
			err = c.seal(x)
		}
		if err = cmp.Or(err, c.check(x)); err != nil {
			return nil, err
		}
		if x.raw != "" {
			x.Problems = append(x.Problems[before:], text(escape.Path(x.Path), []byte(x.raw))...)
		}
		all = append(all, x.Text)
	}
	for x, by := range left {
		if x.level == c.way[last] || dir == "." { // not of another call
			x.Problems = x.unused(by)
			all = append(all, x.Text)
		}
	}
	return all, nil
}

// unused returns the problem of a file that no client reads, because of a file or a limit.
func (x *found) unused(by *found) []problem.Problem {
	switch {
	case x.allowed > 0: // read by another client
		return nil
	case by == nil:
		return []problem.Problem{x.cut(0)}
	case by.Layer != x.Layer, by.Text.Text == x.Text.Text,
		strings.Contains(x.Text.Text, path.Base(by.file)): // a copy, or a text beside the other text
		return nil
	}
	return []problem.Problem{{Code: problem.Shadowed, Severity: problem.Warning,
		Path:       escape.Path(x.Path),
		Message:    "not read: the client reads " + escape.Path(by.Path) + " in place of the file",
		Suggestion: "move the text to " + escape.Path(by.Path) + ", or remove one of the files"}}
}

// CheckRule returns the problems of the globs and of the imports of a rule of an index that Extend
// has returned.
func (f *Finder) CheckRule(ctx context.Context, below Below, x *index.Index, e *index.Entry, doc matter.Document) ([]problem.Problem, error) {
	all := f.checkGlobs(x, e, doc)
	c := &call{Finder: f, ctx: ctx, index: x, sources: below.sources}
	rule, _, err := c.rule(e)
	if err == nil {
		rule.Problems = nil
		err = c.check(rule)
		all = append(all, rule.Problems...)
	}
	return all, err
}

// checkGlobs returns the problems of the globs of a rule.
func (f *Finder) checkGlobs(x *index.Index, e *index.Entry, doc matter.Document) []problem.Problem {
	place := f.placeOf(e)
	at := problem.Problem{Code: problem.RuleGlobInvalid, Severity: problem.Warning, Path: x.Place(e), Key: place.Globs, Line: max(doc.Line, 1)}
	for _, field := range doc.Fields {
		if field.Key == place.Globs {
			at.Line, at.Column = field.Line, field.Column
		}
	}
	var all []problem.Problem
	report := func(message, suggestion string) {
		at.Message, at.Suggestion = message, suggestion
		all = append(all, at)
	}
	used := compile(place, doc.Frontmatter).used
	mode, globs := modeOf(place, doc.Frontmatter)
	switch {
	case mode != OnMatch:
	case len(globs) == 0:
		report("the rule applies to no file: the header has no globs", "write the globs in the field "+place.Globs)
	case len(globs) > used:
		report(fmt.Sprintf("the rule has %d globs; only the first %d count", len(globs), used), "use fewer globs, and fewer braces")
	}
	for _, text := range globs[:used] {
		quoted := `the glob "` + escape.Path(text[:min(len(text), listing.MaxGlob)]) + `" matches no file: `
		if glob, err := globOf(place, text); err != nil {
			reason, suggestion, _ := strings.Cut(err.Error(), "; ")
			report(quoted+reason, suggestion)
		} else if slices.Contains(strings.Split(glob.String(), "/"), "..") {
			report(quoted+"the glob leads out of the directory of the rules", "write a glob relative to the project")
		}
	}
	return problem.Limit(all)
}

// GlobsKey returns the key of the globs in the header of a rule.
func (f *Finder) GlobsKey(e *index.Entry) string { return f.placeOf(e).Globs }

// leave records in a check that a client does not read a file of a level: because of another file,
// or beyond its limit.
func (c *call) leave(l *level, p client.Place, by *found) error {
	if c.left == nil {
		return nil
	}
	x, err := c.single(l, p)
	if x != nil {
		x.level = l
		c.left[x] = by
	}
	return err
}
