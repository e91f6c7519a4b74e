// Package filetest tests the file methods of a catalog.
package filetest

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/afero"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/toolshelf-go/toolshelf"
	"github.com/toolshelf-go/toolshelf/internal/bridge"
	"github.com/toolshelf-go/toolshelf/internal/catalogtest"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
)

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", strconv.Itoa(catalogtest.Rounds(40, 1000))); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

var (
	catalog  = catalogtest.Open
	memoryOf = catalogtest.Memory
	diskOf   = catalogtest.Disk
	written  = catalogtest.Written

	checkError = catalogtest.CheckError
)

// bridgeOf returns the methods of a catalog for package mcpadapter.
func bridgeOf(c *toolshelf.Catalog) bridge.Catalog[toolshelf.SkillInfo, toolshelf.SkillFile] {
	return bridge.Of[toolshelf.SkillInfo, toolshelf.SkillFile](c)
}

// sized is a file of so many bytes.
func sized(n int) string { return strings.Repeat("x", n) }

// sample is the project of the contracts' examples, and a few hidden files.
func sample() map[string]string {
	return map[string]string{
		"src/agent.lisp":                    sized(2458),
		"src/tools/buffer.lisp":             sized(4301),
		"src/tools/diff.lisp":               sized(2867),
		"src/tools/execution.lisp":          sized(3174),
		"src/tools/introspection.lisp":      sized(8704),
		"src/tools/package.lisp":            sized(1229),
		"src/tools/registry.lisp":           sized(2458),
		"src/tools/introspection/probe.lsp": sized(1126),
		"src/tools/.cache/x":                "x",
		".gitignore":                        "*.log\n",
		"README.md":                         sized(20),
	}
}

// overSample runs a test over the sample in memory, relative and absolute, and
// on the disk.
func overSample(t *testing.T, test func(t *testing.T, c *toolshelf.Catalog)) {
	files := sample()
	t.Run("memory", func(t *testing.T) { test(t, catalog(t, toolshelf.WithFs(memoryOf(t, files)))) })
	t.Run("memory, absolute", func(t *testing.T) {
		absolute := map[string]string{"/srv/other/secret": "x", "/srv/project2/secret": "x"}
		for p, content := range files {
			absolute["/srv/project/"+p] = content
		}
		test(t, catalog(t, toolshelf.WithFs(memoryOf(t, absolute)), toolshelf.WithRoot("/srv/project")))
	})
	t.Run("disk", func(t *testing.T) { test(t, catalog(t, toolshelf.WithRoot(diskOf(t, files)))) })
	t.Run("disk, as a given OsFs", func(t *testing.T) {
		test(t, catalog(t, toolshelf.WithFs(afero.NewOsFs()), toolshelf.WithRoot(diskOf(t, files))))
	})
}

// checkTexts compares the texts of calls with a file of testdata. A title in the first column begins
// a case: a call, as "grep PATH PATTERN OPTION...", and the lines of the text after "|".
func checkTexts(t *testing.T, c *toolshelf.Catalog, file string) {
	t.Helper()
	var title string
	var call, want []string
	check := func() {
		if call == nil || want == nil {
			t.Fatalf("%s: the case %q has no call or no text", file, title)
		}
		t.Run(title, func(t *testing.T) {
			must.Match(t, "text", strings.Join(want, "\n"), textOf(t, c, call[0], call[1], call[2:]))
		})
		call, want = nil, nil
	}
	for line := range strings.Lines(string(must.Get(os.ReadFile("testdata/" + file))(t))) {
		line = strings.TrimRight(line, "\r\n")
		below, isBelow := strings.CutPrefix(line, "\t")
		text, isText := strings.CutPrefix(below, "|")
		switch {
		case isBelow && isText:
			want = append(want, strings.TrimPrefix(text, " "))
		case isBelow && call == nil:
			call = must.Arguments(below)
		case isBelow:
			t.Fatalf("%s: the case %q has a second call", file, title)
		case line != "" && line[0] != '#':
			if title != "" {
				check()
			}
			title = line
		}
	}
	check()
}

func textOf(t *testing.T, c *toolshelf.Catalog, method, path string, arguments []string) string {
	pattern := ""
	if method == "grep" || method == "find" {
		pattern, arguments = arguments[0], arguments[1:]
	}
	var dirs []toolshelf.DirOption
	var greps []toolshelf.GrepOption
	for _, argument := range arguments {
		option := optionOf(t, argument)
		if dir, ok := option.(toolshelf.DirOption); ok {
			dirs = append(dirs, dir)
		}
		if grep, ok := option.(toolshelf.GrepOption); ok {
			greps = append(greps, grep)
		}
	}
	switch method {
	case "list":
		return must.Get(c.ListDir(t.Context(), path, dirs...))(t).String()
	case "tree":
		return must.Get(c.Tree(t.Context(), path, dirs...))(t).String()
	case "find":
		return must.Get(c.FindFiles(t.Context(), path, pattern, dirs...))(t).String()
	case "grep":
		return must.Get(c.Grep(t.Context(), path, pattern, greps...))(t).String()
	}
	t.Fatalf("no call %q", method)
	return ""
}

func optionOf(t *testing.T, argument string) any {
	name, value, _ := strings.Cut(argument, "=")
	number, _ := strconv.Atoi(value)
	option, ok := map[string]any{
		"exclude": toolshelf.Exclude(strings.Split(value, ",")...),
		"files":   toolshelf.InFiles(strings.Split(value, ",")...),
		"limit":   toolshelf.Limit(number), "budget": toolshelf.Budget(number),
		"depth": toolshelf.MaxDepth(number), "context": toolshelf.ContextLines(number),
		"by": toolshelf.SortedBy(value), "hidden": toolshelf.ShowHidden(),
		"gitignore": toolshelf.Gitignore(), "dependencies": toolshelf.SkipDependencies(),
		"paths": toolshelf.FilesOnly, "counts": toolshelf.CountOnly,
		"words": toolshelf.WholeWords, "case": toolshelf.IgnoreCase,
	}[name]
	if !ok {
		t.Fatalf("no option %q", argument)
	}
	return option
}

func TestListDirText(t *testing.T) {
	overSample(t, func(t *testing.T, c *toolshelf.Catalog) { checkTexts(t, c, "list.txt") })
}

func TestListDirTextContainsTheNextCursor(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, sample())))
	listing := must.Get(c.ListDir(t.Context(), "src/tools", toolshelf.Limit(2)))(t)
	want := `Directory: src/tools/
Total: 6 files, 1 directory

[DIR]  introspection/
[FILE] buffer.lisp  (4.2 KB)

2 of 7 entries shown; the next cursor is ` + listing.NextCursor
	must.Match(t, "text", want, listing.String())
}

func TestLongNamesArePaddedToFortyColumns(t *testing.T) {
	long := strings.Repeat("n", 45)
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"a": "x", long: "x", "日本": "x"})))
	listing := must.Get(c.ListDir(t.Context(), "."))(t)
	want := "Directory: ./\nTotal: 3 files, 0 directories\n\n" +
		"[FILE] a" + strings.Repeat(" ", 39) + "(1 B)\n" +
		"[FILE] " + long + "  (1 B)\n" +
		"[FILE] 日本" + strings.Repeat(" ", 38) + "(1 B)"
	must.Match(t, "text", want, listing.String())
}

func TestErrorsOfPaths(t *testing.T) {
	overSample(t, func(t *testing.T, c *toolshelf.Catalog) {
		for _, tt := range []struct {
			path                string
			listCode, statCode  *toolshelf.Error
			listError, statText string
		}{
			{"/etc/passwd", toolshelf.ErrOutsideRoot, toolshelf.ErrOutsideRoot, "Path '/etc/passwd' is outside project root", "Path '/etc/passwd' is outside project root"},
			{"/no/such/thing", toolshelf.ErrOutsideRoot, toolshelf.ErrOutsideRoot, "Path '/no/such/thing' is outside project root", "Path '/no/such/thing' is outside project root"},
			{"/", toolshelf.ErrOutsideRoot, toolshelf.ErrOutsideRoot, "Path '/' is outside project root", "Path '/' is outside project root"},
			{"..", toolshelf.ErrOutsideRoot, toolshelf.ErrOutsideRoot, "Path '..' is outside project root", "Path '..' is outside project root"},
			{"src/../../project2", toolshelf.ErrOutsideRoot, toolshelf.ErrOutsideRoot, "Path 'src/../../project2' is outside project root", "Path 'src/../../project2' is outside project root"},
			{"/srv/project2", toolshelf.ErrOutsideRoot, toolshelf.ErrOutsideRoot, "Path '/srv/project2' is outside project root", "Path '/srv/project2' is outside project root"},
			{"../\n[DIR]  x", toolshelf.ErrOutsideRoot, toolshelf.ErrOutsideRoot, `Path '../\n[DIR]  x' is outside project root`, `Path '../\n[DIR]  x' is outside project root`},
			{"src/agent.lisp", toolshelf.ErrNotADirectory, nil, "'src/agent.lisp' is a file, not a directory", ""},
			{"src/nonexistent", toolshelf.ErrDirectoryNotFound, toolshelf.ErrNotFound, "Directory 'src/nonexistent/' not found", "File 'src/nonexistent' not found"},
			{"src/nonexistent/", toolshelf.ErrDirectoryNotFound, toolshelf.ErrNotFound, "Directory 'src/nonexistent/' not found", "File 'src/nonexistent' not found"},
			{"src/agent.lisp/x", toolshelf.ErrDirectoryNotFound, toolshelf.ErrNotFound, "Directory 'src/agent.lisp/x/' not found", "File 'src/agent.lisp/x' not found"},
			{"a\x00b", toolshelf.ErrDirectoryNotFound, toolshelf.ErrNotFound, `Directory 'a\x00b/' not found`, `File 'a\x00b' not found`},
			{"src/tool", toolshelf.ErrDirectoryNotFound, toolshelf.ErrNotFound, "Directory 'src/tool/' not found; did you mean 'src/tools/'?", "File 'src/tool' not found; did you mean 'src/tools'?"},
			{"SRCS/Toosl/introspecton", toolshelf.ErrDirectoryNotFound, toolshelf.ErrNotFound, "Directory 'SRCS/Toosl/introspecton/' not found; did you mean 'src/tools/introspection/'?", "File 'SRCS/Toosl/introspecton' not found; did you mean 'src/tools/introspection'?"},
			{"src/agnet.lisp", toolshelf.ErrDirectoryNotFound, toolshelf.ErrNotFound, "Directory 'src/agnet.lisp/' not found", "File 'src/agnet.lisp' not found; did you mean 'src/agent.lisp'?"},
			{"src/tools/cache", toolshelf.ErrDirectoryNotFound, toolshelf.ErrNotFound, "Directory 'src/tools/cache/' not found", "File 'src/tools/cache' not found"},
			{"src/tools/.cach", toolshelf.ErrDirectoryNotFound, toolshelf.ErrNotFound, "Directory 'src/tools/.cach/' not found; did you mean 'src/tools/.cache/'?", "File 'src/tools/.cach' not found; did you mean 'src/tools/.cache'?"},
		} {
			_, err := c.ListDir(t.Context(), tt.path)
			checkError(t, fmt.Sprintf("ListDir(%q)", tt.path), err, tt.listCode, tt.listError)
			_, err = c.Tree(t.Context(), tt.path)
			checkError(t, fmt.Sprintf("Tree(%q)", tt.path), err, tt.listCode, tt.listError)
			_, err = c.FindFiles(t.Context(), tt.path, "*")
			checkError(t, fmt.Sprintf("FindFiles(%q)", tt.path), err, tt.listCode, tt.listError)
			_, err = c.Stat(t.Context(), tt.path)
			checkError(t, fmt.Sprintf("Stat(%q)", tt.path), err, tt.statCode, tt.statText)
			_, err = c.ReadFile(t.Context(), tt.path)
			checkError(t, fmt.Sprintf("ReadFile(%q)", tt.path), err, tt.statCode, tt.statText)
			if _, err = c.Stat(t.Context(), tt.path); err != nil {
				_, err = c.Grep(t.Context(), tt.path, "x")
				checkError(t, fmt.Sprintf("Grep(%q)", tt.path), err, tt.statCode, tt.statText)
			}
		}
	})
}

func TestPathsInsideTheRoot(t *testing.T) {
	dir := diskOf(t, sample())
	link := filepath.Join(t.TempDir(), "link")
	hosttest.Symlink(t, dir, link)
	absolute := map[string]string{"/srv/project/src/tools/a": ""}
	for _, tt := range []struct {
		name  string
		c     *toolshelf.Catalog
		paths []string
	}{
		{"relative", catalog(t, toolshelf.WithRoot(dir)), []string{"src/tools", "./src//tools/", "src/x/../tools", "src/tools/."}},
		{"absolute", catalog(t, toolshelf.WithRoot(dir)), []string{dir + "/src/tools", dir + "/src/../src/tools/"}},
		{"through a link to the root", catalog(t, toolshelf.WithRoot(link)), []string{link + "/src/tools", dir + "/src/tools"}},
		{"absolute in memory", catalog(t, toolshelf.WithFs(memoryOf(t, absolute)), toolshelf.WithRoot("/srv/project")), []string{"/srv/project/src/tools", "src/tools"}},
		{"below /", catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{"/src/tools/a": ""})), toolshelf.WithRoot("/")), []string{"/src/tools", "src/tools"}},
	} {
		for _, p := range tt.paths {
			listing, err := tt.c.ListDir(t.Context(), p)
			if err != nil || listing.Path != "src/tools/" {
				t.Errorf("%s: ListDir(%q) lists %q, %v", tt.name, p, listing.Path, err)
			}
		}
	}
}

func TestOrders(t *testing.T) {
	files := map[string]string{
		"b": sized(10), "A": sized(10), "a": sized(300), "C": sized(5), "ä": "", "Ä": "", "_": "",
		"Dir/x": "", "dir/x": "", "another/x": "",
	}
	omitted := []string{"a", "dir", "ä"} // on the disk, because some filesystems ignore letter case
	distinct := maps.Clone(files)
	maps.DeleteFunc(distinct, func(name, _ string) bool { return slices.Contains(omitted, strings.TrimSuffix(name, "/x")) })
	memory, dir := memoryOf(t, files), diskOf(t, distinct)
	for i, name := range []string{"another", "a", "C", "Dir", "_", "dir", "b", "ä", "Ä", "A"} {
		when := written.Add(time.Duration(i) * time.Nanosecond)
		must.Do(t, memory.Chtimes(name, when, when))
		if slices.Contains(omitted, name) {
			continue
		}
		when = written.Add(time.Duration(i) * 100 * time.Nanosecond) // the unit of times on Windows
		must.Do(t, os.Chtimes(filepath.Join(dir, name), when, when))
	}
	for _, tt := range []struct {
		name string
		c    *toolshelf.Catalog
		want map[string]string
	}{
		{"memory", catalog(t, toolshelf.WithFs(memory)), map[string]string{
			"":                   "another Dir dir _ A a b C Ä ä",
			toolshelf.ByName:     "another Dir dir _ A a b C Ä ä",
			toolshelf.BySize:     "another Dir dir a A b C _ Ä ä",
			toolshelf.ByModified: "dir Dir another A Ä ä b _ C a",
		}},
		{"disk", catalog(t, toolshelf.WithRoot(dir)), map[string]string{
			"":                   "another Dir _ A b C Ä",
			toolshelf.ByName:     "another Dir _ A b C Ä",
			toolshelf.BySize:     "another Dir A b C _ Ä",
			toolshelf.ByModified: "Dir another A Ä b _ C",
		}},
	} {
		for key, want := range tt.want {
			for _, limit := range []int{0, 1, 3, 10, 11} {
				if got := strings.Join(pages(t, tt.c, ".", toolshelf.SortedBy(key), toolshelf.Limit(limit)), " "); got != want {
					t.Errorf("%s, sorted by %q, %d a page: %s, want %s", tt.name, key, limit, got, want)
				}
			}
		}
		_, err := tt.c.ListDir(t.Context(), ".", toolshelf.SortedBy("colour\n"))
		checkError(t, "an unknown order", err, toolshelf.ErrInvalidSort, `cannot sort by 'colour\n'; use name, size or modified`)
	}
}

// A model that looks for the largest or the newest file of a project lists a directory by size or
// by time.
func TestAPageBySizeOrTimeThatEntriesFollowHasAHint(t *testing.T) {
	files := sample()
	files["flat/a"], files["flat/b"] = "a", "b"
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)))
	const hint = "Sorted in this directory only; for the whole tree, search files with sort_by"
	for _, tt := range []struct {
		name    string
		dir     string
		order   string
		options []toolshelf.DirOption
		want    string
	}{
		{"by size", "src/tools", toolshelf.BySize, []toolshelf.DirOption{toolshelf.Limit(2)}, hint},
		{"by time", "src/tools", toolshelf.ByModified, []toolshelf.DirOption{toolshelf.Limit(2)}, hint},
		{"by size within a budget", "src/tools", toolshelf.BySize, []toolshelf.DirOption{toolshelf.Budget(280)}, hint},
		{"by name", "src/tools", toolshelf.ByName, []toolshelf.DirOption{toolshelf.Limit(2)}, ""},
		{"without subdirectories", "flat", toolshelf.BySize, []toolshelf.DirOption{toolshelf.Limit(1)}, ""},
		{"the last page", "src/tools", toolshelf.BySize, nil, ""},
	} {
		listing, err := c.ListDir(t.Context(), tt.dir, append(tt.options, toolshelf.SortedBy(tt.order))...)
		if err != nil || listing.Hint != tt.want || strings.HasSuffix(listing.String(), "\n\n"+hint) != (tt.want != "") {
			t.Errorf("%s: %v\n%s", tt.name, err, listing)
		}
	}
}

// pages are the names of all pages of a directory.
func pages(t testing.TB, c *toolshelf.Catalog, dir string, options ...toolshelf.DirOption) []string {
	t.Helper()
	var names []string
	cursor := ""
	for {
		listing := must.Get(c.ListDir(t.Context(), dir, append(options, toolshelf.After(cursor))...))(t)
		for _, e := range listing.Entries {
			names = append(names, e.Name)
		}
		if cursor = listing.NextCursor; cursor == "" {
			return names
		}
	}
}

func TestCursorsOfOtherListsAreRejected(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, sample())))
	listing := must.Get(c.ListDir(t.Context(), "src/tools", toolshelf.Limit(1)))(t)
	bySize := must.Get(c.ListDir(t.Context(), "src/tools", toolshelf.Limit(1), toolshelf.SortedBy(toolshelf.BySize)))(t)
	commands, _, err := toolshelf.Paginate([]string{"a", "b"}, toolshelf.Page{Size: 1}, func(s string) string { return s })
	if err != nil || len(commands) != 1 {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		what, dir, cursor string
		options           []toolshelf.DirOption
	}{
		{"of another directory", "src", listing.NextCursor, nil},
		{"of another order", "src/tools", listing.NextCursor, []toolshelf.DirOption{toolshelf.SortedBy(toolshelf.BySize)}},
		{"by size, for names", "src/tools", bySize.NextCursor, nil},
		{"altered", "src/tools", listing.NextCursor[:len(listing.NextCursor)-1] + "_", nil},
		{"made up", "src/tools", "cursor", nil},
	} {
		_, err := c.ListDir(t.Context(), tt.dir, append(tt.options, toolshelf.After(tt.cursor))...)
		must.Is(t, fmt.Sprintf("a cursor %s", tt.what), toolshelf.ErrInvalidCursor, err)
	}
}

// TestCursorWalkSurvivesChanges: while files come and go, a walk sees each
// file that stays exactly once, and no file twice.
func TestCursorWalkSurvivesChanges(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		fsys := afero.NewMemMapFs()
		c := catalog(t, toolshelf.WithFs(fsys))
		name := rapid.StringMatching(`[a-dA-D]{1,3}`)
		stay := map[string]bool{}
		make := func(name string) {
			must.Do(r, afero.WriteFile(fsys, "d/f"+name, nil, 0o644))
		}
		for _, n := range rapid.SliceOfN(name, 1, 20).Draw(r, "files that stay") {
			stay["f"+n] = true
			make(n)
		}
		seen := map[string]int{}
		limit := rapid.IntRange(1, 5).Draw(r, "limit")
		for cursor := ""; ; {
			listing := must.Get(c.ListDir(context.Background(), "d", toolshelf.Limit(limit), toolshelf.After(cursor)))(r)
			for _, e := range listing.Entries {
				seen[e.Name]++
			}
			if cursor = listing.NextCursor; cursor == "" {
				break
			}
			for _, n := range rapid.SliceOfN(name, 0, 3).Draw(r, "changed") {
				switch exists, _ := afero.Exists(fsys, "d/f"+n); {
				case !exists:
					make(n)
				case !stay["f"+n]:
					must.Do(r, fsys.Remove("d/f"+n))
				}
			}
		}
		for n := range stay {
			if seen[n] != 1 {
				r.Errorf("%s was seen %d times", n, seen[n])
			}
		}
		for n, times := range seen {
			if times > 1 {
				r.Errorf("%s was seen %d times", n, times)
			}
		}
	})
}

// optionsOf converts options to the options of a method.
func optionsOf[O any](options []toolshelf.FileOption) []O {
	all := make([]O, len(options))
	for i, o := range options {
		all[i], _ = o.(O)
	}
	return all
}

func TestInvalidOptions(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, sample())))
	list := func(o toolshelf.DirOption) error { _, err := c.ListDir(t.Context(), ".", o); return err }
	tree := func(o toolshelf.DirOption) error { _, err := c.Tree(t.Context(), ".", o); return err }
	find := func(o toolshelf.DirOption) error { _, err := c.FindFiles(t.Context(), ".", "*", o); return err }
	search := func(o toolshelf.GrepOption) error { _, err := c.Grep(t.Context(), ".", "x", o); return err }
	read := func(o toolshelf.ReadOption) error { _, err := c.ReadFile(t.Context(), "src/agent.lisp", o); return err }
	for _, tt := range []struct {
		what string
		err  error
		want error
	}{
		{"no option", list(nil), nil},
		{"a negative limit", list(toolshelf.Limit(-1)), toolshelf.ErrInvalidOption},
		{"a negative depth", tree(toolshelf.MaxDepth(-1)), toolshelf.ErrInvalidOption},
		{"a depth for a listing", list(toolshelf.MaxDepth(1)), toolshelf.ErrInvalidOption},
		{"directories not entered by a listing", list(toolshelf.SkipDependencies()), toolshelf.ErrInvalidOption},
		{"matches without sizes", find(withoutSizes), toolshelf.ErrInvalidOption},
		{"a budget of nothing", find(toolshelf.Budget(0)), toolshelf.ErrInvalidOption},
		{"too small a budget", list(toolshelf.Budget(20)), toolshelf.ErrInvalidOption},
		{"no tokens", tree(toolshelf.Tokens(-1, func(string) int { return 0 })), toolshelf.ErrInvalidOption},
		{"no counter of tokens", tree(toolshelf.Tokens(10, nil)), toolshelf.ErrInvalidOption},
		{"a page of a tree", tree(toolshelf.After("x")), toolshelf.ErrInvalidOption},
		{"a page of matches", find(toolshelf.After("x")), toolshelf.ErrInvalidOption},
		{"an order for matches", find(toolshelf.SortedBy(toolshelf.BySize)), nil},
		{"no option of Grep", search(nil), nil},
		{"no glob", search(toolshelf.InFiles()), nil},
		{"the largest context", search(toolshelf.ContextLines(100)), nil},
		{"a larger context", search(toolshelf.ContextLines(101)), toolshelf.ErrInvalidOption},
		{"a negative context", search(toolshelf.ContextLines(-1)), toolshelf.ErrInvalidOption},
		{"an unknown mode", search(toolshelf.GrepMode(64)), toolshelf.ErrInvalidOption},
		{"both outputs with one line for each file", search(toolshelf.FilesOnly | toolshelf.CountOnly), toolshelf.ErrInvalidOption},
		{"an unclosed bracket for files", search(toolshelf.InFiles("[a")), toolshelf.ErrInvalidPattern},
		{"no option of ReadFile", read(nil), nil},
		{"no range", read(toolshelf.Lines(0, 0)), nil},
		{"a range of one line", read(toolshelf.Lines(-3, -3)), nil},
		{"a range between the ends", read(toolshelf.Lines(3, -3)), nil},
		{"a range before the first line", read(toolshelf.Lines(5, 4)), toolshelf.ErrInvalidOption},
		{"a range before the first line, from the end", read(toolshelf.Lines(-1, -2)), toolshelf.ErrInvalidOption},
		{"the block around no line", read(toolshelf.Around(0)), toolshelf.ErrInvalidOption},
		{"the block around a line beyond the end", read(toolshelf.Around(math.MaxInt)), nil},
		{"a negative column", read(toolshelf.Column(-1)), toolshelf.ErrInvalidOption},
		{"a negative size", read(toolshelf.MaxBytes(-1)), toolshelf.ErrInvalidOption},
		{"too large a size", read(toolshelf.MaxBytes(256<<20 + 1)), toolshelf.ErrInvalidOption},
		{"an unclosed bracket", list(toolshelf.Exclude("*.go", "[a")), toolshelf.ErrInvalidPattern},
		{"an unclosed brace", tree(toolshelf.Exclude("{a")), toolshelf.ErrInvalidPattern},
		{"an empty pattern", find(toolshelf.Exclude("")), toolshelf.ErrInvalidPattern},
		{"only a slash", find(toolshelf.Exclude("/")), toolshelf.ErrInvalidPattern},
		{"too long a pattern", list(toolshelf.Exclude(strings.Repeat("a", 1001))), toolshelf.ErrInvalidPattern},
		{"too many alternatives", list(toolshelf.Exclude(strings.Repeat("{a,b}", 11))), toolshelf.ErrInvalidPattern},
	} {
		if !errors.Is(tt.err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.what, tt.err, tt.want)
		}
	}
}

// TestOptionsOfMaxInt passes the largest int to every option with a number.
func TestOptionsOfMaxInt(t *testing.T) {
	files := sample()
	files["commands/a.md"] = "b"
	c := catalog(t, toolshelf.WithFs(memoryOf(t, files)), toolshelf.WithMaxFileSize(math.MaxInt64))
	limit, depth := toolshelf.Limit(math.MaxInt), toolshelf.MaxDepth(math.MaxInt)
	tree, err := c.Tree(t.Context(), ".", limit, depth)
	if err != nil || tree.Omitted != 0 {
		t.Errorf("Tree: %d entries omitted, %v", tree.Omitted, err)
	}
	found, err := c.FindFiles(t.Context(), ".", "*", limit, depth)
	if err != nil || len(found.Files) != tree.Files {
		t.Errorf("FindFiles: %d files of %d, %v", len(found.Files), tree.Files, err)
	}
	for _, sort := range []string{toolshelf.ByName, toolshelf.BySize} {
		listing, err := c.ListDir(t.Context(), ".", limit, toolshelf.SortedBy(sort))
		if err != nil || len(listing.Entries) != len(tree.Children) || listing.NextCursor != "" {
			t.Errorf("ListDir by %s: %d entries of %d, %v", sort, len(listing.Entries), len(tree.Children), err)
		}
	}
	for _, lines := range []toolshelf.ReadOption{toolshelf.Lines(1, math.MaxInt), toolshelf.Lines(math.MinInt, 0), toolshelf.Lines(math.MinInt, math.MaxInt)} {
		text, err := c.ReadFile(t.Context(), "commands/a.md", lines)
		if err != nil || text.Text != "b" {
			t.Errorf("ReadFile: %+v, %v", text, err)
		}
	}
	for _, none := range []toolshelf.ReadOption{toolshelf.Lines(math.MaxInt, math.MaxInt), toolshelf.Lines(0, math.MinInt), toolshelf.Column(math.MaxInt64)} {
		text, err := c.ReadFile(t.Context(), "commands/a.md", none)
		if err != nil || text.Text != "" || text.Total != 1 {
			t.Errorf("ReadFile: %+v, %v", text, err)
		}
	}
	lines, err := c.Grep(t.Context(), ".", "^", limit, depth)
	if err != nil || len(lines.Matches) != lines.Total || lines.Total == 0 {
		t.Errorf("Grep: %d lines of %d, %v", len(lines.Matches), lines.Total, err)
	}
	list, err := c.List(t.Context(), toolshelf.Page{Number: math.MaxInt})
	if err != nil || len(list.Commands) != 0 || list.Pagination.HasNext {
		t.Errorf("List: %+v, %v", list, err)
	}
	if _, err := c.Get(t.Context(), "a"); err != nil {
		t.Errorf("Get: %v", err)
	}
}

func TestExclude(t *testing.T) {
	c := catalog(t, toolshelf.WithFs(memoryOf(t, map[string]string{
		"p/a.go": "", "p/a.log": "", "p/build/x": "", "p/sub/build/y": "", "p/sub/a.log": "", "p/sub/b/c": "", "p/logs": "",
	})))
	for _, tt := range []struct {
		globs string
		want  string
	}{
		{"*.log", "build build/x sub sub/b sub/b/c sub/build sub/build/y a.go logs"},
		{"build", "sub sub/b sub/b/c sub/a.log a.go a.log logs"},
		{"build/", "sub sub/b sub/b/c sub/a.log a.go a.log logs"},
		{"/build", "sub sub/b sub/b/c sub/build sub/build/y sub/a.log a.go a.log logs"},
		{"./sub/build", "build build/x sub sub/b sub/b/c sub/a.log a.go a.log logs"},
		{"sub/*", "build build/x sub a.go a.log logs"},
		{"**/{b,build}/**", "sub sub/a.log a.go a.log logs"},
		{"logs/ {a,b}*", "sub logs"},
	} {
		tree := must.Get(c.Tree(t.Context(), "p", toolshelf.Exclude(strings.Fields(tt.globs)...)))(t)
		must.Equal(t, fmt.Sprintf("without %s", tt.globs), tt.want,
			strings.Join(paths("", tree.Children), " "))
	}
}

// paths are those of a tree's nodes, in order.
func paths(dir string, nodes []toolshelf.TreeNode) []string {
	var all []string
	for _, n := range nodes {
		p := path.Join(dir, n.Name)
		all = append(append(all, p), paths(p, n.Children)...)
	}
	return all
}

// FuzzListingText reads a listing's text back as its documentation
// tells, for any names.
func FuzzListingText(f *testing.F) {
	f.Add("a", "b", "c", "d", int64(4301))
	f.Add("x\n[DIR]  injected", "a/", " -> ", "name (outside root)", int64(-1))
	f.Add("a (1).txt", "a  (4.2 KB)", "b -> c", "x (?)", int64(0))
	f.Add("… and 99999 more", "…", "a (outside root)", "outside root", int64(1))
	f.Add("Warning: x", "No files found matching pattern 'x'", "Total: 1 file", "a (?)", int64(1))
	f.Add("\xff\u202e\x1b[2J", `\x41`, "  ", " (?)", int64(1))
	f.Fuzz(func(t *testing.T, dir, file, link, other string, size int64) {
		for _, name := range []string{dir, file, link, other} {
			if name == "" || strings.Contains(name, "/") {
				t.Skip("the fuzz target omits this input")
			}
		}
		want := []toolshelf.Entry{
			{Name: dir, Type: toolshelf.EntryDirectory},
			{Name: file, Type: toolshelf.EntryFile, Size: max(size, -1)},
			{Name: link, Type: toolshelf.EntrySymlink, Target: other},
			{Name: link, Type: toolshelf.EntrySymlink, Outside: true},
			{Name: link, Type: toolshelf.EntrySymlink},
			{Name: other, Type: toolshelf.EntryOther},
			{Name: other, Type: toolshelf.EntryOther, Size: -1},
		}
		text := toolshelf.DirListing{Path: dir + "/", Entries: want, Warnings: nil}.String()
		lines := strings.Split(text, "\n")
		if len(lines) != 3+len(want) {
			t.Fatalf("%d lines for %d entries:\n%s", len(lines), len(want), text)
		}
		var got []toolshelf.Entry
		for _, line := range lines[3:] {
			got = append(got, readLine(t, line))
		}
		must.Match(t, "entries (-written +read)", want,
			got, cmpopts.IgnoreFields(toolshelf.Entry{}, "Size"))
		tree := toolshelf.DirTree{Path: "./", Children: []toolshelf.TreeNode{{Entry: want[0], Error: "permission denied", Children: []toolshelf.TreeNode{{Entry: want[1]}, {Entry: want[2]}}}, {Entry: want[3]}}}.String()
		must.Equal(t, `strings.Count(tree, "\n")`, 1+4, strings.Count(tree, "\n"))
		files := []string{dir, link + "/" + other}
		found := strings.Split(toolshelf.FileMatches{Pattern: file, Files: files, Total: 2}.String(), "\n")
		if len(found) != 2+2 {
			t.Fatalf("%d lines for 2 matches: %q", len(found), found)
		}
		for i, line := range found[2:] {
			if got := readName(t, strings.TrimPrefix(line, "  ")); got != files[i] || strings.HasPrefix(line, "  …") {
				t.Errorf("%q is written %q", files[i], line)
			}
		}
		stat := func(e toolshelf.Entry) string { return toolshelf.FileInfo{Path: dir, Entry: e}.String() }
		inside, _ := strings.CutPrefix(stat(want[2]), stat(want[4])+"\nTarget: ")
		if outside := stat(want[3]); readName(t, inside) != other || strings.HasSuffix(outside, "\nTarget: "+inside) {
			t.Errorf("target %q is written %q; a link to the outside:\n%s", other, inside, outside)
		}
	})
}

// readLine reads the line of an entry back.
func readLine(t *testing.T, line string) toolshelf.Entry {
	t.Helper()
	label, rest, _ := strings.Cut(line, "]")
	e := toolshelf.Entry{}
	name := rest[1:]
	switch label {
	case "[DIR":
		e.Type = toolshelf.EntryDirectory
		name = strings.TrimSuffix(rest[2:], "/")
	case "[FILE":
		e.Type = toolshelf.EntryFile
		name = strings.TrimRight(name[:strings.LastIndex(name, " (")], " ")
	case "[LINK":
		e.Type = toolshelf.EntrySymlink
		if link, target, ok := strings.Cut(name, " -> "); ok {
			name, e.Target = link, readName(t, target)
			break
		}
		name, e.Outside = strings.CutSuffix(name, " (outside root)")
		if !e.Outside {
			name = strings.TrimSuffix(name, " (?)")
		}
	case "[OTHER":
		e.Type = toolshelf.EntryOther
	case "[?":
		e.Type, name = toolshelf.EntryOther, rest[4:]
	}
	e.Name = readName(t, name)
	return e
}

func readName(t *testing.T, s string) string {
	t.Helper()
	var name []byte
	for s != "" {
		if s[0] != '\\' {
			name, s = append(name, s[0]), s[1:]
			continue
		}
		r, multibyte, rest, err := strconv.UnquoteChar(s, 0)
		if err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if s = rest; multibyte {
			name = utf8.AppendRune(name, r)
		} else {
			name = append(name, byte(r))
		}
	}
	return string(name)
}

func TestStatText(t *testing.T) {
	fsys := memoryOf(t, sample())
	c := catalog(t, toolshelf.WithFs(fsys))
	must.Do(t, fsys.Chmod(filepath.FromSlash("src/agent.lisp"), 0o444))
	info := must.Get(c.Stat(t.Context(), "src/agent.lisp"))(t)
	want := `File: src/agent.lisp

Type: file
Size: 2.4 KB
Modified: 2025-11-20 10:30:00
Readable: Yes
Writable: No`
	must.Match(t, "text", want, info.String())

	yes, no := true, false
	for _, tt := range []struct {
		info toolshelf.FileInfo
		want string
	}{
		{toolshelf.FileInfo{
			Path:     "src/agent.lisp",
			Entry:    toolshelf.Entry{Type: toolshelf.EntryFile, Size: 2458, Modified: time.Date(2026, 1, 20, 14, 3, 11, 5, time.UTC)},
			Accessed: time.Date(2026, 1, 21, 10, 0, 0, 0, time.FixedZone("CET", 3600)), Readable: &yes, Writable: &no,
		}, "File: src/agent.lisp\n\nType: file\nSize: 2.4 KB\nModified: 2026-01-20 14:03:11\nAccessed: 2026-01-21 09:00:00\nReadable: Yes\nWritable: No"},
		{toolshelf.FileInfo{Path: ".", Entry: toolshelf.Entry{Type: toolshelf.EntryDirectory}, Readable: &no}, "File: .\n\nType: directory\nReadable: No"},
		{toolshelf.FileInfo{Path: "a\nb", Entry: toolshelf.Entry{Type: toolshelf.EntrySymlink, Target: "c\td"}}, "File: a\\nb\n\nType: symlink\nTarget: c\\td"},
		{toolshelf.FileInfo{Path: "a", Entry: toolshelf.Entry{Type: toolshelf.EntrySymlink, Outside: true}}, "File: a\n\nType: symlink\nTarget: outside root"},
		{toolshelf.FileInfo{Path: "a", Entry: toolshelf.Entry{Type: toolshelf.EntryOther}}, "File: a\n\nType: other"},
	} {
		must.Match(t, "text", tt.want, tt.info.String())
	}
}

func TestStatOnTheDisk(t *testing.T) {
	dir := diskOf(t, map[string]string{"d/a": sized(300), "ro": "x"})
	accessed := time.Now().Add(time.Hour).Truncate(time.Second).UTC() // a filesystem with relatime keeps a time after the last change
	for _, name := range []string{"d/a", "d"} {
		must.Do(t, os.Chtimes(filepath.Join(dir, name), accessed, written))
	}
	must.Do(t, os.Chmod(filepath.Join(dir, "ro"), 0o444))
	c := catalog(t, toolshelf.WithRoot(dir))
	yes, no := true, false
	for _, want := range []toolshelf.FileInfo{
		{Path: "d/a", Entry: toolshelf.Entry{Name: "a", Type: toolshelf.EntryFile, Size: 300, Modified: written}, Accessed: accessed, Readable: &yes, Writable: &yes},
		{Path: "d", Entry: toolshelf.Entry{Name: "d", Type: toolshelf.EntryDirectory, Modified: written}, Accessed: accessed, Readable: &yes, Writable: &yes},
		{Path: "ro", Entry: toolshelf.Entry{Name: "ro", Type: toolshelf.EntryFile, Size: 1}, Readable: &yes, Writable: &no},
	} {
		got := must.Get(c.Stat(t.Context(), want.Path))(t)
		if want.Path == "ro" {
			got.Modified, got.Accessed = time.Time{}, time.Time{}
		}
		must.Match(t, want.Path, want, got)
	}
}

// TestSameResultsInMemoryAndOnTheDisk makes random trees in both.
func TestSameResultsInMemoryAndOnTheDisk(t *testing.T) {
	elements := []string{"a", "B", "b.go", ".h", "ä", "x y", "new\nline", "-", "\xff", "node_modules", ".gitignore"}
	element := rapid.SampledFrom(slices.DeleteFunc(elements, func(name string) bool { return !hosttest.HasNames(t, name) }))
	rapid.Check(t, func(r *rapid.T) {
		memory, root := afero.NewMemMapFs(), t.TempDir()
		disk := afero.NewBasePathFs(afero.NewOsFs(), root)
		file := func(fsys afero.Fs, name, content string) error {
			if err := fsys.MkdirAll(path.Dir(name), 0o755); err != nil {
				return err
			}
			if err := afero.WriteFile(fsys, name, []byte(content), 0o644); err != nil {
				return err
			}
			return fsys.Chtimes(name, written, written)
		}
		for _, elements := range rapid.SliceOfN(rapid.SliceOfN(element, 1, 4), 1, 15).Draw(r, "files") {
			name, content := strings.Join(elements, "/"), rapid.SampledFrom([]string{"", "a\n", "*.go\n!b.go\n", "/a/\nx*"}).Draw(r, "content")
			// A file may be in the way.
			if file(disk, name, content) == nil {
				must.Do(r, file(memory, name, content))
			}
		}
		var options []toolshelf.FileOption
		for _, o := range []struct {
			name   string
			option toolshelf.FileOption
		}{{"hidden", toolshelf.ShowHidden()}, {"gitignore", toolshelf.Gitignore()}, {"exclude", toolshelf.Exclude("node_modules", "a/**/-")}, {"limit", toolshelf.Limit(3)}} {
			if rapid.Bool().Draw(r, o.name) {
				options = append(options, o.option)
			}
		}
		one, other := catalog(t, toolshelf.WithFs(memory)), catalog(t, toolshelf.WithRoot(root))
		same := func(call string, do func(c *toolshelf.Catalog) (any, error)) {
			a, err := do(one)
			if err != nil {
				r.Fatal(call, err)
			}
			b, err := do(other)
			if err != nil {
				r.Fatal(call, err)
			}
			// The times of directories are the filesystem's own business.
			times := cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Modified" }, cmp.Ignore())
			if diff := cmp.Diff(a, b, times); diff != "" {
				r.Errorf("%s (-memory +disk):\n%s", call, diff)
			}
		}
		ctx := context.Background()
		listed := optionsOf[toolshelf.DirOption](options)
		same("ListDir", func(c *toolshelf.Catalog) (any, error) { return c.ListDir(ctx, ".", listed...) })
		same("Tree", func(c *toolshelf.Catalog) (any, error) { return c.Tree(ctx, ".", listed...) })
		same("FindFiles", func(c *toolshelf.Catalog) (any, error) { return c.FindFiles(ctx, ".", "**/*", listed...) })
		same("Grep", func(c *toolshelf.Catalog) (any, error) {
			return c.Grep(ctx, ".", "^", optionsOf[toolshelf.GrepOption](options)...)
		})
		tree := must.Get(one.Tree(ctx, ".", toolshelf.ShowHidden()))(r)
		for _, p := range paths("", tree.Children) {
			same("Stat "+p, func(c *toolshelf.Catalog) (any, error) {
				info, err := c.Stat(ctx, p)
				info.Accessed, info.Writable = time.Time{}, nil
				return info, err
			})
		}
	})
}

func TestClosedAndCancelled(t *testing.T) {
	calls := map[string]func(ctx context.Context, c *toolshelf.Catalog) error{
		"ListDir": func(ctx context.Context, c *toolshelf.Catalog) error { _, err := c.ListDir(ctx, "."); return err },
		"Stat":    func(ctx context.Context, c *toolshelf.Catalog) error { _, err := c.Stat(ctx, "."); return err },
		"Tree":    func(ctx context.Context, c *toolshelf.Catalog) error { _, err := c.Tree(ctx, "."); return err },
		"Grep":    func(ctx context.Context, c *toolshelf.Catalog) error { _, err := c.Grep(ctx, ".", "x"); return err },
		"ReadFile": func(ctx context.Context, c *toolshelf.Catalog) error {
			_, err := c.ReadFile(ctx, "src/agent.lisp")
			return err
		},
		"FindFiles": func(ctx context.Context, c *toolshelf.Catalog) error {
			_, err := c.FindFiles(ctx, ".", "*")
			return err
		},
	}
	c := catalog(t, toolshelf.WithFs(memoryOf(t, sample())))
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, call := range calls {
		must.Equal(t, fmt.Sprintf("%s with a cancelled context", name), context.Canceled,
			call(cancelled, c))
	}
	must.Do(t, c.Close())
	for name, call := range calls {
		if err := call(t.Context(), c); !errors.Is(err, toolshelf.ErrClosed) || !strings.HasPrefix(err.Error(), "toolshelf: "+name+": ") {
			t.Errorf("%s after Close: %v", name, err)
		}
	}
}

func TestFaultsOfTheFilesystem(t *testing.T) {
	fsys := catalogtest.Faulty{
		Fs:    memoryOf(t, map[string]string{"a": "x", "gone": "x", "locked": "x", "protected/x": "", "broken/x": "", "ok/x": "", "ok/protected/y": "", "ok/z": ""}),
		Opens: map[string]error{"protected": fs.ErrPermission, "broken": errors.New("disk on fire\nat sector 7")},
		Stats: map[string]error{"gone": fs.ErrNotExist, "locked": fs.ErrPermission},
	}
	c := catalog(t, toolshelf.WithFs(fsys))
	warning := "Warning: 1 entry without metadata, because the directory has no search permission"
	if runtime.GOOS == "windows" {
		warning = "Warning: 1 entry without metadata, because access is denied or Windows does not open the names"
	}
	t.Run("an unreadable directory", func(t *testing.T) {
		_, err := c.ListDir(t.Context(), "protected/")
		checkError(t, "ListDir", err, toolshelf.ErrPermissionDenied, "Cannot read directory 'protected/'")
		must.Is(t, "the cause is not in the chain", fs.ErrPermission, err)
		_, err = c.Tree(t.Context(), "protected")
		checkError(t, "Tree", err, toolshelf.ErrPermissionDenied, "Cannot read directory 'protected/'")
		_, err = c.FindFiles(t.Context(), "protected", "*")
		checkError(t, "FindFiles", err, toolshelf.ErrPermissionDenied, "Cannot read directory 'protected/'")
	})
	t.Run("a directory that fails otherwise", func(t *testing.T) {
		_, err := c.ListDir(t.Context(), "broken")
		checkError(t, "ListDir", err, toolshelf.ErrFileRead, `Cannot read directory 'broken/': disk on fire\nat sector 7`)
	})
	t.Run("no metadata, and an entry that vanishes", func(t *testing.T) {
		listing := must.Get(c.ListDir(t.Context(), "."))(t)
		want := `Directory: ./
Total: 2 files, 3 directories

[DIR]  broken/
[DIR]  ok/
[DIR]  protected/
[FILE] a       (1 B)
[FILE] locked  (?)

` + warning
		if diff := cmp.Diff(want, listing.String()); diff != "" || listing.Vanished != 1 {
			t.Errorf("%d vanished; text (-want +got):\n%s", listing.Vanished, diff)
		}
	})
	t.Run("unreadable directories in a tree", func(t *testing.T) {
		tree := must.Get(c.Tree(t.Context(), "."))(t)
		want := `Directory tree: ./

[DIR]  broken/ (disk on fire\nat sector 7)
[DIR]  ok/
  [DIR]  protected/ (permission denied)
  [FILE] x (0 B)
  [FILE] z (0 B)
[DIR]  protected/ (permission denied)
[FILE] a (1 B)
[FILE] locked (?)

` + warning
		must.Match(t, "text", want, tree.String())
	})
	t.Run("unreadable directories in a search", func(t *testing.T) {
		found := must.Get(c.FindFiles(t.Context(), ".", "[xyz]"))(t)
		if want := []string{"ok/x", "ok/z"}; !slices.Equal(found.Files, want) || found.Skipped != 3 {
			t.Errorf("found %q and skipped %d directories, want %q and 3", found.Files, found.Skipped, want)
		}
	})
	t.Run("a file that may not be looked at", func(t *testing.T) {
		_, err := c.Stat(t.Context(), "locked")
		checkError(t, "Stat", err, toolshelf.ErrPermissionDenied, "Cannot read 'locked'")
	})
}

func TestCallsOnAHangingFilesystemEndWithTheContext(t *testing.T) {
	release := make(chan struct{})
	defer close(release)
	c := catalog(t, toolshelf.WithFs(catalogtest.Faulty{Fs: memoryOf(t, sample()), Hang: release}))
	for name, call := range map[string]func(ctx context.Context) error{
		"ListDir":   func(ctx context.Context) error { _, err := c.ListDir(ctx, "src"); return err },
		"Stat":      func(ctx context.Context) error { _, err := c.Stat(ctx, "src"); return err },
		"Tree":      func(ctx context.Context) error { _, err := c.Tree(ctx, "src"); return err },
		"FindFiles": func(ctx context.Context) error { _, err := c.FindFiles(ctx, "src", "*"); return err },
		"ReadFile":  func(ctx context.Context) error { _, err := c.ReadFile(ctx, "src/agent.lisp"); return err },
		"Grep":      func(ctx context.Context) error { _, err := c.Grep(ctx, "src", "x"); return err },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		go func() { failed <- call(ctx) }()
		cancel()
		must.Equal(t, name, context.Canceled, <-failed)
	}
}
