// Package access opens the directories and the files of a scan, tells a watch what the scan reads,
// and records accesses, so that a later scan finds out whether the results are the same.
package access

import (
	"context"
	"errors"
	"io"
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
	Top     Top           // in a layer with plugins
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
	return dir.OpenBelow(FromTop(top, dirPath))
}

// FromTop returns the path of a file relative to a directory, which has the file or is the file.
func FromTop(top, file string) string {
	switch top {
	case ".":
		return file
	case file:
		return "."
	}
	return file[len(top)+1:]
}

// IsBelow reports whether a path is below the directory top.
func IsBelow(top, file string) bool {
	return top == "." && file != "." || strings.HasPrefix(file, top+"/")
}

// Dirs opens files near each other with few system calls.
type Dirs struct {
	*Source
	last   *confine.Dir // the last opened directory, or nil
	path   string       // of last
	linked bool         // a link can be on the way to last
}

// Open opens a directory, which stays open until the next call of Open or Close. If a link can be
// on the way, linked is true.
func (d *Dirs) Open(within, dirPath string) (dir *confine.Dir, linked bool, err error) {
	switch {
	case d.Top.dir != nil && dirPath == d.Top.path:
		return d.Top.dir, false, nil
	case d.last != nil && d.path == dirPath:
		return d.last, d.linked, nil
	}
	d.Close()
	if dir, linked, err = d.openDir(d.confined(within), dirPath); err == nil {
		d.last, d.path, d.linked = dir, dirPath, linked
	}
	return dir, linked, err
}

// Close closes the open directory.
func (d *Dirs) Close() {
	if d.last != nil {
		d.last.Close()
	}
	d.last = nil
}

// near returns an open directory above a file, if any.
func (d *Dirs) near(file string) Top {
	if d.last != nil && IsBelow(d.path, file) {
		return Top{d.last, d.path}
	}
	return d.Top.above(file)
}

// in calls do with the directory of a file, or if a link is on the way, returns confine.ErrSymlink.
func (d *Dirs) in(file string, do func(dir *confine.Dir) error) error {
	near, dirPath := d.near(file), path.Dir(file)
	switch near.path {
	case "":
		return confine.ErrSymlink
	case dirPath:
		return do(near.dir)
	}
	dir, err := OpenBelow(near.dir, near.path, dirPath)
	if err != nil {
		return err
	}
	defer dir.Close()
	return do(dir)
}

// readHead reads the first bytes of a regular file.
func (d *Dirs) readHead(within, file string, buf []byte) (n int, info confine.Info, err error) {
	err = confine.ErrSymlink
	if near := d.near(file); near.dir != nil {
		if below, base := path.Split(FromTop(near.path, file)); below == "" {
			n, info, err = near.dir.ReadHead(base, buf)
		} else {
			n, info, err = near.dir.ReadHeadBelow(below[:len(below)-1], base, buf)
		}
	}
	if errors.Is(err, confine.ErrSymlink) {
		d.FollowedLink()
		return ReadHead(d.confined(within), file, buf)
	}
	return n, info, err
}

var heads = sync.Pool{New: func() any { return new([4 << 10]byte) }}

// readFile reads a regular file of at most limit bytes. A larger file is ErrTooLarge.
func (d *Dirs) readFile(within, file string, limit int64) ([]byte, confine.Info, error) {
	if !d.Remote { // a small file needs no File, and its directory is not opened
		buf := heads.Get().(*[4 << 10]byte)
		defer heads.Put(buf)
		n, info, err := d.readHead(within, file, buf[:])
		switch {
		case err != nil:
			return nil, info, err
		case info.Size > limit:
			return nil, info, ErrTooLarge
		case info.Size == int64(n) &&
			(n < len(buf) || !info.Changed.IsZero()): // the end, or a size that is known
			return append(make([]byte, 0, n), buf[:n]...), info, nil
		}
	}
	var opened *confine.File
	err := d.in(file, func(dir *confine.Dir) (err error) {
		opened, err = dir.OpenRegular(path.Base(file))
		return err
	})
	if errors.Is(err, confine.ErrSymlink) {
		d.FollowedLink()
		opened, err = d.confined(within).OpenRegular(file)
	}
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer opened.Close()
	data, err := ReadOpen(d.Context, opened, limit)
	return data, opened.Info(), err
}

// readStep is the number of bytes read between two looks at a context.
const readStep = 16 << 20

// ReadOpen reads an open file of at most limit bytes. A larger file is ErrTooLarge. On a local disk,
// the size is known, and ReadOpen makes no call at the end. Elsewhere the size is a hint: a file can
// grow, and a filesystem can report any size. Beyond readStep, memory grows with the bytes read.
func ReadOpen(ctx context.Context, f *confine.File, limit int64) ([]byte, error) {
	size, known := f.Info().Size, !f.Info().Changed.IsZero()
	if size > limit {
		return nil, ErrTooLarge
	}
	raw := make([]byte, 0, min(size, readStep)+1)
	for ctx.Err() == nil {
		n, err := f.Read(raw[len(raw) : len(raw)+min(cap(raw)-len(raw), readStep)])
		raw = raw[:len(raw)+n]
		switch {
		case int64(len(raw)) > limit:
			return nil, ErrTooLarge
		case err == io.EOF, err == nil && known && int64(len(raw)) == size:
			return raw, nil
		case err != nil:
			return nil, err
		}
		if len(raw) == cap(raw) {
			rest := max(size+1-int64(len(raw)), 1)
			raw = slices.Grow(raw, int(min(rest, int64(len(raw)))))
		}
	}
	return nil, ctx.Err()
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

// ReadHead reads the first bytes of a regular file.
func ReadHead(fsys *confine.FS, file string, buf []byte) (int, confine.Info, error) {
	f, err := fsys.OpenRegular(file)
	if err != nil {
		return 0, confine.Info{}, err
	}
	defer f.Close()
	n, err := f.ReadHead(buf)
	return n, f.Info(), err
}

// Same reports whether a file, or the target of a link, has a stamp. The directories between the
// directory of the layer and the file must be unchanged.
func (s *Source) Same(within, file string, known stamp.Stamp) bool {
	if s.has(file, known) {
		return true
	}
	info, err := (&Dirs{Source: s}).Info(within, file)
	return err == nil && stamp.Of(info).Same(known)
}

// has reports whether the open directory of the layer, or a file below, has a stamp.
func (s *Source) has(file string, known stamp.Stamp) bool {
	top := s.Top
	return top.dir != nil && (file == top.path || IsBelow(top.path, file)) &&
		known.IsOf(top.dir, FromTop(top.path, file))
}

// OpenDir opens a directory, if possible below the open directory of the layer.
func (s *Source) OpenDir(dirPath string) (*confine.Dir, error) {
	dir, _, err := s.openDir(s.FS, dirPath)
	return dir, err
}

func (s *Source) openDir(fsys *confine.FS, dirPath string) (dir *confine.Dir, linked bool, err error) {
	if top := s.Top.above(dirPath); top.dir != nil {
		dir, err := OpenBelow(top.dir, top.path, dirPath)
		if !errors.Is(err, confine.ErrSymlink) {
			return dir, false, err
		}
		s.FollowedLink()
	}
	dir, err = fsys.OpenDir(dirPath)
	return dir, true, err
}

// A Top is the open directory of a layer. The zero Top has no directory.
type Top struct {
	dir  *confine.Dir
	path string
}

// NewTop returns the open directory of a layer.
func NewTop(dir *confine.Dir, dirPath string) Top { return Top{dir, dirPath} }

// above returns the Top if the directory is above a path, and otherwise the zero Top.
func (t Top) above(file string) Top {
	if t.dir == nil || !IsBelow(t.path, file) {
		return Top{}
	}
	return t
}

// A ListedDir is a directory before a scan has listed the directory.
type ListedDir struct {
	Path  string
	Stamp stamp.Stamp
}

// Below is path.Join for clean paths.
func Below(dirPath, name string) string {
	switch "." {
	case dirPath:
		return name
	case name:
		return dirPath
	}
	return dirPath + "/" + name
}
