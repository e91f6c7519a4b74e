package toolshelf

import (
	"context"
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/listing"
)

// defaultTreeLimit is the limit of Tree without the option Limit. A tree of this size fits
// in memory, and a person can look through it.
const defaultTreeLimit = 10_000

// A DirTree is a directory with the entries below it, as far as the options include them.
type DirTree struct {
	Path      string     `json:"path"`                // relative to the root, ending in a slash; "./" for the root
	Excluding []string   `json:"excluding,omitempty"` // the globs of Exclude
	Children  []TreeNode `json:"children"`            // in order; never null
	More      int        `json:"more,omitempty"`      // entries of this directory beyond Limit, which are not in Children
	Files     int        `json:"files"`               // nodes that are no directories
	Dirs      int        `json:"directories"`         // nodes that are directories
	Omitted   int        `json:"omitted,omitempty"`   // the sum of More over all directories; excludes entries below omitted directories
	Ignored   int        `json:"ignored,omitempty"`   // entries that Gitignore omitted, without the entries below them
	Vanished  int        `json:"vanished,omitempty"`  // entries removed while their directory was read
	Warnings  []string   `json:"warnings,omitempty"`  // information that could not be read, one line each
}

// A TreeNode is an entry. The node of a directory contains the entries of the directory.
type TreeNode struct {
	Entry
	Children []TreeNode `json:"children,omitempty"` // empty for a directory at MaxDepth, which Tree does not read
	More     int        `json:"more,omitempty"`     // entries of this directory beyond Limit, which are not in Children
	Error    string     `json:"error,omitempty"`    // why this directory, or a part of it, cannot be read
}

// Tree returns a directory with all entries below it, in the order of ListDir. The path and
// the errors are those of ListDir.
//
// Tree shows links as links and does not follow them. For a directory below that cannot be
// read, the node contains the reason, and the rest of the tree is complete. Tree omits hidden
// entries unless the options include ShowHidden.
//
// Tree returns at most Limit entries, or 10,000 without the option. A larger tree loses its
// deepest levels first. The directories of the level at which the limit is reached get equal
// shares, and each keeps its first entries. More counts the other entries of a directory.
//
// Tree reads each directory once and stats each entry, on at most four processors. The
// directories of the level that is cut are read twice. The result does not depend on the
// number of processors.
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

// count adds up the totals, and returns the number of entries without metadata.
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

// String returns the tree as text for a model, in the format of the tool directory_tree. The
// text has no line break at its end. Each level is indented by two spaces. A directory that
// cannot be read has the reason on its line. A directory that is cut ends with "… and N
// more". Lines and names are those of [DirListing.String], without the column of sizes.
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
