// Package access opens the directories and the files of a scan, tells a watch what the scan reads,
// and records accesses, so that a later scan finds out whether the results are the same.
package access

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
	"github.com/toolshelf-go/toolshelf/internal/watch"
)

// A Source is the filesystem of a scan.
type Source struct {
	Context context.Context
	FS      *confine.FS
	Remote  bool          // a call can be a request
	Reads   int           // number of files to read at the same time from a slow filesystem
	Opened  *atomic.Int64 // counts the files that the scan opens
	Tops    *Tops         // in a layer with plugins; otherwise nil
	Watch   *watch.Watch  // nil if the layer is not watched
	Look    *watch.Look   // nil without an Observer

	Unsettled atomic.Bool // the metadata of the directories do not show every new file
}

// Visit watches a directory. A scan calls Visit before the scan reads the directory.
func (s *Source) Visit(dirPath string) {
	if s.Watch == nil && s.Look == nil {
		return
	}
	dir := s.FS.Path(dirPath)
	s.Watch.Visit(dir)
	s.Look.Whole(dir)
}

// FollowedLink records that the result of the scan depends on the target of a
// link.
func (s *Source) FollowedLink() {
	s.Unsettled.Store(true)
	s.Watch.Unwatched()
	s.Look.Fail()
}

// confined returns the filesystem for accesses below a directory.
func (s *Source) confined(dir string) *confine.FS {
	if dir == "." {
		return s.FS
	}
	return s.FS.Within(dir)
}

// OpenBelow opens a directory below the open directory with the path top. If a link is on the way,
// the error is confine.ErrSymlink.
func OpenBelow(dir *confine.Dir, top, dirPath string) (*confine.Dir, error) {
	if top != "." {
		dirPath = dirPath[len(top)+1:]
	}
	return dir.OpenBelow(dirPath)
}

// IsBelow reports whether a path is below the directory top.
func IsBelow(top, file string) bool {
	return top == "." && file != "." || strings.HasPrefix(file, top+"/")
}

// Dirs opens files near each other with few system calls.
type Dirs struct {
	*Source
	last *confine.Dir // the last opened directory, or nil
	path string       // of last
}

// Open opens a directory, which stays open until the next call of Open or Close.
func (d *Dirs) Open(within, dirPath string) (*confine.Dir, error) {
	if d.last != nil && d.path == dirPath {
		return d.last, nil
	}
	d.Close()
	if dirPath == within && d.Tops != nil {
		d.Tops.hold(path.Dir(dirPath))
	}
	last, err := d.openDir(d.confined(within), dirPath)
	if err == nil {
		d.last, d.path = last, dirPath
	}
	return last, err
}

// Close closes the open directory.
func (d *Dirs) Close() {
	if d.last != nil {
		d.last.Close()
	}
	d.last = nil
}

// in calls do with the directory of a file, or if a link is on the way, returns confine.ErrSymlink.
func (d *Dirs) in(file string, do func(dir *confine.Dir) error) error {
	dirPath := path.Dir(file)
	near := openedDir{d.last, d.path}
	switch {
	case d.last != nil && dirPath == d.path:
		return do(d.last)
	case d.last == nil || !IsBelow(d.path, dirPath):
		if d.Tops == nil {
			return confine.ErrSymlink
		}
		if near = d.Tops.above(file); near.dir == nil {
			return confine.ErrSymlink
		} else if near.path == dirPath {
			return do(near.dir)
		}
	}
	dir, err := OpenBelow(near.dir, near.path, dirPath)
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(dir)
}

// openFile opens a regular file.
func (d *Dirs) openFile(within, file string) (f *confine.File, err error) {
	err = d.in(file, func(dir *confine.Dir) (err error) {
		f, err = dir.OpenRegular(path.Base(file))
		return err
	})
	if errors.Is(err, confine.ErrSymlink) {
		d.FollowedLink()
		return d.confined(within).OpenRegular(file)
	}
	return f, err
}

// Info describes a file, or the target of a link.
func (d *Dirs) Info(within, file string) (info confine.Info, err error) {
	err = d.in(file, func(dir *confine.Dir) (err error) {
		info, err = dir.Lstat(path.Base(file))
		return err
	})
	if errors.Is(err, confine.ErrSymlink) || info.Mode&fs.ModeSymlink != 0 {
		d.FollowedLink()
		return d.confined(within).Info(file)
	}
	return info, err
}

// OpenDir opens a directory, if possible below an open directory of the layer.
func (s *Source) OpenDir(dirPath string) (*confine.Dir, error) { return s.openDir(s.FS, dirPath) }

func (s *Source) openDir(fsys *confine.FS, dirPath string) (*confine.Dir, error) {
	if s.Tops != nil {
		if top := s.Tops.above(dirPath); top.dir != nil {
			dir, err := OpenBelow(top.dir, top.path, dirPath)
			if !errors.Is(err, confine.ErrSymlink) {
				return dir, err
			}
			s.FollowedLink()
		}
	}
	return fsys.OpenDir(dirPath)
}

// Tops are the open directory of a layer and a few open directories of plugins below.
type Tops struct {
	mu   sync.Mutex
	dirs []openedDir // the directory of the layer first
}

// NewTops returns the open directory of a layer.
func NewTops(dir *confine.Dir, dirPath string) *Tops {
	return &Tops{dirs: []openedDir{{dir, dirPath}}}
}

type openedDir struct {
	dir  *confine.Dir
	path string
}

// maxOpenDirs bounds the descriptors.
const maxOpenDirs = 8

// layer returns the directory of the layer.
func (o *Tops) layer() openedDir {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dirs[0]
}

// above returns the deepest open directory above a path, if any.
func (o *Tops) above(dirPath string) (deepest openedDir) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, d := range o.dirs {
		if IsBelow(d.path, dirPath) && (deepest.dir == nil || IsBelow(deepest.path, d.path)) {
			deepest = d
		}
	}
	return deepest
}

// hold opens a directory until close, because the scan opens more directories below.
func (o *Tops) hold(dirPath string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	top := o.dirs[0]
	known := slices.ContainsFunc(o.dirs, func(d openedDir) bool { return d.path == dirPath })
	if known || len(o.dirs) == maxOpenDirs || !IsBelow(top.path, dirPath) {
		return
	}
	if dir, err := OpenBelow(top.dir, top.path, dirPath); err == nil {
		o.dirs = append(o.dirs, openedDir{dir, dirPath})
	}
}

// Close closes the directories, except the directory of the layer.
func (o *Tops) Close() {
	if o == nil {
		return
	}
	for _, d := range o.dirs[1:] {
		d.dir.Close()
	}
}

// A ListedDir is a directory before a scan has listed the directory.
type ListedDir struct {
	Path  string
	Stamp stamp.Stamp
}

// Below is path.Join for a clean path and a single name.
func Below(dirPath, name string) string {
	if dirPath == "." {
		return name
	}
	return dirPath + "/" + name
}
