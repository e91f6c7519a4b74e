package confine

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/spf13/afero"
)

// Afero is the FS as an afero.Fs, which has another Stat and so cannot be the
// same type. It is read-only: what would write fails with an error that
// matches fs.ErrPermission. It is also an afero.Lstater and an
// afero.LinkReader.
//
// Names are those of the other methods, but cleaned first, as users of an
// afero.Fs write "", "./a" and "a/". An open file has the name it was opened
// by: no path of the root. ReadlinkIfPossible gives a target relative to the
// folder of the link, as users of a link expect it.
func (f *FS) Afero() afero.Fs { return aferoView{f} }

type aferoView struct{ fs *FS }

var (
	_ afero.Lstater    = aferoView{}
	_ afero.LinkReader = aferoView{}
)

// clean makes a name of what users of an afero.Fs write.
func clean(name string) string { return path.Clean(filepath.ToSlash(name)) }

func (v aferoView) Name() string { return "confine" }

func (v aferoView) Open(name string) (afero.File, error) {
	file, err := v.fs.open(clean(name))
	if err != nil {
		return nil, err
	}
	return file, nil
}

func (v aferoView) OpenFile(name string, flag int, _ fs.FileMode) (afero.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_TRUNC) != 0 {
		return nil, failure("open", name, errReadOnly)
	}
	return v.Open(name)
}

func (v aferoView) Stat(name string) (fs.FileInfo, error) {
	return v.fs.fileInfo(v.fs.Stat, clean(name))
}

// LstatIfPossible also tells whether a link would have been seen.
func (v aferoView) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	fi, err := v.fs.fileInfo(v.fs.Lstat, clean(name))
	return fi, v.fs.foreign == nil || v.fs.foreign.tellsLinks(), err
}

func (v aferoView) ReadlinkIfPossible(name string) (string, error) {
	return v.fs.readLinkRelative(clean(name))
}

func (v aferoView) Create(name string) (afero.File, error) {
	return nil, failure("create", name, errReadOnly)
}

func (v aferoView) Mkdir(name string, _ fs.FileMode) error {
	return failure("mkdir", name, errReadOnly)
}

func (v aferoView) MkdirAll(name string, _ fs.FileMode) error {
	return failure("mkdir", name, errReadOnly)
}

func (v aferoView) Remove(name string) error { return failure("remove", name, errReadOnly) }

func (v aferoView) RemoveAll(name string) error { return failure("remove", name, errReadOnly) }

func (v aferoView) Rename(oldname, _ string) error { return failure("rename", oldname, errReadOnly) }

func (v aferoView) Chmod(name string, _ fs.FileMode) error {
	return failure("chmod", name, errReadOnly)
}

func (v aferoView) Chown(name string, _, _ int) error { return failure("chown", name, errReadOnly) }

func (v aferoView) Chtimes(name string, _, _ time.Time) error {
	return failure("chtimes", name, errReadOnly)
}
