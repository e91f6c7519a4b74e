package toolshelf

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/listing"
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
	return inDirectory(ctx, c, "ListDir", path, opts, DirListing.within, func(ctx context.Context, name string, o dirOptions) (DirListing, error) {
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
			l.NextCursor, l.Hint = encodeCursor(scope, page.Next), orderHint(o.sort, page.Dirs)
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
			l.NextCursor = encodeCursor(cursorScope(o.sort, strings.TrimSuffix(l.Path, "/")), entries[last].position(o.sort))
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
			return withUnknown(slices.Clip(ofListing), unknown)
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
func (l DirListing) String() string {
	var b strings.Builder
	b.Grow(64 + 48*len(l.Entries))
	b.WriteString("Directory: ")
	b.WriteString(escape.Path(l.Path))
	b.WriteString("\nTotal: " + counted(l.Files, "file", "files") + ", " + counted(l.Dirs, "directory", "directories"))
	if len(l.Entries) > 0 {
		b.WriteByte('\n')
	}
	width := 0
	for _, e := range l.Entries {
		if e.Type == File {
			width = max(width, utf8.RuneCountInString(escape.Name(e.Name)))
		}
	}
	width = min(width, 38)
	for _, e := range l.Entries {
		b.WriteByte('\n')
		e.writeLine(&b, width, !l.NoSizes)
	}
	if l.NextCursor != "" {
		fmt.Fprintf(&b, "\n\n%d of %s shown; the next cursor is %s", len(l.Entries), counted(l.Files+l.Dirs, "entry", "entries"), l.NextCursor)
	}
	writeHint(&b, l.Hint)
	writeWarnings(&b, l.Warnings)
	return b.String()
}
