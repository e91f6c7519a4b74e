package textfile

import (
	"context"
	"io"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/stamp"
)

// A file is an open file that can be read at any offset, also if its filesystem only
// reads files in order.
type file struct {
	*confine.File
	ctx      context.Context
	open     func() (*confine.File, error)
	inOrder  bool // ReadAt of the File fails
	at       int64
	replaced bool // another file has replaced the file when ReadAt opened the file again
}

func (r Reader) open(ctx context.Context, name string) (*file, error) {
	open := func() (*confine.File, error) { return r.FS.OpenRegular(name) }
	opened, err := open()
	if err != nil {
		return nil, err
	}
	f := &file{File: opened, ctx: ctx, open: open}
	if !r.AnyOffset {
		// Filesystems without ReadAt return any error. If the file is broken, Read returns the
		// error.
		_, err := opened.ReadAt(make([]byte, 1), 0)
		f.inOrder = err != nil && err != io.EOF
	}
	return f, nil
}

// hasChanged reports whether the file changed since open.
func (f *file) hasChanged() bool {
	now, err := f.Stat()
	return err != nil || f.replaced || !stamp.SameFile(f.Info(), now)
}

// ReadAt implements io.ReaderAt. To go back in a file that can only be read in order, ReadAt
// opens the file again.
func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	if !f.inOrder {
		return f.File.ReadAt(p, offset)
	}
	if offset < f.at {
		again, err := f.open()
		if err != nil {
			return 0, err
		}
		f.replaced = f.replaced || !stamp.SameFile(f.Info(), again.Info())
		f.File.Close()
		f.File, f.at = again, 0
	}
	for f.at < offset {
		if err := f.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := io.CopyN(io.Discard, f.File, min(offset-f.at, 1<<20))
		f.at += n
		if err != nil {
			return 0, err
		}
	}
	read, err := io.ReadFull(f.File, p)
	f.at += int64(read)
	if err == io.ErrUnexpectedEOF {
		err = io.EOF
	}
	return read, err
}
