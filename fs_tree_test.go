package toolshelf_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
)

func TestTreeText(t *testing.T) {
	overSample(t, func(t *testing.T, c *toolshelf.Catalog) {
		for _, tt := range []struct {
			name, path string
			options    []toolshelf.DirOption
			want       string
		}{
			{"the contract's form", "src/tools", []toolshelf.DirOption{toolshelf.Exclude("[d-z]*.lisp", "*.log")}, `Directory tree: src/tools/

Excluding: [d-z]*.lisp, *.log

[DIR]  introspection/
  [FILE] probe.lsp (1.1 KB)
[FILE] buffer.lisp (4.2 KB)`},
			{"one level", "", []toolshelf.DirOption{toolshelf.MaxDepth(1)}, `Directory tree: ./

[DIR]  src/
[FILE] README.md (20 B)`},
			{"two levels, hidden entries", ".", []toolshelf.DirOption{toolshelf.MaxDepth(2), toolshelf.ShowHidden()}, `Directory tree: ./

[DIR]  src/
  [DIR]  tools/
  [FILE] agent.lisp (2.4 KB)
[FILE] .gitignore (6 B)
[FILE] README.md (20 B)`},
			{"three levels by size", "src", []toolshelf.DirOption{toolshelf.SortedBy(toolshelf.BySize), toolshelf.Exclude("[b-eg-h]*", "probe*")}, `Directory tree: src/

Excluding: [b-eg-h]*, probe*

[DIR]  tools/
  [DIR]  introspection/
  [FILE] introspection.lisp (8.5 KB)
  [FILE] registry.lisp (2.4 KB)
  [FILE] package.lisp (1.2 KB)
[FILE] agent.lisp (2.4 KB)`},
			{"a limit within the first level", "src/tools", []toolshelf.DirOption{toolshelf.Limit(3)}, `Directory tree: src/tools/

[DIR]  introspection/ (1 entry)
[FILE] buffer.lisp (4.2 KB)
[FILE] diff.lisp (2.8 KB)
… and 4 more

Cut at 3 entries; raise this limit, or give the path of a subdirectory`},
			{"a limit at the end of a level", ".", []toolshelf.DirOption{toolshelf.Limit(2)}, `Directory tree: ./

[DIR]  src/ (2 entries)
[FILE] README.md (20 B)

Cut at 2 entries; raise this limit, or give the path of a subdirectory`},
			{"no entries", "src", []toolshelf.DirOption{toolshelf.Exclude("*")}, "Directory tree: src/\n\nExcluding: *"},
			{"an empty directory", "src/tools/.cache", []toolshelf.DirOption{toolshelf.Gitignore()}, "Directory tree: src/tools/.cache/\n\n[FILE] x (1 B)"},
		} {
			t.Run(tt.name, func(t *testing.T) {
				tree, err := c.Tree(t.Context(), tt.path, tt.options...)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, tree.String()); diff != "" {
					t.Errorf("text (-want +got):\n%s", diff)
				}
			})
		}
	})
}

func TestTreeLosesItsDeepestLevelsFirst(t *testing.T) {
	files := map[string]string{"z": ""}
	for i := range 3 {
		for j := range 10 * i {
			files[fmt.Sprintf("d%d/f%02d", i, j)] = ""
		}
		files[fmt.Sprintf("d%d/sub/deep", i)] = ""
	}
	// The first level has 4 entries, the second 1, 11 and 21, and the third 3.
	for _, tt := range []struct {
		limit int
		shown string // numbers of shown entries: of the top, d0, d1, d2, and the three sub
		more  string
	}{
		{0, "4 1 11 21 1 1 1", "0 0 0 0 0 0 0"},
		{40, "4 1 11 21 1 1 1", "0 0 0 0 0 0 0"},
		{39, "4 1 11 21 0 1 1", "0 0 0 0 1 0 0"},
		{37, "4 1 11 21 0 0 0", "0 0 0 0 1 1 1"},
		{36, "4 1 11 20 0 0 0", "0 0 0 1 1 1 1"},
		{15, "4 1 5 5 0 0 0", "0 0 6 16 1 1 1"},
		{6, "4 0 1 1 - 0 0", "0 1 10 20 - 1 1"},
		{4, "4 0 0 0 - - -", "0 1 11 21 - - -"},
		{1, "1 0 - - - - -", "3 1 - - - - -"},
	} {
		for _, sort := range []toolshelf.SortKey{toolshelf.ByName, toolshelf.BySize} {
			c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
			tree, err := c.Tree(t.Context(), ".", toolshelf.Limit(tt.limit), toolshelf.SortedBy(sort))
			if err != nil {
				t.Fatal(err)
			}
			shown, more := []string{fmt.Sprint(len(tree.Children))}, []string{fmt.Sprint(tree.More)}
			for depth := 1; depth <= 2; depth++ {
				for i := range 3 {
					n, ok := find(tree.Children, fmt.Sprintf("d%d", i))
					if ok && depth == 2 {
						n, ok = find(n.Children, "sub")
					}
					if !ok {
						shown, more = append(shown, "-"), append(more, "-")
						continue
					}
					shown, more = append(shown, fmt.Sprint(len(n.Children))), append(more, fmt.Sprint(n.More))
				}
			}
			if s, m := strings.Join(shown, " "), strings.Join(more, " "); s != tt.shown || m != tt.more {
				t.Errorf("limit %d by %s: %s shown and %s more, want %s and %s", tt.limit, sort, s, m, tt.shown, tt.more)
			}
			if tt.limit > 0 && tree.Files+tree.Dirs > tt.limit {
				t.Errorf("limit %d by %s: %d entries", tt.limit, sort, tree.Files+tree.Dirs)
			}
		}
	}
}

func find(nodes []toolshelf.TreeNode, name string) (toolshelf.TreeNode, bool) {
	for _, n := range nodes {
		if n.Name == name {
			return n, true
		}
	}
	return toolshelf.TreeNode{}, false
}

// TestTreeIsItsListings compares Tree with ListDir of each directory. A tree with a limit
// is a part of the whole tree, and counts the omitted entries.
func TestTreeIsItsListings(t *testing.T) {
	element := rapid.SampledFrom([]string{"a", "B", "c", ".d", "e"})
	rapid.Check(t, func(r *rapid.T) {
		fsys := afero.NewMemMapFs()
		for _, elements := range rapid.SliceOfN(rapid.SliceOfN(element, 1, 6), 1, 30).Draw(r, "files") {
			// A file may have the name of the directory.
			if afero.WriteFile(fsys, strings.Join(elements[:len(elements)-1], "/")+"/dir/"+elements[len(elements)-1], nil, 0o644) != nil {
				continue
			}
		}
		c := catalog(t, toolshelf.WithFs(fsys))
		ctx := context.Background()
		limit := rapid.IntRange(0, 20).Draw(r, "limit")
		tree, err := c.Tree(ctx, ".", toolshelf.Limit(limit))
		if err != nil {
			r.Fatal(err)
		}
		nodes, omitted := 0, 0
		var check func(dir string, children []toolshelf.TreeNode, more int)
		check = func(dir string, children []toolshelf.TreeNode, more int) {
			listing, err := c.ListDir(ctx, dir)
			if err != nil {
				r.Fatal(err)
			}
			nodes += len(children)
			omitted += more
			if len(children)+more != len(listing.Entries) {
				r.Fatalf("%s has %d entries; the tree has %d and %d more", dir, len(listing.Entries), len(children), more)
			}
			for i, n := range children {
				if diff := cmp.Diff(listing.Entries[i], n.Entry); diff != "" {
					r.Fatalf("%s (-listing +tree):\n%s", dir, diff)
				}
				if n.Type == toolshelf.EntryDirectory {
					check(dir+"/"+n.Name, n.Children, n.More)
				}
			}
		}
		check(".", tree.Children, tree.More)
		if nodes != tree.Files+tree.Dirs || omitted != tree.Omitted || limit > 0 && nodes > limit || limit == 0 && omitted > 0 {
			r.Errorf("limit %d: %d nodes and %d omitted; the tree says %d, %d and %d", limit, nodes, omitted, tree.Files, tree.Dirs, tree.Omitted)
		}
	})
}

func TestTreeOfALongChainAndOfManyDirectories(t *testing.T) {
	files := map[string]string{strings.Repeat("d/", 300) + "x": ""}
	for i := range 200 {
		files[fmt.Sprintf("w%03d/a/b/c", i)] = ""
	}
	root := diskOf(t, files)
	c := catalog(t, toolshelf.WithRoot(root))
	tree, err := c.Tree(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	if tree.Dirs != 300+3*200 || tree.Files != 1+200 || tree.Omitted != 0 {
		t.Errorf("%d directories and %d files, %d omitted", tree.Dirs, tree.Files, tree.Omitted)
	}
	var failed []string
	var look func(nodes []toolshelf.TreeNode)
	look = func(nodes []toolshelf.TreeNode) {
		for _, n := range nodes {
			if n.Error != "" {
				failed = append(failed, n.Name+": "+n.Error)
			}
			look(n.Children)
		}
	}
	if look(tree.Children); len(failed) > 0 {
		t.Errorf("directories that could not be read: %q", failed)
	}
}

// cancelling cancels a context at the n-th Open.
type cancelling struct {
	afero.Fs
	opens  chan struct{}
	cancel context.CancelFunc
}

func (c cancelling) Open(name string) (afero.File, error) {
	select {
	case <-c.opens:
	default:
		c.cancel()
	}
	return c.Fs.Open(name)
}

func TestACancelledContextStopsAWalk(t *testing.T) {
	files := map[string]string{}
	for i := range 1000 {
		files[fmt.Sprintf("d%d/e/f", i)] = ""
	}
	memory := memoryOf(t, files)
	for name, walk := range map[string]func(ctx context.Context, c *toolshelf.Catalog) error{
		"Tree": func(ctx context.Context, c *toolshelf.Catalog) error { _, err := c.Tree(ctx, "."); return err },
		"FindFiles": func(ctx context.Context, c *toolshelf.Catalog) error {
			_, err := c.FindFiles(ctx, ".", "*")
			return err
		},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		fsys := cancelling{memory, make(chan struct{}, 100), cancel}
		for range 100 {
			fsys.opens <- struct{}{}
		}
		c := catalog(t, toolshelf.WithFs(fsys))
		if err := walk(ctx, c); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
