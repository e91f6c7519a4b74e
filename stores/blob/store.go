// Package blob reads commands and skills from a bucket: S3, Google Cloud Storage, Azure
// Blob Storage, or another driver of gocloud.dev/blob. A [Store] is a filesystem for
// toolshelf.WithCommandsFS and toolshelf.WithSkillsFS.
//
//   - Freshness. A snapshot has the objects that the bucket lists at the time of the call,
//     so a catalog sees the previous writes of every client. A listing of several pages is
//     complete or fails; a key that exists during the whole listing is in the snapshot.
//   - Versions. A file of a snapshot is read only in the version of the listing. If the
//     object has changed since, the error is [ErrChanged]. See [Options.Versions].
//   - Unreachable bucket. A call fails with the error of the driver, or uses the last good
//     snapshot. [Options.Stale] decides, also after [Options.Timeout]. Reads of contents fail,
//     but a catalog keeps small files of its lists, and the commands and SKILL.md files that
//     a call has read.
//   - Memory. The store keeps about 400 bytes and the name for each file and each directory of
//     the last snapshot, and no contents. [Options.MaxKeys] limits the keys and the memory.
//   - Names. A slash in a key separates directories. The store omits a key that is no path
//     of a file, such as "a//b", "../x" and "a/", a key with a NUL, a key with more than 100
//     elements, and the key "a" if "a/b" exists.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	gocloud "gocloud.dev/blob"
	"gocloud.dev/gcerrors"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

// ErrChanged is the error of reading an object that has changed since the snapshot.
var ErrChanged = errors.New("object changed after the listing: list again")

// Options are the options of a Store. The zero value reads the whole bucket.
type Options struct {
	// Dir is the directory of the bucket that is the top of the filesystem. The empty
	// string means the top of the bucket. A directory without keys is empty, not missing.
	Dir string

	// Versions depends on the driver: s3.Versions for gocloud.dev/blob/s3blob, gcs.Versions
	// for gcsblob, azure.Versions for azureblob. With the zero value, the version is the MD5
	// hash and the time, and ErrChanged reports a change of the size or of the time in
	// seconds. An object without an MD5 hash, such as a composite object of GCS or a blob of
	// Azure that was written in blocks, then has no version: a catalog never serves old
	// content, but reads the object in each list.
	Versions Versions

	// MaxKeys is the maximum number of keys below Dir. Zero means 200,000. A snapshot of
	// more keys fails. A snapshot also fails if the files and directories count more than
	// 2,048 bytes for each key of MaxKeys and 1 MiB: 512 bytes and the name for each file and
	// each directory.
	MaxKeys int

	// Timeout limits a snapshot, and each request for a file with its content. Zero means that
	// only the context of the call limits the requests. If a snapshot has reached the limit and
	// Stale has allowed the last good snapshot, calls use this snapshot for one second without
	// a listing. The stores of [Store.Sub] share this second.
	Timeout time.Duration

	// Stale is called if a listing fails and the store has a snapshot. The arguments are the
	// error and the age of the last good snapshot. If Stale returns nil, the call uses this
	// snapshot. Otherwise the call fails with the error that Stale returns. Nil means that
	// the call fails with the original error. A missing bucket and an ended context of the
	// call always fail. Calls of Stale do not overlap.
	Stale func(err error, age time.Duration) error
}

// Versions are functions that need the types of one driver. The argument as is the method As
// of a ListObject, Attributes or Reader of gocloud.dev/blob.
type Versions struct {
	Of    func(as func(any) bool) string          // the version of an object, such as the ETag
	Match func(as func(any) bool, version string) // adds the condition of a version to a request, in ReaderOptions.BeforeRead; may be nil
}

// A Store is a filesystem with the objects of a bucket. A Store implements [fs.StatFS],
// [fs.ReadDirFS], [fs.SubFS] and toolshelf.SnapshotFS, and has the method
// WithContext(ctx context.Context) fs.FS. A Store is safe for concurrent use.
type Store struct {
	ctx context.Context
	*state
}

type state struct {
	latest *tree.Latest
	bucket *gocloud.Bucket
	prefix string // "" or a key that ends in a slash
	opts   Options
}

// New returns the objects of bucket. The caller closes the bucket after the last use of the
// store. New sends no request. The error reports an invalid Options.Dir.
func New(bucket *gocloud.Bucket, opts Options) (*Store, error) {
	opts.Dir = path.Clean(opts.Dir)
	if opts.MaxKeys == 0 {
		opts.MaxKeys = 200_000
	}
	s := &state{bucket: bucket, opts: opts}
	if opts.Dir != "." {
		s.prefix = opts.Dir + "/"
		if !isFile(opts.Dir) {
			return nil, fmt.Errorf("blob: invalid Dir %q; use a path below the top of the bucket", opts.Dir)
		}
	}
	s.latest = tree.NewLatest(s.list, opts.Timeout, opts.Stale)
	return &Store{context.Background(), s}, nil
}

// Sub returns the store of a directory, with the same options and snapshots of its own. Until
// the first listing of the directory, the last good snapshot of s serves as the last good
// snapshot for Options.Stale.
func (s *Store) Sub(dir string) (fs.FS, error) {
	opts := s.opts
	opts.Dir = path.Join(opts.Dir, dir)
	if !fs.ValidPath(dir) {
		return nil, pathError("sub", dir, fs.ErrInvalid)
	}
	sub, err := New(s.bucket, opts)
	if err != nil {
		return nil, err
	}
	sub.latest.Start(s.latest, dir)
	return sub.WithContext(s.ctx), nil
}

// WithContext returns a view of the store whose requests end when ctx ends.
func (s *Store) WithContext(ctx context.Context) fs.FS { return &Store{ctx, s.state} }

// Snapshot lists the keys, with one request for 1,000 keys, and returns the files of the
// listing. The result has the methods ReadDir, Stat and Version, which send no request, and
// WithContext. A file of the result sends a request for each ReadAt, and one for all calls
// of Read. Concurrent calls wait for each other. A call ends with the cause of ctx. If the
// bucket does not answer and Options.Stale allows the last good snapshot, the method Stale of
// the result returns the error of the bucket.
func (s *Store) Snapshot(ctx context.Context) (fs.FS, error) {
	files, err := s.latest.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &snapshot{files, &Store{context.Background(), s.state}}, nil
}

// Open opens the current version of a file, with one request if Options.Versions is set, or
// a directory of a new snapshot.
func (s *Store) Open(name string) (fs.File, error) {
	if s.opts.Versions.Of != nil && isFile(name) {
		r, err := s.request(name, 0, -1, nil)
		switch {
		case err == nil:
			info := filetree.Describe(name, s.describe(r.Size(), r.ModTime(), nil, r.As))
			return &file{s, name, info, r}, nil
		case gcerrors.Code(err) != gcerrors.NotFound: // not a directory
			return nil, pathError("open", name, err)
		}
	}
	return view(s, name, (*snapshot).Open)
}

// Stat describes the current version of a file with one request, or a directory of a new
// snapshot.
func (s *Store) Stat(name string) (fs.FileInfo, error) {
	if name == "." {
		return filetree.NewBuilder(0, nil).FS("").Stat(name)
	}
	if isFile(name) && s.latest.Outage() == nil {
		ctx, end := tree.Limit(s.ctx, s.opts.Timeout)
		defer end()
		if a, err := s.bucket.Attributes(ctx, s.prefix+name); err == nil {
			return filetree.Describe(name, s.describe(a.Size, a.ModTime, a.MD5, a.As)), nil
		}
	}
	return view(s, name, (*snapshot).Stat)
}

// ReadDir returns the entries of a directory of a new snapshot, sorted by name.
func (s *Store) ReadDir(name string) ([]fs.DirEntry, error) {
	return view(s, name, (*snapshot).ReadDir)
}
