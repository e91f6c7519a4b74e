package index

import (
	"io"
	"io/fs"
	"slices"

	"github.com/toolshelf-go/toolshelf/confine"
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
	c, size := &x.config, f.Info().Size
	if size > c.MaxFileSize {
		return nil, ErrTooLarge
	}
	// The reported size is a hint: a file can grow, and a filesystem can report any
	// size. Beyond readStep, memory therefore grows with the bytes read.
	raw := make([]byte, 0, min(size, readStep)+1)
	for c.Lifetime.Err() == nil {
		n, err := f.Read(raw[len(raw) : len(raw)+min(cap(raw)-len(raw), readStep)])
		raw = raw[:len(raw)+n]
		switch {
		case int64(len(raw)) > c.MaxFileSize:
			return nil, ErrTooLarge
		case err == io.EOF:
			return raw, nil
		case err != nil:
			return nil, err
		}
		if len(raw) == cap(raw) {
			rest := max(size+1-int64(len(raw)), 1)
			raw = slices.Grow(raw, int(min(rest, int64(len(raw)))))
		}
	}
	return nil, fs.ErrClosed
}

// readStep is the number of bytes read between two checks whether the catalog was
// closed.
const readStep = 16 << 20
