package toolshelf

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/listing"
	"github.com/toolshelf-go/toolshelf/internal/shown"
)

// defaultTreeLimit is the limit of Tree without the option Limit. A tree of this size fits
// in memory and can still be read by a person.
const defaultTreeLimit = 10_000

// A DirTree is a directory with the entries of all levels below.
type DirTree struct {
	Path      string     `json:"path"`                // relative to the root, ending in a slash; "./" for the root
	Excluding []string   `json:"excluding,omitempty"` // the globs of Exclude
	Children  []TreeNode `json:"children"`            // in order; never null
	More      int        `json:"more,omitempty"`      // number of entries of this directory beyond Limit or Budget, not in Children
	Files     int        `json:"files"`               // number of nodes that are not directories
	Dirs      int        `json:"directories"`         // number of nodes that are directories
	Omitted   int        `json:"omitted,omitempty"`   // sum of More over all directories; excludes entries below omitted directories
	Ignored   int        `json:"ignored,omitempty"`   // number of entries omitted by Gitignore, excluding entries below omitted directories
	Vanished  int        `json:"vanished,omitempty"`  // number of entries removed during the call
	Limits    []string   `json:"limits,omitempty"`    // the limit that omits entries, such as "1000 entries" or "8000 characters"
	NoSizes   bool       `json:"no_sizes,omitempty"`  // the result of WithoutSizes
	Warnings  []string   `json:"warnings,omitempty"`  // information that could not be read, one line each
}

// A TreeNode is an entry of a directory tree. The node of a directory contains the nodes of
// its entries.
type TreeNode struct {
	Entry
	Children   []TreeNode `json:"children,omitempty"`   // empty for a directory at MaxDepth; Tree does not read the directory
	More       int        `json:"more,omitempty"`       // number of entries of this directory beyond Limit or Budget, not in Children
	Dependency bool       `json:"dependency,omitempty"` // Tree does not enter this directory because of SkipDependencies, but counts its entries
	Skipped    int        `json:"skipped,omitempty"`    // number of entries of this directory if Dependency is true
	Error      string     `json:"error,omitempty"`      // reason why this directory cannot be read completely, in one line
}

// row returns the node for a text.
func (n *TreeNode) row() shown.Node[TreeNode] {
	return shown.Node[TreeNode]{Entry: n.Entry.row(), Children: n.Children, More: n.More, Dependency: n.Dependency, Skipped: n.Skipped, Error: n.Error}
}

// Tree returns a directory and all entries below, in the order of ListDir. Tree accepts the
// paths and returns the errors of [Catalog.ListDir].
//
// Tree shows links as links and does not follow links. If a subdirectory cannot be read, its
// node contains the reason, and the rest of the tree is complete. Tree omits hidden entries
// unless the options include ShowHidden.
//
// Tree returns at most Limit entries, or 10,000 without the option. Tree drops the deepest
// levels of a larger tree first. On the level where the tree reaches the limit, all
// directories get equal shares of the remaining entries, and each directory keeps its first
// entries. More counts the other entries of a directory. With [Budget], Limit follows
// the order of Budget instead.
//
// Tree reads each directory once and stats each entry, on at most four processors. Tree reads
// the directories of a partly dropped level twice. The result does not depend on the number of
// processors.
func (c *Catalog) Tree(ctx context.Context, path string, opts ...DirOption) (DirTree, error) {
	options, err := newDirOptions("Tree", opts)
	return inDirectory(ctx, c, "Tree", path, options, err, DirTree.within, func(ctx context.Context, name string, o dirOptions) (DirTree, error) {
		tree := DirTree{Path: name + "/", NoSizes: o.withoutSizes}
		for i := range o.exclude {
			tree.Excluding = append(tree.Excluding, o.exclude[i].String())
		}
		if err := o.budget.holds(tree); err != nil {
			return DirTree{}, err
		}
		lo := o.listing()
		lo.Limit = o.limitOr(defaultTreeLimit)
		lo.Limit, lo.Places = o.budget.lines(lo.Limit, minTreeLine), o.budget.limited
		lo.MaxDepth = o.budget.levels(lo.MaxDepth)
		var top TreeNode
		report, err := listing.Tree(ctx, c.root, name, lo, &top, listing.Builder[TreeNode]{
			New: func(r *listing.Row) TreeNode {
				n := TreeNode{Entry: newEntry(r)}
				if o.withoutSizes {
					n.removeSize()
				}
				return n
			},
			Fill: func(dir *TreeNode, nodes []TreeNode, rest listing.Rest) {
				dir.Children, dir.More, dir.Dependency, dir.Skipped, dir.Error = nodes, rest.More, rest.Dependency, rest.Skipped, rest.Reason
			},
		})
		if err != nil {
			return DirTree{}, err
		}
		tree.Children, tree.More, tree.Ignored, tree.Vanished, tree.Warnings = top.Children, top.More, report.Ignored, report.Vanished, report.Warnings
		if tree.Children == nil {
			tree.Children = []TreeNode{}
		}
		return tree, nil
	})
}

// count sets the totals, and returns the number of entries without metadata.
func (t *DirTree) count() (unknown int) {
	t.Files, t.Dirs, t.Omitted = 0, 0, 0
	return t.countNodes(t.Children, t.More)
}

func (t *DirTree) countNodes(nodes []TreeNode, more int) (unknown int) {
	t.Omitted += more
	for i := range nodes {
		n := &nodes[i]
		if n.Type == Directory {
			t.Dirs++
			unknown += t.countNodes(n.Children, n.More)
		} else {
			t.Files++
		}
		if n.unknown(t.NoSizes) {
			unknown++
		}
	}
	return unknown
}

// String returns the tree as text for a model, in the format of the tool directory_tree. The
// text has no line break at its end. Each level is indented by two spaces. The line of an
// unreadable directory ends with the reason. The line of a directory that SkipDependencies skips
// ends with the number of its entries, as in "[DIR]  node_modules/ (812 entries)".
//
// If the limit or the budget omits all entries of a directory, the line of the directory also ends
// with the number of entries. If the text has some entries of a directory, "… and N more" follows
// the entries. A line after the tree names the limit or the budget. The text has no total, because
// Tree does not read the directories beyond the limit.
//
// A directory at MaxDepth has no number, because Tree does not read the directory. The line is the
// same as the line of an empty directory, and Limits does not name MaxDepth.
//
// Lines and names are those of [DirListing.String], without the column of sizes.
func (t DirTree) String() string { return shown.Tree[TreeNode](t).Text((*TreeNode).row) }

// minTreeLine is the smallest number of characters of a line of a tree, such as "\n[?]    a".
const minTreeLine = 9

func (t DirTree) within(ctx context.Context, o *dirOptions) (DirTree, error) {
	reported := t.Warnings
	if !o.budget.limited {
		t.Warnings = shown.WithUnknown(reported, t.count())
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
		warnings: func(DirTree) []string { return shown.WithUnknown(slices.Clip(reported), unknown) },
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
	return []string{shown.Counted(o.limitOr(defaultTreeLimit), "entry", "entries")}
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
	n.row().WriteLine(&b, depth, size)
	return utf8.RuneCountInString(b.String())
}

// omittedSize returns the number of characters of the number of omitted entries.
func (d *treeDir) omittedSize() int {
	var b strings.Builder
	switch omitted := d.more + len(d.all) - d.shown; {
	case d.node == nil || d.shown > 0:
		shown.WriteMore(&b, omitted, d.depth)
	case omitted > 0:
		shown.WriteEntries(&b, omitted)
	}
	return utf8.RuneCountInString(b.String())
}

func cutSize(limits []string) int {
	var b strings.Builder
	shown.WriteCut(&b, limits)
	return utf8.RuneCountInString(b.String())
}
