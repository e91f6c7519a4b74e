package git_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/go-git/go-billy/v5"
	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/filemode"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"
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

// blobs adds a pack with a blob and with blobs that are deltas, each of the blob before. Without a
// base, the only blob is a delta of itself. The function returns the last blob.
func (r *repository) blobs(base []byte, deltas ...[]byte) plumbing.Hash {
	r.t.Helper()
	pack := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(1+len(deltas)))
	var index idxfile.Writer
	var hash plumbing.Hash
	add := func(typ plumbing.ObjectType, reference, raw, content []byte) {
		hash = plumbing.ComputeHash(plumbing.BlobObject, content)
		index.OnInflatedObjectContent(hash, int64(len(pack)), 0, nil)
		first := byte(typ)<<4 | byte(len(raw)&15)
		if size := len(raw) >> 4; size > 0 {
			pack = binary.AppendUvarint(append(pack, first|0x80), uint64(size))
		} else {
			pack = append(pack, first)
		}
		b := bytes.NewBuffer(append(pack, reference...))
		w := zlib.NewWriter(b)
		if _, err := w.Write(raw); err != nil {
			r.t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			r.t.Fatal(err)
		}
		pack = b.Bytes()
	}
	if base == nil {
		self := plumbing.ComputeHash(plumbing.BlobObject, []byte("self"))
		add(plumbing.REFDeltaObject, self[:], delta(4, 4, 1), []byte("self"))
	} else {
		add(plumbing.BlobObject, nil, base, base)
	}
	last := 12
	for _, delta := range deltas {
		back := len(pack) - last
		last = len(pack)
		offset := []byte{byte(back & 0x7f)}
		for back >>= 7; back > 0; back >>= 7 {
			back--
			offset = append([]byte{0x80 | byte(back&0x7f)}, offset...)
		}
		base = apply(r.t, base, delta)
		add(plumbing.OFSDeltaObject, offset, delta, base)
	}
	sum := plumbing.Hash(sha1.Sum(pack))
	var b bytes.Buffer
	if err := index.OnFooter(sum); err != nil {
		r.t.Fatal(err)
	}
	encoded, err := index.Index()
	if err == nil {
		_, err = idxfile.NewEncoder(&b).Encode(encoded)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	name := filepath.Join(r.dir, "objects", "pack", "pack-"+sum.String())
	for ext, content := range map[string][]byte{".pack": append(pack, sum[:]...), ".idx": b.Bytes()} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			r.t.Fatal(err)
		}
		if err := os.WriteFile(name+ext, content, 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	return hash
}

func apply(t *testing.T, base, delta []byte) []byte {
	t.Helper()
	content, err := packfile.PatchDelta(base, delta)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// delta returns a delta that copies the first size bytes of a base count times.
func delta(base, size, count int) []byte {
	d := binary.AppendUvarint(nil, uint64(base))
	d = binary.AppendUvarint(d, uint64(size*count))
	return append(d, bytes.Repeat([]byte{0xff, 0, 0, 0, 0, byte(size), byte(size >> 8), byte(size >> 16)}, count)...)
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
			snapshot := func(mode filemode.FileMode) error {
				repo.commit(repo.trees([]object.TreeEntry{{Name: "a", Mode: mode, Hash: blob}}))
				store := newStore(t, repo.open(), main, git.Options{})
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				_, err := store.Snapshot(t.Context())
				runtime.ReadMemStats(&after)
				if got := after.TotalAlloc - before.TotalAlloc; got > 4<<20 {
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
	if got := read(t, newStore(t, repo.open(), main, git.Options{}), "a.md"); got != string(make([]byte, 20)) {
		t.Errorf("a.md = %q", got)
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
			handle, err := gogit.Open(filesystem.NewStorage(disk, cache.NewObjectLRUDefault()), nil)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := newStore(t, handle, main, git.Options{Dir: test.dir}).Snapshot(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("Snapshot: %v", err)
			}
			if disk.after > 10 {
				t.Errorf("%d files are opened after the end of the context", disk.after)
			}
		})
	}
}
