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
	t := treeBuilder[E]{Builder: b, reader: d, ctx: ctx, left: o.Limit}
	if o.Limit == 0 {
		t.left = math.MaxInt
	}
	t.walk = newWalk(dir, at, t.visit)
	t.walk.top.data.node = top
	if err := t.walk.levels(ctx, t.settle); err != nil {
		return Report{}, err
	}
	t.fillNodes(t.kept)
	return d.report(), nil
}

// A branch is the data of a directory until the level is settled.
type branch[E any] struct {
	node    *E
	nodes   []E  // of the entries, if filled
	filled  bool // nodes is set
	entries int  // number of selected entries
	leading int  // number of selected entries that are main files or directories
	main    int  // number of nodes of main files before the other files
	dirs    int  // number of nodes of directories, the first nodes
	skipped bool // because of Options.SkipDependencies
	rest    Rest

	// With Options.Places.
	index    int // of the directory among its siblings, with the main files first
	siblings budget.Siblings
	shown    int // number of entries within the limit
}

// A treeDir is a directory of a tree.
type treeDir[E any] = directory[branch[E]]

// A treeBuilder builds the nodes of the directories of a walk.
type treeBuilder[E any] struct {
	Builder[E]
	*reader
	walk *walk[branch[E]]
	ctx  context.Context
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
	f.data.entries, f.data.leading = total.all(), total.dirs+total.main
	if t.claimed.Add(int64(f.data.entries)) > int64(t.left) {
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
	add := func(name string) {
		if t.MaxDepth == 0 || f.depth+1 < t.MaxDepth {
			child := f.in(name)
			child.data.node, child.data.index = &b.nodes[b.dirs], b.main+b.dirs
			child.data.skipped = t.skips(name)
			below = append(below, child)
		}
		b.dirs++
	}
	b.filled = true
	if t.Order != ByName {
		rows, err := t.sortedRows(t.ctx, dir, entries, workers)
		if err != nil {
			return nil, err
		}
		rows = rows[:min(len(rows), limit)]
		b.nodes = buildAll(rows, t.New)
		for i := 0; i < len(rows) && rows[i].Kind == KindDir; i++ {
			add(rows[i].Name)
		}
		return below, nil
	}
	nodes, err := fill(t.ctx, t.reader, dir, entries, t.New, workers)
	if err != nil {
		return nil, err
	}
	if new(totals).settle(entries) {
		nodes, entries = reorder(nodes, entries)
	}
	nodes = nodes[:min(len(nodes), limit)]
	b.nodes = nodes
	isDir := func(e dirent) bool { return e.kind == KindDir }
	b.main = max(0, slices.IndexFunc(entries[:len(nodes)], isDir))
	for i := b.main; i < len(nodes) && isDir(entries[i]); i++ {
		add(entries[i].name)
	}
	if b.main > 0 {
		copy(nodes, slices.Concat(nodes[b.main:b.main+b.dirs], nodes[:b.main]))
	}
	return below, nil
}

// settle fills the nodes of a level and returns the next level. If the level has
// too many entries, settle first cuts its directories down to their shares.
func (t *treeBuilder[E]) settle(level []*treeDir[E]) ([]*treeDir[E], error) {
	if t.Places {
		return t.settlePlaces(level)
	}
	entries := make([]int, len(level))
	claimed := 0
	for i, f := range level {
		entries[i] = f.data.entries
		claimed += f.data.entries
	}
	var err error
	if claimed <= t.left {
		t.left -= claimed
	} else {
		shares := share(t.left, entries)
		t.left = 0
		err = inParallel(t.ctx, len(level), func(i int) error { return t.cut(level[i], shares[i]) })
	}
	t.fillNodes(level)
	return t.descend(level), err
}

func (t *treeBuilder[E]) fillNodes(level []*treeDir[E]) {
	for _, f := range level {
		t.Fill(f.data.node, f.data.nodes, f.data.rest)
		f.data.nodes = nil
	}
}

// descend returns the next level.
func (t *treeBuilder[E]) descend(level []*treeDir[E]) []*treeDir[E] {
	t.claimed.Store(0)
	return below(level)
}

// settlePlaces drops the entries of all levels beyond the limit, and returns the next level.
func (t *treeBuilder[E]) settlePlaces(level []*treeDir[E]) ([]*treeDir[E], error) {
	for _, f := range level {
		if f == t.walk.top {
			f.data.siblings = budget.TopSiblings(f.data.entries, f.data.leading)
		} else {
			f.data.siblings = f.parent.data.siblings.Below(f.data.index, f.data.entries, f.data.leading)
		}
	}
	t.kept = append(t.kept, level...)
	siblings := make([]budget.Siblings, len(t.kept))
	for i, f := range t.kept {
		siblings[i] = f.data.siblings
	}
	for i, shown := range budget.FirstEntries(siblings, t.left) {
		t.kept[i].data.shown = shown
	}
	t.kept = slices.DeleteFunc(t.kept, func(f *treeDir[E]) bool {
		return f.parent != nil && f.data.index >= f.parent.data.shown
	})
	above, _ := slices.BinarySearchFunc(t.kept, level[0].depth, func(f *treeDir[E], depth int) int { return cmp.Compare(f.depth, depth) })
	for _, f := range t.kept[:above] {
		if f.data.shown < len(f.data.nodes) {
			t.trim(f, f.data.shown)
		}
	}
	level = t.kept[above:]
	err := inParallel(t.ctx, len(level), func(i int) error {
		f := level[i]
		if f.data.shown < f.data.entries || !f.data.filled {
			return t.cut(f, f.data.shown)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return t.descend(level), nil
}

// cut keeps the first nodes of a directory.
func (t *treeBuilder[E]) cut(f *treeDir[E], limit int) error {
	if limit == 0 || f.data.filled {
		t.trim(f, limit)
		return nil
	}
	dir, err := t.walk.acquire(f)
	defer t.walk.release(f, 1)
	if err != nil {
		f.data.rest = Rest{Reason: escape.Reason(err)}
		return nil
	}
	// The first reading has counted the omitted entries.
	again := &reader{Options: t.Options}
	again.Seen = nil
	at := t.walk.location(f)
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
func (t *treeBuilder[E]) trim(f *treeDir[E], limit int) {
	f.data.rest.More = f.data.entries - limit
	if limit == 0 {
		f.data.nodes, f.below = nil, nil
		return
	}
	// The nodes of directories stay in place, because below has pointers to the nodes.
	limit = min(limit, len(f.data.nodes))
	main, dirs := min(limit, f.data.main), min(max(0, limit-f.data.main), f.data.dirs)
	copy(f.data.nodes[dirs:], f.data.nodes[f.data.dirs:f.data.dirs+main])
	f.data.nodes, f.data.main, f.data.dirs = f.data.nodes[:limit], main, dirs
	f.below = f.below[:min(dirs, len(f.below))]
}

// share divides n equally among directories with the given numbers of entries. The unused
// part of a share goes to the other directories.
func share(n int, entries []int) []int {
	order := make([]int, len(entries))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(entries[i], entries[j]) })
	shares := make([]int, len(entries))
	for done, i := range order {
		shares[i] = min(entries[i], n/(len(order)-done))
		n -= shares[i]
	}
	return shares
}
