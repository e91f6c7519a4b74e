package toolshelf_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolshelf-go/toolshelf"
)

func TestWithoutSizes(t *testing.T) {
	fsys := openedDirs{memoryOf(t, map[string]string{"a/long-name.txt": "x", "a/b": "", "c": "xx", "d": ""}), new(atomic.Int64), new(atomic.Int64)}
	c := catalog(t, toolshelf.WithFs(fsys))
	old := time.Unix(1e9, 0)
	if err := fsys.Fs.Chtimes("d", old, old); err != nil {
		t.Fatal(err)
	}
	entry := func(name string, kind toolshelf.EntryType, size int64) toolshelf.Entry {
		return toolshelf.Entry{Name: name, Type: kind, Size: size}
	}
	for _, order := range []toolshelf.SortKey{toolshelf.ByName, toolshelf.BySize, toolshelf.ByModified} {
		fsys.stats.Store(0)
		l, err := c.ListDir(t.Context(), ".", toolshelf.SortedBy(order), toolshelf.WithoutSizes())
		if err != nil {
			t.Fatal(err)
		}
		want := toolshelf.DirListing{Path: "./", Files: 2, Dirs: 1, NoSizes: true,
			Entries: []toolshelf.Entry{entry("a", toolshelf.Directory, 0), entry("c", toolshelf.File, -1), entry("d", toolshelf.File, -1)}}
		if diff := cmp.Diff(want, l); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", order, diff)
		}
		if text := "Directory: ./\nTotal: 2 files, 1 directory\n\n[DIR]  a/\n[FILE] c\n[FILE] d"; l.String() != text {
			t.Errorf("by %s: %q, want %q", order, l, text)
		}
		tree, err := c.Tree(t.Context(), ".", toolshelf.SortedBy(order), toolshelf.WithoutSizes(), toolshelf.Exclude("l*"))
		if err != nil {
			t.Fatal(err)
		}
		if text := "Directory tree: ./\n\nExcluding: l*\n\n[DIR]  a/\n  [FILE] b\n[FILE] c\n[FILE] d"; tree.String() != text {
			t.Errorf("by %s: %q, want %q", order, tree, text)
		}
		if diff := cmp.Diff(entry("b", toolshelf.File, -1), tree.Children[0].Children[0].Entry); diff != "" {
			t.Errorf("by %s (-want +got):\n%s", order, diff)
		}
		const directories = 3 // opened, and checked with Lstat
		if n := fsys.stats.Load(); order == toolshelf.ByName && n > directories {
			t.Errorf("%d reads of metadata", n)
		}
	}
}
