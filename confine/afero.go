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

// clean makes a name of what users of an afero.Fs write.
func clean(name string) string { return path.Clean(filepath.ToSlash(name)) }

func (f *FS) Name() string { return "confine" }

func (f *FS) Open(name string) (afero.File, error) {
	file, err := f.open(clean(name))
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (f *FS) OpenFile(name string, flag int, _ fs.FileMode) (afero.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, failure("open", name, errReadOnly)
	}
	return f.Open(name)
}

func (f *FS) Stat(name string) (fs.FileInfo, error) {
	return f.fileInfo(f.Info, clean(name))
}

// LstatIfPossible also tells whether a link would have been seen.
func (f *FS) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	fi, err := f.fileInfo(f.Lstat, clean(name))
	return fi, f.adapted == nil || f.adapted.tellsLinks(), err
}

func (f *FS) ReadlinkIfPossible(name string) (string, error) {
	return f.readLinkRelative(clean(name))
}

func (f *FS) Create(name string) (afero.File, error) {
	return nil, failure("create", name, errReadOnly)
}

func (f *FS) Mkdir(name string, _ fs.FileMode) error {
	return failure("mkdir", name, errReadOnly)
}

func (f *FS) MkdirAll(name string, _ fs.FileMode) error {
	return failure("mkdir", name, errReadOnly)
}

func (f *FS) Remove(name string) error { return failure("remove", name, errReadOnly) }

func (f *FS) RemoveAll(name string) error { return failure("remove", name, errReadOnly) }

func (f *FS) Rename(oldname, _ string) error { return failure("rename", oldname, errReadOnly) }

func (f *FS) Chmod(name string, _ fs.FileMode) error {
	return failure("chmod", name, errReadOnly)
}

func (f *FS) Chown(name string, _, _ int) error { return failure("chown", name, errReadOnly) }

func (f *FS) Chtimes(name string, _, _ time.Time) error {
	return failure("chtimes", name, errReadOnly)
}
