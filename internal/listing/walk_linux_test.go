package listing

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

// TestOpenDirectoriesAreBounded counts the descriptors of directories during walks.
func TestOpenDirectoriesAreBounded(t *testing.T) {
	root := t.TempDir()
	chain := strings.Repeat("d/", 150)
	for name, below := range map[string][]string{
		"a long chain":          {chain},
		"long branches":         branches(20, chain[:2*25]),
		"many directories":      branches(300, "x/"),
		"branches at the end":   branches(10, chain[:2*80]),
		"a comb":                comb(120),
		"branches below chains": branches(90, chain[:2*4]),
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, strings.ReplaceAll(name, " ", "-"))
			for _, path := range below {
				must.Do(t, os.MkdirAll(filepath.Join(dir, path), 0o755))
			}
			f := confined(t)(confine.New(dir))
			var most atomic.Int64
			others := int64(len(descriptors(t)))
			var top struct{}
			must.Get(Tree(t.Context(), f, ".", Options{}, &top, Builder[struct{}]{
				New: func(*Row) struct{} {
					if int64(len(descriptors(t)))-others <= most.Load() {
						return struct{}{} // without a look at the paths
					}
					for now := openBelow(t, dir); ; {
						before := most.Load()
						if now <= before || most.CompareAndSwap(before, now) {
							return struct{}{}
						}
					}
				},
				Fill: func(*struct{}, []struct{}, Rest) {},
			}))(t)
			// Besides the top and the directories of two levels that the walk keeps, each worker has
			// the directory that it visits and, on the way to it, two directories.
			limit := int64(1 + 2*maxHeld + 3*statWorkers())
			if n := most.Load(); n > limit || n < 2 {
				t.Errorf("%d directories are open at a time, limit %d", n, limit)
			} else {
				t.Logf("%d directories are open at a time", n)
			}
			must.Equal(t, "openBelow(t, dir)", 0, openBelow(t, dir))
		})
	}
}

func branches(n int, below string) []string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("b%d/%s", i, below))
	}
	return all
}

func comb(n int) []string {
	var all []string
	for i := range n {
		all = append(all, strings.Repeat("d/", i)+"e/g")
	}
	return all
}

// openBelow counts the open descriptors of this process for files below a directory.
func openBelow(t *testing.T, dir string) (n int64) {
	for _, e := range descriptors(t) {
		if target, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && (target == dir || strings.HasPrefix(target, dir+"/")) {
			n++
		}
	}
	return n
}

// descriptors are the descriptors of the process.
func descriptors(t *testing.T) []os.DirEntry {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return entries
}
