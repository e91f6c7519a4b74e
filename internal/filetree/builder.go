package filetree

import (
	"io/fs"
	"iter"
	"maps"
	"math"
	"strings"
)

const (
	// Entry is the number of bytes that a file and a directory count, besides the name.
	Entry = 512

	maxName  = 4096 // bytes of a name and of the target of a link, as on Linux
	maxDepth = 100  // elements of a name
)

// A Builder collects the files of a store. The names, the targets of links, the contents in memory
// and [Entry] for each file and directory count against a limit of bytes. A Builder is not safe for
// concurrent use.
type Builder struct {
	top        *node
	left       int64 // bytes
	exceeded   error
	generation int // of the nodes that no FS has
}

// NewBuilder returns a Builder without files. The error exceeded is the result of a call that
// exceeds the limit.
func NewBuilder(limit int64, exceeded error) *Builder {
	return &Builder{top: new(node), left: limit, exceeded: exceeded}
}

// New returns the files of a store whose names are valid by [fs.ValidPath], without the limits of a
// Builder.
func New(version string, files iter.Seq2[string, File]) *FS {
	b := NewBuilder(math.MaxInt64, nil)
	for name, file := range files {
		_ = b.put(name, file)
	}
	return b.FS(version)
}

// Valid reports whether a name can be in an FS: [fs.ValidPath] accepts the name, and the name has
// at most 4,096 bytes and 100 elements.
func Valid(name string) bool {
	return len(name) <= maxName && strings.Count(name, "/") < maxDepth && fs.ValidPath(name)
}

// Put adds or replaces a file. While files are below the name, the name is a directory, and the
// file is hidden. Put omits a name that [fs.ValidPath] does not accept, with more than 4,096 bytes,
// or with more than 100 elements.
func (b *Builder) Put(name string, file File) error {
	if !Valid(name) || name == "." || len(file.Link) > maxName {
		return nil
	}
	return b.put(name, file)
}

func (b *Builder) put(name string, file File) error {
	at := b.path(name, true)
	last := at[len(at)-1]
	b.left += last.file.bytes()
	last.file = &file
	return b.Use(file.bytes())
}

// Use counts bytes against the limit.
func (b *Builder) Use(bytes int64) error {
	if b.left -= bytes; b.left < 0 {
		return b.exceeded
	}
	return nil
}

// File returns a file, or nil.
func (b *Builder) File(name string) *File {
	if at := b.path(name, false); at != nil {
		return at[len(at)-1].file
	}
	return nil
}

// Remove removes a file, but no file below the name.
func (b *Builder) Remove(name string) {
	if at := b.path(name, false); at != nil {
		last := at[len(at)-1]
		b.left += last.file.bytes()
		last.file = nil
		b.prune(at)
	}
}

// RemoveAll removes a file and all files below the name. The bytes of these files still count.
func (b *Builder) RemoveAll(name string) {
	if at := b.path(name, false); at != nil {
		last := at[len(at)-1]
		last.file, last.children = nil, nil
		b.prune(at)
	}
}

// Next returns a Builder without files and with the rest of the limit, for [Builder.Merge].
func (b *Builder) Next() *Builder { return NewBuilder(b.left, b.exceeded) }

// Merge moves all files of next to b. A file replaces a directory of b with all files below, and a
// directory replaces a file. No FS may have the files of b.
func (b *Builder) Merge(next *Builder) {
	b.left = next.left
	b.top.merge(next.top)
}

func (n *node) merge(next *node) {
	n.file = next.file
	if !next.IsDir() {
		n.children = nil
	}
	for elem, child := range next.children {
		if old := n.children[elem]; old != nil {
			old.merge(child)
		} else {
			n.add(elem, child)
		}
	}
}

// FS returns the files. Later changes of b do not change the result. A directory has the time of
// the newest file below.
func (b *Builder) FS(version string) *FS {
	b.generation++
	return &FS{version: version, top: b.top}
}

// path returns the nodes from the top to a name, which the Builder may change. Nil means that the
// name has no node. If create is set, path creates the nodes.
func (b *Builder) path(name string, create bool) []*node {
	b.top = b.own(b.top)
	at := []*node{b.top}
	if name == "." {
		return at
	}
	for elem := range strings.SplitSeq(name, "/") {
		dir := at[len(at)-1]
		next := dir.children[elem]
		switch {
		case next != nil:
			next = b.own(next)
		case create:
			elem = strings.Clone(elem) // the name is often part of a larger text
			next = &node{name: elem, generation: b.generation}
			b.left -= Entry + int64(len(elem))
		default:
			return nil
		}
		dir.add(elem, next)
		at = append(at, next)
	}
	return at
}

// own returns a copy of a node that an FS has.
func (b *Builder) own(n *node) *node {
	if n.generation == b.generation {
		return n
	}
	return &node{name: n.name, file: n.file, children: maps.Clone(n.children), generation: b.generation}
}

// prune removes the directories of a path without files.
func (b *Builder) prune(at []*node) {
	for i := len(at) - 1; i > 0 && at[i].file == nil && len(at[i].children) == 0; i-- {
		delete(at[i-1].children, at[i].name)
		b.left += Entry + int64(len(at[i].name))
	}
}
