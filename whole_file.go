package toolshelf

import (
	"io"
	"io/fs"
	"slices"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/index"
)

// readFile reads a regular file up to the size limit.
func (c *Catalog) readFile(fsys *confine.FS, name string) ([]byte, confine.Info, error) {
	f, err := fsys.OpenRegular(name)
	if err != nil {
		return nil, confine.Info{}, err
	}
	defer f.Close()
	raw, err := c.readOpen(f)
	return raw, f.Info(), err
}

// readOpen reads an open file up to the size limit.
func (c *Catalog) readOpen(f *confine.File) ([]byte, error) {
	size := f.Info().Size
	if size > c.config.maxFileSize {
		return nil, index.ErrTooLarge
	}
	// The reported size is a hint: a file can grow, and a filesystem can report any
	// size. Beyond readStep, memory therefore grows with the bytes read.
	raw := make([]byte, 0, min(size, readStep)+1)
	for !c.sharedClosed() {
		n, err := f.Read(raw[len(raw) : len(raw)+min(cap(raw)-len(raw), readStep)])
		raw = raw[:len(raw)+n]
		switch {
		case int64(len(raw)) > c.config.maxFileSize:
			return nil, index.ErrTooLarge
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
