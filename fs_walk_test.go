package toolshelf_test

import (
	"fmt"
	"io/fs"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf"
)

// openedDirs counts the calls of Open and those of Stat and Lstat.
type openedDirs struct {
	afero.Fs
	opens *atomic.Int64
	stats *atomic.Int64
}

func (c openedDirs) Open(name string) (afero.File, error) {
	c.opens.Add(1)
	return c.Fs.Open(name)
}

func (c openedDirs) Stat(name string) (fs.FileInfo, error) {
	c.stats.Add(1)
	return c.Fs.Stat(name)
}

func (c openedDirs) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	c.stats.Add(1)
	return c.Fs.(afero.Lstater).LstatIfPossible(name)
}

// TestGitignoreOfADeepDirectory: the .gitignore files on the way are read on
// one way down.
func TestGitignoreOfADeepDirectory(t *testing.T) {
	const depth = 300
	dir := strings.Repeat("d/", depth)
	fsys := openedDirs{afero.NewMemMapFs(), new(atomic.Int64), new(atomic.Int64)}
	for name, text := range map[string]string{".gitignore": "*.log\n", dir[:100] + ".gitignore": "!b.log\n", dir + "a.log": "", dir + "b.log": ""} {
		if err := afero.WriteFile(fsys, name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	c := catalog(t, toolshelf.WithFs(fsys))
	fsys.stats.Store(0)
	listing, err := c.ListDir(t.Context(), dir, toolshelf.Gitignore())
	if err != nil || len(listing.Entries) != 1 || listing.Entries[0].Name != "b.log" {
		t.Fatalf("%v, %v", listing.Entries, err)
	}
	if n := fsys.stats.Load(); n > 10*depth {
		t.Errorf("%d stats for %d directories", n, depth)
	}
}

// deepForests are directories of many shapes, by the paths of their files.
func deepForests(size int) map[string][]string {
	forests := map[string][]string{}
	add := func(name, dir string) { forests[name] = append(forests[name], dir+"f") }
	chain := strings.Repeat("d/", 1000)
	for i := range size {
		add("a chain with a wide end", chain+fmt.Sprintf("w%d/x/y/", i))
		add("a comb", chain[:2*i]+"e/g/")
		add("a comb with long teeth", chain[:2*(i/20)]+fmt.Sprintf("e%d/", i%20)+chain[:size/10*2])
	}
	for i := range 100 {
		branch := fmt.Sprintf("b%d/", i)
		add("a hundred chains", branch+chain[:2*(size/20)])
		add("a hundred chains at the end of a chain", chain+branch+chain[:2*(size/20)])
		for j := range size / 20 {
			add("a hundred combs", branch+chain[:2*j]+"e/")
		}
	}
	for i := range 1 << 9 {
		path := ""
		for bit := range 9 {
			path += fmt.Sprintf("%d/", i>>bit&1) + chain[:20]
		}
		add("a binary tree of chains", path)
	}
	return forests
}

// TestWalksOpenEachDirectoryAFewTimes: on this filesystem a directory that is
// opened and read counts twice, and each reopening once.
func TestWalksOpenEachDirectoryAFewTimes(t *testing.T) {
	size := 400
	if testing.Short() {
		size = 100
	}
	for name, files := range deepForests(size) {
		t.Run(name, func(t *testing.T) {
			fsys := openedDirs{afero.NewMemMapFs(), new(atomic.Int64), new(atomic.Int64)}
			for _, file := range files {
				if err := afero.WriteFile(fsys, file, nil, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c := catalog(t, toolshelf.WithFs(fsys))
			fsys.opens.Store(0)
			tree, err := c.Tree(t.Context(), ".", toolshelf.Limit(0))
			if err != nil || tree.Files != len(files) {
				t.Fatalf("Tree: %d files of %d, %v", tree.Files, len(files), err)
			}
			dirs := int64(tree.Dirs + 1)
			if n := fsys.opens.Swap(0); n > 5*dirs {
				t.Errorf("Tree opens %d times for %d directories", n, dirs)
			} else {
				t.Logf("Tree opens %d times for %d directories", n, dirs)
			}
			found, err := c.FindFiles(t.Context(), ".", "f")
			if err != nil || found.Total != len(files) || found.Skipped > 0 {
				t.Fatalf("FindFiles: %d files of %d, %d skipped, %v", found.Total, len(files), found.Skipped, err)
			}
			if n := fsys.opens.Swap(0); n > 5*dirs {
				t.Errorf("FindFiles opens %d times for %d directories", n, dirs)
			}
			limited, err := c.Tree(t.Context(), ".", toolshelf.Limit(tree.Dirs/2))
			if err != nil || limited.Files+limited.Dirs > tree.Dirs/2 || limited.Omitted == 0 {
				t.Fatalf("Tree with a limit: %d entries, %d omitted, %v", limited.Files+limited.Dirs, limited.Omitted, err)
			}
			if n := fsys.opens.Swap(0); n > 5*dirs {
				t.Errorf("Tree with a limit opens %d times for %d directories", n, dirs)
			}
		})
	}
}
