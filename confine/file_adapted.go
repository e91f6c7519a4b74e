package confine

import (
	"errors"
	"io"
	"io/fs"
	"sync"
)

// An adaptedFile makes an afero.File or the file of an fs.FS behave like an os.File: safe
// for concurrent use, an error for every short ReadAt, no negative counts.
type adaptedFile struct {
	fs   *adapted
	mu   sync.Mutex
	file fs.File
}

func (f *adaptedFile) Read(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.file.Read(p)
	return max(n, 0), err
}

func (f *adaptedFile) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, ok := f.file.(io.ReaderAt)
	if !ok {
		return 0, fs.ErrPermission
	}
	n, err := file.ReadAt(p, off)
	n = max(n, 0)
	// Beyond the end, an afero.MemMapFs returns the first of these errors, and an
	// fstest.MapFS the second. The offset 0 is not beyond the end.
	if n < len(p) &&
		(err == nil || err == io.ErrUnexpectedEOF || off > 0 && errors.Is(err, fs.ErrInvalid)) {
		err = io.EOF
	}
	return n, err
}

func (f *adaptedFile) Seek(offset int64, whence int) (int64, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	file, ok := f.file.(io.Seeker)
	if !ok {
		return 0, fs.ErrPermission
	}
	return file.Seek(offset, whence)
}

// readHead is readHead at the beginning of the file. An fs.FS over a remote store can
// request exactly the bytes of a ReadAt. After other errors than the errors of a ReadAt that
// the filesystem does not support, readHead makes no second request.
func (f *adaptedFile) readHead(buf []byte) (int, error) {
	n, err := f.ReadAt(buf, 0)
	switch {
	case errors.Is(err, errors.ErrUnsupported), errors.Is(err, fs.ErrInvalid),
		err == fs.ErrPermission:
		return readHead(f, buf)
	case err == io.EOF:
		err = nil
	}
	return n, err
}

func (f *adaptedFile) stat() (Info, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fi, err := f.file.Stat()
	if err != nil {
		return Info{}, err
	}
	return f.fs.info(fi), nil
}

// regular returns the metadata. If the file is regular, the error is the error of the read.
func (f *adaptedFile) regular(read error) (Info, error) {
	info, err := f.stat()
	switch {
	case err != nil:
		return Info{}, err
	case !info.Mode.IsRegular():
		return Info{}, ErrNotRegular
	}
	return info, read
}

func (f *adaptedFile) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	file := f.file
	f.file = closedFile{}
	return file.Close()
}

// A closedFile is the file of an adaptedFile after Close.
type closedFile struct{}

func (closedFile) Stat() (fs.FileInfo, error)        { return nil, fs.ErrClosed }
func (closedFile) Read([]byte) (int, error)          { return 0, fs.ErrClosed }
func (closedFile) ReadAt([]byte, int64) (int, error) { return 0, fs.ErrClosed }
func (closedFile) Seek(int64, int) (int64, error)    { return 0, fs.ErrClosed }
func (closedFile) Close() error                      { return fs.ErrClosed }
