package git_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/toolshelf-go/toolshelf/stores/git"
)

// Each level of a repository has the level below at several names, so a few trees are the files of
// an endless repository.
func TestTreesThatExpandWithoutEndAreAnError(t *testing.T) {
	file := func(repo *repository, name string) object.TreeEntry {
		return object.TreeEntry{Name: name, Mode: filemode.Regular, Hash: repo.blob("x")}
	}
	tests := map[string]struct {
		levels int
		name   string // of each directory
		last   func(repo *repository) []object.TreeEntry
	}{
		"files":              {60, "a", func(repo *repository) []object.TreeEntry { return []object.TreeEntry{file(repo, "c.md")} }},
		"directories":        {60, "a", func(*repository) []object.TreeEntry { return nil }},
		"too many elements":  {200, "a", func(*repository) []object.TreeEntry { return nil }},
		"names of 400 bytes": {30, strings.Repeat("a", 400), func(*repository) []object.TreeEntry { return nil }},
		"submodules": {60, "a", func(*repository) []object.TreeEntry {
			return []object.TreeEntry{{Name: "module", Mode: filemode.Submodule, Hash: plumbing.NewHash(strings.Repeat("1", 40))}}
		}},
		"names that are no paths": {12, "a", func(repo *repository) []object.TreeEntry {
			return []object.TreeEntry{file(repo, "../"+strings.Repeat("a", 1<<20)), file(repo, "c.md")}
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			repo := newRepository(t)
			tree := repo.trees(test.last(repo))
			for range test.levels {
				var entries []object.TreeEntry
				for _, suffix := range "abcd" {
					entries = append(entries, object.TreeEntry{Name: test.name + string(suffix), Mode: filemode.Dir, Hash: tree})
				}
				tree = repo.trees(entries)
			}
			repo.commit(tree)
			store := newStore(t, repo.open(), main, git.Options{})
			before := heap()
			if _, err := store.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "set Options.Dir") {
				t.Errorf("Snapshot: %v", err)
			}
			if kept := heap() - before; kept > 20<<20 { // with the cache of objects
				t.Errorf("the store keeps %d bytes", kept)
			}
			runtime.KeepAlive(store)
		})
	}
}

func heap() int64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// A compressed object can be much larger than the repository.
func TestALargeObjectIsAnError(t *testing.T) {
	repo := newRepository(t)
	var entries []object.TreeEntry
	for i := range 9 {
		entries = append(entries, object.TreeEntry{Name: strings.Repeat("a", 1<<20) + fmt.Sprint(i), Mode: filemode.Regular, Hash: repo.blob("x")})
	}
	repo.commit(repo.trees(entries))
	store := newStore(t, repo.open(), main, git.Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := store.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("Snapshot: %v", err)
	}
	runtime.ReadMemStats(&after)
	if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
		t.Errorf("%d bytes are allocated", got)
	}
}

// A canceling filesystem ends a context at an open of a file.
type canceling struct {
	billy.Filesystem
	cancel      context.CancelFunc
	left, after int // opens before and after the end
}

func (c *canceling) OpenFile(name string, flag int, perm os.FileMode) (billy.File, error) {
	if c.left--; c.left == 0 {
		c.cancel()
	} else if c.left < 0 {
		c.after++
	}
	return c.Filesystem.OpenFile(name, flag, perm)
}

func (c *canceling) Open(name string) (billy.File, error) { return c.OpenFile(name, os.O_RDONLY, 0) }

func TestASnapshotEndsWithTheContext(t *testing.T) {
	repo := newRepository(t)
	files := map[string]string{}
	for i := range 200 {
		files[fmt.Sprintf("dir%d/a.md", i)] = fmt.Sprint(i)
	}
	repo.write(files)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	disk := &canceling{Filesystem: repo.open().Storer.(*filesystem.Storage).Filesystem(), cancel: cancel, left: 100}
	handle, err := gogit.Open(filesystem.NewStorage(disk, cache.NewObjectLRUDefault()), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := newStore(t, handle, main, git.Options{}).Snapshot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Snapshot: %v", err)
	}
	if disk.after > 10 {
		t.Errorf("%d files are opened after the end of the context", disk.after)
	}
}
