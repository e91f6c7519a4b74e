package blob

import (
	"fmt"
	"io"
	"io/fs"

	gocloud "gocloud.dev/blob"
	"gocloud.dev/gcerrors"
)

// A file is an open file. The content has the version of the metadata.
type file struct {
	store *Store
	info  fs.FileInfo
	name  string
	body  io.ReadCloser // of Read; nil before the first Read
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

func (f *file) Close() error {
	if f.body == nil {
		return nil
	}
	return f.body.Close()
}

func (f *file) Read(p []byte) (n int, err error) {
	if f.body == nil {
		if f.body, err = f.get(0, -1); err != nil {
			return 0, err
		}
	}
	if n, err = f.body.Read(p); err != nil && err != io.EOF {
		err = pathError("read", f.name, err)
	}
	return n, err
}

func (f *file) ReadAt(p []byte, offset int64) (n int, err error) {
	size := min(int64(len(p)), f.info.Size()-offset)
	switch {
	case offset < 0:
		return 0, pathError("read", f.name, fs.ErrInvalid)
	case size > 0:
		body, err := f.get(offset, size)
		if err != nil {
			return 0, err
		}
		defer body.Close()
		if n, err = io.ReadFull(body, p[:size]); err != nil {
			return n, pathError("read", f.name, err)
		}
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// get requests size bytes of the version in the metadata, or all bytes if size is negative.
func (f *file) get(offset, size int64) (io.ReadCloser, error) {
	versions := f.store.opts.Versions
	version := f.info.(interface{ Version() string }).Version()
	var opts gocloud.ReaderOptions
	conditional := false
	if versions.Match != nil && version != "" {
		opts.BeforeRead = func(as func(any) bool) error {
			conditional = true
			versions.Match(as, version)
			return nil
		}
	}
	body, err := f.store.bucket.NewRangeReader(f.store.ctx, f.store.prefix+f.name, offset, size, &opts)
	if conditional && gcerrors.Code(err) == gcerrors.FailedPrecondition { // a closed bucket has this code too
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	if err != nil {
		return nil, pathError("read", f.name, err)
	}
	changed := body.Size() != f.info.Size() || body.ModTime().Unix() != f.info.ModTime().Unix()
	if versions.Of != nil {
		changed = versions.Of(body.As) != version // some servers ignore the condition
	}
	if changed {
		body.Close()
		return nil, pathError("read", f.name, ErrChanged)
	}
	return body, nil
}
