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
	"math"
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

// List ranges over the reports of a command in the order of [Compare]. A missing directory has no
// reports. List omits symbolic links, directories, and files whose names Save would not choose.
//
// An error is ctx.Err(), which ends the range, or a [*DirectoryError].
func (d *Directory) List(ctx context.Context, stem string) iter.Seq2[File, error] {
	return d.inside(func(top *confine.Dir, yield func(File, error) bool) {
		d.newest(ctx, math.MaxInt, top, stem, yield)
	})
}

// Newest ranges over the newest n reports of each command whose stem wanted accepts. For each
// directory that cannot be read, Newest yields a [*DirectoryError] and continues with the reports
// read so far. The other rules of List apply.
func (d *Directory) Newest(
	ctx context.Context, n int, wanted func(stem string) bool,
) iter.Seq2[File, error] {
	return d.inside(func(top *confine.Dir, yield func(File, error) bool) {
		var stems []string
		err := top.Each(ctx, func(stem string, _ fs.FileMode) error {
			if wanted(stem) {
				stems = append(stems, stem)
			}
			return nil
		})
		if err != nil && !d.fail(ctx, d.Name, err, yield) {
			return
		}
		for _, stem := range stems {
			if !d.newest(ctx, n, top, stem, yield) {
				return
			}
		}
	})
}

// inside calls list with the open directory, unless the directory is missing or not configured.
func (d *Directory) inside(
	list func(top *confine.Dir, yield func(File, error) bool),
) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		if d.FS == nil {
			return
		}
		top, err := d.FS.OpenDir(d.Path)
		switch {
		case err == nil:
			defer top.Close()
			list(top, yield)
		case !errors.Is(err, fs.ErrNotExist):
			yield(File{}, &DirectoryError{d.Name, err})
		}
	}
}

// fail yields an error of a directory with a name, and reports whether the range continues.
func (d *Directory) fail(
	ctx context.Context, name string, err error, yield func(File, error) bool,
) bool {
	if ctx.Err() != nil {
		yield(File{}, ctx.Err())
		return false
	}
	return yield(File{}, &DirectoryError{name, err})
}

// newest yields the newest n reports of a command, and reports whether the range continues.
func (d *Directory) newest(
	ctx context.Context, n int, top *confine.Dir, stem string, yield func(File, error) bool,
) bool {
	var found []File
	keep := func() {
		slices.SortFunc(found, func(a, b File) int { return Compare(a.Info, b.Info) })
		found = found[:min(n, len(found))]
	}
	dir, err := top.OpenDir(stem)
	if err == nil {
		defer dir.Close()
		err = dir.Each(ctx, func(name string, typ fs.FileMode) error {
			report, ok := ParseFileName(stem, name)
			if !ok || report.Local != d.Local || typ != 0 && typ != confine.TypeUnknown {
				return nil
			}
			found = append(found, File{Info: report, Stem: stem, FileName: name, dir: dir})
			if len(found)/2 > n {
				keep()
			}
			return nil
		})
	}
	keep()
	at := path.Join(d.Name, stem)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !d.fail(ctx, at, err, yield) {
		return false
	}
	for _, f := range found {
		f.Path = d.path(stem, f.FileName)
		f.Stat, err = dir.Lstat(f.FileName)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && !f.Stat.Mode.IsRegular():
			continue
		case err != nil && !d.fail(ctx, at, err, yield), err == nil && !yield(f, nil):
			return false
		}
	}
	return true
}

func (d *Directory) path(stem, name string) string {
	return d.FS.Path(path.Join(d.Path, stem, name))
}

// Names are the names of the directories that a program configures; "" is no directory.
type Names struct{ Shared, Local string }

// Configured reports whether the program configures a directory.
func (n Names) Configured() bool { return n.Shared != "" || n.Local != "" }

// Directories are the opened directories. The FS of a directory is nil if the program does not
// configure the directory.
type Directories struct{ Shared, Local Directory }

// Open opens the directories.
func (d *Directories) Open(n Names, locate func(dir string) (*confine.FS, string), onOS bool) {
	var writing sync.Locker
	if !onOS {
		writing = new(sync.Mutex)
	}
	d.Shared, d.Local = Directory{Name: n.Shared}, Directory{Name: n.Local, Local: true}
	for _, each := range d.Both() {
		if each.Writing = writing; each.Name != "" {
			each.FS, each.Path = locate(each.Name)
		}
	}
}

// Both returns the shared and the local directory.
func (d *Directories) Both() []*Directory { return []*Directory{&d.Shared, &d.Local} }

// Named returns the directories that the program configures.
func (d *Directories) Named() []*Directory {
	return slices.DeleteFunc(d.Both(), func(each *Directory) bool { return each.FS == nil })
}
