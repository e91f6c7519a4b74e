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

// file returns an open file, whose content has the version of the metadata.
func (s *Store) file(name string, info fs.FileInfo, body io.ReadCloser) fs.File {
	return &tree.Ranged{Name: name, Info: info, Body: body, Get: func(offset, size int64) (io.ReadCloser, error) {
		return s.read(name, info, offset, size)
	}}
}

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
