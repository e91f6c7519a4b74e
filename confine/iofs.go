package confine

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
)

// IOFS returns the files of the FS as an fs.FS. The result is also an fs.StatFS,
// fs.ReadDirFS, fs.ReadFileFS, fs.ReadLinkFS and fs.SubFS. As io/fs requires, ReadDir reads and
// sorts the whole directory, and invalid names are fs.ErrInvalid. ReadLink returns a target
// relative to the directory of the link. The result of [fs.Sub] has the files of [FS.Within],
// with names relative to the directory.
func (f *FS) IOFS() fs.FS { return ioView{f} }

type ioView struct{ fs *FS }

var (
	_ fs.StatFS     = ioView{}
	_ fs.ReadDirFS  = ioView{}
	_ fs.ReadFileFS = ioView{}
	_ fs.ReadLinkFS = ioView{}
	_ fs.SubFS      = ioView{}
)

// Unlike fs.ValidPath, ioView accepts names that are not valid UTF-8. Otherwise fs.WalkDir
// would fail in a directory with an invalid name.

func (v ioView) Open(name string) (fs.File, error) {
	if err := ioName("open", name); err != nil {
		return nil, err
	}
	return v.fs.open(name)
}

func (v ioView) Stat(name string) (fs.FileInfo, error) {
	if err := ioName("stat", name); err != nil {
		return nil, err
	}
	return v.fs.fileInfo(v.fs.Info, name)
}

func (v ioView) Lstat(name string) (fs.FileInfo, error) {
	if err := ioName("lstat", name); err != nil {
		return nil, err
	}
	return v.fs.fileInfo(v.fs.Lstat, name)
}

func (v ioView) ReadLink(name string) (string, error) {
	if err := ioName("readlink", name); err != nil {
		return "", err
	}
	return v.fs.readLinkRelative(name)
}

func (v ioView) ReadDir(name string) ([]fs.DirEntry, error) {
	if err := ioName("readdir", name); err != nil {
		return nil, err
	}
	dir, err := v.fs.OpenDir(name)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return dir.entries()
}

func (v ioView) ReadFile(name string) ([]byte, error) {
	if err := ioName("read", name); err != nil {
		return nil, err
	}
	f, err := v.fs.OpenRegular(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

func (v ioView) Sub(dir string) (fs.FS, error) {
	if err := ioName("sub", dir); err != nil {
		return nil, err
	}
	return v.fs.within(dir, ".").IOFS(), nil
}

// ioName is checkName with fs.ErrInvalid for every rejected name, as io/fs requires.
func ioName(op, name string) error {
	if checkName(name) != nil {
		return failure(op, name, fs.ErrInvalid)
	}
	return nil
}

func (f *FS) fileInfo(stat func(string) (Info, error), name string) (fs.FileInfo, error) {
	info, err := stat(name)
	if err != nil {
		return nil, err
	}
	return fileInfo{path.Base(name), info}, nil
}

// readLinkRelative is ReadLink with a target relative to the directory of the link. A ".."
// element leads back from this directory, free of links.
func (f *FS) readLinkRelative(name string) (string, error) {
	target, err := f.ReadLink(name)
	if err != nil {
		return "", err
	}
	at := "."
	err = f.to(name, false, func(w resolution, _ string) error {
		at = path.Join(f.name, w.at())
		return nil
	})
	if err != nil {
		return "", failure("readlink", name, err)
	}
	target, err = filepath.Rel(at, target)
	return filepath.ToSlash(target), err
}

// open opens a regular file or a directory. open tries OpenRegular first, because files are
// more frequent.
func (f *FS) open(name string) (afero.File, error) {
	file, err := f.OpenRegular(name)
	if err == nil {
		return &openFile{name: name, File: file}, nil
	}
	if !errors.Is(err, ErrNotRegular) {
		return nil, err
	}
	dir, dirErr := f.OpenDir(name)
	switch {
	case dirErr == nil:
		return &openFile{name: name, dir: dir}, nil
	case errors.Is(dirErr, ErrNotDir):
		return nil, err
	default:
		return nil, dirErr
	}
}

// entries returns the entries in the order of their names. entries omits entries removed
// during the call. If an entry has no metadata, entries omits the entry and returns an
// error.
func (d *Dir) entries() ([]fs.DirEntry, error) {
	var entries []fs.DirEntry
	var failed error
	err := d.Each(context.Background(), func(name string, _ fs.FileMode) error {
		info, err := d.Lstat(name)
		switch {
		case err == nil:
			entries = append(entries, fs.FileInfoToDirEntry(fileInfo{name, info}))
		case !errors.Is(err, fs.ErrNotExist):
			failed = cmp.Or(failed, err)
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, cmp.Or(err, failed)
}
