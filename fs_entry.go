package toolshelf

import (
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
	"github.com/toolshelf-go/toolshelf/internal/listing"
)

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

// writeLine writes the line of an entry. The name of a file fills a column of the given width
// and two spaces before the size.
func (e Entry) writeLine(b *strings.Builder, width int, size bool) {
	name := escape.Name(e.Name)
	switch e.Type {
	case Directory:
		b.WriteString("[DIR]  " + name + "/")
	case File:
		b.WriteString("[FILE] " + name)
		if !size {
			return
		}
		for range width - utf8.RuneCountInString(name) {
			b.WriteByte(' ')
		}
		b.WriteString("  (" + formatSize(e.Size) + ")")
	default:
		e.writeSpecial(b, name)
	}
}

// writeSpecial writes the line of an entry that is neither a file nor a directory.
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

// formatSize returns the text of a size: bytes below a tenth of a KB, then KB, MB and GB of
// 1024 each. A negative size is unknown.
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
		if size < 1023.95 { // otherwise the text would be 1024.0
			break
		}
		size, unit = size/1024, larger
	}
	return strconv.FormatFloat(size, 'f', 1, 64) + unit
}

// withUnknown adds the warning about entries without metadata.
func withUnknown(warnings []string, unknown int) []string {
	if unknown > 0 {
		warnings = append(warnings, counted(unknown, "entry", "entries")+" without metadata, because the directory has no search permission")
	}
	return warnings
}

// writeHint writes an empty line and the hint, if there is a hint.
func writeHint(b *strings.Builder, hint string) {
	if hint != "" {
		b.WriteString("\n\n" + hint)
	}
}

func writeWarnings(b *strings.Builder, warnings []string) {
	for i, warning := range warnings {
		if i == 0 {
			b.WriteByte('\n')
		}
		b.WriteString("\nWarning: " + warning)
	}
}

// joinLimits returns, for example, "100 lines and 8000 characters" and "these limits".
func joinLimits(limits []string) (names, these string) {
	last := len(limits) - 1
	if last == 0 {
		return limits[0], "this limit"
	}
	return strings.Join(limits[:last], ", ") + " and " + limits[last], "these limits"
}

// counted returns, for example, "1 file" or "2 files".
func counted(n int, one, many string) string {
	if n == 1 {
		many = one
	}
	return strconv.Itoa(n) + " " + many
}
