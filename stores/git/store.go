// Package git reads commands and skills from a commit, a branch or a tag of a Git
// repository. A [Store] is a filesystem for toolshelf.WithCommandsFS and
// toolshelf.WithSkillsFS, and needs no working tree.
//
// Guarantees:
//
//   - A snapshot has the files of one commit. The store resolves the revision once per
//     snapshot, and reads see all previous commits, also commits of other processes.
//     With Options.Fetch, the store fetches first.
//   - The store compares each commit, tree and file with its hash. A damaged object is an
//     error.
//   - The version of a file is the hash of the content. The version of a snapshot is the
//     hash of the tree, so a commit outside Options.Dir does not cause a scan.
//   - If the remote does not answer, a call fails or uses the last good snapshot, as
//     Options.Stale decides.
//
// Symbolic links are followed inside Options.Dir. Submodules, and names that
// [io/fs.ValidPath] does not accept, with more than 4,096 bytes, or with more than 100 elements
// are omitted. A file of Git LFS has the content of its pointer. The time of a file is the time
// of the commit.
//
// The store keeps the names of the files below Options.Dir and at most 16 MB of objects in memory.
// A snapshot counts 512 bytes and the name for each file and each directory, and again 512 bytes
// and the path for each directory and each omitted entry. A snapshot of more than 256 MB is an
// error, and so is a tree or a commit of more than 8 MB, and a read of a file of more than 256 MB.
// The bases and the deltas of a packed object have the limit of the object, and those of a symbolic
// link have the limit of a tree. A fetch of a pack with bases or deltas of more than 256 MB is an
// error. Fetches and reads end soon after the context of the call.
//
// See https://github.com/toolshelf-go/toolshelf for an overview of the library.
package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
	"github.com/toolshelf-go/toolshelf/stores/internal/tree"
)

// Options are the options of a Store. The zero value reads the top of a local repository.
type Options struct {
	// Dir is the directory of the repository that becomes the top of the filesystem, such
	// as "commands". Empty means the top of the repository.
	Dir string

	// Fetch makes each snapshot fetch first, unless the revision is a commit hash that the
	// repository has. The revision must be a reference that the fetch updates, such as
	// "refs/remotes/origin/main". If the remote has nothing new, a fetch is one request.
	// Nil means that the store uses no network.
	Fetch *git.FetchOptions

	// Timeout limits a snapshot. Zero means that only the context of the call limits a
	// snapshot. If a snapshot has reached the limit and Stale has allowed the last
	// snapshot, calls use this snapshot for one second without a request.
	Timeout time.Duration

	// Stale decides if the repository or the remote fails and the store has a snapshot.
	// The arguments are the error and the time since the last good answer. If Stale
	// returns nil, the call uses the last snapshot. Otherwise the call fails with the
	// result of Stale. Nil means that the call fails with the error. Calls of Stale do not
	// overlap. The store does not call Stale if the revision or Dir does not exist, or if
	// the context of the call has ended.
	Stale func(err error, age time.Duration) error
}

// A Store is a filesystem with the files of a revision. The methods are:
//
//   - Open, Stat, Lstat, ReadDir and ReadLink, of [fs.StatFS], [fs.ReadDirFS] and [fs.ReadLinkFS].
//     Each call makes a snapshot.
//   - Snapshot(ctx context.Context) (fs.FS, error), of toolshelf.SnapshotFS. The result has the
//     files of one commit, never changes, and has the methods Version
//     and Stale of docs/stores.md.
//   - WithContext(ctx context.Context) fs.FS. The result has the files for
//     one task: the first call makes a snapshot, which ends when ctx ends, and the later calls use
//     the same snapshot.
//
// An error matches [fs.ErrNotExist] if the revision or Options.Dir does not exist. A Store is safe
// for concurrent use. A snapshot of a new commit reads the trees below Options.Dir and the sizes
// of the files. Contents are read later.
type Store struct{ *tree.Store }

type source struct {
	objects  *objects
	revision string
	opts     Options
}

// New returns a Store with the files of a revision: a full commit hash, a branch, a tag,
// or a full reference such as "refs/heads/main". Short names have the precedence of git
// rev-parse. New reads nothing.
//
// The store reads the directory of the repository, and does not use repo itself. If the
// objects are not in a billy.Filesystem, New returns an error; use git.PlainOpen,
// git.PlainClone, or a clone into filesystem.NewStorage over memfs.
func New(repo *git.Repository, revision string, opts Options) (*Store, error) {
	storage, ok := repo.Storer.(*filesystem.Storage)
	if !ok {
		return nil, fmt.Errorf("git: unsupported storage %T; use git.PlainOpen, or filesystem.NewStorage over memfs", repo.Storer)
	}
	opts.Dir = path.Clean(opts.Dir)
	if !fs.ValidPath(opts.Dir) {
		return nil, fmt.Errorf("git: invalid Dir %q; use a path below the top of the repository", opts.Dir)
	}
	s := &source{objects: newObjects(storage.Filesystem()), revision: revision, opts: opts}
	return &Store{tree.NewStore(s.update, opts.Timeout, opts.Stale)}, nil
}

// update fetches and resolves the revision.
func (s *source) update(ctx context.Context, last *filetree.FS) (*filetree.FS, error) {
	commit, err := s.commit(ctx)
	if s.opts.Fetch != nil && (err != nil || !plumbing.IsHash(s.revision)) {
		if err := s.fetch(ctx); err != nil {
			return nil, fmt.Errorf("git: fetch: %w", err)
		}
		commit, err = s.commit(ctx)
	}
	if err == nil {
		last, err = s.files(ctx, commit, last)
	}
	if err != nil {
		return nil, fmt.Errorf("git: revision %q: %w", s.revision, err)
	}
	return last, nil
}

func (s *source) fetch(ctx context.Context) error {
	repo, err := git.Open(fetching{task{s.objects, ctx, true}}, nil)
	if err != nil {
		return err
	}
	opts := *s.opts.Fetch // FetchContext completes the options
	if err := repo.FetchContext(ctx, &opts); !errors.Is(err, git.NoErrAlreadyUpToDate) {
		return err
	}
	return nil
}
