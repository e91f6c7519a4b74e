package toolshelf

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/names"
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
	return inFolder(ctx, c, "ListDir", path, opts, func(ctx context.Context, dir *confine.Dir, at place, d *dirReader) (DirListing, error) {
		return d.listDir(ctx, dir, at)
	})
}

// inFolder opens the folder at a path and does there what a method is about,
// with a reader that follows the method's options.
func inFolder[T any](ctx context.Context, c *Catalog, op, path string, opts []DirOption, do func(context.Context, *confine.Dir, place, *dirReader) (T, error)) (T, error) {
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
		value, err := readFolder(ctx, c, name, &dirReader{dirOptions: options}, do)
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

func readFolder[T any](ctx context.Context, c *Catalog, name string, d *dirReader, do func(context.Context, *confine.Dir, place, *dirReader) (T, error)) (T, error) {
	dir, err := c.root.OpenDir(name)
	if err != nil {
		var none T
		return none, err
	}
	defer dir.Close()
	return do(ctx, dir, place{name: name, rules: d.rulesAt(c, name)}, d)
}

func (d *dirReader) listDir(ctx context.Context, dir *confine.Dir, at place) (DirListing, error) {
	scope := "dir\x00" + string(d.sort) + "\x00" + at.name
	limit := d.limit
	if limit == 0 {
		limit = -1
	}
	at.rules = d.addRules(dir, at)

	// In the order by name a page is chosen before anything else is asked. In
	// any other, all entries must be asked first.
	var after *row
	rowLimit := -1
	if d.sort == ByName {
		rowLimit = limit
		if d.after != "" {
			last, err := decodeEntry(ByName, scope, d.after)
			if err != nil {
				return DirListing{}, err
			}
			after = &row{kind: kindFile, name: last.Name}
			if last.Type == Directory {
				after.kind = kindDir
			}
		}
	}
	rows, follow, total, err := d.rows(ctx, dir, at, after, rowLimit)
	if err != nil {
		return DirListing{}, err
	}
	listing := DirListing{Path: at.name + "/", Entries: make([]Entry, len(rows)), Files: total.files, Dirs: total.dirs}
	if err := d.fill(ctx, dir, rows, func(i int) *Entry { return &listing.Entries[i] }, statWorkers()); err != nil {
		return DirListing{}, err
	}
	if d.sort == ByName && follow > len(rows) && len(rows) > 0 {
		last := rows[len(rows)-1]
		listing.NextCursor = encodeEntry(ByName, scope, Entry{Name: last.name, Type: last.kind.entryType()})
	}
	listing.settle(rows)
	if d.sort != ByName {
		if err := listing.page(d.sort, scope, d.after, limit); err != nil {
			return DirListing{}, err
		}
	}
	listing.Ignored, listing.Vanished = int(d.ignored.Load()), int(d.vanished.Load())
	listing.Warnings = d.allWarnings(unknown(listing.Entries))
	return listing, nil
}

// settle drops the entries that are gone, and puts right what has changed
// between the reading of the folder and that of the metadata.
func (l *DirListing) settle(rows []row) {
	changed := false
	for i, e := range l.Entries {
		if now, before := e.Type == Directory, rows[i].kind == kindDir; now != before {
			changed = true
			if before {
				l.Dirs--
			} else {
				l.Files--
			}
			switch {
			case now:
				l.Dirs++
			case e.Name != "":
				l.Files++
			}
		} else if e.Name == "" {
			changed = true
			l.Files--
		}
	}
	if changed {
		l.Entries = slices.DeleteFunc(l.Entries, func(e Entry) bool { return e.Name == "" })
		slices.SortStableFunc(l.Entries, func(a, b Entry) int { return compareEntries(ByName, a, b) })
	}
}

// page sorts all entries and cuts out those wanted.
func (l *DirListing) page(key SortKey, scope, after string, limit int) error {
	compare := func(a, b Entry) int { return compareEntries(key, a, b) }
	slices.SortFunc(l.Entries, compare)
	if after != "" {
		last, err := decodeEntry(key, scope, after)
		if err != nil {
			return err
		}
		n, found := slices.BinarySearchFunc(l.Entries, last, compare)
		if found {
			n++
		}
		l.Entries = l.Entries[n:]
	}
	if limit >= 0 && len(l.Entries) > limit {
		l.Entries = slices.Clip(l.Entries[:limit])
		l.NextCursor = encodeEntry(key, scope, l.Entries[limit-1])
	}
	return nil
}

// compareEntries is compareRows for any order.
func compareEntries(key SortKey, a, b Entry) int {
	if (a.Type == Directory) != (b.Type == Directory) {
		if a.Type == Directory {
			return -1
		}
		return 1
	}
	order := 0
	switch key {
	case BySize:
		order = cmp.Compare(b.Size, a.Size)
	case ByModified:
		order = b.Modified.Compare(a.Modified)
	}
	if order != 0 {
		return order
	}
	return names.Compare(a.Name, b.Name)
}

// encodeEntry makes a cursor of what compareEntries goes by: whether the entry
// is a folder, the number, and the name. decodeEntry reads it.
func encodeEntry(key SortKey, scope string, e Entry) string {
	var b [13]byte
	if e.Type == Directory {
		b[0] = 1
	}
	switch key {
	case BySize:
		binary.BigEndian.PutUint64(b[1:], uint64(e.Size))
	case ByModified:
		binary.BigEndian.PutUint64(b[1:], uint64(e.Modified.Unix()))
		binary.BigEndian.PutUint32(b[9:], uint32(e.Modified.Nanosecond()))
	}
	return encodeCursor(scope, string(b[:])+e.Name)
}

func decodeEntry(key SortKey, scope, cursor string) (Entry, error) {
	text, err := decodeCursor(scope, cursor)
	if err != nil {
		return Entry{}, err
	}
	// Whoever takes the trouble can make a cursor that is none of ours.
	if len(text) < 13 {
		return Entry{}, invalidCursor("it is not a cursor of this list; begin again without one")
	}
	b := []byte(text[:13])
	e := Entry{Name: text[13:], Type: File}
	if b[0] == 1 {
		e.Type = Directory
	}
	switch n := int64(binary.BigEndian.Uint64(b[1:])); key {
	case BySize:
		e.Size = n
	case ByModified:
		e.Modified = time.Unix(n, int64(binary.BigEndian.Uint32(b[9:]))).UTC()
	}
	return e, nil
}

// unknown counts the entries whose metadata could not be had.
func unknown(entries []Entry) int {
	n := 0
	for _, e := range entries {
		if e.Size < 0 {
			n++
		}
	}
	return n
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
