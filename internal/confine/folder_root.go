package confine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"runtime"
)

// A rootFolder is a folder held as an os.Root: what every platform has.
//
// An os.Root follows links that stay below it. A folder must not, so each
// name is looked at before it is opened, and what was opened is compared with
// what was looked at. Lost races are errors; they are no escapes, as the
// os.Root allows none.
type rootFolder struct {
	root *os.Root
}

func openRootFolder(dir string, _ bool) (folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		// A file in place of the folder has an error of its own kind here.
		if fi, statErr := os.Stat(dir); statErr == nil && !fi.IsDir() {
			err = ErrNotDir
		}
		return nil, err
	}
	return rootFolder{root}, nil
}

// attempts is how often an open is tried when what was looked at is replaced
// before it is opened.
const attempts = 8

func (d rootFolder) child(name string) (folder, error) {
	for range attempts {
		before, err := d.root.Lstat(name)
		switch {
		case err != nil:
			return nil, err
		case before.Mode()&fs.ModeSymlink != 0:
			return nil, ErrSymlink
		case !before.IsDir():
			return nil, ErrNotDir
		}
		// OpenRoot of the bare name would open, and wait for, a FIFO that has
		// taken the folder's place. With "/." the name is only gone through.
		child, err := d.root.OpenRoot(name + "/.")
		if err != nil {
			return nil, err
		}
		after, err := child.Stat(".")
		if err == nil && os.SameFile(before, after) {
			return rootFolder{child}, nil
		}
		child.Close()
		if err != nil {
			return nil, err
		}
	}
	return nil, errChanged
}

// openDir checks that the folder can be listed, which a Root alone does not
// say on every platform.
func (d rootFolder) openDir(name string) (folder, error) {
	dir, err := d.child(name)
	if err != nil {
		return nil, err
	}
	list, err := dir.(rootFolder).root.Open(".")
	if err != nil {
		dir.close()
		return nil, err
	}
	list.Close()
	return dir, nil
}

func (d rootFolder) openFile(name string) (content, Info, error) {
	for range attempts {
		before, err := d.root.Lstat(name)
		switch {
		case err != nil:
			return nil, Info{}, err
		case before.Mode()&fs.ModeSymlink != 0:
			return nil, Info{}, ErrSymlink
		case !before.Mode().IsRegular():
			return nil, Info{}, ErrNotRegular
		}
		file, err := d.root.OpenFile(name, os.O_RDONLY|nonblock, 0)
		if err != nil {
			return nil, Info{}, err
		}
		after, err := file.Stat()
		if err == nil && os.SameFile(before, after) {
			return file, infoOf(after), nil
		}
		file.Close()
		if err != nil {
			return nil, Info{}, err
		}
	}
	return nil, Info{}, errChanged
}

func (d rootFolder) readHead(name string, buf []byte) (int, Info, error) {
	return readHeadOf(d, name, buf)
}

func (d rootFolder) lstat(name string) (Info, error) {
	fi, err := d.root.Lstat(name)
	if err != nil {
		return Info{}, err
	}
	return infoOf(fi), nil
}

func (d rootFolder) readLink(name string) (string, error) {
	return d.root.Readlink(name)
}

// each reads names alone where types would cost a system call for each entry,
// of which a single failing one would lose the whole listing.
func (d rootFolder) each(visit func(name []byte, typ fs.FileMode) bool) error {
	const batch = 1024
	dir, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	var buf []byte
	for {
		var names []string
		var entries []fs.DirEntry
		if runtime.GOOS == "windows" {
			entries, err = dir.ReadDir(batch)
		} else {
			names, err = dir.Readdirnames(batch)
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
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (d rootFolder) close() error { return d.root.Close() }
