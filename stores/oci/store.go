// Package oci reads commands and skills from an artifact or an image in an OCI registry or
// in an image layout on disk. A [Store] is a filesystem for toolshelf.WithCommandsFS and
// toolshelf.WithSkillsFS.
//
// The layers become files in three ways:
//
//   - "oras push" of a file: a layer with the title NAME is the file NAME.
//   - "oras push" of a directory: a layer that must be unpacked is a tar archive.
//   - An image, such as a build FROM scratch: a layer without a title is a tar archive. A
//     later layer replaces and deletes the files of earlier layers.
//
// Archives may be compressed with gzip. Symbolic links are followed inside Options.Dir.
// Names that [io/fs.ValidPath] does not accept, names and targets of links with more than 4,096
// bytes, and names with more than 100 elements are omitted.
//
// Guarantees:
//
//   - A snapshot has the files of one manifest. The store resolves a tag once per snapshot,
//     so reads see the previous pushes. A digest is resolved once.
//   - The manifests and the layers are compared with their digests.
//   - The version of a file is the digest of the content, and the version of a snapshot is
//     the digest of the manifest.
//   - If the registry does not answer, a call fails or uses the last good snapshot, as
//     Options.Stale decides.
//
// The layers and the files of the last manifest are in memory, at most Options.MaxSize
// bytes each. The store does not fetch the same layer for the next manifest again. A manifest has
// at most 4 MB, with 131,072 commas. The archives of an artifact unpack to at most four times
// Options.MaxSize and 1 MiB, including the headers.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package oci

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2"
	"oras.land/oras-go/v2/content/oci"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

// Options are the options of a Store. The zero value reads the top of an artifact.
type Options struct {
	// Dir is the directory of the artifact that becomes the top of the filesystem, such
	// as "commands". Empty means the top of the artifact.
	Dir string

	// MaxSize limits the size of the files of an artifact in bytes, and counts 512 bytes and
	// the name for each file and each directory. The files that a later layer replaces or
	// deletes count too. Zero means 256 MB. A larger artifact is an error.
	MaxSize int64

	// Timeout limits a snapshot. Zero means that only the context of the call limits a
	// snapshot. If a snapshot has reached the limit and Stale has allowed the last
	// snapshot, calls use this snapshot for one second without a request.
	Timeout time.Duration

	// Stale decides if the registry fails or the artifact cannot be read, and the store has
	// a snapshot. The arguments are the error and the time since the last good answer. If
	// Stale returns nil, the call uses the last snapshot. Otherwise the call fails with the
	// result of Stale. Nil means that the call fails with the error. Calls of Stale do not
	// overlap. The store does not call Stale if the reference or Dir does not exist, or if
	// the context of the call has ended.
	Stale func(err error, age time.Duration) error
}

// A Store is a filesystem with the files of an artifact. The methods are:
//
//   - Open, Stat, Lstat, ReadDir and ReadLink, of [fs.StatFS], [fs.ReadDirFS] and [fs.ReadLinkFS].
//     Each call makes a snapshot.
//   - Snapshot(ctx context.Context) (fs.FS, error), of toolshelf.SnapshotFS. The result has the
//     files of one manifest, never changes, and has the methods Version
//     and Stale of docs/stores.md.
//   - WithContext(ctx context.Context) fs.FS. The result has the files for
//     one task: the first call makes a snapshot, which ends when ctx ends, and the later calls use
//     the same snapshot.
//
// An error matches [fs.ErrNotExist] if the reference or Options.Dir does not exist. A Store is
// safe for concurrent use. A snapshot of an unchanged tag is one request. A new artifact costs a
// request for each manifest and each new layer, 8 at a time.
type Store struct{ *tree.Store }

type source struct {
	target    oras.ReadOnlyTarget
	reference string
	opts      Options
	layers    map[digest.Digest][]byte // of the last snapshot
}

// New returns a Store with the files of an artifact. The target is a remote.Repository, a
// [Layout], or any other storage of oras-go. The reference is a tag or a digest. Of an
// index, the store uses the first manifest for a known platform. New makes no request.
func New(target oras.ReadOnlyTarget, reference string, opts Options) (*Store, error) {
	opts.Dir = path.Clean(opts.Dir)
	if !fs.ValidPath(opts.Dir) {
		return nil, fmt.Errorf("oci: invalid Dir %q; use a path below the top of the artifact", opts.Dir)
	}
	if opts.MaxSize == 0 {
		opts.MaxSize = 256 << 20
	}
	s := &source{target: target, reference: reference, opts: opts}
	return &Store{tree.NewStore(s.update, opts.Timeout, opts.Stale)}, nil
}

// update resolves the reference, and fetches the files if the manifest is new.
func (s *source) update(ctx context.Context, last *filetree.FS) (*filetree.FS, error) {
	if _, err := digest.Parse(s.reference); err == nil && last != nil {
		return last, nil
	}
	files, err := s.files(ctx, last)
	if err != nil {
		return nil, fmt.Errorf("oci: reference %q: %w", s.reference, err)
	}
	return files, nil
}

// Layout returns the artifacts of an image layout, such as os.DirFS("layout"). The result
// reads index.json in each Resolve, so a [Store] sees the tags that other processes set.
// The stores of oras-go read index.json only once.
func Layout(fsys fs.FS) oras.ReadOnlyTarget {
	return layout{oci.NewStorageFromFS(fsys), fsys}
}

type layout struct {
	*oci.ReadOnlyStorage
	fsys fs.FS
}

// Resolve implements content.Resolver.
func (l layout) Resolve(ctx context.Context, reference string) (v1.Descriptor, error) {
	store, err := oci.NewFromFS(ctx, index{l.fsys})
	if err != nil {
		return v1.Descriptor{}, err
	}
	return store.Resolve(ctx, reference)
}

// An index is a layout whose contents cannot be opened. From a whole layout, NewFromFS reads all
// manifests, of any size.
type index struct{ fs.FS }

func (i index) Open(name string) (fs.File, error) {
	if strings.HasPrefix(name, "blobs/") {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return i.FS.Open(name)
}

func (i index) Stat(name string) (fs.FileInfo, error) { return fs.Stat(i.FS, name) }
