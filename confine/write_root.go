package confine

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
)

func (d *rootDir) mkdir(name string) error { return d.root.Mkdir(name, 0o755) }

func (d *rootDir) create(name string) (newFile, error) {
	// With O_EXCL, an os.Root follows no link.
	return d.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
}

func (d *rootDir) renameNew(from, to string) error {
	if err := d.root.Link(from, to); err != nil {
		return err
	}
	d.remove(from) // if this fails, a hidden second name remains
	return nil
}

func (d *rootDir) rename(from, to string) error { return d.root.Rename(from, to) }

func (d *rootDir) remove(name string) error { return d.root.Remove(name) }

func (d *rootDir) sync() error {
	dir, err := d.root.Open(".")
	if err != nil {
		return err
	}
	defer dir.Close()
	return syncDir(dir)
}

// syncDir syncs an open directory. Windows cannot sync a directory.
func syncDir(dir *os.File) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	return ignoreNoSync(dir.Sync())
}

// ignoreNoSync ignores the error of a filesystem that cannot sync a directory.
func ignoreNoSync(err error) error {
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}

// makeOSDir is os.MkdirAll that also syncs the new names.
func makeOSDir(dir string) error {
	err := os.Mkdir(dir, 0o755)
	above := filepath.Dir(dir)
	if errors.Is(err, fs.ErrNotExist) && above != dir {
		if err := makeOSDir(above); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o755)
	}
	switch {
	case errors.Is(err, fs.ErrExist):
		return nil // another process has created the file; the caller's open checks the kind
	case err != nil:
		return err
	}
	parent, err := os.Open(above)
	if errors.Is(err, fs.ErrPermission) {
		return nil // an unreadable directory cannot be synced
	}
	if err != nil {
		return err
	}
	defer parent.Close()
	return syncDir(parent)
}
