package confine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// A rootDir is a directory as an os.Root, which every platform supports.
//
// An os.Root follows links that stay below the root, but a dirHandle must not follow links.
// Therefore a rootDir calls Lstat for a name, opens the file, and compares both files. If
// the files differ, the rootDir tries again. A lost race is not an escape, because os.Root
// allows no escape.
type rootDir struct {
	root   *os.Root
	closed atomic.Bool
}

func openRootDir(dir string, list bool) (dirHandle, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		// The error of os.OpenRoot for a file matches no sentinel.
		if fi, statErr := os.Stat(dir); statErr == nil && !fi.IsDir() {
			err = ErrNotDir
		}
		return nil, err
	}
	if runtime.GOOS == "windows" {
		// os.OpenRoot opens the directory without FILE_SHARE_DELETE, and other programs then
		// cannot rename or remove the directory. Root.OpenRoot shares all access.
		shared, err := root.OpenRoot(".")
		root.Close()
		if err != nil {
			return nil, err
		}
		root = shared
	}
	d := &rootDir{root: root}
	if list {
		return d.toList()
	}
	return d, nil
}

// opened is an open file of an os.Root.
type opened interface {
	comparable
	io.Closer
}

// openSame opens a file of the wanted kind.
func openSame[T opened](d *rootDir, name string, wanted func(fs.FileInfo) error,
	open func(name string) (T, error), stat func(T) (fs.FileInfo, error)) (what T, fi fs.FileInfo, err error) {
	var none T
	if err := d.checkSpelling(name); err != nil {
		return none, nil, err
	}
	failed := errChanged
	for range attempts {
		before, err := d.root.Lstat(name)
		switch {
		case err != nil:
			return none, nil, err
		case before.Mode()&fs.ModeSymlink != 0:
			return none, nil, ErrSymlink
		}
		if err := wanted(before); err != nil {
			return none, nil, err
		}
		what, err := open(name)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
			return none, nil, err
		}
		if err != nil {
			// For example, the error of os.Root for a link created after Lstat.
			failed = err
			continue
		}
		after, err := stat(what)
		if err == nil && os.SameFile(before, after) {
			return what, after, nil
		}
		what.Close()
		if err != nil {
			return none, nil, err
		}
	}
	return none, nil, failed
}

func wantDir(fi fs.FileInfo) error {
	if !fi.IsDir() {
		return ErrNotDir
	}
	return nil
}

func wantRegular(fi fs.FileInfo) error {
	if !fi.Mode().IsRegular() {
		return ErrNotRegular
	}
	return nil
}

func (d *rootDir) child(name string) (dirHandle, error) {
	// If a named pipe has replaced the directory, OpenRoot of the bare name would open
	// the pipe and wait. The suffix "/." requires a directory.
	open := func(name string) (*os.Root, error) { return d.root.OpenRoot(name + "/.") }
	stat := func(root *os.Root) (fs.FileInfo, error) { return root.Stat(".") }
	root, _, err := openSame(d, name, wantDir, open, stat)
	if err != nil {
		return nil, err
	}
	return &rootDir{root: root}, nil
}

func (d *rootDir) openDir(name string) (dirHandle, error) {
	child, err := d.child(name)
	if err == nil {
		return child.(*rootDir).toList()
	}
	if !errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	// The names may be readable without search permission.
	list, _, openErr := d.open(name, wantDir)
	if openErr != nil {
		return nil, err
	}
	return &namesDir{list: list}, nil
}

// toList checks that the directory can be listed.
func (d *rootDir) toList() (dirHandle, error) {
	list, err := d.root.Open(".")
	if err != nil {
		d.close()
		return nil, err
	}
	list.Close()
	return d, nil
}

func (d *rootDir) openFile(name string) (content, Info, error) {
	file, fi, err := d.open(name, wantRegular)
	if err != nil {
		return nil, Info{}, err
	}
	return rootFile{file}, infoOf(fi), nil
}

// A rootFile is a regular file as an os.File.
type rootFile struct{ *os.File }

func (f rootFile) stat() (Info, error) {
	fi, err := f.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(fi), nil
}

func (d *rootDir) open(name string, wanted func(fs.FileInfo) error) (*os.File, fs.FileInfo, error) {
	open := func(name string) (*os.File, error) { return d.root.OpenFile(name, os.O_RDONLY|nonblock, 0) }
	return openSame(d, name, wanted, open, (*os.File).Stat)
}

func (d *rootDir) readHead(name string, buf []byte) (int, Info, error) {
	return readHeadOf(d, name, buf)
}

func (d *rootDir) lstat(name string, _ bool) (Info, error) {
	if err := d.checkSpelling(name); err != nil {
		return Info{}, err
	}
	fi, err := d.root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return infoOf(fi), nil
}

func (d *rootDir) readLink(name string) (string, error) {
	if err := d.checkSpelling(name); err != nil {
		return "", err
	}
	return d.root.Readlink(name)
}

func (d *rootDir) each(visit func(name []byte, typ fs.FileMode) bool) error {
	list, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer list.Close()
	return eachName(list, visit)
}

// eachName reads only names, except on Windows, because types would cost a system call for
// each entry. A single entry without metadata would then lose the whole listing.
func eachName(list *os.File, visit func(name []byte, typ fs.FileMode) bool) error {
	const batch = 1024
	var buf []byte
	for {
		var names []string
		var entries []fs.DirEntry
		var err error
		if runtime.GOOS == "windows" {
			entries, err = list.ReadDir(batch)
		} else {
			names, err = list.Readdirnames(batch)
		}
		for _, entry := range entries {
			buf = append(buf[:0], entry.Name()...)
			if !visit(buf, entry.Type()) {
				return nil
			}
		}
		for _, name := range names {
			buf = append(buf[:0], name...)
			if !visit(buf, TypeUnknown) {
				return nil
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (d *rootDir) close() error {
	if d.closed.Swap(true) {
		return fs.ErrClosed
	}
	return d.root.Close()
}

// A namesDir is a directory without search permission: only its names can be read.
type namesDir struct {
	list    *os.File
	listing sync.Mutex // held by each: the file has one position
}

func (d *namesDir) child(string) (dirHandle, error)            { return nil, d.denied() }
func (d *namesDir) openDir(string) (dirHandle, error)          { return nil, d.denied() }
func (d *namesDir) openFile(string) (content, Info, error)     { return nil, Info{}, d.denied() }
func (d *namesDir) readHead(string, []byte) (int, Info, error) { return 0, Info{}, d.denied() }
func (d *namesDir) readLink(string) (string, error)            { return "", d.denied() }

func (d *namesDir) lstat(name string, _ bool) (Info, error) {
	if name != "." {
		return Info{}, d.denied()
	}
	fi, err := d.list.Stat()
	if err != nil {
		return Info{}, err
	}
	return infoOf(fi), nil
}

func (d *namesDir) each(visit func(name []byte, typ fs.FileMode) bool) error {
	d.listing.Lock()
	defer d.listing.Unlock()
	if _, err := d.list.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return eachName(d.list, visit)
}

func (d *namesDir) close() error { return d.list.Close() }

// denied returns fs.ErrPermission, or an error if the directory is closed.
func (d *namesDir) denied() error {
	if _, err := d.list.Stat(); err != nil {
		return err
	}
	return fs.ErrPermission
}
