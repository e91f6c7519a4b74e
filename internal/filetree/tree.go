// Package filetree turns the files of one version of a store into a filesystem. Names, sizes
// and versions are in memory. The contents stay in the store until a file is read.
package filetree

import (
	"context"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/opendir"
)

// A File is a regular file, or a symbolic link if Link is not empty.
type File struct {
	Size    int64
	Mode    fs.FileMode // permission bits
	ModTime time.Time
	Version string // equal versions mean equal contents; empty if the store has no versions
	Link    string // target of a symbolic link

	Kept int64 // bytes that Content keeps in memory

	// Content returns the content, or an error soon after ctx ends. The result must be safe for
	// concurrent use. An open file calls Content once, at the first read.
	Content func(ctx context.Context) (io.ReaderAt, error)
}

// bytes returns the bytes that the file counts, besides the node.
func (f *File) bytes() int64 {
	if f == nil {
		return 0
	}
	return int64(len(f.Link)) + f.Kept
}

// An FS is a filesystem that never changes: an [fs.StatFS], an [fs.ReadDirFS] and an
// [fs.ReadLinkFS]. The FileInfo of a file has a method Version. An FS is safe for concurrent use.
type FS struct {
	version string
	top     *node
	stale   error
	ctx     context.Context // of the contents; nil if the reads do not end
}

// Version returns the version that [Builder.FS] received.
func (f *FS) Version() string { return f.version }

// Stale returns the error that [FS.WithError] received, or nil.
func (f *FS) Stale() error { return f.stale }

// WithContext returns the same files, whose contents are read until ctx ends.
func (f *FS) WithContext(ctx context.Context) fs.FS {
	return &FS{f.version, f.top, f.stale, ctx}
}

// WithError returns the same files, with the error of a store that serves an old version. The
// reads of contents do not end.
func (f *FS) WithError(err error) *FS { return &FS{f.version, f.top, err, nil} }

// Open opens a file or a directory and follows symbolic links. A file implements
// [io.ReaderAt] and [io.Seeker].
func (f *FS) Open(name string) (fs.File, error) {
	found, err := f.find("open", name, true)
	if err != nil {
		return nil, err
	}
	info := &named{found, path.Base(name)}
	if found.IsDir() {
		return opendir.New(info, slices.Clone(found.entries())), nil
	}
	ctx := f.ctx
	if ctx == nil {
		ctx = context.Background()
	}
	content := sync.OnceValues(func() (io.ReaderAt, error) { return found.file.Content(ctx) })
	return &openFile{named: info, path: name, content: content}, nil
}

// Stat describes a file or a directory and follows symbolic links.
func (f *FS) Stat(name string) (fs.FileInfo, error) { return f.info("stat", name, true) }

// Lstat is Stat, but describes a symbolic link at the end of name.
func (f *FS) Lstat(name string) (fs.FileInfo, error) { return f.info("lstat", name, false) }

func (f *FS) info(op, name string, follow bool) (fs.FileInfo, error) {
	found, err := f.find(op, name, follow)
	if err != nil {
		return nil, err
	}
	return &named{found, path.Base(name)}, nil
}

// Describe returns the FileInfo of a file, as [FS.Lstat] does.
func Describe(name string, file File) fs.FileInfo {
	return &node{name: path.Base(name), file: &file}
}

// Below returns the files of a directory, with the version of f. A symbolic link that leads
// outside the directory is broken in the result. If the directory does not exist, or is a
// file, the error matches fs.ErrNotExist.
func (f *FS) Below(dir string) (*FS, error) {
	found, err := f.find("sub", dir, true)
	if err != nil {
		return nil, err
	}
	if !found.IsDir() {
		return nil, &fs.PathError{Op: "sub", Path: dir, Err: fs.ErrNotExist}
	}
	return &FS{f.version, found, f.stale, f.ctx}, nil
}

// ReadLink returns the target of a symbolic link.
func (f *FS) ReadLink(name string) (string, error) {
	found, err := f.find("readlink", name, false)
	switch {
	case err != nil:
		return "", err
	case found.link() == "":
		return "", &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	return found.link(), nil
}

// ReadDir returns the entries of a directory, sorted by name.
func (f *FS) ReadDir(name string) ([]fs.DirEntry, error) {
	found, err := f.find("readdir", name, true)
	switch {
	case err != nil:
		return nil, err
	case !found.IsDir():
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	return slices.Clone(found.entries()), nil
}
