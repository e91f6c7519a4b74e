package toolshelf

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/listing"
)

// An EntryType says what an entry of a folder is.
type EntryType string

// The types. A link is a link, wherever it leads.
const (
	File      EntryType = "file"
	Directory EntryType = "directory"
	Symlink   EntryType = "symlink"
	Other     EntryType = "other" // a named pipe, a socket, a device; with a Size of -1, not known, in a folder that may be read but not searched
)

// An Entry is what a folder holds under one name.
type Entry struct {
	Name     string    `json:"name"` // as the filesystem has it: any bytes but "/" and NUL; text forms escape it
	Type     EntryType `json:"type"`
	Size     int64     `json:"size"`              // of a file, in bytes; 0 for all else; -1 where it is not known
	Modified time.Time `json:"modified,omitzero"` // UTC; of a link itself; zero where it is not known
	Target   string    `json:"target,omitempty"`  // where a link leads, relative to the root, if that is inside; it need not exist
	Outside  bool      `json:"outside,omitempty"` // a link leads out of the root; where to is not told
}

// A DirListing is a folder with its entries, or a page of them.
type DirListing struct {
	Path       string   `json:"path"`                  // relative to the root, ending in a slash; "./" for the root
	Entries    []Entry  `json:"entries"`               // never null
	Files      int      `json:"files"`                 // how many of all entries, on this page or not, are no folders
	Dirs       int      `json:"directories"`           // how many are folders
	NextCursor string   `json:"next_cursor,omitempty"` // for After; empty where no entry follows
	Ignored    int      `json:"ignored,omitempty"`     // entries that Gitignore left out
	Vanished   int      `json:"vanished,omitempty"`    // entries removed while the folder was read, which are not in Entries
	Warnings   []string `json:"warnings,omitempty"`    // what could not be found out, one line each
}

// ListDir returns the entries of a folder: folders first, then all else, each
// by name unless SortedBy says otherwise.
//
// The path is relative to the root, with slashes; "" and "." are the root. An
// absolute path is taken if it is inside the root. Links on the way are
// followed as WithSymlinks says. Links in the folder are listed as links and
// count as files; so does all that is no folder. Hidden entries, whose name
// begins with a dot, are left out without ShowHidden. A page of a folder, with
// Limit, has the totals of all of it; for more, see After.
//
// An entry whose metadata cannot be had is listed with what is known.
// One that is removed while the folder is read is counted as Vanished.
//
// The errors are ErrOutsideRoot for a path that leads out of the root, the
// same whether or not something is there; ErrDirectoryNotFound, also for a
// path that no file can have; ErrNotADirectory; ErrPermissionDenied;
// ErrFileRead where reading fails otherwise; ErrInvalidOption, ErrInvalidSort,
// ErrInvalidPattern and ErrInvalidCursor for the options.
//
// The cost is one reading of the folder and one stat for each entry returned,
// shared out over at most four processors; in orders other than ByName, one
// for each entry there is. With Limit and ByName, memory is bounded by the
// page. A call returns when its context ends even if the filesystem hangs.
func (c *Catalog) ListDir(ctx context.Context, path string, opts ...DirOption) (DirListing, error) {
	return inDirectory(ctx, c, "ListDir", path, opts, func(ctx context.Context, name string, o dirOptions) (DirListing, error) {
		scope := "dir\x00" + string(o.sort) + "\x00" + name
		lo := o.listing()
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
			return DirListing{}, invalidCursor("it is not a cursor of this list; begin again without one")
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
		}
		if page.Next != "" {
			l.NextCursor = encodeCursor(scope, page.Next)
		}
		unknown := 0
		for i := range l.Entries {
			if l.Entries[i].Size < 0 {
				unknown++
			}
		}
		l.Warnings = withUnknown(page.Warnings, unknown)
		return l, nil
	})
}

// inDirectory resolves a path and calls do with its name below the root.
func inDirectory[T any](ctx context.Context, c *Catalog, op, path string, opts []DirOption, do func(ctx context.Context, name string, o dirOptions) (T, error)) (T, error) {
	var none T
	if err := c.begin(ctx, op); err != nil {
		return none, err
	}
	options, err := newDirOptions(op, opts)
	if err != nil {
		return none, err
	}
	value, err := await(ctx, c, func(ctx context.Context) (T, error) {
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
	})
	return value, c.methodError(op, err)
}

var entryTypes = [...]EntryType{listing.KindDir: Directory, listing.KindFile: File, listing.KindLink: Symlink, listing.KindOther: Other}

func newEntry(r *listing.Row) Entry {
	e := Entry{Name: r.Name, Type: entryTypes[r.Kind], Size: r.Size, Target: r.Target, Outside: r.Outside}
	if !r.Modified.IsZero() {
		e.Modified = utc(r.Modified)
	}
	return e
}

// withUnknown adds the warning about entries without metadata.
func withUnknown(warnings []string, unknown int) []string {
	if unknown > 0 {
		warnings = append(warnings, counted(unknown, "entry", "entries")+" without metadata: the directory may be read but not searched")
	}
	return warnings
}

// String is the listing as text for a model, in the form of the contract of
// list_directory. There is no line break at its end.
//
// Sizes have one decimal in units of 1024, below 103 bytes none; one that is
// not known is "?". Names of files are padded to the longest, up to 38, and two
// blanks. After [LINK] comes the name and " -> " and the target, or
// " (outside root)", or " (?)" where the filesystem does not tell the target;
// after [OTHER] or, where not even the type is known, [?], the name. An empty
// folder has the two lines of the heading alone. Where entries follow this
// page, or there are warnings, lines after the entries say so.
//
// Each entry is one line, whatever its name holds, and a name can be read back:
// it is written as it is, but for a backslash, which is \\, and what would
// break the line, deceive the eye or be taken for the line's own parts. That is
// written as in a Go string (see strconv.UnquoteChar): control characters,
// line and paragraph separators, format and invisible characters, bytes that
// are not UTF-8, white space at either end, the ">" of " ->", the "(" of
// " (outside root)" and " (?)" at the end, and "…" at the beginning.
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
		e.writeLine(&b, width)
	}
	if l.NextCursor != "" {
		fmt.Fprintf(&b, "\n\n%d of %s shown; the next cursor is %s", len(l.Entries), counted(l.Files+l.Dirs, "entry", "entries"), l.NextCursor)
	}
	writeWarnings(&b, l.Warnings)
	return b.String()
}

func writeWarnings(b *strings.Builder, warnings []string) {
	for i, warning := range warnings {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("\nWarning: " + warning)
	}
}

// writeLine writes the line of an entry, the name of a file in a column of
// the given width and two blanks.
func (e Entry) writeLine(b *strings.Builder, width int) {
	name := escape.Name(e.Name)
	switch e.Type {
	case Directory:
		b.WriteString("[DIR]  " + name + "/")
	case File:
		b.WriteString("[FILE] " + name)
		for range width - utf8.RuneCountInString(name) {
			b.WriteByte(' ')
		}
		b.WriteString("  (" + formatSize(e.Size) + ")")
	default:
		e.writeSpecial(b, name)
	}
}

// writeSpecial writes what is neither file nor folder.
func (e Entry) writeSpecial(b *strings.Builder, name string) {
	switch {
	case e.Type != Symlink:
		if e.Size < 0 {
			b.WriteString("[?]    " + name)
		} else {
			b.WriteString("[OTHER] " + name)
		}
	case e.Outside:
		b.WriteString("[LINK] " + name + " (outside root)")
	case e.Target == "":
		b.WriteString("[LINK] " + name + " (?)")
	default:
		b.WriteString("[LINK] " + name + " -> " + escape.Path(e.Target))
	}
}

// formatSize is a size as texts have it: bytes as long as they are less than a
// tenth of a KB, then KB, MB and GB of 1024 each. A negative one is not known.
func formatSize(n int64) string {
	switch {
	case n < 0:
		return "?"
	case n < 103:
		return strconv.FormatInt(n, 10) + " B"
	}
	size := float64(n) / 1024
	unit := " KB"
	for _, larger := range []string{" MB", " GB"} {
		if size < 1023.95 { // it would be written 1024.0
			break
		}
		size, unit = size/1024, larger
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + unit
}

// counted is "1 file" or "2 files".
func counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.Itoa(n) + " " + many
}
