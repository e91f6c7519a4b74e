package confine

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/spf13/afero"
)

// An ioDir is a directory of an fs.FS. The methods of an fs.FS take full names, so an ioDir
// holds no open file.
//
// In an fs.FS over a remote store, each call can take milliseconds. Therefore the metadata
// of a listing replaces a call for each entry. Without links, no call looks at the
// directories of a name before the use of the name.
type ioDir struct {
	fs     *ioFS
	at     string // name in the fs.FS
	seen   bool   // a listing or a stat has shown the directory
	closed atomic.Bool

	unread  atomic.Pointer[[]fs.DirEntry] // the listing of openDir, for the first call of each
	entries atomic.Pointer[[]fs.DirEntry] // the last listing, sorted by name
}

// An ioFS is an fs.FS and its support for links.
type ioFS struct {
	fs.FS
	links fs.ReadLinkFS // nil if no file can be a link
	heads headFS        // nil if the fs.FS knows no heads
}

// A headFS knows the frontmatter of its files without reading them; see docs/stores.md.
type headFS interface {
	ReadHead(name string) ([]byte, fs.FileInfo, error)
}

// newIOFS returns the fs.FS of an afero.FromIOFS, or nil for any other afero.Fs.
func newIOFS(fsys afero.Fs) *ioFS {
	f := new(ioFS)
	switch fsys := fsys.(type) {
	case afero.FromIOFS:
		f.FS = fsys.FS
	case *afero.FromIOFS:
		f.FS = fsys.FS
	}
	if f.FS == nil {
		return nil
	}
	f.links, _ = f.FS.(fs.ReadLinkFS)
	f.heads, _ = f.FS.(headFS)
	return f
}

func (f *ioFS) open(dir string, list bool) (dirHandle, error) {
	d := &ioDir{fs: f, at: dir, seen: dir == "."}
	if f.links != nil && !d.seen {
		// The path of the root may contain links.
		fi, err := fs.Stat(f.FS, dir)
		switch {
		case err != nil:
			return nil, err
		case !fi.IsDir():
			return nil, ErrNotDir
		}
		d.seen = true
	}
	if list {
		return d, d.list()
	}
	return d, nil
}

// lstat describes a link, if the filesystem can, or else the target.
func (f *ioFS) lstat(full string) (fs.FileInfo, error) {
	if f.links != nil {
		return f.links.Lstat(full)
	}
	return fs.Stat(f.FS, full)
}

// read reads the directory.
func (d *ioDir) read() ([]fs.DirEntry, error) {
	entries, err := fs.ReadDir(d.fs.FS, d.at)
	byName := func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) }
	if !slices.IsSortedFunc(entries, byName) {
		entries = slices.SortedFunc(slices.Values(entries), byName)
	}
	d.entries.Store(&entries)
	if err != nil {
		return entries, d.explain(err)
	}
	d.seen = true
	return entries, nil
}

// list reads the directory for the first call of each. Therefore opening an unreadable
// directory fails, as on a disk.
func (d *ioDir) list() error {
	entries, err := d.read()
	d.unread.Store(&entries)
	return err
}

// explain returns ErrNotDir for an error that a file in place of a directory has caused.
func (d *ioDir) explain(err error) error {
	if d.seen {
		return err
	}
	for at := d.at; at != "."; at = path.Dir(at) {
		fi, statErr := fs.Stat(d.fs.FS, at)
		switch {
		case statErr == nil && !fi.IsDir():
			return ErrNotDir
		case statErr == nil || !errors.Is(statErr, fs.ErrNotExist):
			return err
		}
	}
	return err
}

// entry returns an entry of the last listing, or nil.
func (d *ioDir) entry(name string) fs.DirEntry {
	entries := d.entries.Load()
	if entries == nil {
		return nil
	}
	i, ok := slices.BinarySearchFunc(*entries, name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
	if !ok {
		return nil
	}
	return (*entries)[i]
}

// typeOf returns the type of an entry. If neither a listing nor a stat is necessary
// before the use of the name, known is false.
func (d *ioDir) typeOf(name string) (typ fs.FileMode, known bool, err error) {
	if d.closed.Load() {
		return 0, false, fs.ErrClosed
	}
	if e := d.entry(name); e != nil {
		return ioType(e.Type()), true, nil
	}
	if d.fs.links == nil {
		return 0, false, nil
	}
	info, err := d.lstat(name, false)
	return info.Mode.Type(), err == nil, err
}

// ioType returns the type bits of a file. Some stores do not know the mode of a file, and
// report fs.ModeIrregular for every file.
func ioType(mode fs.FileMode) fs.FileMode {
	if mode = mode.Type(); mode == fs.ModeIrregular {
		return 0
	}
	return mode
}

func ioInfo(fi fs.FileInfo) Info {
	info := infoOf(fi)
	if info.Mode.Type() == fs.ModeIrregular {
		info.Mode &^= fs.ModeIrregular
		info.Size = max(fi.Size(), 0)
	}
	return info
}

func (d *ioDir) child(name string) (dirHandle, error) {
	typ, known, err := d.typeOf(name)
	switch {
	case err != nil:
		return nil, err
	case known && typ == fs.ModeSymlink:
		return nil, ErrSymlink
	case known && typ != fs.ModeDir:
		return nil, ErrNotDir
	}
	return &ioDir{fs: d.fs, at: path.Join(d.at, name), seen: known}, nil
}

// openDir reads the directory, unless a listing has shown the directory.
func (d *ioDir) openDir(name string) (dirHandle, error) {
	child, err := d.child(name)
	if err != nil || d.entry(name) != nil {
		return child, err
	}
	return child, child.(*ioDir).list()
}

func (d *ioDir) openFile(name string) (content, Info, error) {
	file, err := d.open(name)
	if err != nil {
		return nil, Info{}, err
	}
	info, err := d.regular(file, nil)
	if err != nil {
		file.Close()
		return nil, Info{}, err
	}
	return file, info, nil
}

// readHead describes the file after the read, because an fs.FS may request the file with
// the first read.
func (d *ioDir) readHead(name string, buf []byte) (int, Info, error) {
	if d.fs.heads != nil && !d.closed.Load() {
		head, fi, err := d.fs.heads.ReadHead(path.Join(d.at, name))
		switch {
		case errors.Is(err, errors.ErrUnsupported): // read the file
		case err != nil:
			return 0, Info{}, d.explain(err)
		default:
			info := ioInfo(fi)
			if !info.Mode.IsRegular() {
				return 0, Info{}, ErrNotRegular
			}
			return copy(buf, head), info, nil
		}
	}
	file, err := d.open(name)
	if err != nil {
		return 0, Info{}, err
	}
	defer file.Close()
	n, err := file.readHead(buf)
	info, err := d.regular(file, err)
	return n, info, err
}

func (d *ioDir) open(name string) (*adaptedFile, error) {
	typ, _, err := d.typeOf(name)
	switch {
	case err != nil:
		return nil, err
	case typ == fs.ModeSymlink:
		return nil, ErrSymlink
	case typ != 0:
		return nil, ErrNotRegular
	}
	file, err := d.fs.Open(path.Join(d.at, name))
	if err != nil {
		return nil, d.explain(err)
	}
	return &adaptedFile{file: file}, nil
}

// regular returns the metadata of an open file. If the file is regular, the error is the
// error of the read.
func (d *ioDir) regular(file *adaptedFile, read error) (Info, error) {
	fi, err := file.file.Stat()
	if err != nil {
		return Info{}, err
	}
	info := ioInfo(fi)
	if !info.Mode.IsRegular() {
		return Info{}, ErrNotRegular
	}
	return info, read
}

func (d *ioDir) lstat(name string, _ bool) (Info, error) {
	if d.closed.Load() {
		return Info{}, fs.ErrClosed
	}
	var fi fs.FileInfo
	var err error
	if e := d.entry(name); e != nil {
		fi, err = e.Info()
	} else if fi, err = d.fs.lstat(path.Join(d.at, name)); err != nil {
		err = d.explain(err)
	}
	switch {
	case err != nil:
		return Info{}, err
	case name == "." && !fi.IsDir():
		return Info{}, ErrNotDir
	}
	return ioInfo(fi), nil
}

func (d *ioDir) readLink(name string) (string, error) {
	if d.fs.links == nil {
		return "", fs.ErrInvalid
	}
	return d.fs.links.ReadLink(path.Join(d.at, name))
}

func (d *ioDir) each(visit func(name []byte, typ fs.FileMode) bool) error {
	if d.closed.Load() {
		return fs.ErrClosed
	}
	var entries []fs.DirEntry
	var err error
	if unread := d.unread.Swap(nil); unread != nil {
		entries = *unread
	} else {
		entries, err = d.read()
	}
	var buf []byte
	for _, entry := range entries {
		name := entry.Name()
		if checkElement(name) != nil {
			continue // the names in an archive can be invalid
		}
		buf = append(buf[:0], name...)
		if !visit(buf, ioType(entry.Type())) {
			return nil
		}
	}
	return err
}

func (d *ioDir) close() error {
	if d.closed.Swap(true) {
		return fs.ErrClosed
	}
	return nil
}
