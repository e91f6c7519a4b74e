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

// An adaptedDir is a directory of a filesystem given to Over. The methods of the filesystem take
// full names, so an adaptedDir holds no open file. Each method checks a file before opening the
// file.
//
// In an fs.FS over a remote store, each call can take milliseconds. Therefore the metadata of a
// listing replaces a call for each entry. In an fs.FS without links, no call looks at the
// directories of a name before the use of the name.
type adaptedDir struct {
	fs     *adapted
	at     string // path on the filesystem
	seen   bool   // a listing or a stat has shown the directory
	closed atomic.Bool

	// Of an fs.FS.
	unread  atomic.Pointer[[]fs.DirEntry] // the listing of openDir, for the first call of each
	entries atomic.Pointer[[]fs.DirEntry] // the last listing, sorted by name
}

// adapted is a filesystem given to Over, and its support for links.
type adapted struct {
	afero.Fs
	io       fs.FS                                  // of an afero.FromIOFS, or nil
	heads    headFS                                 // nil unless io knows heads
	lstat    func(full string) (fs.FileInfo, error) // of a link, if links is set
	readLink func(full string) (text string, err error)
	links    bool // lstat distinguishes links from their targets
	// spellings is set if "a" and "/a" are different keys of the same tree. If one form
	// of a path does not exist, look then tries the other form.
	spellings bool
}

// A headFS knows the frontmatter of its files without reading them; see docs/stores.md.
type headFS interface {
	ReadHead(name string) ([]byte, fs.FileInfo, error)
}

func newAdapted(fsys afero.Fs) *adapted {
	_, isMemory := fsys.(*afero.MemMapFs)
	f := &adapted{Fs: fsys, lstat: fsys.Stat, spellings: isMemory}
	unreadable := afero.ErrNoReadlink
	switch fsys := fsys.(type) {
	case afero.FromIOFS:
		f.io, unreadable = fsys.FS, fs.ErrInvalid
	case *afero.FromIOFS:
		f.io, unreadable = fsys.FS, fs.ErrInvalid
	}
	f.readLink = func(string) (string, error) { return "", unreadable }
	f.heads, _ = f.io.(headFS)
	if l, ok := f.io.(fs.ReadLinkFS); ok {
		f.lstat, f.readLink, f.links = l.Lstat, l.ReadLink, true
	}
	if l, ok := fsys.(afero.Lstater); ok {
		f.links = !isMemory
		f.lstat = func(full string) (fs.FileInfo, error) {
			fi, _, err := l.LstatIfPossible(full)
			return fi, err
		}
	}
	if l, ok := fsys.(afero.LinkReader); ok {
		f.readLink = l.ReadlinkIfPossible
	}
	return f
}

func (f *adapted) open(dir string, list bool) (dirHandle, error) {
	d := &adaptedDir{fs: f, at: dir, seen: f.io != nil && dir == "."}
	if !f.unlinked() && !d.seen {
		// The path of the root may contain links.
		full, fi, err := f.look(dir, f.Fs.Stat)
		switch {
		case err != nil:
			return nil, err
		case !fi.IsDir():
			return nil, ErrNotDir
		}
		d.at, d.seen = full, true
	}
	if list {
		return d, d.list()
	}
	return d, nil
}

// unlinked reports whether no file can be a link.
func (f *adapted) unlinked() bool { return f.io != nil && !f.links }

// look returns the form of a path that exists, and its metadata.
func (f *adapted) look(full string,
	stat func(string) (fs.FileInfo, error)) (string, fs.FileInfo, error) {
	fi, err := stat(full)
	if err == nil || !f.spellings || !errors.Is(err, fs.ErrNotExist) {
		return full, fi, err
	}
	other, absolute := strings.CutPrefix(full, "/")
	if !absolute {
		other = "/" + full
	}
	if fi, err := stat(other); err == nil {
		return other, fi, nil
	}
	return full, nil, err
}

// info is infoOf. Some stores do not know the mode of a file, and report fs.ModeIrregular for every
// file.
func (f *adapted) info(fi fs.FileInfo) Info {
	info := infoOf(fi)
	if f.io != nil && info.Mode.Type() == fs.ModeIrregular {
		info.Mode &^= fs.ModeIrregular
		info.Size = max(fi.Size(), 0)
	}
	return info
}

// typeOf returns the type of an entry of a listing. Some filesystems also return permission bits.
func (f *adapted) typeOf(entry fs.DirEntry) fs.FileMode {
	switch typ := entry.Type().Type(); {
	case typ != fs.ModeIrregular:
		return typ
	case f.io != nil:
		return 0
	default:
		return TypeUnknown
	}
}

// readDir returns entries of the type fs.ModeIrregular if the filesystem knows the types only with
// the metadata of each entry. With metadata, a single entry without metadata would lose the whole
// listing.
func (f *adapted) readDir(dir string) (entries []fs.DirEntry, err error) {
	list, err := f.Fs.Open(dir)
	if err != nil {
		return nil, err
	}
	defer list.Close()
	if l, ok := list.(fs.ReadDirFile); ok {
		return l.ReadDir(-1)
	}
	names, err := list.Readdirnames(-1)
	for _, name := range names {
		untyped := fileInfo{name, Info{Mode: fs.ModeIrregular}}
		entries = append(entries, fs.FileInfoToDirEntry(untyped))
	}
	return entries, err
}

// read reads the directory in one call, because an afero.MemMapFs panics if a file is removed
// between two calls.
func (d *adaptedDir) read() ([]fs.DirEntry, error) {
	if d.fs.io == nil {
		return d.fs.readDir(d.at)
	}
	entries, err := fs.ReadDir(d.fs.io, d.at)
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

// list reads the directory of an fs.FS for the first call of each, and opens and closes any other
// directory. Therefore opening an unreadable directory fails, as on a disk.
func (d *adaptedDir) list() error {
	if d.fs.io == nil {
		list, err := d.fs.Open(d.at)
		if err != nil {
			return err
		}
		return list.Close()
	}
	entries, err := d.read()
	d.unread.Store(&entries)
	return err
}

// explain returns ErrNotDir for an error that a file in place of a directory has caused.
func (d *adaptedDir) explain(err error) error {
	if d.seen {
		return err
	}
	for at := d.at; at != "."; at = path.Dir(at) {
		fi, statErr := fs.Stat(d.fs.io, at)
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
func (d *adaptedDir) entry(name string) fs.DirEntry {
	entries := d.entries.Load()
	if entries == nil {
		return nil
	}
	compare := func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) }
	i, ok := slices.BinarySearchFunc(*entries, name, compare)
	if !ok {
		return nil
	}
	return (*entries)[i]
}

// look describes the entry at a full path, and returns the form of the path that exists.
func (d *adaptedDir) look(at string) (full string, info Info, err error) {
	full, fi, err := d.fs.look(at, d.fs.lstat)
	if err != nil {
		return full, info, d.explain(err)
	}
	if at == d.at && d.fs.io != nil && !fi.IsDir() {
		return full, info, ErrNotDir
	}
	return full, d.fs.info(fi), nil
}

// find returns the full path and the type of an entry. If neither a listing nor a stat is necessary
// before the use of the name, known is false.
func (d *adaptedDir) find(name string) (full string, typ fs.FileMode, known bool, err error) {
	if d.closed.Load() {
		return "", 0, false, fs.ErrClosed
	}
	full = path.Join(d.at, name)
	if e := d.entry(name); e != nil {
		typ = d.fs.typeOf(e)
	} else if d.fs.unlinked() {
		return full, 0, false, nil
	} else {
		var info Info
		full, info, err = d.look(full)
		typ = info.Mode.Type()
	}
	if typ&fs.ModeSymlink != 0 {
		err = ErrSymlink
	}
	return full, typ, err == nil, err
}

func (d *adaptedDir) child(name string) (dirHandle, error) {
	full, typ, known, err := d.find(name)
	switch {
	case err != nil:
		return nil, err
	case known && typ != fs.ModeDir:
		return nil, ErrNotDir
	}
	return &adaptedDir{fs: d.fs, at: full, seen: known}, nil
}

// openDir reads the directory, unless a listing has shown the directory.
func (d *adaptedDir) openDir(name string) (dirHandle, error) {
	child, err := d.child(name)
	if err != nil || d.entry(name) != nil {
		return child, err
	}
	return child, child.(*adaptedDir).list()
}

func (d *adaptedDir) openFile(name string) (content, Info, error) {
	file, err := d.open(name)
	if err != nil {
		return nil, Info{}, err
	}
	info, err := file.regular(nil)
	if err != nil {
		file.Close()
		return nil, Info{}, err
	}
	return file, info, nil
}

// readHead describes the file of an fs.FS after the read, because an fs.FS may request the file
// with the first read.
func (d *adaptedDir) readHead(name string, buf []byte) (int, Info, error) {
	if d.fs.io == nil {
		return readHeadOf(d, name, buf)
	}
	if d.fs.heads != nil && !d.closed.Load() {
		head, fi, err := d.fs.heads.ReadHead(path.Join(d.at, name))
		switch {
		case errors.Is(err, errors.ErrUnsupported): // read the file
		case err != nil:
			return 0, Info{}, d.explain(err)
		default:
			info := d.fs.info(fi)
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
	info, err := file.regular(err)
	return n, info, err
}

func (d *adaptedDir) open(name string) (*adaptedFile, error) {
	full, typ, _, err := d.find(name)
	switch {
	case err != nil:
		return nil, err
	case typ != 0:
		return nil, ErrNotRegular
	}
	var file fs.File
	if d.fs.io != nil {
		file, err = d.fs.io.Open(full)
	} else {
		file, err = d.fs.Open(full)
	}
	if err != nil {
		return nil, d.explain(err)
	}
	return &adaptedFile{fs: d.fs, file: file}, nil
}

func (d *adaptedDir) lstat(name string, _ bool) (Info, error) {
	if d.closed.Load() {
		return Info{}, fs.ErrClosed
	}
	e := d.entry(name)
	if e == nil {
		_, info, err := d.look(path.Join(d.at, name))
		return info, err
	}
	fi, err := e.Info()
	if err != nil {
		return Info{}, err
	}
	return d.fs.info(fi), nil
}

func (d *adaptedDir) readLink(name string) (string, error) {
	return d.fs.readLink(path.Join(d.at, name))
}

func (d *adaptedDir) each(visit func(name []byte, typ fs.FileMode) bool) error {
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
		if !visit(buf, d.fs.typeOf(entry)) {
			return nil
		}
	}
	return err
}

func (d *adaptedDir) close() error {
	if d.closed.Swap(true) {
		return fs.ErrClosed
	}
	return nil
}
