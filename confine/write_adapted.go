package confine

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// doing calls do with the full path of a name.
func (d *adaptedDir) doing(name string, do func(full string) error) error {
	if d.closed.Load() {
		return fs.ErrClosed
	}
	return do(path.Join(d.at, name))
}

func (d *adaptedDir) mkdir(name string) error {
	return d.doing(name, func(full string) error { return d.fs.Mkdir(full, 0o755) })
}

// create first checks that the name is free, because a filesystem may have two forms of a path
// or may ignore O_EXCL.
func (d *adaptedDir) create(name string) (file newFile, err error) {
	if err := free(d, name); err != nil {
		return nil, err
	}
	err = d.doing(name, func(full string) (err error) {
		file, err = d.fs.OpenFile(full, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		return err
	})
	return file, err
}

// renameNew is not supported by afero.Fs.
func (d *adaptedDir) renameNew(from, to string) error { return errors.ErrUnsupported }

func (d *adaptedDir) rename(from, to string) error {
	return d.doing(from, func(full string) error { return d.fs.Rename(full, path.Join(d.at, to)) })
}

func (d *adaptedDir) remove(name string) error {
	return d.doing(name, d.fs.Remove)
}

// sync ignores errors: most filesystems cannot sync a directory, and their errors differ.
func (d *adaptedDir) sync() error {
	if dir, err := d.fs.Open(d.at); err == nil {
		dir.Sync()
		dir.Close()
	}
	return nil
}
