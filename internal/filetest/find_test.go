package filetest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestFindFilesText(t *testing.T) {
	overSample(t, func(t *testing.T, c *toolshelf.Catalog) { checkTexts(t, c, "find.txt") })
}

func TestFindFilesInAnOrder(t *testing.T) {
	root := t.TempDir()
	for i, file := range []string{"b/small.txt", "old.txt", "a/deep/large.txt", "a/same.txt", "link.txt"} {
		full := filepath.Join(root, file)
		must.Do(t, os.MkdirAll(filepath.Dir(full), 0o755))
		if file == "link.txt" {
			hosttest.Symlink(t, "b/small.txt", full)
			continue
		}
		size := map[string]int{"b/small.txt": 1, "a/deep/large.txt": 3000}[file]
		modified := time.Date(2026, 1, 10-i, 12, 30, 0, 0, time.UTC)
		must.Do(t, os.WriteFile(full, make([]byte, size), 0o644))
		must.Do(t, os.Chtimes(full, modified, modified))
	}
	c := catalog(t, toolshelf.WithRoot(root), toolshelf.WithSymlinks(toolshelf.SymlinksInside))
	for _, tt := range []struct {
		name    string
		options []toolshelf.DirOption
		want    string
	}{
		{"the largest files first, then by path", []toolshelf.DirOption{toolshelf.SortedBy(toolshelf.BySize)},
			"Found 5 files:\n\n2.9 KB  a/deep/large.txt\n1 B  b/small.txt\n1 B  link.txt\n0 B  a/same.txt\n0 B  old.txt"},
		{"the first of the newest files", []toolshelf.DirOption{toolshelf.SortedBy(toolshelf.ByModified), toolshelf.Limit(3)},
			"Found 5 files:\n\n2026-01-10 12:30  b/small.txt\n2026-01-10 12:30  link.txt\n2026-01-09 12:30  old.txt\n… and 2 more; raise the limit"},
		{"a budget", []toolshelf.DirOption{toolshelf.SortedBy(toolshelf.BySize), toolshelf.Budget(80)},
			"Found 5 files:\n\n2.9 KB  a/deep/large.txt\n… and 4 more; raise the limit"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, err := c.FindFiles(t.Context(), ".", "*.txt", tt.options...)
			if diff := cmp.Diff(tt.want, found.String()); err != nil || diff != "" {
				t.Errorf("%v, text (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestFindFilesMarksUnknownTimes(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(afero.FromIOFS{FS: fstest.MapFS{
		"a.txt": {}, "b.txt": {ModTime: time.Date(2026, 1, 10, 12, 30, 0, 0, time.UTC)}}}))
	found, err := c.FindFiles(t.Context(), ".", "*.txt", toolshelf.SortedBy(toolshelf.ByModified))
	if want := "Found 2 files:\n\n2026-01-10 12:30  b.txt\n?  a.txt"; err != nil || found.String() != want {
		t.Errorf("%v, text %q, want %q", err, found.String(), want)
	}
}

func TestGlobsThatMatchNoFileAreAnsweredWithAGlob(t *testing.T) {
	files := map[string]string{
		"src/io/io.go": "x", "src/io/reader.go": "x", "src/io/fs/walk.go": "x", "docs/README.md": "x", "app/[id]/page.tsx": "x",
		".gitignore": "dist\n", "src/dist/generated.js": "x", ".hidden/secret.go": "x", "node_modules/left-pad/index.js": "x",
		".github/workflows/ci.yaml": "x", ".git/config": "x", "web/deep/server/handler.go": "x", "web/deep/server/[a]/b.ts": "x",
	}
	hints := map[string]string{
		"relative": "Globs are relative to 'src/io/'; use 'OTHER' in place of 'GLOB'",
		"slashes":  "Globs have slashes between names; use 'OTHER' in place of 'GLOB'",
		"hidden":   "Hidden files are omitted; set show_hidden to find files for 'GLOB'",
		"leaves":   "Globs cannot leave 'PATH/'; pass another directory as path, and remove '..' from 'GLOB'",
	}
	globs := string(must.Get(os.ReadFile("testdata/globs.txt"))(t))
	must.Contain(t, "the globs", globs, "\nsrc/io ")
	for name, options := range map[string]toolshelf.Option{
		"memory": toolshelf.WithFs(memoryOf(t, files)),
		"disk":   toolshelf.WithRoot(diskOf(t, files)),
		"fs.FS":  toolshelf.WithFs(afero.FromIOFS{FS: catalogtest.Archive(t, files)}),
	} {
		c := catalog(t, options)
		for line := range strings.SplitSeq(globs, "\n") {
			row := must.Arguments(line)
			if line == "" || line[0] == '#' {
				continue
			}
			path, glob, suggestion := row[0], row[1], row[2]
			want := ""
			switch {
			case len(row) > 3:
				want = hints[row[3]]
			case suggestion != "":
				want = "Did you mean 'OTHER' in place of 'GLOB'?"
			}
			want = strings.NewReplacer("OTHER", suggestion, "GLOB", strings.ReplaceAll(glob, `\`, `\\`),
				"PATH", map[bool]string{true: ".", false: path}[path == ""]).Replace(want)
			found, err := c.FindFiles(t.Context(), path, glob, toolshelf.Gitignore(), toolshelf.SkipDependencies())
			lines, grepErr := c.Grep(t.Context(), path, "x", toolshelf.InFiles("*.absent", glob), toolshelf.Gitignore(), toolshelf.SkipDependencies())
			if errors.Join(err, grepErr) != nil || found.Total > 0 || found.Hint != want || lines.Hint != want {
				t.Errorf("%s: %s in %q: %v, %v, %d found, the hints %q and %q, want %q", name, glob, path, err, grepErr, found.Total, found.Hint, lines.Hint, want)
			}
			if text := "\n\n" + want; want != "" && (!strings.HasSuffix(found.String(), text) || !strings.HasSuffix(lines.String(), text)) {
				t.Errorf("%s: the texts lack the hint:\n%s\n%s", name, found, lines)
			}
			if again, err := c.FindFiles(t.Context(), path, suggestion, toolshelf.Gitignore(), toolshelf.SkipDependencies()); suggestion != "" && glob != "src/io/*.py" && (err != nil || again.Total == 0) {
				t.Errorf("%s: the suggestion %q finds nothing, %v", name, suggestion, err)
			}
		}
	}
}

func TestGlobsThatRepeatTheRootAreAnsweredWithTheRest(t *testing.T) {
	files := map[string]string{"proj/internal/server/handler.go": ""}
	above := diskOf(t, files)
	for name, options := range map[string][]toolshelf.Option{
		"disk":   {toolshelf.WithRoot(filepath.Join(above, "proj"))},
		"memory": {toolshelf.WithRoot("/proj"), toolshelf.WithFs(memoryOf(t, map[string]string{"/proj/internal/server/handler.go": ""}))},
	} {
		c := catalog(t, options...)
		root := filepath.ToSlash(bridgeOf(c).Root())
		const meant, relative = "Did you mean '%s' in place of '%s'?", "Globs are relative to './'; use '%s' in place of '%s'"
		for _, tt := range []struct{ path, glob, want, text string }{
			{".", "proj/internal/**/*.go", "internal/**/*.go", meant},
			{".", "proj", "**", meant},
			{".", root + "/internal/**/*.go", "internal/**/*.go", relative},
			{".", root + "/**/handlr.go", "**/handler.go", relative},
			{"internal", root + "/internal/server/*.go", "server/*.go", "Globs are relative to 'internal/'; use '%s' in place of '%s'"},
			{".", path.Dir(root) + "/other/*.go", "", ""},
		} {
			want := ""
			if tt.text != "" {
				want = fmt.Sprintf(tt.text, tt.want, tt.glob)
			}
			must.Equal(t, fmt.Sprintf("%s: %s in %s", name, tt.glob, tt.path), want,
				must.Get(c.FindFiles(t.Context(), tt.path, tt.glob))(t).Hint)
			if found, err := c.FindFiles(t.Context(), tt.path, tt.want); tt.want != "" && (err != nil || found.Total == 0) {
				t.Errorf("%s: the suggestion %q finds nothing, %v", name, tt.want, err)
			}
		}
	}
}

// TestHintsCostNothingUnlessNoFileMatches counts the directories that the calls open.
func TestHintsCostNothingUnlessNoFileMatches(t *testing.T) {
	fsys := openedDirs{memoryOf(t, map[string]string{"src/a.go": "x", "src/b/c.go": "x"}), new(atomic.Int64), new(atomic.Int64)}
	c := catalog(t, toolshelf.WithFs(fsys))
	opens := func(pattern string) int64 {
		before := fsys.opens.Load()
		must.Get(c.FindFiles(t.Context(), "src", pattern))(t)
		return fsys.opens.Load() - before
	}
	all := opens("*.go")
	for _, pattern := range []string{"*.py", "**/*.py", "?.py"} {
		must.Equal(t, "opens(pattern)", all, opens(pattern))
	}
	must.Equal(t, "result", 2*all, opens("d.go"))
}

func TestPatterns(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		"p/a.go": "", "p/B.go": "", "p/x/a.go": "", "p/x/y/a.go": "", "p/x/y/b.md": "", "p/{z}": "", "q/a.go": "",
	})))
	for _, tt := range []struct{ pattern, want string }{
		{"a.go", "p/x/y/a.go p/x/a.go p/a.go"},
		{"*.go", "p/x/y/a.go p/x/a.go p/a.go p/B.go"},
		{"/*.go", "p/a.go p/B.go"},
		{"./*.go", "p/x/y/a.go p/x/a.go p/a.go p/B.go"},
		{"x/*.go", "p/x/a.go"},
		{"x/**/*.go", "p/x/y/a.go p/x/a.go"},
		{"x/**", "p/x/y/a.go p/x/y/b.md p/x/a.go"},
		{"*/y/*.{go,md}", "p/x/y/a.go p/x/y/b.md"},
		{"{x,x/y}/a.go", "p/x/y/a.go p/x/a.go"},
		{"a.go{x/y,*}{x/y,*}", "p/a.go"}, // one alternative is "a.go**", and "**" beside other characters is "*"
		{"**", "p/x/y/a.go p/x/y/b.md p/x/a.go p/a.go p/B.go p/{z}"},
		{"[Ab].??", "p/x/y/b.md"},
		{`\{z\}`, "p/{z}"},
		{"y/a.go", ""},
		{"../q/a.go", ""},
		{"a.go/", ""},
	} {
		found, err := c.FindFiles(t.Context(), "p", tt.pattern)
		if err != nil {
			t.Errorf("%s: %v", tt.pattern, err)
			continue
		}
		if got := strings.Join(found.Files, " "); got != tt.want || found.Total != len(found.Files) {
			t.Errorf("%s finds %s (%d), want %s", tt.pattern, got, found.Total, tt.want)
		}
	}
	for _, pattern := range []string{"", "/", "[", "a{", "a[]", `a\`, strings.Repeat("{a,b}", 20)} {
		if _, err := c.FindFiles(t.Context(), ".", pattern); !errors.Is(err, toolshelf.ErrInvalidPattern) {
			t.Errorf("pattern %q: %v", pattern, err)
		}
	}
}

// TestFindFilesIsAFilterOfTheTree compares with matching every path of the
// tree, over random trees, patterns and limits.
func TestFindFilesIsAFilterOfTheTree(t *testing.T) {
	element := rapid.SampledFrom([]string{"a", "B", "ab", "b.go"})
	part := rapid.SampledFrom([]string{"a", "b", "*", "**", "/", "/", "?", "{a,B}", "{a/b,*}", "[ab]", ".go", "**/"})
	rapid.Check(t, func(r *rapid.T) {
		fsys := afero.NewMemMapFs()
		for _, elements := range rapid.SliceOfN(rapid.SliceOfN(element, 1, 5), 1, 20).Draw(r, "files") {
			dir := "top"
			for _, e := range elements[:len(elements)-1] {
				dir += "/d" + e
			}
			must.Do(r, afero.WriteFile(fsys, dir+"/"+elements[len(elements)-1], nil, 0o644))
		}
		c := catalog(t, toolshelf.WithFs(fsys))
		pattern := strings.Join(rapid.SliceOfN(part, 1, 6).Draw(r, "pattern"), "")
		if strings.Contains(pattern, "*{") || strings.Contains(pattern, "}*") {
			r.SkipNow() // doublestar takes each star at an edge of braces by itself
		}
		limit := rapid.IntRange(0, 4).Draw(r, "limit")
		found, err := c.FindFiles(context.Background(), "top", pattern, toolshelf.Limit(limit))
		if errors.Is(err, toolshelf.ErrInvalidPattern) {
			r.SkipNow()
		} else if err != nil {
			r.Fatal(err)
		}
		tree := must.Get(c.Tree(context.Background(), "top"))(r)
		want := []string{}
		var walk func(dir string, nodes []toolshelf.TreeNode)
		walk = func(dir string, nodes []toolshelf.TreeNode) {
			for _, n := range nodes {
				full := path.Join(dir, n.Name)
				walk(full, n.Children)
				name := full
				if !strings.Contains(pattern, "/") {
					name = n.Name
				}
				plain := strings.TrimPrefix(strings.TrimSuffix(pattern, "/"), "/")
				matches := func(p string) bool { return doublestar.MatchUnvalidated(p, name) }
				if n.Type == toolshelf.EntryFile && !strings.HasSuffix(pattern, "/") && slices.ContainsFunc(withoutStarsInBraces(plain), matches) {
					want = append(want, "top/"+full)
				}
			}
		}
		walk("", tree.Children)
		if found.Total != len(want) {
			r.Fatalf("%s: %d found, want %q", pattern, found.Total, want)
		}
		if limit > 0 {
			want = want[:min(limit, len(want))]
		}
		if !slices.Equal(found.Files, want) {
			r.Errorf("%s, limit %d: found %q, want %q", pattern, limit, found.Files, want)
		}
	})
}

// withoutStarsInBraces returns the patterns that together match what a pattern with the braces
// "{a/b,*}" matches. doublestar overlooks that two such braces match no characters. Two stars
// of adjacent braces are a single star.
func withoutStarsInBraces(pattern string) []string {
	before, after, ok := strings.Cut(pattern, "{a/b,*}")
	if !ok {
		return []string{pattern}
	}
	star := "*"
	if strings.HasSuffix(before, "*") {
		star = ""
	}
	return append(withoutStarsInBraces(before+"a/b"+after), withoutStarsInBraces(before+star+after)...)
}

func TestGitignore(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		".gitignore":        "*.log\n/build/\n!keep.log\ndocs/*.tmp\n",
		"a.log":             "",
		"keep.log":          "",
		"build/out":         "",
		"src/build/out":     "",
		"src/.gitignore":    "*.o\n!a.log\n",
		"src/a.log":         "",
		"src/b.log":         "",
		"src/a.o":           "",
		"docs/x.tmp":        "",
		"docs/y":            "",
		"docs/sub/x.tmp":    "",
		".git/config":       "",
		"src/vendored/.git": "gitdir: elsewhere",
		"a.o":               "",
		"unused/.gitignore": "",
	})))
	for _, tt := range []struct {
		dir, want string
		ignored   int
	}{
		{".", "docs docs/sub docs/sub/x.tmp docs/y src src/build src/build/out src/vendored src/.gitignore src/a.log unused unused/.gitignore .gitignore a.o keep.log", 7},
		{"src", "build build/out vendored .gitignore a.log", 3},
		{"docs", "sub sub/x.tmp y", 1},
		{"build", "out", 0}, // asked for by its name
	} {
		options := []toolshelf.DirOption{toolshelf.Gitignore(), toolshelf.ShowHidden()}
		tree := must.Get(c.Tree(t.Context(), tt.dir, options...))(t)
		if got := strings.Join(paths("", tree.Children), " "); got != tt.want || tree.Ignored != tt.ignored {
			t.Errorf("Tree(%s): %s and %d ignored, want %s and %d", tt.dir, got, tree.Ignored, tt.want, tt.ignored)
		}
		found := must.Get(c.FindFiles(t.Context(), tt.dir, "*", options...))(t)
		if found.Total != tree.Files || found.Ignored != tt.ignored {
			t.Errorf("FindFiles(%s): %d found and %d ignored, want %d and %d", tt.dir, found.Total, found.Ignored, tree.Files, tt.ignored)
		}
		listing := must.Get(c.ListDir(t.Context(), tt.dir, options...))(t)
		if len(listing.Entries) != len(tree.Children) || listing.Files+listing.Dirs != len(tree.Children) {
			t.Errorf("ListDir(%s): %d entries, want %d", tt.dir, len(listing.Entries), len(tree.Children))
		}
	}
}

func TestUnreadableGitignoreFileIsAWarning(t *testing.T) {
	big := "a\n" + strings.Repeat("#23456789abcdef\n", 1<<16) + "b\n"
	fsys := catalogtest.Faulty{
		Fs: memoryOf(t, map[string]string{"big/.gitignore": big, "big/a": "", "big/b": "", "dir/.gitignore/x": "", "dir/a": ""}),
	}
	c := catalog(t, toolshelf.WithFs(fsys))
	tree := must.Get(c.Tree(t.Context(), ".", toolshelf.Gitignore()))(t)
	want := `Directory tree: ./

[DIR]  big/
  [FILE] b (0 B)
[DIR]  dir/
  [FILE] a (0 B)

.gitignore omits 1 entry

Warning: 'big/.gitignore' is larger than 1 MiB; the patterns after 1 MiB have no effect
Warning: 'dir/.gitignore' cannot be read (not a regular file); its patterns have no effect`
	must.Match(t, "text", want, tree.String())
}

var withDependencies = map[string]string{
	".gitignore":                       "node_modules/\n/venv\n",
	".git/HEAD":                        "",
	".git/objects/ab/cdef":             "",
	"web/node_modules/a/index.js":      "",
	"web/node_modules/a/.git/HEAD":     "",
	"web/node_modules/b/index.js":      "",
	"web/node_modules/.bin/a":          "",
	"web/app.js":                       "",
	"web/vendor/c/index.js":            "",
	"venv/pyvenv.cfg":                  "",
	"lib/node_modules":                 "a file",
	"lib/empty/site-packages/.keep/me": "",
}

func TestTreeCountsTheEntriesOfDependencies(t *testing.T) {
	for name, fsys := range map[string]toolshelf.Option{
		"memory": toolshelf.WithFs(memoryOf(t, withDependencies)),
		"disk":   toolshelf.WithRoot(diskOf(t, withDependencies)),
	} {
		t.Run(name, func(t *testing.T) { checkTexts(t, catalog(t, fsys), "dependencies.txt") })
	}
}

func TestTreeCountsTheEntriesOfEmptyDependencies(t *testing.T) {
	fsys := memoryOf(t, map[string]string{"app.js": ""})
	for _, dir := range []string{"node_modules", "empty"} {
		must.Do(t, fsys.Mkdir(dir, 0o755))
	}
	tree, err := catalog(t, toolshelf.WithFs(fsys)).Tree(t.Context(), ".", toolshelf.SkipDependencies())
	want := "Directory tree: ./\n\n[DIR]  empty/\n[DIR]  node_modules/ (0 entries)\n[FILE] app.js (0 B)"
	if err != nil || tree.String() != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, tree.String()))
	}
}

func TestFindFilesSkipsDependencies(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, withDependencies)))
	for _, tt := range []struct {
		path, pattern, want string
		skipped             int
	}{
		{".", "*.js", "web/vendor/c/index.js web/app.js", 2},
		{"web/node_modules", "*.js", "web/node_modules/a/index.js web/node_modules/b/index.js", 0},
		{".", "web/node_modules/*/index.js", "web/node_modules/a/index.js web/node_modules/b/index.js", 0},
		{".", "web/n*/*/index.js", "", 1},
		{".", "/*", "", 0}, // no level below
		{".", "node_modules", "lib/node_modules", 2},
	} {
		found := must.Get(c.FindFiles(t.Context(), tt.path, tt.pattern, toolshelf.SkipDependencies(), toolshelf.Exclude("site-packages")))(t)
		if got := strings.Join(found.Files, " "); got != tt.want || found.Dependencies != tt.skipped {
			t.Errorf("%s in %s: %q and %d directories skipped, want %q and %d", tt.pattern, tt.path, got, found.Dependencies, tt.want, tt.skipped)
		}
	}
	found, err := c.FindFiles(t.Context(), ".", "*.css", toolshelf.SkipDependencies(), toolshelf.Exclude("lib"))
	if want := "No files found\n\n2 directories of dependencies were not searched (see show_dependencies)"; err != nil || found.String() != want {
		t.Errorf("%q, %v; want %q", found, err, want)
	}
}

func TestUnreadableDependenciesHaveAReason(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(catalogtest.Faulty{Fs: memoryOf(t, withDependencies), Opens: map[string]error{"node_modules": fs.ErrPermission}}))
	tree, err := c.Tree(t.Context(), "web", toolshelf.SkipDependencies(), toolshelf.Exclude("vendor"))
	want := "Directory tree: web/\n\nExcluding: vendor\n\n[DIR]  node_modules/ (permission denied)\n[FILE] app.js (0 B)"
	if err != nil || tree.String() != want {
		t.Errorf("%v\n%s", err, cmp.Diff(want, tree.String()))
	}
}

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
		must.Do(t, afero.WriteFile(fsys, name, []byte(text), 0o644))
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
	levels := 9
	if testing.Short() {
		levels = 4
	}
	for i := range 1 << levels {
		path := ""
		for bit := range levels {
			path += fmt.Sprintf("%d/", i>>bit&1) + chain[:20]
		}
		add("a binary tree of chains", path)
	}
	return forests
}

// TestWalksOpenEachDirectoryAFewTimes: on this filesystem a directory that is
// opened and read counts twice, and each reopening once.
func TestWalksOpenEachDirectoryAFewTimes(t *testing.T) {
	for name, files := range deepForests(catalogtest.Rounds(100, 400)) {
		t.Run(name, func(t *testing.T) {
			fsys := openedDirs{afero.NewMemMapFs(), new(atomic.Int64), new(atomic.Int64)}
			for _, file := range files {
				must.Do(t, afero.WriteFile(fsys, file, nil, 0o644))
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
