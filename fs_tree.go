package toolshelf

import (
	"context"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/listing"
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
	return inDirectory(ctx, c, "Tree", path, opts, func(ctx context.Context, name string, o dirOptions) (DirTree, error) {
		lo := o.listing()
		if o.limit < 0 {
			lo.Limit = defaultTreeLimit
		}
		var top TreeNode
		report, err := listing.Tree(ctx, c.root, name, lo, &top, listing.Builder[TreeNode]{
			New: func(r *listing.Row) TreeNode { return TreeNode{Entry: newEntry(r)} },
			Fill: func(dir *TreeNode, nodes []TreeNode, more int, reason string) {
				dir.Children, dir.More, dir.Error = nodes, more, reason
			},
		})
		if err != nil {
			return DirTree{}, err
		}
		tree := DirTree{Path: name + "/", Children: top.Children, More: top.More, Ignored: report.Ignored, Vanished: report.Vanished}
		if tree.Children == nil {
			tree.Children = []TreeNode{}
		}
		for i := range o.exclude {
			tree.Excluding = append(tree.Excluding, o.exclude[i].String())
		}
		unknown := tree.count(tree.Children, tree.More)
		tree.Warnings = withUnknown(report.Warnings, unknown)
		return tree, nil
	})
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
