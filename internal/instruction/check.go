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

// maxChecked bounds the files below the root that everywhere finds.
const maxChecked = 2000

// A Checked has the instructions of a project, and the rules with those below the root.
type Checked struct {
	Texts    []Text
	Problems []problem.Problem // of the walk, of empty rules, and of files that no client reads
	Index    *index.Index
	Rules    *index.Snapshot
}

// Check returns the single files of the user, of the directories above the root, of the root, and
// of the directories that everywhere finds, and the rules of these directories. The argument rules
// is a snapshot of Rules. The Problems of a text are those of its imports, with those that single
// and rule find in the bytes of the file. If sealed, the texts have a Seal, and Check does not look
// for files that no client reads. After the error of a directory, Check continues.
func (f *Finder) Check(
	ctx context.Context, rules *index.Snapshot, sealed bool,
	single func(place string, raw []byte) []problem.Problem,
	rule func(x *index.Index, e *index.Entry, raw []byte) []problem.Problem,
) (all Checked, failed error) {
	singles, dirs, err := f.everywhere(ctx, &all)
	if err != nil {
		return Checked{}, err
	}
	c := &call{Finder: f, ctx: ctx, sources: sources{}, sealed: sealed}
	for _, dir := range singles {
		err := c.singlesOf(dir, &all, single)
		if ctx.Err() != nil || errors.Is(err, fs.ErrClosed) {
			return Checked{}, errors.Join(ctx.Err(), err)
		}
		failed = cmp.Or(failed, err)
	}
	has := func(int, client.Place) bool { return true }
	if c.index, all.Rules, err = f.Extend(ctx, rules, dirs, has, nil, nil); err != nil {
		return Checked{}, err
	}
	all.Index = c.index
	for e := range all.Rules.Files() {
		x, _, err := c.rule(e)
		if err != nil {
			return Checked{}, err
		}
		before := len(x.Problems)
		if err := c.check(x); err != nil {
			return Checked{}, err
		}
		if x.raw != "" {
			x.Problems = append(rule(c.index, e, []byte(x.raw)), x.Problems[before:]...)
		}
		if x.full > 0 || before > 0 {
			all.Texts = append(all.Texts, x.Text)
		} else {
			all.Problems = append(all.Problems, x.Problems...)
		}
	}
	return all, failed
}

// everywhere finds the root and the directories below with a single file, and the directories below
// the root with rules. everywhere does not enter ignored directories and directories of
// dependencies.
func (f *Finder) everywhere(
	ctx context.Context, all *Checked,
) (singles, rules []string, err error) {
	if len(f.Rows) == 0 {
		return nil, nil, nil
	}
	singles = []string{"."}
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
		return singles, nil, nil
	}
	glob, err := listing.ParseGlob("*/**/{" + strings.Join(globs, ",") + "}")
	if err != nil {
		return singles, nil, nil // too many names
	}
	matches, err := listing.Find(ctx, f.Root.FS, f.Root.Dir, glob, listing.Options{Hidden: true, Gitignore: true, SkipDependencies: true, Limit: maxChecked})
	switch {
	case ctx.Err() != nil || errors.Is(err, fs.ErrClosed):
		return nil, nil, errors.Join(ctx.Err(), err)
	case err != nil:
		return singles, nil, nil
	case matches.Total > len(matches.Files):
		message := "only the first %d of %d instruction files are checked"
		all.Problems = append(all.Problems, problem.New(problem.TooManyFiles, problem.Warning,
			f.Root.Name, fmt.Sprintf(message, len(matches.Files), matches.Total),
			"remove copies of other projects, or let .gitignore name their directories"))
	}
	for _, match := range matches.Files {
		for _, file := range files {
			if dir, ok := strings.CutSuffix(match, "/"+file); ok {
				singles = append(singles, dir)
			}
		}
		for _, p := range f.below {
			if dir, _, ok := strings.Cut(match, "/"+p.Dir+"/"); ok {
				rules = append(rules, dir)
			}
		}
	}
	for _, dirs := range []*[]string{&singles, &rules} {
		slices.Sort(*dirs)
		*dirs = slices.Compact(*dirs)
	}
	return singles, rules, nil
}

// singlesOf adds the single files of a directory, and for the root also of the user and of the
// parents, and the problems of the files that no client reads.
func (c *call) singlesOf(
	dir string, all *Checked, text func(place string, raw []byte) []problem.Problem,
) error {
	c = &call{Finder: c.Finder, ctx: c.ctx, sources: c.sources, sealed: c.sealed,
		known: map[index.File]*found{}}
	if !c.sealed {
		c.left = map[*found]*found{}
	}
	defer c.close()
	if err := c.walk(dir); err != nil {
		return err
	}
	groups, err := c.singles()
	if err != nil {
		return err
	}
	last := len(c.way) - 1
	if c.way[last].dir != dir {
		return nil // removed since the walk
	} else if dir != "." {
		groups = groups[last:]
	}
	for _, x := range slices.Concat(groups...) {
		before := len(x.Problems)
		if err := c.check(x); err != nil {
			return err
		}
		if x.raw != "" {
			x.Problems = append(x.Problems[before:], text(escape.Path(x.Path), []byte(x.raw))...)
		}
		all.Texts = append(all.Texts, x.Text)
	}
	for x, by := range c.left {
		if x.level == c.way[last] || dir == "." { // not of another call
			all.Problems = append(all.Problems, x.unused(by)...)
		}
	}
	return nil
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

// CheckGlobs returns the problems of the globs of a rule.
func (f *Finder) CheckGlobs(x *index.Index, e *index.Entry, doc matter.Document) []problem.Problem {
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
