package git_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/go-git/go-billy/v5"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/object"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/stores/git"
	"github.com/toolshelf-go/toolshelf/stores/internal/hostiletest"
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
			before := catalogtest.Heap()
			if _, err := store.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "set Options.Dir") {
				t.Errorf("Snapshot: %v", err)
			}
			if kept := catalogtest.Heap() - before; kept > 20<<20 { // with the cache of objects
				t.Errorf("the store keeps %d bytes", kept)
			}
			runtime.KeepAlive(store)
		})
	}
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
	got := catalogtest.CostOf(func() {
		if _, err := store.Snapshot(t.Context()); err == nil || !strings.Contains(err.Error(), "too large") {
			t.Errorf("Snapshot: %v", err)
		}
	}).Bytes
	if got > 4<<20 {
		t.Errorf("%d bytes are allocated", got)
	}
}

// A pack of a few kilobytes can have large bases of a small object.
func TestALargeBaseIsAnError(t *testing.T) {
	const large = 32 << 20
	text := bytes.Repeat([]byte("a"), 1<<16)
	var steps [][]byte // each adds a byte
	for size := uint64(20); size < 4120; size++ {
		step := binary.AppendUvarint(binary.AppendUvarint(nil, size), size+1)
		steps = append(steps, append(step, 0xb0, byte(size), byte(size>>8), 1, 'b'))
	}
	rewrites := make([][]byte, 40) // each drops a byte
	for i := range rewrites {
		rewrites[i] = delta(7<<20-i, 7<<20-i-1, 1)
	}
	tests := map[string]struct {
		base   []byte
		deltas [][]byte
		ok     bool // as a link
	}{
		"a large blob":            {make([]byte, large), [][]byte{delta(large, 20, 1)}, false},
		"a large base of a base":  {make([]byte, large), [][]byte{delta(large, 40, 1), delta(40, 20, 1)}, false},
		"a base that expands":     {text, [][]byte{delta(1<<16, 1<<16, large>>16), delta(large, 20, 1)}, false},
		"a large delta of a base": {text, [][]byte{delta(1<<16, 1, large>>3), delta(large>>3, 20, 1)}, false},
		"a large delta":           {text, [][]byte{delta(1<<16, 1, large>>3)}, true},
		"many bases":              {text[:20], append(steps, delta(4120, 10, 1)), false},
		"a delta of itself":       {nil, nil, false},
		"a few bases":             {text[:20], steps[:100], true},
		"many bases of 7 MB":      {make([]byte, 7<<20), append(rewrites, delta(7<<20-len(rewrites), 20, 1)), false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			repo := newRepository(t)
			blob := repo.blobs(test.base, test.deltas...)
			limit := int64(4 << 20)
			if hostiletest.Race { // each header takes a decoder of 48 KB from a pool
				headers := len(test.deltas) + 1
				if test.base == nil {
					headers = 4096
				}
				limit += int64(headers) * 64 << 10
			}
			snapshot := func(mode filemode.FileMode) error {
				repo.commit(repo.trees([]object.TreeEntry{{Name: "a", Mode: mode, Hash: blob}}))
				store := newStore(t, repo.open(), main, git.Options{})
				var err error
				if got := catalogtest.CostOf(func() { _, err = store.Snapshot(t.Context()) }).Bytes; int64(got) > limit {
					t.Errorf("%s: %d bytes are allocated", mode, got)
				}
				return err
			}
			if err := snapshot(filemode.Regular); err != nil {
				t.Errorf("Snapshot with a file: %v", err)
			}
			if err := snapshot(filemode.Symlink); (err == nil) != test.ok || err != nil && !strings.Contains(err.Error(), "bases of the delta") {
				t.Errorf("Snapshot with a link: %v", err)
			}
		})
	}
}

// The limit of a link is not the limit of a file.
func TestAFileWithALargeBaseIsRead(t *testing.T) {
	repo := newRepository(t)
	blob := repo.blobs(make([]byte, 9<<20), delta(9<<20, 20, 1))
	repo.commit(repo.trees([]object.TreeEntry{{Name: "a.md", Mode: filemode.Regular, Hash: blob}}))
	must.Equal(t, "a.md", string(make([]byte, 20)), read(t, newStore(t, repo.open(), main, git.Options{}), "a.md"))
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
	wide := map[string]string{}
	for i := range 200 {
		wide[fmt.Sprintf("dir%d/a.md", i)] = fmt.Sprint(i)
	}
	deep := strings.Repeat("d/", 90)
	tests := map[string]struct {
		files map[string]string
		dir   string
	}{
		"many directories":        {wide, ""},
		"a deep directory as Dir": {map[string]string{deep + "a.md": "x"}, deep},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			repo := newRepository(t)
			repo.write(test.files)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			disk := &canceling{Filesystem: repo.open().Storer.(*filesystem.Storage).Filesystem(), cancel: cancel, left: 40}
			handle := must.Get(gogit.Open(filesystem.NewStorage(disk, cache.NewObjectLRUDefault()), nil))(t)
			must.Fail(newStore(t, handle, main, git.Options{Dir: test.dir}).Snapshot(ctx))(t, "Snapshot", context.Canceled)
			if disk.after > 10 {
				t.Errorf("%d files are opened after the end of the context", disk.after)
			}
		})
	}
}

// A blocking filesystem blocks the opens of a file.
type blocking struct {
	billy.Filesystem
	blocked chan struct{} // receives a value for each open
	release chan struct{}
}

func (b *blocking) Open(name string) (billy.File, error) {
	if strings.HasPrefix(name, "objects") && b.release != nil {
		b.blocked <- struct{}{}
		<-b.release
	}
	return b.Filesystem.Open(name)
}

func TestAReadThatWaitsForAReadEndsWithTheContext(t *testing.T) {
	repo := newRepository(t)
	repo.write(map[string]string{"a.md": "one"})
	disk := &blocking{Filesystem: repo.open().Storer.(*filesystem.Storage).Filesystem(), blocked: make(chan struct{})}
	handle := must.Get(gogit.Open(filesystem.NewStorage(disk, cache.NewObjectLRUDefault()), nil))(t)
	files := snapshot(t, newStore(t, handle, main, git.Options{}))
	disk.release = make(chan struct{})
	done := make(chan error)
	go func() {
		_, err := fs.ReadFile(files, "a.md")
		done <- err
	}()
	<-disk.blocked
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	limited := files.(interface {
		WithContext(context.Context) fs.FS
	}).WithContext(ctx)
	must.Fail(fs.ReadFile(limited, "a.md"))(t, "the second read", context.DeadlineExceeded)
	close(disk.release)
	if err := <-done; err != nil {
		t.Errorf("the first read: %v", err)
	}
}
