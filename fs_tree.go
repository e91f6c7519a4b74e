package toolshelf

import (
	"context"

	"github.com/toolshelf-go/toolshelf/internal/budget"
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
	NoSizes   bool       `json:"no_sizes,omitempty"`  // the sizes and times were not read; see show_sizes of the tools in docs/tools.md
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

// Tree returns a directory and all entries below, in the order of ListDir, except that ByName has
// the subdirectory cmd and the main files (README, go.mod, main.go and the like) first among the
// directories and the files. Tree accepts the paths and returns the errors of [Catalog.ListDir].
//
// Tree shows links as links and does not follow links. If a subdirectory cannot be read, its node
// contains the reason, and the rest of the tree is complete. Tree omits hidden entries unless the
// options include ShowHidden.
//
// Tree returns at most Limit entries, or 10,000 without the option. Tree drops the deepest levels
// of a larger tree first. On the level where the tree reaches the limit, all directories get equal
// shares of the remaining entries: in ByName first the main files. More counts the other entries of
// a directory. With [Budget], Limit follows the order of Budget instead.
//
// Tree reads each directory once and stats each entry, on at most four processors. Tree reads the
// directories of a partly dropped level twice.
func (c *Catalog) Tree(ctx context.Context, path string, opts ...DirOption) (DirTree, error) {
	return run(ctx, fileCall{catalog: c, op: "Tree", path: path, dir: true, dirOptions: newDirOptions(opts)}, DirTree{})
}

func (t *DirTree) read(ctx context.Context, f *fileCall) error {
	t.Path, t.NoSizes = f.name+"/", f.withoutSizes
	for i := range f.exclude {
		t.Excluding = append(t.Excluding, f.exclude[i].String())
	}
	if err := f.budget.Holds(t); err != nil {
		return err
	}
	o := f.listing(defaultTreeLimit, minTreeLine)
	o.Places, o.MaxDepth = f.budget.Limited, f.budget.Levels(o.MaxDepth)
	var top TreeNode
	report, err := listing.Tree(ctx, f.catalog.root, f.name, o, &top, listing.Builder[TreeNode]{
		New: func(r *listing.Row) TreeNode {
			n := TreeNode{Entry: newEntry(r)}
			if f.withoutSizes {
				n.removeSize()
			}
			return n
		},
		Fill: func(dir *TreeNode, nodes []TreeNode, rest listing.Rest) {
			dir.Children, dir.More, dir.Dependency, dir.Skipped, dir.Error = nodes, rest.More, rest.Dependency, rest.Skipped, rest.Reason
		},
	})
	if err != nil {
		return err
	}
	t.Children, t.More, t.Ignored, t.Vanished, t.Warnings = top.Children, top.More, report.Ignored, report.Vanished, report.Warnings
	if t.Children == nil {
		t.Children = []TreeNode{}
	}
	return nil
}

func (t *DirTree) fit(ctx context.Context, f *fileCall) error {
	found, err := budget.Tree(ctx, f.budget, shown.Tree[TreeNode](*t), f.limitOr(defaultTreeLimit), budget.Shape[TreeNode]{
		Node: (*TreeNode).row, Main: orders[f.sort].IsMainFile,
		Set: func(n *TreeNode, children []TreeNode, more int) { n.Children, n.More = children, more },
	})
	*t = DirTree(found)
	return err
}

// String returns the tree as text for a model, in the format of the tool directory_tree. The
// text has no line break at its end. Each level is indented by two spaces. The line of an
// unreadable directory ends with the reason. The line of a directory that SkipDependencies skips
// ends with the number of its entries, as in "[DIR]  node_modules/ (812 entries)".
//
// If the limit or the budget omits all entries of a directory, the line of the directory also ends
// with the number of entries. If the text has some entries of a directory, "… and N more" follows
// the entries. Lines after the tree have the limit or the budget with Omitted, as in "5+ omitted",
// and Ignored. The text has no total, because Tree does not read the directories beyond the limit.
//
// A directory at MaxDepth has no number, because Tree does not read the directory. The line is the
// same as the line of an empty directory, and Limits does not name MaxDepth.
//
// Lines and names are those of [DirListing.String], without the column of sizes.
func (t DirTree) String() string { return shown.Tree[TreeNode](t).Text((*TreeNode).row) }

// minTreeLine is the smallest number of characters of a line of a tree, such as "\n[?]    a".
const minTreeLine = 9
