package filetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestTreeText(t *testing.T) {
	overSample(t, func(t *testing.T, c *toolshelf.Catalog) { checkTexts(t, c, "tree.txt") })
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
		for _, sort := range []string{toolshelf.ByName, toolshelf.BySize} {
			c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
			tree := must.Get(c.Tree(t.Context(), ".", toolshelf.Limit(tt.limit), toolshelf.SortedBy(sort)))(t)
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
		tree := must.Get(c.Tree(ctx, ".", toolshelf.Limit(limit)))(r)
		nodes, omitted := 0, 0
		var check func(dir string, children []toolshelf.TreeNode, more int)
		check = func(dir string, children []toolshelf.TreeNode, more int) {
			listing := must.Get(c.ListDir(ctx, dir))(r)
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
	tree := must.Get(c.Tree(t.Context(), "."))(t)
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
		must.Is(t, name, context.Canceled, walk(ctx, c))
	}
}

// entriesOf returns the paths of the entries of a result.
func entriesOf(result any) []string {
	switch r := result.(type) {
	case toolshelf.DirTree:
		return paths("", r.Children)
	case toolshelf.FileMatches:
		return r.Files
	case toolshelf.TextMatches:
		var all []string
		for _, m := range r.Matches {
			all = append(all, fmt.Sprint(m.Path, m.Line))
		}
		return all
	case toolshelf.DirListing:
		var all []string
		for _, e := range r.Entries {
			all = append(all, e.Name)
		}
		return all
	}
	panic("unknown result")
}

// TestBudgetOfRandomTrees compares the results of all budgets with the whole result.
func TestBudgetOfRandomTrees(t *testing.T) {
	element := rapid.SampledFrom([]string{"a", "B", "ü", "d", "eeeeeeee", "README", "cmd", strings.Repeat("long", 10), "node_modules", "x\ny"})
	rapid.Check(t, func(r *rapid.T) {
		fsys := afero.NewMemMapFs()
		for i, elements := range rapid.SliceOfN(rapid.SliceOfN(element, 1, 6), 1, 30).Draw(r, "files") {
			dir := strings.Join(elements[:len(elements)-1], "/") + "/dir/"
			_ = afero.WriteFile(fsys, dir+elements[len(elements)-1], []byte(strings.Repeat("a\nb\n", min(i, 4))+strings.Repeat("c\n", i*100)), 0o644) // the file may have the name of a directory
			if i < 6 {
				_ = afero.WriteFile(fsys, dir+".gitignore/x", nil, 0o644) // a warning
			} else if i < 12 {
				_ = afero.WriteFile(fsys, dir+".gitignore", []byte("eeee*\n"), 0o644)
			}
		}
		c := catalog(t, toolshelf.WithFs(fsys))
		ctx := context.Background()
		dir := rapid.SampledFrom([]string{".", "dir", "a/dir", "a"}).Draw(r, "dir")
		var options []toolshelf.FileOption
		for _, o := range []toolshelf.FileOption{toolshelf.Gitignore(), toolshelf.Exclude("b*"), toolshelf.ShowHidden()} {
			if rapid.Bool().Draw(r, "option") {
				options = append(options, o)
			}
		}
		withoutSizes := rapid.SampledFrom([]toolshelf.DirOption{nil, withoutSizes}).Draw(r, "sizes")
		order := toolshelf.SortedBy(rapid.SampledFrom([]string{toolshelf.ByName, toolshelf.BySize}).Draw(r, "order"))
		output := rapid.SampledFrom([]toolshelf.GrepMode{0, toolshelf.FilesOnly, toolshelf.CountOnly}).Draw(r, "output")
		tokens, unit := rapid.Bool().Draw(r, "tokens"), "characters"
		if tokens {
			unit = "tokens"
		}
		limited := rapid.SampledFrom([]toolshelf.FileOption{nil, toolshelf.Limit(7)}).Draw(r, "limit")
		options = append(options, limited)
		calls := map[string]func(o ...toolshelf.FileOption) (fmt.Stringer, error){
			"Tree": func(o ...toolshelf.FileOption) (fmt.Stringer, error) {
				return c.Tree(ctx, dir, append(optionsOf[toolshelf.DirOption](append(o, options...)), order, withoutSizes)...)
			},
			"ListDir": func(o ...toolshelf.FileOption) (fmt.Stringer, error) {
				return c.ListDir(ctx, dir, append(optionsOf[toolshelf.DirOption](append(o, options...)), order, withoutSizes)...)
			},
			"FindFiles": func(o ...toolshelf.FileOption) (fmt.Stringer, error) {
				return c.FindFiles(ctx, dir, "*", append(optionsOf[toolshelf.DirOption](append(o, options...)), order)...)
			},
			"Grep": func(o ...toolshelf.FileOption) (fmt.Stringer, error) {
				return c.Grep(ctx, dir, "a", append(optionsOf[toolshelf.GrepOption](append(o, options...)), toolshelf.ContextLines(1), output)...)
			},
		}
		for _, name := range slices.Sorted(maps.Keys(calls)) {
			call := calls[name]
			whole, err := call()
			if errors.Is(err, toolshelf.ErrDirectoryNotFound) || errors.Is(err, toolshelf.ErrNotFound) {
				return
			} else if err != nil {
				r.Fatal(err)
			}
			if name == "Grep" || name == "Tree" && limited != nil { // Budget changes the order of Limit
				if whole, err = call(toolshelf.Budget(1 << 20)); err != nil {
					r.Fatal(err)
				}
			}
			size := utf8.RuneCountInString(whole.String())
			var previous []string
			least := 1 + size/catalogtest.Rounds(20, size+1) // a draw of small steps for a long text takes minutes
			for budget := 1; budget <= size+1; budget += least + rapid.IntRange(0, 60).Draw(r, "step") {
				option := toolshelf.Budget(budget)
				if tokens {
					option = toolshelf.Tokens(budget, utf8.RuneCountInString)
				}
				result, err := call(option)
				if err != nil {
					if !errors.Is(err, toolshelf.ErrInvalidOption) || previous != nil {
						r.Fatalf("%s: budget %d: %v", name, budget, err)
					}
					continue
				}
				if n := utf8.RuneCountInString(result.String()); n > budget {
					r.Fatalf("%s: %d characters with a budget of %d:\n%s", name, n, budget, result)
				}
				if budget >= size {
					if diff := cmp.Diff(whole, result); diff != "" {
						r.Fatalf("%s: budget %d of %d (-whole +got):\n%s", name, budget, size, diff)
					}
				}
				entries := entriesOf(result)
				limits := []string(nil)
				if len(entries) < len(entriesOf(whole)) {
					limits = []string{fmt.Sprintf("%d %s", budget, unit)}
				}
				switch got := result.(type) {
				case toolshelf.DirTree:
					if limits == nil {
						limits = whole.(toolshelf.DirTree).Limits
					}
					if diff := cmp.Diff(limits, got.Limits); diff != "" || (len(got.Limits) > 0) != (got.Omitted > 0) {
						r.Fatalf("Tree: budget %d, %d omitted (-want +got):\n%s", budget, got.Omitted, diff)
					}
				case toolshelf.TextMatches:
					if limits == nil {
						limits = whole.(toolshelf.TextMatches).Limits
					} else if slices.Contains(whole.(toolshelf.TextMatches).Limits, "3 lines per file") {
						limits = append([]string{"3 lines per file"}, limits...)
					}
					if diff := cmp.Diff(limits, got.Limits); diff != "" {
						r.Fatalf("Grep: budget %d (-want +got):\n%s", budget, diff)
					}
				}
				if name == "Tree" {
					wideBeforeDeep(r, whole.(toolshelf.DirTree).Children, result.(toolshelf.DirTree).Children)
				}
				if name != "ListDir" && !tokens && len(options) == 0 { // without reserved characters
					size := utf8.RuneCountInString(result.String())
					if same, err := call(toolshelf.Budget(size)); err != nil || !slices.Equal(entriesOf(same), entries) {
						r.Fatalf("%s: budget %d loses entries of a text of this size, %v:\n%s\nwant\n%s", name, size, err, same, result)
					}
				}
				if tokens && (name == "Tree" || name == "Grep") {
					continue // the search for tokens assumes that more entries have a longer text
				}
				for _, e := range previous {
					if !slices.Contains(entries, e) {
						r.Fatalf("%s: budget %d loses %q:\n%s", name, budget, e, result)
					}
				}
				previous = append([]string{}, entries...)
				again, err := call(option)
				if diff := cmp.Diff(result, again); err != nil || diff != "" {
					r.Fatalf("%s: budget %d, the second call (-first +second):\n%s", name, budget, diff)
				}
			}
		}
	})
}

// wideBeforeDeep reports an error if a tree with an entry of the third level lacks a subdirectory
// of the top, or one of the first four entries of the top or of such a subdirectory.
func wideBeforeDeep(r *rapid.T, whole, got []toolshelf.TreeNode) {
	for _, dir := range got {
		for _, n := range dir.Children {
			if len(n.Children) == 0 {
				continue
			}
			for i, all := range whole {
				switch {
				case i >= len(got) && (i < 4 || all.Type == toolshelf.EntryDirectory):
					r.Fatalf("no %s, but entries of %s/%s", all.Name, dir.Name, n.Name)
				case i < len(got) && len(got[i].Children) < min(4, len(all.Children)):
					r.Fatalf("%d of %d entries of %s, but entries of %s/%s", len(got[i].Children), len(all.Children), all.Name, dir.Name, n.Name)
				}
			}
			return
		}
	}
}

func TestTreeBudgetIsSharedBetweenLevels(t *testing.T) {
	files := map[string]string{}
	for i := range 50 {
		files[fmt.Sprintf("root%02d.go", i)] = ""
	}
	for i := range 5 {
		for j := range 30 {
			files[fmt.Sprintf("dir%d/file%02d.go", i, j)] = ""
			files[fmt.Sprintf("dir%d/sub/deep%02d.go", i, j)] = ""
		}
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	for _, tt := range []struct {
		budget int
		want   string
	}{
		{245, "dir0 dir1 dir2 dir3 dir4"},
		{380, "dir0 dir1 dir2 dir3 dir4 root00.go root01.go root02.go root03.go root04.go"},
		{540, "dir0 dir0/sub dir0/file00.go dir1 dir1/sub dir2 dir2/sub dir3 dir3/sub dir4 dir4/sub root00.go root01.go root02.go root03.go root04.go"},
	} {
		tree := must.Get(c.Tree(t.Context(), ".", toolshelf.Budget(tt.budget)))(t)
		must.Equal(t, fmt.Sprintf("budget %d", tt.budget), tt.want,
			strings.Join(paths("", tree.Children), " "))
	}
	for budget := 300; budget < 10_000; budget += 100 {
		tree := must.Get(c.Tree(t.Context(), ".", toolshelf.Budget(budget)))(t)
		if len(tree.Children) < 5+39 {
			continue
		}
		for _, dir := range tree.Children[:5] {
			if len(dir.Children) < 5 || len(dir.Children[0].Children) < 5 {
				t.Fatalf("budget %d: %d files of the root, and only %d and %d entries below %s", budget, len(tree.Children)-5,
					len(dir.Children), len(dir.Children[0].Children), dir.Name)
			}
		}
		return
	}
	t.Error("no budget shows 39 files of the root")
}

func TestTreeBudgetShowsManyDirectoriesOfACommonLayout(t *testing.T) {
	java, monorepo, chain := map[string]string{"README.md": "", "pom.xml": ""}, map[string]string{"README.md": "", "docs/guide.md": ""}, map[string]string{}
	for i := range 4 {
		for j := range 40 {
			java[fmt.Sprintf("module%d/src/main/java/com/acme/module%d/package%d/Class%d.java", i, i, j%8, j)] = ""
			java[fmt.Sprintf("module%d/src/test/java/com/acme/module%d/package%d/Class%dTest.java", i, i, j%8, j)] = ""
		}
		java[fmt.Sprintf("module%d/pom.xml", i)] = ""
	}
	for i := range 30 {
		for j := range 20 {
			monorepo[fmt.Sprintf("packages/package%02d/src/file%02d.ts", i, j)] = ""
		}
		monorepo[fmt.Sprintf("packages/package%02d/package.json", i)] = ""
	}
	deep := "a"
	for range 60 {
		deep += "/level"
		chain[deep+"/file"] = ""
	}
	for i := range 20 {
		chain[fmt.Sprintf("dir%02d/file", i)] = ""
	}
	for _, tt := range []struct {
		name   string
		files  map[string]string
		budget int
		match  string // pattern of path.Match
		want   int
	}{
		{"Java", java, 300, "module?", 4},
		{"Java", java, 500, "module?/src", 4},
		{"Java", java, 1000, "module?/src/*", 8},
		{"Java", java, 2000, "module?/src/main/java/com/acme/module?", 4},
		{"monorepo", monorepo, 560, "packages/*", 10},
		{"monorepo", monorepo, 1500, "packages/*", 30},
		{"chain", chain, 750, "*", 21},
		{"chain", chain, 1000, "dir*/file", 20},
	} {
		c := catalog(t, toolshelf.WithFs(memoryOf(t, tt.files)))
		tree := must.Get(c.Tree(t.Context(), ".", toolshelf.Budget(tt.budget)))(t)
		got := 0
		for _, p := range paths("", tree.Children) {
			if ok, _ := path.Match(tt.match, p); ok {
				got++
			}
		}
		if got < tt.want {
			t.Errorf("%s, budget %d: %d of %d entries %s\n%s", tt.name, tt.budget, got, tt.want, tt.match, tree)
		}
	}
}

func TestTreeShowsTheMainEntriesFirst(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"README.md", "go.mod", "main.go", "cmd/tool/main.go", "lib/index.ts", "lib/readme", "lib/package.json"} {
		files[name] = ""
	}
	for i := range 100 {
		files[fmt.Sprintf("a%03d.txt", i)], files[fmt.Sprintf("lib/a%03d.ts", i)], files[fmt.Sprintf("b%03d/x", i)] = "", "", ""
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	for name, option := range map[string]toolshelf.DirOption{"a budget": toolshelf.Budget(4000), "a limit": toolshelf.Limit(330)} {
		tree, err := c.Tree(t.Context(), ".", withoutSizes, option)
		text := tree.String()
		at := 0
		for _, want := range []string{":\n", "\n[DIR]  cmd/", "\n[DIR]  b000/", "\n[DIR]  lib/\n  [FILE] index.ts\n  [FILE] package.json\n  [FILE] readme", "\n[FILE] go.mod\n[FILE] main.go\n[FILE] README.md\n"} {
			next := strings.Index(text[at:], strings.TrimPrefix(want, ":"))
			if next < 0 {
				t.Fatalf("%s: no %q in order, %v:\n%s", name, want, err, text)
			}
			at += next
		}
		if tree.Omitted == 0 {
			t.Errorf("%s: the tree is not cut", name)
		}
	}
}

func TestACutKeepsTheMainFilesOfADirectoryOfManyDirectories(t *testing.T) {
	files := map[string]string{}
	for _, dir := range []string{"", "lib/"} {
		for _, name := range []string{"README.md", "go.mod", "main.go", "a.txt", "z.txt", "cmd/tool/main.go"} {
			files[dir+name] = ""
		}
		for i := range 500 {
			files[fmt.Sprintf("%sdir%03d/file", dir, i)] = ""
		}
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	for _, dir := range []string{".", "lib"} {
		for _, tt := range []struct {
			option toolshelf.DirOption
			want   string
		}{
			{toolshelf.Limit(1), "go.mod"},
			{toolshelf.Limit(3), "go.mod main.go README.md"},
			{toolshelf.Limit(5), "cmd dir000 go.mod main.go README.md"},
			{toolshelf.Budget(170), "go.mod main.go README.md"},
			{toolshelf.Tokens(170, utf8.RuneCountInString), "go.mod main.go README.md"},
		} {
			tree, err := c.Tree(t.Context(), dir, tt.option, withoutSizes)
			if got := strings.Join(paths("", tree.Children), " "); err != nil || got != tt.want {
				t.Errorf("%s: %s, %v, want %s\n%s", dir, got, err, tt.want, tree)
			}
		}
	}
	for _, option := range []toolshelf.DirOption{toolshelf.Limit(1100), toolshelf.Budget(20_000)} {
		tree, err := c.Tree(t.Context(), ".", option)
		lib, _ := find(tree.Children, "lib")
		for _, nodes := range [][]toolshelf.TreeNode{tree.Children, lib.Children} {
			n := 0
			for _, name := range []string{"go.mod", "main.go", "README.md"} {
				if _, ok := find(nodes, name); ok {
					n++
				}
			}
			if err != nil || n != 3 || tree.Omitted == 0 {
				t.Errorf("%d main files, %d omitted, %v:\n%s", n, tree.Omitted, err, tree)
			}
		}
	}
}

func TestTreeBudgetOfALargeProject(t *testing.T) {
	for name, files := range map[string]int{"usual": 0, "with a large first level": 12_000} {
		large := map[string]string{}
		for i := range files {
			large[fmt.Sprintf("generated%05d.json", i)] = ""
		}
		for i := range 20_000 - files {
			large[fmt.Sprintf("package%02d/src/module%d/file%d.go", i%60, i%7, i)] = ""
		}
		c := catalog(t, toolshelf.WithFs(memoryOf(t, large)))
		tree := must.Get(c.Tree(t.Context(), ".", toolshelf.Budget(8000)))(t)
		text := tree.String()
		if n := utf8.RuneCountInString(text); n > 8000 || n < 7900 {
			t.Errorf("%s: %d characters", name, n)
		}
		if len(tree.Children) < 60 {
			t.Fatalf("%s: %d entries of the root", name, len(tree.Children))
		}
		below := 0
		for _, dir := range tree.Children[:60] {
			must.Equal(t, fmt.Sprintf("%s: %s is not a directory", name, dir.Name),
				toolshelf.EntryDirectory, dir.Type)
			below += len(dir.Children)
		}
		if below < 30 {
			t.Errorf("%s: %d entries below the directories of the root", name, below)
		}
	}
}

func TestGrepBudgetIsSharedBetweenFiles(t *testing.T) {
	files := map[string]string{"a.log": strings.Repeat("error: a\n", 1000)}
	for i := range 10 {
		files[fmt.Sprintf("src/file%d.go", i)] = strings.Repeat("return error\n", i+1)
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	for _, tt := range []struct {
		options []toolshelf.GrepOption
		want    string // the numbers of lines of each file
	}{
		{[]toolshelf.GrepOption{toolshelf.Budget(300)}, "src/file0.go 1, src/file1.go 1, src/file2.go 1, src/file3.go 1"},
		{[]toolshelf.GrepOption{toolshelf.Budget(570)}, "src/file0.go 1, src/file1.go 2, src/file2.go 1, src/file3.go 1, src/file4.go 1, src/file5.go 1, src/file6.go 1, src/file7.go 1, src/file8.go 1, src/file9.go 1, a.log 1"},
		{[]toolshelf.GrepOption{toolshelf.Budget(1 << 20), toolshelf.Limit(20)}, "src/file0.go 1, src/file1.go 2, src/file2.go 2, src/file3.go 2, src/file4.go 2, src/file5.go 2, src/file6.go 2, src/file7.go 2, src/file8.go 2, src/file9.go 2, a.log 1"},
	} {
		found := must.Get(c.Grep(t.Context(), ".", "error", tt.options...))(t)
		var got []string
		lines := 0
		for i, m := range found.Matches {
			lines++
			if i+1 == len(found.Matches) || found.Matches[i+1].Path != m.Path {
				got = append(got, fmt.Sprint(m.Path, " ", lines))
				must.Equal(t, "m.More", strings.Count(files[m.Path], "\n")-lines, m.More)
				lines = 0
			}
		}
		if got := strings.Join(got, ", "); got != tt.want {
			t.Errorf("%s\nwant %s\n%s", got, tt.want, found)
		}
	}
}

func TestPagesOfABudgetAreTheWholeListing(t *testing.T) {
	files := map[string]string{}
	for i := range 300 {
		files[fmt.Sprintf("%03d%s/x", i, strings.Repeat("-", i*7%60))] = ""
		files[fmt.Sprintf("%03d%s.txt", i, strings.Repeat("+", i*11%80))] = strings.Repeat("x", i*13%97)
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	for _, order := range []string{toolshelf.ByName, toolshelf.BySize, toolshelf.ByModified} {
		whole := must.Get(c.ListDir(t.Context(), ".", toolshelf.SortedBy(order), withoutSizes))(t)
		var entries []toolshelf.Entry
		pages := 0
		for cursor := ""; cursor != "" || pages == 0; pages++ {
			page := must.Get(c.ListDir(t.Context(), ".", toolshelf.SortedBy(order), withoutSizes, toolshelf.Budget(1000), toolshelf.After(cursor)))(t)
			if n := utf8.RuneCountInString(page.String()); n > 1000 || page.Files != 300 || page.Dirs != 300 {
				t.Errorf("%s: %d characters, %d files and %d directories", order, n, page.Files, page.Dirs)
			}
			entries = append(entries, page.Entries...)
			cursor = page.NextCursor
		}
		if diff := cmp.Diff(whole.Entries, entries); diff != "" || pages < 10 {
			t.Errorf("%s: %d pages (-whole +pages):\n%s", order, pages, diff)
		}
	}
}

func TestBudgetTokensCountsWholeTexts(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, sample())))
	for name, call := range map[string]func(toolshelf.DirOption) (fmt.Stringer, error){
		"Tree":      func(o toolshelf.DirOption) (fmt.Stringer, error) { return c.Tree(t.Context(), ".", o) },
		"ListDir":   func(o toolshelf.DirOption) (fmt.Stringer, error) { return c.ListDir(t.Context(), "src/tools", o) },
		"FindFiles": func(o toolshelf.DirOption) (fmt.Stringer, error) { return c.FindFiles(t.Context(), ".", "*", o) },
	} {
		for _, budget := range []int{22, 27, 1000} {
			var counted []string
			result, err := call(toolshelf.Tokens(budget, func(text string) int {
				counted = append(counted, text)
				return len(strings.Fields(text)) // not the size of a token, but larger for more entries
			}))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			text := result.String()
			if len(strings.Fields(text)) > budget || !slices.Contains(counted, text) {
				t.Errorf("%s: the text has not been counted, or has more than %d words:\n%s", name, budget, text)
			}
			if len(counted) > 10 || budget == 1000 && len(counted) != 1 {
				t.Errorf("%s: %d counts with a budget of %d", name, len(counted), budget)
			}
		}
	}
}

// No counter leads to a text beyond the budget.
func TestBudgetTokensWithAnUnusualCounter(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"d/a": "", "d/b": ""})))
	for name, count := range map[string]func(string) int{
		"fewer for more text": func(text string) int { return 1000 - len(text) },
		"fewer with warnings": func(text string) int { return 100 - min(99, 99*strings.Count(text, "Warning")) },
		"more with warnings":  func(text string) int { return 1 + 99*strings.Count(text, "Warning") },
		"a negative number":   func(string) int { return -1 },
	} {
		for _, budget := range []int{1, 50, 920} {
			counted := toolshelf.Tokens(budget, count)
			l, err := c.ListDir(t.Context(), "d", toolshelf.Gitignore(), counted)
			if size := count(l.String()); err == nil && size > budget || err != nil && !errors.Is(err, toolshelf.ErrInvalidOption) {
				t.Errorf("%s: ListDir returns %d tokens with a budget of %d, %v", name, size, budget, err)
			}
		}
	}
}

// The documentation of Budget names budgets that are always enough.
func TestBudgetsThatAreEnough(t *testing.T) {
	dir := strings.Repeat("p", 49) + "/" + strings.Repeat("q", 50)
	root := t.TempDir()
	must.Do(t, os.MkdirAll(filepath.Join(root, dir, ".gitignore", "x"), 0o755))
	// The name has 196 bytes, and so has the target. The cursor of the first entry has the name.
	wide := strings.Repeat("😀", 49)
	for _, name := range []string{"1", "2"} {
		hosttest.Symlink(t, strings.Repeat("../", 2)+wide, filepath.Join(root, dir, wide+name))
	}
	c := catalog(t, toolshelf.WithRoot(root))
	long := strings.Repeat("x", 100)
	for _, sort := range []string{toolshelf.ByName, toolshelf.BySize, toolshelf.ByModified} {
		page, err := c.ListDir(t.Context(), dir, toolshelf.Budget(700), toolshelf.Limit(1), toolshelf.Gitignore(), toolshelf.SortedBy(sort))
		if err != nil || len(page.Entries) != 1 || page.NextCursor == "" {
			t.Errorf("ListDir, order %s: %+v, %v", sort, page, err)
		}
	}
	enough := []toolshelf.DirOption{toolshelf.Budget(400), toolshelf.Gitignore()}
	if _, err := c.Tree(t.Context(), dir, append(enough, toolshelf.Exclude(long))...); err != nil {
		t.Error(err)
	}
	if _, err := c.FindFiles(t.Context(), dir, long, enough...); err != nil {
		t.Error(err)
	}
	if _, err := c.Grep(t.Context(), dir, long, toolshelf.Budget(600), toolshelf.Gitignore()); err != nil {
		t.Error(err)
	}
}

// TestBudgetFailsBeforeTheWork calls methods with a missing directory, which only the work reveals.
func TestBudgetFailsBeforeTheWork(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, sample())))
	dir := strings.Repeat("x", 50)
	for name, tt := range map[string]struct {
		call  func(toolshelf.FileOption) error
		least int
	}{
		"ListDir":   {func(o toolshelf.FileOption) error { _, err := c.ListDir(t.Context(), dir, o); return err }, 89},
		"Tree":      {func(o toolshelf.FileOption) error { _, err := c.Tree(t.Context(), dir, o); return err }, 67},
		"FindFiles": {func(o toolshelf.FileOption) error { _, err := c.FindFiles(t.Context(), dir, "*.go", o); return err }, 14},
		"Grep":      {func(o toolshelf.FileOption) error { _, err := c.Grep(t.Context(), dir, "text", o); return err }, 24},
	} {
		message := fmt.Sprintf("Budget: %d characters cannot hold the shortest result, %d characters; use a larger budget", tt.least-1, tt.least)
		checkError(t, name, tt.call(toolshelf.Budget(tt.least-1)), toolshelf.ErrInvalidOption, message)
		if err := tt.call(toolshelf.Budget(tt.least)); !errors.Is(err, toolshelf.ErrDirectoryNotFound) && !errors.Is(err, toolshelf.ErrNotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// The text with "1 file" is shorter than the text with "0 files".
func TestBudgetOfAShortText(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"d/a": "", "d/b/c": ""})
	c := catalog(t, toolshelf.WithFs(fsys))
	found, err := c.Grep(t.Context(), "d/a", "x", toolshelf.Budget(24))
	if err != nil || found.String() != "No lines found in 1 file" {
		t.Errorf("%s, %v", found, err)
	}
	page := must.Get(c.ListDir(t.Context(), "d", toolshelf.Limit(1)))(t)
	must.Do(t, fsys.Remove("d/a"))
	page, err = c.ListDir(t.Context(), "d", toolshelf.After(page.NextCursor), toolshelf.Budget(42))
	if err != nil || page.String() != "Directory: d/\nTotal: 0 files, 1 directory" {
		t.Errorf("%s, %v", page, err)
	}
}

// TestBudgetDoesNotReadWhatCannotFit counts twice a directory that is opened and read.
func TestBudgetDoesNotReadWhatCannotFit(t *testing.T) {
	files := map[string]string{}
	for i := range 3000 {
		files[fmt.Sprintf("d%02d/e%d/%04d", i%30, i%100, i)] = ""
	}
	files[strings.Repeat("deep/", 100)+"file"] = ""
	fsys := openedDirs{memoryOf(t, files), new(atomic.Int64), new(atomic.Int64)}
	c := catalog(t, toolshelf.WithFs(fsys))
	fsys.opens.Store(0)
	fsys.stats.Store(0)
	must.Get(c.Tree(t.Context(), ".", toolshelf.Budget(600)))(t)
	// A tree of 600 characters has at most 66 lines.
	if opens, stats := fsys.opens.Load(), fsys.stats.Load(); opens > 300 || stats > 600 {
		t.Errorf("Tree opens %d times and reads the metadata of %d entries", opens, stats)
	}
	fsys.opens.Store(0)
	must.Get(c.Tree(t.Context(), "deep", toolshelf.Budget(600)))(t)
	// 25 levels have more than 600 characters, because each level is indented.
	if opens := fsys.opens.Load(); opens > 2*25 {
		t.Errorf("Tree of deep directories opens %d times", opens)
	}
	fsys.stats.Store(0)
	must.Get(c.ListDir(t.Context(), "d00", toolshelf.Budget(300)))(t)
	if stats := fsys.stats.Load(); stats > 50 {
		t.Errorf("ListDir reads the metadata of %d entries", stats)
	}
}

func TestManyWarningsAreCounted(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("d%02d/.gitignore/x", i)] = ""
		files[fmt.Sprintf("d%02d/file", i)] = ""
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	tree := must.Get(c.Tree(t.Context(), ".", toolshelf.Gitignore(), toolshelf.Budget(1000)))(t)
	if n := len(tree.Warnings); n != 4 || !strings.HasSuffix(tree.String(), "\nWarning: 17 further warnings") || len(tree.Children) != 20 {
		t.Errorf("%d warnings:\n%s", n, tree)
	}
}

func TestBudgetCountsEntriesWithoutMetadata(t *testing.T) {
	fsys := catalogtest.Faulty{Fs: memoryOf(t, map[string]string{"a/1": "", "a/2": "", "b/1": "", "b/3": ""}), Stats: map[string]error{"1": fs.ErrPermission, "2": fs.ErrPermission}}
	c := catalog(t, toolshelf.WithFs(fsys))
	seen := map[int]bool{}
	for budget := range 300 {
		tree, err := c.Tree(t.Context(), ".", toolshelf.Budget(budget))
		if err != nil {
			continue
		}
		if n := utf8.RuneCountInString(tree.String()); n > budget {
			t.Errorf("budget %d: %d characters\n%s", budget, n, tree)
		}
		seen[len(tree.Warnings)] = true
	}
	if !seen[0] || !seen[1] {
		t.Errorf("numbers of warnings: %v", seen)
	}
}

// A larger budget reads more directories, so the numbers of ignored and omitted entries grow.
func TestTreeBudgetsThatReadMoreShowNoFewerEntries(t *testing.T) {
	files := map[string]string{".gitignore": "*.log\n"}
	for i := range 120 {
		files[fmt.Sprintf("dir%03d/a", i)] = ""
		if i >= 60 {
			files[fmt.Sprintf("dir%03d/a.log", i)] = ""
		}
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	shown, ignored := 0, map[int]bool{}
	step := 1020 / catalogtest.Rounds(1020, 1020)
	for budget := 180; budget < 1200; budget += step {
		tree := must.Get(c.Tree(t.Context(), ".", toolshelf.Budget(budget), toolshelf.Gitignore()))(t)
		ignored[tree.Ignored] = true
		if n := tree.Files + tree.Dirs; n < shown {
			t.Errorf("budget %d: %d entries, and %d with a smaller budget:\n%s", budget, n, shown, tree)
		} else {
			shown = n
		}
	}
	if len(ignored) < 3 {
		t.Errorf("the numbers of ignored entries are %v", ignored)
	}
}
