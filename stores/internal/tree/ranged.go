package tree

import (
	"io"
	"io/fs"
)

// A Ranged is an open file whose content is requested in ranges: one request for each call of
// ReadAt, and one for all calls of Read. ReadAt is safe for concurrent use.
type Ranged struct {
	Name string // that the caller opened
	Info fs.FileInfo

	// Get requests size bytes, or all bytes if size is negative.
	Get func(offset, size int64) (io.ReadCloser, error)

	Body io.ReadCloser // of Read; nil before the first Read
}

// Stat returns Info.
func (f *Ranged) Stat() (fs.FileInfo, error) { return f.Info, nil }

// Close closes the response to the request of Read.
func (f *Ranged) Close() error {
	if f.Body == nil {
		return nil
	}
	return f.Body.Close()
}

// Read reads the next bytes of the content.
func (f *Ranged) Read(p []byte) (n int, err error) {
	if f.Body == nil {
		if f.Body, err = f.Get(0, -1); err != nil {
			f.Body = nil
			return 0, f.error(err)
		}
	}
	if n, err = f.Body.Read(p); err != nil && err != io.EOF {
		err = f.error(err)
	}
	return n, err
}

// ReadAt requests the bytes of p.
func (f *Ranged) ReadAt(p []byte, offset int64) (n int, err error) {
	size := min(int64(len(p)), f.Info.Size()-offset)
	switch {
	case offset < 0:
		return 0, f.error(fs.ErrInvalid)
	case size > 0:
		body, err := f.Get(offset, size)
		if err != nil {
			return 0, f.error(err)
		}
		defer body.Close()
		if n, err = io.ReadFull(body, p[:size]); err != nil {
			return n, f.error(err)
		}
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

func (f *Ranged) error(err error) error { return &fs.PathError{Op: "read", Path: f.Name, Err: err} }
