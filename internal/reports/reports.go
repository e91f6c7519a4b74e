// Package reports names, saves and lists the reports of commands.
//
// A [Directory] holds the reports of all commands. Each command has a subdirectory
// that is named by the [Stem] of the command.
package reports

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf/confine"
)

// A Directory holds the shared reports or the local reports of all commands.
type Directory struct {
	FS    *confine.FS // nil if no directory is configured
	Path  string      // below the root of FS
	Name  string      // for errors
	Local bool        // the reports are local, not shared

	// Writing, if not nil, is locked during a write. A filesystem in memory needs the
	// lock if it does not create files exclusively.
	Writing sync.Locker
}

// A File is a saved report. The methods of a File are valid only until the
// iterator that returned the File continues.
type File struct {
	Info
	Stem     string
	FileName string
	Path     string       // the full path on the filesystem
	Stat     confine.Info // of the file

	dir *confine.Dir
}

// ReadHead reads the first len(buf) bytes of the report, and returns the metadata of the
// file at the time of the read.
func (f *File) ReadHead(buf []byte) (n int, info confine.Info, err error) {
	return f.dir.ReadHead(f.FileName, buf)
}

// A DirectoryError is the failure of a directory, and not of a report in the
// directory.
type DirectoryError struct {
	Name string // Directory.Name, followed by the stem if the subdirectory failed
	Err  error
}

func (e *DirectoryError) Error() string { return e.Name + ": " + e.Err.Error() }
func (e *DirectoryError) Unwrap() error { return e.Err }

// maxVersions is the highest version. Only a hostile directory has more reports with the
// same name in the same second.
const maxVersions = 9999

// Save writes a report under the first free version. Save creates missing
// directories, then calls now for the time of the report. If a directory cannot be
// opened or created, the error is a [*DirectoryError].
func (d *Directory) Save(ctx context.Context, stem, name, content string, now func() time.Time) (File, error) {
	if d.Writing != nil {
		d.Writing.Lock()
		defer d.Writing.Unlock()
	}
	if err := ctx.Err(); err != nil {
		return File{}, err
	}
	dir, err := d.makeDir(stem)
	if err != nil {
		return File{}, err
	}
	defer dir.Close()
	report := Info{Name: name, Time: now().UTC(), Local: d.Local}
	var file string
	for report.Version = 1; report.Version <= maxVersions; report.Version++ {
		file = FileName(stem, report)
		if err = dir.WriteNew(ctx, file, content); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	if err != nil {
		return File{}, err
	}
	return File{Info: report, Stem: stem, FileName: file, Path: d.path(stem, file)}, nil
}

// makeDir opens the subdirectory of a command, and creates missing directories. A
// symbolic link in place of the subdirectory is an error.
func (d *Directory) makeDir(stem string) (*confine.Dir, error) {
	top, err := d.FS.MakeDir(d.Path)
	if err != nil {
		return nil, &DirectoryError{d.Name, err}
	}
	defer top.Close()
	dir, err := top.MakeDir(stem)
	if err != nil {
		return nil, &DirectoryError{path.Join(d.Name, stem), err}
	}
	return dir, nil
}

// List ranges over the reports of a command in no particular order. A missing
// directory has no reports. List omits symbolic links, directories, and files whose names
// Save would not choose.
//
// An error ends the range. The error is ctx.Err() or a [*DirectoryError].
func (d *Directory) List(ctx context.Context, stem string) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		top, err := d.open()
		if top == nil {
			if err != nil {
				yield(File{}, err)
			}
			return
		}
		defer top.Close()
		dir, err := openExisting(func() (*confine.Dir, error) { return top.OpenDir(stem) })
		if err == nil && dir != nil {
			defer dir.Close()
			err = d.each(ctx, dir, stem, func(file File) error {
				switch ok, err := d.stat(&file); {
				case err != nil:
					return err
				case ok && !yield(file, nil):
					return errStop
				}
				return nil
			})
		}
		switch {
		case err == nil || err == errStop:
		case err == ctx.Err():
			yield(File{}, err)
		default:
			yield(File{}, &DirectoryError{path.Join(d.Name, stem), err})
		}
	}
}

var errStop = errors.New("the range has ended")

// Newest ranges over the newest n reports of each command whose stem wanted
// accepts. Newest orders the reports of one command by [Compare]. Newest omits
// reports that cannot be read.
//
// For each directory that cannot be read, Newest yields a [*DirectoryError] and
// continues with the reports read so far. The end of ctx ends the range without an
// error.
func (d *Directory) Newest(ctx context.Context, n int, wanted func(stem string) bool) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		top, err := d.open()
		if err != nil {
			yield(File{}, err)
		}
		if top == nil {
			return
		}
		defer top.Close()
		var stems []string
		err = top.Each(ctx, func(stem string, _ fs.FileMode) error {
			if wanted(stem) {
				stems = append(stems, stem)
			}
			return nil
		})
		if err != nil && ctx.Err() == nil && !yield(File{}, &DirectoryError{d.Name, err}) {
			return
		}
		for _, stem := range stems {
			if ctx.Err() != nil || !d.newest(ctx, n, top, stem, yield) {
				return
			}
		}
	}
}

// newest is Newest for a single command. If the range has ended, newest returns
// false.
func (d *Directory) newest(ctx context.Context, n int, top *confine.Dir, stem string, yield func(File, error) bool) bool {
	var newest []File
	dir, err := top.OpenDir(stem)
	if err == nil {
		defer dir.Close()
		err = d.each(ctx, dir, stem, func(file File) error {
			i, _ := slices.BinarySearchFunc(newest, file, func(a, b File) int { return Compare(a.Info, b.Info) })
			if i < n {
				newest = slices.Insert(newest, i, file)
				newest = newest[:min(len(newest), n)]
			}
			return nil
		})
	}
	if err != nil && ctx.Err() == nil && !yield(File{}, &DirectoryError{path.Join(d.Name, stem), err}) {
		return false
	}
	for i := range newest {
		if ok, err := d.stat(&newest[i]); ok && err == nil && !yield(newest[i], nil) {
			return false
		}
	}
	return true
}

// open opens the directory, or returns nil if the directory is missing or not configured.
func (d *Directory) open() (*confine.Dir, error) {
	if d.FS == nil {
		return nil, nil
	}
	dir, err := openExisting(func() (*confine.Dir, error) { return d.FS.OpenDir(d.Path) })
	if err != nil {
		return nil, &DirectoryError{d.Name, err}
	}
	return dir, nil
}

// openExisting calls open and returns nil for a missing directory.
func openExisting(open func() (*confine.Dir, error)) (*confine.Dir, error) {
	dir, err := open()
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return nil, err
	}
	return dir, nil
}

// each calls visit for each file that has the name of a report of this
// directory, in no particular order. If the filesystem reports types, each omits
// links and directories. Path and Stat of the files are not set.
func (d *Directory) each(ctx context.Context, dir *confine.Dir, stem string, visit func(File) error) error {
	return dir.Each(ctx, func(name string, typ fs.FileMode) error {
		report, ok := ParseFileName(stem, name)
		if !ok || report.Local != d.Local || typ != 0 && typ != confine.TypeUnknown {
			return nil
		}
		return visit(File{Info: report, Stem: stem, FileName: name, dir: dir})
	})
}

// stat sets Path and Stat. If the file is gone or not a regular file, stat
// returns false.
func (d *Directory) stat(f *File) (regular bool, err error) {
	f.Path = d.path(f.Stem, f.FileName)
	f.Stat, err = f.dir.Lstat(f.FileName)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil && f.Stat.Mode.IsRegular(), err
}

func (d *Directory) path(stem, name string) string {
	return d.FS.Path(path.Join(d.Path, stem, name))
}
