package confine

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/spf13/afero"
)

var (
	_ afero.Fs         = (*FS)(nil)
	_ afero.Lstater    = (*FS)(nil)
	_ afero.LinkReader = (*FS)(nil)
)

// clean returns the name for a name in the style of afero.
func clean(name string) string { return path.Clean(filepath.ToSlash(name)) }

// Name returns "confine".
func (f *FS) Name() string { return "confine" }

// Open opens a file or a directory. The name of the file is the given name, without
// the path of the root.
func (f *FS) Open(name string) (afero.File, error) {
	return f.open(clean(name))
}

// OpenFile is Open. If the flag includes writing, appending, creating or truncating,
// OpenFile fails with fs.ErrPermission.
func (f *FS) OpenFile(name string, flag int, _ fs.FileMode) (afero.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, failure("open", name, errReadOnly)
	}
	return f.Open(name)
}

// Stat returns the metadata of a file. Stat follows the links that the options allow. The
// method Sys of the result returns the [Info].
func (f *FS) Stat(name string) (fs.FileInfo, error) {
	return f.fileInfo(f.Info, clean(name))
}

// LstatIfPossible returns the metadata of a file or of a link itself. The bool is
// false if the underlying filesystem does not reveal links.
func (f *FS) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	fi, err := f.fileInfo(f.Lstat, clean(name))
	return fi, f.adapted == nil || f.adapted.links, err
}

// ReadlinkIfPossible is ReadLink, except that the target is relative to the directory
// of the link.
func (f *FS) ReadlinkIfPossible(name string) (string, error) {
	return f.readLinkRelative(clean(name))
}

// Create fails with fs.ErrPermission.
func (f *FS) Create(name string) (afero.File, error) {
	return nil, failure("create", name, errReadOnly)
}

// Mkdir fails with fs.ErrPermission.
func (f *FS) Mkdir(name string, _ fs.FileMode) error {
	return failure("mkdir", name, errReadOnly)
}

// MkdirAll fails with fs.ErrPermission.
func (f *FS) MkdirAll(name string, _ fs.FileMode) error {
	return failure("mkdir", name, errReadOnly)
}

// Remove fails with fs.ErrPermission.
func (f *FS) Remove(name string) error { return failure("remove", name, errReadOnly) }

// RemoveAll fails with fs.ErrPermission.
func (f *FS) RemoveAll(name string) error { return failure("remove", name, errReadOnly) }

// Rename fails with fs.ErrPermission.
func (f *FS) Rename(oldname, _ string) error { return failure("rename", oldname, errReadOnly) }

// Chmod fails with fs.ErrPermission.
func (f *FS) Chmod(name string, _ fs.FileMode) error {
	return failure("chmod", name, errReadOnly)
}

// Chown fails with fs.ErrPermission.
func (f *FS) Chown(name string, _, _ int) error { return failure("chown", name, errReadOnly) }

// Chtimes fails with fs.ErrPermission.
func (f *FS) Chtimes(name string, _, _ time.Time) error {
	return failure("chtimes", name, errReadOnly)
}
