package confine

import (
	"io"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// An fdFile is a regular file as a file descriptor. An os.File would register the descriptor
// with the poller. The registration costs a system call and is useless for regular files.
type fdFile struct {
	descriptor
	changeTimes bool // see hasChangeTimes
}

func (f *fdFile) Read(p []byte) (int, error) {
	return f.read(p, func() (int, error) { return unix.Read(f.fd, p) })
}

func (f *fdFile) ReadAt(p []byte, off int64) (n int, err error) {
	for n < len(p) && err == nil {
		var more int
		rest := p[n:]
		more, err = f.read(rest, func() (int, error) { return unix.Pread(f.fd, rest, off+int64(n)) })
		n += more
	}
	return n, err
}

func (f *fdFile) read(p []byte, call func() (int, error)) (int, error) {
	if !f.use() {
		return 0, fs.ErrClosed
	}
	defer f.done()
	n, err := retry(call)
	switch {
	case err != nil:
		return 0, err
	case n == 0 && len(p) > 0:
		return 0, io.EOF
	default:
		return n, nil
	}
}

func (f *fdFile) Seek(offset int64, whence int) (int64, error) {
	if !f.use() {
		return 0, fs.ErrClosed
	}
	defer f.done()
	return unix.Seek(f.fd, offset, whence)
}

func (f *fdFile) stat() (Info, error) {
	if !f.use() {
		return Info{}, fs.ErrClosed
	}
	defer f.done()
	info, err := fstat(f.fd)
	if !f.changeTimes {
		info.Changed = time.Time{}
	}
	return info, err
}

func (f *fdFile) Close() error { return f.close() }
