// Package tree turns the files of one version of a store into a filesystem. Names, sizes
// and versions are in memory. The contents stay in the store until a file is read.
package tree

import (
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// A File is a regular file, or a symbolic link if Link is not empty.
type File struct {
	Size    int64
	Mode    fs.FileMode // permission bits
	ModTime time.Time
	Version string // equal versions mean equal contents; empty if the store has no versions
	Link    string // target of a symbolic link

	// Content returns the content. The result must be safe for concurrent use. An open
	// file calls Content once, at the first read.
	Content func() (io.ReaderAt, error)
}

// An FS is a filesystem that never changes: an [fs.StatFS], an [fs.ReadDirFS] and an
// [fs.ReadLinkFS]. The FileInfo of a file has a method Version. An FS is safe for concurrent use.
type FS struct {
	version string
	top     *node
	stale   error
}

// New returns the filesystem with the files, by name. New omits a file if [fs.ValidPath]
// does not accept the name, or if another file is below the name. A directory has the time of the newest file
// below.
func New(version string, files map[string]File) *FS {
	top := newDir(".")
	for name, file := range files {
		if !fs.ValidPath(name) || name == "." {
			continue
		}
		dir, elems := top, strings.Split(name, "/")
		for _, elem := range elems[:len(elems)-1] {
			next := dir.children[elem]
			if next == nil || !next.IsDir() {
				next = newDir(elem)
				dir.children[elem] = next
			}
			dir = next
			if dir.file.ModTime.Before(file.ModTime) {
				dir.file.ModTime = file.ModTime
			}
		}
		base := elems[len(elems)-1]
		if dir.children[base] == nil {
			dir.children[base] = &node{name: base, file: file}
		}
	}
	return &FS{version: version, top: top}
}

// Version returns the version that New received.
func (f *FS) Version() string { return f.version }

// Stale returns the error of the store if [Latest] returned f because of an error, or nil.
func (f *FS) Stale() error { return f.stale }

// Open opens a file or a directory and follows symbolic links. A file implements
// [io.ReaderAt] and [io.Seeker].
func (f *FS) Open(name string) (fs.File, error) {
	found, err := f.find("open", name, true)
	if err != nil {
		return nil, err
	}
	named := &node{name: path.Base(name), file: found.file, children: found.children}
	if found.IsDir() {
		return &openDir{node: named, rest: found.entries()}, nil
	}
	return &openFile{node: named, name: name, content: sync.OnceValues(found.file.Content)}, nil
}

// Stat describes a file or a directory and follows symbolic links.
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	found, err := f.find("stat", name, true)
	if err != nil {
		return nil, err
	}
	return &node{name: path.Base(name), file: found.file, children: found.children}, nil
}

// Lstat is Stat, but describes a symbolic link at the end of name.
func (f *FS) Lstat(name string) (fs.FileInfo, error) {
	found, err := f.find("lstat", name, false)
	if err != nil {
		return nil, err
	}
	return &node{name: path.Base(name), file: found.file, children: found.children}, nil
}

// Describe returns the FileInfo of a file, as [FS.Lstat] does.
func Describe(name string, file File) fs.FileInfo { return &node{name: path.Base(name), file: file} }

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
	return &FS{f.version, found, f.stale}, nil
}

// ReadLink returns the target of a symbolic link.
func (f *FS) ReadLink(name string) (string, error) {
	found, err := f.find("readlink", name, false)
	if err == nil && found.file.Link == "" {
		err = &fs.PathError{Op: "readlink", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return "", err
	}
	return found.file.Link, nil
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
