// Package tree makes the filesystems of stores: a snapshot for each call, and the choice of the last
// good snapshot.
package tree

import (
	"context"
	"io/fs"
	"sync"
	"time"

	"github.com/toolshelf-go/toolshelf/internal/filetree"
)

// A Store is a filesystem that makes a snapshot before each call. A Store has the optional
// interfaces that toolshelf documents for an fs.FS over a store. A Store is safe for
// concurrent use.
type Store struct {
	latest *Latest
	files  func() (*filetree.FS, error)
}

// NewStore returns a Store over [NewLatest].
func NewStore(update func(ctx context.Context, last *filetree.FS) (*filetree.FS, error), timeout time.Duration, stale func(err error, age time.Duration) error) *Store {
	latest := NewLatest(update, timeout, stale)
	return &Store{latest, func() (*filetree.FS, error) { return latest.Snapshot(context.Background()) }}
}

// Snapshot returns the files of the store. The result never changes and has the methods Version
// and Stale.
func (s *Store) Snapshot(ctx context.Context) (fs.FS, error) {
	files, err := s.latest.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return files, nil
}

// WithContext returns the files for one task. The first call of the result makes a snapshot,
// which ends when ctx ends. The later calls use the same snapshot, and end with ctx too.
func (s *Store) WithContext(ctx context.Context) fs.FS {
	return &Store{s.latest, sync.OnceValues(func() (*filetree.FS, error) {
		files, err := s.latest.Snapshot(ctx)
		if err != nil {
			return nil, err
		}
		return files.WithContext(ctx).(*filetree.FS), nil
	})}
}

// Open opens a file or a directory, as [filetree.FS.Open] does.
func (s *Store) Open(name string) (fs.File, error) { return call(s, name, (*filetree.FS).Open) }

// Stat describes a file or a directory, as [filetree.FS.Stat] does.
func (s *Store) Stat(name string) (fs.FileInfo, error) { return call(s, name, (*filetree.FS).Stat) }

// Lstat describes a file, a directory or a symbolic link, as [filetree.FS.Lstat] does.
func (s *Store) Lstat(name string) (fs.FileInfo, error) { return call(s, name, (*filetree.FS).Lstat) }

// ReadLink returns the target of a symbolic link, as [filetree.FS.ReadLink] does.
func (s *Store) ReadLink(name string) (string, error) { return call(s, name, (*filetree.FS).ReadLink) }

// ReadDir returns the entries of a directory, as [filetree.FS.ReadDir] does.
func (s *Store) ReadDir(name string) ([]fs.DirEntry, error) {
	return call(s, name, (*filetree.FS).ReadDir)
}

func call[T any](s *Store, name string, method func(*filetree.FS, string) (T, error)) (T, error) {
	files, err := s.files()
	if err != nil {
		var none T
		return none, err
	}
	return method(files, name)
}
