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

// A rootDir is a directory held as an os.Root: what every platform has.
//
// An os.Root follows links that stay below it. A directory must not, so each
// name is looked at before it is opened, and what was opened is compared with
// what was looked at. Lost races are tried again; they are no escapes, as the
// os.Root allows none.
type rootDir struct {
	root   *os.Root
	closed atomic.Bool
}

func openRootDir(dir string, list bool) (dirHandle, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		// An os.Root of a file is an error of no kind.
		if fi, statErr := os.Stat(dir); statErr == nil && !fi.IsDir() {
			err = ErrNotDir
		}
		return nil, err
	}
	d := &rootDir{root: root}
	if list {
		return d.toList()
	}
	return d, nil
}

// opened is what an os.Root gives for a name.
type opened interface {
	comparable
	io.Closer
}

// openSame opens what name is, if it is of the kind wanted.
func openSame[T opened](d *rootDir, name string, wanted func(fs.FileInfo) error,
	open func(name string) (T, error), stat func(T) (fs.FileInfo, error)) (what T, fi fs.FileInfo, err error) {
	var none T
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
			// Such as the os.Root's own for a link that has come in between.
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
	// OpenRoot of the bare name would open, and wait for, a FIFO that has
	// taken the directory's place. With "/." the name is only gone through.
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
	// Its names may be readable though it may not be searched.
	list, _, openErr := d.open(name, wantDir)
	if openErr != nil {
		return nil, err
	}
	return &namesDir{list: list}, nil
}

// toList is d, to list: that it can be is known only when it is tried.
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
	return file, infoOf(fi), nil
}

func (d *rootDir) open(name string, wanted func(fs.FileInfo) error) (*os.File, fs.FileInfo, error) {
	open := func(name string) (*os.File, error) { return d.root.OpenFile(name, os.O_RDONLY|nonblock, 0) }
	return openSame(d, name, wanted, open, (*os.File).Stat)
}

func (d *rootDir) readHead(name string, buf []byte) (int, Info, error) {
	return readHeadOf(d, name, buf)
}

func (d *rootDir) lstat(name string) (Info, error) {
	fi, err := d.root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return infoOf(fi), nil
}

func (d *rootDir) readLink(name string) (string, error) {
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

// eachName reads names alone where types would cost a system call for each
// entry, of which a single failing one would lose the whole listing.
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

// A namesDir is a directory of which nothing may be read but the names.
type namesDir struct {
	list    *os.File
	listing sync.Mutex // held by each, as the position in the directory is one
}

func (d *namesDir) child(string) (dirHandle, error)            { return nil, d.denied() }
func (d *namesDir) openDir(string) (dirHandle, error)          { return nil, d.denied() }
func (d *namesDir) openFile(string) (content, Info, error)     { return nil, Info{}, d.denied() }
func (d *namesDir) readHead(string, []byte) (int, Info, error) { return 0, Info{}, d.denied() }
func (d *namesDir) readLink(string) (string, error)            { return "", d.denied() }

func (d *namesDir) lstat(name string) (Info, error) {
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

// denied is the permission to search, or that the directory is closed.
func (d *namesDir) denied() error {
	if _, err := d.list.Stat(); err != nil {
		return err
	}
	return fs.ErrPermission
}
