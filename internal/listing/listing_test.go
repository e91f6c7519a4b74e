package listing

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
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/confine"
	"github.com/toolshelf-go/toolshelf/internal/grep"
	"github.com/toolshelf-go/toolshelf/internal/hosttest"
	"github.com/toolshelf-go/toolshelf/internal/must"
	"github.com/toolshelf-go/toolshelf/internal/shown"
)

// files has the contents of files by path. The path of a directory ends in a slash.
type files map[string]string

func memory(t *testing.T, all files) afero.Fs {
	t.Helper()
	fsys := afero.NewMemMapFs()
	for name, content := range all {
		err := error(nil)
		if dir, isDir := strings.CutSuffix(name, "/"); isDir {
			err = fsys.MkdirAll(dir, 0o755)
		} else {
			err = afero.WriteFile(fsys, name, []byte(content), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return fsys
}

func over(t *testing.T, fsys afero.Fs) *confine.FS {
	t.Helper()
	return confined(t)(confine.Over(fsys, "."))
}

// same returns the row itself.
func same(r *Row) Row { return *r }

// line describes a row in a few words.
func line(r Row) string {
	s := fmt.Sprintf("%s %s", [...]string{"dir", "file", "link", "other"}[r.Kind], r.Name)
	if r.Kind == KindFile || r.Size != 0 {
		s += fmt.Sprintf(" %d", r.Size)
	}
	return s
}

func lines(rows []Row) []string {
	all := []string{}
	for _, r := range rows {
		all = append(all, line(r))
	}
	return all
}

// unusual is a filesystem with unusual behavior.
type unusual struct {
	afero.Fs
	namesOnly bool                                   // directories do not report types
	lstat     func(name string) (fs.FileInfo, error) // replaces Lstat if the result is not nil
}

func (u unusual) Open(name string) (afero.File, error) {
	f, err := u.Fs.Open(name)
	if err == nil && u.namesOnly {
		return onlyNames{f}, nil
	}
	return f, err
}

func (u unusual) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	if u.lstat != nil {
		if fi, err := u.lstat(name); fi != nil || err != nil {
			return fi, true, err
		}
	}
	fi, err := u.Fs.Stat(name)
	return fi, true, err
}

// onlyNames is a file whose method set has no ReadDir.
type onlyNames struct{ afero.File }

// An entry may become another kind of file between the reads of the directory and of the metadata.
func TestEntriesCountByTheirPresentKind(t *testing.T) {
	fsys := memory(t, files{"a/x": "", "b": "1", "c": "12"})
	file := must.Get(fsys.Stat("b"))(t)
	f := over(t, unusual{Fs: fsys, lstat: func(name string) (fs.FileInfo, error) {
		if name == "a" {
			return file, nil
		}
		return nil, nil
	}})
	for _, order := range []Order{ByName, BySize} {
		page, err := List(t.Context(), f, ".", Options{Order: order}, same)
		if err != nil || page.Files != 3 || page.Dirs != 0 {
			t.Errorf("order %d: %d files and %d directories, %v", order, page.Files, page.Dirs, err)
		}
	}
}

func TestListSortsAndPages(t *testing.T) {
	fsys := memory(t, files{"b": "12345", "A": "1", "a": "123", "c": "12", "dir/x": "", "Dir2/x": "", ".hidden": ""})
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{"c", "a", "b", "A", "Dir2", "dir"} {
		must.Do(t, fsys.Chtimes(name, clock, clock.Add(time.Duration(i)*time.Second)))
	}
	f := over(t, fsys)
	for order, want := range map[Order][]string{
		ByName:     {"dir dir", "dir Dir2", "file A 1", "file a 3", "file b 5", "file c 2"},
		BySize:     {"dir dir", "dir Dir2", "file b 5", "file a 3", "file c 2", "file A 1"},
		ByModified: {"dir dir", "dir Dir2", "file A 1", "file b 5", "file a 3", "file c 2"},
	} {
		for limit := range 8 {
			o := Options{Order: order, Limit: limit}
			got := []string{}
			for {
				page, err := List(t.Context(), f, ".", o, same)
				if err != nil || page.Files != 4 || page.Dirs != 2 {
					t.Fatal(page, err)
				}
				got = append(got, lines(page.Entries)...)
				if limit > 0 && len(page.Entries) > limit {
					t.Errorf("%d entries, limit %d", len(page.Entries), limit)
				}
				if page.NextCursor == "" {
					break
				}
				o.After = page.NextCursor
			}
			must.Match(t, fmt.Sprintf("order %d, limit %d", order, limit), want, got)
		}
		if _, err := List(t.Context(), f, ".", Options{Order: order, After: "short"}, same); !errors.Is(err, ErrPosition) {
			t.Errorf("order %d: %v", order, err)
		}
	}
	page, err := List(t.Context(), f, ".", Options{Hidden: true, Limit: 3}, same)
	if err != nil || page.Files != 5 || page.Entries[2].Name != ".hidden" {
		t.Error(page, err)
	}
	must.Fail(List(t.Context(), f, "missing", Options{}, same))(t, "List", fs.ErrNotExist)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Fail(List(ctx, f, ".", Options{}, same))(t, "List", context.Canceled)
}

// TestUnknownTypes lists a filesystem whose directories do not report types, like some
// filesystems of Linux.
func TestUnknownTypes(t *testing.T) {
	all := files{"a/x.md": "12", "a/b/y.md": "", "c.md": "1", "d.md/z": "", "lost.md": "", "secret.md": "", "dark/": ""}
	lstat := func(name string) (fs.FileInfo, error) {
		switch path.Base(name) {
		case "lost.md":
			return nil, fs.ErrNotExist
		case "secret.md", "dark":
			return nil, fs.ErrPermission
		}
		return nil, nil
	}
	f := over(t, unusual{Fs: memory(t, all), namesOnly: true, lstat: lstat})
	page := must.Get(List(t.Context(), f, ".", Options{}, same))(t)
	must.Match(t, "List", []string{"dir a", "dir d.md", "file c.md 1", "other dark -1", "other secret.md -1"}, lines(page.Entries))
	if page.Dirs != 2 || page.Files != 3 || page.Vanished != 1 {
		t.Errorf("%d directories, %d files, %d vanished", page.Dirs, page.Files, page.Vanished)
	}
	want := []string{"dir a", " dir b", "  file y.md 0", " file x.md 2", "dir d.md", " file z 0", "file c.md 1", "other dark -1", "other secret.md -1"}
	if _, got := tree(t, f, ".", Options{}); !slices.Equal(got, want) {
		t.Errorf("Tree: %q", got)
	}
	found, err := find(t, f, ".", "*.md", Options{})
	if err != nil || !slices.Equal(found.Files, []string{"a/b/y.md", "a/x.md", "c.md"}) {
		t.Errorf("Find: %v, %v", found, err)
	}
}

// A failing filesystem fails once, in a call of Open or Lstat. Directories do not report types.
type failing struct {
	afero.Fs
	left *atomic.Int64 // number of calls before the fault
}

func (f failing) fault() error {
	if f.left.Add(-1) == -1 {
		return syscall.EIO
	}
	return nil
}

func (f failing) Open(name string) (afero.File, error) {
	if err := f.fault(); err != nil {
		return nil, err
	}
	return unusual{Fs: f.Fs, namesOnly: true}.Open(name)
}

func (f failing) LstatIfPossible(name string) (fs.FileInfo, bool, error) {
	if err := f.fault(); err != nil {
		return nil, true, err
	}
	fi, err := f.Stat(name)
	return fi, true, err
}

// TestNothingIsLostSilently fails each call of the filesystem once. The result is an error, the
// result without the fault, or a result that names the loss.
func TestNothingIsLostSilently(t *testing.T) {
	all := files{".gitignore": "*.log\n", "sub/.gitignore": "b.md\n", "sub/a.md": "x", "sub/a.log": "x", "sub/b.md": "x", "sub/c/d.md": "x", "sub/c/e.log": "x", "sub/f.md": "x", "sub/g/h.md": "x"}
	o := Options{Gitignore: true, Limit: 3}
	glob, err := ParseGlob("*.{md,log}")
	pattern, failed := grep.Compile("x", grep.Options{})
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	for name, call := range map[string]func(f *confine.FS) (result string, named bool, err error){
		"List": func(f *confine.FS) (string, bool, error) {
			page, err := List(t.Context(), f, "sub", o, same)
			return fmt.Sprint(lines(page.Entries), page.Files, page.Dirs), len(page.Warnings) > 0 || strings.Contains(fmt.Sprint(lines(page.Entries)), " -1"), err
		},
		"Tree": func(f *confine.FS) (string, bool, error) {
			report, nodes, err := treeOf(t, f, "sub", o)
			text := fmt.Sprint(nodes)
			return text, len(report.Warnings) > 0 || strings.Contains(text, " -1") || strings.Contains(text, syscall.EIO.Error()), err
		},
		"Find": func(f *confine.FS) (string, bool, error) {
			found, err := Find(t.Context(), f, "sub", glob, o)
			return fmt.Sprint(found.Files, found.Total), found.Skipped > 0, err
		},
		"Grep": func(f *confine.FS) (result string, named bool, err error) {
			path := func(m shown.Match) string { return m.Path }
			var found shown.Matches[string]
			err = Grep(t.Context(), f, "sub", GrepOptions{Pattern: pattern, Files: []Glob{glob}}, o, &found, path)
			result = strings.Join(found.Matches, " ")
			return fmt.Sprint(result, found.Total), found.Skipped > 0, err
		},
	} {
		faulty := func(n int64) (result string, named bool, left int64, err error) {
			fsys := failing{memory(t, all), new(atomic.Int64)}
			f := over(t, fsys)
			fsys.left.Store(n)
			result, named, err = call(f)
			return result, named, fsys.left.Load(), err
		}
		want, _, left, err := faulty(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		for n := range 1<<20 - left {
			if got, named, _, err := faulty(n); err == nil && got != want && !named {
				t.Errorf("%s, call %d: got %s without a word about the fault, want %s", name, n, got, want)
			}
		}
	}
}

// TestEntriesThatChange changes entries between the read of the directory and the read of
// their metadata.
func TestEntriesThatChange(t *testing.T) {
	all := files{"a": "1", "b": "12", "c/x": "", "d/y": "", "e": "", "f/z": ""}
	change := func(fsys afero.Fs) unusual {
		return unusual{Fs: fsys, lstat: func(name string) (fs.FileInfo, error) {
			switch name {
			case "a", "c":
				return nil, fs.ErrNotExist
			case "b":
				return fsys.Stat("d")
			case "f":
				return fsys.Stat("e")
			}
			return nil, nil
		}}
	}
	for _, order := range []Order{ByName, BySize, ByModified} {
		f := over(t, change(memory(t, all)))
		page := must.Get(List(t.Context(), f, ".", Options{Order: order}, same))(t)
		got := lines(page.Entries)
		slices.Sort(got[:2])
		slices.Sort(got[2:])
		must.Match(t, fmt.Sprintf("order %d", order),
			[]string{"dir b", "dir d", "file e 0", "file f 0"}, got)
		if page.Files != 2 || page.Dirs != 2 || page.Vanished != 2 {
			t.Errorf("order %d: %d files, %d directories, %d vanished", order, page.Files, page.Dirs, page.Vanished)
		}
		report, nodes := tree(t, f, ".", Options{Order: order, MaxDepth: 1})
		slices.Sort(nodes)
		if !slices.Equal(nodes, []string{"dir b", "dir d", "file e 0", "file f 0"}) || report.Vanished != 2 {
			t.Errorf("order %d: Tree %q, %+v", order, nodes, report)
		}
	}
}

// A node is a node of a tree in a test.
type node struct {
	Row
	nodes []node
	rest  Rest
}

// tree returns the nodes of Tree, one line each.
func tree(t *testing.T, f *confine.FS, name string, o Options) (Report, []string) {
	t.Helper()
	report, all, err := treeOf(t, f, name, o)
	if err != nil {
		t.Fatal(err)
	}
	return report, all
}

func treeOf(t *testing.T, f *confine.FS, name string, o Options) (Report, []string, error) {
	t.Helper()
	var top node
	report, err := Tree(t.Context(), f, name, o, &top, Builder[node]{
		New: func(r *Row) node { return node{Row: *r} },
		Fill: func(dir *node, nodes []node, rest Rest) {
			if dir.nodes != nil || dir.rest != (Rest{}) {
				t.Errorf("%s is filled twice", dir.Name)
			}
			dir.nodes, dir.rest = nodes, rest
		},
	})
	if err != nil {
		return report, nil, err
	}
	all := []string{}
	var add func(n *node, indent string)
	add = func(n *node, indent string) {
		for i := range n.nodes {
			all = append(all, indent+line(n.nodes[i].Row))
			add(&n.nodes[i], indent+" ")
		}
		if n.rest.More > 0 {
			all = append(all, fmt.Sprintf("%s+%d", indent, n.rest.More))
		}
		if n.rest.Reason != "" {
			all = append(all, indent+n.rest.Reason)
		}
	}
	add(&top, "")
	return report, all, nil
}

func find(t *testing.T, f *confine.FS, name, pattern string, o Options) (shown.Files, error) {
	t.Helper()
	g := must.Get(ParseGlob(pattern))(t)
	return Find(t.Context(), f, name, g, o)
}

func TestUnreadableDirectories(t *testing.T) {
	f := over(t, denied{memory(t, files{"a/x": "", "b/y": ""}), "a"})
	if _, got := tree(t, f, ".", Options{}); !slices.Equal(got, []string{"dir a", " permission denied", "dir b", " file y 0"}) {
		t.Errorf("Tree: %q", got)
	}
	found, err := find(t, f, ".", "*", Options{})
	if err != nil || found.Skipped != 1 || !slices.Equal(found.Files, []string{"b/y"}) {
		t.Errorf("Find: %+v, %v", found, err)
	}
}

// denied is a filesystem with a directory that cannot be opened.
type denied struct {
	afero.Fs
	dir string
}

func (d denied) Open(name string) (afero.File, error) {
	if name == d.dir {
		return nil, fs.ErrPermission
	}
	return d.Fs.Open(name)
}

// growing is a filesystem whose .gitignore file has another size at each open.
type growing struct {
	afero.Fs
	mu    sync.Mutex
	sizes []int // number of readable bytes, for each open
	tells int64 // the size in the metadata; 0 for the true size
	text  string
}

func (g *growing) Open(name string) (afero.File, error) {
	f, err := g.Fs.Open(name)
	if err != nil || path.Base(name) != gitignoreName {
		return f, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	size := g.sizes[0]
	if len(g.sizes) > 1 {
		g.sizes = g.sizes[1:]
	}
	f.Close()
	other := afero.NewMemMapFs()
	if err := afero.WriteFile(other, "f", []byte(g.text[:size]), 0o644); err != nil {
		return nil, err
	}
	f, err = other.Open("f")
	return toldSize{f, g.tells}, err
}

type toldSize struct {
	afero.File
	size int64
}

func (f toldSize) Stat() (fs.FileInfo, error) {
	fi, err := f.File.Stat()
	if f.size != 0 {
		return sizedInfo{fi, max(f.size, 0)}, err
	}
	return fi, err
}

type sizedInfo struct {
	fs.FileInfo
	size int64
}

func (s sizedInfo) Size() int64 { return s.size }

func TestInvalidGlobs(t *testing.T) {
	for pattern, want := range map[string]string{
		"": "the pattern is empty", "/": "the pattern is empty", "./": "the pattern is empty", "[": "the glob is malformed; close each bracket and each brace",
		strings.Repeat("a", MaxGlob+1):   "the pattern is longer than 1000 bytes; use a shorter pattern",
		strings.Repeat("{a,b}", 11):      "the braces expand to more than 1000 patterns or 65536 bytes; use fewer braces",
		strings.Repeat("{a,b}", 9) + "{": "the glob is malformed; close each bracket and each brace",
	} {
		if _, err := ParseGlob(pattern); err == nil || err.Error() != want {
			t.Errorf("%.20q: %v, want %s", pattern, err, want)
		}
	}
}

func TestDescribe(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		0o644: "file x 7", fs.ModeDir: "dir x", fs.ModeSymlink: "link x", fs.ModeNamedPipe: "other x", fs.ModeDevice: "other x",
	} {
		must.Equal(t, mode, want, line(Describe("x", confine.Info{Mode: mode, Size: 7})))
	}
}

// TestNameBuffer adds names that fill several blocks, and a name longer than a block.
func TestNameBuffer(t *testing.T) {
	var b nameBuffer
	var want, got []string
	for i := range 300 {
		want = append(want, strings.Repeat(string(rune('a'+i%26)), 1+i*7%250))
	}
	want = append(want, strings.Repeat("long", nameBlock), "last")
	name := []byte{}
	for _, w := range want {
		name = append(name[:0], w...) // like the buffer of a directory
		got = append(got, b.add(name))
	}
	for i := range want {
		must.Equal(t, fmt.Sprintf("name %d", i), want[i], got[i])
	}
}

func TestSortDirents(t *testing.T) {
	var many []string // more than fit on the stack, in the reverse order
	for i := range 200 {
		many = append(many, fmt.Sprintf("file_%c%04d_%c", 'A'+rune(i%2)*32, (200-i)/3, 'a'+rune(i%5)))
	}
	for _, all := range [][]string{
		{}, {"a"}, {"common_b", "common_A", "common_", "COMMON_C", "common_a", "commo"},
		{"é", "e", "E", "É", "z"}, {"file10.go", "file1.go", "file_1.go", "filelonger1", "filelonger0"},
		many, append(slices.Clone(many), "é"),
	} {
		var dirents []dirent
		for i, name := range all {
			dirents = append(dirents, dirent{name: name, kind: Kind(i % 3)})
		}
		want := slices.Clone(dirents)
		slices.SortFunc(want, compareDirents)
		sortDirents(dirents)
		if !slices.Equal(dirents, want) {
			t.Errorf("%q: got %v, want %v", all, dirents, want)
		}
	}
}

func TestFind(t *testing.T) {
	f := over(t, memory(t, files{
		"a/x.md": "", "a/b/x.md": "", "a/b/c/x.md": "", "a/y.go": "", "x.md": "", "Z/x.md": "", "z.md/x.md": "", ".h/x.md": "",
	}))
	everything := []string{"a/b/c/x.md", "a/b/x.md", "a/x.md", "Z/x.md", "z.md/x.md", "x.md"}
	for _, tt := range []struct {
		dir, pattern string
		o            Options
		want         []string
		total        int
	}{
		{".", "*.md", Options{}, everything, 6},
		{".", "*.md", Options{Limit: 2}, everything[:2], 6},
		{".", "*.md", Options{MaxDepth: 2}, []string{"a/x.md", "Z/x.md", "z.md/x.md", "x.md"}, 4},
		{".", "a/*/x.md", Options{}, []string{"a/b/x.md"}, 1},
		{"a", "b/**", Options{}, []string{"a/b/c/x.md", "a/b/x.md"}, 2},
		{"a/b", "*.md", Options{}, []string{"a/b/c/x.md", "a/b/x.md"}, 2},
		{".", "none", Options{}, nil, 0},
		{".", "{a/x,x}.md", Options{}, []string{"a/x.md", "x.md"}, 2},
	} {
		got, err := find(t, f, tt.dir, tt.pattern, tt.o)
		if err != nil || !slices.Equal(got.Files, tt.want) || got.Total != tt.total {
			t.Errorf("%s in %s, %+v: %q of %d, %v; want %q of %d", tt.pattern, tt.dir, tt.o, got.Files, got.Total, err, tt.want, tt.total)
		}
	}
	must.Fail(find(t, f, "missing", "*", Options{}))(t, "find", fs.ErrNotExist)
}

func TestTreeLimits(t *testing.T) {
	all := files{"a/1": "", "a/2": "", "a/3": "", "a/sub/x": "", "b/1": "", "c": "123"}
	f := over(t, memory(t, all))
	full := []string{"dir a", " dir sub", "  file x 0", " file 1 0", " file 2 0", " file 3 0", "dir b", " file 1 0", "file c 3"}
	for _, tt := range []struct {
		o    Options
		want []string
	}{
		{Options{}, full},
		{Options{Limit: 9}, full},
		{Options{Limit: 8}, []string{"dir a", " dir sub", "  +1", " file 1 0", " file 2 0", " file 3 0", "dir b", " file 1 0", "file c 3"}},
		{Options{Limit: 6}, []string{"dir a", " dir sub", "  +1", " file 1 0", " +2", "dir b", " file 1 0", "file c 3"}},
		{Options{Limit: 3}, []string{"dir a", " +4", "dir b", " +1", "file c 3"}},
		{Options{Limit: 2}, []string{"dir a", " +4", "dir b", " +1", "+1"}},
		{Options{MaxDepth: 1}, []string{"dir a", "dir b", "file c 3"}},
		{Options{MaxDepth: 2}, []string{"dir a", " dir sub", " file 1 0", " file 2 0", " file 3 0", "dir b", " file 1 0", "file c 3"}},
		{Options{Order: BySize, Limit: 6}, []string{"dir a", " dir sub", "  +1", " file 1 0", " +2", "dir b", " file 1 0", "file c 3"}},
	} {
		if _, got := tree(t, f, ".", tt.o); !slices.Equal(got, tt.want) {
			t.Errorf("%+v:\ngot  %q\nwant %q", tt.o, got, tt.want)
		}
	}
}

// The directories of a level get equal shares of the limit, and the last of the largest directories
// gets the remainder.
func TestTheLastLevelHasEqualShares(t *testing.T) {
	for _, tt := range []struct {
		n       int
		entries []int
		want    []int
	}{
		{10, []int{5, 5}, []int{5, 5}},
		{6, []int{1, 9, 9}, []int{1, 2, 3}},
		{0, []int{3}, []int{0}},
		{7, []int{9, 2, 2}, []int{3, 2, 2}},
	} {
		all, got := files{}, make([]int, len(tt.entries))
		for i, n := range tt.entries {
			for j := range n {
				all[fmt.Sprintf("%d/%d", i, j)] = ""
			}
		}
		_, rows := tree(t, over(t, memory(t, all)), ".", Options{Limit: len(got) + tt.n})
		dir := -1
		for _, row := range rows {
			if strings.HasPrefix(row, "dir ") {
				dir++
			} else if strings.HasPrefix(row, " file ") {
				got[dir]++
			}
		}
		must.Match(t, fmt.Sprintf("%d among %v", tt.n, tt.entries), tt.want, got)
	}
}

// TestLinks finds links to files and never enters linked directories.
func TestLinks(t *testing.T) {
	home := t.TempDir()
	for name, content := range map[string]string{
		"proj/real.md": "12", "proj/dir/x.md": "", "proj/sub/y.md": "", "outside/secret.md": "", "trusted/t.md": "",
	} {
		full := filepath.Join(home, name)
		must.Do(t, os.MkdirAll(filepath.Dir(full), 0o755))
		must.Do(t, os.WriteFile(full, []byte(content), 0o644))
	}
	root := filepath.Join(home, "proj")
	for name, target := range map[string]string{
		"inside.md":       "real.md",
		"sub/up.md":       "../real.md",
		"sub/chain.md":    "../inside.md",
		"sub/absolute.md": filepath.Join(root, "real.md"),
		"outside.md":      "../outside/secret.md",
		"trusted.md":      "../trusted/t.md",
		"dangling.md":     "nowhere.md",
		"loop.md":         "loop.md",
		"to-dir.md":       "dir",
		"linked":          "dir",
		"real.txt":        "real.md",
	} {
		hosttest.Symlink(t, target, filepath.Join(root, name))
	}
	regular := []string{"dir/x.md", "sub/y.md", "real.md"}
	inside := []string{"dir/x.md", "sub/absolute.md", "sub/chain.md", "sub/up.md", "sub/y.md", "inside.md", "real.md"}
	for name, tt := range map[string]struct {
		opts []confine.Option
		want []string
	}{
		"inside":  {nil, inside},
		"denied":  {[]confine.Option{confine.DenySymlinks()}, regular},
		"trusted": {[]confine.Option{confine.TrustDirs(filepath.Join(home, "trusted"))}, append(slices.Clone(inside), "trusted.md")},
	} {
		f := confined(t)(confine.New(root, tt.opts...))
		got, err := find(t, f, ".", "*.md", Options{})
		if err != nil || !slices.Equal(got.Files, tt.want) || got.Total != len(tt.want) {
			t.Errorf("%s: %q of %d, %v; want %q", name, got.Files, got.Total, err, tt.want)
		}
	}
	f := confined(t)(confine.New(root))
	page := must.Get(List(t.Context(), f, ".", Options{}, same))(t)
	targets := map[string]string{}
	for _, r := range page.Entries {
		if r.Kind == KindLink {
			targets[r.Name] = r.Target
			if r.Outside {
				targets[r.Name] = "outside"
			}
		}
	}
	for name, want := range map[string]string{
		"inside.md": "real.md", "outside.md": "outside", "trusted.md": "outside", "dangling.md": "nowhere.md", "linked": "dir", "loop.md": "loop.md",
	} {
		must.Equal(t, fmt.Sprintf("%s leads", name), want, targets[name])
	}
	if report, nodes := tree(t, f, "sub", Options{}); len(report.Warnings) > 0 || !slices.Contains(nodes, "link up.md") {
		t.Errorf("Tree: %q, %q", nodes, report.Warnings)
	}
}
