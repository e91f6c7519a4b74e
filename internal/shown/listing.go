package shown

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// An Entry is an entry of a directory.
type Entry struct {
	Name    string
	Type    string // a constant such as file, or another text
	Size    int64  // -1 if unknown
	Target  string // of a link
	Outside bool   // the link leads out of the root
}

// The types of entries with lines of their own.
const (
	file      = "file"
	directory = "directory"
	symlink   = "symlink"
)

// IsDir reports whether the entry is a directory.
func (e Entry) IsDir() bool { return e.Type == directory }

// Unknown reports whether the metadata could not be read. In a result without sizes, the size of a
// file is -1.
func (e Entry) Unknown(noSizes bool) bool { return e.Size < 0 && !(noSizes && e.Type == file) }

// A Listing is a page of the entries of a directory.
type Listing[E any] struct {
	Path       string
	Entries    []E
	Files      int
	Dirs       int
	NextCursor string
	Ignored    int
	Vanished   int
	NoSizes    bool
	Hint       string
	Warnings   []string
}

// Text returns the listing. The function entry returns an entry of Entries.
func (l Listing[E]) Text(entry func(*E) Entry) string {
	var b strings.Builder
	b.Grow(64 + 48*len(l.Entries))
	b.WriteString("Directory: ")
	b.WriteString(escape.Path(l.Path))
	b.WriteString("\nTotal: " + Counted(l.Files, "file", "files") + ", " + Counted(l.Dirs, "directory", "directories"))
	if len(l.Entries) > 0 {
		b.WriteByte('\n')
	}
	width := 0
	for i := range l.Entries {
		if e := entry(&l.Entries[i]); e.Type == file {
			width = max(width, utf8.RuneCountInString(escape.Name(e.Name)))
		}
	}
	width = min(width, 38)
	for i := range l.Entries {
		b.WriteByte('\n')
		entry(&l.Entries[i]).writeLine(&b, width, !l.NoSizes)
	}
	if l.NextCursor != "" {
		fmt.Fprintf(&b, "\n\n%d of %s shown; the next cursor is %s", len(l.Entries), Counted(l.Files+l.Dirs, "entry", "entries"), l.NextCursor)
	}
	writeNotes(&b, l.Ignored)
	writeHint(&b, l.Hint)
	writeWarnings(&b, l.Warnings)
	return b.String()
}

// writeLine writes the line of an entry. The name of a file fills a column of the given width
// and two spaces before the size.
func (e Entry) writeLine(b *strings.Builder, width int, size bool) {
	name := escape.Name(e.Name)
	switch e.Type {
	case directory:
		b.WriteString("[DIR]  " + name + "/")
	case file:
		b.WriteString("[FILE] " + name)
		if !size {
			return
		}
		for range width - utf8.RuneCountInString(name) {
			b.WriteByte(' ')
		}
		b.WriteString("  (" + Size(e.Size) + ")")
	default:
		e.writeSpecial(b, name)
	}
}

// writeSpecial writes the line of an entry that is neither a file nor a directory.
func (e Entry) writeSpecial(b *strings.Builder, name string) {
	switch {
	case e.Type != symlink:
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

// Files are the files that match a glob.
type Files struct {
	Path         string
	Pattern      string
	Files        []string
	Sizes        []int64     // of Files; nil for an order without sizes
	Modified     []time.Time // of Files; nil for an order without times
	Total        int
	Skipped      int
	Ignored      int
	Dependencies int
	Hint         string
	Warnings     []string
}

// String returns the paths, the numbers of omitted files and directories, the hint and the
// warnings.
func (m Files) String() string {
	var b strings.Builder
	if m.Total == 0 {
		b.WriteString("No files found")
	} else {
		b.WriteString("Found " + Counted(m.Total, "file", "files") + ":\n")
	}
	for i, file := range m.Files {
		b.WriteByte('\n')
		if m.Sizes != nil {
			b.WriteString(Size(m.Sizes[i]) + "  ")
		}
		if m.Modified != nil {
			modified := "?" // unknown, as in Size
			if !m.Modified[i].IsZero() {
				modified = m.Modified[i].Format("2006-01-02 15:04")
			}
			b.WriteString(modified + "  ")
		}
		b.WriteString(escape.Path(file))
	}
	if more := m.Total - len(m.Files); more > 0 {
		b.WriteString("\n… and " + strconv.Itoa(more) + " more; raise the limit")
	}
	writeNotes(&b, m.Ignored, unread(m.Skipped), unsearched(m.Dependencies))
	writeHint(&b, m.Hint)
	writeWarnings(&b, m.Warnings)
	return b.String()
}

// An Info describes a file, a directory or a link.
type Info struct {
	Path string
	Entry
	Modified, Accessed time.Time // zero if unknown
	Readable, Writable *bool     // nil if unknown
}

// outsideTarget replaces the target of a link that leads out of the root.
const outsideTarget = "outside root"

// String returns a line for each known value.
func (f Info) String() string {
	text := "File: " + escape.Path(f.Path) + "\n\nType: " + f.Type
	line := func(label, value string) { text += "\n" + label + ": " + value }
	if f.Type == file && f.Size >= 0 {
		line("Size", Size(f.Size))
	}
	if !f.Modified.IsZero() {
		line("Modified", f.Modified.UTC().Format(time.DateTime))
	}
	if !f.Accessed.IsZero() {
		line("Accessed", f.Accessed.UTC().Format(time.DateTime))
	}
	words := map[bool]string{true: "Yes", false: "No"}
	if f.Readable != nil {
		line("Readable", words[*f.Readable])
	}
	if f.Writable != nil {
		line("Writable", words[*f.Writable])
	}
	switch {
	case f.Outside:
		line("Target", outsideTarget)
	case f.Target == outsideTarget:
		line("Target", strings.ReplaceAll(outsideTarget, " ", `\x20`))
	case f.Target != "":
		line("Target", escape.Path(f.Target))
	}
	return text
}
