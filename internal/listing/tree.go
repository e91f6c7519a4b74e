package listing

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/budget"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A Builder builds the nodes of a tree. Tree calls the functions from several
// goroutines.
type Builder[E any] struct {
	// New returns the node of an entry.
	New func(*Row) E

	// Fill sets the entries of a directory, once for each directory that the tree
	// enters. The node must keep the slice nodes, because later calls of Fill change
	// its elements.
	Fill func(dir *E, nodes []E, rest Rest)
}

// A Rest describes the entries of a directory that are not in the tree.
type Rest struct {
	More       int    // number of entries beyond the limit
	Dependency bool   // the tree does not enter the directory because of Options.SkipDependencies
	Skipped    int    // number of entries of the directory if Dependency is true
	Reason     string // reason why the directory cannot be read completely, or ""
}

// isMain reports whether an entry describes its directory or the project: a README, a manifest, an
// entry point, or the directory cmd.
func isMain(k Kind, name string) bool {
	if k == KindDir {
		return name == "cmd"
	}
	name = strings.ToLower(name)
	stem, _, _ := strings.Cut(name, ".")
	switch stem {
	case "readme", "main", "index", "__main__":
		return true
	}
	return slices.Contains(manifests, name)
}

// IsMainFile reports whether a tree in the order keeps a file before the directories of a cut
// directory.
func (o Order) IsMainFile(name string) bool { return o == ByName && isMain(KindFile, name) }

// manifests are the names of files that describe a project to its tools.
var manifests = []string{"go.mod", "go.work", "package.json", "deno.json", "cargo.toml", "pyproject.toml", "setup.py", "requirements.txt", "pom.xml", "build.gradle",
	"build.gradle.kts", "build.sbt", "cmakelists.txt", "makefile", "gemfile", "composer.json", "mix.exs", "pubspec.yaml", "package.swift", "dune-project",
	"meson.build", "module.bazel", "flake.nix", "dockerfile"}

// Tree builds the tree of the entries below a directory. The node top is the node of the
// directory.
//
// With a limit, Tree drops the deepest levels of a larger tree first. On the level where
// the tree reaches the limit, all directories get equal shares of the remaining entries,
// and each directory keeps its first entries. Main files are the first entries, but follow
// the directories in the nodes. Tree reads the directories of this level twice.
//
// With Options.Places, Tree keeps the first entries in the order of their places instead. Tree
// reads a level, drops the entries beyond the limit from all levels, and continues with the
// remaining directories.
func Tree[E any](ctx context.Context, fsys *confine.FS, name string, o Options, top *E,
	b Builder[E]) (Report, error) {
	o.MainFirst = o.Order == ByName
	d, dir, at, err := open(fsys, name, o)
	if err != nil {
		return Report{}, err
	}
	defer dir.Close()
	t := treeBuilder[E]{Builder: b, reader: d, ctx: ctx, top: top, left: cmp.Or(o.Limit, math.MaxInt)}
	t.walk = newWalk(dir, at, t.visit)
	if err := t.walk.levels(ctx, t.settle); err != nil {
		return Report{}, err
	}
	t.fillNodes(t.kept)
	return d.report(), nil
}

// A branch is the data of a directory until the node of the directory is filled.
type branch[E any] struct {
	index    int // of the directory among its siblings, with the main files first
	siblings budget.Siblings
	shown    int  // number of entries within the limit
	nodes    []E  // of the first entries, if filled, with the main files first
	filled   bool // nodes is set
	main     int  // number of nodes of main files before the other files
	dirs     int  // number of nodes of directories, after the main files
	skipped  bool // because of Options.SkipDependencies
	rest     Rest
}

// A treeDir is a directory of a tree.
type treeDir[E any] = directory[branch[E]]

// A treeBuilder builds the nodes of the directories of a walk.
type treeBuilder[E any] struct {
	Builder[E]
	*reader
	walk *walk[branch[E]]
	ctx  context.Context
	top  *E
	// Number of entries below the limit; changes only between levels, and never with
	// Options.Places.
	left    int
	kept    []*treeDir[E] // the directories of all levels, with Options.Places
	claimed atomic.Int64  // number of entries in the visited directories of the level
}

// visit reads a directory and builds its nodes. If the level has too many entries, visit
// builds no nodes, and settle determines the share of the directory after the visits of
// the whole level.
func (t *treeBuilder[E]) visit(f *treeDir[E], at location, dir *confine.Dir,
	err error) ([]*treeDir[E], error) {
	if err == nil && f.data.skipped {
		var n int
		n, err = countEntries(t.ctx, dir)
		t.see(n)
		f.data.rest = Rest{Dependency: true, Skipped: n}
		if t.ctx.Err() != nil {
			return nil, err
		}
	}
	if err != nil {
		f.data.rest = Rest{Reason: escape.Reason(err)}
	}
	if err != nil || f.data.skipped {
		return nil, nil
	}
	at.rules = t.addRules(dir, at)
	f.rules = at.rules
	entries, _, total, err := t.reader.entries(t.ctx, dir, at, nil, t.entryLimit(t.left), nil)
	if err != nil {
		if t.ctx.Err() != nil || f == t.walk.top {
			return nil, err
		}
		f.data.rest.Reason = escape.Reason(err)
	}
	f.data.siblings = budget.Siblings{Entries: total.all(), Leading: total.dirs + total.main}
	if t.claimed.Add(int64(total.all())) > int64(t.left) {
		return nil, nil
	}
	return t.fill(f, dir, entries, t.left)
}

// entryLimit returns the number of entries to read from a directory with a share of limit
// entries. If the order depends on metadata, entryLimit returns no limit.
func (t *treeBuilder[E]) entryLimit(limit int) int {
	if t.Order != ByName || limit == math.MaxInt {
		return -1
	}
	return limit
}

// fill builds the nodes of a directory, and returns the subdirectories that the tree
// enters.
func (t *treeBuilder[E]) fill(f *treeDir[E], dir *confine.Dir, entries []dirent,
	limit int) (below []*treeDir[E], err error) {
	workers := 1
	if f == t.walk.top {
		workers = statWorkers()
	}
	b := &f.data
	b.filled = true
	if t.Order != ByName {
		rows, err := t.sortedRows(t.ctx, dir, entries, workers)
		if err != nil {
			return nil, err
		}
		b.nodes = buildAll(rows[:min(len(rows), limit)], t.New)
		entries = entries[:len(rows)]
		for i, r := range rows {
			entries[i] = dirent{name: r.Name, kind: r.Kind}
		}
	} else {
		nodes, err := fill(t.ctx, t.reader, dir, entries, t.New, workers)
		if err != nil {
			return nil, err
		}
		if new(totals).settle(entries) {
			nodes, entries = reorder(nodes, entries)
		}
		b.nodes = nodes[:min(len(nodes), limit)]
	}
	isDir := func(e dirent) bool { return e.kind == KindDir }
	b.main = max(0, slices.IndexFunc(entries[:len(b.nodes)], isDir))
	for i := b.main; i < len(b.nodes) && isDir(entries[i]); i++ {
		b.dirs++
		if t.MaxDepth == 0 || f.depth+1 < t.MaxDepth {
			child := f.in(entries[i].name)
			child.data.index, child.data.skipped = i, t.skips(entries[i].name)
			below = append(below, child)
		}
	}
	return below, nil
}

// settle cuts the directories of a level down to their shares of the limit, and returns the next
// level. With Options.Places, settle drops the entries of all levels beyond the limit.
func (t *treeBuilder[E]) settle(level []*treeDir[E]) ([]*treeDir[E], error) {
	dirs, complete := level, t.claimed.Swap(0) <= int64(t.left)
	if t.Places {
		for _, f := range level {
			s := &f.data.siblings
			if f == t.walk.top {
				*s = budget.TopSiblings(s.Entries, s.Leading)
			} else {
				*s = f.parent.data.siblings.Below(f.data.index, s.Entries, s.Leading)
			}
		}
		t.kept = append(t.kept, level...)
		dirs = t.kept
	} else {
		dirs = equalShares(level)
	}
	siblings := make([]budget.Siblings, len(dirs))
	for i, f := range dirs {
		siblings[i] = f.data.siblings
	}
	for i, shown := range budget.FirstEntries(siblings, t.left) {
		dirs[i].data.shown = shown
	}
	if t.Places {
		level = t.trimAbove(level[0].depth)
	} else {
		for _, f := range level {
			t.left -= f.data.shown
		}
	}
	var err error
	if t.Places || !complete {
		err = inParallel(t.ctx, len(level), func(i int) error { return t.cut(level[i]) })
	}
	if err == nil && !t.Places {
		t.fillNodes(level)
	}
	return below(level), err
}

// equalShares gives the directories of a level equal shares of the limit, and returns the largest
// directory first: its share has the remainder.
func equalShares[E any](level []*treeDir[E]) []*treeDir[E] {
	for _, f := range level {
		f.data.siblings.Leading = f.data.siblings.Entries
	}
	dirs := slices.Clone(level)
	slices.Reverse(dirs)
	slices.SortStableFunc(dirs, func(f, g *treeDir[E]) int {
		return cmp.Compare(g.data.siblings.Entries, f.data.siblings.Entries)
	})
	return dirs
}

// trimAbove drops the entries beyond the limit from the levels above a depth, and returns the
// remaining directories of the depth.
func (t *treeBuilder[E]) trimAbove(depth int) []*treeDir[E] {
	t.kept = slices.DeleteFunc(t.kept, func(f *treeDir[E]) bool {
		return f.parent != nil && f.data.index >= f.parent.data.shown
	})
	for i, f := range t.kept {
		if f.depth == depth {
			return t.kept[i:]
		}
		if f.data.shown < len(f.data.nodes) {
			trim(f)
		}
	}
	return nil
}

// fillNodes fills the nodes of directories. In the nodes, the directories precede the main files.
func (t *treeBuilder[E]) fillNodes(dirs []*treeDir[E]) {
	for _, f := range dirs {
		b, node := &f.data, t.top
		if f.parent != nil {
			above := &f.parent.data
			node = &above.nodes[b.index-above.main]
		}
		if main := min(b.main, len(b.nodes)); main > 0 {
			dirs := b.nodes[main:min(main+b.dirs, len(b.nodes))]
			copy(b.nodes, slices.Concat(dirs, b.nodes[:main]))
		}
		t.Fill(node, b.nodes, b.rest)
	}
}

// cut keeps the entries of a directory within the limit, and reads the directory again if the visit
// built no nodes.
func (t *treeBuilder[E]) cut(f *treeDir[E]) error {
	limit := f.data.shown
	switch {
	case limit == 0 || f.data.filled && limit < f.data.siblings.Entries:
		trim(f)
		return nil
	case f.data.filled:
		return nil
	}
	at := t.walk.location(f)
	dir, err := t.walk.open(f, at)
	if err != nil {
		f.data.rest = Rest{Reason: escape.Reason(err)}
		return nil
	}
	if f != t.walk.top {
		defer dir.Close()
	}
	// The first reading has counted the omitted entries.
	again := &reader{Options: t.Options}
	again.Seen = nil
	at.rules = f.rules
	entries, _, total, err := again.entries(t.ctx, dir, at, nil, t.entryLimit(limit), nil)
	if again.reason != nil {
		t.miss(again.reason)
	}
	if err != nil {
		if t.ctx.Err() != nil {
			return err
		}
		f.data.rest.Reason = escape.Reason(err)
	}
	f.below, err = t.fill(f, dir, entries, limit)
	f.data.rest.More = max(0, total.all()-min(limit, len(entries)))
	return err
}

// trim keeps the first nodes of a directory without reading the directory.
func trim[E any](f *treeDir[E]) {
	b := &f.data
	b.rest.More = b.siblings.Entries - b.shown
	if b.nodes = b.nodes[:min(b.shown, len(b.nodes))]; b.shown == 0 {
		b.nodes = nil
	}
	f.below = f.below[:min(max(0, b.shown-b.main), len(f.below))]
}
