package blob

import (
	"context"
	"fmt"
	"io"
	"io/fs"

	gocloud "gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

// A file is an open file, whose content has the version of the metadata: one request for each call
// of ReadAt, and one for all calls of Read. ReadAt is safe for concurrent use.
type file struct {
	store *Store
	name  string // that the caller opened
	info  fs.FileInfo
	body  io.ReadCloser // of Read; nil before the first Read
}

func (f *file) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close closes the response to the request of Read.
func (f *file) Close() error {
	if f.body == nil {
		return nil
	}
	return f.body.Close()
}

func (f *file) Read(p []byte) (n int, err error) {
	if f.body == nil {
		body, err := f.store.read(f.name, f.info, 0, -1)
		if err != nil {
			return 0, f.error(err)
		}
		f.body = body
	}
	if n, err = f.body.Read(p); err != nil && err != io.EOF {
		err = f.error(err)
	}
	return n, err
}

// ReadAt requests the bytes of p.
func (f *file) ReadAt(p []byte, offset int64) (n int, err error) {
	size := min(int64(len(p)), f.info.Size()-offset)
	switch {
	case offset < 0:
		return 0, f.error(fs.ErrInvalid)
	case size > 0:
		body, err := f.store.read(f.name, f.info, offset, size)
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

func (f *file) error(err error) error { return &fs.PathError{Op: "read", Path: f.name, Err: err} }

// read requests size bytes of the version in the metadata, or all bytes if size is negative.
func (s *Store) read(name string, info fs.FileInfo, offset, size int64) (io.ReadCloser, error) {
	versions := s.opts.Versions
	version := info.(interface{ Version() string }).Version()
	var opts gocloud.ReaderOptions
	conditional := false
	if versions.Match != nil && version != "" {
		opts.BeforeRead = func(as func(any) bool) error {
			conditional = true
			versions.Match(as, version)
			return nil
		}
	}
	r, err := s.request(name, offset, size, &opts)
	if conditional && gcerrors.Code(err) == gcerrors.FailedPrecondition { // a closed bucket has this code too
		return nil, fmt.Errorf("%w: %w", ErrChanged, err)
	}
	if err != nil {
		return nil, expected(err)
	}
	changed := r.Size() != info.Size() || r.ModTime().Unix() != info.ModTime().Unix()
	if versions.Of != nil {
		changed = versions.Of(r.As) != version // some servers ignore the condition
	}
	if changed {
		r.Close()
		return nil, ErrChanged
	}
	return r, nil
}

// A response is the content of an object.
type response struct {
	*gocloud.Reader
	end context.CancelFunc
}

// request requests size bytes of the current version, or all bytes if size is negative.
func (s *Store) request(name string, offset, size int64, opts *gocloud.ReaderOptions) (*response, error) {
	ctx, end := tree.Limit(s.ctx, s.opts.Timeout)
	r, err := s.bucket.NewRangeReader(ctx, s.prefix+name, offset, size, opts)
	if err != nil {
		end()
		return nil, err
	}
	return &response{r, end}, nil
}

func (r *response) Close() error {
	defer r.end()
	return r.Reader.Close()
}
