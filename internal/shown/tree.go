package shown

import (
	"strconv"
	"strings"

	"github.com/toolshelf-go/toolshelf/internal/escape"
)

// A Tree is a directory with the entries of all levels below.
type Tree[N any] struct {
	Path      string
	Excluding []string
	Children  []N
	More      int
	Files     int
	Dirs      int
	Omitted   int
	Ignored   int
	Vanished  int
	Limits    []string
	NoSizes   bool
	Warnings  []string
}

// A Node is an entry of a Tree.
type Node[N any] struct {
	Entry
	Children   []N
	More       int
	Dependency bool
	Skipped    int
	Error      string
}

// Text returns the tree. The function node returns a node of Children.
func (t Tree[N]) Text(node func(*N) Node[N]) string {
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
	writeNodes(&b, t.Children, t.More, 0, !t.NoSizes, node)
	WriteCut(&b, t.Limits, t.Omitted)
	writeNotes(&b, t.Ignored)
	writeWarnings(&b, t.Warnings)
	return b.String()
}

func writeNodes[N any](b *strings.Builder, nodes []N, more, depth int, sizes bool,
	node func(*N) Node[N]) {
	for i := range nodes {
		n := node(&nodes[i])
		n.WriteLine(b, depth, sizes)
		if len(n.Children) > 0 {
			writeNodes(b, n.Children, n.More, depth+1, sizes, node)
		}
	}
	WriteMore(b, more, depth)
}

// WriteLine writes a line break and the line of an entry, without the entries below.
func (n Node[N]) WriteLine(b *strings.Builder, depth int, size bool) {
	newLine(b, depth)
	switch {
	case n.Type == file && size:
		b.WriteString("[FILE] " + escape.Name(n.Name) + " (" + Size(n.Size) + ")")
	default:
		n.writeLine(b, 0, false)
	}
	switch {
	case n.Dependency:
		WriteEntries(b, n.Skipped)
	case len(n.Children) == 0 && n.More > 0:
		WriteEntries(b, n.More)
	}
	if n.Error != "" {
		b.WriteString(" (" + n.Error + ")")
	}
}

// WriteEntries writes the number of entries of a directory after its name.
func WriteEntries(b *strings.Builder, n int) {
	b.WriteString(" (" + Counted(n, "entry", "entries") + ")")
}

// WriteCut writes the line about the limits that omit entries, if there are any, and the number of
// omitted entries. Entries below omitted directories are not known.
func WriteCut(b *strings.Builder, limits []string, omitted int) {
	if len(limits) > 0 {
		names, these := joinLimits(limits)
		b.WriteString("\n\nCut at " + names + ", " + strconv.Itoa(omitted) + "+ omitted; raise " + these + ", or pass a subdirectory")
	}
}

// WriteMore writes a line break and the number of omitted entries, if there are any.
func WriteMore(b *strings.Builder, more, depth int) {
	if more > 0 {
		newLine(b, depth)
		b.WriteString("… and " + strconv.Itoa(more) + " more")
	}
}

func newLine(b *strings.Builder, depth int) {
	b.WriteByte('\n')
	for range depth {
		b.WriteString("  ")
	}
}
