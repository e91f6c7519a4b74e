package confine

import (
	"io"
	"io/fs"
	"path"
)

// A File is an open regular file. Its methods are safe for concurrent use. Read and Seek
// share one position.
type File struct {
	content content
	info    Info
	dir     string // name of the directory, for errors
	name    string // name in the directory
}

// Info returns the metadata of the open file at the time of opening.
func (f *File) Info() Info { return f.info }

// Stat returns the current metadata of the open file. A file that another file has replaced
// stays open, with its own metadata.
func (f *File) Stat() (Info, error) {
	info, err := f.content.stat()
	if err != nil {
		return Info{}, f.failure("stat", err)
	}
	return info, nil
}

// Read implements io.Reader.
func (f *File) Read(p []byte) (int, error) {
	n, err := f.content.Read(p)
	return n, f.failure("read", err)
}

// ReadHead reads from the current position until buf is full or the file ends. The end of
// the file is no error.
func (f *File) ReadHead(buf []byte) (n int, err error) { return readHead(f, buf) }

func readHead(r io.Reader, buf []byte) (n int, err error) {
	n, err = io.ReadFull(r, buf)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	return n, err
}

// ReadAt implements io.ReaderAt. For a file of an fs.FS without ReadAt, the error is
// fs.ErrPermission. A filesystem that does not support ReadAt can return another error.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 {
		return 0, f.failure("read", fs.ErrInvalid)
	}
	n, err := f.content.ReadAt(p, off)
	return n, f.failure("read", err)
}

// Seek implements io.Seeker. For a file of an fs.FS without Seek, the error is
// fs.ErrPermission.
func (f *File) Seek(offset int64, whence int) (int64, error) {
	n, err := f.content.Seek(offset, whence)
	return n, f.failure("seek", err)
}

// Close releases the file. Later calls fail with fs.ErrClosed.
func (f *File) Close() error { return f.failure("close", f.content.Close()) }

func (f *File) failure(op string, err error) error {
	if err == io.EOF {
		return err
	}
	if err == nil {
		return nil // without a join of the names
	}
	return failure(op, path.Join(f.dir, f.name), err)
}
