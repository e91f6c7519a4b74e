package confine

import (
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/afero"
)

// An adaptedDir is a directory of an afero.Fs. The methods of an afero.Fs take full paths,
// so an adaptedDir holds no open file. Each method checks a file before opening the file.
type adaptedDir struct {
	fs     *adapted
	at     string // path on the filesystem
	closed atomic.Bool
}

// adapted is an afero.Fs and its support for links.
type adapted struct {
	afero.Fs
	io *ioFS // the fs.FS of an afero.FromIOFS; nil for other filesystems
	// spellings is set if "a" and "/a" are different keys of the same tree. If one form
	// of a path does not exist, look then tries the other form.
	spellings bool
}

func newAdapted(fsys afero.Fs) *adapted {
	_, isMemory := fsys.(*afero.MemMapFs)
	return &adapted{Fs: fsys, io: newIOFS(fsys), spellings: isMemory}
}

func (f *adapted) open(dir string, list bool) (dirHandle, error) {
	if f.io != nil {
		return f.io.open(dir, list)
	}
	full, fi, err := f.look(dir, f.Fs.Stat)
	switch {
	case err != nil:
		return nil, err
	case !fi.IsDir():
		return nil, ErrNotDir
	}
	d := &adaptedDir{fs: f, at: full}
	if list {
		return d, d.canList()
	}
	return d, nil
}

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

// lstat describes a link, if the filesystem can, or else the target.
func (f *adapted) lstat(full string) (fs.FileInfo, error) {
	if l, ok := f.Fs.(afero.Lstater); ok {
		fi, _, err := l.LstatIfPossible(full)
		return fi, err
	}
	return f.Fs.Stat(full)
}

func (f *adapted) readLink(full string) (string, error) {
	if l, ok := f.Fs.(afero.LinkReader); ok {
		return l.ReadlinkIfPossible(full)
	}
	return "", afero.ErrNoReadlink
}

// tellsLinks reports whether lstat distinguishes links from their targets.
func (f *adapted) tellsLinks() bool {
	_, lstater := f.Fs.(afero.Lstater)
	return f.io != nil && f.io.links != nil || lstater && !f.spellings
}

// find looks at an entry and returns its full path.
func (d *adaptedDir) find(name string) (string, fs.FileInfo, error) {
	if d.closed.Load() {
		return "", nil, fs.ErrClosed
	}
	return d.fs.look(path.Join(d.at, name), d.fs.lstat)
}

func (d *adaptedDir) child(name string) (dirHandle, error) {
	full, fi, err := d.find(name)
	switch {
	case err != nil:
		return nil, err
	case fi.Mode()&fs.ModeSymlink != 0:
		return nil, ErrSymlink
	case !fi.IsDir():
		return nil, ErrNotDir
	}
	return &adaptedDir{fs: d.fs, at: full}, nil
}

func (d *adaptedDir) openDir(name string) (dirHandle, error) {
	dir, err := d.child(name)
	if err != nil {
		return nil, err
	}
	return dir, dir.(*adaptedDir).canList()
}

// canList opens and closes the directory, so that opening an unreadable directory fails, as
// on a disk.
func (d *adaptedDir) canList() error {
	list, err := d.fs.Open(d.at)
	if err != nil {
		return err
	}
	return list.Close()
}

func (d *adaptedDir) openFile(name string) (content, Info, error) {
	full, fi, err := d.find(name)
	switch {
	case err != nil:
		return nil, Info{}, err
	case fi.Mode()&fs.ModeSymlink != 0:
		return nil, Info{}, ErrSymlink
	case !regular(fi):
		return nil, Info{}, ErrNotRegular
	}
	file, err := d.fs.Open(full)
	if err != nil {
		return nil, Info{}, err
	}
	fi, err = file.Stat()
	if err == nil && !regular(fi) {
		err = ErrNotRegular
	}
	if err != nil {
		file.Close()
		return nil, Info{}, err
	}
	return &adaptedFile{file: file}, infoOf(fi), nil
}

func regular(fi fs.FileInfo) bool { return fi.Mode().IsRegular() && !fi.IsDir() }

func (d *adaptedDir) readHead(name string, buf []byte) (int, Info, error) {
	return readHeadOf(d, name, buf)
}

func (d *adaptedDir) lstat(name string, _ bool) (Info, error) {
	_, fi, err := d.find(name)
	if err != nil {
		return Info{}, err
	}
	return infoOf(fi), nil
}

func (d *adaptedDir) readLink(name string) (string, error) {
	return d.fs.readLink(path.Join(d.at, name))
}

// each reads the directory in one call, because an afero.MemMapFs panics if a file is removed
// between two calls.
func (d *adaptedDir) each(visit func(name []byte, typ fs.FileMode) bool) error {
	if d.closed.Load() {
		return fs.ErrClosed
	}
	names, entries, err := d.fs.readDir(d.at)
	var buf []byte
	see := func(name string, typ fs.FileMode) bool {
		// The names in an archive can be invalid.
		if checkElement(name) != nil {
			return true
		}
		buf = append(buf[:0], name...)
		return visit(buf, typ)
	}
	for _, entry := range entries {
		if !see(entry.Name(), entry.Type()) {
			return nil
		}
	}
	for _, name := range names {
		if !see(name, TypeUnknown) {
			return nil
		}
	}
	return err
}

// readDir returns entries if the filesystem knows their types without reading the metadata
// of each entry, or else names. With metadata, a single entry without metadata would lose
// the whole listing.
func (f *adapted) readDir(dir string) (names []string, entries []fs.DirEntry, err error) {
	list, err := f.Fs.Open(dir)
	if err != nil {
		return nil, nil, err
	}
	defer list.Close()
	if l, ok := list.(fs.ReadDirFile); ok {
		entries, err = l.ReadDir(-1)
		return nil, entries, err
	}
	names, err = list.Readdirnames(-1)
	return names, nil, err
}

func (d *adaptedDir) close() error {
	if d.closed.Swap(true) {
		return fs.ErrClosed
	}
	return nil
}

// An adaptedFile makes an afero.File or the file of an fs.FS behave like an os.File: safe
// for concurrent use, an error for every short ReadAt, no negative counts.
type adaptedFile struct {
	mu     sync.Mutex
	file   fs.File
	closed bool
}

func (f *adaptedFile) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	n, err := f.file.Read(p)
	return max(n, 0), err
}

func (f *adaptedFile) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	file, ok := f.file.(io.ReaderAt)
	if !ok {
		return 0, fs.ErrPermission
	}
	n, err := file.ReadAt(p, off)
	n = max(n, 0)
	// Beyond the end, an afero.MemMapFs returns the first of these errors, and an
	// fstest.MapFS the second. The offset 0 is not beyond the end.
	if n < len(p) && (err == nil || err == io.ErrUnexpectedEOF || off > 0 && errors.Is(err, fs.ErrInvalid)) {
		err = io.EOF
	}
	return n, err
}

func (f *adaptedFile) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return 0, fs.ErrClosed
	}
	file, ok := f.file.(io.Seeker)
	if !ok {
		return 0, fs.ErrPermission
	}
	return file.Seek(offset, whence)
}

// readHead is readHead at the beginning of the file. An fs.FS over a remote store can
// request exactly the bytes of a ReadAt. After other errors than the errors of a ReadAt that
// the filesystem does not support, readHead makes no second request.
func (f *adaptedFile) readHead(buf []byte) (int, error) {
	n, err := f.ReadAt(buf, 0)
	switch {
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrInvalid), err == fs.ErrPermission:
		return readHead(f, buf)
	case err == io.EOF:
		err = nil
	}
	return n, err
}

func (f *adaptedFile) stat() (Info, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return Info{}, fs.ErrClosed
	}
	fi, err := f.file.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(fi), nil
}

func (f *adaptedFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return fs.ErrClosed
	}
	f.closed = true
	return f.file.Close()
}
