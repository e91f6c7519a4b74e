package toolshelf

import (
	"cmp"
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/cursor"
	"github.com/toolshelf-go/toolshelf/internal/listing"
	"github.com/toolshelf-go/toolshelf/internal/parallel"
	"github.com/toolshelf-go/toolshelf/internal/paths"
	"github.com/toolshelf-go/toolshelf/internal/shown"
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
	NoSizes    bool     `json:"no_sizes,omitempty"`    // the result of WithoutSizes
	Hint       string   `json:"hint,omitempty"`        // if entries follow in an order other than ByName, and the directory has subdirectories: the scope of the order, in one line
	Warnings   []string `json:"warnings,omitempty"`    // information that could not be read, one line each
}

// ListDir returns the entries of a directory: first the directories, then all other
// entries. Both groups are sorted by name unless SortedBy sets another order.
//
// The path is slash-separated and relative to the root. "" and "." are the root. ListDir
// also accepts an absolute path inside the root. If the path contains symbolic links,
// ListDir follows the links that [WithSymlinks] allows.
//
// ListDir lists links in the directory as links. All entries except directories count as
// files, including links. ListDir omits hidden entries, whose names begin with a dot, unless
// the options include ShowHidden. With Limit or Budget, a page has the totals of the whole
// directory, and After continues with the next page.
//
// ListDir lists an entry without metadata with its name and, if known, its type. An entry
// removed during the call counts as Vanished.
//
// The errors are:
//
//   - [ErrOutsideRoot] if the path leads out of the root, or through a link that
//     [WithSymlinks] does not allow. The error does not depend on the existence of the
//     target.
//   - [ErrDirectoryNotFound] if the directory does not exist, or no file can have the path.
//   - [ErrNotADirectory] if the path names a file.
//   - [ErrPermissionDenied] if the permission to read the directory is missing.
//   - [ErrFileRead] for other failures of the filesystem.
//   - [ErrInvalidOption], [ErrInvalidSort], [ErrInvalidPattern] and [ErrInvalidCursor] for
//     invalid options.
//
// ListDir reads the directory once and stats each returned entry, on at most four
// processors. In orders other than ByName, ListDir stats all entries. With Limit and ByName,
// the memory depends on the size of the page, not of the directory.
func (c *Catalog) ListDir(ctx context.Context, path string, opts ...DirOption) (DirListing, error) {
	options, err := newDirOptions("ListDir", opts)
	return inDirectory(ctx, c, "ListDir", path, options, err, DirListing.within, func(ctx context.Context, name string, o dirOptions) (DirListing, error) {
		if err := o.budget.holds(DirListing{Path: name + "/", Files: 1, Dirs: 1}); err != nil {
			return DirListing{}, err
		}
		scope := cursorScope(o.sort, name)
		lo := o.listing()
		lo.Limit = o.budget.lines(lo.Limit, minEntryLine)
		var invalid error
		if o.after != "" {
			// The error of the cursor comes after the errors of the directory.
			if lo.After, invalid = decodeCursor(scope, o.after); invalid != nil {
				lo.After = "invalid"
			}
		}
		page, err := listing.List(ctx, c.root, name, lo, newEntry)
		switch {
		case errors.Is(err, listing.ErrPosition) && invalid != nil:
			return DirListing{}, invalid
		case errors.Is(err, listing.ErrPosition):
			return DirListing{}, cursorOfAnotherList()
		case err != nil:
			return DirListing{}, err
		}
		l := DirListing{
			Path:     name + "/",
			Entries:  page.Entries,
			Files:    page.Files,
			Dirs:     page.Dirs,
			Ignored:  page.Ignored,
			Vanished: page.Vanished,
			Warnings: page.Warnings,
			NoSizes:  o.withoutSizes,
		}
		if page.Next != "" {
			l.NextCursor, l.Hint = cursor.Encode(scope, page.Next), orderHint(o.sort, page.Dirs)
		}
		return l, nil
	})
}

// cursorScope returns the scope of the cursors of ListDir.
func cursorScope(sort SortKey, name string) string {
	return "dir\x00" + string(sort) + "\x00" + name
}

// orderHint returns the hint for a page that entries follow, of a directory with a number of
// subdirectories.
func orderHint(sort SortKey, dirs int) string {
	if sort == ByName || dirs == 0 {
		return ""
	}
	return "Sorted in this directory only; to rank the whole tree, list the subdirectories"
}

// minEntryLine is the smallest number of characters of a line of a listing, such as
// "\n[?]    a".
const minEntryLine = 9

// within returns the first entries whose text is within the budget.
func (l DirListing) within(ctx context.Context, o *dirOptions) (DirListing, error) {
	entries, ofListing, next, hint := l.Entries, l.Warnings, l.NextCursor, l.Hint
	at := func(n, last int, warnings []string) DirListing {
		l.Entries, l.NextCursor, l.Hint, l.Warnings = entries[:n:n], next, hint, warnings
		if n < len(entries) {
			l.Hint = orderHint(o.sort, l.Dirs)
			l.NextCursor = cursor.Encode(cursorScope(o.sort, strings.TrimSuffix(l.Path, "/")), entries[last].position(o.sort))
		}
		return l
	}
	c := cut[DirListing]{
		least: min(1, len(entries)), // the cursor names an entry
		most:  len(entries),
		at:    func(n int, warnings []string) DirListing { return at(n, n-1, warnings) },
		// A listing with more entries can have a shorter cursor. In a draft, the longest of
		// the cursors stands for the cursor.
		draft: func(n int) DirListing {
			longest := 0
			for i := range entries[:n] {
				if len(entries[i].Name) > len(entries[longest].Name) {
					longest = i
				}
			}
			return at(n, longest, o.reserved())
		},
		warnings: func(l DirListing) []string {
			unknown := 0
			for i := range l.Entries {
				if l.Entries[i].unknown(l.NoSizes) {
					unknown++
				}
			}
			return shown.WithUnknown(slices.Clip(ofListing), unknown)
		},
	}
	found, err := c.fit(ctx, o.budget)
	if o.withoutSizes {
		for i := range found.Entries { // after the cursors, which need the sizes and times
			found.Entries[i].removeSize()
		}
	}
	return found, err
}

// String returns the listing as text for a model, in the format of the tool list_directory.
// The text has no line break at its end.
//
// Sizes have one decimal and the unit KB, MB or GB (1024). Sizes below 103 bytes have the
// unit B and no decimal. An unknown size is "?". The column of file names is as wide as the
// longest name, but at most 38 characters, plus two spaces. With WithoutSizes, the line of a
// file is only [FILE] and the name. The line of a link is [LINK] and
// the name, followed by " -> " and the target, by " (outside root)", or by " (?)" if the
// filesystem does not reveal the target. The line of another type is [OTHER] and the name,
// or [?] and the name if the type is unknown. An empty directory has only the two lines of
// the heading. Lines after the entries contain the next cursor, the hint and the warnings.
//
// Each entry is one line, even if its name contains a line break. The original name can be
// recovered from the text: a backslash is written as \\, and the following characters are
// written as in a Go string (see strconv.UnquoteChar): control characters, line and paragraph
// separators, format and invisible characters, bytes that are not UTF-8, white space at
// either end, the ">" of " ->", the "(" of " (outside root)" and " (?)" at the end, and "…"
// at the beginning. These characters would break the line, deceive the reader, or look like
// parts of the line.
func (l DirListing) String() string { return shown.Listing[Entry](l).Text((*Entry).row) }

// inDirectory resolves a path and calls do with its name below the root. The function within
// applies the budget to the result, on the goroutine of the caller.
func inDirectory[T any](ctx context.Context, c *Catalog, op, path string, options dirOptions, err error,
	within func(result T, ctx context.Context, o *dirOptions) (T, error), do func(ctx context.Context, name string, o dirOptions) (T, error)) (T, error) {
	var none T
	if err := cmp.Or(c.begin(ctx, op), err); err != nil {
		return none, err
	}
	var progress *parallel.Reporter
	if options.progress != nil {
		progress = options.reporter()
	}
	inRoot := func(ctx context.Context) (T, error) {
		name, err := c.rootRelative(op, path)
		if err != nil {
			return none, err
		}
		value, err := do(ctx, name, options)
		switch {
		case err == nil:
			return value, nil
		case ctx.Err() != nil:
			return none, ctx.Err()
		case CodeOf(err) != "":
			return none, err
		default:
			return none, c.dirError(ctx, op, path, name, err, options.showHidden)
		}
	}
	value, err := parallel.Reported(ctx, progress, func(ctx context.Context) (T, error) { return awaitRoot(ctx, c, inRoot) })
	if err == nil {
		value, err = within(value, ctx, &options)
	}
	progress.End(err)
	return value, c.methodError(op, err)
}

// An EntryType is the type of an entry of a directory.
type EntryType string

// The types of entries. A symbolic link is a Symlink, whatever its target.
const (
	File      EntryType = "file"
	Directory EntryType = "directory"
	Symlink   EntryType = "symlink"
	Other     EntryType = "other" // a named pipe, a socket, a device; an unknown type, with Size -1, in a directory without search permission
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

var entryTypes = [...]EntryType{listing.KindDir: Directory, listing.KindFile: File, listing.KindLink: Symlink, listing.KindOther: Other}

func newEntry(r *listing.Row) Entry {
	modified := r.Modified
	if !modified.IsZero() {
		modified = utc(modified)
	}
	return Entry{Name: r.Name, Type: entryTypes[r.Kind], Size: r.Size, Modified: modified, Target: r.Target, Outside: r.Outside}
}

// row returns the entry for a text.
func (e *Entry) row() shown.Entry {
	return shown.Entry{Name: e.Name, Type: string(e.Type), Size: e.Size, Target: e.Target, Outside: e.Outside}
}

// unknown reports whether the metadata could not be read.
func (e *Entry) unknown(noSizes bool) bool {
	return e.Size < 0 && !(noSizes && e.Type == File)
}

// removeSize removes the metadata.
func (e *Entry) removeSize() {
	e.Modified = time.Time{}
	if e.Type == File {
		e.Size = -1
	}
}

// position returns the position of the entry for a cursor.
func (e *Entry) position(sort SortKey) string {
	row := listing.Row{Name: e.Name, Kind: listing.KindFile, Size: e.Size, Modified: e.Modified}
	if e.Type == Directory {
		row.Kind = listing.KindDir
	}
	return listing.Position(orders[sort], &row)
}

// FileMatches are the results of FindFiles.
type FileMatches struct {
	Path         string   `json:"path"`                   // the searched directory, relative to the root, ending in a slash; "./" for the root
	Pattern      string   `json:"pattern"`                // as given
	Files        []string `json:"files"`                  // paths relative to the root, in path order; never null
	Total        int      `json:"total"`                  // number of matches, including those beyond Limit and Budget
	Skipped      int      `json:"skipped,omitempty"`      // number of unreadable directories
	Ignored      int      `json:"ignored,omitempty"`      // number of entries omitted by Gitignore, excluding entries below omitted directories
	Dependencies int      `json:"dependencies,omitempty"` // number of directories not searched because of SkipDependencies
	Hint         string   `json:"hint,omitempty"`         // if no file matches: a pattern that matches a file, the pattern without the repeated path, or why the pattern matches none, in one line; empty if unknown
	Warnings     []string `json:"warnings,omitempty"`     // information that could not be read, one line each
}

// FindFiles returns the files below a directory that match a glob.
//
// The pattern has the syntax of Exclude. A pattern without a slash matches names at any
// depth. A pattern with a slash matches paths relative to the searched directory. FindFiles
// returns regular files, and links to regular files if [WithSymlinks] allows the link.
// FindFiles does not enter linked directories. FindFiles omits hidden files and directories
// unless the options include ShowHidden. FindFiles skips and counts unreadable directories.
//
// The result is in path order, the order in which Tree prints files: FindFiles compares paths
// name by name from the left, with directories before files. With Limit, FindFiles returns
// the first files in this order. The memory then depends on the limit and on the number of
// directories, not on the number of matches.
//
// FindFiles accepts the paths and returns the errors of [Catalog.ListDir]. A malformed
// pattern is [ErrInvalidPattern]. FindFiles reads each directory with possible matches once,
// on at most four processors. If no file matches, FindFiles reads directories again for Hint,
// also hidden directories: up to 50,000 entries below the directory, and none for patterns such
// as "*.go". A Hint and the text name ShowHidden and SkipDependencies by the arguments of the
// tools: show_hidden and show_dependencies.
func (c *Catalog) FindFiles(ctx context.Context, path, pattern string, opts ...DirOption) (FileMatches, error) {
	options, err := newDirOptions("FindFiles", append(slices.Clip(opts), matching(pattern)))
	return inDirectory(ctx, c, "FindFiles", path, options, err, FileMatches.within, func(ctx context.Context, name string, o dirOptions) (FileMatches, error) {
		if err := o.budget.holds(FileMatches{Pattern: pattern, Files: []string{"a"}, Total: 1}); err != nil {
			return FileMatches{}, err
		}
		lo := o.listing()
		lo.Limit = o.budget.lines(lo.Limit, minFileLine)
		found, err := listing.Find(ctx, c.root, name, o.pattern, lo)
		if err != nil {
			return FileMatches{}, err
		}
		hint := ""
		if found.Total == 0 {
			found.Files = []string{}
			hint = c.globHint(ctx, name, []listing.Glob{o.pattern}, lo)
		}
		return FileMatches{
			Hint:         hint,
			Path:         name + "/",
			Pattern:      pattern,
			Files:        found.Files,
			Total:        found.Total,
			Skipped:      found.Skipped,
			Ignored:      found.Ignored,
			Dependencies: found.Dependencies,
			Warnings:     found.Warnings,
		}, nil
	})
}

// globHint returns the hint for globs that match no file.
func (c *Catalog) globHint(ctx context.Context, name string, globs []listing.Glob, o listing.Options) string {
	roots := []string{c.at.Dir}
	if slices.ContainsFunc(globs, func(g listing.Glob) bool { _, ok := paths.Absolute(g.String(), c.at.OnOS); return ok }) {
		roots = c.at.All()
	}
	for i := range roots {
		roots[i] = filepath.ToSlash(roots[i])
	}
	return listing.Correct(ctx, c.root, name, roots, globs, o).Text(name)
}

// minFileLine is the smallest number of characters of a line of matches, such as "\n  a".
const minFileLine = 4

// within returns the first files whose text is within the budget.
func (m FileMatches) within(ctx context.Context, o *dirOptions) (FileMatches, error) {
	files, ofWalk, hint := m.Files, m.Warnings, m.Hint
	m.Hint = ""
	c := cut[FileMatches]{
		most: len(files),
		at: func(n int, warnings []string) FileMatches {
			m.Files, m.Warnings = files[:n:n], warnings
			return m
		},
		warnings: func(FileMatches) []string { return ofWalk },
	}
	c.draft = func(n int) FileMatches { return c.at(n, o.reserved()) }
	found, err := c.fit(ctx, o.budget)
	if found.Hint = hint; err != nil || hint != "" && !o.budget.fits(found.String()) {
		found.Hint = ""
	}
	return found, err
}

// String returns the matches as text for a model, in the format of the tool search_files. The
// text has no line break at its end. Lines after the paths report the matches beyond the
// limit, the unreadable directories, the directories of SkipDependencies, the hint and the
// warnings.
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

// Stat describes a file, a directory or a link. Stat accepts the paths of [Catalog.ListDir].
// If the last element of the path is a link, Stat describes the link. In the other elements,
// Stat follows the links that [WithSymlinks] allows.
//
// The errors are:
//
//   - [ErrOutsideRoot] if the path leads out of the root, or through a link that
//     [WithSymlinks] does not allow. The error does not depend on the existence of the
//     target.
//   - [ErrNotFound] if the file does not exist, or no file can have the path.
//   - [ErrDirectoryNotFound] if the root does not exist.
//   - [ErrPermissionDenied] if a directory of the path is not searchable.
//   - [ErrFileRead] for other failures of the filesystem.
//
// To determine Readable, Stat opens and closes the file or directory. Stat reads no content
// and does not wait for a named pipe.
func (c *Catalog) Stat(ctx context.Context, path string) (FileInfo, error) {
	const op = "Stat"
	if err := c.begin(ctx, op); err != nil {
		return FileInfo{}, err
	}
	info, err := awaitRoot(ctx, c, func(ctx context.Context) (FileInfo, error) {
		name, err := c.rootRelative(op, path)
		if err != nil {
			return FileInfo{}, err
		}
		found, err := listing.Stat(c.root, name)
		if err != nil {
			return FileInfo{}, c.statError(ctx, op, path, name, err)
		}
		info := FileInfo{Path: name, Entry: newEntry(&found.Row), Readable: found.Readable, Writable: found.Writable}
		if !found.Accessed.IsZero() {
			info.Accessed = utc(found.Accessed)
		}
		return info, nil
	})
	return info, c.methodError(op, err)
}

// String returns the information as text for a model, in the format of the tool
// get_file_info. The text has no line break at its end. Times are in UTC. Unknown values have
// no line. A link has a line with its target, or with "outside root". A target that is named
// "outside root" is written outside\x20root. Names are escaped as in [DirListing.String].
func (f FileInfo) String() string {
	return shown.Info{Path: f.Path, Entry: f.row(), Modified: f.Modified, Accessed: f.Accessed, Readable: f.Readable, Writable: f.Writable}.String()
}
