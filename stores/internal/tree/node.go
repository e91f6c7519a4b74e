package tree

import (
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"time"
)

// A node is a file, a link or a directory. A node is also the fs.FileInfo and the fs.DirEntry.
type node struct {
	name     string
	file     File             // of a directory: only the time
	children map[string]*node // nil for a file

	sort   sync.Once
	sorted []fs.DirEntry // the children
}

func newDir(name string) *node {
	return &node{name: name, children: map[string]*node{}}
}

func (n *node) Name() string               { return n.name }
func (n *node) Size() int64                { return n.file.Size }
func (n *node) Type() fs.FileMode          { return n.Mode().Type() }
func (n *node) ModTime() time.Time         { return n.file.ModTime }
func (n *node) IsDir() bool                { return n.children != nil }
func (n *node) Sys() any                   { return nil }
func (n *node) Info() (fs.FileInfo, error) { return n, nil }
func (n *node) Version() string            { return n.file.Version }

func (n *node) Mode() fs.FileMode {
	switch {
	case n.children != nil:
		return fs.ModeDir | 0o555
	case n.file.Link != "":
		return fs.ModeSymlink | 0o777
	}
	return n.file.Mode.Perm()
}

// entries returns the children, sorted by name. The caller must not change the result.
func (n *node) entries() []fs.DirEntry {
	n.sort.Do(func() {
		n.sorted = make([]fs.DirEntry, 0, len(n.children))
		for _, child := range n.children {
			n.sorted = append(n.sorted, child)
		}
		slices.SortFunc(n.sorted, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	})
	return n.sorted
}

type openFile struct {
	*node
	name    string // that the caller opened
	content func() (io.ReaderAt, error)
	offset  int64
}

func (f *openFile) Stat() (fs.FileInfo, error) { return f.node, nil }
func (f *openFile) Close() error               { return nil }

func (f *openFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.offset)
	f.offset += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (f *openFile) ReadAt(p []byte, off int64) (int, error) {
	content, err := f.content()
	if err != nil {
		return 0, &fs.PathError{Op: "read", Path: f.name, Err: err}
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
		return 0, &fs.PathError{Op: "seek", Path: f.name, Err: fs.ErrInvalid}
	}
	f.offset = offset
	return offset, nil
}

type openDir struct {
	*node
	rest []fs.DirEntry // not yet returned
}

func (d *openDir) Stat() (fs.FileInfo, error) { return d.node, nil }
func (d *openDir) Close() error               { return nil }

func (d *openDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: d.node.name, Err: errIsDir}
}

func (d *openDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		n = len(d.rest)
	} else if len(d.rest) == 0 {
		return nil, io.EOF
	}
	next := slices.Clone(d.rest[:min(n, len(d.rest))])
	d.rest = d.rest[len(next):]
	return next, nil
}
