package toolshelf

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/listing"
)

// minTreeLine is the smallest number of characters of a line of a tree, such as "\n[?]    a".
const minTreeLine = 9

func (t DirTree) within(ctx context.Context, o *dirOptions) (DirTree, error) {
	reported := t.Warnings
	if !o.budget.limited {
		t.Warnings = withUnknown(reported, t.count())
		t.Limits = t.limits(o)
		return t, nil
	}
	order := newTreeOrder(&t)
	unknown := 0
	c := cut[DirTree]{
		most: len(order.additions),
		at: func(n int, warnings []string) DirTree {
			order.show(n)
			unknown = t.count()
			t.Warnings = warnings
			if t.Limits = t.limits(o); n < len(order.additions) {
				t.Limits = []string{o.budget.String()}
			}
			return t
		},
		warnings: func(DirTree) []string { return withUnknown(slices.Clip(reported), unknown) },
	}
	c.draft = func(n int) DirTree { return c.at(n, o.reserved()) }
	if o.budget.count == nil {
		c.sizes = func(least int) []int {
			sizes := order.sizes(least)
			if all := c.most; all > 0 {
				sizes[all] += cutSize(c.at(all, nil).Limits) - cutSize(c.at(0, nil).Limits)
			}
			return sizes
		}
	}
	return c.fit(ctx, o.budget)
}

// limits returns the option Limit if the tree lacks entries because of the option.
func (t *DirTree) limits(o *dirOptions) []string {
	if t.Omitted == 0 {
		return nil
	}
	return []string{counted(o.limitOr(defaultTreeLimit), "entry", "entries")}
}

// A treeOrder is the order in which Budget adds the entries of a tree. An added entry never
// precedes the directory of the entry.
type treeOrder struct {
	tree      *DirTree
	dirs      []treeDir // level by level
	additions []addition
}

// A treeDir is a directory of the tree that Budget cuts.
type treeDir struct {
	siblings listing.Siblings
	node     *TreeNode // nil for the top
	all      []TreeNode
	more     int // number of entries beyond Limit
	depth    int // of the entries, from 0
	below    int // index of the first subdirectory in treeOrder.dirs
	shown    int
}

type addition struct {
	place int
	dir   int // index in treeOrder.dirs
}

func newTreeOrder(t *DirTree) *treeOrder {
	o := &treeOrder{tree: t, dirs: []treeDir{{
		siblings: listing.TopSiblings(len(t.Children), countDirs(t.Children)),
		all:      t.Children,
		more:     t.More,
	}}}
	for i := 0; i < len(o.dirs); i++ {
		o.dirs[i].below = len(o.dirs)
		dir := o.dirs[i]
		for j := range dir.all {
			o.additions = append(o.additions, addition{dir.siblings.Place(j), i})
			if n := &dir.all[j]; j < dir.siblings.Dirs {
				o.dirs = append(o.dirs, treeDir{
					siblings: dir.siblings.Below(j, len(n.Children), countDirs(n.Children)),
					node:     n,
					all:      n.Children,
					more:     n.More,
					depth:    dir.depth + 1,
				})
			}
		}
	}
	slices.SortFunc(o.additions, func(a, b addition) int { return cmp.Or(cmp.Compare(a.place, b.place), cmp.Compare(a.dir, b.dir)) })
	return o
}

// countDirs returns the number of directories, which precede the other entries.
func countDirs(nodes []TreeNode) int {
	n := 0
	for n < len(nodes) && nodes[n].Type == Directory {
		n++
	}
	return n
}

// show reduces the tree to the first n entries of the order.
func (o *treeOrder) show(n int) {
	for i := range o.dirs {
		o.dirs[i].shown = 0
	}
	for _, a := range o.additions[:n] {
		o.dirs[a.dir].shown++
	}
	for _, d := range o.dirs {
		more := d.more + len(d.all) - d.shown
		switch {
		case d.node == nil:
			o.tree.Children, o.tree.More = d.all[:d.shown:d.shown], more
		case d.shown == 0:
			d.node.Children, d.node.More = nil, more
		default:
			d.node.Children, d.node.More = d.all[:d.shown:d.shown], more
		}
	}
}

// sizes returns the number of characters of the text with the first n entries, for each n, with
// the same limits. least is the number for n = 0. The text of more entries can be shorter, because
// the last entry of a directory replaces a line "… and 1 more".
func (o *treeOrder) sizes(least int) []int {
	o.show(0)
	sizes := append(make([]int, 0, len(o.additions)+1), least)
	size := least
	for _, a := range o.additions {
		d := &o.dirs[a.dir]
		size += nodeSize(&d.all[d.shown], d.depth, !o.tree.NoSizes) - d.omittedSize()
		d.shown++
		size += d.omittedSize()
		sizes = append(sizes, size)
	}
	return sizes
}

// nodeSize returns the number of characters of the line of a node.
func nodeSize(n *TreeNode, depth int, size bool) int {
	var b strings.Builder
	n.writeTreeLine(&b, depth, size)
	return utf8.RuneCountInString(b.String())
}

// omittedSize returns the number of characters of the number of omitted entries.
func (d *treeDir) omittedSize() int {
	var b strings.Builder
	switch omitted := d.more + len(d.all) - d.shown; {
	case d.node == nil || d.shown > 0:
		writeMore(&b, omitted, d.depth)
	case omitted > 0:
		writeEntries(&b, omitted)
	}
	return utf8.RuneCountInString(b.String())
}

func cutSize(limits []string) int {
	var b strings.Builder
	writeCut(&b, limits)
	return utf8.RuneCountInString(b.String())
}
