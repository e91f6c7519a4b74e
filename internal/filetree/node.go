package filetree

import (
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A node is a file, a link or a directory. A node is also the fs.FileInfo and the fs.DirEntry.
type node struct {
	name       string
	file       *File            // nil for a directory; hidden if the node has children
	children   map[string]*node // nil for a file
	generation int              // of the Builder

	once   sync.Once
	sorted []fs.DirEntry // the children
	newest time.Time     // of the files below
}

func (n *node) add(elem string, child *node) {
	if n.children == nil {
		n.children = map[string]*node{}
	}
	n.children[elem] = child
}

// describe returns the metadata: of a directory, only the time.
func (n *node) describe() File {
	if n.IsDir() {
		n.entries()
		return File{ModTime: n.newest}
	}
	return *n.file
}

func (n *node) link() string {
	if n.IsDir() {
		return ""
	}
	return n.file.Link
}

func (n *node) Name() string               { return n.name }
func (n *node) Size() int64                { return n.describe().Size }
func (n *node) Type() fs.FileMode          { return n.Mode().Type() }
func (n *node) ModTime() time.Time         { return n.describe().ModTime }
func (n *node) IsDir() bool                { return n.file == nil || len(n.children) > 0 }
func (n *node) Sys() any                   { return nil }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }
func (n *node) Version() string            { return n.describe().Version }

func (n *node) Mode() fs.FileMode {
	switch {
	case n.IsDir():
		return fs.ModeDir | 0o555
	case n.link() != "":
		return fs.ModeSymlink | 0o777
	}
	return n.file.Mode.Perm()
}

// entries returns the children, sorted by name. The caller must not change the result.
func (n *node) entries() []fs.DirEntry {
	n.once.Do(func() {
		n.sorted = make([]fs.DirEntry, 0, len(n.children))
		for _, child := range n.children {
			n.sorted = append(n.sorted, child)
			if modified := child.ModTime(); n.newest.Before(modified) {
				n.newest = modified
			}
		}
		slices.SortFunc(n.sorted, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	})
	return n.sorted
}

// A named is a node with the name that the caller used.
type named struct {
	*node
	name string
}

func (n *named) Name() string { return n.name }

type openFile struct {
	*named
	path    string // that the caller opened
	content func() (io.ReaderAt, error)
	offset  int64
	closed  atomic.Bool // a ReadAt can run beside Close
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.named, nil }

func (f *openFile) Close() error {
	f.closed.Store(true)
	return nil
}

func (f *openFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.offset)
	f.offset += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *openFile) ReadAt(p []byte, off int64) (int, error) {
	var content io.ReaderAt
	err := fs.ErrClosed
	if !f.closed.Load() {
		content, err = f.content()
	}
	if err != nil {
		return 0, &fs.PathError{Op: "read", Path: f.path, Err: err}
	}
	return content.ReadAt(p, off)
}

func (f *openFile) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += f.offset
	case io.SeekEnd:
		offset += f.Size()
	}
	if offset < 0 || whence < io.SeekStart || whence > io.SeekEnd {
		return 0, &fs.PathError{Op: "seek", Path: f.path, Err: fs.ErrInvalid}
	}
	f.offset = offset
	return offset, nil
}
