package toolshelf

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// defaultTreeLimit keeps a tree that nobody has thought about to a size that
// a program can hold and a person can look through.
const defaultTreeLimit = 10_000

// A DirTree is a folder with all that is below it, as far as the options let
// it go.
type DirTree struct {
	Path      string     `json:"path"`                // relative to the root, ending in a slash; "./" for the root
	Excluding []string   `json:"excluding,omitempty"` // the globs of Exclude
	Children  []TreeNode `json:"children"`            // in order; never null
	More      int        `json:"more,omitempty"`      // entries of this folder beyond Limit, which are not in Children
	Files     int        `json:"files"`               // nodes of the tree that are no folders
	Dirs      int        `json:"directories"`         // those that are
	Omitted   int        `json:"omitted,omitempty"`   // the sum of More over all folders; what is in folders that are left out is not counted
	Ignored   int        `json:"ignored,omitempty"`   // entries that Gitignore left out, without what is below them
	Vanished  int        `json:"vanished,omitempty"`  // entries removed while their folder was read
	Warnings  []string   `json:"warnings,omitempty"`  // what could not be found out, one line each
}

// A TreeNode is an entry and, of a folder, what is in it.
type TreeNode struct {
	Entry
	Children []TreeNode `json:"children,omitempty"` // none too for a folder at MaxDepth, which is not looked into
	More     int        `json:"more,omitempty"`     // entries of this folder beyond Limit, which are not in Children
	Error    string     `json:"error,omitempty"`    // why this folder cannot be read, or not all of it
}

// Tree returns a folder with all that is below it, in the order of ListDir.
// For the path and the errors see there, too.
//
// Links are shown as links and not followed. A folder below that cannot be
// read is a node with the reason, and the rest of the tree is there all the
// same. Hidden entries are left out without ShowHidden.
//
// At most Limit entries are returned, 10,000 without the option. A tree that
// has more loses its deepest levels first. Of the level at which the limit
// is reached, the folders get equal shares, and each keeps its first entries;
// More says how many it does not show.
//
// The cost is one reading of each folder and one stat for each entry,
// shared out over at most four processors; the result does not depend on how.
// The folders of the level that is cut are read twice.
func (c *Catalog) Tree(ctx context.Context, path string, opts ...DirOption) (DirTree, error) {
	return inFolder(ctx, c, "Tree", path, opts, func(ctx context.Context, dir *confine.Dir, at place, d *dirReader) (DirTree, error) {
		return d.tree(ctx, dir, at)
	})
}

func (d *dirReader) tree(ctx context.Context, dir *confine.Dir, at place) (DirTree, error) {
	b := treeBuilder{dirReader: d, ctx: ctx, left: d.limit}
	b.walk = newWalk(d, dir, at, b.visit)
	switch d.limit {
	case -1:
		b.left = defaultTreeLimit
	case 0:
		b.left = math.MaxInt
	}
	var root TreeNode
	b.walk.top.node = &root
	if err := b.walk.levels(ctx, d, b.settle); err != nil {
		return DirTree{}, err
	}
	tree := DirTree{Path: at.name + "/", Children: root.Children, More: root.More}
	if tree.Children == nil {
		tree.Children = []TreeNode{}
	}
	for _, g := range d.exclude {
		tree.Excluding = append(tree.Excluding, g.text)
	}
	unknown := tree.count(tree.Children, root.More)
	tree.Ignored, tree.Vanished = int(d.ignored.Load()), int(d.vanished.Load())
	tree.Warnings = d.allWarnings(unknown)
	return tree, nil
}

// count adds up the totals, and returns how many entries have no metadata.
func (t *DirTree) count(nodes []TreeNode, more int) (unknown int) {
	t.Omitted += more
	for i := range nodes {
		n := &nodes[i]
		if n.Type == Directory {
			t.Dirs++
			unknown += t.count(n.Children, n.More)
		} else {
			t.Files++
		}
		if n.Size < 0 {
			unknown++
		}
	}
	return unknown
}

// A treeBuilder makes nodes of the folders of a walk.
type treeBuilder struct {
	*dirReader
	walk    *walk
	ctx     context.Context
	depth   int          // of the level; changes between levels only, as left does
	left    int          // entries that may still be returned
	claimed atomic.Int64 // entries of the level, as far as it has been visited
}

// visit reads a folder, and fills its node unless the level turns out to have
// more entries than may be returned. Then settle decides what the node gets,
// when all of the level is known.
func (b *treeBuilder) visit(d *dirReader, f *folder, at place, dir *confine.Dir, err error) ([]*folder, error) {
	if err != nil {
		f.node.Error = escape.Reason(err)
		return nil, nil
	}
	at.rules = d.addRules(dir, at)
	f.rules = at.rules
	rows, _, total, err := d.rows(b.ctx, dir, at, nil, b.rowLimit(b.left))
	if err != nil {
		if b.ctx.Err() != nil || f == b.walk.top {
			return nil, err
		}
		f.node.Error = escape.Reason(err)
	}
	f.entries = total.all()
	if f.depth == b.depth && b.claimed.Add(int64(f.entries)) > int64(b.left) {
		return nil, nil
	}
	return b.fillNode(d, f, dir, rows, b.left)
}

// rowLimit is how many rows to keep of a folder of which limit entries may be
// returned: all, where it takes metadata to choose.
func (b *treeBuilder) rowLimit(limit int) int {
	if b.sort != ByName || limit == math.MaxInt {
		return -1
	}
	return limit
}

// fillNode gives a folder's node its children, and returns the folders among
// them that are to be looked into.
func (b *treeBuilder) fillNode(d *dirReader, f *folder, dir *confine.Dir, rows []row, limit int) ([]*folder, error) {
	workers := 1
	if f == b.walk.top {
		workers = statWorkers()
	}
	nodes := make([]TreeNode, len(rows))
	if err := d.fill(b.ctx, dir, rows, func(i int) *Entry { return &nodes[i].Entry }, workers); err != nil {
		return nil, err
	}
	sorted := b.sort == ByName
	for i := range nodes {
		sorted = sorted && nodes[i].Name != "" && (nodes[i].Type == Directory) == (rows[i].kind == kindDir)
	}
	if !sorted {
		nodes = slices.DeleteFunc(nodes, func(n TreeNode) bool { return n.Name == "" })
		slices.SortFunc(nodes, func(x, y TreeNode) int { return compareEntries(b.sort, x.Entry, y.Entry) })
	}
	f.node.Children, f.filled = nodes[:min(len(nodes), limit):len(nodes)], true
	return b.folders(f), nil
}

// folders are those in a folder that are to be looked into.
func (b *treeBuilder) folders(f *folder) []*folder {
	if b.maxDepth > 0 && f.depth+1 >= b.maxDepth {
		return nil
	}
	var below []*folder
	for i := range f.node.Children {
		if n := &f.node.Children[i]; n.Type == Directory {
			child := f.in(n.Name)
			child.node = n
			below = append(below, child)
		}
	}
	return below
}

// settle goes on to the next level. Of a level that has too many entries it
// cuts the folders down to their shares.
func (b *treeBuilder) settle(level []*folder) ([]*folder, error) {
	entries := make([]int, len(level))
	claimed := 0
	for i, f := range level {
		entries[i] = f.entries
		claimed += f.entries
	}
	var err error
	if claimed <= b.left {
		b.left -= claimed
	} else {
		shares := share(b.left, entries)
		b.left = 0
		err = inParallel(b.ctx, len(level), func(i int) error { return b.cut(level[i], shares[i]) })
	}
	next := below(level)
	b.depth++
	b.claimed.Store(0)
	for _, f := range next {
		if f.visited {
			b.claimed.Add(int64(f.entries))
		}
	}
	return next, err
}

// cut gives a folder's node its first entries only.
func (b *treeBuilder) cut(f *folder, limit int) error {
	f.node.More = f.entries - limit
	switch {
	case limit == 0:
		f.node.Children, f.below = nil, nil
		return nil
	case f.filled:
		f.node.Children = f.node.Children[:min(limit, len(f.node.Children))]
		n := 0
		for i := range f.node.Children {
			if f.node.Children[i].Type == Directory {
				n++
			}
		}
		f.below = f.below[:min(n, len(f.below))]
		return nil
	}
	dir, err := b.walk.acquire(f)
	if err != nil {
		f.node.More, f.node.Error = 0, escape.Reason(err)
		return nil
	}
	defer b.walk.release(f)
	// What this reading leaves out has been counted by the first one.
	again := &dirReader{dirOptions: b.dirOptions}
	at := b.walk.place(f)
	at.rules = f.rules
	rows, _, total, err := again.rows(b.ctx, dir, at, nil, b.rowLimit(limit))
	if err != nil {
		if b.ctx.Err() != nil {
			return err
		}
		f.node.Error = escape.Reason(err)
	}
	f.below, err = b.fillNode(b.dirReader, f, dir, rows, limit)
	f.node.More = max(0, total.all()-min(limit, len(rows)))
	return err
}

// share divides n among folders of so many entries: equally, but what one
// does not need the others get.
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

// String is the tree as text for a model, in the form of the contract of
// directory_tree: two blanks a level, folders that cannot be read with the
// reason, and "… and N more" at the end of those that are cut. There is no
// line break at its end. Lines and names are those of DirListing.String, but
// without the column of sizes.
func (t DirTree) String() string {
	var b strings.Builder
	b.WriteString("Directory tree: " + escape.Path(t.Path))
	if len(t.Excluding) > 0 {
		globs := make([]string, len(t.Excluding))
		for i, g := range t.Excluding {
			globs[i] = escape.Path(g)
		}
		b.WriteString("\n\nExcluding: " + strings.Join(globs, ", "))
	}
	if len(t.Children) > 0 || t.More > 0 {
		b.WriteByte('\n')
	}
	writeNodes(&b, t.Children, t.More, 0)
	writeWarnings(&b, t.Warnings)
	return b.String()
}

func writeNodes(b *strings.Builder, nodes []TreeNode, more, depth int) {
	newLine := func() {
		b.WriteByte('\n')
		for range depth {
			b.WriteString("  ")
		}
	}
	for i := range nodes {
		n := &nodes[i]
		newLine()
		switch {
		case n.Type == File:
			b.WriteString("[FILE] " + escape.Name(n.Name) + " (" + formatSize(n.Size) + ")")
		default:
			n.writeLine(b, 0)
		}
		if n.Error != "" {
			b.WriteString(" (" + escape.Name(n.Error) + ")")
		}
		writeNodes(b, n.Children, n.More, depth+1)
	}
	if more > 0 {
		newLine()
		b.WriteString("… and " + strconv.Itoa(more) + " more")
	}
}
