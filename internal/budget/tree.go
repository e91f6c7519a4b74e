package budget

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/shown"
)

// A Shape has the functions for the nodes of a tree.
type Shape[N any] struct {
	Node func(*N) shown.Node[N] // returns the node for a text
	// Reports whether a file is a main file, which a cut keeps before directories.
	Main func(name string) bool
	Set  func(n *N, children []N, more int) // sets the fields of a directory
}

// Tree returns the tree with the first entries of the order of Tree whose text is within the
// budget, sets the totals, and adds the warning about entries without metadata. The limit is the
// number of entries beyond which entries are omitted already.
func Tree[N any](ctx context.Context, b Budget, t shown.Tree[N], limit int,
	s Shape[N]) (shown.Tree[N], error) {
	tree := tree[N]{t, s}
	warnings := t.Warnings
	if !b.Limited {
		tree.Warnings = shown.WithUnknown(warnings, tree.count(limit))
		return tree.Tree, nil
	}
	o := newTreeOrder(&tree)
	unknown := 0
	c := cut[shown.Tree[N]]{
		most: len(o.additions),
		at: func(n int, warnings []string) shown.Tree[N] {
			o.show(n)
			unknown = tree.count(limit)
			if tree.Warnings = warnings; n < len(o.additions) {
				tree.Limits = []string{b.String()}
			}
			return tree.Tree
		},
		text:     func(t shown.Tree[N]) string { return t.Text(s.Node) },
		warnings: func(shown.Tree[N]) []string { return shown.WithUnknown(slices.Clip(warnings), unknown) },
	}
	c.draft = func(n int) shown.Tree[N] {
		t := c.at(n, b.reserved())
		// The numbers must not displace entries. A call with a larger budget reads more
		// directories.
		if t.Omitted > 0 {
			t.Omitted = reservedNumber
		}
		if b.Reserve {
			t.Ignored = reservedNumber
		}
		return t
	}
	c.sizes = func(least int) []int {
		sizes := o.sizes(least)
		if all := c.most; all > 0 {
			sizes[all] += cutSize(c.draft(all)) - cutSize(c.draft(0))
		}
		return sizes
	}
	return c.fit(ctx, b)
}

type tree[N any] struct {
	shown.Tree[N]
	shape Shape[N]
}

// count sets the totals and, if the tree lacks entries, the limit. count returns the number of
// entries without metadata.
func (t *tree[N]) count(limit int) (unknown int) {
	t.Files, t.Dirs, t.Omitted, t.Limits = 0, 0, 0, nil
	unknown = t.countNodes(t.Children, t.More)
	if t.Omitted > 0 {
		t.Limits = []string{shown.Counted(limit, "entry", "entries")}
	}
	return unknown
}

func (t *tree[N]) countNodes(nodes []N, more int) (unknown int) {
	t.Omitted += more
	for i := range nodes {
		n := t.shape.Node(&nodes[i])
		if n.IsDir() {
			t.Dirs++
			unknown += t.countNodes(n.Children, n.More)
		} else {
			t.Files++
		}
		if n.Unknown(t.NoSizes) {
			unknown++
		}
	}
	return unknown
}

// newDir returns a directory without siblings.
func (s Shape[N]) newDir(node *N, all []N, more, depth int) treeDir[N] {
	dirs := 0
	for dirs < len(all) && s.Node(&all[dirs]).IsDir() {
		dirs++
	}
	main := 0
	for dirs+main < len(all) && s.Main(s.Node(&all[dirs+main]).Name) {
		main++
	}
	return treeDir[N]{node: node, all: all, dirs: dirs, main: main, more: more, depth: depth}
}

// A treeOrder is the order in which a budget adds the entries of a tree. An added entry never
// precedes the directory of the entry.
type treeOrder[N any] struct {
	tree      *tree[N]
	dirs      []treeDir[N] // level by level
	additions []addition
}

// A treeDir is a directory of the tree that a budget cuts.
type treeDir[N any] struct {
	siblings Siblings
	node     *N  // nil for the top
	all      []N // directories, main files, other files
	dirs     int // number of directories
	main     int // number of main files
	more     int // number of entries beyond the limit
	depth    int // of the entries, from 0
	shown    int
}

// at returns the entry that the order adds after n other entries of the directory: first the main
// files, then the directories.
func (d *treeDir[N]) at(n int) *N {
	switch {
	case n < d.main:
		n += d.dirs
	case n < d.main+d.dirs:
		n -= d.main
	}
	return &d.all[n]
}

// first returns the shown entries, with directories first.
func (d *treeDir[N]) first() []N {
	dirs := d.shown - d.main
	switch {
	case d.main == 0 || dirs >= d.dirs:
		return d.all[:d.shown:d.shown]
	case dirs <= 0:
		return d.all[d.dirs : d.dirs+d.shown : d.dirs+d.shown]
	}
	return slices.Concat(d.all[:dirs], d.all[d.dirs:d.dirs+d.main])
}

type addition struct {
	place int
	dir   int // index in treeOrder.dirs
}

func newTreeOrder[N any](t *tree[N]) *treeOrder[N] {
	top := t.shape.newDir(nil, t.Children, t.More, 0)
	top.siblings = TopSiblings(len(top.all), top.main+top.dirs)
	o := &treeOrder[N]{tree: t, dirs: []treeDir[N]{top}}
	for i := 0; i < len(o.dirs); i++ {
		dir := o.dirs[i]
		for j := range dir.all {
			o.additions = append(o.additions, addition{dir.siblings.Place(j), i})
			if dir.main <= j && j < dir.main+dir.dirs {
				n := t.shape.Node(dir.at(j))
				below := t.shape.newDir(dir.at(j), n.Children, n.More, dir.depth+1)
				below.siblings = dir.siblings.Below(j, len(below.all), below.main+below.dirs)
				o.dirs = append(o.dirs, below)
			}
		}
	}
	slices.SortFunc(o.additions, func(a, b addition) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.dir, b.dir)) })
	return o
}

// show reduces the tree to the first n entries of the order.
func (o *treeOrder[N]) show(n int) {
	for i := range o.dirs {
		o.dirs[i].shown = 0
	}
	for _, a := range o.additions[:n] {
		o.dirs[a.dir].shown++
	}
	for _, d := range slices.Backward(o.dirs) { // first can copy nodes with the entries below
		more := d.more + len(d.all) - d.shown
		switch {
		case d.node == nil:
			o.tree.Children, o.tree.More = d.first(), more
		case d.shown == 0:
			o.tree.shape.Set(d.node, nil, more)
		default:
			o.tree.shape.Set(d.node, d.first(), more)
		}
	}
}

// sizes returns the number of characters of the text with the first n entries, for each n, with the
// same limits. least is the number for n = 0. The text of more entries can be shorter, because the
// last entry of a directory replaces a line "… and 1 more".
func (o *treeOrder[N]) sizes(least int) []int {
	o.show(0)
	sizes := append(make([]int, 0, len(o.additions)+1), least)
	size := least
	for _, a := range o.additions {
		d := &o.dirs[a.dir]
		size += o.nodeSize(d.at(d.shown), d.depth) - d.omittedSize()
		d.shown++
		size += d.omittedSize()
		sizes = append(sizes, size)
	}
	return sizes
}

// nodeSize returns the number of characters of the line of a node.
func (o *treeOrder[N]) nodeSize(n *N, depth int) int {
	var b strings.Builder
	o.tree.shape.Node(n).WriteLine(&b, depth, !o.tree.NoSizes)
	return utf8.RuneCountInString(b.String())
}

// omittedSize returns the number of characters of the number of omitted entries.
func (d *treeDir[N]) omittedSize() int {
	var b strings.Builder
	switch omitted := d.more + len(d.all) - d.shown; {
	case d.node == nil || d.shown > 0:
		shown.WriteMore(&b, omitted, d.depth)
	case omitted > 0:
		shown.WriteEntries(&b, omitted)
	}
	return utf8.RuneCountInString(b.String())
}

func cutSize[N any](t shown.Tree[N]) int {
	var b strings.Builder
	shown.WriteCut(&b, t.Limits, t.Omitted)
	return utf8.RuneCountInString(b.String())
}
