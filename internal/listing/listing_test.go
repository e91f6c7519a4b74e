package listing

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/afero"

	"github.com/toolshelf-go/toolshelf/confine"
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

func TestListSortsAndPages(t *testing.T) {
	fsys := memory(t, files{"b": "12345", "A": "1", "a": "123", "c": "12", "dir/x": "", "Dir2/x": "", ".hidden": ""})
	clock := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for i, name := range []string{"c", "a", "b", "A", "Dir2", "dir"} {
		if err := fsys.Chtimes(name, clock, clock.Add(time.Duration(i)*time.Second)); err != nil {
			t.Fatal(err)
		}
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
				if page.Next == "" {
					break
				}
				o.After = page.Next
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("order %d, limit %d (-want +got):\n%s", order, limit, diff)
			}
		}
		if _, err := List(t.Context(), f, ".", Options{Order: order, After: "short"}, same); !errors.Is(err, ErrPosition) {
			t.Errorf("order %d: %v", order, err)
		}
	}
	page, err := List(t.Context(), f, ".", Options{Hidden: true, Limit: 3}, same)
	if err != nil || page.Files != 5 || page.Entries[2].Name != ".hidden" {
		t.Error(page, err)
	}
	if _, err := List(t.Context(), f, "missing", Options{}, same); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := List(ctx, f, ".", Options{}, same); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
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
	page, err := List(t.Context(), f, ".", Options{}, same)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"dir a", "dir d.md", "file c.md 1", "other dark -1", "other secret.md -1"}, lines(page.Entries)); diff != "" {
		t.Errorf("List (-want +got):\n%s", diff)
	}
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
		page, err := List(t.Context(), f, ".", Options{Order: order}, same)
		if err != nil {
			t.Fatal(err)
		}
		got := lines(page.Entries)
		slices.Sort(got[:2])
		slices.Sort(got[2:])
		if diff := cmp.Diff([]string{"dir b", "dir d", "file e 0", "file f 0"}, got); diff != "" {
			t.Errorf("order %d (-want +got):\n%s", order, diff)
		}
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
		t.Fatal(err)
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
	return report, all
}

func find(t *testing.T, f *confine.FS, name, pattern string, o Options) (Matches, error) {
	t.Helper()
	g, err := ParseGlob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return Find(t.Context(), f, name, g, o)
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

func TestShare(t *testing.T) {
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
		if got := share(tt.n, tt.entries); !slices.Equal(got, tt.want) {
			t.Errorf("%d among %v: got %v, want %v", tt.n, tt.entries, got, tt.want)
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
	if _, err := find(t, f, "missing", "*", Options{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
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

func TestGitignoreFiles(t *testing.T) {
	all := files{
		".gitignore": "*.log\n/top/\n", "top/x": "", "a.log": "", "b": "", ".git/x": "",
		"sub/.gitignore": "!keep.log\nb\n", "sub/keep.log": "", "sub/other.log": "", "sub/b": "", "sub/deep/keep.log": "", "sub/deep/b": "",
	}
	f := over(t, memory(t, all))
	report, got := tree(t, f, ".", Options{Gitignore: true})
	if want := []string{"dir sub", " dir deep", "  file keep.log 0", " file keep.log 0", "file b 0"}; !slices.Equal(got, want) || report.Ignored != 5 {
		t.Errorf("got %q, %d ignored; want %q", got, report.Ignored, want)
	}
	page, err := List(t.Context(), f, "sub/deep", Options{Gitignore: true, Hidden: true}, same)
	if err != nil || !slices.Equal(lines(page.Entries), []string{"file keep.log 0"}) || page.Ignored != 1 {
		t.Errorf("%v, %v", page, err)
	}
	excluded := Options{}
	for _, pattern := range []string{"*.log", "/sub/deep/"} {
		g, err := ParseGlob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		if g.String() != pattern || g.Size() == 0 {
			t.Errorf("%q, %d bytes", g.String(), g.Size())
		}
		excluded.Exclude = append(excluded.Exclude, g)
	}
	if _, got := tree(t, f, ".", excluded); !slices.Equal(got, []string{"dir sub", " file b 0", "dir top", " file x 0", "file b 0"}) {
		t.Errorf("got %q", got)
	}
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

// TestGitignoreFileThatGrows checks that no pattern is cut at the previous end of a growing
// file.
func TestGitignoreFileThatGrows(t *testing.T) {
	var text strings.Builder
	for i := 0; text.Len() < maxGitignore+10_000; i++ {
		fmt.Fprintf(&text, "ignored%06d\n", i) // 14 bytes
	}
	const line = 14
	cut := len("ignored00") // of the last line
	for name, g := range map[string]*growing{
		"it does not grow":       {sizes: []int{2 * line}},
		"one buffer":             {sizes: []int{4096}},
		"it grows at once":       {sizes: []int{4096, 600 * line}},
		"it grows again":         {sizes: []int{4096, 8192, 600 * line}},
		"it tells no size":       {sizes: []int{600 * line}, tells: -1},
		"it tells a small size":  {sizes: []int{600 * line}, tells: 10},
		"it is too large":        {sizes: []int{maxGitignore + 5}},
		"it tells a larger size": {sizes: []int{line}, tells: 1 << 40},
	} {
		t.Run(name, func(t *testing.T) {
			g.text = text.String()
			last := g.sizes[len(g.sizes)-1] / line // number of complete lines
			tooLarge := last*line >= maxGitignore-line
			if tooLarge {
				last = maxGitignore / line
			}
			kept := text.String()[last*line:][:cut]
			ignored := text.String()[(last-1)*line:][:line-1]
			all := files{gitignoreName: "", kept: "", ignored: "", "b": ""}
			if name == "one buffer" {
				delete(all, kept)
			}
			g.Fs = memory(t, all)
			page, err := List(t.Context(), over(t, g), ".", Options{Gitignore: true}, same)
			if err != nil {
				t.Fatal(err)
			}
			want := []string{"file b 0"}
			if name != "one buffer" {
				want = append(want, "file "+kept+" 0")
			}
			if got := lines(page.Entries); !slices.Equal(got, want) {
				t.Errorf("got %q, want %q", got, want)
			}
			if (len(page.Warnings) > 0) != tooLarge {
				t.Errorf("warnings %q", page.Warnings)
			}
		})
	}
}

// TestGitignoreFileThatCannotBeRead tests a directory with the name .gitignore, and a file
// that cannot be opened.
func TestGitignoreFileThatCannotBeRead(t *testing.T) {
	f := over(t, memory(t, files{".gitignore/x": "", "a": ""}))
	page, err := List(t.Context(), f, ".", Options{Gitignore: true}, same)
	if err != nil || len(page.Warnings) != 1 || !strings.Contains(page.Warnings[0], "'.gitignore' cannot be read") {
		t.Errorf("%q, %v", page.Warnings, err)
	}
}

func TestDescribe(t *testing.T) {
	for mode, want := range map[fs.FileMode]string{
		0o644: "file x 7", fs.ModeDir: "dir x", fs.ModeSymlink: "link x", fs.ModeNamedPipe: "other x", fs.ModeDevice: "other x",
	} {
		if got := line(Describe("x", confine.Info{Mode: mode, Size: 7})); got != want {
			t.Errorf("%v: got %s, want %s", mode, got, want)
		}
	}
}

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
