package blob

import (
	"io"
	"io/fs"
	"time"

	gocloud "gocloud.dev/blob"
)

// A file is an open file. The content has the version of the metadata.
type file struct {
	store *Store
	info  fs.FileInfo
	name  string
	body  io.ReadCloser // of Read; nil before the first Read
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *file) Read(p []byte) (int, error) {
	if f.body == nil {
		body, err := f.get(0, -1)
		if err != nil {
			return 0, err
		}
		f.body = body
	}
	n, err := f.body.Read(p)
	if err != nil && err != io.EOF {
		err = pathError("read", f.name, err)
	}
	return n, err
}

func (f *file) ReadAt(p []byte, offset int64) (int, error) {
	n := min(int64(len(p)), f.info.Size()-offset)
	switch {
	case offset < 0:
		return 0, pathError("read", f.name, fs.ErrInvalid)
	case len(p) == 0:
		return 0, nil
	case n <= 0:
		return 0, io.EOF
	}
	body, err := f.get(offset, n)
	if err != nil {
		return 0, err
	}
	defer body.Close()
	read, err := io.ReadFull(body, p[:n])
	switch {
	case err != nil:
		err = pathError("read", f.name, err)
	case read < len(p):
		err = io.EOF
	}
	return read, err
}

func (f *file) Close() error {
	if f.body == nil {
		return nil
	}
	return f.body.Close()
}

// get requests n bytes of the version in the metadata, or all bytes if n is negative.
func (f *file) get(offset, n int64) (io.ReadCloser, error) {
	var opts gocloud.ReaderOptions
	versions := f.store.opts.Versions
	version := f.info.(interface{ Version() string }).Version()
	if versions.Match != nil && version != "" {
		opts.BeforeRead = func(as func(any) bool) error {
			versions.Match(as, version)
			return nil
		}
	}
	body, err := f.store.bucket.NewRangeReader(f.store.ctx, f.store.prefix+f.name, offset, n, &opts)
	if err != nil {
		return nil, pathError("read", f.name, err)
	}
	changed := body.Size() != f.info.Size() || !sameTime(body.ModTime(), f.info.ModTime())
	if versions.Of != nil {
		changed = versions.Of(body.As) != version // some servers ignore the condition
	}
	if changed {
		body.Close()
		return nil, pathError("read", f.name, ErrChanged)
	}
	return body, nil
}

// sameTime reports whether two modification times can be equal. Some servers report whole
// seconds with an object, and milliseconds in a listing.
func sameTime(a, b time.Time) bool {
	return a.Equal(b) || a.Nanosecond()*b.Nanosecond() == 0 && a.Unix() == b.Unix()
}
