package instruction

import (
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
	"github.com/toolshelf-go/toolshelf/internal/stamp"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// Extend returns Rules with the directories of rules in dirs, which are below the root, and the
// snapshot of a call with their rules. If has returns false for a directory, given by its position
// in dirs, and a place, the directory has no rules of the place. See index.Index.Extend for kept
// and look.
func (f *Finder) Extend(ctx context.Context, s *index.Snapshot, dirs []string, has func(dir int, p client.Place) bool, kept *index.Dirs, look *watch.Look) (*index.Index, *index.Snapshot, error) {
	if len(f.below) == 0 {
		return f.Rules, s, nil
	}
	dirs = dirs[:min(len(dirs), (firstTree-len(f.places))/len(f.below))]
	layers, found := make([]index.Layer, 0, len(dirs)*len(f.below)), false
	for i, dir := range dirs {
		for _, p := range f.below {
			l := index.Layer{} // placeOf and levelOf count the layers
			if has(i, p) {
				at := path.Join(dir, p.Dir)
				l, found = index.Layer{Name: at, FS: f.Root.FS, Dir: at, Optional: true}.WithPlace(index.Place{Place: p}), true
			}
			layers = append(layers, l)
		}
	}
	if !found {
		return f.Rules, s, nil
	}
	return f.Rules.Extend(ctx, s, layers, kept, look)
}

// placeOf returns the place of a rule.
func (f *Finder) placeOf(e *index.Entry) client.Place {
	if n := e.Layer() - len(f.places); n >= 0 {
		return f.below[n%len(f.below)]
	}
	return f.places[e.Layer()]
}

// levelOf returns the position of the directory of a rule in call.way.
func (c *call) levelOf(e *index.Entry) int {
	root := len(c.Parents) + 1
	switch n := e.Layer() - len(c.places); {
	case n >= 0:
		return root + 1 + n/len(c.below)
	case c.levels[e.Layer()] > 0:
		return root + 1 - c.levels[e.Layer()] // the root last, the farthest parent first
	}
	return 0
}

// rules adds the rules that always apply to the groups of their levels, and returns the rules whose
// globs match the path, and the rules on request, each in the order of the levels.
func (c *call) rules(name string, s *index.Snapshot, groups [][]*found) (matched, requested []*found, err error) {
	byLevel := make([][]*index.Entry, len(c.way))
	steps := maxGlobSteps
	var uncompared []*index.Entry
	for e := range s.Files() {
		at := c.levelOf(e)
		byLevel[at] = append(byLevel[at], e)
	}
	for at, entries := range byLevel {
		below, l := name, c.way[at]
		if at > len(c.Parents)+1 {
			below = path.Join(".", strings.TrimPrefix(name, l.dir))
		} else if l.tree != nil {
			below = path.Join(l.tree.Below, name)
		}
		for _, e := range entries {
			x, err := c.applies(e, below, &steps)
			switch {
			case errors.Is(err, listing.ErrTooManySteps):
				uncompared = append(uncompared, e)
			case err != nil:
				return nil, nil, err
			case x == nil || x.full == 0 && len(x.Problems) == 0: // changed since the scan, or empty
			case x.Mode == Always:
				groups[at] = append(groups[at], x)
			case x.Mode == OnMatch:
				matched = append(matched, x)
			default:
				requested = append(requested, x)
			}
		}
	}
	if len(uncompared) > 0 {
		x, _, err := c.rule(uncompared[0])
		if err != nil {
			return nil, nil, err
		}
		c.describe(x, uncompared[0], matter.Frontmatter{})
		x.set(File{problems: []problem.Problem{{Code: problem.RuleGlobInvalid, Severity: problem.Error, Path: escape.Path(x.Path),
			Message:    fmt.Sprintf("%d rules from this file on are not compared with the path: the globs of all rules take too many steps", len(uncompared)),
			Suggestion: "use fewer globs with wildcards in the middle"}}})
		matched = append(matched, x)
	}
	return matched, requested, nil
}

// applies returns the rule of an entry if the rule applies to a path, or nil. For steps, see
// listing.Globs.Match.
func (c *call) applies(e *index.Entry, name string, steps *int) (*found, error) {
	if e.Broken() == nil {
		if ok, err := c.compiled(e).applies(name, steps); !ok {
			return nil, err
		}
	}
	x, header, err := c.rule(e)
	if err != nil {
		return nil, err
	}
	c.describe(x, e, header)
	if mode, globs := modeOf(c.placeOf(e), e.Header()); e.Broken() == nil && mode == x.Mode && slices.Equal(globs, x.Globs) {
		return x, nil
	}
	if ok, err := compile(c.placeOf(e), header).applies(name, steps); !ok { // changed since the scan
		return nil, err
	}
	return x, nil
}

// describe sets the fields of a rule that depend on the header and on the level.
func (c *call) describe(x *found, e *index.Entry, header matter.Frontmatter) {
	x.Mode, x.Globs = modeOf(c.placeOf(e), header)
	x.Scope = c.way[c.levelOf(e)].name
}

// Files returns a function that returns the rules of a snapshot, which keep accepts, by their
// paths. The function keeps the last result, at first of the given snapshot, because keep cannot
// read the text of a rule that was removed later.
func (f *Finder) Files(last *index.Snapshot, keep func(*index.Entry) bool) func(*index.Snapshot) map[string]*index.Entry {
	files := func(s *index.Snapshot) map[string]*index.Entry {
		if s == nil {
			return nil
		}
		files := map[string]*index.Entry{}
		for e := range s.Files() {
			if keep(e) {
				files[f.pathOf(f.Rules, e)] = e
			}
		}
		return files
	}
	shown := files(last)
	return func(s *index.Snapshot) map[string]*index.Entry {
		if s != last {
			last, shown = s, files(s)
		}
		return shown
	}
}

// pathOf returns the Text.Path of the rule of an entry.
func (f *Finder) pathOf(x *index.Index, e *index.Entry) string {
	shown := path.Join(x.LayerOf(e).Name, x.Below(e))
	if f.placeOf(e).Base == client.Project && strings.HasPrefix(shown, "~") {
		shown = "./" + shown // not a file of the user
	}
	return shown
}

// Rule returns the rule of an entry of Rules, without imports. The error is fs.ErrNotExist if the
// rule has no text.
func (f *Finder) Rule(ctx context.Context, e *index.Entry, hops int) (Text, error) {
	c := &call{Finder: f, ctx: ctx, index: f.Rules, sources: sources{}, way: f.tops()}
	x, header, err := c.rule(e)
	if err != nil {
		return Text{}, err
	}
	if x.full == 0 && len(x.Problems) == 0 {
		return Text{}, fs.ErrNotExist // empty, or removed since the scan
	}
	c.describe(x, e, header)
	left := newAllowance()
	err = c.complete(x, hops, &left)
	return x.Text, err
}

// rule returns the rule of an entry, and its header. A rule that cannot be read has no text.
func (c *call) rule(e *index.Entry) (*found, matter.Frontmatter, error) {
	if err := c.ctx.Err(); err != nil {
		return nil, matter.Frontmatter{}, err
	}
	l := c.index.LayerOf(e)
	place := c.placeOf(e)
	x := &found{Text: Text{Path: c.pathOf(c.index, e), Layer: l.Name, Place: place.Path(), User: place.Base != client.Project, Rules: c.reader(place), Dir: l.FS.Path(l.Dir), File: l.FS.Path(e.Spelled())}, fs: c.index.FSOf(c.ctx, e), file: e.Path, above: above(l.Name, l.Dir), top: c.topOf(l.FS, e.Path)}
	for _, row := range c.Rows {
		if slices.ContainsFunc(row.Instructions, func(p client.Place) bool { return p.Path() == place.Path() }) {
			x.hops = max(x.hops, row.ImportHops)
		}
	}
	if e.Broken() != nil {
		x.Problems = slices.Clone(e.Problems())
		return x, matter.Frontmatter{}, nil
	}
	var content File
	if kept := c.Texts.Get(e.File()); kept != nil && stamp.Of(kept.Info).Same(e.Stamp) {
		content = kept.Value
	} else {
		at, dirErr := x.fs.OpenDir(path.Dir(e.Path))
		if dirErr == nil {
			defer at.Close()
		}
		var err error
		if content, _, err = c.read(at, x.fs, e.File(), c.index.Place(e), dirErr); err != nil {
			return nil, matter.Frontmatter{}, err
		}
	}
	x.set(content)
	x.allowed = x.full
	return x, content.header, nil
}

// modeOf returns the mode and the globs of a rule.
func modeOf(p client.Place, header matter.Frontmatter) (Mode, []string) {
	value, _ := header.Get(p.Globs)
	globs := GlobsOf(value)
	when, _ := header.Get(p.When)
	switch strings.ToLower(withoutDashes.Replace(strings.TrimSpace(when.String()))) {
	case "always", "alwayson", "true":
		return Always, globs
	case "filematch", "glob":
		return OnMatch, globs
	case "manual", "auto", "modeldecision":
		return OnRequest, globs
	}
	switch {
	case len(globs) > 0:
		return OnMatch, globs
	case p.OnRequest:
		return OnRequest, nil
	}
	return Always, nil
}

var withoutDashes = strings.NewReplacer("_", "", "-", "")

// GlobsOf returns the globs of a list, or of a text with commas outside braces and brackets.
func GlobsOf(v matter.Value) (globs []string) {
	for _, text := range v.Strings() {
		for part := range matter.EachPart(text, "{[", "}]", ",") {
			if glob := strings.Trim(part, " \t\r\n\"'"); glob != "" {
				globs = append(globs, glob)
			}
		}
	}
	return globs
}

// globOf returns a glob of a rule.
func globOf(p client.Place, text string) (listing.Glob, error) {
	if strings.HasSuffix(text, "/") {
		text += "**"
	}
	if !p.AnyDepth && !strings.Contains(text, "/") {
		text = "/" + text
	}
	return listing.ParseGlob(text)
}

// The limits of the globs.
const (
	maxGlobs     = 1000      // of a rule
	maxGlobBytes = 256 << 10 // of a rule, with braces expanded
	maxGlobSteps = 1 << 27   // of a call of Find: the length of each compared glob, times the length of the path if the literal ends match
)

// Compiled are the mode and the globs of a rule.
type Compiled struct {
	entry *index.Entry
	mode  Mode
	globs listing.Globs
	used  int // globs within the limits
}

// compile compiles the header of a rule. A glob that is not valid matches nothing.
func compile(p client.Place, header matter.Frontmatter) (c Compiled) {
	mode, texts := modeOf(p, header)
	if c.mode = mode; mode != OnMatch {
		return c
	}
	left, valid := maxGlobBytes, make([]listing.Glob, 0, min(len(texts), maxGlobs))
	for _, text := range texts[:min(len(texts), maxGlobs)] {
		glob, err := globOf(p, text)
		if left -= glob.Size(); left < 0 {
			break
		}
		if c.used++; err == nil {
			valid = append(valid, glob)
		}
	}
	c.globs = listing.NewGlobs(valid)
	return c
}

// applies reports whether a rule applies to a path.
func (c Compiled) applies(name string, steps *int) (bool, error) {
	if c.mode != OnMatch {
		return true, nil
	}
	return c.globs.Match(name, steps)
}

// compiled returns the compiled header of an entry, each time the same while the Finder keeps it.
func (c *call) compiled(e *index.Entry) Compiled {
	if kept := c.Compiled.Get(e.File()); kept != nil && kept.Value.entry == e {
		return kept.Value
	}
	made := compile(c.placeOf(e), e.Header())
	made.entry = e
	c.Compiled.Put(&index.Cached[Compiled]{File: e.File(), Value: made, Size: made.globs.Size()})
	return made
}
