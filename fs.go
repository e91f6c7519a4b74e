package toolshelf

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/budget"
	"github.com/toolshelf-go/toolshelf/internal/cursor"
	"github.com/toolshelf-go/toolshelf/internal/listing"
	"github.com/toolshelf-go/toolshelf/internal/paths"
	"github.com/toolshelf-go/toolshelf/internal/shown"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A DirListing is a page of the entries of a directory.
type DirListing struct {
	Path       string   `json:"path"`                  // relative to the root, ending in a slash; "./" for the root
	Entries    []Entry  `json:"entries"`               // never null
	Files      int      `json:"files"`                 // number of entries of the whole directory that are not directories
	Dirs       int      `json:"directories"`           // number of subdirectories of the whole directory
	NextCursor string   `json:"next_cursor,omitempty"` // for After; empty if no entry follows
	Ignored    int      `json:"ignored,omitempty"`     // number of entries omitted by Gitignore
	Vanished   int      `json:"vanished,omitempty"`    // entries removed during the call; Entries omits them
	NoSizes    bool     `json:"no_sizes,omitempty"`    // the sizes and times were not read; see show_sizes of the tools in docs/tools.md
	Hint       string   `json:"hint,omitempty"`        // if entries follow in an order other than ByName, and the directory has subdirectories: the scope of the order, in one line
	Warnings   []string `json:"warnings,omitempty"`    // information that could not be read, one line each
}

// ListDir returns the entries of a directory: first the directories, then all other entries, both
// sorted by name unless [SortedBy] sets another order.
//
// The path is slash-separated and relative to the root, or an absolute path inside the root. ""
// and "." are the root. ListDir follows the links of the path that [WithSymlinks] allows, and
// lists links in the directory as links. ListDir omits hidden entries without [ShowHidden]. With
// [Limit] or [Budget], [After] continues with the next page.
//
// ListDir returns [ErrOutsideRoot], [ErrDirectoryNotFound], [ErrNotADirectory],
// [ErrPermissionDenied], [ErrFileRead] for other failures of the filesystem, and for options
// [ErrInvalidOption], [ErrInvalidSort], [ErrInvalidPattern] and [ErrInvalidCursor].
//
// ListDir reads the directory once and stats each returned entry; in orders other than ByName, all
// entries. The document docs/methods.md has the details.
func (c *Catalog) ListDir(ctx context.Context, path string, opts ...DirOption) (DirListing, error) {
	return run(ctx, fileCall{catalog: c, op: "ListDir", path: path, dir: true, dirOptions: newDirOptions(opts)}, DirListing{})
}

func (l *DirListing) read(ctx context.Context, f *fileCall) error {
	if err := f.budget.Holds(DirListing{Path: f.name + "/", Files: 1, Dirs: 1}); err != nil {
		return err
	}
	o := f.listing(0, minEntryLine)
	if f.after != "" {
		var ok bool
		if o.After, ok = cursor.Decode(f.cursorScope(), f.after); !ok {
			o.After = "invalid" // the error of the cursor comes after the errors of the directory
		}
	}
	page, err := listing.List(ctx, f.catalog.root, f.name, o, newEntry)
	if errors.Is(err, listing.ErrPosition) {
		return cursorOfAnotherList()
	} else if err != nil {
		return err
	}
	if *l = DirListing(page); page.NextCursor != "" {
		l.NextCursor = cursor.Encode(f.cursorScope(), page.NextCursor)
		l.Hint = orderHint(f.sort, page.Dirs)
	}
	return nil
}

func (l *DirListing) fit(ctx context.Context, f *fileCall) error {
	found, err := budget.Listing(ctx, f.budget, shown.Listing[Entry](*l), (*Entry).row, func(last *Entry) (next, hint string) {
		return cursor.Encode(f.cursorScope(), last.position(f.sort)), orderHint(f.sort, l.Dirs)
	})
	*l, f.count = DirListing(found), len(found.Entries)
	if f.withoutSizes {
		for i := range l.Entries { // after the cursors, which need the sizes and times
			l.Entries[i].removeSize()
		}
	}
	return err
}

// cursorScope returns the scope of the cursors of ListDir.
func (f *fileCall) cursorScope() string { return "dir\x00" + f.sort + "\x00" + f.name }

// orderHint returns the hint for a page that entries follow, of a directory with a number of
// subdirectories.
func orderHint(sort string, dirs int) string {
	if sort == ByName || dirs == 0 {
		return ""
	}
	return "Sorted in this directory only; for the whole tree, search files with sort_by"
}

// minEntryLine is the smallest number of characters of a line of a listing, such as
// "\n[?]    a".
const minEntryLine = 9

// String returns the listing as text for a model, in the format of the tool list_directory
// (docs/tools.md), without a line break at its end. Each entry is one line: a name with a line
// break or an invisible character has the escapes of a Go string, so the name can be recovered. The
// document docs/methods.md has the escapes.
func (l DirListing) String() string { return shown.Listing[Entry](l).Text((*Entry).row) }

// An EntryType is the type of an entry of a directory.
type EntryType string

// The types of entries. A symbolic link is an EntrySymlink, whatever its target.
const (
	EntryFile      EntryType = "file"
	EntryDirectory EntryType = "directory"
	EntrySymlink   EntryType = "symlink"
	EntryOther     EntryType = "other" // a named pipe, a socket, a device; an unknown type, with Size -1, in a directory without search permission
)

// An Entry describes an entry of a directory.
type Entry struct {
	Name     string    `json:"name"` // as the filesystem has it: any bytes except "/" and NUL; texts escape the name
	Type     EntryType `json:"type"`
	Size     int64     `json:"size"`              // of a file, in bytes; 0 for other types; -1 if unknown
	Modified time.Time `json:"modified,omitzero"` // UTC; for a link, the time of the link itself; zero if unknown
	Target   string    `json:"target,omitempty"`  // target of a link, relative to the root; the target need not exist
	Outside  bool      `json:"outside,omitempty"` // the link leads out of the root; Target is empty
}

var entryTypes = [...]EntryType{listing.KindDir: EntryDirectory, listing.KindFile: EntryFile, listing.KindLink: EntrySymlink, listing.KindOther: EntryOther}

func newEntry(r *listing.Row) Entry {
	return Entry{Name: r.Name, Type: entryTypes[r.Kind], Size: r.Size,
		Modified: stamp.UTC(r.Modified), Target: r.Target, Outside: r.Outside}
}

// row returns the entry for a text.
func (e *Entry) row() shown.Entry {
	return shown.Entry{Name: e.Name, Type: string(e.Type), Size: e.Size, Target: e.Target, Outside: e.Outside}
}

// removeSize removes the metadata.
func (e *Entry) removeSize() {
	e.Modified = time.Time{}
	if e.Type == EntryFile {
		e.Size = -1
	}
}

// position returns the position of the entry for a cursor.
func (e *Entry) position(sort string) string {
	row := listing.Row{Name: e.Name, Kind: listing.KindFile, Size: e.Size, Modified: e.Modified}
	if e.Type == EntryDirectory {
		row.Kind = listing.KindDir
	}
	return listing.Position(orders[sort], &row)
}

// FileMatches are the results of FindFiles.
type FileMatches struct {
	Path         string      `json:"path"`                   // the searched directory, relative to the root, ending in a slash; "./" for the root
	Pattern      string      `json:"pattern"`                // as given
	Files        []string    `json:"files"`                  // paths relative to the root, in order; never null
	Sizes        []int64     `json:"sizes,omitempty"`        // in the order BySize, the sizes of Files in bytes; -1 if unknown
	Modified     []time.Time `json:"modified,omitempty"`     // in the order ByModified, the times of Files in UTC; zero if unknown
	Total        int         `json:"total"`                  // number of matches, including those beyond Limit and Budget
	Skipped      int         `json:"skipped,omitempty"`      // number of unreadable directories, entries and .gitignore files
	Ignored      int         `json:"ignored,omitempty"`      // number of entries omitted by Gitignore, excluding entries below omitted directories
	Dependencies int         `json:"dependencies,omitempty"` // number of directories not searched because of SkipDependencies
	Hint         string      `json:"hint,omitempty"`         // if no file matches: a pattern that matches a file, the pattern without the repeated path, or why the pattern matches none, in one line; empty if unknown
	Warnings     []string    `json:"warnings,omitempty"`     // information that could not be read, one line each
}

// FindFiles returns the files below a directory that match a glob, in the syntax of [Exclude]. A
// pattern without a slash matches names at any depth, and a pattern with a slash paths relative to
// the searched directory. FindFiles returns regular files, and links to regular files if
// [WithSymlinks] allows the link, and enters no linked directory. FindFiles skips and counts
// unreadable directories and entries.
//
// The result is in path order: directories before files, by name. [SortedBy] orders the files of
// all directories by size or time instead. If no file matches, Hint may name a glob that matches.
//
// FindFiles accepts the paths and returns the errors of [Catalog.ListDir]. A malformed pattern is
// [ErrInvalidPattern]. FindFiles reads each directory with possible matches once, on at most four
// processors.
func (c *Catalog) FindFiles(ctx context.Context, path, pattern string, opts ...DirOption) (FileMatches, error) {
	f := fileCall{catalog: c, op: "FindFiles", path: path, dir: true, dirOptions: newDirOptions(opts)}
	f.files = []listing.Glob{f.glob(pattern)}
	return run(ctx, f, FileMatches{})
}

func (m *FileMatches) read(ctx context.Context, f *fileCall) error {
	if err := f.budget.Holds(FileMatches{}); err != nil {
		return err
	}
	o := f.listing(0, minFileLine)
	found, err := listing.Find(ctx, f.catalog.root, f.name, f.files[0], o)
	if err != nil {
		return err
	}
	if *m = FileMatches(found); m.Total == 0 {
		m.Hint = f.globHint(ctx, o)
	}
	return nil
}

func (m *FileMatches) fit(ctx context.Context, f *fileCall) error {
	found, err := budget.Files(ctx, f.budget, shown.Files(*m))
	*m, f.count = FileMatches(found), len(found.Files)
	return err
}

// globHint returns the hint for globs that match no file.
func (f *fileCall) globHint(ctx context.Context, o listing.Options) string {
	c := f.catalog
	roots := []string{c.at.Dir}
	if slices.ContainsFunc(f.files, func(g listing.Glob) bool { _, ok := paths.Absolute(g.String(), c.at.OnOS); return ok }) {
		roots = c.at.All()
	}
	for i := range roots {
		roots[i] = filepath.ToSlash(roots[i])
	}
	return listing.Correct(ctx, c.root, f.name, roots, f.files, o)
}

// minFileLine is the smallest number of characters of a line of matches, such as "\na".
const minFileLine = 2

// String returns the matches as text for a model, in the format of the tool search_files. The
// text has no line break at its end. Lines after the paths report the matches beyond the
// limit, the number Ignored, the unreadable directories, the directories of SkipDependencies, the
// hint and the warnings.
// Names are escaped as in [DirListing.String].
func (m FileMatches) String() string { return shown.Files(m).String() }

// A FileInfo describes a file, a directory or a link.
type FileInfo struct {
	Path string `json:"path"` // relative to the root; "." for the root
	Entry
	Accessed time.Time `json:"accessed,omitzero"`  // UTC; zero if the filesystem does not record accesses
	Readable *bool     `json:"readable,omitempty"` // this program may read the file or list the directory; nil if unknown
	Writable *bool     `json:"writable,omitempty"` // the permissions let at least one user write; nil if unknown
}

// Stat describes a file, a directory or a link. Stat accepts the paths of [Catalog.ListDir]. If the
// last element of the path is a link, Stat describes the link. In the other elements, Stat follows
// the links that [WithSymlinks] allows.
//
// Stat returns [ErrOutsideRoot] if the path leads out of the root, whether or not the target
// exists, or through a link that WithSymlinks does not allow; [ErrNotFound] if the file does not
// exist or no file can have the path; [ErrDirectoryNotFound] if the root does not exist;
// [ErrPermissionDenied] and [ErrFileRead]. To determine Readable, Stat opens and closes the file or
// directory, and does not wait for a named pipe.
func (c *Catalog) Stat(ctx context.Context, path string) (FileInfo, error) {
	return run(ctx, fileCall{catalog: c, op: "Stat", path: path}, FileInfo{})
}

func (i *FileInfo) read(_ context.Context, f *fileCall) error {
	found, err := listing.Stat(f.catalog.root, f.name)
	if err != nil {
		return err
	}
	*i = FileInfo{Path: f.name, Entry: newEntry(&found.Row), Accessed: stamp.UTC(found.Accessed),
		Readable: found.Readable, Writable: found.Writable}
	return nil
}

func (*FileInfo) fit(context.Context, *fileCall) error { return nil }

// String returns the information as text for a model, in the format of the tool
// get_file_info. The text has no line break at its end. Times are in UTC. Unknown values have
// no line. A link has a line with its target, or with "outside root". A target that is named
// "outside root" is written outside\x20root. Names are escaped as in [DirListing.String].
func (f FileInfo) String() string {
	return shown.Info{Path: f.Path, Entry: f.row(), Modified: f.Modified, Accessed: f.Accessed, Readable: f.Readable, Writable: f.Writable}.String()
}

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

// Tree returns a directory and all entries below, in the order of ListDir, except that [ByName] has
// the subdirectory cmd and the main files (README, go.mod, main.go and the like) first. Tree
// accepts the paths and returns the errors of [Catalog.ListDir].
//
// Tree shows links as links and does not follow links. If a subdirectory cannot be read, its node
// contains the reason, and the rest of the tree is complete.
//
// Tree returns at most [Limit] entries, or 10,000 without the option, and drops the deepest levels
// first. On the level where the tree reaches the limit, all directories get equal shares. With
// [Budget], Limit follows the order of Budget instead. Tree reads each directory once, or twice on
// a partly dropped level, and stats each entry, on at most four processors.
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

// String returns the tree as text for a model, in the format of the tool directory_tree
// (docs/tools.md), without a line break at its end. "… and N more" follows the shown entries of a
// directory, and lines after the tree have the limit or the budget with Omitted, and Ignored. A
// directory at MaxDepth, which Tree does not read, has the line of an empty directory. Names are
// those of [DirListing.String].
func (t DirTree) String() string { return shown.Tree[TreeNode](t).Text((*TreeNode).row) }

// minTreeLine is the smallest number of characters of a line of a tree, such as "\n[?]    a".
const minTreeLine = 9
