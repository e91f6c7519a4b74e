// Package blob reads commands and skills from a bucket: S3, Google Cloud Storage, Azure
// Blob Storage, or another driver of gocloud.dev/blob. A [Store] is a filesystem for
// toolshelf.WithCommandsFS and toolshelf.WithSkillsFS.
//
// # Guarantees
//
//   - One call, one listing. A catalog asks for one snapshot per call. A snapshot lists the
//     keys, with one request for 1,000 keys. A listing of several pages is complete or
//     fails. A key that exists during the whole listing is in the snapshot. A key that is
//     written or deleted meanwhile may be in the snapshot.
//   - Freshness. A snapshot has the objects that the bucket lists at the time of the call.
//     The listings of S3, Google Cloud Storage and Azure are strongly consistent, so
//     reads see the previous writes of every client.
//   - Versions. With [Options.Versions], each version of an object is distinct, and a file
//     of a snapshot is read only in the version of the listing. If the object has changed
//     since, the error is [ErrChanged]. Without Options.Versions, the version is the MD5
//     hash and the modification time, if the driver reports both, and ErrChanged
//     reports changes of the size or the time.
//   - Unreachable bucket. A call fails with the error of the driver, or uses the last good
//     snapshot. [Options.Stale] decides.
//   - Memory. The store keeps the names, sizes, times and versions of the last snapshot, about
//     400 bytes for each key, for at most [Options.MaxKeys] keys. The store keeps no contents.
//
// # Files
//
// A slash in a key separates directories. The store omits the keys that are no path of a
// file, and passes these keys to [Options.Omitted]: keys that [io/fs.ValidPath] does not
// accept, such as "a//b" and "../x", keys that end in a slash, and keys with a NUL. If
// both "a" and "a/b" are keys, the store omits "a".
package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	gocloud "gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

// ErrChanged is the error of reading an object that has changed since the snapshot. A new
// snapshot has the new version.
var ErrChanged = errors.New("object changed after the listing: list again")

// Options are the options of a Store. The zero value reads the whole bucket.
type Options struct {
	// Dir is the directory of the bucket that is the top of the filesystem, such as
	// "team/commands". The empty string means the top of the bucket. A directory without
	// keys is empty, not missing.
	Dir string

	// Versions reads the versions of objects, and depends on the driver: s3.Versions for
	// gocloud.dev/blob/s3blob. The zero value works with every driver.
	Versions Versions

	// MaxKeys is the maximum number of keys below Dir. Zero means 200,000. A snapshot of
	// more keys fails.
	MaxKeys int

	// Stale is called if the bucket does not answer and the store has a snapshot. The
	// arguments are the error and the age of the last good snapshot. If Stale returns nil,
	// the call uses this snapshot. Otherwise the call fails with the error that Stale
	// returns. Nil means that the call fails with the original error. A missing bucket, a
	// refused permission, too many keys and an ended context of the call always fail.
	// Calls of Stale do not overlap.
	Stale func(err error, age time.Duration) error

	// Omitted is called for each key of a listing that is not a file. Nil means that the
	// store omits the keys silently. Calls of Omitted do not overlap.
	Omitted func(key string)
}

// Versions are functions that need the types of one driver. The argument as is the method As
// of a ListObject, Attributes or Reader of gocloud.dev/blob.
type Versions struct {
	// Of returns the version of an object, such as the ETag.
	Of func(as func(any) bool) string

	// Match adds a condition to a request, before the request is sent: the request fails if
	// the object has another version. The argument as belongs to ReaderOptions.BeforeRead.
	// If Match is nil, the store compares the version in the response.
	Match func(as func(any) bool, version string)
}

// A Store is a filesystem with the objects of a bucket. If [Options.Versions] is set, Open
// sends one request for an existing file; Stat always does. Other calls make a snapshot
// first. A Store is safe for concurrent use.
type Store struct {
	ctx context.Context
	*state
}

type state struct {
	*tree.Latest
	bucket *gocloud.Bucket
	prefix string // "" or a key that ends in a slash
	opts   Options
}

// New returns the objects of bucket. The caller closes the bucket after the last use of the
// store. New sends no request. The error reports an invalid Options.Dir.
func New(bucket *gocloud.Bucket, opts Options) (*Store, error) {
	opts.Dir = path.Clean(opts.Dir)
	if opts.Dir != "." && !isFile(opts.Dir) {
		return nil, fmt.Errorf("blob: invalid Dir %q: use a path below the top of the bucket", opts.Dir)
	}
	if opts.MaxKeys == 0 {
		opts.MaxKeys = 200_000
	}
	s := &state{bucket: bucket, opts: opts}
	if opts.Dir != "." {
		s.prefix = opts.Dir + "/"
	}
	s.Latest = tree.NewLatest(s.list, s.stale())
	return &Store{context.Background(), s}, nil
}

// stale adds the errors of a bucket that answers to the function of the caller.
func (s *state) stale() func(error, time.Duration) error {
	if s.opts.Stale == nil {
		return nil
	}
	return func(err error, age time.Duration) error {
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, errTooManyKeys) {
			return err
		}
		return s.opts.Stale(err, age)
	}
}

// Snapshot lists the keys and returns the files of the listing. The methods ReadDir and Stat of
// the result send no request. A file of the result sends a request for each ReadAt, and one
// request for all calls of Read. The result has a method Version, which returns an empty string if
// the driver reports no version for an object. The listing ends with the cause of ctx when
// ctx ends. The method WithContext of the result returns a view whose reads end when a
// context ends. Concurrent calls wait for each other.
func (s *Store) Snapshot(ctx context.Context) (fs.FS, error) {
	files, err := s.Latest.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &snapshot{files, &Store{context.Background(), s.state}}, nil
}

// Sub returns the store of a directory, with the same options.
func (s *Store) Sub(dir string) (fs.FS, error) {
	if !fs.ValidPath(dir) {
		return nil, pathError("sub", dir, fs.ErrInvalid)
	}
	opts := s.opts
	opts.Dir = s.prefix + dir
	sub, err := New(s.bucket, opts)
	if err != nil {
		return nil, err
	}
	return sub.WithContext(s.ctx), nil
}

// WithContext returns a view of the store whose requests end when ctx ends.
func (s *Store) WithContext(ctx context.Context) fs.FS { return &Store{ctx, s.state} }

// Open opens the current version of a file, or a directory of a new snapshot.
func (s *Store) Open(name string) (fs.File, error) {
	if s.opts.Versions.Of != nil && isFile(name) {
		// The response has the content and the version.
		r, err := s.bucket.NewReader(s.ctx, s.prefix+name, nil)
		if err == nil {
			info := describe(name, tree.File{Size: r.Size(), Mode: mode, ModTime: r.ModTime(), Version: s.opts.Versions.Of(r.As)})
			return &file{store: s, info: info, name: name, body: r}, nil
		}
	}
	files, err := s.view()
	if err != nil {
		return nil, err
	}
	return files.Open(name)
}

// Stat describes the current version of a file, or a directory of a new snapshot.
func (s *Store) Stat(name string) (fs.FileInfo, error) {
	if name == "." {
		return tree.New("", nil).Stat(name)
	}
	if isFile(name) {
		a, err := s.bucket.Attributes(s.ctx, s.prefix+name)
		if err == nil {
			return describe(name, s.file(a.Size, a.ModTime, a.MD5, a.As)), nil
		}
	}
	files, err := s.view()
	if err != nil {
		return nil, err
	}
	return files.Stat(name)
}

// ReadDir returns the entries of a directory of a new snapshot, sorted by name.
func (s *Store) ReadDir(name string) ([]fs.DirEntry, error) {
	files, err := s.view()
	if err != nil {
		return nil, err
	}
	return files.ReadDir(name)
}

// view returns a new snapshot whose reads end with the context of the store.
func (s *Store) view() (*snapshot, error) {
	files, err := s.Latest.Snapshot(s.ctx)
	return &snapshot{files, s}, err
}

// pathError adds the error of package io/fs that programs expect.
func pathError(op, name string, err error) error {
	switch gcerrors.Code(err) {
	case gcerrors.NotFound:
		err = fmt.Errorf("%w: %w", fs.ErrNotExist, err)
	case gcerrors.PermissionDenied:
		err = fmt.Errorf("%w: %w", fs.ErrPermission, err)
	case gcerrors.FailedPrecondition:
		err = fmt.Errorf("%w: %w", ErrChanged, err)
	}
	return &fs.PathError{Op: op, Path: name, Err: err}
}

// isFile reports whether name can be the name of a file.
func isFile(name string) bool {
	return fs.ValidPath(name) && name != "." && !strings.Contains(name, "\x00")
}
