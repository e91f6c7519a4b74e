package index

import (
	"io/fs"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/access"
)

// ReadFile reads a regular file up to the size limit.
func (x *Index) ReadFile(fsys *confine.FS, name string) ([]byte, confine.Info, error) {
	return x.readAndClose(fsys.OpenRegular(name))
}

// readAndClose is ReadFile for the results of an open.
func (x *Index) readAndClose(f *confine.File, err error) ([]byte, confine.Info, error) {
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer f.Close()
	raw, err := x.ReadOpen(f)
	return raw, f.Info(), err
}

// ReadOpen reads an open file up to the size limit.
func (x *Index) ReadOpen(f *confine.File) ([]byte, error) {
	raw, err := access.ReadOpen(x.config.Lifetime, f, x.config.MaxFileSize)
	if err != nil && x.config.Lifetime.Err() != nil {
		err = fs.ErrClosed
	}
	return raw, err
}
